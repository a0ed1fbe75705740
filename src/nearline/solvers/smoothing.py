"""Smoothing: losses with kinks under penalties with kinks, by way of losses without."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver, first_willing, minimize
from nearline.solvers._certifier import Goal
from nearline.solvers._refusals import needs_elastic, proves_by_prox
from nearline.solvers._state import State
from nearline.solvers.coordinate_descent import CoordinateDescent
from nearline.solvers.fista import Fista
from nearline.solvers.newton import Newton


@dataclass
class SmoothingState(State):
    """The best point and the best duals so far are the state's, of any stretches; the next risk starts from the last."""

    stretch: float = field(kw_only=True)  # over which the next loss is rounded off
    goal: Goal = field(kw_only=True)
    last: Params = field(kw_only=True)
    bound: float = -np.inf  # what the best duals prove: no risk is below
    vain: int = 0  # stretches in a row that brought nothing


@dataclass(frozen=True)
class Smoothing(Solver):
    """Round the loss's kinks off over ever shorter stretches; each risk starts where the last ended.

    The hinge becomes phi_mu(z) = max over a in [-1, 0] of a (z - 1) - (mu/2) a^2, the joint hinge losses likewise. Its
    slopes are duals of the hinge itself, so that they certify the fit: the gap is at most that of the rounded risk and
    mu/2 (for each other class, with Weston-Watkins). One iteration minimizes one rounded risk, then mu falls tenfold.
    """

    name: ClassVar[str] = "smoothing"
    by_sums: ClassVar[bool] = True
    max_iter: int = 30

    def refuses(self, risk: Risk) -> str | None:
        if risk.loss.refusal is not None:
            return f"{risk.loss.refusal}."
        if not proves_by_prox(risk):
            return needs_elastic(risk, self.name)
        if risk.loss.smooth:
            return (
                f"Solver '{self.name}' is for losses with kinks and '{risk.loss.name}' has none: use 'fista'."
            )
        if risk.unpenalized:
            return f"Solver '{self.name}' needs a penalty (alpha > 0 and a regularizer): use 'linear-program' or 'sgd'."
        if risk.loss.smoothed(1.0) is None:
            able = "'sgd'" if risk.l1 > 0 else "'dual-coordinate-descent' or 'sgd'"
            return f"Solver '{self.name}' cannot round off the kinks of loss '{risk.loss.name}': use {able}."
        return None

    def start(self, risk: Risk, params: Params, goal: Goal) -> SmoothingState:
        warm = bool(params.W.any())
        point = risk.scored(params) if warm else risk.null_point
        return SmoothingState(
            point,
            estimate=np.inf,
            stretch=0.01 if warm else 1.0,
            goal=goal,
            last=point.params,
        )

    def step(self, risk: Risk, state: State) -> SmoothingState:
        assert isinstance(state, SmoothingState)
        loss = risk.loss.smoothed(state.stretch)
        assert loss is not None
        rounded = risk.with_loss(
            loss
        )  # in float64: slopes over a short stretch multiply the errors of scores
        enough = 0.2 * state.goal.allowed(state.point.value) / rounded.null_value
        aim = max(enough, 0.05 * state.stretch)
        state.last = minimize(rounded, _inner(rounded), state.last, tol=aim, relative_to="null").params
        point = risk.scored(state.last)
        duals = rounded.passes.duals(rounded.passes.scores(state.last))
        bound = risk.dual_value(duals)
        assert bound is not None
        assert state.estimate is not None
        if point.value < state.point.value:
            state.point = point
        if bound > state.bound:
            state.duals, state.bound = duals, bound
        gap = abs(state.point.value - state.bound)
        state.vain = 0 if gap < state.estimate else state.vain + 1
        state.estimate = gap
        state.stretch *= 0.1
        state.stuck = state.vain >= 2
        return state


def _inner(rounded: Risk) -> Solver:
    """Who minimizes the rounded risk: Newton's method, whose coordinates take features of any scale, where it can."""
    able = first_willing(rounded, (Newton(), CoordinateDescent(), Fista()))
    assert able is not None
    return able
