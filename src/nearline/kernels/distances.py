"""Squared distances of all pairs of rows, at the speed of a matrix product where that is right, and right everywhere.

|a - b|^2 = |a|^2 + |b|^2 - 2 a . b, of rows less a center, is wrong by at most

    (2 m + 16) 2^-53 (|a|^2 + |b|^2)        (m: values in a row that are not zero)

where rows lie far from the center that is more than the distance itself. A pair for which it is too much is measured
again by direct differences of the rows as they were given, in the order of summation of :class:`nearline.Index`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, is_sparse
from nearline._parallel.tiles import product_by_tiles

ROUNDING = 2.0**-53
BLOCK = 1 << 22  # pairs that are looked at together
NEGATIVE = 1e-3  # squared distances below, beside the squared lengths, are no rounding
SAMPLE = 1000  # rows whose medians are the center
TOLERANCE = 1e-9  # of an entry exp(-square) of a kernel
RELATIVE = 1e-9  # of a square itself

Doubt = Callable[[Array, Array], Array]  # (squares, how wrong they can be) -> whether to measure again


def doubtful_exponents(squares: Array, errors: Array) -> Array:
    """Whether exp(-square) can be wrong by more than the tolerance: error exp(-(square - error)) exceeds it."""
    with np.errstate(divide="ignore"):
        return (errors > TOLERANCE) & (squares - errors < np.log(errors / TOLERANCE))


def doubtful_squares(squares: Array, errors: Array) -> Array:
    """Whether a square has lost digits."""
    return errors > RELATIVE * squares


def spread_out(a: Array, b: Array, *rows: Any) -> bool:
    """Whether products of such rows, of squared norms a and b, can leave exponents wrong by more than the tolerance.

    float32 rows are not looked at: they are taken only where their rounding was found to be small enough.
    """
    if any(X.dtype == np.float32 for X in rows):
        return False
    return bool(_unit(*rows) * (a.max(initial=0.0) + b.max(initial=0.0)) > TOLERANCE)


def careful_squares(
    A: Any, B: Any, gamma: float, doubt: Doubt, *, symmetric: bool = False
) -> Iterator[tuple[slice, Array]]:
    """gamma |a - b|^2 for all pairs, some rows of A at a time; symmetric: up to the last of these rows only."""
    shift = round(0.5 * np.log2(gamma))  # a power of two scales without rounding
    A, B, gamma = _scaled(A, shift), _scaled(B, shift), gamma * 4.0**-shift
    near_A, near_B = _less_medians(A, B)
    a, b = squared_norms(near_A), squared_norms(near_B)
    unit = _unit(A, B)
    size = max(1, BLOCK // max(B.shape[0], 1))
    for start in range(0, A.shape[0], size):
        rows = slice(start, min(start + size, A.shape[0]))
        end = rows.stop if symmetric else B.shape[0]
        both = a[rows, None] + b[:end]
        squares = both - 2.0 * products(near_A[rows], near_B[:end])
        wrong = doubt(gamma * squares, (gamma * unit) * both)
        i, j = np.nonzero(wrong)
        if len(i):
            squares[i, j] = pair_squares(A[rows], B, i, j)
        yield rows, gamma * np.maximum(squares, 0.0, out=squares)


def induced_squares(K: Array, a: Array, b: Array) -> Array:
    """|phi(a) - phi(b)|^2 = k(a, a) + k(b, b) - 2 k(a, b) from kernel values, float64.

    What rounding can have left of equal items is no distance: below 64 times the rounding of the sum it is 0.
    """
    both = a[:, None] + b
    squares = both - 2.0 * K.astype(np.float64, copy=False)
    least = float(squares.min(initial=0.0))
    if least < -NEGATIVE * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)):
        raise ValueError(
            f"This kernel gives two items the squared distance {least:.3g}: it is not positive semi-definite, so that no "
            "features have these inner products. Take a kernel that is; nearline.is_psd shows a witness."
        )
    rounding = 2.0**-23 if K.dtype == np.float32 else 2.0**-52
    squares[squares < 64.0 * rounding * both] = 0.0
    return np.asarray(squares)


def pair_squares(A: Any, B: Any, i: Array, j: Array) -> Array:
    """|A[i] - B[j]|^2 by direct differences, for arrays of row numbers."""
    out = np.empty(len(i))
    i, j = (np.ascontiguousarray(part, dtype=np.int64) for part in (i, j))
    if is_sparse(A) or is_sparse(B):
        _core.sparse_pair_squares(*_csr(A), *_csr(B), int(A.shape[1]), i, j, out)
    else:
        none = np.empty((0, 0))
        _core.pair_distances(
            _core.Metric.squared_l2, 2.0, none, A, B.astype(np.float64, copy=False), i, j, out
        )
    return out


def _scaled(X: Any, shift: int) -> Any:
    X = X.astype(np.float64, copy=False)
    X = X if shift == 0 else X * 2.0**shift
    return X if is_sparse(X) else np.ascontiguousarray(X)


def _less_medians(A: Any, B: Any) -> tuple[Any, Any]:
    """Dense rows less the medians of some of B: one value that is far off moves a mean, but no median."""
    if is_sparse(A) or is_sparse(B):
        return A, B
    center = np.median(B[:: -(-len(B) // SAMPLE) or 1], axis=0) if len(B) else 0.0
    return A - center, B - center


def _unit(*rows: Any) -> float:
    """Rounding of |a|^2 + |b|^2 - 2 a . b, relative to |a|^2 + |b|^2."""
    most = max(int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else int(X.shape[1]) for X in rows)
    return (2.0 * most + 16.0) * ROUNDING


def _csr(X: Any) -> tuple[Array, Array, Array]:
    from scipy.sparse import csr_array

    X = csr_array(X, dtype=np.float64)
    X.sum_duplicates()
    return X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data


def squared_norms(X: Any) -> Array:
    """|x|^2 of each row, float64."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def products(A: Any, B: Any) -> Array:
    """a . b for all pairs, as a C-contiguous array."""
    if is_sparse(A) or is_sparse(B):
        K = A @ B.T
        return np.ascontiguousarray(K.toarray() if is_sparse(K) else K)
    return np.asarray(product_by_tiles(A, B.T))
