"""The covariance that classes share, perhaps shrunk to its diagonal, and its inverse times the class means.

Columns are in units of their standard deviation over all rows; constant ones are left out by the caller.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, lapack

from nearline._arrays.design import Array, overflowing
from nearline._arrays.once import once
from nearline.estimators._class_moments import sum_blocks


@dataclass(frozen=True)
class SharedCovariance:
    """Sigma = sum_c p_c [(1 - gamma_c) S_c + gamma_c diag(S_c)], S_c the covariance of class c, p_c its share of rows.

    Its diagonal is that of S = sum_c p_c S_c whatever the gammas are.
    """

    X: Array  # (n, D), the columns in use
    targets: Array
    shares: Array  # (n,) weight / total weight
    means: Array  # (C, D)
    scale: Array  # (D,) deviations over all rows
    variances: (
        Array  # (D,) diagonal of S in units scale^2: the share of a column's variance that is within classes
    )
    shrinkage: Array  # (C,) gamma

    @property
    def wide(self) -> bool:
        """Fewer rows than columns: products of rows are a smaller matrix than the covariance."""
        return bool(len(self.X) < len(self.scale))

    def rows(self, rows: slice) -> Array:
        """Deviations from the class means times sqrt((1 - gamma) share): their outer products sum to Sigma off the
        diagonal."""
        Z = self.X[rows].astype(np.float64)
        Z -= self.means[self.targets[rows]]
        Z /= self.scale
        Z *= np.sqrt(self.shares[rows] * (1.0 - self.shrinkage[self.targets[rows]]))[:, None]
        return Z

    @once
    def matrix(self) -> Array:
        """Sigma, (D, D), from blocks of rows that BLAS likes."""

        def of_block(rows: slice) -> Array:
            Z = self.rows(rows)
            return np.asarray(Z.T @ Z)

        sigma = sum_blocks(of_block, self.X.shape, budget=1 << 20, operations=self.X.shape[1])
        sigma[np.diag_indices_from(sigma)] = self.variances
        return sigma

    def solve(self, M: Array) -> Array:
        """Sigma^-1 applied to each row of M (C, D), in which every row is in the span of the rows of X.

        Where Sigma is singular: along directions in which no class varies, the mean variance of the columns is used.
        """
        if self.wide:
            solved = self._solve_shrunk_wide(M) if (self.shrinkage > 0).any() else self._solve_wide(M)
            if solved is not None:
                return solved
        return solve_matrix(self.matrix, M, self._stand_in)

    @property
    def _stand_in(self) -> float:
        return stand_in(self.variances, self.X.shape)

    def _solve_wide(self, M: Array) -> Array:
        Z = self.rows(slice(None))
        values, U = eigh(Z @ Z.T)
        used = values > _rank_tol(Z) * max(values[-1], np.finfo(float).tiny)
        V = Z.T @ (U[:, used] / np.sqrt(values[used]))
        return _solve_in(V, values[used], M, self._stand_in)

    def _solve_shrunk_wide(self, M: Array) -> Array | None:
        """By the matrix of row products: Sigma = Z^T Z + diag(d), d what the diagonal has beyond Z^T Z.

        None if some d is 0, which cannot be divided by: a column may vary only in classes that are not shrunk.
        """
        Z = self.rows(slice(None))
        varies = self.variances > _rank_tol(Z)
        d = self.variances - (Z**2).sum(axis=0)
        if not (d > 1e-6 * self.variances)[varies].all():
            return None
        unit = np.sqrt(np.where(varies, d, self._stand_in))
        Z, M = np.where(varies, Z / unit, 0.0), M / unit
        values, U = eigh(Z @ Z.T)
        factor = 1.0 / (1.0 + np.maximum(values, 0.0))
        return np.asarray((M - ((M @ Z.T) @ (U * factor)) @ U.T @ Z) / unit)


def _rank_tol(A: Array) -> float:
    return _rank_tol_of(A.shape)


def _rank_tol_of(shape: tuple[int, ...]) -> float:
    return 10 * max(shape) * float(np.finfo(float).eps)


def stand_in(variances: Array, shape: tuple[int, ...]) -> float:
    """The variance along directions in which no class varies: the mean of the columns'."""
    mean = float(variances.mean())
    return mean if mean > _rank_tol_of(shape) else 1.0


def solve_matrix(sigma: Array, M: Array, outside: float) -> Array:
    """Sigma^-1 applied to each row of M; ``outside``: the variance along directions that Sigma does not reach."""
    if not np.isfinite(sigma).all():
        raise ValueError(overflowing())
    direct = _solve_cholesky(sigma, M)
    if direct is not None:
        return direct
    values, V = eigh(sigma)
    used = values > _rank_tol(sigma) * values[-1]
    return _solve_in(V[:, used], values[used], M, outside)


def _solve_in(V: Array, values: Array, M: Array, variance_outside: float) -> Array:
    """Sigma^-1 from the eigenvectors V (D, r) of its range."""
    inside = M @ V
    outside = M - inside @ V.T
    return np.asarray((inside / values) @ V.T + outside / variance_outside)


def _solve_cholesky(sigma: Array, M: Array) -> Array | None:
    """By Cholesky factors, or None if Sigma is singular or nearly so."""
    unit = np.sqrt(np.maximum(sigma.diagonal(), 0.0))
    if not (unit > 0).all():
        return None
    correlation = sigma / unit / unit[:, None]
    try:
        factor = cho_factor(correlation, lower=True)
    except LinAlgError:
        return None
    reciprocal_condition = lapack.dpocon(factor[0], np.abs(correlation).sum(axis=0).max(), uplo="L")[0]
    if reciprocal_condition < 1e-10:
        return None
    return np.asarray(cho_solve(factor, (M / unit).T).T / unit)


def ledoit_wolf(X: Array, mean: Array, weights: Array) -> float:
    """The share gamma in (1 - gamma) S + gamma diag(S) that Ledoit and Wolf estimate to come nearest to the truth.

    With z the rows less their mean in units of their own deviations, R = (1/N) sum_i s_i z_i z_i^T and N = sum_i s_i:
    gamma = min(1, b^2 / d^2), d^2 = |R - I|^2, b^2 = ((1/N) sum_i s_i |z_i|^4 - |R|^2) / N (Frobenius norms).
    """
    used = weights > 0
    Z, weights = X[used].astype(np.float64) - mean, weights[used]
    total = weights.sum()
    deviation = np.sqrt(weights @ Z**2 / total)
    varies = deviation > 10 * np.finfo(float).eps * np.abs(mean)
    if not varies.any():
        return 0.0
    Z = Z[:, varies] / deviation[varies]
    quartic = float(weights @ (Z**2).sum(axis=1) ** 2) / total
    Z *= np.sqrt(weights / total)[:, None]
    products = Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
    square, D = float(np.vdot(products, products)), Z.shape[1]
    distance = square - D
    return 0.0 if distance <= 1e-12 * D else float(np.clip((quartic - square) / (total * distance), 0.0, 1.0))
