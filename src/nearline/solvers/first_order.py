"""Solvers that need gradients only: gradient descent, conjugate gradients, L-BFGS."""

from dataclasses import dataclass, field
from typing import ClassVar

from nearline._arrays.design import Array
from nearline._records.kept import OrNone, Whole, kept
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._conditioning import Coordinates
from nearline.solvers._groups import Groups
from nearline.solvers._line_search import wolfe
from nearline.solvers._memory import Memory
from nearline.solvers._refusals import needs_gradient
from nearline.solvers._state import State
from nearline.solvers.step_size import KEPT_STEP, DecayingStep, as_step_size

REFRESH = 25  # iterations after which scores are computed anew, not updated


@dataclass
class RayState(State):
    """State of a method that moves along rays in conditioned coordinates."""

    coordinates: Coordinates = field(kw_only=True)
    gradient: Array = field(kw_only=True)  # with respect to z
    direction: Array | None = None
    step_size: float = 1.0
    age: int = 0


def advance(
    risk: Risk, state: RayState, direction: Array, first_step: float, slope_share: float = 0.9
) -> tuple[Point, float]:
    """Search along a direction in z; the new point and the step (0 if there is no progress)."""
    z = state.point.params.like(direction)
    line = risk.along(state.point, state.coordinates.to_params(z))
    t = wolfe(line, first_step, slope_share=slope_share)
    if t == 0.0:
        return state.point, 0.0
    state.age += 1
    state.fresh = state.age % REFRESH == 0
    return (risk.at(line.params(t)) if state.fresh else line.at(t)), t


@dataclass
class DescentState(RayState):
    """Ray state with the number of steps taken."""

    steps: int = 0


@kept(step_size=OrNone(KEPT_STEP))
@dataclass(frozen=True)
class GradientDescent(Solver):
    """W -= step * gradient, without momentum.

    ``step_size`` is a number, a :class:`DecayingStep`, or None: then a line search in conditioned coordinates chooses
    each step.
    """

    name: ClassVar[str] = "gradient-descent"
    by_sums: ClassVar[bool] = True
    max_iter: int = 100_000
    step_size: float | DecayingStep | None = None

    def __post_init__(self) -> None:
        if self.step_size is not None:
            as_step_size(self.step_size)

    @property
    def descends(self) -> bool:
        return self.step_size is None

    def refuses(self, risk: Risk) -> str | None:
        return needs_gradient(risk, self.name)

    def start(self, risk: Risk, params: Params, goal: Goal) -> DescentState:
        point, coordinates = risk.at(params), Coordinates(risk)
        return DescentState(point, coordinates=coordinates, gradient=coordinates.pull_back(point.gradient))

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, DescentState)
        if self.step_size is not None:
            params, eta = state.point.params, as_step_size(self.step_size).at(state.steps)
            state.point = risk.at(params.like(params.flat - eta * state.point.gradient.flat))
            state.steps += 1
            return state
        point, t = advance(risk, state, -state.gradient, 2.0 * state.step_size)
        state.stuck = t == 0.0
        state.step_size = t if t > 0 else state.step_size
        state.point, state.gradient = point, state.coordinates.pull_back(point.gradient)
        return state


@dataclass(frozen=True)
class ConjugateGradient(Solver):
    """Non-linear conjugate gradients, Polak-Ribiere with restarts."""

    name: ClassVar[str] = "conjugate-gradient"
    by_sums: ClassVar[bool] = True
    max_iter: int = 20_000

    @property
    def descends(self) -> bool:
        return True

    def refuses(self, risk: Risk) -> str | None:
        return needs_gradient(risk, self.name)

    def start(self, risk: Risk, params: Params, goal: Goal) -> RayState:
        point, coordinates = risk.at(params), Coordinates(risk)
        return RayState(point, coordinates=coordinates, gradient=coordinates.pull_back(point.gradient))

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, RayState)
        g = state.gradient
        direction = -g if state.direction is None else state.direction
        # Conjugacy rests on steps that end near the minimum of their ray; a step costs no product with X.
        point, t = advance(risk, state, direction, state.step_size, slope_share=0.1)
        if t == 0.0:
            state.stuck = state.direction is None
            state.direction = None
            return state
        new = state.coordinates.pull_back(point.gradient)
        beta = max(0.0, float(new @ (new - g)) / float(g @ g))
        next_direction = -new + beta * direction
        if not float(next_direction @ new) < -1e-3 * float(new @ new):
            next_direction = -new
        # The next first step aims at the same decrease as this one.
        ratio = float(g @ direction) / min(float(new @ next_direction), -1e-300)
        state.step_size = t * min(max(ratio, 0.1), 10.0)
        state.point, state.gradient, state.direction = point, new, next_direction
        return state


@dataclass
class LbfgsState(RayState):
    """Ray state with the last changes of place and gradient."""

    memory: Memory = field(kw_only=True)


@kept(memory=Whole(1, 10_000))
@dataclass(frozen=True)
class LBFGS(Solver):
    """Limited-memory BFGS in conditioned coordinates."""

    name: ClassVar[str] = "lbfgs"
    by_sums: ClassVar[bool] = True
    max_iter: int = 5000
    memory: int = 40

    @property
    def descends(self) -> bool:
        return True

    def refuses(self, risk: Risk) -> str | None:
        return needs_gradient(risk, self.name)

    def start(self, risk: Risk, params: Params, goal: Goal) -> LbfgsState:
        point, coordinates = risk.at(params), Coordinates(risk)
        gradient = coordinates.pull_back(point.gradient)
        return LbfgsState(
            point, coordinates=coordinates, gradient=gradient, memory=Memory(Groups.of(risk), self.memory)
        )

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, LbfgsState)
        direction = state.memory.descent(state.gradient)
        point, t = advance(risk, state, direction, 1.0)
        if t == 0.0:
            state.stuck = not state.memory
            state.memory.clear()
            return state
        remember(state, point, t * direction)
        return state


def remember(state: LbfgsState, point: Point, change: Array) -> None:
    """Move to the point and keep the pair of changes."""
    gradient = state.coordinates.pull_back(point.gradient)
    state.memory.append(change, gradient - state.gradient)
    state.point, state.gradient = point, gradient
