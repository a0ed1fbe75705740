"""Centered: the rows sqrt(s_i) (x_i - mean) of a least-squares problem, made tile by tile in float64.

With a free bias, least squares on (X, T) is least squares without one on centered rows, and b = mean(T) - W mean(X).
Rows are centered before they are multiplied, never after, so an offset of 1e8 costs no digits; X is never copied whole.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from nearline._arrays.design import Array, Design, is_sparse
from nearline._arrays.once import once
from nearline._parallel.tiles import groups, map_tiles, slices, steps
from nearline.risk.params import Params
from nearline.solvers.closed_form._moments import Moments, symmetric

CACHED = 1 << 17  # numbers of rows, codes and scores that a pass has in its hands at once
TILE = 1 << 20  # numbers in a tile: some megabytes, so that few are in flight and BLAS is still efficient
GRAM_BUDGET = 1 << 28  # bytes of partial Gram matrices
SAMPLE = 512  # rows that tell roughly where the mean is


class Centered:
    """Z = sqrt(s) (X - mean), T = sqrt(s) (codes - mean), and the products that ridge regression needs.

    Parameters
    ----------
    X : (n, D) array or CSR matrix.
    codes : (n, K) float64 numbers to fit.
    weights : (n,) sample weights.
    bias : whether rows are centered (else means are 0).
    """

    def __init__(self, X: Design, codes: Array, weights: Array, bias: bool) -> None:
        self.X, self.codes, self.weights, self.bias = X, codes, weights, bias
        self.n_rows, self.n_features = X.shape
        self.n_outputs = codes.shape[1]
        self.total = float(weights.sum())
        self.root = np.sqrt(weights)
        self.unweighted = bool((weights == 1.0).all())
        self.target_mean = weights @ codes / self.total if bias else np.zeros(codes.shape[1])
        self.primal = self.n_features < self.n_rows  # whether the features' Gram matrix is the smaller one
        # Many columns still need some rows a tile, or the product of a tile is all memory traffic.
        self.tile_rows = max(256, TILE // max(1, self.n_features))
        self.row_tiles = slices(self.n_rows, self.tile_rows)
        self.tile_columns = max(256, TILE // max(1, self.n_rows))

    @once
    def T(self) -> Array:
        """sqrt(s) (codes - mean), (n, K)."""
        centered = self.codes - self.target_mean
        return centered if self.unweighted else np.multiply(centered, self.root[:, None], out=centered)

    def subset(self, rows: Array) -> "Centered":
        """The same problem on some rows."""
        return Centered(self.X[rows], self.codes[rows], self.weights[rows], self.bias)

    # -- means ------------------------------------------------------------------------------------------------

    @once
    def near_mean(self) -> Array:
        """A vector near the mean, from some rows. It equals a constant column exactly, whatever its size."""
        if not self.bias:
            return np.zeros(self.n_features)
        used = np.flatnonzero(self.weights)
        size = min(SAMPLE, max(8, 4 * TILE // self.n_features))
        sample = used[:: -(-len(used) // size)]
        shift = less(self.X[sample[:1]], np.zeros(self.n_features))[0]
        weights = self.weights[sample]
        return np.asarray(shift + weights @ less(self.X[sample], shift) / weights.sum())

    @once
    def shift(self) -> Array:
        """Weighted mean of the rows less ``near_mean``."""
        if not self.bias:
            return np.zeros(self.n_features)
        if is_sparse(self.X):
            return self.mean - self.near_mean
        work = 4.0 * self.n_rows * self.n_features
        sums = map_tiles(
            lambda rows: self.weights[rows] @ less(self.X[rows], self.near_mean), self.row_tiles, work=work
        )
        return np.asarray(sum(sums) / self.total)

    @once
    def mean(self) -> Array:
        """Weighted mean of the rows, rounded to float64."""
        if self.bias and is_sparse(self.X):
            return np.asarray(self.weights @ self.X, dtype=np.float64).ravel() / self.total
        return np.asarray(self.near_mean + self.shift)

    @once
    def mean_rest(self) -> Array:
        """What rounding took from ``mean``; of sparse rows it is not known."""
        if is_sparse(self.X):
            return np.zeros(self.n_features)
        return np.asarray((self.near_mean - self.mean) + self.shift)

    @once
    def squares(self) -> Array:
        """sum_i s_i (x_ij - mean_j)^2 (D,), good enough to scale by."""
        if not is_sparse(self.X):
            work = 4.0 * self.n_rows * self.n_features
            sums = map_tiles(
                lambda rows: (self.weighted_rows(rows) ** 2).sum(axis=0), self.row_tiles, work=work
            )
            return np.asarray(sum(sums))
        entries = np.square(self.X.data, dtype=np.float64)
        if not self.unweighted:
            entries *= np.repeat(self.weights, np.diff(self.X.indptr))
        moments = np.bincount(self.X.indices, weights=entries, minlength=self.n_features)
        return np.maximum(moments - self.total * self.mean**2, 0.0)

    def weighted_rows(self, rows: slice | Array, *, near: bool = False) -> Array:
        """Some rows of Z, to all digits; ``near``: about ``near_mean`` instead."""
        Z = less(self.X[rows], self.near_mean if near else self.mean)
        if not near:
            Z -= (
                self.mean_rest
            )  # without it, an offset would leave a direction of size offset * eps in every row
        if not self.unweighted:
            Z *= self.root[rows, None]
        return Z

    def weighted_columns(self, columns: slice) -> Array:
        """Some columns of Z, centered on their own exact means."""
        part = less(self.X[:, columns], self.near_mean[columns])
        if self.bias:
            part -= self.weights @ part / self.total
        if not self.unweighted:
            part *= self.root[:, None]
        return part

    # -- Gram matrices ----------------------------------------------------------------------------------------

    def moments(self, rows: Array | None = None) -> Moments:
        """Sums over all rows or some, about ``near_mean``."""
        D = self.n_features
        tiles: Sequence[slice | Array] = self.row_tiles
        if rows is not None:
            tiles = [rows[tile] for tile in slices(len(rows), self.tile_rows)]

        def add_up(group: Sequence[slice | Array]) -> Moments:
            sums = Moments.zeros(D, self.n_outputs)
            for tile in steps(group):
                Z = self.weighted_rows(tile, near=True)
                sums = sums.with_rows(Z, self.T[tile], self.root[tile])
            return sums

        work = float(self.n_rows if rows is None else len(rows)) * D * D
        return reduce(add, map_tiles(add_up, groups(tiles, _group_count(D)), work=work))

    @once
    def gram(self) -> tuple[Array, Array]:
        """Z^T Z (D, D) and Z^T T (D, K)."""
        G, C, shift, _ = self.moments().centered(self.bias)
        self.__dict__.setdefault("shift", shift)  # known now without another pass
        return G, C

    @once
    def row_gram(self) -> Array:
        """Z Z^T (n, n)."""
        if is_sparse(self.X):
            return self._sparse_row_gram()
        n = self.n_rows

        def add_up(group: Sequence[slice]) -> Array:
            from scipy.linalg.blas import dsyrk

            G = np.zeros((n, n), order="F")
            for tile in steps(group):
                G = dsyrk(1.0, self.weighted_columns(tile).T, beta=1.0, c=G, trans=1, lower=1, overwrite_c=1)
            return G

        tiles = groups(slices(self.n_features, self.tile_columns), _group_count(n))
        return symmetric(reduce(add, map_tiles(add_up, tiles, work=float(n) * n * self.n_features)))

    def _sparse_row_gram(self) -> Array:
        X = self.X.astype(np.float64)
        G = np.asarray((X @ X.T).todense())
        if self.bias:
            G -= self.weights @ G / self.total
            G -= (G @ self.weights / self.total)[:, None]
        G *= self.root[:, None]
        G *= self.root
        return np.asarray(0.5 * (G + G.T))

    # -- triangles: of them the Gram matrices are squares, but their condition number is not squared -------------

    def triangle(self) -> tuple[Array, Array]:
        """R and Q^T T of Z = Q R, (D, D) and (D, K), by a QR factorization of one tile after another."""
        D = self.n_features

        def fold_in(group: Sequence[slice]) -> Array:
            R = np.zeros((0, D + self.n_outputs))
            for tile in steps(group):
                rows = np.hstack([self.weighted_rows(tile), self.T[tile]])
                R = triangle_of(np.vstack([R, rows]))
            return R

        tiles = groups(slices(self.n_rows, max(2 * D, self.tile_rows)), 8)
        R = triangle_of(np.vstack(map_tiles(fold_in, tiles, work=4.0 * self.n_rows * D * D)))
        return R[:D, :D], R[:D, D:]

    def row_triangle(self) -> Array:
        """R of Z^T = Q R, (n, n)."""
        n = self.n_rows

        def fold_in(group: Sequence[slice]) -> Array:
            R = np.zeros((0, n))
            for tile in steps(group):
                R = triangle_of(np.vstack([R, self.weighted_columns(tile).T]))
            return R

        tiles = groups(slices(self.n_features, max(2 * n, self.tile_columns)), 8)
        return triangle_of(np.vstack(map_tiles(fold_in, tiles, work=4.0 * self.n_features * n * n)))

    # -- products ---------------------------------------------------------------------------------------------

    def fit_of(self, W: Array) -> tuple[Array, Array, Array, float]:
        """One pass: what the data say of W.

        Scores W (x_i - mean) + target mean (n, K), and with residuals r_i = t_i - score_i the sums of s_i r_i
        (x_i - mean)^T (K, D), of s_i r_i (K,) and of s_i |r_i|^2.
        """
        if is_sparse(self.X):
            scores = self.X @ W.T + (self._level(W) - W @ self.mean)
            residuals = self.codes - scores
            A = residuals if self.unweighted else self.weights[:, None] * residuals
            return scores, self._sparse_back(A), A.sum(axis=0), float(np.vdot(A, residuals))

        mean, level = self.mean, self._level(W)
        scores = np.empty((self.n_rows, self.n_outputs))

        def pass_over(tile: slice) -> tuple[Array, Array, float]:
            Z = less(self.X[tile], mean)
            scores[tile] = fitted = Z @ W.T + level
            residuals = np.subtract(self.codes[tile], fitted, out=fitted)
            A = residuals if self.unweighted else self.weights[tile, None] * residuals
            return A.T @ Z, A.sum(axis=0), float(np.vdot(A, residuals))

        tiles = slices(self.n_rows, max(256, CACHED // (self.n_features + 3 * self.n_outputs)))
        parts = map_tiles(pass_over, tiles, work=4.0 * self.n_rows * W.size)
        back, sums, squares = (sum(column) for column in zip(*parts, strict=True))
        return scores, np.asarray(back), np.asarray(sums), float(squares)

    def back_product(self, A: Array) -> Array:
        """A^T Z (K, D) for A of shape (n, K)."""
        A = self.root[:, None] * A
        if is_sparse(self.X):
            return self._sparse_back(A)
        mean, work = self.mean, 2.0 * A.shape[1] * self.n_rows * self.n_features
        return np.asarray(
            sum(map_tiles(lambda tile: A[tile].T @ less(self.X[tile], mean), self.row_tiles, work=work))
        )

    def _sparse_back(self, A: Array) -> Array:
        return np.asarray((self.X.T @ A).T - np.outer(A.sum(axis=0), self.mean))

    def params(self, W: Array) -> Params:
        """W with the bias that belongs to it."""
        return Params.of(W, self._level(W) - W @ self.mean)

    def _level(self, W: Array) -> Array:
        """The mean score, less what rounding of ``mean`` adds to it (offset * eps, but the same in every row)."""
        return np.asarray(self.target_mean - W @ self.mean_rest)


def less(rows: Design, center: Array) -> Array:
    """rows - center as a new dense float64 array."""
    if is_sparse(rows):
        rows = rows.toarray()
    if rows.dtype == np.float64:
        return np.asarray(rows - center)
    Z = np.asarray(rows.astype(np.float64))
    Z -= center  # in place: a second large array would cost more than the subtraction
    return Z


def triangle_of(A: Array) -> Array:
    """R of A = Q R."""
    return np.asarray(np.linalg.qr(A, mode="r"))


def _group_count(size: int) -> int:
    """Number of partial Gram matrices, each a chain of additions of its own; it may depend on their size alone."""
    return int(np.clip(GRAM_BUDGET // (8 * size * size + 1), 2, 16))
