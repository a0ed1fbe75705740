"""How nearline is called in the contests: its public interface, with default settings."""

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.fitters import Fitter
from benchmarks.homes import NEARLINE, Home
from benchmarks.problems import Problem


@dataclass(frozen=True)
class Nearline(Fitter):
    """Risk and minimize, construction of the risk included in the time."""

    package: ClassVar[str] = "nearline"
    home: ClassVar[Home] = NEARLINE
    effort_name: ClassVar[str] = "tol"
    dtype: str = "float32"
    solver: str = "auto"
    label: str = ""

    @property
    def name(self) -> str:
        solver = "" if self.solver == "auto" else f" {self.solver}"
        return self.label or f"nearline{solver} {self.dtype}"

    @property
    def efforts(self) -> tuple[float, ...]:
        return tuple(10.0**-k for k in range(1, 9))

    def prepare(self, problem: Problem) -> Any:
        import nearline.solvers  # noqa: F401  (imports are not contested here)

        return problem.split(self.dtype), problem.n_classes, problem.alpha

    def fit(self, ready: Any, problem: Problem, effort: float) -> Any:
        from nearline import Risk, minimize

        split, n_classes, alpha = ready
        risk = Risk(
            split.X,
            split.y,
            loss=problem.loss,
            regularizer=problem.regularizer,
            alpha=alpha,
            bias=problem.bias,
            n_classes=n_classes,
        )
        return minimize(risk, self.solver, tol=effort)

    def read(self, model: Any, problem: Problem) -> dict[str, Any]:
        params = model.params
        return {
            "W": np.asarray(params.W),
            "b": np.asarray(params.b),
            "gap": model.gap,
            "solver": model.solver,
            "n_iter": model.n_iter,
            "status": model.status.name,
        }


def solve_exactly(problem: Problem, tol: float) -> dict[str, Any]:
    """The reference: float64, certified; its value by the judge's own arithmetic."""
    from nearline import minimize

    risk = problem.risk("float64")
    began = time.perf_counter()
    solution = minimize(risk, "auto", tol=tol)
    seconds = time.perf_counter() - began
    value = problem.objective(solution.params.W, solution.params.b)
    source = f"nearline {solution.solver}, float64, {seconds:.1f} s, {solution.status.name.lower()}"
    return {"value": value, "gap": solution.gap, "source": source}
