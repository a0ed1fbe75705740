"""Folds, sweeps, contests, curves, and what models say of test rows."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from nearline._arrays.design import Array
from nearline.estimators import KNeighborsClassifier
from nearline.plots import models, results, selection
from nearline.plots.fitting import plot_capacity
from nearline.plots.folds import MOST_ROWS, plot_folds
from nearline.plots.recipes.models import margin_model, model_of
from nearline.plots.samples import Sample
from nearline.selection.curves import capacity_curve, learning_curve
from nearline.selection.folds import LeakageWarning
from nearline.selection.path_scores import path_scores
from nearline.selection.reliability import reliability_curve
from nearline.selection.sweep import sweep
from nearline.selection.try_all import TryThemAll


def folds(sample: Sample, *, folds: Any = 5, random_state: int = 0) -> Any:
    rows = np.unique(np.linspace(0, len(sample.y) - 1, min(len(sample.y), MOST_ROWS)).astype(int))
    return plot_folds(sample.y[rows], folds, random_state=random_state)


def over_k(
    sample: Sample,
    *,
    ks: Any = None,
    metrics: Any = ("l2",),
    weights: Any = ("uniform", "distance"),
    folds: Any = 5,
    random_state: int = 0,
) -> Any:
    if len(np.unique(sample.y)) < 2:
        raise ValueError("All rows are of one class, which any k predicts: give rows of another class too.")
    usual = _up_to(0.75 * len(sample.y), (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100))
    how = {"folds": folds, "random_state": random_state, "transformer": sample.representation}
    result = sweep(sample.rows(), sample.y, usual if ks is None else ks, metrics, weights, **how)
    return selection.plot_sweep(result)


def over_alpha(
    sample: Sample,
    *,
    loss: str = "logistic",
    regularizer: str = "l2",
    alphas: Any = None,
    folds: Any = 5,
    random_state: int = 0,
) -> Any:
    grid = _alphas() if alphas is None else alphas
    how = {"folds": folds, "random_state": random_state, "transformer": sample.representation}
    found = path_scores(margin_model(loss, regularizer), sample.rows(), sample.y, grid, **how)
    ax = models.plot_path_scores(found.alphas, found.scores, label=f"{loss}, {regularizer}", marks=found)
    ax.set_ylabel("accuracy")
    return ax


def _alphas() -> Array:
    return np.geomspace(1.0, 1e-5, 11)


def _up_to(most: float, ks: tuple[int, ...]) -> list[int]:
    return [k for k in ks if k <= most]


def capacity(
    sample: Sample,
    *,
    model: Any = None,
    metric: Any = None,
    ks: Any = None,
    alphas: Any = None,
    folds: Any = 5,
    random_state: int = 0,
) -> Any:
    usual = "knn" if alphas is None else "logistic"
    made, title = model_of(model, usual, len(sample.y), metric=metric)
    by_neighbors = isinstance(made, KNeighborsClassifier)
    given, other, name = (ks, alphas, "alphas") if by_neighbors else (alphas, ks, "ks")
    if other is not None:
        raise ValueError(
            f"The capacity of {title.split(',')[0]!r} is not a matter of {name}: leave them out."
        )
    if given is None:
        given = _alphas()
        if by_neighbors:
            given = _up_to(0.75 * len(sample.y), (1, 2, 3, 5, 10, 20, 40, 80, 160, 320))
    curve = capacity_curve(made, sample.X, sample.y, given, folds=folds, random_state=random_state)
    return plot_capacity(curve)


def _contest(sample: Sample, **asked: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakageWarning)
        said = {name: value for name, value in asked.items() if value is not None}
        return TryThemAll(progress="silent", **said).fit(sample.rows(), sample.y)


def leaderboard(
    sample: Sample,
    *,
    include: Any = None,
    preset: str = "quick",
    scoring: Any = None,
    folds: Any = None,
    random_state: int = 0,
) -> Any:
    asked = {"include": include, "preset": preset, "scoring": scoring, "folds": folds}
    return selection.plot_leaderboard(_contest(sample, **asked, random_state=random_state).leaderboard_)


def candidates(
    sample: Sample,
    *,
    include: Any = ("k-NN",),
    preset: str = "quick",
    scoring: Any = None,
    folds: Any = None,
    random_state: int = 0,
) -> Any:
    asked = {"include": list(include), "preset": preset, "scoring": scoring, "folds": folds}
    board = _contest(sample, **asked, random_state=random_state).leaderboard_
    return selection.plot_candidates(board, [e.family for e in board.best_of_families()])


# What the best of a contest says of locked rows: without families, that of a model that gives probabilities.


def confusion(
    sample: Sample, *, include: Any = ("logistic, L2",), preset: str = "quick", random_state: int = 0
) -> Any:
    result = _tested(sample, include, preset, random_state)
    return results.plot_confusion(result.confusion, result.classes)


def curve_of_ranks(
    sample: Sample,
    plot: Callable[..., Any],
    *,
    include: Any = ("logistic, L2",),
    preset: str = "quick",
    random_state: int = 0,
) -> Any:
    result = _tested(sample, include, preset, random_state)
    return plot(result.classes[result.codes], result.predictions.ranking(), result.classes)


def reliability(
    sample: Sample, *, include: Any = ("logistic, L2",), preset: str = "quick", random_state: int = 0
) -> Any:
    result = _tested(sample, include, preset, random_state, calibrate="needed")
    truth = result.classes[result.codes]
    curve = reliability_curve(truth, result.predictions.probabilities(), result.classes)
    return results.plot_reliability(curve)


def _tested(sample: Sample, include: Any, preset: str, random_state: int, **more: Any) -> Any:
    asked = {"include": list(include), "preset": preset, "random_state": random_state}
    return _contest(sample, **asked, **more).open_test()


def learning(
    sample: Sample,
    *,
    model: Any = None,
    k: Any = None,
    metric: Any = None,
    alpha: Any = None,
    kernel: Any = None,
    folds: Any = 5,
    random_state: int = 0,
) -> Any:
    plain = model in (None, "knn") and k is None and alpha is None and kernel is None
    said = {"k": 1 if plain else k, "metric": metric, "alpha": alpha, "kernel": kernel}
    made, _ = model_of(model, "knn", len(sample.y), **said)
    made = made if sample.representation is None else make_pipeline(sample.representation, made)
    curve = learning_curve(made, sample.rows(), sample.y, folds=folds, random_state=random_state)
    return selection.plot_curve(curve)
