"""What all passes offer, and what they share."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from nearline._arrays.design import Array, Design, is_sparse
from nearline._arrays.once import once
from nearline.losses import Loss
from nearline.risk._point import Point
from nearline.risk.params import Params
from nearline.risk.passes._bias import BiasSums, minimize_bias
from nearline.risk.passes._csc import Csc
from nearline.risk.passes.columns import Columns, DenseColumns, SparseColumns
from nearline.risk.passes.curvature import RowCurvature, add_grams, class_blocks, full_hessian
from nearline.risk.passes.row_basis import RowBasis
from nearline.risk.passes.standard import standardized_rows


class NewtonStep(NamedTuple):
    """A step of Newton's method, and where it leads at full length."""

    good: bool  # whether the point meets the Wolfe conditions
    direction: Params
    point: Point


class Passes(ABC):
    """Sums over rows for one (X, targets, weights, loss). Sums are plain; the risk divides by the total weight."""

    def __init__(self, X: Design, targets: Array, weights: Array, loss: Loss, n_outputs: int) -> None:
        self.X, self.targets, self.weights, self.loss, self.n_outputs = X, targets, weights, loss, n_outputs
        self._bases: dict[bool, RowBasis] = {}

    @property
    def precision(self) -> "np.dtype[Any]":
        """Of the rows."""
        return np.dtype(self.X.dtype)

    @property
    def total_weight(self) -> float:
        """sum_i s_i."""
        return float(self.weights.sum())

    def standardized(self, mean: Array, unit: Array) -> "Passes":
        """Passes over the rows (x - mean) / unit, made dense in float64."""
        X = standardized_rows(self.X, slice(None), mean, unit).astype(np.float64)
        return self._of(X, self.targets, self.weights)

    def _of(self, X: Design, targets: Array, weights: Array) -> "Passes":
        """Passes of the same loss over other rows."""
        return type(self)(X, targets, weights, self.loss, self.n_outputs)

    def foresee(self, params: Params, *, hessian: bool = False, duals: bool = False) -> bool:
        """A hint that value and gradient at ``params`` are asked soon, and the Hessian or a certificate there.

        It changes no answer. Where a pass costs messages, all of it comes with the next one: whether it does.
        """
        return False

    # -- value and gradient -----------------------------------------------------------------------------------

    @abstractmethod
    def scores(self, params: Params) -> Array:
        """W x_i + b for all rows, (n, K), in X's dtype."""

    @abstractmethod
    def total_loss(self, scores: Array) -> float:
        """sum_i s_i loss(f_i, y_i)."""

    @abstractmethod
    def value_and_gradient(self, params: Params) -> tuple[Array, float, Array, Array]:
        """scores, sum of losses, and its gradients in W (K, D) and in b (K,): one pass."""

    @abstractmethod
    def gradient_from_scores(self, scores: Array) -> tuple[float, Array, Array]:
        """sum of losses, its gradient in W (K, D) and in b (K,)."""

    @abstractmethod
    def value_and_slope(
        self, scores: Array, direction_scores: Array, step: float = 0.0
    ) -> tuple[float, float]:
        """sum_i s_i loss(f_i + step v_i, y_i) and its derivative in step."""

    @abstractmethod
    def smallest_margin(self, scores: Array) -> float:
        """min over rows (of positive weight) of y f, or of f_y less the largest other score."""

    @abstractmethod
    def back_product(self, G: Array) -> Array:
        """sum_i g_i x_i^T, (K, D), in float64."""

    # -- arithmetic of scores -----------------------------------------------------------------------------------

    def moved(self, scores: Array, step: float, direction_scores: Array) -> Array:
        """f + step v, in the precision of f."""
        return np.asarray(scores + step * direction_scores, dtype=scores.dtype)

    def shifted(self, scores: Array, shift: Array) -> Array:
        """f + shift (K,), in the precision of f."""
        return np.asarray((scores + shift).astype(scores.dtype, copy=False))

    def ahead(self, scores: Array, before: Array, speed: float) -> Array:
        """f + speed (f - f_before)."""
        return np.asarray(scores + scores.dtype.type(speed) * (scores - before))

    # -- duals of the rows --------------------------------------------------------------------------------------

    def duals(self, scores: Array) -> Array:
        """u (n, K): derivatives of each row's loss with respect to its scores, in float64."""
        return self.loss.value_and_gradient(scores.astype(np.float64), self.targets)[1]

    def balanced(self, duals: Array) -> Array | None:
        """The nearest simple duals with sum_i s_i u_i = 0; None if the loss knows none."""
        return self.loss.balance(np.asarray(duals, dtype=np.float64), self.targets, self.weights)

    def dual_product(self, duals: Array) -> Array:
        """sum_i s_i u_i x_i^T, (K, D)."""
        return self.back_product(np.asarray(duals, dtype=np.float64) * self.weights[:, None])

    def total_conjugate(self, duals: Array, scale: float = 1.0) -> float | None:
        """sum_i s_i loss*(scale u_i); None if the conjugate is not known."""
        values = self.loss.conjugate(scale * np.asarray(duals, dtype=np.float64), self.targets)
        used = self.weights > 0
        return None if values is None else float(self.weights[used] @ values[used])

    # -- curvature --------------------------------------------------------------------------------------------

    @abstractmethod
    def hessian_product(self, scores: Array, direction: Params) -> tuple[Array, Array]:
        """Curvature of the summed loss times a direction, in W and b."""

    @abstractmethod
    def row_curvature(self, scores: Array, rows: slice | Array) -> RowCurvature:
        """Second derivatives of the loss of some rows (``scores`` are theirs), weights included."""

    def hessian(self, scores: Array) -> Array:
        """Curvature of the summed loss as a matrix over Params.flat: all weights, then all biases."""
        return full_hessian(
            self.X, self.n_outputs, lambda rows: self.row_curvature(scores[rows], rows), self._add_grams
        )

    def class_hessian_blocks(self, scores: Array, row_step: int = 1) -> Array:
        """The blocks of each class alone, sum_i s_i h_c(f_i) [x_i; 1] [x_i; 1]^T, (K, D+1, D+1), in X's dtype.

        With ``row_step`` > 1 they are estimated from every row_step-th row (and scaled up to all rows). Made for
        preconditioning: in float32 they are good to float32.
        """
        return class_blocks(
            self.X,
            self.n_outputs,
            row_step,
            lambda rows: self.row_curvature(scores[rows], rows),
            self._add_grams,
        )

    def _add_grams(self, X: Array, h: Array, out: Array) -> None:
        """out[m] += [X, 1]^T diag(h[:, m]) [X, 1]."""
        add_grams(X, h, out)

    @property
    def steps_by_newton(self) -> bool:
        """Whether there is :meth:`newton_step`."""
        return False

    def newton_step(self, point: Point, bias: bool, l2: float, noise: float) -> NewtonStep | None:
        """Newton's step on mean loss + (l2/2) |W|^2, None if it is not known; ``noise`` is what values may be off by."""
        return None

    # -- X by columns, and by the space of its rows -----------------------------------------------------------

    def row_basis(self, centered: bool) -> RowBasis:
        """Dense rows, or these less their mean, in the space that they span; made once, as no strength changes it."""
        if centered not in self._bases:
            mean, deviation = self.column_moments
            mean = mean if centered else np.zeros_like(mean)
            self._bases[centered] = RowBasis(self.X, mean, float(deviation @ deviation))
        return self._bases[centered]

    @once
    def csc(self) -> Csc:
        """Sparse X by columns."""
        return Csc(self.X)

    @once
    def columns(self) -> Columns:
        """X by columns, as coordinate descent wants it."""
        mean = self.column_moments[0]
        return SparseColumns(self.X, self.csc, mean) if is_sparse(self.X) else DenseColumns(self.X, mean)

    # -- moments of the columns -------------------------------------------------------------------------------

    @once
    @abstractmethod
    def column_moments(self) -> tuple[Array, Array]:
        """Weighted mean and standard deviation of each feature, (D,) each."""

    @once
    def column_scale(self) -> Array:
        """Standard deviation of each feature, 1 where it is constant (to rounding)."""
        mean, deviation = self.column_moments
        tiny = 10 * np.finfo(self.precision).eps * np.abs(mean)
        return np.where(deviation > tiny, deviation, 1.0)

    # -- the bias alone ---------------------------------------------------------------------------------------

    @abstractmethod
    def bias_sums(self, scores: Array, b: Array) -> BiasSums:
        """Sum of the losses of scores + b, its gradient (K,) and, where there is one, curvature (K, K) in b."""

    def best_bias_shift(self, scores: Array) -> Array:
        """argmin_b of the summed loss of scores + b, by Newton's method in K dimensions."""
        return minimize_bias(lambda b: self.bias_sums(scores, b), self.n_outputs, self.total_weight)

    def best_null_bias(self) -> Array:
        """argmin_b of the summed loss at W = 0: rows of one class are alike, so each class is one row."""
        if self.targets.ndim == 2:
            return self.best_bias_shift(np.zeros((len(self.targets), self.n_outputs)))
        return self._best_bias_of_classes(self.class_totals())

    def class_totals(self) -> Array:
        """(C,) weight of the rows of each class."""
        n_classes = self.loss.label_count(self.n_outputs)
        return np.bincount(self.targets, weights=self.weights, minlength=n_classes)

    def _best_bias_of_classes(self, totals: Array) -> Array:
        known = self.loss.null_bias(totals, self.n_outputs)
        if known is not None:
            return known
        classes = np.arange(len(totals), dtype=np.int32)
        one_row_a_class = self._of(np.zeros((len(totals), 0)), classes, totals)
        return one_row_a_class.best_bias_shift(np.zeros((len(totals), self.n_outputs)))
