"""Solvers by name, and the choice among them."""

from nearline.risk import Risk
from nearline.solvers._base import (
    ConvergenceWarning,
    Solution,
    Solver,
    State,
    Status,
    first_willing,
    minimize,
)
from nearline.solvers._ridge import RidgeFactorization
from nearline.solvers.closed_form import ClosedForm
from nearline.solvers.dual_coordinate_descent import DualCoordinateDescent
from nearline.solvers.first_order import LBFGS, ConjugateGradient, GradientDescent
from nearline.solvers.newton import IRLS, Newton, NewtonCG

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        ClosedForm(),
        GradientDescent(),
        Newton(),
        IRLS(),
        NewtonCG(),
        ConjugateGradient(),
        LBFGS(),
        DualCoordinateDescent(),
    )
}


def preference(risk: Risk) -> list[Solver]:
    """Solvers in order of measured speed for this kind of risk; the first that does not refuse is taken."""
    return [SOLVERS[name] for name in ("closed-form", "lbfgs", "dual-coordinate-descent")]


def choose(risk: Risk, solver: Solver | str) -> Solver:
    """The solver for a risk; raises, with the reason and an alternative, if it cannot serve."""
    if solver == "auto":
        chosen = first_willing(risk, preference(risk))
        if chosen is None:
            raise ValueError(
                risk.loss.refusal
                or f"No solver serves loss '{risk.loss.name}' with '{risk.regularizer.name}'."
            )
        return chosen
    if isinstance(solver, str):
        if solver not in SOLVERS:
            raise ValueError(
                f"Unknown solver {solver!r}: choose 'auto' or one of {', '.join(map(repr, SOLVERS))}."
            )
        solver = SOLVERS[solver]
    reason = solver.refuses(risk)
    if reason is not None:
        raise ValueError(reason)
    return solver


__all__ = [
    "IRLS",
    "LBFGS",
    "SOLVERS",
    "ClosedForm",
    "ConjugateGradient",
    "ConvergenceWarning",
    "DualCoordinateDescent",
    "GradientDescent",
    "Newton",
    "NewtonCG",
    "RidgeFactorization",
    "Solution",
    "Solver",
    "State",
    "Status",
    "choose",
    "minimize",
    "preference",
]
