"""Nearest neighbors in the space of a kernel's features."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nearline.estimators import KernelNeighborsClassifier
from nearline.kernels.distances import induced_squares
from nearline.selection.families._base import Fold, Outcome
from nearline.selection.families.neighbors import NearestNeighbors


@dataclass(frozen=True)
class KernelNeighbors(NearestNeighbors):
    """k nearest neighbors in the space of a kernel's features, where the representation is a normalized kernel."""

    name: str = "k-NN, kernel"
    metric: Any = "precomputed"
    takes: tuple[str, ...] = field(default=("gram",), kw_only=True)

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in one.items() if name != "metric"}
            for one in super().grid(fold, preset)
        ]

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return KernelNeighborsClassifier(**parameters)

    def outcomes(self, fold: Fold, grid: list[dict[str, Any]]) -> Iterator[Outcome]:
        own = np.diagonal(fold.X_train)
        new = np.ones(len(fold.X_test)) if fold.squares is None else fold.squares
        train, test = (
            np.sqrt(induced_squares(K, square, own))
            for square, K in ((own, fold.X_train), (new, fold.X_test))
        )
        return super().outcomes(replace(fold, X_train=train, X_test=test), grid)
