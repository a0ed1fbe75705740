"""L-BFGS that starts from an approximate inverse Hessian: few iterations, each little dearer."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Whole, kept
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers._axes import PrincipalAxes, principal_axes
from nearline.solvers._certifier import Goal
from nearline.solvers._conditioning import Coordinates
from nearline.solvers._groups import Groups
from nearline.solvers._memory import Memory
from nearline.solvers._preconditioner import Preconditioner, leading_size, precondition, row_mass
from nearline.solvers._refusals import needs_elastic
from nearline.solvers._state import State
from nearline.solvers.first_order import LBFGS, LbfgsState, advance, remember
from nearline.solvers.newton import needs_curvature

MOST_SPARSE_FEATURES = 1024  # beyond it principal axes of sparse rows cost more than they bring
MOST_NUMBERS_KEPT = 4_000_000  # in pairs, so that they do not outgrow X
CHANGE = 0.1  # share of the curvature that has to move before the preconditioner is made anew


@dataclass
class PreconditionedState(LbfgsState):
    """L-BFGS state with the preconditioner and the curvature it was made for."""

    axes: PrincipalAxes = field(kw_only=True)
    preconditioner: Preconditioner | None = None
    mass: Array | None = None
    next_look: int = 0


@kept(memory=Whole(1, 10_000))
@dataclass(frozen=True)
class PreconditionedLBFGS(LBFGS):
    """L-BFGS whose initial matrix is a model of the Hessian, made anew while the curvature still changes."""

    name: ClassVar[str] = "preconditioned-lbfgs"
    max_iter: int = 5000
    memory: int = 100

    def refuses(self, risk: Risk) -> str | None:
        reason = needs_curvature(risk, self.name) or needs_elastic(risk, self.name)
        if reason is None and risk.sparse and risk.n_features > MOST_SPARSE_FEATURES:
            return (
                f"Solver '{self.name}' needs the principal axes of X, which is sparse with {risk.n_features} features: "
                "use 'lbfgs' or 'newton-cg'."
            )
        return reason

    def start(self, risk: Risk, params: Params, goal: Goal) -> PreconditionedState:
        point, coordinates = risk.at(params), Coordinates(risk, plain_if_tame=True)
        axes = principal_axes(risk, coordinates)
        gradient = coordinates.pull_back(point.gradient)
        size = max(10, min(self.memory, MOST_NUMBERS_KEPT // params.flat.size))
        memory = Memory(Groups.of(risk), size)
        return PreconditionedState(
            point, coordinates=coordinates, gradient=gradient, memory=memory, axes=axes
        )

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, PreconditionedState)
        if state.age >= state.next_look:
            self._look(risk, state)
        apply = state.preconditioner
        assert apply is not None
        params = state.point.params
        direction = state.memory.descent(state.gradient, lambda g: apply(params.like(g)).flat)
        point, t = advance(risk, state, direction, 1.0)
        if t == 0.0:
            state.stuck = not state.memory and state.next_look > state.age + 1
            state.memory.clear()
            state.next_look = state.age
            return state
        remember(state, point, t * direction)
        return state

    def _look(self, risk: Risk, state: PreconditionedState) -> None:
        """Make the preconditioner anew if the curvature has changed since, and forget pairs from before."""
        mass = row_mass(risk, state.point)
        known = state.mass
        state.next_look = 3 * state.age + 2
        if known is not None and np.abs(mass - known).sum() <= CHANGE * mass.sum():
            return
        # At W = 0 all rows have nearly the same curvature: no need to look at them one by one.
        n_leading = leading_size(risk, state.axes) if state.point.params.W.any() else 0
        state.preconditioner = precondition(risk, state.point, state.coordinates, state.axes, n_leading)
        state.mass = mass
        state.memory.clear()
