"""Solvers of a kernel's risk: three of its own, and all linear ones on coordinates of the items."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from nearline._parallel.tiles import single_threaded_blas
from nearline.risk import KernelRisk
from nearline.risk.params import Params
from nearline.solvers._base import UNFINISHED, Callback, Method, certified, check_asked, loop
from nearline.solvers._certifier import Goal
from nearline.solvers._solution import Solution
from nearline.solvers.kernel._base import KernelSolver
from nearline.solvers.kernel._closed_form import KernelClosedForm
from nearline.solvers.kernel._newton import KernelNewton
from nearline.solvers.kernel._smo import KernelSMO, Rounds, two_class_problems
from nearline.solvers.kernel._together import Together, minimize_together, two_class_risks

# In order of preference where the solver is "auto"; of a name that linear solvers have too, these are asked first.
KERNEL_SOLVERS: dict[str, KernelSolver] = {
    solver.name: solver for solver in (KernelSMO(), KernelClosedForm(), KernelNewton())
}
CAREFUL = 0.99  # share of the tolerance for the fit in coordinates: what is delivered are coefficients


def search_kernel_minimum(
    risk: KernelRisk,
    solver: Method[Any] | str = "auto",
    start: Params | None = None,
    *,
    tol: float = 1e-4,
    max_iter: int | None = None,
    callback: Callback | None = None,
    relative_to: str = "risk",
    until: str = "tol",
    keep: str | None = None,
) -> Solution:
    """The minimum of a kernel's risk, its parameters the coefficients of the items, certified in the kernel's space."""
    check_asked(risk, start, max_iter, keep)
    began, goal = time.perf_counter(), Goal.of(risk, tol, relative_to, until)
    asked: dict[str, Any] = {
        "max_iter": max_iter,
        "callback": callback,
        "relative_to": relative_to,
        "keep": keep,
    }
    own = _own(risk, solver)
    if own is None:
        return _in_coordinates(risk, solver, start, goal, asked)
    own = own if max_iter is None else replace(own, max_iter=max_iter)
    solution = loop(risk, own, risk.zeros() if start is None else start.copy(), goal, callback, began, keep)
    if (
        solver == "auto"
        and max_iter is None
        and not goal.endless
        and risk.alpha > 0
        and solution.status in UNFINISHED
    ):
        other = _in_coordinates(risk, solver, solution.params, goal, asked)
        solution = min(solution, other, key=lambda found: found.left)
    return solution


def _own(risk: KernelRisk, solver: Method[Any] | str) -> KernelSolver | None:
    """The solver that works on the Gram matrix itself, if one is asked for and does not refuse."""
    if isinstance(solver, KernelSolver):
        reason = solver.refuses(risk)
        if reason is not None:
            raise ValueError(reason)
        return solver
    names = AUTO if solver == "auto" else (solver,) if isinstance(solver, str) else ()
    able = (KERNEL_SOLVERS[name] for name in names if name in KERNEL_SOLVERS)
    chosen = next((one for one in able if one.refuses(risk) is None), None)
    if chosen is None and risk.alpha == 0:
        raise ValueError(
            f"A kernel's risk with loss '{risk.loss.name}' needs alpha > 0: without a penalty nearly any scores can be "
            "had, and there is no certificate; take a small one such as 1e-6."
        )
    return chosen


AUTO = ("smo", "closed-form")


def _in_coordinates(
    risk: KernelRisk,
    solver: Method[Any] | str,
    start: Params | None,
    goal: Goal,
    asked: dict[str, Any],
) -> Solution:
    """The same by a linear solver, on coordinates whose inner products are the kernel."""
    from nearline.solvers._base import search_minimum

    solution = search_minimum(
        risk.linear,
        solver,
        None if start is None else risk.in_coordinates(start),
        tol=CAREFUL * goal.tol,
        until="max_iter" if goal.endless else "tol",
        **asked,
    )
    if solution.iterates is not None:
        solution = replace(solution, iterates=tuple(map(risk.from_coordinates, solution.iterates)))
    found = certified(risk, risk.from_coordinates(solution.params), solution, goal)
    if found.gap is None or found.gap <= goal.tol:
        return found
    # Coefficients of nearly dependent items are large and cancel: those that the duals give are not and do not.
    with single_threaded_blas:
        duals = solution.duals
        if duals is None:
            scores = risk.linear.scored(solution.params).scores
            duals = risk.loss.value_and_gradient(scores, risk.targets)[1]
        balanced = risk.loss.balance(duals, risk.targets, risk.weights) if risk.bias else duals
        params = risk.from_duals(np.asarray(balanced), solution.params.b)
    other = certified(risk, params, solution, goal)
    return min(found, other, key=lambda one: one.left)


__all__ = [
    "KERNEL_SOLVERS",
    "KernelClosedForm",
    "KernelNewton",
    "KernelSMO",
    "KernelSolver",
    "Rounds",
    "Together",
    "minimize_together",
    "search_kernel_minimum",
    "two_class_problems",
    "two_class_risks",
]
