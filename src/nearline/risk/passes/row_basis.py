"""RowBasis: coordinates of a few rows in the space that they span."""

from collections.abc import Callable, Sequence

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import groups, map_tiles, slices
from nearline.risk._point import Point
from nearline.risk.params import Params

RANK = 1e-13  # squared lengths below this share of the longest row's are rounding
NUMBERS = 1 << 17  # of rows about their mean that are held at a time: X is never copied as a whole
CHAINS = 8  # of sums over features, added in order
NEAR = 10.0  # squared length of a mean in units of the rows' about it, up to which it is taken out of sums, not of rows


class RowBasis:
    """Z = R Q for rows Z about their mean, Q orthonormal; Q = L^-1 of some rows is never formed.

    ``spread`` is the mean of |z|^2. About as long a mean costs sums a digit at most: then X is read as it is.
    """

    def __init__(self, X: Array, mean: Array, spread: float) -> None:
        from scipy.linalg.lapack import dpstrf

        self._X, self._mean = X, mean
        self._near = X.dtype == np.float64 and bool(mean @ mean <= NEAR * spread)
        G = self._summed(lambda Z, _: Z @ Z.T, len(X))
        if not np.isfinite(G).all():
            raise np.linalg.LinAlgError("The inner products of the rows are not finite.")
        if self._near:
            along = X @ mean - 0.5 * float(mean @ mean)
            G -= along[:, None] + along
        self.gram = G
        factor, order, rank, _ = dpstrf(G, tol=RANK * float(G.diagonal().max()), lower=1)
        order, rank = order - 1, max(int(rank), 1)
        L = np.tril(factor)[:, :rank]
        self.R = np.empty_like(L)
        self.R[order] = L
        self._chosen, self._L = order[:rank], L[:rank]
        if not self._L[0, 0] > 0:  # all rows are equal
            self._L, self.R = np.ones((1, 1)), np.zeros_like(self.R)

    def to_features(self, V: Array) -> Array:
        """V Q, (K, D)."""
        from scipy.linalg import solve_triangular

        A, out = np.zeros((len(V), len(self._X))), np.empty((len(V), self._X.shape[1]))
        A[:, self._chosen] = solve_triangular(self._L, V.T, lower=True, trans="T").T

        def part(columns: slice) -> None:
            np.matmul(A, self._rows(columns), out=out[:, columns])

        map_tiles(part, self._tiles(), work=2.0 * A.shape[0] * self._X.size)
        if self._near:
            out -= np.outer(A.sum(axis=1), self._mean)
        return out

    def from_params(self, params: Params) -> Params:
        """Those of the part of W that the rows see."""
        from scipy.linalg import solve_triangular

        if not params.W.any():
            return Params.of(np.zeros((params.n_outputs, len(self._chosen))), params.b)
        products = self._summed(lambda Z, columns: Z @ params.W[:, columns].T, params.n_outputs)
        at_mean = params.W @ self._mean
        if self._near:
            products -= at_mean
        V = solve_triangular(self._L, products[self._chosen], lower=True).T
        return Params.of(V, params.b + at_mean)

    def point(self, inner: Point) -> Point:
        """The same point in features."""
        params, pull = inner.params, inner.gradient
        W, G = np.split(self.to_features(np.concatenate([params.W, pull.W])), 2)
        moved = Params.of(W, params.b - W @ self._mean)
        gradient = Params.of(G + np.outer(pull.b, self._mean), pull.b)
        return Point(moved, inner.scores, inner.data_loss, inner.penalty, gradient)

    def _tiles(self) -> list[slice]:
        return slices(self._X.shape[1], max(64, NUMBERS // max(len(self._X), 1)))

    def _rows(self, columns: slice) -> Array:
        """Some features of the rows, about their mean where that is far."""
        return self._X[:, columns] if self._near else np.asarray(self._X[:, columns] - self._mean[columns])

    def _summed(self, term: Callable[[Array, slice], Array], width: int) -> Array:
        """The sum over tiles of features of a term (n, width)."""
        n, total = len(self._X), np.zeros((len(self._X), width))

        def chain(tiles: Sequence[slice]) -> Array:
            part = np.zeros((n, width))
            for columns in tiles:
                part += term(self._rows(columns), columns)
            return part

        for part in map_tiles(chain, groups(self._tiles(), CHAINS), work=float(width) * self._X.size):
            total += part
        return total
