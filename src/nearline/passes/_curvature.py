"""Hessians as matrices: products of BLAS on blocks of rows, never an (n, K, K) array."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from nearline.arrays import Array, Design, is_sparse


@dataclass(frozen=True)
class RowCurvature:
    """Second derivatives h_cd of some rows with respect to their scores, times the rows' weights.

    ``diagonal`` (m, K) holds h_cc. Off the diagonal they are 0 if ``factor`` and ``full`` are None (separate columns),
    -factor_c factor_d (softmax and its kin), or whatever ``full`` (m, K, K) says.
    """

    diagonal: Array
    factor: Array | None = None
    full: Array | None = None

    @classmethod
    def of(cls, curvature: Array, weights: Array) -> "RowCurvature":
        """From a loss's own curvature, (m, K) or (m, K, K)."""
        if curvature.ndim == 2:
            return cls(curvature * weights[:, None])
        full = curvature * weights[:, None, None]
        return cls(np.einsum("icc->ic", full), full=full)


CurvatureOf = Callable[[slice], RowCurvature]


def full_hessian(X: Design, n_outputs: int, curvature_of: CurvatureOf) -> Array:
    """sum_i H_i (x) [x_i; 1] [x_i; 1]^T over Params.flat: all weights, then all biases; float64."""
    K, P = n_outputs, X.shape[1] + 1
    H = np.zeros((K, P, K, P))
    for rows in row_blocks(X.shape[0], K * P):
        Phi = _with_ones(X, rows, np.float64)
        curvature = curvature_of(rows)
        for c in range(K):
            H[c, :, c] += _weighted_gram(Phi, curvature.diagonal[:, c])
        if curvature.full is not None:
            for c in range(K):
                for d in range(c):
                    H[c, :, d] += Phi.T @ (curvature.full[:, c, d, None] * Phi)
        elif curvature.factor is not None and K > 1:
            _subtract_outer(H, curvature.factor, Phi)
    for c in range(K):
        for d in range(c):
            H[d, :, c] = H[c, :, d].T
    place = np.arange(K * P).reshape(K, P)
    order = np.concatenate([place[:, :-1].ravel(), place[:, -1]])
    return H.reshape(K * P, K * P)[np.ix_(order, order)]


def _subtract_outer(H: Array, factor: Array, Phi: Array) -> None:
    """H_cd -= Phi^T diag(factor_c factor_d) Phi for d < c, class by class with all the classes before it."""
    K, P = H.shape[:2]
    spread = (factor[:, :, None] * Phi[:, None, :]).reshape(len(Phi), K * P)
    for c in range(1, K):
        H[c, :, :c] -= (spread[:, c * P : (c + 1) * P].T @ spread[:, : c * P]).reshape(P, c, P)


def class_blocks(X: Design, n_outputs: int, row_step: int, curvature_of: CurvatureOf) -> Array:
    """sum_i h_c(i) [x_i; 1] [x_i; 1]^T for each c, (K, P, P) in X's dtype, from every row_step-th row."""
    if row_step < 1:
        raise ValueError(f"row_step must be at least 1 (use every row_step-th row), got {row_step!r}.")
    K, P = n_outputs, X.shape[1] + 1
    blocks = np.zeros((K, P, P), dtype=X.dtype)
    used = 0
    for rows in row_blocks(X.shape[0], P, step=row_step):
        Phi = _with_ones(X, rows, X.dtype)
        diagonal = curvature_of(rows).diagonal
        used += len(Phi)
        for c in range(K):
            blocks[c] += _weighted_gram(Phi, diagonal[:, c])
    blocks *= X.shape[0] / used
    return blocks


def _weighted_gram(Phi: Array, h: Array) -> Array:
    """Phi^T diag(h) Phi; where h >= 0 as Z^T Z, which BLAS does in half the operations."""
    if (h >= 0).all():
        Z = Phi * np.sqrt(h).astype(Phi.dtype, copy=False)[:, None]
        return np.asarray(Z.T @ Z)
    return np.asarray(Phi.T @ (h.astype(Phi.dtype, copy=False)[:, None] * Phi))


def _with_ones(X: Design, rows: slice, dtype: np.dtype[np.floating] | type[np.floating]) -> Array:
    """[X, 1] for some rows, dense."""
    some = X[rows].toarray() if is_sparse(X) else X[rows]
    Phi = np.empty((some.shape[0], some.shape[1] + 1), dtype=dtype)
    Phi[:, :-1] = some
    Phi[:, -1] = 1.0
    return Phi


def row_blocks(n_rows: int, width: int, *, step: int = 1, budget: int = 1 << 22) -> Iterator[slice]:
    """Slices of rows such that a block of ``width`` numbers a row stays small."""
    size = max(1, budget // max(1, width)) * step
    for first in range(0, n_rows, size):
        yield slice(first, min(first + size, n_rows), step)
