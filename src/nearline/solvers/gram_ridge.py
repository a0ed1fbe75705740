"""GramRidge: least squares in the space of a kernel's features, every alpha and left-out row at once.

Notation as in the factorization of rows: Z = sqrt(s) (phi - mean), T = sqrt(s) (targets - mean), here known by
Z Z^T = U diag(e) U^T only. W = A^T Z with A = (Z Z^T + lam I)^-1 T, lam = S alpha.
"""

from collections.abc import Sequence

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._parallel.tiles import map_tiles, slices
from nearline.losses import Squared
from nearline.risk import KernelRisk
from nearline.solvers._left_out import left_out
from nearline.solvers.closed_form.spectrum import EPS, Spectrum, eigh


class GramRidge:
    """Minimize mean |f - t|^2 / 2 + (alpha/2) |W|^2 over f(x) = sum_i a_i k(x_i, x) + b, from the Gram matrix.

    Parameters
    ----------
    K : (n, n) Gram matrix.
    codes : (n, P) numbers to fit.
    weights : (n,) sample weights.
    bias : whether a bias, never penalized, is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.solvers.gram_ridge import GramRidge
    >>> x, t = np.array([0.0, 1.0, 3.0, 4.0]), np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> A, b = GramRidge(np.outer(x, x), t, np.ones(4)).solution(1e-9)
    >>> (x @ A).round(3).tolist(), b.round(3).tolist()  # the line of least squares
    ([0.6], [-1.2])
    """

    primal = False  # the Gram matrix is that of rows

    def __init__(self, K: Array, codes: Array, weights: Array, *, bias: bool = True) -> None:
        self.codes, self.weights, self.bias = codes, weights, bias
        self.total, self.root = float(weights.sum()), np.sqrt(weights)
        n = len(weights)
        self.target_mean = weights @ codes / self.total if bias else np.zeros(codes.shape[1])
        self.T = self.root[:, None] * (codes - self.target_mean)
        G = np.array(K, dtype=np.float64)
        self.row_means = weights @ G / self.total if bias else np.zeros(n)  # mean of k(x, x_i) over x
        if bias:
            G -= self.row_means
            G -= (G @ weights / self.total)[:, None]
        self.G = 0.5 * (G + G.T) * self.root[:, None] * self.root

    @classmethod
    def of(cls, risk: KernelRisk) -> "GramRidge":
        """Of a kernel's risk with the squared loss; in float64, as its solution is certified to more digits than float32."""
        codes = Squared().codes(risk.targets, risk.n_outputs)
        return cls(risk.matrix, codes, risk.weights, bias=risk.bias)

    @once
    def spectrum(self) -> Spectrum:
        """Eigenvalues and vectors of Z Z^T; the null vector that a bias brings along is left out."""
        G = self.G
        if self.bias:
            lifted = np.outer(self.root, self.root * (2.0 * np.linalg.norm(G) / self.total))
            e, U = (part[..., :-1] for part in eigh(G + lifted))
        else:
            e, U = eigh(G)
        e = np.maximum(e, 0.0)
        smallest = EPS * len(G) * float(e.max(initial=0.0))
        return Spectrum(e, np.sqrt(e)[:, None] * (U.T @ self.T), U, smallest)

    def solution(self, alpha: float) -> tuple[Array, Array]:
        """Coefficients (n, P) and biases (P,). Without the eigenvectors, if they are not there, by Cholesky."""
        lam = alpha * self.total
        if "spectrum" in self.__dict__ or lam <= 0:
            part = self.spectrum
            A = part.basis @ (part.inverse(lam)[:, None] * (part.basis.T @ self.T))
        else:
            A = self._solved(lam)
        if self.bias:  # sum_i root_i A_i = 0; what rounding leaves of it would be blown up by 1 / lam
            A = A - np.outer(self.root, self.root @ A / self.total)
        A = self.root[:, None] * A
        return A, self.target_mean - self.row_means @ A

    def _solved(self, lam: float) -> Array:
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        system = self.G.copy()
        system[np.diag_indices_from(system)] += lam
        try:
            factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:  # lam is below the rounding of the largest eigenvalue
            part = self.spectrum
            return np.asarray(part.basis @ (part.inverse(lam)[:, None] * (part.basis.T @ self.T)))
        return np.asarray(cho_solve(factor, self.T, check_finite=False))

    def leave_one_out(self, alphas: Sequence[float] | Array) -> Array:
        """Scores (A, n, P) of each row by the model fitted to all others at the same alpha."""
        alphas = np.asarray(alphas, dtype=np.float64)
        tiles = slices(len(self.weights), 256)
        work = float(len(self.weights)) ** 2 * len(alphas) * self.codes.shape[1]
        part = self.spectrum
        parts = map_tiles(lambda tile: left_out(self, tile, alphas, part)[0], tiles, work=work)
        scores = np.concatenate(parts, axis=1)
        idle = np.flatnonzero(self.weights == 0)
        if len(idle):
            raise ValueError("Leave-one-out scores need weights > 0: drop the rows of weight 0.")
        return scores
