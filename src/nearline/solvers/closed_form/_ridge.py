"""RidgeFactorization: one factorization of the data, then least squares for every alpha and left-out row.

Notation: Z = sqrt(s) (X - mean), T = sqrt(s) (targets - mean), Z = U diag(sigma) V^T, e = sigma^2. In the risk
(alpha/2) |W|^2 + mean loss the ridge of the sum form is lam = S alpha, and

    W^T = V diag(1 / (e + lam)) Q,   Q = V^T Z^T T = diag(sigma) U^T T.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nearline._arrays.design import Array, as_design
from nearline._arrays.once import once
from nearline._parallel.tiles import map_tiles
from nearline.risk.params import Params
from nearline.solvers._left_out import left_out
from nearline.solvers.closed_form._centered import Centered, less
from nearline.solvers.closed_form._folds import leave_folds_out
from nearline.solvers.closed_form.spectrum import EPS, Spectrum, eigh, svd

LARGEST_FACTOR = 8192  # rows of the largest matrix to factorize (0.5 GB)


class RidgeFactorization:
    """Least squares with every ridge from one factorization.

    The factorization is that of the smaller Gram matrix; where squaring the condition number would cost digits, that of
    a triangle (QR, then SVD) instead.

    Parameters
    ----------
    X : (n, D) array or CSR matrix; float32 is not copied.
    codes : (n,) or (n, K) numbers to fit: y in {-1, +1}, 1-of-K, or any.
    weights : (n,) sample weights; integer weights equal repeated rows.
    bias : whether a bias, never penalized, is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import RidgeFactorization
    >>> X, codes = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> factors = RidgeFactorization(X, codes)
    >>> factors.solution(0.0).W.round(3).tolist(), factors.solution(0.0).b.round(3).tolist()
    ([[0.6]], [-1.2])
    >>> factors.leave_one_out([0.0, 0.1]).shape  # alphas, rows, outputs
    (2, 4, 1)
    """

    def __init__(self, X: Any, codes: Any, weights: Any = None, *, bias: bool = True) -> None:
        X = as_design(X)
        codes = np.asarray(codes, dtype=np.float64)
        weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
        if len(codes) != X.shape[0] or len(weights) != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows, codes {len(codes)} and weights {len(weights)}: give one of each for a row."
            )
        if not (weights.min(initial=0.0) >= 0 and weights.sum() > 0):
            raise ValueError("Sample weights must be >= 0 and not all zero.")
        self._take(Centered(X, codes[:, None] if codes.ndim == 1 else codes, weights, bias))

    @classmethod
    def of(cls, design: Centered) -> "RidgeFactorization":
        """The factorization of rows that are centered already."""
        self = cls.__new__(cls)
        self._take(design)
        return self

    def _take(self, design: Centered) -> None:
        size = min(design.n_rows, design.n_features)
        if size > LARGEST_FACTOR:
            raise ValueError(
                f"The factorization of {design.n_rows} rows by {design.n_features} features would need matrices of "
                f"{size} x {size} ({8e-9 * size * size:.1f} GB each): give one alpha (solver 'newton-cg' or "
                "'closed-form' then iterates), or choose alpha by cross-validation."
            )
        self.design = design

    # -- the factorization ------------------------------------------------------------------------------------

    @once
    def _from_gram(self) -> Spectrum:
        design = self.design
        if design.primal:
            G, C = design.gram
            e, V = eigh(G)
            e = np.maximum(e, 0.0)
            return Spectrum(e, V.T @ C, V, EPS * len(e) * float(e[-1]))
        G = design.row_gram
        if not design.bias:
            e, U = eigh(G)
        else:
            # sqrt(s) spans a null space of the centered rows that no row may lean on: lift it out, and drop it.
            lifted = np.outer(design.root, design.root * (2.0 * np.linalg.norm(G) / design.total))
            e, U = (part[..., :-1] for part in eigh(G + lifted))
        e = np.maximum(e, 0.0)
        return Spectrum(
            e, np.sqrt(e)[:, None] * (U.T @ design.T), U, EPS * len(G) * float(e.max(initial=0.0))
        )

    @once
    def _from_triangle(self) -> Spectrum:
        """Singular values to a relative precision; those below numpy.linalg.lstsq's threshold count as zero."""
        design = self.design
        if design.primal:
            R, QtT = design.triangle()
            U, sigma, basis = svd(R)
            coordinates = U.T @ QtT
        else:
            _, sigma, basis = svd(design.row_triangle())
            coordinates = basis.T @ design.T
        floor = EPS * max(design.n_rows, design.n_features) * float(sigma.max(initial=0.0))
        # Directions that are zero to rounding would carry rounding only, blown up by 1 / lam.
        Q = np.where(sigma > floor, sigma, 0.0)[:, None] * coordinates
        return Spectrum(sigma**2, Q, basis, floor**2)

    def spectrum(self, alpha: float) -> Spectrum:
        """The factorization to use at alpha."""
        if "_from_triangle" in self.__dict__:
            return self._from_triangle
        plain = self._from_gram
        return plain if plain.trusted(alpha * self.design.total) else self._from_triangle

    # -- solutions --------------------------------------------------------------------------------------------

    def solution(self, alpha: float) -> Params:
        """argmin of (alpha/2) |W|^2 + mean loss; at alpha = 0 that of least |W| on centered rows."""
        return self.design.params(self.weights(alpha))

    def weights(self, alpha: float) -> Array:
        """W (K, D) of the solution."""
        part = self.spectrum(alpha)
        inverse = part.inverse(alpha * self.design.total)[:, None]
        if self.design.primal:
            return np.asarray((part.basis @ (inverse * part.Q)).T)
        return self.design.back_product(part.basis @ (inverse * (part.basis.T @ self.design.T)))

    def scores(self, X: Any, alpha: float) -> Array:
        """W x + b (m, K) in float64, with x - mean taken first: right to the last digits for any offset."""
        return np.asarray(less(X, self.design.mean) @ self.weights(alpha).T + self.design.target_mean)

    # -- leave-one-out ----------------------------------------------------------------------------------------

    def leave_one_out(self, alphas: Sequence[float] | Array) -> Array:
        """Scores (A, n, K) of each row by the model fitted to all other rows: exactly the refit, for every alpha."""
        design, alphas = self.design, np.asarray(alphas, dtype=np.float64)
        if np.count_nonzero(design.weights) < 2:
            raise ValueError("Leave-one-out needs at least two rows of positive weight: one is left out.")
        part = self.spectrum(float(alphas.min()))
        scores, steep = self._left_out(alphas, part)
        if steep and part is not self._from_triangle:
            # Rows that hold up a direction by themselves need its digits, which the Gram matrix has lost.
            scores, _ = self._left_out(alphas, self._from_triangle)
        idle = np.flatnonzero(design.weights == 0)
        if len(idle):  # a row without weight changes nothing by its absence
            for a, alpha in enumerate(alphas):
                scores[a, idle] = self.scores(design.X[idle], float(alpha))
        return scores

    def _left_out(self, alphas: Array, part: Spectrum) -> tuple[Array, bool]:
        design = self.design
        columns = 2.0 * (design.n_features if design.primal else 1) + 2.0 * design.n_outputs * len(alphas)
        parts = map_tiles(
            lambda tile: left_out(design, tile, alphas, part),
            design.row_tiles,
            work=design.n_rows * len(part.e) * columns,
        )
        return np.concatenate([scores for scores, _ in parts], axis=1), any(steep for _, steep in parts)

    def leave_folds_out(self, folds: Array, alphas: Sequence[float] | Array) -> Array:
        """Scores (A, n, K) of each row by the model fitted to all other folds; ``folds`` (n,) numbers the rows' folds.

        The sums over the rows outside a fold are those of the other folds, so all folds together cost one pass over X.
        (Where rows are fewer than features, or ill-conditioned, a fold is factorized by itself.)
        """
        return leave_folds_out(self.design, np.asarray(folds), np.asarray(alphas), RidgeFactorization.of)
