"""Where dual coordinate descent stands between sweeps: duals, weights, and the center that holds them."""

from dataclasses import dataclass, field

import numpy as np

from nearline._arrays.design import Array
from nearline.losses import signs
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers._certifier import Goal
from nearline.solvers._state import State
from nearline.solvers.dual._geometry import Geometry


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


def _first_center(T: Array, b: Array, groups: int) -> Center:
    return Center(
        T=T,
        b=b,
        last_T=T,
        last_b=b,
        age=np.zeros(groups),
        sweeps=np.full(groups, 2.0),
        best=np.full(groups, np.inf),
        waits=np.zeros(groups),
    )


def first_state(risk: Risk, params: Params, geometry: Geometry, goal: Goal) -> DualState:
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
    center = _first_center(center_T if geometry.proximal else center_T[:, :0], center_b, groups)
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
    refresh(risk, state)
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


def refresh(risk: Risk, state: DualState) -> None:
    """T and b anew from the duals and the center: rounding of many small moves is forgotten."""
    geometry, center = state.geometry, state.center
    u = duals_of(risk, state)
    total = risk.weights @ u
    state.T[...] = 0.0
    if u.any():
        V = risk.passes.back_product(u * risk.weights[:, None]) - np.outer(total, geometry.mean)
        state.T[...] = geometry.from_dual_weights(-V / (risk.l2 * risk.total_weight))
    if geometry.proximal:
        state.T[...] += geometry.pull(center.T)
    state.b[...] = center.b - geometry.bias_step * total


def params_of(risk: Risk, state: DualState) -> Params:
    W = state.geometry.to_weights(state.T)
    return Params.of(W, state.b - W @ state.geometry.mean if risk.bias else np.zeros(risk.n_outputs))


def duals_of(risk: Risk, state: DualState) -> Array:
    """u (n, K) in the order of the risk's rows."""
    if risk.loss.joint:
        return state.geometry.restore(state.masses)
    return np.asarray(-signs(risk.targets, risk.n_outputs) * state.geometry.restore(state.masses.T))
