"""Hessians as matrices, from weighted Gram matrices of blocks of rows; never an (n, K, K) array."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array, Design, is_sparse
from nearline._records.refused import ParameterError

AddGrams = Callable[[Array, Array, Array], None]  # (X, h, out): out[m] += [X, 1]^T diag(h[:, m]) [X, 1]


@dataclass(frozen=True)
class RowCurvature:
    """Second derivatives h_cd of some rows with respect to their scores, times the rows' weights.

    ``diagonal`` (m, K) holds h_cc. Off the diagonal they are 0 if ``factor`` and ``full`` are None (separate columns),
    -factor_c factor_d (softmax and its kin), or whatever ``full`` (m, K, K) says.
    """

    diagonal: Array
    factor: Array | None = None
    full: Array | None = None

    @property
    def couples(self) -> bool:
        """Whether the curvature couples the columns of a row's scores."""
        return self.factor is not None or self.full is not None

    def scaled(self, by: Array) -> "RowCurvature":
        """Each row's curvature times a number >= 0."""
        factor = None if self.factor is None else self.factor * np.sqrt(by)[:, None]
        full = None if self.full is None else self.full * by[:, None, None]
        return RowCurvature(self.diagonal * by[:, None], factor, full)

    @classmethod
    def of(cls, curvature: Array, weights: Array) -> "RowCurvature":
        """From a loss's own curvature, (m, K) or (m, K, K)."""
        if curvature.ndim == 2:
            return cls(curvature * weights[:, None])
        full = curvature * weights[:, None, None]
        return cls(np.einsum("icc->ic", full), full=full)

    def below_diagonal(self) -> Array | None:
        """h_cd for d < c, (m, K(K-1)/2) in the order of :func:`pairs`; None if they are all 0."""
        c, d = pairs(self.diagonal.shape[1])
        if self.full is not None:
            return np.ascontiguousarray(self.full[:, c, d])
        return None if self.factor is None else -self.factor[:, c] * self.factor[:, d]


CurvatureOf = Callable[[slice], RowCurvature]


def pairs(n_outputs: int) -> tuple[Array, Array]:
    """All (c, d) with d < c."""
    c, d = np.tril_indices(n_outputs, -1)
    return c, d


def full_hessian(X: Design, n_outputs: int, curvature_of: CurvatureOf, add_grams: AddGrams) -> Array:
    """sum_i H_i (x) [x_i; 1] [x_i; 1]^T over Params.flat: all weights, then all biases; float64."""
    K, P = n_outputs, X.shape[1] + 1
    own, mixed = np.zeros((K, P, P)), np.zeros((K * (K - 1) // 2, P, P))
    for rows in row_blocks(X.shape[0], max(P, K * K)):
        some, curvature = _dense_rows(X, rows, np.float64), curvature_of(rows)
        add_grams(some, np.ascontiguousarray(curvature.diagonal), own)
        below = curvature.below_diagonal()
        if below is not None and below.shape[1]:
            add_grams(some, below, mixed)
    H = np.zeros((K * P, K * P))
    place = np.arange(K * P).reshape(K, P)
    # Class c has its weights at c D ..., its bias after all weights.
    place[:, :-1] = np.arange(K * (P - 1)).reshape(K, P - 1)
    place[:, -1] = K * (P - 1) + np.arange(K)
    for c in range(K):
        H[np.ix_(place[c], place[c])] = own[c]
    for (c, d), block in zip(zip(*pairs(K)), mixed):
        H[np.ix_(place[c], place[d])] = block
        H[np.ix_(place[d], place[c])] = block
    return H


def class_blocks(
    X: Design, n_outputs: int, row_step: int, curvature_of: CurvatureOf, add_grams: AddGrams
) -> Array:
    """sum_i h_cc(i) [x_i; 1] [x_i; 1]^T for each c, (K, P, P) in X's dtype, from every row_step-th row."""
    if row_step < 1:
        raise ParameterError("row_step", row_step, "at least 1 (use every row_step-th row)")
    K, P = n_outputs, X.shape[1] + 1
    blocks = np.zeros((K, P, P), dtype=X.dtype)
    used = 0
    for rows in row_blocks(X.shape[0], P, step=row_step):
        some = _dense_rows(X, rows, X.dtype)
        add_grams(some, np.ascontiguousarray(curvature_of(rows).diagonal), blocks)
        used += len(some)
    blocks *= X.shape[0] / used
    return blocks


def add_grams(X: Array, h: Array, out: Array) -> None:
    """out[m] += [X, 1]^T diag(h[:, m]) [X, 1], in NumPy."""
    Phi = np.hstack([X, np.ones((len(X), 1), dtype=X.dtype)])
    for m in range(h.shape[1]):
        out[m] += Phi.T @ (h[:, m, None].astype(X.dtype, copy=False) * Phi)


def _dense_rows(X: Design, rows: slice, dtype: np.dtype[np.floating] | type[np.floating]) -> Array:
    some = X[rows].toarray() if is_sparse(X) else X[rows]
    return np.ascontiguousarray(some, dtype=dtype)


def row_blocks(n_rows: int, width: int, *, step: int = 1, budget: int = 1 << 22) -> Iterator[slice]:
    """Slices of rows such that a block of ``width`` numbers a row stays small."""
    size = max(1, budget // max(1, width)) * step
    for first in range(0, n_rows, size):
        yield slice(first, min(first + size, n_rows), step)
