"""Least squares in the space of a kernel's features, in closed form."""

from dataclasses import dataclass
from typing import ClassVar

from nearline.risk import KernelRisk
from nearline.risk.params import Params
from nearline.solvers._certifier import Goal
from nearline.solvers._state import State
from nearline.solvers.gram_ridge import GramRidge
from nearline.solvers.kernel._base import KernelSolver


@dataclass(frozen=True)
class KernelClosedForm(KernelSolver):
    """The linear system of the squared loss, (K + S alpha I) A = T on centered features, in one step."""

    name: ClassVar[str] = "closed-form"
    max_iter: int = 1

    def refuses(self, risk: KernelRisk) -> str | None:
        if not risk.loss.own.least_squares:
            return f"Solver '{self.name}' solves the squared loss, not '{risk.loss.name}': use 'auto' or 'lbfgs'."
        return None

    def start(self, risk: KernelRisk, params: Params, goal: Goal) -> State:
        return State(risk.scored(params) if params.flat.any() else risk.null_point)

    def step(self, risk: KernelRisk, state: State) -> State:
        A, b = GramRidge.of(risk).solution(risk.alpha)
        return State(risk.scored(Params.of(A.T, b)), stuck=True)
