"""Newton's method for small problems: one compiled call a step."""

from dataclasses import dataclass
from typing import ClassVar

from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._conditioning import Coordinates
from nearline.solvers._line_search import wolfe
from nearline.solvers._refusals import needs_elastic, needs_gradient
from nearline.solvers._state import State

LARGEST_BLOCK = 4000  # rows of a class's block of the Hessian that is still worth forming


@dataclass(frozen=True)
class BlockNewton(Solver):
    """H d = -g by the blocks of H that belong to one class each, formed and factored in the compiled core.

    Of separate scores they are all of H. Of joint ones they precondition conjugate gradients. A step is taken at full
    length where that will do, else it is searched for.
    """

    name: ClassVar[str] = "block-newton"
    max_iter: int = 200

    @property
    def descends(self) -> bool:
        return True

    @property
    def caution(self) -> float:
        return 1e-3

    def refuses(self, risk: Risk) -> str | None:
        reason = needs_gradient(risk, self.name) or needs_elastic(risk, self.name)
        if reason is not None:
            return reason
        if not risk.passes.steps_by_newton:
            return (
                f"Solver '{self.name}' serves dense rows, class numbers as targets and built-in losses: use 'newton', "
                "'newton-cg' or 'lbfgs'."
            )
        if risk.n_features >= LARGEST_BLOCK:
            return f"Solver '{self.name}' would form a matrix of {risk.n_features} features: use 'newton-cg' or 'lbfgs'."
        return None

    def start(self, risk: Risk, params: Params, goal: Goal) -> State:
        return State(risk.at(params))

    def step(self, risk: Risk, state: State) -> State:
        point = state.point
        moved = risk.passes.newton_step(point, risk.bias, risk.l2, risk.rounding(point))
        assert moved is not None  # else the risk was refused
        if moved.good:
            state.point = moved.point
            return state
        line = risk.along(point, moved.direction)
        t = wolfe(line)
        if t == 0.0:  # no row bends the risk here, or none that the gradient points to: go down the slope
            line = risk.along(point, self._downhill(risk, point))
            t = wolfe(line)
        state.stuck = t == 0.0
        if t > 0:
            state.point = risk.at(line.params(t))
        return state

    @staticmethod
    def _downhill(risk: Risk, point: Point) -> Params:
        """Minus the gradient, in coordinates in which features of any scale look alike."""
        coordinates = Coordinates(risk)
        return coordinates.to_params(point.params.like(-coordinates.pull_back(point.gradient)))
