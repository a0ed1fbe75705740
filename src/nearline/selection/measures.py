"""Measures: how good answers are, as numbers; of two classes the second is the positive one.

Each equals scikit-learn's function of the name, and is NaN where that function warns that it is undefined (and says 0).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline.predictions import Predictions


def accuracy(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """Share of the rows that are called right."""
    return float(np.average(predictions.labels == codes, weights=weights))


def balanced_accuracy(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """Mean over the classes that are there of the share found."""
    found, _, there = class_counts(predictions, codes, classes, weights)
    return float(np.mean(found[there > 0] / there[there > 0]))


def precision(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """found / called: how many of the rows called so are of the class; undefined for a class that no row is called."""
    found, called, there = class_counts(predictions, codes, classes, weights)
    return _of_classes(found, called, called + there > 0)


def recall(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """found / there: how many of the rows of the class are called so; undefined for a class without rows."""
    found, called, there = class_counts(predictions, codes, classes, weights)
    return _of_classes(found, there, called + there > 0)


def f1(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """2 found / (called + there), the harmonic mean of precision and recall; undefined where there is no such row."""
    found, called, there = class_counts(predictions, codes, classes, weights)
    return _of_classes(2.0 * found, called + there, called + there > 0)


def class_counts(
    predictions: Predictions, codes: Array, classes: Array, weights: Array | None
) -> tuple[Array, Array, Array]:
    """Of each class the weight of rows found, called so, and there."""
    n = len(classes)
    w = np.ones(len(codes)) if weights is None else weights
    found = np.bincount(codes, w * (predictions.labels == codes), n)
    return found, np.bincount(predictions.labels, w, n), np.bincount(codes, w, n)


def _of_classes(part: Array, whole: Array, counts: Array) -> float:
    """part / whole of the positive one of two classes; of more the mean over classes that some row is of or is called."""
    if len(part) == 2:
        return float(part[1] / whole[1]) if whole[1] > 0 else float("nan")
    if not (whole[counts] > 0).all():
        return float("nan")
    return float(np.mean(part[counts] / whole[counts]))


def mcc(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """Matthews' correlation of classes and labels, cov(y, l) / sqrt(cov(y, y) cov(l, l)); 0 where one of them is constant."""
    found, called, there = class_counts(predictions, codes, classes, weights)
    total = there.sum()
    both = found.sum() * total - there @ called
    spread = (total**2 - called @ called) * (total**2 - there @ there)
    return float(both / np.sqrt(spread)) if spread > 0 else 0.0


def log_loss(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """Mean of -log p of the row's class, p kept within [eps, 1 - eps] of its floating-point type, as scikit-learn does."""
    P = predictions.probabilities()
    return float("nan") if P is None else float(np.average(surprises(P, codes), weights=weights))


def surprises(P: Array, codes: Array) -> Array:
    """-log p of each row's class, what the log-loss is the mean of, (m,)."""
    eps = float(np.finfo(P.dtype).eps)
    own = P[np.arange(len(codes)), codes].astype(np.float64)
    return np.asarray(-np.log(np.clip(own, eps, 1.0 - eps)))


def brier(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """Mean of (p - y)^2 for two classes, from 0 to 1; of sum_c (p_c - [y = c])^2 for more, from 0 to 2."""
    P = predictions.probabilities()
    return float("nan") if P is None else float(np.average(squared_distances(P, codes), weights=weights))


def squared_distances(P: Array, codes: Array) -> Array:
    """What the Brier score is the mean of, (m,)."""
    wrong = P.astype(np.float64)
    wrong[np.arange(len(codes)), codes] -= 1.0
    return np.asarray((wrong**2).sum(axis=1) * (0.5 if P.shape[1] == 2 else 1.0))


def auc(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """Area under the ROC curve; of more than two classes the mean over classes of one against the rest."""
    return _of_rankings(_area, predictions, codes, classes, weights)


def average_precision(predictions: Predictions, codes: Array, classes: Array, weights: Array | None) -> float:
    """Sum over thresholds of (R_t - R_{t-1}) P_t; of more than two classes the mean over classes of one against the rest."""
    return _of_rankings(_precision_area, predictions, codes, classes, weights)


def _of_rankings(
    area: Callable[[Array, Array, Array | None], float],
    predictions: Predictions,
    codes: Array,
    classes: Array,
    weights: Array | None,
) -> float:
    ranking = predictions.ranking()
    if weights is not None and ranking is not None:
        there = weights > 0
        ranking, codes, weights = ranking[there], codes[there], weights[there]
    if ranking is None or len(np.unique(codes)) < len(classes):
        return float("nan")
    if ranking.ndim == 1:
        return area(codes == 1, ranking, weights)
    return float(np.mean([area(codes == c, ranking[:, c], weights) for c in range(len(classes))]))


def _area(positive: Array, ranking: Array, weights: Array | None) -> float:
    """The chance that a positive row is ranked above a negative one, a tie counting half."""
    found, others = _called(positive, ranking, weights)
    above = found - np.diff(found, prepend=0.0) / 2.0
    return float(np.diff(others, prepend=0.0) @ above / (found[-1] * others[-1]))


def _precision_area(positive: Array, ranking: Array, weights: Array | None) -> float:
    found, others = _called(positive, ranking, weights)
    return float(np.diff(found, prepend=0.0) @ (found / (found + others)) / found[-1])


def _called(positive: Array, ranking: Array, weights: Array | None) -> tuple[Array, Array]:
    """The weight of positive and of other rows down to each rank, from the highest; rows of one rank come together."""
    order = np.argsort(-ranking, kind="stable")
    w = np.ones(len(order)) if weights is None else weights[order]
    last = np.append(np.diff(ranking[order]) != 0, True)
    is_own = positive[order]
    return np.cumsum(w * is_own)[last], np.cumsum(w * ~is_own)[last]


@dataclass(frozen=True)
class TopK:
    """Share of the rows whose class is among the k of the largest scores (else probabilities); later classes win ties.

    Of k classes or fewer every row's is, which says nothing: undefined.
    """

    k: int

    def __call__(
        self, predictions: Predictions, codes: Array, classes: Array, weights: Array | None
    ) -> float:
        F = predictions.probabilities() if predictions.scores is None else predictions.scores
        if F is None or self.k >= len(classes):
            return float("nan")
        own = F[np.arange(len(codes)), codes][:, None]
        ahead = (own < F) | ((own == F) & (np.arange(len(classes)) > codes[:, None]))
        return float(np.average(ahead.sum(axis=1) < self.k, weights=weights))
