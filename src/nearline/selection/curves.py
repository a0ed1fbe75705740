"""Curves: scores over the number of training rows, and over what makes a model simpler."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.validation import check_array
from nearline._records.habits import translates_habits
from nearline._records.refused import ParameterError
from nearline.estimators import KNeighborsClassifier, LinearClassifier
from nearline.estimators.neighbors_base import check_whole
from nearline.predictions import Predictions
from nearline.selection.evaluate import Task, fitted_predictions
from nearline.selection.families import Family, Fold
from nearline.selection.families.alone import Own
from nearline.selection.families.neighbors import NearestNeighbors
from nearline.selection.families.paths import Path


@dataclass(frozen=True)
class Curve:
    """Scores over the number of rows, or over a parameter; one row a value, one column a fold."""

    name: str  # what changes
    values: Array
    test: Array  # (values, folds): on rows left out
    train: Array  # (values, folds): on the rows learned from
    scoring: str


@translates_habits
def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0),
    scoring: Any = "accuracy",
    pos_label: Any = None,
    folds: Any = 5,
    groups: Any = None,
    split: str = "auto",
    random_state: int = 0,
) -> Curve:
    """Scores as the training rows grow: shares of them, or numbers; each part contains the smaller ones.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from nearline import KNeighborsClassifier, learning_curve
    >>> curve = learning_curve(KNeighborsClassifier(1), *load_digits(return_X_y=True), sizes=[0.05, 1.0])
    >>> bool(curve.test[0].mean() < curve.test[1].mean())
    True
    """
    task = Task.of(X, y, scoring, groups, pos_label)
    pairs = list(task.pairs(folds, split, random_state, 1))
    numbers = _sizes(sizes, min(len(train) for train, _ in pairs))
    test_scores, train_scores = np.full((2, len(numbers), len(pairs)), np.nan)
    for f, (train, test) in enumerate(pairs):
        order = _class_by_class(train, task.codes, random_state)
        for i, size in enumerate(numbers):
            rows = order[:size]
            parts: list[tuple[Array, Predictions]] = []
            with suppress(ValueError):  # too few rows for this model: the score is undefined
                parts = [(part, fitted_predictions(model, task, rows, part)) for part in (test, rows)]
            for scores, (part, predictions) in zip((test_scores, train_scores), parts):
                scores[i, f] = task.score(predictions, part)
    if np.isnan(test_scores).all():
        fitted_predictions(model, task, pairs[0][0], pairs[0][1])  # says what is wrong
    return Curve("training rows", numbers, test_scores, train_scores, task.scorers[0].title)


@translates_habits
def capacity_curve(
    model: Any,
    X: Any,
    y: Any,
    values: Any,
    *,
    parameter: str | None = None,
    scoring: Any = "accuracy",
    pos_label: Any = None,
    folds: Any = 5,
    groups: Any = None,
    split: str = "auto",
    random_state: int = 0,
) -> Curve:
    """Scores over what makes a model simpler: k of nearest neighbors (one search a fold), alpha (one warm path a fold).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier, capacity_curve
    >>> curve = capacity_curve(KNeighborsClassifier(), *load_iris(return_X_y=True), [1, 5, 50])
    >>> curve.name, float(curve.train[0].mean())  # each row is its own nearest neighbor
    ('n_neighbors', 1.0)
    """
    task = Task.of(X, y, scoring, groups, pos_label)
    if not isinstance(task.X, np.ndarray) and not is_sparse(task.X):
        task = replace(task, X=check_array(task.X, dtype="numeric"))
    parameter = parameter or _capacity(model)
    values = list(values)
    family, grid = _family(model, parameter, values)
    pairs = list(task.pairs(folds, split, random_state, 1))
    scores = np.empty((2, len(grid), len(pairs)))
    for f, (train, test) in enumerate(pairs):
        (rows, _), (left, _) = (_safe_split(model, task.X, task.codes, part, train) for part in (train, test))
        for part, (Q, numbers) in enumerate(((left, test), (rows, train))):
            fold = Fold(rows, task.codes[train], None, Q, task.classes)
            for outcome in family.outcomes(fold, grid):
                scores[part, outcome.number, f] = task.score(outcome.predictions, numbers)
    return Curve(parameter, np.asarray(values), scores[0], scores[1], task.scorers[0].title)


def _sizes(sizes: Any, most: int) -> Array:
    """Numbers of rows, from shares or numbers."""
    given = np.atleast_1d(np.asarray(sizes))
    whole = np.issubdtype(given.dtype, np.integer)
    counts = given if whole else np.where(given > 0, np.maximum(np.rint(given * most), 2), 0).astype(int)
    if not len(counts) or counts.min() < 1 or counts.max() > most:
        raise ParameterError("sizes", sizes, f"shares in (0, 1] or numbers of rows up to {most}")
    return np.unique(counts)


def _class_by_class(rows: Array, codes: Array, random_state: int) -> Array:
    """The rows in an order in which every beginning has the classes in about their shares."""
    rng = np.random.default_rng(random_state)
    rows = rng.permutation(rows)
    place = np.empty(len(rows))
    for c in np.unique(codes[rows]):
        own = np.flatnonzero(codes[rows] == c)
        place[own] = (np.arange(len(own)) + rng.random()) / len(own)
    return np.asarray(rows[np.argsort(place, kind="stable")])


def _capacity(model: Any) -> str:
    for name in ("n_neighbors", "alpha"):
        if name in model.get_params():
            return name
    raise ValueError(f"{model!r} has no n_neighbors and no alpha: say which parameter= is to change.")


def _family(model: Any, parameter: str, values: list[Any]) -> tuple[Family, list[dict[str, Any]]]:
    """The family that shares most between the values."""
    if not values:
        raise ValueError("values is empty: give at least one.")
    if type(model) is KNeighborsClassifier and parameter == "n_neighbors":
        return NearestNeighbors("k-NN", model.metric), [
            model.get_params(deep=False) | {parameter: check_whole(k)} for k in values
        ]
    if (
        isinstance(model, LinearClassifier)
        and parameter == "alpha"
        and not model.get_params().get("hard_margin")
    ):
        return Path("path", model, tol=model.tol), [{parameter: float(alpha)} for alpha in values]
    return _Settings("own", model), [{parameter: value} for value in values]


@dataclass(frozen=True)
class _Settings(Own):
    """Any model over the values of any parameter."""

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return clone(self.model).set_params(**parameters)
