"""Linear families: one warm path over alpha a fold, from large to small, each solution certified."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, inf, log10
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from nearline._arrays.design import Array, as_design, is_sparse
from nearline.decision import decide
from nearline.losses import Squared
from nearline.predictions import Predictions, spread
from nearline.risk import Risk
from nearline.scores import LinearScore
from nearline.selection.edges import Axis, two_digits
from nearline.selection.families._base import Family, Fold, Outcome, Shared
from nearline.selection.path import solutions
from nearline.solvers import RidgeFactorization, Solution, minimize

TOL = 1e-3  # of the fits on folds, relative to the null risk; the winner is fitted to its own tolerance
STEPS = {"quick": 1.0, "default": 0.5, "thorough": 0.25}  # between alphas, in powers of ten
# From the largest useful alpha down, in powers of ten. L2: from a tenth of the variance of the rows.
DECADES = {"quick": 4.0, "default": 4.0, "thorough": 6.0}
DECADES_L1 = {"quick": 2.0, "default": 2.5, "thorough": 4.0}
LARGEST_FACTORED = 4000  # rows or features
MORE_ON_SPARSE = 1.0  # of L2, where the best are weaker, and cost little


@dataclass(frozen=True)
class Path(Family):
    """A linear model over its alphas."""

    name: str
    model: Any = field(hash=False)  # a LinearClassifier or a named one, alpha aside
    several: bool = False  # whether it is for more than two classes only
    tol: float = TOL
    effort: float = 30.0  # passes over the rows per alpha, roughly
    path: ClassVar[str | None] = "alpha"
    pace: ClassVar[float] = 0.5e-9
    fixed: ClassVar[float] = 6e-3
    warm: ClassVar[bool] = True

    def refuses(self, fold: Fold) -> str | None:
        if self.several and fold.n_classes == 2:
            return "with two classes it is the SVM with hinge loss"
        return None

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        return [{"alpha": alpha} for alpha in self._alphas(self._risk(fold), preset)]

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        """Where all weights are zero at the largest alpha (L1), there is nothing above it."""
        none = self._risk(fold).regularizer.largest_alpha(np.zeros((1, 1))) is not None
        return (Axis("alpha", "alpha", high=max(one["alpha"] for one in grid) if none else inf),)

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return clone(self.model).set_params(**parameters)

    def outcomes(self, fold: Fold, grid: list[dict[str, Any]]) -> Iterator[Outcome]:
        start = perf_counter()
        model = clone(self.model)
        risk, X_test = self._risk(fold, model), as_design(fold.X_test)
        known = np.flatnonzero(np.bincount(fold.codes))
        order = np.argsort([-parameters["alpha"] for parameters in grid], kind="stable")
        begun = perf_counter()
        factors = self._factors(risk)
        start += perf_counter() - begun  # which nobody pays for alone
        shared = () if factors is None else (Shared("factorization", perf_counter() - begun),)
        solved = self._solutions(risk, [grid[number]["alpha"] for number in order], factors)
        for number, solution in zip(order, solved, strict=True):
            params, fitted = solution.params, perf_counter()
            predictions = self._predictions(risk, solution, known, X_test, fold.n_classes)
            end = perf_counter()
            size = (params.W.size + params.b.size) * risk.X.dtype.itemsize
            took, note = (fitted - start, end - fitted), _note(solution)
            yield Outcome(int(number), predictions, *took, size, note, solution.gap, shared)
            start = perf_counter()

    def _factors(self, risk: Risk) -> Any:
        """What is factored once for all alphas; None: nothing."""
        return None

    def _solutions(self, risk: Risk, alphas: list[float], factors: Any) -> Iterator[Solution]:
        """From large alphas to small, each from the last. Only labels count: the null risk is the scale."""
        solved = solutions(risk, alphas, self.model.solver, self.tol, "null")
        return (solution for _, solution in solved)

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        return self.effort * super().cost(fold, grid)

    def _risk(self, fold: Fold, model: Any = None) -> Risk:
        model = clone(self.model) if model is None else model
        labels = fold.codes if model.class_weight is None else fold.labels  # it may name labels
        risk: Risk = model.risk(fold.X_train, labels, fold.weights)
        return risk

    def _alphas(self, risk: Risk, preset: str) -> list[float]:
        """Powers of ten, or of its root, from the largest that is of use, the same for all folds."""
        gradient, moments = risk.null_point.gradient, risk.passes.column_moments
        largest = risk.regularizer.largest_alpha(gradient.W - np.outer(gradient.b, moments[0]) * risk.bias)
        if largest is None:  # L2: alpha and the variance of the rows are of one kind
            variance = float((moments[1] ** 2).sum())
            top, decades = round(log10(variance)) - 1.0 if variance > 0 else 0.0, DECADES[preset]
        else:
            top, decades = float(ceil(log10(largest))) if largest > 0 else 0.0, DECADES_L1[preset]
        decades += MORE_ON_SPARSE * (is_sparse(risk.X) and largest is None)
        exponents = np.arange(0.0, decades + 1e-9, STEPS[preset])
        return [two_digits(10.0 ** (top - e)) for e in exponents]

    def _predictions(
        self, risk: Risk, solution: Solution, known: Array, X_test: Any, n_classes: int
    ) -> Predictions:
        W, b = (part.astype(X_test.dtype) for part in (solution.params.W, solution.params.b))
        score = LinearScore(W, b, known)
        scores = score(X_test)
        labels = decide(scores, known)

        def probabilities() -> Array:
            found = risk.loss.probabilities(scores.astype(np.float64))
            assert found is not None
            return spread(found.astype(scores.dtype), known, n_classes)

        def log_probabilities() -> Array:
            logarithms = risk.loss.log_probabilities(scores.astype(np.float64))
            assert logarithms is not None
            return spread(logarithms, known, n_classes, -np.inf)

        whole = None if len(known) < n_classes else scores[:, 0] if scores.shape[1] == 1 else scores
        if risk.loss.probabilities(np.zeros((1, scores.shape[1]))) is None:
            return Predictions(labels, n_classes, whole)
        return Predictions(labels, n_classes, whole, probabilities, log_probabilities)


@dataclass(frozen=True)
class LeastSquaresPath(Path):
    """Least squares: all alphas from one factorization, as long as it is small."""

    fixed: ClassVar[float] = 2e-3

    def _factors(self, risk: Risk) -> Any:
        if is_sparse(risk.X) or min(risk.X.shape) > LARGEST_FACTORED:
            return None
        codes = Squared().codes(risk.targets, risk.n_outputs)
        return RidgeFactorization(risk.X, codes, risk.weights, bias=risk.bias)

    def _solutions(self, risk: Risk, alphas: list[float], factors: Any) -> Iterator[Solution]:
        if factors is None:
            yield from super()._solutions(risk, alphas, factors)
            return
        for alpha in alphas:
            start = factors.solution(alpha)
            yield minimize(risk.with_alpha(alpha), self.model.solver, start, tol=self.tol, relative_to="null")


def _note(solution: Solution) -> str:
    if solution.converged:
        return ""
    gap = "without a certificate" if solution.gap is None else f"at a gap of {solution.gap:.1e}"
    return f"stopped {gap}: {solution.status.name.lower().replace('_', ' ')}"
