"""Dual coordinate descent for L2-regularized risks (SPEC D10): hinge, squared hinge, logistic, and the multi-class SVMs."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nearline import _core
from nearline.arrays import Array
from nearline.losses import signs
from nearline.params import Params
from nearline.risk import Point, Risk
from nearline.solvers._base import Solver, State
from nearline.solvers._dual_geometry import Geometry, choose_geometry

core: Any = _core

SERVED = ("hinge", "squared-hinge", "logistic", "crammer-singer", "weston-watkins")


@dataclass
class DualState(State):
    """Duals, weights and the center that they are held to; classes of a joint loss move together, columns alone."""

    geometry: Geometry = field(kw_only=True)
    targets: Array = field(kw_only=True)  # in the order of the sweeps, as all arrays over rows here
    weights: Array = field(kw_only=True)
    masses: Array = field(kw_only=True)  # (K, n) masses m = -y u of margin losses, (n, K) duals u of joint ones
    T: Array = field(kw_only=True)  # (K, D) weights in the geometry's coordinates
    storage: Array = field(kw_only=True)  # the same numbers as the core wants them
    b: Array = field(kw_only=True)
    rests: Array = field(kw_only=True)
    ages: Array = field(kw_only=True)
    center_T: Array = field(kw_only=True)
    center_b: Array = field(kw_only=True)
    last_T: Array = field(kw_only=True)
    last_b: Array = field(kw_only=True)
    momentum: Array = field(kw_only=True)  # turns since the last restart, per group
    last_excess: Array = field(kw_only=True)
    goal: float = field(kw_only=True)  # gap at which the fit is done
    sweeps: Array = field(kw_only=True)  # per turn and group
    estimate: Array = field(default_factory=lambda: np.array([np.inf]))  # of the gap, per group


@dataclass(frozen=True)
class DualCoordinateDescent(Solver):
    """Maximize the dual one row at a time, each row exactly, in random order.

    D(u) = -(1/S) sum_i s_i loss*(u_i) - (alpha/2) |W(u)|^2,   W(u) = -(1/(alpha S)) sum_i s_i u_i x_i^T

    A free bias, and alphas so small that plain sweeps would crawl, are met by an accelerated proximal point method
    around the sweeps. One step makes as many sweeps as it takes to cut the estimated gap tenfold.

    Parameters
    ----------
    seed : decides the order of the rows.
    """

    name: ClassVar[str] = "dual-coordinate-descent"
    max_iter: int = 1000
    seed: int = 0

    def refuses(self, risk: Risk) -> str | None:
        if risk.loss.refusal is not None:
            return f"{risk.loss.refusal}."
        if risk.l1 > 0:
            return (
                f"Solver '{self.name}' needs a pure L2 penalty and got '{risk.regularizer.name}': "
                "use 'coordinate-descent', 'fista' or 'sgd'."
            )
        if risk.loss.name not in SERVED:
            return (
                f"Solver '{self.name}' serves {', '.join(map(repr, SERVED))}, not '{risk.loss.name}': "
                "use 'lbfgs' or 'newton-cg'."
            )
        if risk.unpenalized:
            other = "'lbfgs' or 'newton-cg'" if risk.loss.smooth else "'sgd'"
            return f"Solver '{self.name}' needs an L2 penalty, without one there is no dual: set alpha > 0, or use {other}."
        return None

    def start(self, risk: Risk, params: Params, tol: float) -> DualState:
        cold = not params.flat.any()
        point = risk.null_point if cold else risk.at(params)
        geometry = choose_geometry(risk, self.seed)
        duals = np.zeros((risk.n_rows, risk.n_outputs))
        return _first_state(risk, geometry, point, duals, tol * risk.null_value)

    def step(self, risk: Risk, state: State) -> DualState:
        assert isinstance(state, DualState)
        before = float(state.estimate.sum())
        goal = max(0.1 * before, state.goal) if before > state.goal else 0.3 * before
        goal = min(goal, 0.03 * risk.null_value)
        for _ in range(25):
            self._turn(risk, state, goal / len(state.estimate))
            if state.estimate.sum() <= goal:
                break
        state.point = risk.at(_params(risk, state))
        state.duals = _duals(risk, state)
        return state

    def _turn(self, risk: Risk, state: DualState, goal: float) -> None:
        """Move the center, then sweep: until the excess is small without a center, else a few times."""
        geometry = state.geometry
        anchored = geometry.proximal or risk.bias
        groups = len(state.estimate)
        excess = np.zeros(groups)
        busy = state.estimate > 0.5 * goal
        if anchored:
            _move_center(risk, state, busy & np.isfinite(state.estimate))
        core.dual_sweeps(
            *geometry.rows,
            risk.loss.core,
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
            epochs=np.where(busy, state.sweeps if anchored else 10, 0).astype(np.int32),
            stop_at=np.full(groups, 0.0 if anchored else goal * risk.total_weight),
            excess=excess,
            seed=self.seed,
            block=geometry.block,
        )
        excess = np.where(busy, excess / risk.total_weight, state.last_excess)
        outer = _outer_part(risk, state)
        worse = excess > state.last_excess
        state.momentum = np.where(worse, 0, state.momentum)
        state.sweeps = np.where(worse, np.minimum(1.5 * state.sweeps, 30), np.maximum(0.95 * state.sweeps, 2.0))
        state.last_excess = excess
        state.estimate = excess + outer


def _first_state(risk: Risk, geometry: Geometry, point: Point, duals: Array, goal: float) -> DualState:
    n, K = duals.shape
    joint = risk.loss.joint
    groups = 1 if joint else K
    center_T = geometry.from_weights(point.params.W)
    center_b = point.params.b.copy()
    if geometry.mean is not None:
        center_b += point.params.W @ geometry.mean
    T = geometry.pull(center_T) if geometry.proximal else np.zeros_like(center_T)
    side_by_side = joint and risk.sparse
    storage = np.ascontiguousarray(T.T if side_by_side else T, dtype=geometry.weight_type)
    masses = duals if joint else -(signs(risk.targets, K) * duals).T
    order = geometry.arrange
    return DualState(
        point,
        duals,
        geometry=geometry,
        targets=order(risk.targets),
        weights=order(risk.weights),
        masses=np.ascontiguousarray(order(masses) if joint else order(masses.T).T) + 0.0,
        T=storage.T if side_by_side else storage,
        storage=storage,
        b=center_b.copy(),
        rests=np.zeros((groups, 2 * n), np.uint8),
        ages=np.zeros(groups, np.int64),
        center_T=center_T if geometry.proximal else center_T[:, :0],
        center_b=center_b,
        last_T=center_T if geometry.proximal else center_T[:, :0],
        last_b=center_b,
        momentum=np.zeros(groups),
        last_excess=np.full(groups, np.inf),
        goal=goal,
        sweeps=np.full(groups, 2.0),
        estimate=np.full(groups, np.inf),
    )


def _move_center(risk: Risk, state: DualState, busy: Array) -> None:
    """Center = the last solution plus a share of the last move, as in accelerated gradient methods; busy groups only."""
    geometry = state.geometry
    state.momentum = state.momentum + busy
    share = np.where(busy, np.minimum((state.momentum - 1.0) / (state.momentum + 2.0), 0.9), 0.0)
    busy, share = np.broadcast_to(busy, risk.n_outputs), np.broadcast_to(share, risk.n_outputs)
    if risk.bias:
        center = np.where(busy, state.b + share * (state.b - state.last_b), state.center_b)
        state.last_b = np.where(busy, state.b, state.last_b)
        state.b += center - state.center_b
        state.center_b = center
    if geometry.proximal:
        center = state.T + share[:, None] * (state.T - state.last_T)
        shift = np.where(busy[:, None], center - state.center_T, 0.0)
        state.last_T = np.where(busy[:, None], state.T, state.last_T)
        state.T[...] += geometry.pull(shift)
        state.center_T = state.center_T + shift


def _outer_part(risk: Risk, state: DualState) -> Array:
    """What the distance from the center adds to the gap, per group; momentum restarts where it overshoots."""
    geometry, K = state.geometry, risk.n_outputs
    outer, turned = np.zeros(K), np.zeros(K)
    if risk.bias:
        moved = state.b - state.center_b
        outer += geometry.mu * np.abs(moved)
        turned -= geometry.mu * moved * (state.b - state.last_b)
    if geometry.proximal:
        away = state.T - state.center_T
        outer += geometry.distances(away, risk.l2)[1]
        turned -= np.einsum("kd,kd->k", geometry.pull(away), state.T - state.last_T)
    if risk.loss.joint:
        outer, turned = outer.sum(keepdims=True), turned.sum(keepdims=True)
    state.momentum = np.where(turned > 0, 0, state.momentum)
    return outer


def _params(risk: Risk, state: DualState) -> Params:
    W = state.geometry.to_weights(state.T)
    b = state.b.copy() if risk.bias else np.zeros(risk.n_outputs)
    if risk.bias and state.geometry.mean is not None:
        b -= W @ state.geometry.mean
    return Params.of(W, b)


def _duals(risk: Risk, state: DualState) -> Array:
    """u (n, K) in the order of the risk's rows."""
    if risk.loss.joint:
        return state.geometry.restore(state.masses).copy()
    return -signs(risk.targets, risk.n_outputs) * state.geometry.restore(state.masses.T)
