"""Coordinate descent for penalties with kinks: proximal Newton on working sets."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.risk.passes.columns import ModelStep, QuadraticModel
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._proximal import estimated_gap, inner, needs_smooth_loss
from nearline.solvers._refusals import needs_elastic
from nearline.solvers._state import State

SMALLEST_SET = 200  # weights that a step moves at least, if so many want to
FAR = 0.05  # gap, relative to the null risk, above which curvature is not trusted
LOOSE, TIGHT = 0.1, 1e-3  # tolerances of the model's decrease: it is minimized as well as it can be trusted


@dataclass
class DescentState(State):
    """Where the descent stands. The scores are kept in float64, whatever X is."""

    scores: Array = field(kw_only=True)
    raised: Array | float = 0.0  # curvature (n, K) that rows have at least
    damping: float = 0.0  # added to the curvature, in units of its largest
    full_steps: int = 1  # how many models in a row held up to their minima
    model_tol: float = LOOSE
    idle: int = 0  # steps without a decrease that values can tell


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """Minimize a quadratic model over the weights that matter, search along the way there, choose anew.

    Each step takes the weights that are not zero and the zero ones that violate their optimality condition most (about
    as many), minimizes the model over them by cyclic coordinate descent, which sets weights to exactly zero, and
    polishes those that are left by conjugate gradients. The bias is free and at its best throughout.
    """

    name: ClassVar[str] = "coordinate-descent"
    max_iter: int = 500

    def refuses(self, risk: Risk) -> str | None:
        reason = needs_smooth_loss(risk, self.name) or needs_elastic(risk, self.name)
        if reason is not None:
            return reason
        if risk.unpenalized:
            return f"Solver '{self.name}' needs a penalty (alpha > 0 and a regularizer): use 'lbfgs' or 'newton'."
        bends = risk.loss.shares if risk.loss.joint else risk.loss.curvature
        if bends(np.zeros((1, risk.n_outputs)), risk.targets[:1]) is None:
            return (
                f"Solver '{self.name}' needs second derivatives, which it does not know of loss '{risk.loss.name}': "
                "use 'fista'."
            )
        return None

    def start(self, risk: Risk, params: Params, goal: Goal) -> DescentState:
        # Without weights there is nothing to lose: begin at the best bias.
        point = risk.at(params) if params.W.any() else risk.null_point
        scores = point.scores.astype(np.float64)
        return DescentState(point, scores=scores, estimate=estimated_gap(risk, point))

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, DescentState)
        model = QuadraticModel(
            params=state.point.params,
            gradient=data_gradient(risk, state.point),
            curvature=curvature(risk, state),
            joint=risk.loss.joint,
            damping=state.damping * float(risk.weights.max()) / risk.total_weight,
            l1=risk.l1,
            l2=risk.l2,
            bias=risk.bias,
            moving=working_sets(risk, state.point),
            tol=state.model_tol,
            max_rounds=2 if state.model_tol == LOOSE else 3,
        )
        step = risk.passes.columns.minimize(model)
        slope = first_order(risk, state.point, step)
        t = search(risk, state, step, slope)
        adapt(risk, state, step, t)
        if t > 0.0:
            move(risk, state, step, t, slope)
        return state


def adapt(risk: Risk, state: DescentState, step: ModelStep, t: float) -> None:
    """Learn from a model that did not hold: rows get the curvature that they have on average over the whole step.

    So rows that a step would bring over a kink, or out of a flat part of the loss, count in the next models. That wears
    off with every model that holds. If it is of no use, all rows are damped.
    """
    state.full_steps = state.full_steps + 1 if t == 1.0 else 0
    if t == 1.0:
        state.raised = 0.3 * state.raised if state.full_steps < 8 else 0.0
        state.damping = 0.3 * state.damping if state.damping > 1e-6 else 0.0
        return
    state.model_tol = LOOSE
    slope = risk.loss.value_and_gradient(state.scores, risk.targets)[1]
    change = risk.loss.value_and_gradient(state.scores + step.scores, risk.targets)[1] - slope
    moved = step.scores != 0
    secant = np.divide(change, step.scores, out=np.zeros_like(change), where=moved)
    state.raised = np.maximum(state.raised, np.maximum(secant, 0.0))
    if t < 1e-3:
        state.stuck = t == 0.0 and state.damping >= 1.0
        state.damping = min(10.0 * max(state.damping, 1e-3), 1.0)


def data_gradient(risk: Risk, point: Point) -> Params:
    """Gradient of the mean data loss alone."""
    gradient = point.gradient.copy()
    if risk.l2:
        gradient.W[...] -= risk.l2 * point.params.W
    return gradient


def curvature(risk: Risk, state: DescentState) -> Array:
    """The rows' curvature as the model wants it, (K, n), weights included.

    Far from the solution it is raised to |slope| / (|score| + 2) where it is less: rows deep on the wrong side have
    next to no curvature there, and Newton's method would send them as far beyond the right side.
    """
    weights, scores = risk.weights[:, None] / risk.total_weight, state.scores
    joint = risk.loss.joint
    near = state.estimate is not None and state.estimate <= FAR * risk.null_value
    untouched = state.damping == 0.0 and not np.any(state.raised)
    if near and untouched and not joint:
        h = risk.passes.row_curvature(scores, slice(None)).diagonal
        return np.ascontiguousarray(h.T / risk.total_weight)
    known = (risk.loss.shares if joint else risk.loss.curvature)(scores, risk.targets)
    assert known is not None
    h = known
    most = float(h.max(initial=0.0)) or 1.0
    if not near:
        slopes = risk.loss.value_and_gradient(scores, risk.targets)[1]
        centered = scores - scores.mean(axis=1, keepdims=True) if joint else scores
        h = np.maximum(h, np.minimum(np.abs(slopes) / (np.abs(centered) + 2.0), most))
    h = np.maximum(h, np.minimum(state.raised, most))
    if not joint:
        h = h + state.damping * most
    return np.ascontiguousarray((h * weights).T)


def working_sets(risk: Risk, point: Point) -> list[Array]:
    """For each score column the features whose weights the next step may move."""
    W, passes = point.params.W, risk.passes
    if risk.l1 == 0:
        return [np.arange(risk.n_features)] * risk.n_outputs
    mean, deviation = passes.column_moments
    if risk.bias:
        # The bias will follow: a weight's derivative is that along its centered feature.
        gradient, unit = point.gradient.W - np.outer(point.gradient.b, mean), passes.column_scale
    else:
        gradient, unit = point.gradient.W, np.sqrt(mean**2 + deviation**2)
    # How far the optimality condition is violated, for features of one scale.
    violation = np.maximum(np.abs(gradient) - risk.l1, 0.0) / np.where(unit > 0, unit, 1.0)
    return [_largest(W[c] != 0, violation[c]) for c in range(risk.n_outputs)]


def _largest(nonzero: Array, violation: Array) -> Array:
    """Non-zero weights, and about as many of those with the largest violations."""
    chosen = nonzero.copy()
    candidates = np.flatnonzero((violation > 0) & ~nonzero)
    size = int(nonzero.sum())
    room = max(SMALLEST_SET, 2 * size) - size
    if len(candidates) > room:
        order = np.argpartition(-violation[candidates], room - 1)
        candidates = candidates[order[:room]]
    chosen[candidates] = True
    return np.flatnonzero(chosen)


def first_order(risk: Risk, point: Point, step: ModelStep) -> float:
    """What the risk changes by over a step at first order, the L1 penalty in full."""
    W = point.params.W
    kinks = risk.l1 * float((np.abs(W + step.params.W) - np.abs(W)).sum())
    return inner(point.gradient.flat, step.params.flat) + kinks


def search(risk: Risk, state: DescentState, step: ModelStep, slope: float) -> float:
    """The largest step 1, 1/2, 1/4, ... with enough decrease; 0 if none has."""
    if not slope < 0:
        return 0.0
    W = state.point.params.W

    def value(t: float) -> float:
        total = risk.passes.value_and_slope(state.scores, step.scores, t)[0]
        return total / risk.total_weight + risk.alpha * risk.regularizer.value(W + t * step.params.W)

    here = value(0.0)
    noise = 4.0 * np.finfo(float).eps * abs(here)
    t = 1.0
    while t > 1e-10:
        if value(t) <= here + 0.01 * t * slope + noise:
            return t
        t *= 0.5
    return 0.0


def move(risk: Risk, state: DescentState, step: ModelStep, t: float, slope: float) -> None:
    """Go, and see where that is."""
    old = state.point
    params = old.params.like(old.params.flat + t * step.params.flat)
    state.scores = state.scores + t * step.scores
    found = risk.at_scores(params, state.scores)
    state.point = Point(
        params, state.scores.astype(risk.X.dtype, copy=False), found.data_loss, found.penalty, found.gradient
    )
    state.estimate = estimated_gap(risk, state.point)
    decrease = old.value - found.value
    # At its minimum a quadratic has fallen by half of what the first order says, or more with a kink on the way.
    if t == 1.0 and decrease > -0.45 * slope:
        state.model_tol = max(0.1 * state.model_tol, TIGHT)
    else:
        state.model_tol = LOOSE
    state.idle = 0 if decrease > 4.0 * np.finfo(float).eps * abs(old.value) else state.idle + 1
    state.stuck = state.idle >= 4
