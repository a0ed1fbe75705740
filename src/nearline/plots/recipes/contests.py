"""Folds, sweeps, contests, curves, and what models say of test rows."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from nearline._arrays.design import Array
from nearline.estimators import KNeighborsClassifier, LogisticRegression
from nearline.plots import models, results, selection
from nearline.plots.fitting import plot_capacity
from nearline.plots.folds import MOST_ROWS, plot_folds
from nearline.plots.recipes.models import model_of
from nearline.plots.samples import Sample
from nearline.selection.curves import capacity_curve, learning_curve
from nearline.selection.folds import LeakageWarning
from nearline.selection.path_scores import path_scores
from nearline.selection.reliability import reliability_curve
from nearline.selection.sweep import sweep
from nearline.selection.try_all import TryThemAll


def folds(sample: Sample) -> Any:
    rows = np.unique(np.linspace(0, len(sample.y) - 1, min(len(sample.y), MOST_ROWS)).astype(int))
    return plot_folds(sample.y[rows], 5)


def over_k(sample: Sample, *, metric: Any = None) -> Any:
    if len(np.unique(sample.y)) < 2:
        raise ValueError("All rows are of one class, which any k predicts: give rows of another class too.")
    most = min(100, int(0.75 * len(sample.y)))
    ks = [k for k in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100) if k <= most]
    measured = ("l2",) if metric is None else (metric,)
    weights = ["uniform", "distance"]
    result = sweep(sample.rows(), sample.y, ks, measured, weights, transformer=sample.representation)
    return selection.plot_sweep(result)


def over_alpha(sample: Sample) -> Any:
    model = LogisticRegression(tol=1e-6)  # a row near the boundary may fall on either side of a coarser one
    found = path_scores(model, sample.rows(), sample.y, _alphas(), transformer=sample.representation)
    ax = models.plot_path_scores(found.alphas, found.scores, label="logistic, L2", marks=found)
    ax.set_ylabel("accuracy")
    return ax


def _alphas() -> Array:
    return np.geomspace(1.0, 1e-5, 11)


def capacity(sample: Sample, *, model: Any = None) -> Any:
    made, _ = model_of(model, "knn", len(sample.y))
    if isinstance(made, KNeighborsClassifier):
        most = int(0.75 * len(sample.y))
        values: Any = [k for k in (1, 2, 3, 5, 10, 20, 40, 80, 160, 320) if k <= most]
    else:
        values = _alphas()
    return plot_capacity(capacity_curve(made, sample.X, sample.y, values))


def _contest(sample: Sample, *families: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakageWarning)
        include = list(families) or None
        return TryThemAll("quick", include=include, progress="silent").fit(sample.rows(), sample.y)


def leaderboard(sample: Sample) -> Any:
    return selection.plot_leaderboard(_contest(sample).leaderboard_)


def candidates(sample: Sample) -> Any:
    board = _contest(sample, "k-NN").leaderboard_
    return selection.plot_candidates(board, [e.family for e in board.best_of_families()])


def _tested(sample: Sample) -> Any:
    """What a model that gives probabilities says of locked rows."""
    return _contest(sample, "logistic, L2").open_test()


def confusion(sample: Sample) -> Any:
    result = _tested(sample)
    return results.plot_confusion(result.confusion, result.classes)


def curve_of_ranks(sample: Sample, plot: Callable[..., Any]) -> Any:
    result = _tested(sample)
    return plot(result.classes[result.codes], result.predictions.ranking(), result.classes)


def reliability(sample: Sample) -> Any:
    result = _tested(sample)
    truth = result.classes[result.codes]
    curve = reliability_curve(truth, result.predictions.probabilities(), result.classes)
    return results.plot_reliability(curve)


def learning(
    sample: Sample, *, model: Any = None, k: Any = None, metric: Any = None, alpha: Any = None
) -> Any:
    first = 1 if model in (None, "knn") and k is None and alpha is None else k
    made, _ = model_of(model, "knn", len(sample.y), k=first, metric=metric, alpha=alpha)
    made = made if sample.representation is None else make_pipeline(sample.representation, made)
    return selection.plot_curve(learning_curve(made, sample.rows(), sample.y))
