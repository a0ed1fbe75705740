"""Embeddings: rows as points whose squared Euclidean distance is a metric, or grows with it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from nearline import _core
from nearline._arrays.design import Array

EPS = 2.0**-52


def square_lengths(A: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", A, A))


class Embedding(ABC):
    """Rows as points whose squared Euclidean distance is the metric, or grows with it."""

    scale: float  # of the metric in the squared distance; 0: the squared distance is its square
    extra: int = 0  # coordinates that are not among the features
    centers: bool = False  # whether the mean of the rows is taken off

    @abstractmethod
    def __call__(self, A: Array, mean: Array) -> tuple[Array, Array]:
        """The points (without extra coordinates), and the squares of their lengths (with them). A is overwritten."""

    def bases(self, Q: Array) -> Array:
        return np.zeros(len(Q))

    def width(self, n_features: int) -> int:
        """Coordinates of the points of rows with so many features, without extra ones."""
        return n_features

    def cost(self, n_features: int) -> int:
        """Products that a distance takes."""
        return n_features

    def lost(self, A: Array, mean: Array) -> Array:
        """How far from its true place rounding may have put each point, beyond that of its own coordinates."""
        return np.zeros(len(A))

    def of_queries(self) -> "Embedding":
        """How queries are embedded."""
        return self


@dataclass(frozen=True)
class Centered(Embedding):
    """L2 and its square: the rows less their mean."""

    scale: float
    centers: bool = True

    def __call__(self, A: Array, mean: Array) -> tuple[Array, Array]:
        A -= mean
        return A, square_lengths(A)


@dataclass(frozen=True)
class Mapped(Embedding):
    """Mahalanobis: the rows less their mean, mapped by A (rank, D)."""

    map: Array
    scale: float = 0.0
    centers: bool = True

    def __call__(self, A: Array, mean: Array) -> tuple[Array, Array]:
        A -= mean
        points = A @ self.map.T
        return points, square_lengths(points)

    def width(self, n_features: int) -> int:
        return len(self.map)

    def cost(self, n_features: int) -> int:
        return len(self.map) * n_features

    def lost(self, A: Array, mean: Array) -> Array:
        """Of the map, and of a distance, which is |A e| and no more exact than |A| |e|."""
        n_features = A.shape[1]
        size = float(np.linalg.norm(self.map)) * np.sqrt(square_lengths(A - mean))
        return 2.0 * (n_features + 8.0) * EPS * size


@dataclass(frozen=True)
class Directions(Embedding):
    """Cosine distance: rows of length 1, |x/|x| - q/|q||^2 = 2 (1 - cos)."""

    scale: float = 2.0

    def __call__(self, A: Array, mean: Array) -> tuple[Array, Array]:
        sizes = np.sqrt(square_lengths(A))
        A /= np.where(sizes > 0, sizes, 1.0)[:, None]
        return A, square_lengths(A)

    def bases(self, Q: Array) -> Array:
        """What rounding of the distance, relative to 1 here, and then to its grid can do."""
        n_features = Q.shape[1]
        return np.full(len(Q), 4.0 * (n_features + 8) * EPS + self.scale * _core.cosine_grid(n_features))


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
