"""Between the plain distance and a learned one: both, as shares of the squared distance."""

import numpy as np

from nearline._arrays.design import Array

SHARES = (1.0, 0.8, 0.5)  # of the learned one, rows being equally far from their mean in both


def beside(Z: Array, X: Array, size: float, share: float) -> Array:
    """Points whose squared distance is that of rows Z of mean square ``size``, and of rows X of mean square 1, by shares."""
    if share == 1.0:
        return Z
    return np.hstack([np.sqrt(share / size) * Z, np.sqrt(1.0 - share) * X]).astype(X.dtype, copy=False)


def blended(A: Array, size: float, share: float) -> Array:
    """The map (at most D, D) whose distance is that of A (d, D) and the plain one, by shares."""
    if share == 1.0:
        return A
    both = np.vstack([np.sqrt(share / size) * A, np.sqrt(1.0 - share) * np.eye(A.shape[1])])
    return np.asarray(np.linalg.qr(both, mode="r"))


def mean_square(Z: Array) -> float:
    """Mean squared length of rows."""
    return float(np.einsum("ij,ij->i", Z, Z).mean(dtype=np.float64)) or 1.0
