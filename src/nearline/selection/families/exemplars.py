"""Exemplar SVMs: for classes of few rows, each of which may be of another kind."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import is_sparse
from nearline.estimators import ExemplarSVM
from nearline.selection.edges import Axis, two_digits
from nearline.selection.families._base import Family, Fold

FEW, MOST_ROWS = 20, 4_000  # rows of a class in the middle, and of all
STEPS = {"quick": 2.0, "default": 1.0, "thorough": 1.0}  # between alphas, in powers of ten


@dataclass(frozen=True)
class FewShot(Family):
    """One SVM for each training row, over alpha; the scores are compared as they are."""

    name: str = "exemplar SVM"
    alone: ClassVar[bool] = True
    path: ClassVar[str | None] = "alpha"
    pace: ClassVar[float] = 1e-8

    def refuses(self, fold: Fold) -> str | None:
        sizes = np.bincount(fold.codes, minlength=fold.n_classes)
        if (
            is_sparse(fold.X_train)
            or fold.weights is not None
            or np.median(sizes) > FEW
            or len(fold.codes) > MOST_ROWS
        ):
            return ""  # it is for few dense rows of each class
        return None

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        spread = float(fold.X_train.var(axis=0, dtype=np.float64).sum())
        exponents = np.arange(0.0, 4.0 + 1e-9, STEPS[preset])
        top = spread if spread > 0 else 1.0
        return [{"alpha": two_digits(top * 10.0**-e)} for e in exponents]

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        return (Axis("alpha", "alpha"),)

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return ExemplarSVM(**parameters, calibration=None)

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        return float(len(grid)) * fold.cells * len(fold.codes)
