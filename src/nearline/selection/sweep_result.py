"""Sweep: scores of k nearest neighbors over metric, vote weights, k and fold."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.neighbors.metrics import Lq, Metric, as_metric
from nearline.neighbors.weights import as_weights
from nearline.selection.edges import Edge, edge_of, equally_best


@dataclass(frozen=True)
class Sweep:
    """Every fold's score of every candidate; arrays are indexed by metric, weights, k, fold in this order."""

    ks: Array  # (K,), in order
    metrics: tuple[Any, ...]  # as given
    weights: tuple[Any, ...]
    scores: Array  # (metrics, weights, ks, folds)
    boundary_ties: Array  # (metrics, ks): share of decisions with a tie at the k-th distance
    vote_ties: Array  # (metrics, weights, ks): share of decisions with a tie between classes
    search_seconds: Array  # (metrics,): what all candidates share
    vote_seconds: Array  # (metrics, weights, ks): what each adds
    scoring: str
    rules: dict[str, Any] = field(default_factory=dict)  # boundary, ties, algorithm where not the default

    @property
    def mean(self) -> Array:
        """Mean over folds."""
        return np.asarray(self.scores.mean(axis=-1))

    @property
    def deviation(self) -> Array:
        """Standard deviation over folds."""
        return np.asarray(self.scores.std(axis=-1, ddof=1))

    @property
    def standard_error(self) -> Array:
        """Of the mean over folds."""
        return self.deviation / np.sqrt(self.scores.shape[-1])

    @property
    def seconds(self) -> float:
        """All in all."""
        return float(self.search_seconds.sum() + self.vote_seconds.sum())

    @property
    def best(self) -> dict[str, Any]:
        """Parameters with the best mean, for ``KNeighborsClassifier(**best)``; the larger k among equals."""
        return self._parameters(*self._best())

    @property
    def one_standard_error(self) -> dict[str, Any]:
        """As best, with the largest k whose mean is within one standard error of the best."""
        i, a, b = self._best()
        good = self.mean[i, a] >= self.mean[i, a, b] - self.standard_error[i, a, b]
        return self._parameters(i, a, int(np.flatnonzero(good)[-1]))

    @property
    def edge(self) -> Edge | None:
        """Where the best k is the smallest (but 1) or largest given, so that values beyond may be better."""
        i, a, _ = self._best()
        return edge_of("k", self.ks, self.mean[i, a], low=1)

    def rows(self) -> list[dict[str, Any]]:
        """One line for each candidate, best mean first."""
        mean, deviation, error = self.mean, self.deviation, self.standard_error
        lines = [
            {
                "metric": metric_name(self.metrics[i]),
                "weights": str(as_weights(self.weights[a])),
                "k": int(self.ks[b]),
                "mean": float(mean[i, a, b]),
                "deviation": float(deviation[i, a, b]),
                "standard_error": float(error[i, a, b]),
                "boundary_ties": float(self.boundary_ties[i, b]),
                "vote_ties": float(self.vote_ties[i, a, b]),
                "seconds": float(self.vote_seconds[i, a, b]),
                "scores": self.scores[i, a, b].tolist(),
            }
            for i, a, b in np.ndindex(self.scores.shape[:3])
        ]
        return sorted(lines, key=lambda line: (-line["mean"], -line["k"]))

    def _best(self) -> tuple[int, int, int]:
        best = equally_best(self.mean)
        i, a, b = max(np.ndindex(best.shape), key=lambda at: (best[at], self.ks[at[2]]))
        return i, a, b

    def _parameters(self, i: int, a: int, b: int) -> dict[str, Any]:
        chosen = {"n_neighbors": int(self.ks[b]), "metric": self.metrics[i], "weights": self.weights[a]}
        return chosen | self.rules


def metric_name(metric: Any) -> str:
    """A short name for tables and legends."""
    if isinstance(metric, str):
        return metric
    known = as_metric(metric)
    if isinstance(known, Lq):
        return f"l{known.q:g}"
    return known.name if isinstance(metric, Metric) else getattr(metric, "__name__", known.name)
