"""Cross-validation, its repetition, and curves over rows and over capacity."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.validation import check_array, indexable
from nearline._records.habits import translates_habits
from nearline.estimators import KNeighborsClassifier, LinearClassifier
from nearline.estimators.base import encoded
from nearline.estimators.neighbors_base import check_whole
from nearline.predictions import Predictions, predictions_of
from nearline.selection.comparison import TTest, corrected_t_test
from nearline.selection.families import Family, Fold
from nearline.selection.families.alone import Own
from nearline.selection.families.neighbors import NearestNeighbors
from nearline.selection.families.paths import Path
from nearline.selection.folds import Folds
from nearline.selection.input import checked_labels
from nearline.selection.scoring import Scorer, scorers_for
from nearline.selection.splits import folds_by


@dataclass(frozen=True)
class FoldScores:
    """Scores of a model on the rows left out, fold by fold (repetitions one after the other)."""

    scores: dict[str, Array]  # name -> (folds,)
    test_to_train: float  # rows left out for each row learned from
    positive: Any = None  # the positive one of two classes, for scores that are about it
    folds: str = ""  # fingerprint of which rows, with which labels, each fold learned from and left out

    @property
    def mean(self) -> dict[str, float]:
        """Over folds."""
        return {name: float(values.mean()) for name, values in self.scores.items()}

    @property
    def deviation(self) -> dict[str, float]:
        """Standard deviation over folds."""
        return {name: float(values.std(ddof=1)) for name, values in self.scores.items()}


@dataclass(frozen=True)
class Curve:
    """Scores over the number of rows, or over a parameter; one row a value, one column a fold."""

    name: str  # what changes
    values: Array
    test: Array  # (values, folds): on rows left out
    train: Array  # (values, folds): on the rows learned from
    scoring: str


@translates_habits
def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = "accuracy",
    pos_label: Any = None,
    folds: Any = 5,
    groups: Any = None,
    split: str = "auto",
    random_state: int = 0,
) -> FoldScores:
    """Fit a model on the training rows of each fold and score it on the rows left out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier, cross_validate
    >>> result = cross_validate(KNeighborsClassifier(), *load_iris(return_X_y=True), scoring=["accuracy", "log-loss"])
    >>> sorted(result.scores), result.scores["accuracy"].shape, bool(result.mean["accuracy"] > 0.9)
    (['accuracy', 'log-loss'], (5,), True)
    """
    return repeated(
        model,
        X,
        y,
        repeats=1,
        scoring=scoring,
        pos_label=pos_label,
        folds=folds,
        groups=groups,
        split=split,
        random_state=random_state,
    )


@translates_habits
def repeated(
    model: Any,
    X: Any,
    y: Any,
    *,
    repeats: int = 10,
    scoring: Any = "accuracy",
    pos_label: Any = None,
    folds: Any = 5,
    groups: Any = None,
    split: str = "auto",
    random_state: int = 0,
) -> FoldScores:
    """Cross-validation over several draws of the folds. The draws share their rows: more of them do not add data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LogisticRegression, repeated
    >>> repeated(LogisticRegression(), *load_iris(return_X_y=True), repeats=2).scores["accuracy"].shape
    (10,)
    """
    task = _Task.of(X, y, scoring, groups, pos_label)
    found: list[list[float]] = []
    shares = []
    drawn = hashlib.sha256(task.codes.tobytes())
    for train, test in task.pairs(folds, split, random_state, repeats):
        for part in (train, test):
            drawn.update(np.asarray([len(part), *part], dtype=np.int64).tobytes())
        predictions = _fitted_predictions(model, task, train, test)
        found.append([scorer(predictions, task.codes[test], task.classes) for scorer in task.scorers])
        shares.append(len(test) / len(train))
    columns = np.array(found).T
    scores = {scorer.name: column for scorer, column in zip(task.scorers, columns, strict=True)}
    return FoldScores(scores, float(np.mean(shares)), task.positive, drawn.hexdigest())


def compare(a: FoldScores, b: FoldScores, scoring: str | None = None) -> TTest:
    """Whether model a differs from b on the same folds: the corrected resampled t-test, which is approximate.

    Runs on other folds or rows are refused: differences between folds would pass for differences between models.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import NearestCentroid, LinearDiscriminantAnalysis, compare, repeated
    >>> X, y = load_iris(return_X_y=True)
    >>> a, b = (repeated(model, X, y) for model in (LinearDiscriminantAnalysis(), NearestCentroid()))
    >>> bool(compare(a, b).p_value < 0.05)
    True
    """
    name = next(iter(a.scores)) if scoring is None else scoring
    if name not in a.scores or name not in b.scores:
        raise ValueError(
            f"Both must have the score {name!r}, they have {list(a.scores)} and {list(b.scores)}."
        )
    if a.folds != b.folds or len(a.scores[name]) != len(b.scores[name]):
        raise ValueError(
            "The two runs are on different folds, so that their scores are no pairs: cross-validate both models on the same "
            "rows, with the same folds, split, repeats and random_state."
        )
    if a.positive != b.positive:
        raise ValueError(
            f"The positive class of the two runs is {a.positive!r} and {b.positive!r}: give both the same pos_label."
        )
    return corrected_t_test(a.scores[name] - b.scores[name], a.test_to_train)


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
    task = _Task.of(X, y, scoring, groups, pos_label)
    pairs = list(task.pairs(folds, split, random_state, 1))
    numbers = _sizes(sizes, min(len(train) for train, _ in pairs))
    test_scores, train_scores = np.full((2, len(numbers), len(pairs)), np.nan)
    for f, (train, test) in enumerate(pairs):
        order = _class_by_class(train, task.codes, random_state)
        for i, size in enumerate(numbers):
            rows = order[:size]
            parts: list[tuple[Array, Predictions]] = []
            with suppress(ValueError):  # too few rows for this model: the score is undefined
                parts = [(part, _fitted_predictions(model, task, rows, part)) for part in (test, rows)]
            for scores, (part, predictions) in zip((test_scores, train_scores), parts):
                scores[i, f] = task.score(predictions, part)
    if np.isnan(test_scores).all():
        _fitted_predictions(model, task, pairs[0][0], pairs[0][1])  # says what is wrong
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
    task = _Task.of(X, y, scoring, groups, pos_label)
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


@dataclass(frozen=True)
class _Task:
    """Rows, labels and what is asked of them."""

    X: Any
    codes: Array
    classes: Array
    scorers: list[Scorer]
    groups: Any
    positive: Any

    @classmethod
    def of(cls, X: Any, y: Any, scoring: Any, groups: Any, pos_label: Any) -> "_Task":
        X, labels = indexable(X, checked_labels(y))
        classes, codes = encoded(labels)
        if len(classes) < 2:
            raise ValueError(f"There must be at least 2 classes, y has 1: {classes.tolist()[0]!r}.")
        scorers, positive = scorers_for(scoring, classes, codes, pos_label)
        return cls(
            X,
            codes,
            classes,
            scorers,
            groups,
            positive,
        )

    def pairs(self, folds: Any, split: str, random_state: int, repeats: int) -> Iterator[tuple[Array, Array]]:
        if not (isinstance(repeats, (int, np.integer)) and repeats >= 1):
            raise ValueError(f"repeats must be a whole number >= 1, got {repeats!r}.")
        drawn: list[Folds] = []
        for r in range(repeats):
            found = folds_by(split, folds, self.codes, self.groups, random_state + r)
            drawn.append(found.learnable(self.codes))
            if r == 1 and all(np.array_equal(a[1], b[1]) for a, b in zip(drawn[0], drawn[1])):
                raise ValueError(
                    "These folds are the same in every draw, so repeating them adds nothing: take repeats=1, or folds that "
                    "are drawn anew (a number, not split='time')."
                )
        for pairs in drawn:
            yield from pairs

    def score(self, predictions: Predictions, rows: Array) -> float:
        return self.scorers[0](predictions, self.codes[rows], self.classes)


def _fitted_predictions(model: Any, task: _Task, train: Array, test: Array) -> Predictions:
    X_train, codes = _safe_split(model, task.X, task.codes, train)  # of a Gram matrix rows and columns
    X_test, _ = _safe_split(model, task.X, task.codes, test, train)
    return predictions_of(clone(model).fit(X_train, task.classes[codes]), X_test, task.classes)


def _sizes(sizes: Any, most: int) -> Array:
    """Numbers of rows, from shares or numbers."""
    given = np.atleast_1d(np.asarray(sizes))
    whole = np.issubdtype(given.dtype, np.integer)
    counts = given if whole else np.where(given > 0, np.maximum(np.rint(given * most), 2), 0).astype(int)
    if not len(counts) or counts.min() < 1 or counts.max() > most:
        raise ValueError(f"sizes must be shares in (0, 1] or numbers of rows up to {most}, got {sizes!r}.")
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
