"""Metrics: how far apart two rows are (SPEC F3). Each says what the core measures, and which bounds serve it (SPEC F8)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from nearline.arrays import Array, is_sparse

NO_MAP = np.empty((0, 0))


@dataclass(frozen=True)
class Metric(ABC):
    """A distance of two rows. It need not obey the triangle inequality: inner product and squared L2 do not."""

    name: ClassVar[str]
    core: ClassVar[str | None] = None  # its name in the compiled core; None: computed in Python
    on_sparse: ClassVar[bool] = True  # whether sparse rows are measured as such, not made dense
    similarity: ClassVar[bool] = False  # whether it is built from a cosine or an inner product

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
        _finite_products(
            X, "Cosine", "the rows by their largest value, which does not change their directions"
        )
        return X

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
class Mahalanobis(Metric):
    """sqrt((x - q)^T M (x - q)) for a symmetric positive semi-definite M (D, D): |A (x - q)| where M = A^T A.

    Rows are subtracted before they are mapped, so that an offset of all of them costs no digits. Rows of A are
    eigenvectors of M times the roots of their eigenvalues, the largest first.

    ``Mahalanobis.learn(X, y)`` takes the inverse of the covariance within classes, which is what linear discriminant
    analysis measures by; without y, that of all rows.
    """

    name: ClassVar[str] = "mahalanobis"
    core: ClassVar[str | None] = "mahalanobis"
    on_sparse: ClassVar[bool] = False
    matrix: Any

    def __post_init__(self) -> None:
        M = np.asarray(self.matrix, dtype=float)
        if (
            M.ndim != 2
            or M.shape[0] != M.shape[1]
            or not np.allclose(M, M.T, rtol=1e-8, atol=1e-12 * abs(M).max())
        ):
            raise ValueError(
                f"Mahalanobis needs a symmetric (D, D) matrix, got shape {M.shape}: give (M + M.T) / 2."
            )
        values = np.linalg.eigvalsh(M)
        if values[0] < -1e-10 * max(values[-1], 0.0):
            raise ValueError(
                f"Mahalanobis needs a positive semi-definite matrix, got one with the eigenvalue {values[0]:.3g}: "
                "distances would be imaginary."
            )

    @classmethod
    def learn(cls, X: Any, y: Any = None, shrinkage: float = 1e-6) -> "Mahalanobis":
        """Inverse covariance of the rows, within classes where y is given; shrunk towards a multiple of I."""
        X = np.asarray(X, dtype=float)
        codes = np.zeros(len(X), dtype=int) if y is None else np.unique(np.asarray(y), return_inverse=True)[1]
        means = np.array([X[codes == c].mean(axis=0) for c in range(codes.max() + 1)])
        Z = X - means[codes]
        S = Z.T @ Z / max(len(X) - len(means), 1)
        scale = np.trace(S) / len(S)
        return cls(np.linalg.inv((1 - shrinkage) * S + shrinkage * (scale or 1.0) * np.eye(len(S))))

    def bounded_by(self) -> str | None:
        return "principal"

    @cached_property
    def _root(self) -> Array:
        values, vectors = np.linalg.eigh(np.asarray(self.matrix, dtype=float))
        return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    @cached_property
    def map(self) -> Array:
        """A (rank, D)."""
        A = self._root.T[::-1]
        return np.ascontiguousarray(A[A.any(axis=1)])

    def rows(self, X: Any) -> Any:
        n_features = len(self._root)
        if X.shape[1] != n_features:
            raise ValueError(
                f"The Mahalanobis matrix is for {n_features} features, but the rows have {X.shape[1]}."
            )
        return X.toarray() if is_sparse(X) else X

    def __hash__(self) -> int:
        return hash((self.name, np.asarray(self.matrix).tobytes()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mahalanobis) and np.array_equal(self.matrix, other.matrix)


@dataclass(frozen=True)
class Precomputed(Metric):
    """Distances given as a matrix: (n, n) between rows to fit, (m, n) from queries to rows to search."""

    name: ClassVar[str] = "precomputed"

    def bounded_by(self) -> str | None:
        return None


@dataclass(frozen=True)
class Function(Metric):
    """A Python function of two rows. Each pair costs a call, about a microsecond and more: for a few thousand rows."""

    name: ClassVar[str] = "function"
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
    if isinstance(metric, Lq):
        return {1: METRICS["l1"], 2: METRICS["l2"], np.inf: METRICS["l-infinity"]}.get(metric.q, metric)
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str) and ALIASES.get(metric, metric) in METRICS:
        return METRICS[ALIASES.get(metric, metric)]
    if callable(metric) and not isinstance(metric, type):
        return Function(metric)
    names = ", ".join(map(repr, [*METRICS, *ALIASES]))
    raise ValueError(
        f"Unknown metric {metric!r}: choose among {names}, an object such as Lq(3) or Mahalanobis(M), or a function."
    )
