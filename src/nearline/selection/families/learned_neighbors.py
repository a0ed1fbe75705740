"""k nearest neighbors in a distance that is learned in each fold."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import is_sparse
from nearline.neighbors.learned import Learned
from nearline.selection.families._base import Fold
from nearline.selection.families.neighbors import NearestNeighbors

BY_NCA = Learned("nca")
MOST_CELLS = 2e8  # of training rows: learning keeps a copy of them in float32
ITERATIONS = 80  # of a descent, about
EACH = 6e5  # what an iteration costs, however few the rows
FEW, SAMPLE = 1_500, 2_500  # as learning has them: rows that are all held out in turn; rows at a time


@dataclass(frozen=True)
class LearnedNeighbors(NearestNeighbors):
    """Votes in the distance that NCA learns from the training rows of the fold, or in L2 where these say that is no worse."""

    name: str = "k-NN, learned"
    metric: Any = BY_NCA
    on_sparse: bool = False
    fixed: ClassVar[float] = 5e-3

    def refuses(self, fold: Fold) -> str | None:
        n, D = fold.shape
        if is_sparse(fold.X_train):
            return "its map needs dense rows"
        if float(n) * D > MOST_CELLS:
            return f"learning from {n:,} rows of {D:,} features takes too much memory"
        if np.bincount(fold.codes).max() < 2:
            return "every class has one row: there is nothing to bring together"
        return None

    def memory(self, fold: Fold, grid: list[dict[str, Any]]) -> int:
        n, D = fold.shape
        return super().memory(fold, grid) + 8 * n * D + 24 * D * D

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        n, D = fold.shape
        descents, rows = (8.0, 0.75 * n) if n <= FEW else (1.0, float(min(n, SAMPLE)))
        pairs = 12.0 * rows * rows
        return descents * ITERATIONS * (EACH + pairs + 64.0 * rows * D) + super().cost(fold, grid)
