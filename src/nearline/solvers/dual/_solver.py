"""Dual coordinate descent for L2-regularized risks: hinge, squared hinge, logistic, multi-class SVMs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._parallel.tiles import single_threaded_blas, steps
from nearline._records.kept import Whole, kept
from nearline.losses import LOSSES
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._refusals import needs_elastic
from nearline.solvers._state import State
from nearline.solvers.dual._center import adapt_sweeps, change_reach, most_sweeps, move_center, outer_gap
from nearline.solvers.dual._choice import choose_geometry
from nearline.solvers.dual._state import DualState, duals_of, first_state, params_of, refresh

SERVED = tuple(name for name, loss in LOSSES.items() if loss.own.dual_step)
TURNS = 25  # moves of the center in one step
VAIN = 40  # steps in vain after which no better precision is to be expected
SWEEPS = 10  # sweeps in one turn where there is no center


@kept(random_state=Whole())
@dataclass(frozen=True)
class DualCoordinateDescent(Solver):
    """Maximize the dual one row at a time, each row exactly, in random order.

    D(u) = -(1/S) sum_i s_i loss*(u_i) - (alpha/2) |W(u)|^2,   W(u) = -(1/(alpha S)) sum_i s_i u_i x_i^T

    A free bias, and an alpha so small that plain sweeps would crawl, are met by an accelerated proximal point method
    around the sweeps. A step makes as many sweeps as it takes to cut the estimated gap tenfold. Columns of one-vs-rest
    are separate problems, solved in parallel.

    Parameters
    ----------
    random_state : decides the order in which rows are visited.
    """

    name: ClassVar[str] = "dual-coordinate-descent"
    max_iter: int = 1000
    random_state: int = 0

    def refuses(self, risk: Risk) -> str | None:
        if risk.loss.refusal is not None:
            return f"{risk.loss.refusal}."
        if not risk.elastic:
            return needs_elastic(risk, self.name)
        if not risk.loss.own.dual_step:
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
            return first_state(risk, params, choose_geometry(risk, self.random_state), goal)

    def step(self, risk: Risk, state: State) -> DualState:
        assert isinstance(state, DualState)
        before, enough = float(state.gaps.sum()), state.goal.allowed(state.point.value)
        if state.late and (state.geometry.proximal or risk.bias):
            with single_threaded_blas:
                change_reach(risk, state, self.random_state)
        if before <= enough:
            # The certificate did not confirm the estimate: look at every row of every group, round off nothing.
            state.rests[...] = 0
            state.gaps[...] = np.inf
            state.vain += 1
            refresh(risk, state)
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
        state.point = risk.scored(params_of(risk, state))
        state.duals = duals_of(risk, state)
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
            move_center(risk, state, busy & np.isfinite(state.excess[:, 0]))
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
            seed=self.random_state,
            block=geometry.block,
        )
        outer, turned = outer_gap(risk, state)
        # Momentum that outruns the sweeps is dropped; a little more excess is only the order of the rows.
        center.age = np.where((state.excess[:, 0] > 1.5 * before) | turned, 0.0, center.age)
        adapt_sweeps(center, state.excess[:, 0], most_sweeps(risk))
        state.gaps = state.excess[:, 0 if held else 1] / risk.total_weight + outer
        state.outer_share = float(outer.sum()) / max(float(state.gaps.sum()), 1e-300)
