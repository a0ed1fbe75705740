"""When a fit is done: how good it has to be, the certificate of what is delivered, and the end of progress."""

import numbers
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError
from nearline.risk import Objective, Point, ScoredPoint
from nearline.risk.params import Params
from nearline.solvers._mean_gradient import with_mean_gradient
from nearline.solvers._state import State, Status

SCALES = ("risk", "null")
ENDS = ("tol", "max_iter")
TINY = sys.float_info.min
ROUNDINGS = 3  # points good enough but for the rounding of their parameters that end a fit


@dataclass(frozen=True)
class Goal:
    """P - D <= tol * unit, where the unit is the risk P itself or the null risk P(W = 0, best b).

    The risk is the scale for a model: whatever alpha, its risk is right to tol and, with an L2 penalty, its weights are
    off by at most |W - W*|^2 <= 2 tol P / alpha. Where rows are separable and alpha is small, the null risk is larger by
    orders of magnitude: it is the scale for fits of which only the labels count.
    """

    tol: float
    null: float | None = None  # the null risk where that is the unit
    endless: bool = False  # whether iterations go on however good the fit is

    @classmethod
    def of(cls, risk: Objective, tol: Any, relative_to: Any, until: Any = "tol") -> "Goal":
        """The goal as a user says it."""
        if relative_to not in SCALES:
            raise ParameterError(
                "relative_to", relative_to, "'risk' (P - D <= tol P) or 'null' (P - D <= tol P(W = 0))"
            )
        if not (isinstance(tol, numbers.Real) and float(tol) > 0):
            raise ParameterError("tol", tol, "> 0 (it is a relative duality gap)")
        if until not in ENDS:
            raise ParameterError(
                "until", until, "'tol' (end at the tolerance) or 'max_iter' (go on beyond it)"
            )
        return cls(float(tol), risk.null_value if relative_to == "null" else None, until == "max_iter")

    def unit(self, value: float) -> float:
        """What the gap of a point with this risk is divided by; positive, so that a risk of 0 has a gap of 0."""
        return max(value if self.null is None else self.null, TINY)

    def allowed(self, value: float) -> float:
        """The largest P - D that will do at a point with this risk."""
        return self.tol * self.unit(value)


class Certifier:
    """Decides after each iteration whether the fit is done. The gap costs a pass: it is asked when it may be small.

    Whatever a solver computes in, gap and gradient are those of the parameters that the user gets, in float64.
    """

    def __init__(
        self, risk: Objective, goal: Goal, start: Point, *, descends: bool = False, caution: float = 1.0
    ) -> None:
        self.risk, self.goal, self.point = risk, goal, start
        self.gap: float | None = None
        self.gradient_test: float | None = None
        self.status = Status.MAX_ITER
        self.next_check = 0
        self.progress = Progress(float(np.finfo(risk.precision).eps)) if descends else None
        self.rounds = risk.precision != np.float64  # whether parameters lose digits when they are delivered
        self.delivered = not self.rounds  # whether the point is what the user gets
        self.lost = 0  # points that rounding has spoiled
        self.caution = caution  # what the next point's gap should be, in units of what is allowed
        self.has_gap = risk.has_gap

    def check(self, state: State, n_iter: int, last: bool) -> bool:
        if not np.isfinite(state.point.value):
            self.status, self.gap, self.gradient_test = Status.NOT_FINITE, None, None
            return True
        self.point, self.delivered = state.point, not self.rounds
        if self.goal.endless and not (last or state.stuck):
            return False
        if self._separated(state.point):
            self.status = Status.NO_MINIMIZER
            self.gradient_test = self.risk.gradient_test(state.point)
            return True
        state.stuck = state.stuck or (self.progress is not None and self.progress.ended(state.point, n_iter))
        if not (last or state.stuck or self._promising(state, n_iter)):
            return False
        reached = self._reached(state)
        if reached:
            self.status = Status.CONVERGED
        elif self.lost >= ROUNDINGS or (state.stuck and self.lost):
            self.status = Status.LIMITED_PRECISION
            return True
        elif state.stuck:
            self.status = Status.PRECISION
        return reached or state.stuck

    def _reached(self, state: State) -> bool:
        """Whether the parameters have reached the tolerance, by their gap or, where there is none, their gradient."""
        reached = self._gap_reached(state) if self.has_gap else self._gradient_reached(state)
        if reached and not (state.fresh or self.rounds):
            # A certificate is for the parameters: scores that carry the rounding of many steps do not do.
            state.point, state.fresh = self.risk.at(state.point.params), True
            return self._reached(state)
        return reached

    def _gap_reached(self, state: State) -> bool:
        risk, goal = self.risk.exact, self.goal
        if state.gap is None:
            given = risk.scored(state.point.params) if self.rounds else state.point
            point, gap = risk.certify(given, state.duals, goal.allowed(given.value))
            assert gap is not None
        else:
            given, point, gap = state.point, state.point, state.gap
        bound, reached = point.value - gap, gap <= goal.allowed(point.value)
        # A better b is taken only where it ends the fit: else the solver's own point is what was reached.
        self.point = point if reached else given
        if self.rounds:
            # The bound holds for any parameters, and is best where it was found: it is used for the rounded ones too.
            self.point, self.delivered = rounded(self.risk, self.point, bound + goal.allowed(bound)), True
            whole, reached = reached, self.point.value - bound <= goal.allowed(self.point.value)
            self._lose(whole and not reached)
        self.gap = abs(self.point.value - bound) / goal.unit(self.point.value)
        return reached

    def _gradient_reached(self, state: State) -> bool:
        self.gradient_test = self.risk.gradient_test(state.point)
        if self.gradient_test > self.goal.tol or not self.rounds:
            return self.gradient_test <= self.goal.tol
        self.point, self.delivered = self.risk.exact.scored(delivered(self.risk, state.point.params)), True
        self.gradient_test = self._exact_gradient_test(self.point, state.duals)
        reached, whole = self.gradient_test <= self.goal.tol, self.risk.exact.scored(state.point.params)
        self._lose(not reached and self._exact_gradient_test(whole, state.duals) <= self.goal.tol)
        return reached

    def _exact_gradient_test(self, point: Point, duals: Array | None) -> float:
        risk = self.risk.exact
        return risk.gradient_test(
            point if duals is None else with_mean_gradient(risk, point, duals, self.goal.tol)
        )

    def _lose(self, by_rounding: bool) -> None:
        """Where delivered parameters do not reach what the solver's own did, ask for a better point next."""
        if by_rounding:
            self.lost += 1
            self.caution *= 0.3

    def answer(self) -> tuple[Params, float]:
        """Parameters as the user gets them, and their risk."""
        if not self.rounds:
            return canonical(self.risk, self.point.params), self.point.value
        if not self.delivered:
            self.point = self.risk.exact.scored(delivered(self.risk, self.point.params))
        return self.point.params, self.point.value

    def _promising(self, state: State, n_iter: int) -> bool:
        """Whether the certificate is worth its price now."""
        if not self.has_gap:
            return True
        risk, enough = self.risk, self.caution * self.goal.allowed(state.point.value)
        if state.estimate is not None:
            return state.estimate <= enough
        estimate = risk.gap_estimate(state.point) if state.duals is None else None
        if estimate is not None:
            bias_too = float(np.abs(state.point.gradient.b).max(initial=0.0)) <= 10.0 * self.goal.tol**0.5
            return bias_too and estimate <= enough
        if n_iter < self.next_check:
            return False
        self.next_check = n_iter + 1 + n_iter // 8
        return True

    def _separated(self, point: Point) -> bool:
        """An iterate with all margins > 0 proves that an unpenalized logistic risk has no minimizer."""
        return self.risk.may_recede and self.risk.passes.smallest_margin(point.scores) > 0


class Progress:
    """Whether a method still gets anywhere: lowers the value by more than rounding, or shortens the gradient."""

    PATIENCE = 100  # iterations without progress that end a fit

    def __init__(self, eps: float) -> None:
        self.eps = eps
        self.value = self.norm = np.inf
        self.last = 0

    def ended(self, point: Point, n_iter: int) -> bool:
        norm = float(np.linalg.norm(point.gradient.flat))
        if point.value < self.value - self.eps * abs(self.value) or norm < 0.9 * self.norm:
            self.last = n_iter
            self.value, self.norm = min(self.value, point.value), min(self.norm, norm)
        return n_iter - self.last >= self.PATIENCE


def delivered(risk: Objective, params: Params) -> Params:
    """Parameters to hand out. What rounding takes from W x + b at the mean row, the bias gets back."""
    params = canonical(risk, params)
    if risk.precision == np.float64:
        return params
    W = params.W.astype(risk.precision).astype(np.float64)
    b = params.b + (params.W - W) @ risk.passes.column_moments[0] if risk.bias else params.b
    return Params.of(W, b.astype(risk.precision))


def rounded(risk: Objective, point: Point, enough: float) -> Point:
    """The point as it is delivered, in float64; if its risk is more than enough, with the bias chosen anew."""
    exact = risk.exact
    found: Point = exact.scored(delivered(risk, point.params))
    if found.value <= enough or not risk.bias:
        return found
    better = exact.with_best_bias(found) if risk.loss.smooth else with_searched_bias(exact, found)
    b = better.params.b.astype(risk.precision).astype(np.float64)
    scores = exact.passes.shifted(better.scores, b - better.params.b)
    shifted = ScoredPoint(exact, Params.of(found.params.W, b), scores)
    return min(found, shifted, key=lambda one: one.value)


def with_searched_bias(risk: Objective, point: Point) -> Point:
    """The point with a better b for the same W, where slopes do not lead to it: the risk is convex in each b_c."""
    from scipy.optimize import minimize_scalar

    scores, b = point.scores, point.params.b
    for unit in np.eye(risk.n_outputs):
        total = partial(_moved_loss, risk, scores, unit)
        step = float(minimize_scalar(total).x)
        if total(step) < total(0.0):
            scores, b = risk.passes.shifted(scores, step * unit), b + step * unit
    return ScoredPoint(risk, Params.of(point.params.W, b), scores)


def _moved_loss(risk: Objective, scores: Array, unit: Array, step: float) -> float:
    return risk.passes.total_loss(risk.passes.shifted(scores, step * unit))


def canonical(risk: Objective, params: Params) -> Params:
    """The representative among equal solutions: joint losses do not see a shift of all scores alike."""
    if not risk.loss.joint:
        return params
    params = params.copy()
    params.b[:] -= params.b.mean()
    if risk.unpenalized:
        params.W[...] -= params.W.mean(axis=0)
    return params
