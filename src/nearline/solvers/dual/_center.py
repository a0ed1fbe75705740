"""The center that the sweeps are held to: how it moves, how far it lets them go, and what it adds to the gap."""

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Risk
from nearline.solvers.dual._choice import choose_geometry
from nearline.solvers.dual._state import Center, DualState, refresh

MOST_SWEEPS = 10.0  # in one turn, or more where they are
CHEAP = 1e6  # multiplications
PATIENCE = 8  # turns without progress before a turn gets more sweeps


def move_center(risk: Risk, state: DualState, busy: Array) -> None:
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


def change_reach(risk: Risk, state: DualState, random_state: int) -> None:
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
    state.geometry = geometry = choose_geometry(risk, random_state, state.reach)
    T, center.b = geometry.from_weights(W), b + W @ geometry.mean
    center.T = T if geometry.proximal else T[:, :0]
    center.last_T, center.last_b = center.T, center.b
    center.age[...], center.waits[...], center.best[...] = 0.0, 0.0, np.inf
    refresh(risk, state)


def most_sweeps(risk: Risk) -> float:
    return max(MOST_SWEEPS, CHEAP / (risk.n_rows * risk.n_features * risk.n_outputs))


def adapt_sweeps(center: Center, excess: Array, most: float) -> None:
    """Turns that bring no progress for a while ask for more sweeps each, progress for fewer."""
    better = excess < center.best
    center.best = np.minimum(center.best, excess)
    center.waits = np.where(better, 0.0, center.waits + 1.0)
    patient = center.waits < PATIENCE
    fewer = np.where(better, np.maximum(0.9 * center.sweeps, 2.0), center.sweeps)
    center.sweeps = np.where(patient, fewer, np.minimum(1.5 * center.sweeps, most))
    center.waits = np.where(patient, center.waits, 0.0)


def outer_gap(risk: Risk, state: DualState) -> tuple[Array, Array]:
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
