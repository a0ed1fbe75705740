"""Sparse X by columns (CSC): made when first asked for, then shared by all that need it."""

from typing import final

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, Design
from nearline._arrays.once import once


@final
class Csc:
    """A CSR matrix by columns."""

    def __init__(self, X: Design) -> None:
        self._X = X

    @once
    def arrays(self) -> tuple[Array, Array, Array]:
        """Values and rows of the entries, column by column in row order, and where each column starts."""
        X = self._X
        size = int(X.indptr[-1])
        values, rows = np.empty(size, dtype=X.dtype), np.empty(size, dtype=np.int32)
        starts = np.empty(X.shape[1] + 1, dtype=np.int64)
        indptr = X.indptr.astype(X.indices.dtype, copy=False)
        _core.csc_of_csr(X.data, X.indices, indptr, values, rows, starts)
        return values, rows, starts
