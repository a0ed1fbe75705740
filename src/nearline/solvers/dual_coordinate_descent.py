"""Dual coordinate descent for L2-regularized risks (SPEC D10): hinge, squared hinge, logistic, multi-class SVMs."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline.arrays import Array
from nearline.kept import Whole, kept
from nearline.losses import signs
from nearline.params import Params
from nearline.risk import Risk
from nearline.solvers._base import Solver
from nearline.solvers._dual_geometry import Geometry, choose_geometry
from nearline.solvers._goal import Goal
from nearline.solvers._refusals import needs_elastic
from nearline.solvers._state import State
from nearline.tiles import single_threaded_blas, steps

SERVED = ("hinge", "squared-hinge", "logistic", "crammer-singer", "weston-watkins")
TURNS = 25  # moves of the center in one step
MOST_SWEEPS = 10.0  # in one turn, or more where they are
CHEAP = 1e6  # multiplications
PATIENCE = 8  # turns without progress before a turn gets more sweeps
VAIN = 40  # steps in vain after which no better precision is to be expected
SWEEPS = 10  # sweeps in one turn where there is no center


@dataclass(kw_only=True)
class Center:
    """What the sweeps are held to, and the momentum with which it follows them. One group a column, or one in all."""

    T: Array  # (K, D), or (K, 0) where only the bias is held
    b: Array
    last_T: Array  # solution of the turn before
    last_b: Array
    age: Array  # turns since the momentum was dropped, per group
    sweeps: Array  # per turn and group
    best: Array  # least excess met so far
    waits: Array  # turns since then


@dataclass
class DualState(State):
    """Duals and weights between sweeps. Arrays over rows are in the order of the sweeps."""

    geometry: Geometry = field(kw_only=True)
    targets: Array = field(kw_only=True)
    weights: Array = field(kw_only=True)
    masses: Array = field(kw_only=True)  # (K, n) masses -y u of margin losses, (n, K) duals u of joint ones
    storage: Array = field(kw_only=True)  # weights in the geometry's coordinates, as the core wants them
    T: Array = field(kw_only=True)  # the same numbers as (K, D)
    b: Array = field(kw_only=True)
    center: Center = field(kw_only=True)
    rests: Array = field(kw_only=True)  # how long each row still rests
    ages: Array = field(kw_only=True)  # sweeps made, per group
    excess: Array = field(
        kw_only=True
    )  # Fenchel-Young excess per group: met in the last sweep, expected after it
    gaps: Array = field(kw_only=True)  # estimated duality gap, per group
    goal: Goal = field(kw_only=True)
    reach: float = 1.0  # how far the center lets the sweeps go, in units of the first geometry's
    farther: bool | None = None  # which way the reach was changed last
    stride: float = 8.0  # factor by which the reach changes next
    late: bool = False  # whether the last step missed its goal
    outer_share: float = 0.0  # of the estimate, that is due to the distance from the center
    least: float = np.inf  # estimate so far
    vain: int = 0  # steps that did not lower it, or that the certificate did not confirm


@kept(seed=Whole())
@dataclass(frozen=True)
class DualCoordinateDescent(Solver):
    """Maximize the dual one row at a time, each row exactly, in random order.

    D(u) = -(1/S) sum_i s_i loss*(u_i) - (alpha/2) |W(u)|^2,   W(u) = -(1/(alpha S)) sum_i s_i u_i x_i^T

    A free bias, and an alpha so small that plain sweeps would crawl, are met by an accelerated proximal point method
    around the sweeps. A step makes as many sweeps as it takes to cut the estimated gap tenfold. Columns of one-vs-rest
    are separate problems, solved in parallel.

    Parameters
    ----------
    seed : decides the order in which rows are visited.
    """

    name: ClassVar[str] = "dual-coordinate-descent"
    max_iter: int = 1000
    seed: int = 0

    def refuses(self, risk: Risk) -> str | None:
        if risk.loss.refusal is not None:
            return f"{risk.loss.refusal}."
        if not risk.elastic:
            return needs_elastic(risk, self.name)
        if risk.loss.compiled not in SERVED:
            served = ", ".join(map(repr, SERVED))
            able = "'coordinate-descent' or 'fista'" if risk.l1 > 0 else "'lbfgs' or 'newton-cg'"
            return f"Solver '{self.name}' serves {served}, not '{risk.loss.name}': use {able}."
        if risk.l1 > 0:
            kinks = "'sgd'" if risk.loss.smoothed(1.0) is None else "'smoothing' or 'sgd'"
            able = "'coordinate-descent', 'fista' or 'sgd'" if risk.loss.smooth else kinks
            return (
                f"Solver '{self.name}' needs a pure L2 penalty and got '{risk.regularizer.name}': use {able}."
            )
        if risk.unpenalized:
            able = "'lbfgs' or 'newton-cg'" if risk.loss.smooth else "'sgd'"
            return f"Solver '{self.name}' needs an L2 penalty (alpha > 0), without it there is no dual: use {able}."
        return None

    def start(self, risk: Risk, params: Params, goal: Goal) -> DualState:
        with single_threaded_blas:
            return _first_state(risk, params, choose_geometry(risk, self.seed), goal)

    def step(self, risk: Risk, state: State) -> DualState:
        assert isinstance(state, DualState)
        before, enough = float(state.gaps.sum()), state.goal.allowed(state.point.value)
        if state.late and (state.geometry.proximal or risk.bias):
            with single_threaded_blas:
                _change_reach(risk, state, self.seed)
        if before <= enough:
            # The certificate did not confirm the estimate: look at every row of every group, round off nothing.
            state.rests[...] = 0
            state.gaps[...] = np.inf
            state.vain += 1
            _refresh(risk, state)
        goal = max(0.1 * before, 0.8 * enough) if before > enough else 0.3 * before
        goal = min(goal, 0.03 * risk.null_value)
        with single_threaded_blas:
            for _ in steps(range(TURNS)):
                self._turn(risk, state, goal)
                if state.gaps.sum() <= goal:
                    break
            state.late = bool(state.gaps.sum() > goal)
        state.estimate = float(state.gaps.sum())
        state.vain += not state.estimate < state.least
        state.least = min(state.least, state.estimate)
        state.stuck = state.vain >= VAIN
        state.point = risk.scored(_params(risk, state))
        state.duals = _duals(risk, state)
        return state

    def _turn(self, risk: Risk, state: DualState, goal: float) -> None:
        """Move the center and sweep a few times; without a center, sweep until the excess is small."""
        geometry, center = state.geometry, state.center
        share = goal / len(state.gaps)
        busy = state.gaps > 0.5 * share
        if not busy.any():
            busy[:] = True
        held = geometry.proximal or risk.bias
        if held:
            _move_center(risk, state, busy & np.isfinite(state.excess[:, 0]))
        before = state.excess[:, 0].copy()
        assert risk.loss.compiled is not None
        geometry.sweep(
            risk.loss.compiled,
            state.storage,
            targets=state.targets,
            weights=state.weights,
            squares=geometry.squares,
            step=geometry.step,
            bias_step=geometry.bias_step,
            duals=state.masses,
            b=state.b,
            rests=state.rests,
            ages=state.ages,
            epochs=np.where(busy, center.sweeps if held else SWEEPS, 0).astype(np.int32),
            stop_at=np.full(len(busy), 0.0 if held else share * risk.total_weight),
            excess=state.excess,
            seed=self.seed,
            block=geometry.block,
        )
        outer, turned = _outer_gap(risk, state)
        # Momentum that outruns the sweeps is dropped; a little more excess is only the order of the rows.
        center.age = np.where((state.excess[:, 0] > 1.5 * before) | turned, 0.0, center.age)
        _adapt_sweeps(center, state.excess[:, 0], _most_sweeps(risk))
        state.gaps = state.excess[:, 0 if held else 1] / risk.total_weight + outer
        state.outer_share = float(outer.sum()) / max(float(state.gaps.sum()), 1e-300)


def _first_state(risk: Risk, params: Params, geometry: Geometry, goal: Goal) -> DualState:
    cold = not params.flat.any()
    point = risk.null_point if cold else risk.scored(params)
    duals = np.zeros((risk.n_rows, risk.n_outputs)) if cold else _derived_duals(risk, point.scores)
    joint, K = risk.loss.joint, risk.n_outputs
    masses = geometry.arrange(duals if joint else -signs(risk.targets, K) * duals)
    center_T, center_b = (
        geometry.from_weights(point.params.W),
        point.params.b + point.params.W @ geometry.mean,
    )
    side_by_side = (
        joint and len(geometry.rows) > 1
    )  # sparse rows want the classes of a feature next to each other
    storage = np.zeros(center_T.shape[::-1] if side_by_side else center_T.shape, geometry.weight_type)
    groups = 1 if joint else K
    held = center_T if geometry.proximal else center_T[:, :0]
    center = Center(
        T=held,
        b=center_b,
        last_T=held,
        last_b=center_b,
        age=np.zeros(groups),
        sweeps=np.full(groups, 2.0),
        best=np.full(groups, np.inf),
        waits=np.zeros(groups),
    )
    state = DualState(
        point,
        duals,
        estimate=np.inf if cold else 0.0,  # a warm start may be all there is to do
        geometry=geometry,
        targets=np.ascontiguousarray(geometry.arrange(risk.targets)),
        weights=np.ascontiguousarray(geometry.arrange(risk.weights)),
        masses=np.array(masses if joint else masses.T, order="C"),
        storage=storage,
        T=storage.T if side_by_side else storage,
        b=center_b.copy(),
        center=center,
        rests=np.zeros((groups, 2 * risk.n_rows), np.uint8),
        ages=np.zeros(groups, np.int64),
        excess=np.full((groups, 2), np.inf),
        gaps=np.full(groups, np.inf),
        goal=goal,
    )
    _refresh(risk, state)
    return state


def _derived_duals(risk: Risk, scores: Array) -> Array:
    """t times the loss's (sub)gradient at the scores, with t <= 1 good for the dual: best if it were quadratic, or 1."""
    u = risk.loss.value_and_gradient(scores.astype(np.float64), risk.targets)[1]
    u[risk.weights == 0] = 0.0

    def mean_conjugate(t: float) -> float:
        values = risk.loss.conjugate(t * u, risk.targets)
        assert values is not None
        return float(risk.weights @ values) / risk.total_weight

    V = risk.passes.back_product(u * risk.weights[:, None]) / (risk.l2 * risk.total_weight)
    half, whole, penalty = mean_conjugate(0.5), mean_conjugate(1.0), 0.5 * risk.l2 * float(np.vdot(V, V))
    linear, square = 4.0 * half - whole, 2.0 * whole - 4.0 * half + penalty
    t = min(max(-linear / (2.0 * square), 0.0), 1.0) if square > 0 else 1.0
    better = mean_conjugate(t) + t * t * penalty < whole + penalty
    return np.asarray(t * u if better else u)


def _refresh(risk: Risk, state: DualState) -> None:
    """T and b anew from the duals and the center: rounding of many small moves is forgotten."""
    geometry, center = state.geometry, state.center
    u = _duals(risk, state)
    total = risk.weights @ u
    state.T[...] = 0.0
    if u.any():
        V = risk.passes.back_product(u * risk.weights[:, None]) - np.outer(total, geometry.mean)
        state.T[...] = geometry.from_dual_weights(-V / (risk.l2 * risk.total_weight))
    if geometry.proximal:
        state.T[...] += geometry.pull(center.T)
    state.b[...] = center.b - geometry.bias_step * total


def _move_center(risk: Risk, state: DualState, busy: Array) -> None:
    """Center = the last solution and a share of the last move, as in accelerated gradient methods; busy groups only."""
    geometry, center = state.geometry, state.center
    center.age = center.age + busy
    share = np.where(busy, np.minimum((center.age - 1.0) / (center.age + 2.0), 0.9), 0.0)
    busy, share = np.broadcast_to(busy, risk.n_outputs), np.broadcast_to(share, risk.n_outputs)
    if risk.bias:
        b = np.where(busy, state.b + share * (state.b - center.last_b), center.b)
        center.last_b = np.where(busy, state.b, center.last_b)
        state.b += b - center.b
        center.b = b
    if geometry.proximal:
        T = state.T + share[:, None] * (state.T - center.last_T)
        shift = np.where(busy[:, None], T - center.T, 0.0)
        center.last_T = np.where(busy[:, None], state.T, center.last_T)
        state.T[...] += geometry.pull(shift)
        center.T = center.T + shift


def _change_reach(risk: Risk, state: DualState, seed: int) -> None:
    """Balance turns and sweeps: a weaker H where the center holds the sweeps back, a stronger one where they lag."""
    if 0.25 < state.outer_share < 0.6:
        return
    farther = state.outer_share >= 0.6
    if state.farther is not None and state.farther != farther:
        state.stride = max(state.stride**0.5, 1.3)
    state.farther = farther
    state.reach = min(max(state.reach * (state.stride if farther else 1.0 / state.stride), 1e-6), 1e6)
    old, center = state.geometry, state.center
    W = old.to_weights(state.T)
    b = state.b - W @ old.mean
    state.geometry = geometry = choose_geometry(risk, seed, state.reach)
    T, center.b = geometry.from_weights(W), b + W @ geometry.mean
    center.T = T if geometry.proximal else T[:, :0]
    center.last_T, center.last_b = center.T, center.b
    center.age[...], center.waits[...], center.best[...] = 0.0, 0.0, np.inf
    _refresh(risk, state)


def _most_sweeps(risk: Risk) -> float:
    return max(MOST_SWEEPS, CHEAP / (risk.n_rows * risk.n_features * risk.n_outputs))


def _adapt_sweeps(center: Center, excess: Array, most: float) -> None:
    """Turns that bring no progress for a while ask for more sweeps each, progress for fewer."""
    better = excess < center.best
    center.best = np.minimum(center.best, excess)
    center.waits = np.where(better, 0.0, center.waits + 1.0)
    patient = center.waits < PATIENCE
    fewer = np.where(better, np.maximum(0.9 * center.sweeps, 2.0), center.sweeps)
    center.sweeps = np.where(patient, fewer, np.minimum(1.5 * center.sweeps, most))
    center.waits = np.where(patient, center.waits, 0.0)


def _outer_gap(risk: Risk, state: DualState) -> tuple[Array, Array]:
    """What the distance from the center adds to the gap, and whether the last move turned back on it; per group."""
    geometry, center = state.geometry, state.center
    outer, against = np.zeros(risk.n_outputs), np.zeros(risk.n_outputs)
    if risk.bias:
        moved = state.b - center.b
        outer += geometry.mu * np.abs(moved)
        against -= geometry.mu * moved * (state.b - center.last_b)
    if geometry.proximal:
        away = state.T - center.T
        outer += geometry.outer_gap(away)
        against -= np.einsum("kd,kd->k", geometry.pull(away), state.T - center.last_T)
    if risk.loss.joint:
        outer, against = outer.sum(keepdims=True), against.sum(keepdims=True)
    return outer, against > 0


def _params(risk: Risk, state: DualState) -> Params:
    W = state.geometry.to_weights(state.T)
    return Params.of(W, state.b - W @ state.geometry.mean if risk.bias else np.zeros(risk.n_outputs))


def _duals(risk: Risk, state: DualState) -> Array:
    """u (n, K) in the order of the risk's rows."""
    if risk.loss.joint:
        return state.geometry.restore(state.masses)
    return np.asarray(-signs(risk.targets, risk.n_outputs) * state.geometry.restore(state.masses.T))
