"""Whether a matrix can be a Gram matrix: symmetric and positive semi-definite."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array

ROUNDED = {"float16": 1e-2, "float32": 1e-5}  # what counts as rounding of a matrix that comes in few digits
EXACT = 1e-10  # the same of one in float64
FACTORED = 1000  # rows of a matrix up to which a factorization is cheap
STEPS = 12  # of Lanczos for larger ones


@dataclass(frozen=True, eq=False)
class PSDCheck:
    """What `is_psd` found; true if the matrix is symmetric and positive semi-definite.

    Attributes
    ----------
    smallest : the smallest eigenvalue of (K + K^T) / 2.
    witness : a vector v of length 1 with v^T K v < 0; None if there is none beyond rounding.
    asymmetry : the largest abs(K[i, j] - K[j, i]).
    place : (i, j) where that is; None if K is symmetric.
    limit : eigenvalues down to ``-limit``, and differences up to it, count as rounding.
    """

    smallest: float
    witness: Array | None
    asymmetry: float
    place: tuple[int, int] | None
    limit: float

    def __bool__(self) -> bool:
        return self.witness is None and self.asymmetry <= self.limit

    def __str__(self) -> str:
        if self.asymmetry > self.limit and self.place is not None:
            i, j = self.place
            return f"not symmetric: K[{i}, {j}] and K[{j}, {i}] differ by {self.asymmetry:.3g}"
        if self.witness is not None:
            return f"not positive semi-definite: its smallest eigenvalue is {self.smallest:.3g}"
        return f"symmetric and positive semi-definite: its smallest eigenvalue is {self.smallest:.3g}"


def is_psd(K: Any, tol: float | None = None) -> PSDCheck:
    """Check that a matrix is symmetric and positive semi-definite, as every kernel's Gram matrix is.

    K is positive semi-definite if v^T K v >= 0 for all v, that is, if no eigenvalue is negative. The computed ones are
    wrong by about the rounding of the entries of K times its norm: down to ``-tol |K|_F`` they count as zero.

    Parameters
    ----------
    K : (n, n) matrix of finite numbers.
    tol : share of the Frobenius norm of K that counts as rounding; None: by the precision that K comes in, 1e-10 for
        float64 (and whole numbers), 1e-5 for float32, 1e-2 for float16.

    Returns
    -------
    PSDCheck, which is true or false, and says why: ``smallest`` eigenvalue, ``witness``, ``asymmetry``.

    Examples
    --------
    >>> from nearline.kernels.psd import is_psd
    >>> bool(is_psd([[2.0, 1.0], [1.0, 2.0]]))
    True
    >>> check = is_psd([[1.0, 2.0], [2.0, 1.0]])
    >>> print(check)
    not positive semi-definite: its smallest eigenvalue is -1
    >>> abs(check.witness).round(3)
    array([0.707, 0.707])
    """
    from scipy.linalg import eigh

    K = np.asarray(K)
    tol = ROUNDED.get(K.dtype.name, EXACT) if tol is None else tol
    K = K.astype(np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(
            f"A Gram matrix is square, got shape {K.shape}: give k(x, x') for all pairs of one set."
        )
    if not 0 <= tol < 1:
        raise ValueError(f"tol is a share of the norm, 0 <= tol < 1, got {tol!r}.")
    if not len(K):
        return PSDCheck(0.0, None, 0.0, None, 0.0)
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0].tolist()
        raise ValueError(f"K[{i}, {j}] is {K[i, j]}: a Gram matrix has finite values only.")
    scale = float(np.abs(K).max()) or 1.0  # so that squares in the norm cannot overflow
    limit = tol * scale * float(np.linalg.norm(K / scale))
    differences = np.abs(K - K.T)
    i, j = np.unravel_index(int(differences.argmax()), K.shape)
    asymmetry = float(differences[i, j])
    place = (int(i), int(j)) if asymmetry > 0 else None
    values, vectors = eigh(0.5 * K + 0.5 * K.T, subset_by_index=[0, 0], driver="evr")
    smallest = float(values[0])
    witness = np.asarray(vectors[:, 0]) if smallest < -limit else None
    return PSDCheck(smallest, witness, asymmetry, place, limit)


def is_indefinite(K: Array) -> bool:
    """Whether v^T K v < 0, beyond rounding, was found for some v: cheaper than :func:`is_psd`, for symmetric matrices.

    Small matrices are factorized, which finds any; of large ones only the directions of some steps of Lanczos are looked at.
    """
    scale = float(np.abs(K).max(initial=0.0))
    if not 0 < scale < np.inf:
        return False
    rounded, K = ROUNDED.get(K.dtype.name, EXACT), K / K.dtype.type(scale)  # so that squares cannot overflow
    limit = rounded * float(np.linalg.norm(K))
    if len(K) > FACTORED:
        return _smallest_seen(K) < -limit
    from scipy.linalg.lapack import dpotrf

    shifted = K.astype(np.float64)
    shifted[np.diag_indices(len(K))] += limit
    return bool(dpotrf(shifted, lower=1, clean=0, overwrite_a=1)[1] > 0)


def _smallest_seen(K: Array) -> float:
    """The smallest v^T K v over unit vectors of a Krylov space, an upper bound of the smallest eigenvalue."""
    Q = np.zeros((STEPS, len(K)))
    v = np.random.default_rng(0).normal(size=len(K))
    products = np.zeros_like(Q)
    for i in range(STEPS):
        for _ in range(2):  # twice is enough
            v = v - Q[:i].T @ (Q[:i] @ v)
        length = float(np.linalg.norm(v))
        if not length > 0:
            break
        Q[i] = v / length
        products[i] = v = K @ Q[i].astype(K.dtype, copy=False)
    T = Q @ products.T
    return float(np.linalg.eigvalsh(0.5 * (T + T.T))[0])
