"""Moments: the sums over rows from which least squares can be solved, and the solution of one positive system."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nearline._arrays.design import Array

WELL_CONDITIONED = 1e-10  # reciprocal condition number down to which a Gram matrix stands for the data itself


@dataclass(frozen=True)
class Moments:
    """Weighted sums over rows z (about some center) and targets t: they add up over parts of the data."""

    G: Array  # sum s z z^T (D, D), lower triangle
    C: Array  # sum s z t^T (D, K)
    z: Array  # sum s z (D,)
    t: Array  # sum s t (K,)
    total: float  # sum s

    @classmethod
    def zeros(cls, n_features: int, n_outputs: int) -> "Moments":
        G = np.zeros((n_features, n_features), order="F")
        return cls(G, np.zeros((n_features, n_outputs)), np.zeros(n_features), np.zeros(n_outputs), 0.0)

    def with_rows(self, Z: Array, T: Array, root: Array) -> "Moments":
        """The same with rows sqrt(s) z and sqrt(s) t added; G and C are changed in place."""
        from scipy.linalg.blas import dsyrk

        G = dsyrk(1.0, Z.T, beta=1.0, c=self.G, lower=1, overwrite_c=1)
        np.add(self.C, Z.T @ T, out=self.C)
        return Moments(G, self.C, self.z + root @ Z, self.t + root @ T, self.total + float(root @ root))

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            self.G + other.G, self.C + other.C, self.z + other.z, self.t + other.t, self.total + other.total
        )

    def centered(self, bias: bool) -> tuple[Array, Array, Array, Array]:
        """The whole of G, and C, about the rows' own means of z and t, and these means; as they are without a bias.

        Nothing cancels where the old center is near the mean.
        """
        if not bias:
            return symmetric(self.G.copy(order="F")), self.C, np.zeros_like(self.z), np.zeros_like(self.t)
        mean = self.z / self.total
        return (
            symmetric(self.G - np.outer(self.z, mean)),
            self.C - np.outer(mean, self.t),
            mean,
            self.t / self.total,
        )


class PositiveSystem:
    """(G + lam I)^-1 by Cholesky, rows and columns scaled to a unit diagonal, so that units of features do not matter.

    ``rcond`` estimates the reciprocal condition number after scaling; 0 where there is no factorization.
    """

    def __init__(self, G: Array, lam: float) -> None:
        from scipy.linalg.lapack import dpocon, dpotrf

        diagonal = np.diag(G) + lam
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        A = np.multiply(G, self.scale[:, None], order="F")
        A *= self.scale
        np.fill_diagonal(A, diagonal * self.scale**2)
        norm = float(np.abs(A).sum(axis=0).max(initial=0.0))
        self.factor, failed = dpotrf(A, lower=1, overwrite_a=1, clean=0)
        self.rcond = 0.0 if failed else float(dpocon(self.factor, norm, uplo="L")[0])

    def solve(self, B: Array) -> Array:
        """X with (G + lam I) X = B."""
        from scipy.linalg.lapack import dpotrs

        solved, _ = dpotrs(self.factor, B * self.scale[:, None], lower=1)
        return np.asarray(solved * self.scale[:, None])


def symmetric(lower: Array) -> Array:
    """The whole matrix from its lower triangle, in place."""
    for start, stop in pairwise([*range(0, len(lower), 256), len(lower)]):
        block = lower[start:stop, start:stop]
        block[...] = np.tril(block) + np.tril(block, -1).T
        lower[start:stop, stop:] = lower[stop:, start:stop].T
    return lower
