"""Spectrum: a factorization of centered rows from which ridge regression is solved for every ridge."""

from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import single_threaded_blas
from nearline.solvers.closed_form._moments import WELL_CONDITIONED

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues e (r,), Q (r, K), and the basis V (D, r) of features or U (n, r) of rows, the smaller of the two."""

    e: Array
    Q: Array
    basis: Array
    smallest: float  # eigenvalues up to this one are 0 to rounding

    def inverse(self, lam: Array | float) -> Array:
        """1 / (e + lam); for lam = 0 the pseudo-inverse, which gives the least |W|. lam (m, 1) gives (m, r)."""
        inside = (self.e > self.smallest) | (np.asarray(lam) > 0)
        return np.where(inside, 1.0 / np.where(inside, self.e + lam, 1.0), 0.0)

    def trusted(self, lam: float) -> bool:
        """Whether eigenvalues of the Gram matrix, which carry errors of eps * largest, are good enough at lam."""
        largest = float(self.e.max(initial=0.0))
        return float(self.e.min(initial=np.inf)) + lam >= WELL_CONDITIONED * largest and (
            lam > 0 or largest > 0
        )


def eigh(G: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors; on one thread, where it is fast and always the same."""
    with single_threaded_blas:
        values, vectors = np.linalg.eigh(G)
    return values, vectors


def svd(R: Array) -> tuple[Array, Array, Array]:
    """U, sigma, V of a square R = U diag(sigma) V^T, by Jacobi's method after pivoting.

    It is slower than bidiagonalization, but small singular values and vectors of a matrix whose columns have different
    units keep all their digits.
    """
    from scipy.linalg.lapack import dgejsv

    with single_threaded_blas:
        scaled, U, V, work, _, failed = dgejsv(R, joba=0, jobu=0, jobv=0, jobr=0, jobt=0, jobp=0)
        if failed:
            U, sigma, Vt = np.linalg.svd(R)
            return U, sigma, Vt.T
    return U, scaled * (work[0] / work[1]), V
