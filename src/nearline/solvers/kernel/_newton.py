"""Newton's method on the scores of a kernel machine.

With g and h the first and second derivatives of the mean loss in each row's score, the quadratic model at scores f has its
minimum at coefficients a and a bias b with

    alpha a + h (K a + b - f) + g = 0,    sum_i a_i = 0 where a bias is free

which is solved by the Cholesky factor of alpha I + sqrt(h) K sqrt(h), whose eigenvalues are at least alpha.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import KernelRisk
from nearline.risk.params import Params
from nearline.solvers._certifier import Goal
from nearline.solvers._state import State
from nearline.solvers.kernel._base import KernelSolver

HALVINGS = 40


@dataclass(frozen=True)
class KernelNewton(KernelSolver):
    """Newton's method for smooth losses of separate columns, one linear system of n unknowns a column and step."""

    name: ClassVar[str] = "newton"
    max_iter: int = 100

    def refuses(self, risk: KernelRisk) -> str | None:
        if risk.alpha == 0:
            return f"Solver '{self.name}' needs alpha > 0 on a Gram matrix: use 'lbfgs'."
        if risk.loss.joint or not risk.loss.smooth:
            why = "couples its columns" if risk.loss.joint else "has kinks"
            return f"Solver '{self.name}' serves smooth losses of separate columns and '{risk.loss.name}' {why}: use 'auto'."
        scores = np.zeros((1, risk.n_outputs))
        if risk.loss.curvature(scores, risk.targets[:1]) is None:
            return f"Solver '{self.name}' needs second derivatives and loss '{risk.loss.name}' has none: use 'lbfgs'."
        return None

    def start(self, risk: KernelRisk, params: Params, goal: Goal) -> State:
        return State(risk.scored(params) if params.flat.any() else risk.null_point)

    def step(self, risk: KernelRisk, state: State) -> State:
        point, target = state.point, newton_target(risk, state.point.scores)
        line = risk.along(point, point.params.like(target.flat - point.params.flat))
        for halvings in range(HALVINGS):
            if line.value(0.5**halvings) < point.value:
                # Scores are updated along the line: fresh ones cost no more than the product for the step itself.
                return State(line.scored(0.5**halvings), fresh=False)
        return State(risk.scored(point.params), stuck=True)


def newton_target(risk: KernelRisk, scores: Array) -> Params:
    """The minimum of the quadratic model of the risk at these scores."""
    _, gradients = risk.loss.value_and_gradient(scores, risk.targets)
    curvatures = risk.loss.curvature(scores, risk.targets)
    assert curvatures is not None  # refused
    share = risk.weights[:, None] / risk.total_weight
    solved = [
        _column(risk, f, g, h)
        for f, g, h in zip(scores.T, (share * gradients).T, (share * curvatures).T, strict=True)
    ]
    return Params.of(np.stack([a for a, _ in solved]), np.array([b for _, b in solved]))


def _column(risk: KernelRisk, f: Array, g: Array, h: Array) -> tuple[Array, float]:
    """Coefficients and bias of one column."""
    from scipy.linalg import cho_factor, cho_solve

    K, root = risk.matrix, np.sqrt(h)
    system = risk.matrix * root[:, None] * root
    system[np.diag_indices_from(system)] += risk.alpha
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    right = np.stack([h * f - g, h], axis=1)[:, : 1 + risk.bias]
    inner = cho_solve(factor, root[:, None] * (K @ right), check_finite=False)
    solved = (right - root[:, None] * inner) / risk.alpha
    if not risk.bias or not solved[:, 1].sum() > 0:
        return solved[:, 0], 0.0
    b = float(solved[:, 0].sum() / solved[:, 1].sum())
    return solved[:, 0] - b * solved[:, 1], b
