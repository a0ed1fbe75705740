"""k nearest neighbors: one search a metric and fold gives every k and every vote weighting."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline.estimators import KNeighborsClassifier
from nearline.neighbors.index import Index
from nearline.neighbors.mapped import refuse_seen, seen_elsewhere
from nearline.neighbors.metrics import as_metric
from nearline.neighbors.vote import Decision, Electorate, Vote, voters
from nearline.predictions import Known, Predictions
from nearline.selection.edges import Axis, Counts
from nearline.selection.families._base import Family, Fold, Outcome, Shared

KS = {
    "quick": (1, 3, 5, 10, 20, 50),
    "default": (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100),
    "thorough": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200),
}
WEIGHTS = {"quick": ("uniform",), "default": ("uniform", "distance"), "thorough": ("uniform", "distance")}


@dataclass(frozen=True)
class NearestNeighbors(Family):
    """Votes of the k nearest rows in one metric."""

    name: str
    metric: Any
    on_sparse: bool = True
    fixed: ClassVar[float] = 5e-4
    path: ClassVar[str | None] = "n_neighbors"

    def refuses(self, fold: Fold) -> str | None:
        if is_sparse(fold.X_train) and not self.on_sparse:
            return "slow and seldom good on sparse rows: see the cosine"
        as_cosine = is_sparse(fold.X_train) and as_metric(self.metric).unit_as_cosine
        if as_cosine and _of_unit_length(fold.X_train):
            return "rows of unit length have the neighbors of the cosine"
        return None

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        return [
            {"metric": self.metric, "weights": weights, "n_neighbors": k}
            for weights in WEIGHTS[preset]
            for k in KS[preset]
            if k <= fold.most_neighbors
        ]

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        return (Counts("n_neighbors", "k", low=1.0, high=float(fold.most_neighbors)),)

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return KNeighborsClassifier(**parameters)

    def outcomes(self, fold: Fold, grid: list[dict[str, Any]]) -> Iterator[Outcome]:
        start = perf_counter()
        rows, electorate = _electorate(fold)
        metric = as_metric(self.metric)
        refuse_seen(seen_elsewhere(metric, rows), fold.X_test)
        metric = metric.fit(rows, electorate.codes, electorate.multiplicities)
        index = Index(rows, metric, algorithm=grid[0].get("algorithm", "auto"))
        built = perf_counter()
        votes = [
            Vote.of(
                one["n_neighbors"],
                one["weights"],
                one.get("boundary", "share"),
                one.get("ties", "nearest"),
                index.metric,
            )
            for one in grid
        ]
        longest = max(votes, key=lambda vote: vote.k)
        cast: list[list[tuple[Array, Decision]]] = [[] for _ in grid]
        seconds = np.zeros(len(grid))
        for queries, found in voters(index, fold.X_test, longest, electorate.multiplicities):
            for number, vote in enumerate(votes):
                begin = perf_counter()
                cast[number].append((queries, vote.decide(found, electorate)))
                seconds[number] += perf_counter() - begin
        searching = perf_counter() - built - float(seconds.sum())
        shared = Shared("index", built - start), Shared("search", searching, fitting=False)
        for number in range(len(grid)):
            decision = Decision.joined(cast[number], fold.X_test.shape[0])
            predictions = Predictions(decision.winners, fold.n_classes, None, Known(decision.shares))
            cast[number] = []
            took = float(seconds[number])
            yield Outcome(number, predictions, 0.0, took, fold.data_bytes, shared=shared)

    def memory(self, fold: Fold, grid: list[dict[str, Any]]) -> int:
        lists = 24 * max(one["n_neighbors"] for one in grid)
        shares = 8 * fold.n_classes * len(grid)
        return 2 * fold.data_bytes + int(fold.X_test.shape[0]) * (lists + shares)

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        return 0.5 * fold.X_test.shape[0] * fold.cells


def _of_unit_length(X: Any) -> bool:
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return bool((np.abs(squares[squares > 0] - 1.0) < 1e-5).all())


def _electorate(fold: Fold) -> tuple[Any, Electorate]:
    """Rows that may vote, as ``KNeighborsClassifier.fit`` chooses them."""
    if fold.weights is None:
        return fold.X_train, Electorate(fold.codes, fold.n_classes)
    kept = np.flatnonzero(fold.weights > 0)
    weights = fold.weights[kept]
    rows = fold.X_train if len(kept) == len(fold.weights) else fold.X_train[kept]
    return rows, Electorate(fold.codes[kept], fold.n_classes, None if (weights == 1.0).all() else weights)
