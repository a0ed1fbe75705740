"""Lower bounds of distances from a few coordinates of each row: what exact search excludes rows by.

Each class maps rows to vectors v such that |v(x) - v(q)|, in its norm, never exceeds the distance of x and q (or a
number that grows with it, see ``reach``). Vectors are stored in float32 with a bound on what rounding did to them, so
that nothing is excluded by accident; they need not be good for the answer to be right, only for the search to be fast.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._parallel.tiles import groups, map_tiles, slices
from nearline.neighbors.embeddings import EPS, Embedding, square_lengths

SINGLE = 2.0**-24 * 1.01
TILE, RUNS = 256, 16  # rows that are mapped together at most, and runs of tiles that share their memory
CACHED = 2**17  # numbers of a tile: so many that the steps of a map find it in the cache


@dataclass(frozen=True)
class Vectors:
    """v of some rows, first and longer, padded with zeros to whole vectors of the machine, and how wrong they may be."""

    v: Array  # (n, >= r) float32
    squares: Array  # (n,) |v|^2, float32
    errors: Array  # (n,) float64, in the norm of the bound
    more: Array  # (n, >= r2) float32
    more_errors: Array  # (n,)

    @classmethod
    def empty(cls, n: int, r: int, r2: int) -> "Vectors":
        v, more = (np.empty((n, padded(width)), dtype=np.float32) for width in (r, r2))
        return cls(v, np.empty(n, dtype=np.float32), np.empty(n), more, np.empty(n))

    def take(self, numbers: Array) -> "Vectors":
        """Those of some rows."""
        return Vectors(*(getattr(self, name)[numbers] for name in self.__dataclass_fields__))

    def put(self, tile: slice, part: "Vectors") -> None:
        """Write those of a tile of rows."""
        for name in self.__dataclass_fields__:
            getattr(self, name)[tile] = getattr(part, name)


class Bounds(ABC):
    """A map from rows to the vectors that bound their distances."""

    norm: ClassVar[_core.Norm]

    @property
    @abstractmethod
    def r(self) -> int:
        """Coordinates of the first bound."""

    @property
    @abstractmethod
    def r2(self) -> int:
        """Coordinates of the second; 0: there is none."""

    @property
    def scale(self) -> float:
        """bound <= base(q) + scale * distance; 0: bound <= distance (squares: its square)."""
        return 0.0

    @abstractmethod
    def vectors(self, A: Array) -> Vectors:
        """v of some rows (float64), which are overwritten."""

    def bases(self, Q: Array) -> Array:
        """base(q) of some queries (float64)."""
        return np.zeros(len(Q))

    def of_queries(self) -> "Bounds":
        """The map for queries, where it differs."""
        return self

    def of(self, X: Array) -> Vectors:
        """v of many rows, a tile at a time."""
        out = Vectors.empty(len(X), self.r, self.r2)
        rows = min(TILE, max(16, CACHED // max(X.shape[1], 1)))
        runs = groups(slices(len(X), rows), RUNS) if len(X) else []

        def run(tiles: Sequence[slice]) -> None:
            buffer = np.empty((rows, X.shape[1]))  # once: fresh memory costs as much as the work
            for tile in tiles:
                A = buffer[: tile.stop - tile.start]
                A[...] = X[tile]
                out.put(tile, self.vectors(A))

        map_tiles(run, runs, work=2.0 * X.size * max(self.r2, self.r))
        return out


def padded(width: int) -> int:
    """Columns that a whole number of machine vectors has."""
    return -(-width // _core.lanes()) * _core.lanes()


def pad(v: Array) -> Array:
    """float32 with columns of zeros up to a whole number of machine vectors."""
    width = v.shape[1]
    out = np.empty((len(v), padded(width)), dtype=np.float32)
    out[:, :width] = v
    out[:, width:] = 0.0
    return out


@dataclass(frozen=True)
class EmbeddedBounds(Bounds):
    """Bounds of squared Euclidean distances between embedded rows."""

    norm: ClassVar[_core.Norm] = _core.Norm.squares
    mean: Array
    embedding: Embedding

    @property
    def scale(self) -> float:
        return self.embedding.scale

    def bases(self, Q: Array) -> Array:
        return self.embedding.bases(Q)

    def of_queries(self) -> Bounds:
        return replace(self, embedding=self.embedding.of_queries())


@dataclass(frozen=True)
class PrincipalBounds(EmbeddedBounds):
    """First principal coordinates, and the length of what they leave out as one more.

    With orthonormal columns B, x' = B^T x and rho(x) = |x - B x'|,

        |x - q|^2 >= |x' - q'|^2 + (rho(x) - rho(q))^2,

    by the triangle inequality in the space that B leaves out. Any B gives a bound; principal directions a good one. The
    products are of the precision that B has: float32 takes half the time, and its rounding is in the errors.
    """

    basis: Array  # (D, r2) or (D, r) orthonormal columns
    first: int  # columns in the first bound

    @property
    def r(self) -> int:
        return self.first + 1

    @property
    def r2(self) -> int:
        return self.basis.shape[1] + 1 if self.basis.shape[1] > self.first else 0

    def vectors(self, A: Array) -> Vectors:
        lost = self.embedding.lost(A, self.mean)
        A, squares = self.embedding(A, self.mean)
        P = A.astype(self.basis.dtype, copy=False) @ self.basis
        P = P.astype(np.float64, copy=False)
        v, errors = self._prefix(P[:, : self.first], squares)
        more, more_errors = self._prefix(P, squares) if self.r2 else (np.zeros((len(A), 0)), np.zeros(len(A)))
        v = pad(v)
        return Vectors(v, square_lengths(v), errors + lost, pad(more), more_errors + lost)

    def _prefix(self, P: Array, squares: Array) -> tuple[Array, Array]:
        """(x', rho) and how far from the true one it is at most once rounded to float32."""
        rounding = product_rounding(self.basis)  # of squares, relative to |x|^2
        vanished = 16.0 * len(self.basis) * float(np.finfo(self.basis.dtype).smallest_normal)
        rest = np.maximum(squares - square_lengths(P), 0.0)
        rho = np.sqrt(rest)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_rho = np.minimum(
                np.sqrt(rounding * squares), np.where(rho > 0, rounding * squares / rho, np.inf)
            )
        errors = (SINGLE + rounding) * np.sqrt(squares) + of_rho + vanished
        return np.column_stack([P, rho]), errors


def product_rounding(basis: Array) -> float:
    """What rounding may do to x and to |x|^2 in products of rows with a basis (D, r), relative to their size.

    In a coordinate it does D u sum |x_j b_j| at most (u = eps / 2), in all of them D u sqrt(r) |x|; in squares twice that.
    """
    D, r = basis.shape
    return float((4.0 * D + 100.0) * max(1.0, np.sqrt(r) / 4.0) * np.finfo(basis.dtype).eps)


@dataclass(frozen=True)
class PlainBounds(EmbeddedBounds):
    """All coordinates, less their mean: the squared distance itself, but for rounding to float32.

    For data without structure, which no prefix can tell apart: matrix products, then the few rows that are left.
    """

    @property
    def r(self) -> int:
        return self.embedding.width(len(self.mean)) + self.embedding.extra

    @property
    def r2(self) -> int:
        return 0

    def vectors(self, A: Array) -> Vectors:
        n_features, lost = A.shape[1], self.embedding.lost(A, self.mean)
        A, squares = self.embedding(A, self.mean)
        errors = (SINGLE + (n_features + 100.0) * EPS) * np.sqrt(squares) + lost
        if self.embedding.extra:
            rest = np.sqrt(np.maximum(squares - square_lengths(A), 0.0))
            A = np.column_stack([A, rest])
            errors += np.sqrt((4.0 * n_features + 100.0) * EPS * squares)
        v = pad(A)
        none = np.zeros((len(A), 0), dtype=np.float32)
        return Vectors(v, square_lengths(v), errors, none, np.zeros(len(A)))


@dataclass(frozen=True)
class GroupBounds(Bounds):
    """Sums over groups of features: |sum_g x - sum_g q| <= sum_g |x - q|. Finer groups are the second bound."""

    norm: ClassVar[_core.Norm] = _core.Norm.magnitudes
    mean: Array
    groups: Array  # (D,): group of each feature, of the first bound
    fine: Array  # (D,) of the second

    @once
    def _single(self) -> bool:
        """Whether each feature is a group of its own."""
        return not self.r2 and np.array_equal(self.groups, np.arange(len(self.groups)))

    def _both(self, A: Array) -> tuple[Array, Array]:
        coarse, fine = self._sums
        return A @ coarse, A @ fine[:, : fine.shape[1] if self.r2 else 0]

    @once
    def _sums(self) -> tuple[Array, Array]:
        return _indicator(self.groups), _indicator(self.fine)

    @property
    def r(self) -> int:
        return int(self.groups.max(initial=-1)) + 1

    @property
    def r2(self) -> int:
        return (
            int(self.fine.max(initial=-1)) + 1
            if self.fine.max(initial=-1) > self.groups.max(initial=-1)
            else 0
        )

    def vectors(self, A: Array) -> Vectors:
        A -= self.mean
        sums = (A, A[:, :0]) if self._single else self._both(A)
        rounding = (A.shape[1] + 8.0) * EPS * np.abs(A).sum(axis=1)
        errors = [SINGLE * np.abs(part).sum(axis=1) + rounding for part in sums]
        v = pad(sums[0])
        return Vectors(v, square_lengths(v), errors[0], pad(sums[1]), errors[1])


@dataclass(frozen=True)
class FeatureBounds(Bounds):
    """Some features themselves: the largest difference over all is no smaller than that over some."""

    norm: ClassVar[_core.Norm] = _core.Norm.largest
    features: Array
    second: Array

    @property
    def r(self) -> int:
        return len(self.features)

    @property
    def r2(self) -> int:
        return len(self.second)

    def vectors(self, A: Array) -> Vectors:
        v, more = pad(A[:, self.features]), pad(A[:, self.second])
        errors = (
            SINGLE * np.abs(A[:, part]).max(axis=1, initial=0.0) for part in (self.features, self.second)
        )
        first, second = errors
        return Vectors(v, square_lengths(v), first, more, second)


def _indicator(groups: Array) -> Array:
    out = np.zeros((len(groups), int(groups.max(initial=-1)) + 1))
    out[np.arange(len(groups)), groups] = 1.0
    return out
