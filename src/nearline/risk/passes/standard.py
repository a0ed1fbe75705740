"""Rows in units in which features of any scale and offset look alike."""

import numpy as np

from nearline._arrays.design import Array, Design, is_sparse


def standardized_rows(X: Design, rows: Array | slice, mean: Array, unit: Array) -> Array:
    """(x - mean) / unit for some rows, dense, in X's dtype."""
    some = X[rows].toarray() if is_sparse(X) else np.array(X[rows])
    some -= mean.astype(some.dtype)
    some /= unit.astype(some.dtype)
    return np.asarray(some)
