"""Metrics that are lengths of the difference of two rows: Manhattan, Euclidean, its square, L-infinity, Lq between them."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._records.kept import Real, kept
from nearline.neighbors.bounds import Bounds
from nearline.neighbors.choice import VANISHING, VANISHING_SQUARES, by_features, by_groups
from nearline.neighbors.embeddings import Centered, Embedding
from nearline.neighbors.metric import Metric


@dataclass(frozen=True)
class Euclidean(Metric):
    """Euclidean distance sqrt(sum_j (x_j - q_j)^2)."""

    name: ClassVar[str] = "l2"
    aliases: ClassVar[tuple[str, ...]] = ("euclidean", "minkowski")
    core: ClassVar[_core.Metric | None] = _core.Metric.l2
    whole: ClassVar[bool] = True
    straight: ClassVar[bool] = True
    unit_as_cosine: ClassVar[bool] = True
    in_tree: ClassVar[bool] = True
    in_graph: ClassVar[bool] = True

    def embedding(self, X: Array) -> Embedding | None:
        return Centered(0.0)

    @property
    def vanishing(self) -> float:
        return VANISHING_SQUARES


@dataclass(frozen=True)
class SquaredL2(Metric):
    """sum_j (x_j - q_j)^2: the neighbors of L2, no metric."""

    name: ClassVar[str] = "squared-l2"
    aliases: ClassVar[tuple[str, ...]] = ("sqeuclidean",)
    core: ClassVar[_core.Metric | None] = _core.Metric.squared_l2
    whole: ClassVar[bool] = True
    straight: ClassVar[bool] = True
    unit_as_cosine: ClassVar[bool] = True
    in_tree: ClassVar[bool] = True
    in_graph: ClassVar[bool] = True

    def embedding(self, X: Array) -> Embedding | None:
        return Centered(1.0)

    @property
    def vanishing(self) -> float:
        return VANISHING_SQUARES

    def of_power(self, distances: Array) -> Array:
        return distances * distances


@dataclass(frozen=True)
class Manhattan(Metric):
    """City-block distance sum_j |x_j - q_j|."""

    name: ClassVar[str] = "l1"
    aliases: ClassVar[tuple[str, ...]] = ("manhattan", "cityblock")
    core: ClassVar[_core.Metric | None] = _core.Metric.l1
    whole: ClassVar[bool] = True
    in_tree: ClassVar[bool] = True

    def bounds(self, X: Array, sample: Array, look: bool) -> Bounds | None:
        return by_groups(sample, look)

    @property
    def vanishing(self) -> float:
        return VANISHING

    @property
    def power(self) -> float:
        return 1.0


@dataclass(frozen=True)
class LInfinity(Metric):
    """Largest difference max_j |x_j - q_j|."""

    name: ClassVar[str] = "l-infinity"
    aliases: ClassVar[tuple[str, ...]] = ("chebyshev", "linf")
    core: ClassVar[_core.Metric | None] = _core.Metric.l_infinity
    whole: ClassVar[bool] = True
    in_tree: ClassVar[bool] = True

    def bounds(self, X: Array, sample: Array, look: bool) -> Bounds | None:
        return by_features(sample)

    @property
    def vanishing(self) -> float:
        return VANISHING

    @property
    def power(self) -> float:
        return np.inf


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
    core: ClassVar[_core.Metric | None] = _core.Metric.lq
    in_tree: ClassVar[bool] = True
    rows_of_tree: ClassVar[int] = 50_000  # powers cost the tree as much as exact search
    q: float

    def __post_init__(self) -> None:
        number = isinstance(self.q, (int, float, np.integer, np.floating)) and not isinstance(self.q, bool)
        if not number or not self.q >= 1:
            raise ValueError(
                f"Lq needs q >= 1, got {self.q!r}: below 1 it is no metric, as the triangle inequality fails."
            )
        object.__setattr__(self, "q", self.q if isinstance(self.q, int) else float(self.q))

    def plain(self) -> Metric:
        named: dict[float, Metric] = {1: Manhattan(), 2: Euclidean(), np.inf: LInfinity()}
        return named.get(self.q, self)

    @property
    def exponent(self) -> float:
        return float(self.q)

    def embedding(self, X: Array) -> Embedding | None:
        """d_q >= d_2 for q <= 2."""
        return Centered(0.0) if self.q <= 2 else None

    def bounds(self, X: Array, sample: Array, look: bool) -> Bounds | None:
        """d_q >= d_infinity always."""
        return super().bounds(X, sample, look) if self.q <= 2 else by_features(sample)

    @property
    def vanishing(self) -> float:
        return VANISHING_SQUARES if self.q <= 2 else VANISHING

    @property
    def power(self) -> float:
        return float(self.q)

    def parts(self) -> dict[str, Any]:
        return {"q": self.q}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        return cls(parts["q"])
