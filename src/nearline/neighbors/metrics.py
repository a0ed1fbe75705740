"""Metrics: how far apart two rows are (SPEC F3). Each says what the core measures, and which bounds serve it (SPEC F8)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline.arrays import Array, is_sparse
from nearline.kept import Real, kept
from nearline.parameters import Parametrized

NO_MAP, NO_ROWS = np.empty((0, 0)), np.empty(0, dtype=np.uint64)


@dataclass(frozen=True)
class Metric(Parametrized, ABC):
    """A distance of two rows. It need not obey the triangle inequality: inner product and squared L2 do not.

    A metric that learns from training rows is given unfitted; whoever holds training rows fits it to these alone.
    """

    name: ClassVar[str]
    core: ClassVar[str | None] = (
        None  # its name in the compiled core; None: computed in Python. Not inherited
    )
    on_sparse: ClassVar[bool] = True  # whether sparse rows are measured as such, not made dense
    similarity: ClassVar[bool] = False  # whether it is built from a cosine or an inner product

    @property
    def learns(self) -> bool:
        """Whether training rows are still to decide it."""
        return False

    @property
    def learned_from(self) -> Array:
        """Fingerprints of the rows that decided it."""
        return NO_ROWS

    def fit(self, X: Any, y: Any = None, weights: Array | None = None) -> "Metric":
        """The metric that training rows, with labels and weights where there are any, decide."""
        return self

    @property
    def exponent(self) -> float:
        """q of Lq, for the core."""
        return 2.0

    @property
    def map(self) -> Array:
        """A (rank, D), of metrics that map differences of rows before they measure them."""
        return NO_MAP

    def rows(self, X: Any) -> Any:
        """Rows as the core is to measure them."""
        return X

    @abstractmethod
    def bounded_by(self) -> str | None:
        """Kind of lower bounds that serves it: 'principal', 'groups', 'features', or None."""

    def similarities(self, distances: Array) -> Array:
        """What grows as rows get more alike: the cosine or inner product, else minus the distance (SPEC F4)."""
        return -distances


@dataclass(frozen=True)
class L2(Metric):
    """Euclidean distance sqrt(sum_j (x_j - q_j)^2)."""

    name: ClassVar[str] = "l2"
    core: ClassVar[str | None] = "l2"

    def bounded_by(self) -> str | None:
        return "principal"


@dataclass(frozen=True)
class SquaredL2(Metric):
    """sum_j (x_j - q_j)^2: the neighbors of L2, no metric."""

    name: ClassVar[str] = "squared-l2"
    core: ClassVar[str | None] = "squared-l2"

    def bounded_by(self) -> str | None:
        return "principal"


@dataclass(frozen=True)
class L1(Metric):
    """City-block distance sum_j |x_j - q_j|."""

    name: ClassVar[str] = "l1"
    core: ClassVar[str | None] = "l1"

    def bounded_by(self) -> str | None:
        return "groups"


@dataclass(frozen=True)
class LInfinity(Metric):
    """Largest difference max_j |x_j - q_j|."""

    name: ClassVar[str] = "l-infinity"
    core: ClassVar[str | None] = "l-infinity"

    def bounded_by(self) -> str | None:
        return "features"


@kept(q=Real(wild=True))
@dataclass(frozen=True)
class Lq(Metric):
    """(sum_j |x_j - q_j|^q)^(1/q), q >= 1; below 1 the triangle inequality fails. Lq(1), Lq(2), Lq(inf) have names.

    It is slower than those: powers of differences have no instructions of their own.

    Examples
    --------
    >>> from nearline import Index, Lq
    >>> Index([[0.0, 0.0], [1.0, 1.0]], metric=Lq(3)).search([[0.0, 0.0]], k=2).distances.round(3)
    array([[0.  , 1.26]])
    """

    name: ClassVar[str] = "lq"
    core: ClassVar[str | None] = "lq"
    q: float

    def __post_init__(self) -> None:
        number = isinstance(self.q, (int, float, np.integer, np.floating)) and not isinstance(self.q, bool)
        if not number or not self.q >= 1:
            raise ValueError(
                f"Lq needs q >= 1, got {self.q!r}: below 1 it is no metric, as the triangle inequality fails."
            )
        object.__setattr__(self, "q", self.q if isinstance(self.q, int) else float(self.q))

    @property
    def exponent(self) -> float:
        return float(self.q)

    def bounded_by(self) -> str | None:
        """d_q >= d_2 for q <= 2, and d_q >= d_infinity always."""
        return "principal" if self.q <= 2 else "features"


@dataclass(frozen=True)
class Cosine(Metric):
    """1 - x.q / (|x| |q|); of a zero row the cosine counts as 0, so that its distance from any row is 1.

    Distances are rounded to multiples of 2^-40 (above 2^13 features of 2^-53 times the next power of two), which is more
    than rounding can have done to them: proportional rows are at distance 0, and the units of a row do not matter.
    """

    name: ClassVar[str] = "cosine"
    core: ClassVar[str | None] = "cosine"
    similarity: ClassVar[bool] = True

    def bounded_by(self) -> str | None:
        return "principal"

    def rows(self, X: Any) -> Any:
        """Rows of very small or large values by a power of two each, so that no square under- or overflows."""
        sizes = _largest(X)
        strange = (sizes > 0) & ((sizes < 1e-100) | (sizes > 1e100))
        if not strange.any():
            return X
        powers = np.where(strange, -np.frexp(sizes)[1], 0)
        if is_sparse(X):
            X = X.copy()
            X.data = np.ldexp(X.data, np.repeat(powers, np.diff(X.indptr)))
            return X
        return np.ldexp(X, powers[:, np.newaxis])

    def similarities(self, distances: Array) -> Array:
        return 1.0 - distances


@dataclass(frozen=True)
class InnerProduct(Metric):
    """-x.q: the largest inner products first. No metric: a row need not be its own nearest neighbor."""

    name: ClassVar[str] = "inner-product"
    core: ClassVar[str | None] = "inner-product"
    similarity: ClassVar[bool] = True

    def bounded_by(self) -> str | None:
        return "principal"

    def rows(self, X: Any) -> Any:
        _finite_products(X, "Inner product", "all rows by one number, which does not change their order")
        return X


def _largest(X: Any) -> Array:
    """The largest absolute value of each row."""
    if is_sparse(X):
        sizes = np.zeros(X.shape[0])
        np.maximum.at(sizes, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), abs(X.data))
        return sizes
    if X.dtype == np.uint8 or not X.shape[1]:
        return np.ones(len(X))
    return np.maximum(X.max(axis=1), -X.min(axis=1)).astype(np.float64)


def _finite_products(X: Any, metric: str, remedy: str) -> None:
    values = X.data if is_sparse(X) else X
    if values.size and max(float(values.max()), -float(values.min())) > 1e150:
        raise ValueError(
            f"{metric} needs rows whose squared lengths are finite, got values up to {abs(values).max():.3g}: "
            f"divide {remedy}."
        )


@dataclass(frozen=True)
class Hamming(Metric):
    """Share of the features in which two rows differ."""

    name: ClassVar[str] = "hamming"
    core: ClassVar[str | None] = "hamming"

    def bounded_by(self) -> str | None:
        return None


@dataclass(frozen=True)
class Jaccard(Metric):
    """1 - |both| / |either| of the features that are present (not 0); two rows without any are at distance 0."""

    name: ClassVar[str] = "jaccard"
    core: ClassVar[str | None] = "jaccard"

    def bounded_by(self) -> str | None:
        return None

    def rows(self, X: Any) -> Any:
        values = X.data if is_sparse(X) else X
        wrong = (values != 0) & (values != 1)
        if np.any(wrong):
            raise ValueError(
                f"Jaccard takes binary data (0 and 1, or booleans), got the value {np.asarray(values)[wrong].flat[0]!r}: "
                "give X != 0 (present or absent), or another metric."
            )
        return X


@dataclass(frozen=True)
class Precomputed(Metric):
    """Distances given as a matrix: (n, n) between rows to fit, (m, n) from queries to rows to search."""

    name: ClassVar[str] = "precomputed"
    core: ClassVar[str | None] = None

    def bounded_by(self) -> str | None:
        return None


@dataclass(frozen=True)
class Function(Metric):
    """A Python function of two rows. Each pair costs a call, about a microsecond and more: for a few thousand rows."""

    name: ClassVar[str] = "function"
    core: ClassVar[str | None] = None
    function: Callable[[Array, Array], float]

    def bounded_by(self) -> str | None:
        return None

    def matrix(self, Q: Array, X: Array) -> Array:
        D = np.array([[self.function(q, x) for x in X] for q in Q], dtype=np.float64).reshape(len(Q), len(X))
        if np.isnan(D).any():
            raise ValueError("The metric function gave NaN: it must return a number for every pair of rows.")
        return D


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        L1(),
        L2(),
        SquaredL2(),
        LInfinity(),
        Cosine(),
        InnerProduct(),
        Hamming(),
        Jaccard(),
        Precomputed(),
    )
}

ALIASES = {
    "manhattan": "l1",
    "cityblock": "l1",
    "euclidean": "l2",
    "minkowski": "l2",
    "sqeuclidean": "squared-l2",
    "chebyshev": "l-infinity",
    "linf": "l-infinity",
    "dot": "inner-product",
}


def as_metric(metric: Any) -> Metric:
    """A metric by its name (scikit-learn's names too), as an object, or as a Python function."""
    if type(metric) is Lq:
        return {1: METRICS["l1"], 2: METRICS["l2"], np.inf: METRICS["l-infinity"]}.get(metric.q, metric)
    if isinstance(metric, Metric):
        if "core" not in vars(type(metric)):  # what measures its parent would not measure it
            raise ValueError(
                f"{type(metric).__name__} is derived from the metric {metric.name!r}, but would be measured as that one: "
                "give a function of two rows (metric=f), or the metric itself."
            )
        return metric
    if isinstance(metric, str) and ALIASES.get(metric, metric) in METRICS:
        return METRICS[ALIASES.get(metric, metric)]
    if callable(metric) and not isinstance(metric, type):
        return Function(metric)
    names = ", ".join(map(repr, [*METRICS, *ALIASES]))
    raise ValueError(
        f"Unknown metric {metric!r}: choose among {names}, an object such as Lq(3) or Mahalanobis(M), or a function."
    )
