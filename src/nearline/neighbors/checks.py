"""What searches are given, checked at one door: rows, a number of neighbors, memory."""

from typing import Any

import numpy as np

from nearline._arrays.design import admitted, contiguous, is_sparse
from nearline._parallel.tiles import slices
from nearline._records.refused import ParameterError


def check_memory(memory: Any) -> int:
    """A number of bytes, > 0."""
    number = isinstance(memory, (int, float, np.integer, np.floating)) and not isinstance(memory, bool)
    if not number or not 1 <= memory < np.inf:
        raise ParameterError("memory", memory, "a number of bytes, at least 1", "2**30 is 1 GB")
    return int(memory)


def check_k(k: Any, n: int) -> int:
    """A number of neighbors, 1 <= k <= n."""
    whole = isinstance(k, (int, np.integer)) or (
        isinstance(k, (float, np.floating)) and float(k).is_integer()
    )
    if isinstance(k, (bool, np.bool_)) or not whole:
        raise ParameterError("k", k, "a whole number of neighbors")
    if k < 1:
        raise ParameterError("k", k, "at least 1")
    if k > n:
        raise ValueError(f"k = {k} neighbors were asked for, but there are only {n} rows: take k <= {n}.")
    return int(k)


def as_rows(X: Any, name: str) -> Any:
    """Rows as searches take them: C-contiguous float32, float64 or uint8, or canonical CSR; finite."""
    if is_sparse(X):
        X = admitted(X, name)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        values = X.data
    else:
        X = np.asarray(X)
        if X.dtype == np.bool_:
            X = X.astype(np.uint8)
        if X.ndim != 2:
            raise ValueError(f"{name} must be a table of rows (two dimensions), got shape {X.shape}.")
        if X.dtype not in (np.float32, np.float64, np.uint8):
            X = X.astype(np.float64)
        X = values = contiguous(X)
    tile = max(1, 2**18 // max(values[:1].size, 1))
    if values.dtype != np.uint8 and not all(np.isfinite(values[t]).all() for t in slices(len(values), tile)):
        raise ValueError(
            f"{name} has NaN or infinite values: fill them in (sklearn.impute) or drop those rows."
        )
    return X
