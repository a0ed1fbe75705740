"""Array types and the few operations in which dense and sparse (CSR) design matrices differ."""

import sys
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nearline._arrays.sparse import sound

Array: TypeAlias = npt.NDArray[Any]
Design: TypeAlias = Any  # (n, D) C-contiguous array or CSR matrix, float32 or float64


def is_sparse(X: Design) -> bool:
    """Whether X is a scipy sparse container. Where nobody has imported scipy.sparse, there is none."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def admitted(X: Any, name: str = "X") -> Any:
    """What comes from outside, before anyone works on it: a sparse matrix as :func:`sound` has it, an array aligned."""
    if is_sparse(X):
        return sound(X, name)
    return X.copy() if isinstance(X, np.ndarray) and not X.flags.aligned else X


def overflowing(largest: float | None = None) -> str:
    """What is wrong with rows whose squares are no numbers any more."""
    values = "values" if largest is None else f"values up to {largest:.1e},"
    return (
        f"X has {values} whose squares overflow: scale the features "
        "(sklearn.preprocessing.StandardScaler, or divide by the largest value)."
    )


def flat(X: Any) -> Any:
    """Rows that are images or other blocks of numbers, (n, 28, 28), as rows (n, D); all else as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline._arrays.design import flat
    >>> flat(np.zeros((5, 28, 28))).shape, flat(np.zeros((5, 4))).shape
    ((5, 784), (5, 4))
    """
    if isinstance(X, np.ndarray) and X.ndim > 2 and X.dtype.kind in "biuf":
        return X.reshape(X.shape[0], int(np.prod(X.shape[1:])))
    return X


def as_design(X: Any) -> Design:
    """X as the mathematics wants it: C-contiguous or canonical CSR, float32 or float64; copied only if need be."""
    if is_sparse(X):
        X = sound(X)
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    X = np.asarray(X)
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    return contiguous(X, dtype)


def contiguous(X: Any, dtype: Any = None) -> Array:
    """An array as compiled code takes it: C-contiguous and aligned; copied only if need be."""
    return np.require(X, dtype=dtype, requirements=("C", "A"))


def owned(X: Any, given: Any) -> Any:
    """Checked rows or items that nobody else can change: a copy where they are, or may be a part of, what was given."""
    if is_sparse(X):
        return X.copy() if is_sparse(given) and given.format == X.format else X
    return X.copy() if X is given or X.base is not None else X


def product(X: Design, W: Array) -> Array:
    """X W^T as a dense (n, K) array for W of shape (K, D)."""
    return np.asarray(X @ W.T.astype(X.dtype, copy=False))


def back_product(X: Design, G: Array) -> Array:
    """G^T X as a dense float64 (K, D) array for G of shape (n, K)."""
    if is_sparse(X):
        return np.asarray((X.T @ G).T, dtype=np.float64)
    return np.asarray(G.T.astype(X.dtype, copy=False) @ X, dtype=np.float64)
