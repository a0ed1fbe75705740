"""Boosted trees of scikit-learn: no family of a contest, but what its result is held against."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from nearline._parallel.stopping import checkpoint
from nearline.predictions import predictions_of
from nearline.selection.families._base import Family, Fold, Outcome, fit_weighted
from nearline.selection.families._sizes import pickled_size

TREES = 100  # rounds of boosting, as by default; early stopping above 10,000 rows, as by default
FIRST = 10  # after which it is known how long the others take
DOUBT = 2.0  # by how much the first may take longer than others
EARLY = 10_000


class TooSlowError(Exception):
    """The fit would take longer than it may."""


@dataclass(frozen=True)
class BoostedTrees(Family):
    """HistGradientBoostingClassifier with its default parameters."""

    name: str = "boosted trees"
    takes: tuple[str, ...] = field(default=("columns",), kw_only=True)
    categories: tuple[int, ...] = ()  # columns
    patience: float = float("inf")  # seconds that a fold may take

    @property
    def identity(self) -> str:
        return f"{self.name}, categories {self.categories}"

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        return [{}]

    def estimator(self, parameters: dict[str, Any]) -> Any:
        categories = list(self.categories) or None
        return HistGradientBoostingClassifier(max_iter=TREES, categorical_features=categories, random_state=0)

    def outcomes(self, fold: Fold, grid: list[dict[str, Any]]) -> Iterator[Outcome]:
        """On one thread, so that sums do not depend on the number of threads; folds run side by side."""
        start = perf_counter()
        model = self.estimator(grid[0])
        several = np.bincount(fold.codes)
        model.set_params(early_stopping=len(fold.codes) > EARLY and several[several > 0].min() > 1)
        with threadpool_limits(1, user_api="openmp"):
            fit_weighted(model.set_params(warm_start=True, max_iter=FIRST), fold, fold.codes)
            expected = (perf_counter() - start) * TREES / FIRST
            if expected > DOUBT * self.patience:
                raise TooSlowError(f"a fold would take about {expected:.0f} s, and has {self.patience:.0f} s")
            checkpoint()
            fit_weighted(model.set_params(max_iter=TREES), fold, fold.codes)
            fitted = perf_counter()
            predictions = predictions_of(model, fold.X_test, np.arange(fold.n_classes)).settled()
        yield Outcome(0, predictions, fitted - start, perf_counter() - fitted, pickled_size(model))
