"""RowBasis: coordinates of a few rows in the space that they span."""

import numpy as np

from nearline._arrays.design import Array
from nearline.risk._point import Point
from nearline.risk.params import Params

RANK = 1e-13  # squared lengths below this share of the longest row's are rounding


class RowBasis:
    """Z = R Q for rows Z about their mean, Q orthonormal; Q = L^-1 of some rows is never formed."""

    def __init__(self, X: Array, mean: Array) -> None:
        from scipy.linalg.lapack import dpstrf

        Z = X.astype(np.float64) - mean
        G = Z @ Z.T
        if not np.isfinite(G).all():
            raise np.linalg.LinAlgError("The inner products of the rows are not finite.")
        factor, order, rank, _ = dpstrf(G, tol=RANK * float(G.diagonal().max()), lower=1)
        order, rank = order - 1, max(int(rank), 1)
        L = np.tril(factor)[:, :rank]
        self.R = np.empty_like(L)
        self.R[order] = L
        self._rows, self._L, self._mean = Z[order[:rank]], L[:rank], mean
        if not self._L[0, 0] > 0:  # all rows are equal
            self._L, self.R = np.ones((1, 1)), np.zeros_like(self.R)

    def to_features(self, V: Array) -> Array:
        """V Q, (K, D)."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self._L, V.T, lower=True, trans="T").T @ self._rows)

    def from_params(self, params: Params) -> Params:
        """Those of the part of W that the rows see."""
        from scipy.linalg import solve_triangular

        V = solve_triangular(self._L, self._rows @ params.W.T, lower=True).T
        return Params.of(V, params.b + params.W @ self._mean)

    def point(self, inner: Point) -> Point:
        """The same point in features."""
        params, pull = inner.params, inner.gradient
        W, G = np.split(self.to_features(np.concatenate([params.W, pull.W])), 2)
        moved = Params.of(W, params.b - W @ self._mean)
        gradient = Params.of(G + np.outer(pull.b, self._mean), pull.b)
        return Point(moved, inner.scores, inner.data_loss, inner.penalty, gradient)
