"""Objective: what all risks share, whatever their scores are made of: points, lines, null model, certificate."""

import numbers
import sys
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._arrays.targets import checked_targets, row_weights
from nearline._records.habits import named
from nearline._records.refused import ParameterError
from nearline.losses import LOSSES, Loss, check_loss
from nearline.risk._point import Line, Point, ScoredPoint
from nearline.risk.params import Params
from nearline.risk.passes import Passes


class Objective(ABC):
    """A weighted mean of losses of scores, plus alpha times a penalty of their parameters, with a bias or none."""

    loss: Loss
    bias: bool
    examples: ClassVar[str] = "rows"  # what has a target
    targets: Array  # (n,) or (n, K)
    n_classes: int
    n_outputs: int
    weights: Array  # (n,)
    total_weight: float
    alpha: float
    passes: Passes  # over rows; what it says of scores alone holds for all risks

    def _take(
        self, n_rows: int, targets: Any, loss: Any, alpha: Any, weights: Any, bias: Any, n_classes: int | None
    ) -> None:
        """Check and keep what does not depend on the scores."""
        self.loss = named(loss, LOSSES, Loss, "loss")
        if not isinstance(bias, (bool, np.bool_)):
            raise ValueError(f"bias (of estimators fit_intercept) must be True or False, got {bias!r}.")
        self.bias = bool(bias)
        self.targets = checked_targets(targets, n_classes)
        if len(self.targets) != n_rows:
            raise ValueError(
                f"X has {n_rows} rows but targets {len(self.targets)}: give one target for each row."
            )
        if n_rows == 0:
            raise ValueError("The risk of no rows is undefined: X is empty, give at least one row.")
        if n_classes is None and self.targets.ndim == 1 and (self.targets == self.targets[0]).all():
            raise ValueError(
                f"All {n_rows:,} targets are of one class, so that there is nothing to tell apart: give {self.examples} of "
                f"another class too, or set n_classes if classes without {self.examples} are meant."
            )
        if n_classes is None:
            several = self.targets.ndim == 2
            n_classes = self.targets.shape[1] if several else int(self.targets.max()) + 1
        self.n_classes = max(n_classes, 2)
        self.n_outputs = self.n_classes if self.loss.joint or self.n_classes > 2 else 1
        check_loss(self.loss, self.targets, self.n_outputs)
        self.weights = row_weights(weights, n_rows)
        self.total_weight = float(self.weights.sum())
        self.alpha = strength(alpha, self.total_weight)

    # -- what a risk says of itself ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def precision(self) -> "np.dtype[Any]":
        """Of the parameters that users get."""

    @property
    @abstractmethod
    def exact(self) -> "Objective":
        """The same with all sums in float64: what certificates are computed with."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Weights of each output."""

    @property
    @abstractmethod
    def unpenalized(self) -> bool:
        """Whether there is no penalty at all."""

    @property
    @abstractmethod
    def has_gap(self) -> bool:
        """Whether there are certificates: a penalty and a loss whose conjugates are known."""

    @property
    def n_rows(self) -> int:
        return len(self.targets)

    @property
    def specimen(self) -> Array:
        """One target, as the loss takes them."""
        return self.targets[:1]

    @property
    def blocked(self) -> bool:
        """Whether rows are in blocks, which can be asked for sums alone."""
        return False

    @property
    def may_recede(self) -> bool:
        """Whether rows alone decide if there is a minimizer: losses that reach their least value at infinity only."""
        return self.unpenalized and self.loss.own.endless and self.specimen.ndim == 1

    def zeros(self) -> Params:
        return Params.zeros(self.n_outputs, self.n_features)

    # -- value and gradient -----------------------------------------------------------------------------------

    @abstractmethod
    def scores(self, params: Params) -> Array:
        """(n, K), in the precision of the rows."""

    @abstractmethod
    def penalty(self, params: Params, scores: Array) -> float:
        """alpha times the penalty of parameters with these scores."""

    @abstractmethod
    def penalty_along(self, line: Line, t: float) -> tuple[float, float]:
        """alpha times the penalty, and the derivative of its smooth part, at t."""

    @abstractmethod
    def at(self, params: Params) -> Point:
        """Value, gradient and scores at ``params``."""

    @abstractmethod
    def at_scores(self, params: Params, scores: Array) -> Point:
        """The same where the scores are known already."""

    def scored(self, params: Params) -> Point:
        """Value and scores at ``params``, for those who do not need the gradient."""
        return ScoredPoint(self, params, self.scores(params))

    def value(self, where: Any) -> float:
        """The risk alone, at parameters or at a point (see :meth:`params_of`)."""
        params = self.params_of(where)
        return self.value_at_scores(params, self.scores(params))

    def params_of(self, where: Any) -> Params:
        """Parameters as they are, those of a point, or a vector (or list) of weights and then biases."""
        params = where.params if isinstance(where, Point) else where
        if not isinstance(params, Params):
            flat = np.asarray(params)
            if flat.dtype.kind not in "iuf" or flat.ndim != 1:
                raise ValueError(
                    f"A risk is taken at Params, at a Point or at a vector of weights and biases, got {where!r:.200}."
                )
            params = Params(flat.tolist(), self.n_outputs, self.n_features)
        if (params.n_outputs, params.n_features) != (self.n_outputs, self.n_features):
            raise ValueError(
                f"The risk has weights ({self.n_outputs}, {self.n_features}), the parameters are of "
                f"({params.n_outputs}, {params.n_features}): start from risk.zeros()."
            )
        return params

    def value_at_scores(self, params: Params, scores: Array) -> float:
        return self.passes.total_loss(scores) / self.total_weight + self.penalty(params, scores)

    def along(self, point: Point, direction: Params) -> Line:
        """The risk on the ray from ``point``: one product with the data, then every step costs O(nK)."""
        return Line(self, point, direction, self.scores(direction))

    def rounding(self, point: Point) -> float:
        """What values near a point may be off by; below it they cannot tell better from worse, and slopes decide alone.

        There is the rounding of sums over n rows, that of losses near 0, which are differences of numbers of the size of
        the null risk, and that of scores W x + b where W x and b are both large.
        """
        of_sums, of_rows = (1e-14, 2e-15) if point.scores.dtype.itemsize == 8 else (3e-8, 1e-9)
        offset = float((np.abs(point.params.W) @ np.abs(self.passes.column_moments[0])).max(initial=0.0))
        return of_sums * abs(point.value) + of_rows * self.null_value + 0.1 * of_sums * offset

    # -- what the certificate needs ---------------------------------------------------------------------------

    @once
    def null_point(self) -> Point:
        """The risk at W = 0 and the best b."""
        params = self.zeros()
        if self.bias:
            params.b[:] = self.passes.best_null_bias()
        return self.scored(params)

    @property
    def null_value(self) -> float:
        """P(W = 0, best b): the null risk."""
        return max(self.null_point.data_loss, sys.float_info.min)

    def with_best_bias(self, point: Point) -> Point:
        """The point with b moved to its best for the same W (smooth losses)."""
        shift = self.passes.best_bias_shift(point.scores)
        params = point.params.copy()
        params.b[:] += shift
        return ScoredPoint(self, params, self.passes.shifted(point.scores, shift))

    @abstractmethod
    def dual_value(self, duals: Array) -> float | None:
        """D(u) at duals made feasible first; None where there is no certificate: alpha = 0, or a conjugate not known."""

    def gap(self, point: Point, duals: Array | None = None, enough: float = 0.0) -> float | None:
        """Certified duality gap of a point relative to its risk, (P - D) / P, or None where there is none.

        Smooth losses derive the duals from the scores; non-smooth ones take the solver's. Where it is more than enough,
        duals at the best b are tried too.
        """
        better, gap = self.certify(point, duals, enough * point.value)
        if gap is None:
            return None
        return (gap + point.value - better.value) / max(point.value, float(np.finfo(float).tiny))

    def certify(
        self, point: Point, duals: Array | None = None, enough: float = 0.0
    ) -> tuple[Point, float | None]:
        """P - D, and the point that it holds for: the one given or, if it is more than enough, that with the best b.

        D <= P, so a negative difference is rounding; its size says how much there is.
        """
        if self.unpenalized:
            return point, None
        dual = self.dual_value(self.passes.duals(point.scores) if duals is None else duals)
        if dual is None:
            return point, None
        gap = abs(point.value - dual)
        if gap <= enough or duals is not None or not (self.bias and self.loss.smooth):
            return point, gap
        better = self.with_best_bias(point)
        better = better if better.value <= point.value else point
        dual = max(dual, self.dual_value(self.passes.duals(better.scores)) or dual)
        return better, abs(better.value - dual)

    def gap_estimate(self, point: Point) -> float | None:
        """P - D where b is at its best, if the gradient of the point says it."""
        return None

    @abstractmethod
    def gradient_test(self, point: Point) -> float:
        """Size of the gradient relative to that at W = 0."""


def strength(alpha: Any, total_weight: float) -> float:
    """alpha as a number: "1/n" is 1 / S, S the sum of the weights, that is n where each row counts once.

    Then S risk(W, b) = sum_i s_i loss_i + R(W): the strength of scikit-learn's C = 1 and of Ridge's alpha = 1.
    """
    if not isinstance(alpha, str):
        return checked_alpha(alpha)
    if alpha != "1/n":
        raise ParameterError("alpha", alpha, "a finite number >= 0 (0 means no penalty) or '1/n'")
    return 1.0 / total_weight


def checked_alpha(alpha: Any) -> float:
    if not isinstance(alpha, numbers.Real) or not 0.0 <= float(alpha) < np.inf:
        raise ParameterError("alpha", alpha, "a finite number >= 0 (0 means no penalty)")
    return float(alpha)
