"""Embeddings: rows as points whose squared Euclidean distance is a metric, or grows with it (SPEC F8)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from nearline.arrays import Array

EPS = 2.0**-52


def square_lengths(A: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", A, A))


class Embedding(ABC):
    """Rows as points whose squared Euclidean distance is the metric, or grows with it."""

    scale: float  # of the metric in the squared distance; 0: the squared distance is its square
    extra: int = 0  # coordinates that are not among the features

    @abstractmethod
    def __call__(self, A: Array, mean: Array) -> tuple[Array, Array]:
        """The points (without extra coordinates), and the squares of their lengths (with them). A is overwritten."""

    def bases(self, Q: Array) -> Array:
        return np.zeros(len(Q))

    def of_queries(self) -> "Embedding":
        """How queries are embedded."""
        return self


@dataclass(frozen=True)
class Centered(Embedding):
    """L2 and its square: the rows less their mean."""

    scale: float

    def __call__(self, A: Array, mean: Array) -> tuple[Array, Array]:
        A -= mean
        return A, square_lengths(A)


@dataclass(frozen=True)
class Directions(Embedding):
    """Cosine distance: rows of length 1, |x/|x| - q/|q||^2 = 2 (1 - cos)."""

    scale: float = 2.0

    def __call__(self, A: Array, mean: Array) -> tuple[Array, Array]:
        sizes = np.sqrt(square_lengths(A))
        A /= np.where(sizes > 0, sizes, 1.0)[:, None]
        return A, square_lengths(A)

    def bases(self, Q: Array) -> Array:
        """What rounding of the distance, relative to 1 here, can do."""
        return np.full(len(Q), 4.0 * (Q.shape[1] + 8) * EPS)


@dataclass(frozen=True)
class Lifted(Embedding):
    """Inner product: rows lifted to one length M by a coordinate that queries have not, |x - q|^2 = M^2 + |q|^2 - 2 x.q."""

    largest: float  # M^2, at least the largest |x|^2
    scale: float = 2.0
    extra: int = 1
    queries: bool = False

    def __call__(self, A: Array, mean: Array) -> tuple[Array, Array]:
        return A, square_lengths(A) if self.queries else np.full(len(A), self.largest)

    def of_queries(self) -> Embedding:
        return replace(self, queries=True)

    def bases(self, Q: Array) -> Array:
        squares = square_lengths(Q)
        rounding = 8.0 * (Q.shape[1] + 8) * EPS * (self.largest + squares)
        return self.largest + squares + rounding
