"""Contributions: what each row adds to a score, so that the score is their mean and its variance that of rows.

A mean of rows is their mean. A score that is no mean moves with a row as a mean does, to first order: its contributions are
the score plus n times what the row adds to it. Intervals by groups and in time, and paired comparisons, need no more.
"""

from collections.abc import Callable

import numpy as np

from nearline._arrays.design import Array
from nearline.predictions import Predictions
from nearline.selection.costs import MeanCost
from nearline.selection.intervals.area import areas
from nearline.selection.intervals.balanced import balanced_deviations
from nearline.selection.measures import squared_distances, surprises
from nearline.selection.scoring import SCORERS, Scorer

Contributions = Callable[[Predictions, Array, int], Array | None]  # (answers, codes, n_classes) -> (n,)


def contributions_of(scorer: Scorer) -> Contributions | None:
    """What rows add to that score; None where it is not known how."""
    if isinstance(scorer.score, MeanCost):
        return scorer.score.of_rows
    return CONTRIBUTIONS.get(scorer.score)


def correct(predictions: Predictions, codes: Array, n_classes: int) -> Array:
    """1 where the label is right."""
    return (predictions.labels == codes).astype(np.float64)


def balanced_correct(predictions: Predictions, codes: Array, n_classes: int) -> Array | None:
    """Balanced accuracy: p + n (hit - p_c) / (C n_c) for a row of class c; C classes are there."""
    there, codes = np.unique(codes, return_inverse=True)
    right = (predictions.labels == there[codes]).astype(np.float64)
    sizes = np.bincount(codes)
    mean = float(np.mean(np.bincount(codes, weights=right) / sizes))
    return mean + balanced_deviations(right, codes, len(there))


def ranked(predictions: Predictions, codes: Array, n_classes: int) -> Array | None:
    """Area under the ROC curve: A + n times what the placement of a row adds to it."""
    ranking = predictions.ranking()
    if ranking is None or len(np.unique(codes)) < n_classes:
        return None
    found = areas(np.asarray(ranking), codes, n_classes)
    return found.mean + found.deviations


def log_losses(predictions: Predictions, codes: Array, n_classes: int) -> Array | None:
    """-log of the probability of the own class."""
    probabilities = predictions.probabilities()
    return None if probabilities is None else surprises(probabilities, codes)


def brier_losses(predictions: Predictions, codes: Array, n_classes: int) -> Array | None:
    """Squared distance between the probabilities and the class."""
    probabilities = predictions.probabilities()
    return None if probabilities is None else squared_distances(probabilities, codes)


CONTRIBUTIONS: dict[object, Contributions] = {
    SCORERS["accuracy"].score: correct,
    SCORERS["balanced-accuracy"].score: balanced_correct,
    SCORERS["auc"].score: ranked,
    SCORERS["log-loss"].score: log_losses,
    SCORERS["brier"].score: brier_losses,
}
