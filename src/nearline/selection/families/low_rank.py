"""Least squares on a low-rank map of a Gaussian kernel, for rows whose Gram matrix would be too large."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from nearline._arrays.design import is_sparse
from nearline.estimators import LeastSquaresClassifier, Nystroem
from nearline.kernels import RBF
from nearline.kernels.vector import scale_gamma
from nearline.selection.chain import Chain
from nearline.selection.edges import Axis, two_digits
from nearline.selection.families._base import Family, Fold, Outcome, Shared
from nearline.selection.families.kernels import ALPHA, CS, GAMMA, GAMMAS
from nearline.selection.families.paths import LeastSquaresPath


@dataclass(frozen=True)
class LowRank(Family):
    """Least squares on Nystroem's map of a Gaussian kernel, for rows whose Gram matrix would be too large."""

    name: str = "kernel, low-rank least squares"
    fewest_rows: int = 4_000
    inner: LeastSquaresPath = field(
        default_factory=lambda: LeastSquaresPath("least squares", LeastSquaresClassifier()), hash=False
    )
    pace: ClassVar[float] = 0.3e-9
    components: ClassVar[dict[str, int]] = {"quick": 300, "default": 1000, "thorough": 2000}
    path: ClassVar[str | None] = "alpha"

    def refuses(self, fold: Fold) -> str | None:
        if fold.shape[0] <= self.fewest_rows:
            return ""  # the whole kernel least squares fits
        return "linear models serve sparse rows nearly as well" if is_sparse(fold.X_train) else None

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        gamma, n = scale_gamma(fold.X_train), fold.shape[0]
        return [
            {
                "kernel": RBF(two_digits(gamma * factor)),
                "components": self.components[preset],
                "alpha": two_digits(1 / (n * C)),
            }
            for factor in GAMMAS[preset]
            for C in CS[preset]
        ]

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        return ALPHA, GAMMA

    def estimator(self, parameters: dict[str, Any]) -> Any:
        model = clone(self.inner.model).set_params(alpha=parameters["alpha"])
        return Chain([("map", self._map(parameters)), ("model", model)])

    def outcomes(self, fold: Fold, grid: list[dict[str, Any]]) -> Iterator[Outcome]:
        for kernel in dict.fromkeys(one["kernel"] for one in grid):
            numbers = [number for number, one in enumerate(grid) if one["kernel"] == kernel]
            start = perf_counter()
            mapped = self._map(grid[numbers[0]]).fit(fold.X_train)
            train, test = (mapped.transform(X).astype(np.float32) for X in (fold.X_train, fold.X_test))
            shared = Shared("map of the kernel", perf_counter() - start)
            alphas = [{"alpha": grid[number]["alpha"]} for number in numbers]
            note = f"approximate: the Gram matrix is off by {100 * mapped.error_:.1f}%"
            for one in self.inner.outcomes(replace(fold, X_train=train, X_test=test), alphas):
                yield replace(
                    one,
                    number=numbers[one.number],
                    shared=(*one.shared, shared),
                    size=(one.size or 0) + mapped.n_components_ * (fold.row_bytes + 8 * mapped.n_components_),
                    note=note if not one.note else f"{one.note}; {note}",
                )

    def _map(self, parameters: dict[str, Any]) -> Nystroem:
        return Nystroem(parameters["kernel"], parameters["components"])

    def memory(self, fold: Fold, grid: list[dict[str, Any]]) -> int:
        return 2 * fold.data_bytes + 30 * fold.shape[0] * grid[0]["components"]

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        n, D = fold.shape
        m, kernels = grid[0]["components"], len({str(one["kernel"]) for one in grid})
        return float(kernels) * n * m * (D + m) + len(grid) * 10.0 * n * m
