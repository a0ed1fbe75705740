"""FISTA: accelerated proximal gradients, for any smooth loss and any penalty."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._proximal import estimated_gap, inner, needs_smooth_loss
from nearline.solvers._refusals import needs_piece
from nearline.solvers._state import State


class Metric:
    """Lengths in which features of any scale and offset look alike: |(V, c)|^2 = |V unit|^2 + |c|^2, c = b + W mean.

    Where the penalty is a sum over features, its prox is as simple in this metric as in the plain one: feature j has the
    step 1 / (L unit_j^2). The offset c is a change of the bias alone, which no penalty sees. Hence the method is
    exact for the risk as it is; only its speed depends on the metric.
    """

    def __init__(self, risk: Risk) -> None:
        mean, deviation = risk.passes.column_moments
        self.mean = mean if risk.bias else np.zeros_like(mean)
        unit = risk.passes.column_scale if risk.bias else np.sqrt(mean**2 + deviation**2)
        square = np.where(unit > 0, unit, 1.0) ** 2
        # A penalty that couples features has its prox in plain lengths only.
        plain = risk.alpha > 0 and not risk.regularizer.by_feature
        self.square = np.full_like(square, square.mean()) if plain else square
        self.bias = float(risk.bias)

    def offset(self, params: Params) -> Array:
        """c of some parameters or of a direction."""
        return np.asarray(params.b + (params.W * self.mean).sum(axis=1))

    def inner(self, a: Params, b: Params) -> float:
        """The inner product that belongs to the lengths."""
        return inner(a.W * self.square, b.W) + inner(self.offset(a), self.offset(b))

    def proximal_step(self, risk: Risk, at: Params, slope: Params, L: float) -> Params:
        """argmin over W, b of slope.(step) + (L/2) |step|^2 + alpha R(W), from ``at``."""
        step = 1.0 / (L * self.square)
        ahead = at.W - step * (slope.W - np.outer(slope.b, self.mean))
        W = self._prox(risk, ahead, step)
        c = self.offset(at) - slope.b / L
        return Params.of(W, self.bias * (c - (W * self.mean).sum(axis=1)))

    def _prox(self, risk: Risk, W: Array, step: Array) -> Array:
        if risk.alpha == 0:
            return W
        by_feature = risk.regularizer.by_feature
        nearest = risk.regularizer.prox(W, risk.alpha * (step if by_feature else float(step[0])))
        assert nearest is not None  # else the risk was refused
        return nearest


@dataclass
class FistaState(State):
    """The last two points and the speed between them."""

    metric: Metric = field(kw_only=True)
    before: Point = field(kw_only=True)
    momentum: float = 1.0
    L: float = 0.1  # curvature of the data loss in the metric, as far as it has shown


@dataclass(frozen=True)
class Fista(Solver):
    """Accelerated proximal gradient steps with backtracking; the momentum starts anew where it leads uphill."""

    name: ClassVar[str] = "fista"
    by_sums: ClassVar[bool] = True
    max_iter: int = 100_000

    def refuses(self, risk: Risk) -> str | None:
        return needs_smooth_loss(risk, self.name) or needs_piece(
            risk, self.name, "prox", "the prox", "'lbfgs' if it has a gradient"
        )

    def start(self, risk: Risk, params: Params, goal: Goal) -> FistaState:
        point = risk.at(params) if params.W.any() else risk.null_point
        return FistaState(point, metric=Metric(risk), before=point, estimate=estimated_gap(risk, point))

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, FistaState)
        momentum = 0.5 * (1.0 + (1.0 + 4.0 * state.momentum**2) ** 0.5)
        ahead = extrapolate(risk, state, (state.momentum - 1.0) / momentum)
        point = descend(risk, state, ahead)
        if point is None:  # rounding is all that is left
            state.stuck = state.momentum == 1.0
            state.momentum, state.before = 1.0, state.point
            return state
        went = point.params.like(point.params.flat - state.point.params.flat)
        back = point.params.like(ahead.params.flat - point.params.flat)
        # Uphill: the proximal step points against the way that the momentum goes.
        state.momentum = 1.0 if state.metric.inner(back, went) > 0 else momentum
        state.stuck = not went.flat.any() and ahead is state.point
        state.before, state.point = state.point, point
        state.estimate = estimated_gap(risk, point)
        return state


def extrapolate(risk: Risk, state: FistaState, speed: float) -> Point:
    """The point ahead in the direction of the last step; its scores are known, as they are linear."""
    here, before = state.point, state.before
    if speed == 0.0 or here is before:
        return here
    params = here.params.like(here.params.flat + speed * (here.params.flat - before.params.flat))
    return risk.at_scores(params, risk.passes.ahead(here.scores, before.scores, speed))


def descend(risk: Risk, state: FistaState, ahead: Point) -> Point | None:
    """A proximal gradient step from ``ahead`` with the smallest L = 0.9 L, 1.8 L, ... that bounds the data loss."""
    metric, slope = state.metric, ahead.gradient.copy()
    pull = np.zeros_like(slope.W)
    risk.add_penalty_gradient(ahead.params.W, pull)
    slope.W[...] -= pull  # the prox meets all of the penalty
    noise = risk.rounding(ahead)
    state.L *= 0.9
    while state.L < 1e30:
        params = metric.proximal_step(risk, ahead.params, slope, state.L)
        change = params.like(params.flat - ahead.params.flat)
        scores = risk.passes.scores(params)
        bound = (
            ahead.data_loss + inner(slope.flat, change.flat) + 0.5 * state.L * metric.inner(change, change)
        )
        if risk.passes.total_loss(scores) / risk.total_weight <= bound + noise:
            return risk.at_scores(params, scores)
        state.L *= 2.0
    return None
