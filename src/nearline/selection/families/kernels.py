"""Kernel machines: one Gram matrix a kernel and fold serves all alphas, classes and k."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline.decision import decide
from nearline.estimators import (
    KernelLeastSquares,
    KernelLogisticRegression,
    KernelSVM,
)
from nearline.estimators.pairs import Pairs
from nearline.kernels import RBF, Kernel
from nearline.kernels.gram import Gram
from nearline.kernels.landmarks import spanning
from nearline.kernels.precomputed import Precomputed
from nearline.kernels.vector import scale_gamma
from nearline.losses import LOSSES, Squared
from nearline.predictions import Known, Predictions, spread
from nearline.risk import KernelRisk, Risk
from nearline.selection.edges import Axis, two_digits
from nearline.selection.families._base import Family, Fold, Outcome, Shared
from nearline.selection.path import solutions
from nearline.solvers.gram_ridge import GramRidge
from nearline.solvers.kernel import two_class_problems, two_class_risks
from nearline.solvers.smo import certificates, smo

MOST_SPARSE = 3000  # sparse rows whose Gram matrix is computed: linear models serve them nearly as well
# gamma, as multiples of 1 / (features x variance), and C = 1 / (n alpha)
GAMMAS = {"quick": (1.0,), "default": (0.25, 1.0, 4.0), "thorough": (0.0625, 0.25, 1.0, 4.0, 16.0)}
CS = {"quick": (10.0,), "default": (1.0, 10.0, 100.0), "thorough": (0.1, 1.0, 10.0, 100.0, 1000.0)}
ALPHA = Axis("alpha", "alpha")
GAMMA = Axis("kernel", "gamma", decades=0.5, whole=True, read=lambda kernel: kernel.gamma, write=RBF)


@dataclass(frozen=True)
class KernelFamily(Family):
    """A machine on Gram matrices: given ones, or Gaussian ones of rows."""

    name: str
    most_rows: int
    pace: ClassVar[float] = 0.25e-9
    fixed: ClassVar[float] = 1e-3
    takes: tuple[str, ...] = field(default=("numbers", "gram"), kw_only=True)
    path: ClassVar[str | None] = "alpha"

    def refuses(self, fold: Fold) -> str | None:
        n = fold.shape[0]
        if n > self.most_rows:
            other = "" if fold.gram else "; see the low-rank one"
            return f"a Gram matrix of {n:,} rows takes long (most: {self.most_rows:,}){other}"
        if is_sparse(fold.X_train) and n > MOST_SPARSE:
            return f"a Gram matrix of {n:,} sparse rows takes long (most: {MOST_SPARSE:,})"
        return None

    def kernels(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        """What the candidates have as a kernel; nothing where the representation is one."""
        if fold.gram:
            return [{}]
        gamma = scale_gamma(fold.X_train)
        return [{"kernel": RBF(two_digits(gamma * factor))} for factor in GAMMAS[preset]]

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        n = fold.shape[0]
        return [
            {**kernel, "alpha": two_digits(1.0 / (n * C))}
            for kernel in self.kernels(fold, preset)
            for C in CS[preset]
        ]

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        return (ALPHA,) if fold.gram else (ALPHA, GAMMA)

    def outcomes(self, fold: Fold, grid: list[dict[str, Any]]) -> Iterator[Outcome]:
        kernels = dict.fromkeys(one.get("kernel") for one in grid)
        for kernel in kernels:
            numbers = [number for number, one in enumerate(grid) if one.get("kernel") == kernel]
            start = perf_counter()
            K, K_test = grams(fold, kernel)
            shared = () if kernel is None else (Shared("Gram matrices", perf_counter() - start),)
            for outcome in self.along(fold, K, K_test, {number: grid[number] for number in numbers}):
                yield replace(outcome, shared=(*outcome.shared, *shared))

    @abstractmethod
    def along(
        self, fold: Fold, K: Array, K_test: Array, grid: dict[int, dict[str, Any]]
    ) -> Iterator[Outcome]:
        """Outcomes of candidates that differ in alpha only."""

    def memory(self, fold: Fold, grid: list[dict[str, Any]]) -> int:
        return 2 * fold.data_bytes + 24 * fold.shape[0] ** 2

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        n = float(fold.shape[0])
        kernels = len({str(one.get("kernel")) for one in grid})
        return n * (kernels * (0 if fold.gram else fold.cells) + 10.0 * n * len(grid))


@dataclass(frozen=True)
class SupportVectors(KernelFamily):
    """Kernel SVM: from small C to large, each from the last."""

    warm: ClassVar[bool] = True

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return KernelSVM(**parameters)

    def along(
        self, fold: Fold, K: Array, K_test: Array, grid: dict[int, dict[str, Any]]
    ) -> Iterator[Outcome]:
        K, K_test, codes, weights = by_class(K, K_test, fold)
        known, targets = np.unique(codes, return_inverse=True)
        if K.dtype == np.float64 and not fold.gram:
            K, K_test = K.astype(np.float32), K_test.astype(np.float32)
        risk = KernelRisk.of(Gram(Precomputed(), K), targets, loss="hinge", alpha=1.0, weights=weights)
        parts = two_class_risks(risk, Pairs(len(known)).numbers)
        problems, last = [problem for part in parts for problem in two_class_problems(part)], 1.0
        for number in sorted(grid, key=lambda number: -grid[number]["alpha"]):
            alpha, start = grid[number]["alpha"], perf_counter()
            problems, last = [problem.scaled(last / alpha) for problem in problems], alpha
            found = smo(K, problems, tol=1e-3, max_iter=1000 * len(targets))
            fitted = perf_counter()
            A = np.zeros((len(targets), len(problems)), dtype=K.dtype)
            for p, problem in enumerate(problems):
                A[problem.at, p] = problem.beta
            proofs = certificates(problems)
            support = np.flatnonzero(A.any(axis=1))
            F = (K_test[:, support] @ A[support] + [proof.b for proof in proofs]).astype(np.float64)
            predictions = self._predictions(F, known, fold.n_classes)
            late = float(found[:, 0].max()) > 1e-3
            yield Outcome(
                number,
                predictions,
                fitted - start,
                perf_counter() - fitted,
                len(support) * (A.itemsize * A.shape[1] + fold.row_bytes),
                "stopped before its tolerance" if late else "",
                max(proof.null_gap for proof in proofs),
            )

    def _predictions(self, F: Array, known: Array, n_classes: int) -> Predictions:
        if len(known) == 2:
            scores = F[:, 0] if n_classes == 2 else None
            return Predictions(decide(F, known), n_classes, scores)
        pairs = Pairs(len(known))
        scores = pairs.scores(F) if len(known) == n_classes else None
        return Predictions(known[pairs.choose(F)], n_classes, scores)


@dataclass(frozen=True)
class KernelRidge(KernelFamily):
    """Kernel least squares: a Cholesky factorization for each alpha."""

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return KernelLeastSquares(**parameters)

    def along(
        self, fold: Fold, K: Array, K_test: Array, grid: dict[int, dict[str, Any]]
    ) -> Iterator[Outcome]:
        known, targets = np.unique(fold.codes, return_inverse=True)
        weights = np.ones(len(targets)) if fold.weights is None else fold.weights
        codes = Squared().codes(targets.astype(np.int32), 1 if len(known) == 2 else len(known))
        ridge = GramRidge(K, codes, weights)
        for number, parameters in grid.items():
            start = perf_counter()
            A, b = ridge.solution(parameters["alpha"])
            fitted = perf_counter()
            scores = K_test @ A + b
            whole = None if len(known) < fold.n_classes else scores[:, 0] if len(known) == 2 else scores
            predictions = Predictions(decide(scores, known), fold.n_classes, whole)
            size = len(A) * (8 * A.shape[1] + fold.row_bytes)
            yield Outcome(number, predictions, fitted - start, perf_counter() - fitted, size)

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        return super().cost(fold, grid) + len(grid) * float(fold.shape[0]) ** 3 / 9.0


@dataclass(frozen=True)
class KernelLogistic(KernelFamily):
    """Kernel logistic regression: one Cholesky factorization, then a warm path."""

    warm: ClassVar[bool] = True

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return KernelLogisticRegression(**parameters)

    def along(
        self, fold: Fold, K: Array, K_test: Array, grid: dict[int, dict[str, Any]]
    ) -> Iterator[Outcome]:
        known, targets = np.unique(fold.codes, return_inverse=True)
        start = perf_counter()
        marks, Z = spanning(Precomputed(), K, K)
        loss = LOSSES["logistic" if len(known) == 2 else "softmax"]
        risk = Risk(Z, targets.astype(np.int32), loss=loss, weights=fold.weights, n_classes=len(known))
        order = sorted(grid, key=lambda number: -grid[number]["alpha"])
        solved = solutions(risk, [grid[number]["alpha"] for number in order], "auto", 1e-3, "null")
        for number, (_, solution) in zip(order, solved, strict=True):
            fitted = perf_counter()
            scores = K_test[:, marks.rows] @ marks.coefficients(solution.params.W) + solution.params.b
            probabilities = spread(np.asarray(loss.probabilities(scores)), known, fold.n_classes)
            logs = spread(np.asarray(loss.log_probabilities(scores)), known, fold.n_classes, -np.inf)
            whole = None if len(known) < fold.n_classes else scores[:, 0] if len(known) == 2 else scores
            predictions = Predictions(
                decide(scores, known), fold.n_classes, whole, Known(probabilities), Known(logs)
            )
            size = len(marks.rows) * (8 * scores.shape[1] + fold.row_bytes)
            end = perf_counter()
            yield Outcome(number, predictions, fitted - start, end - fitted, size, "", solution.gap)
            start = perf_counter()


def by_class(K: Array, K_test: Array, fold: Fold) -> tuple[Array, Array, Array, Array]:
    """The same with rows of one class together: then those of two classes are two blocks."""
    weights = np.ones(len(fold.codes)) if fold.weights is None else fold.weights
    if (np.diff(fold.codes) >= 0).all():
        return K, K_test, fold.codes, weights
    order = np.argsort(fold.codes, kind="stable")
    return K[np.ix_(order, order)], K_test[:, order], fold.codes[order], weights[order]


def grams(fold: Fold, kernel: Kernel | None) -> tuple[Array, Array]:
    """k of the training rows, and of the test rows with them."""
    if kernel is None:
        return fold.X_train, fold.X_test
    train, test = (kernel.items(X) for X in (fold.X_train, fold.X_test))
    light = kernel.light(train)
    train, test = light, test.astype(light.dtype, copy=False)
    return kernel.among(train), kernel.between(test, train)
