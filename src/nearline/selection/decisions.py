"""Decision rules other than the model's own: a threshold for one of two classes, or the answer of the least expected cost."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Numbers, Real, Word, kept
from nearline.predictions import Predictions
from nearline.selection.scoring import Scorer

MOST = 64  # thresholds that are tried


@kept(at=Real(), tuned_for=Word(), by=Word())
@dataclass(frozen=True)
class Threshold:
    """Of two classes the second where what rows are ranked by is at least ``at``, else the first.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.predictions import Predictions
    >>> said = Predictions(np.array([0, 0, 1]), 2, scores=np.array([-2.0, -0.5, 1.0]))
    >>> Threshold(-1.0).decided(said).labels.tolist()
    [0, 1, 1]
    """

    at: float
    tuned_for: str = ""  # the score that it is the best for, on rows left out
    by: str = "the score"  # what rows are ranked by

    def decided(self, predictions: Predictions) -> Predictions:
        """The same evidence with other labels."""
        ranking = predictions.ranking()
        if ranking is None:
            return predictions
        return replace(predictions, labels=(ranking >= self.at).astype(np.intp))

    def said(self, classes: list[Any]) -> str:
        """In words."""
        tuned = f", a threshold tuned for {self.tuned_for} on rows left out" if self.tuned_for else ""
        return f"{classes[1]!s} is answered where {self.by} of it is at least {self.at:.4g}{tuned}"


@kept(costs=Numbers(("C", "C")))
@dataclass(frozen=True, eq=False)
class LeastCost:
    """The answer k of the least expected cost, sum_c p_c cost[c, k]; of a model without probabilities, its own.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.predictions import Known, Predictions
    >>> said = Predictions(np.array([1]), 2, None, Known(np.array([[0.2, 0.8]])))
    >>> LeastCost(np.array([[0.0, 10.0], [1.0, 0.0]])).decided(said).labels.tolist()
    [0]
    """

    costs: Array  # (C, C): true class, answer

    def decided(self, predictions: Predictions) -> Predictions:
        """The same evidence with other labels."""
        P = predictions.probabilities()
        if P is None:
            return predictions
        return replace(predictions, labels=(P.astype(np.float64) @ self.costs).argmin(axis=1))

    def said(self, classes: list[Any]) -> str:
        """In words."""
        return "the answer is that of the least expected cost, by the model's probabilities"


Rule = Threshold | LeastCost


def tuned_threshold(
    ranking: Array, codes: Array, classes: Array, scorer: Scorer, weights: Array | None = None
) -> float:
    """The threshold of the best score on these rows: the middle of the widest run of best ones.

    A score of labels knows of rows only how many of a class are called what: four rows, weighted, stand for all.
    """
    tried = _candidates(ranking, codes)
    w = np.ones(len(codes)) if weights is None else weights
    order = np.argsort(ranking, kind="stable")
    below = np.searchsorted(ranking[order], tried, "left")  # rows called the first class
    totals = np.zeros((2, len(order) + 1))
    for c in (0, 1):
        totals[c, 1:] = np.cumsum(w[order] * (codes[order] == c))
    pair = Predictions(np.array([0, 0, 1, 1]), 2)
    true = np.array([0, 1, 0, 1])
    scores = np.empty(len(tried))
    for i, n in enumerate(below):
        counts = np.concatenate([totals[:, n], totals[:, -1] - totals[:, n]])
        there = counts > 0
        scores[i] = scorer.sign * scorer(
            pair.some(np.flatnonzero(there)), true[there], classes, counts[there]
        )
    scores = np.where(np.isnan(scores), -np.inf, scores)
    return float(tried[_middle_of_best(scores, below)])


def _candidates(ranking: Array, codes: Array) -> Array:
    """Midpoints between neighbors in rank, evenly by the ranks of either class, and one below and above all rows."""
    values = np.unique(ranking)
    places = [np.searchsorted(values, np.sort(ranking[codes == c])) for c in (0, 1)]
    few = [
        own[np.unique(np.linspace(0, len(own) - 1, MOST // 2).astype(np.intp))] for own in places if len(own)
    ]
    upper = np.unique(np.concatenate([*few, *(one + 1 for one in few)]).clip(0, len(values)))
    lower = np.concatenate([[values[0] - 1.0], values])[upper]
    return np.asarray((lower + np.concatenate([values, [values[-1] + 1.0]])[upper]) / 2.0)


def _middle_of_best(scores: Array, below: Array) -> int:
    """Of neighbors that all have the best score, the run of most rows, and its middle."""
    best = scores >= scores.max() - 1e-12
    edges = np.flatnonzero(np.diff(np.concatenate([[0], best.astype(np.int8), [0]])))
    runs = list(zip(edges[::2], edges[1::2] - 1, strict=True))
    first, last = max(runs, key=lambda run: (below[run[1]] - below[run[0]], -run[0]))
    return int((first + last) // 2)
