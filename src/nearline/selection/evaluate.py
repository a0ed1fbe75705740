"""Cross-validation and its repetition."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from nearline._arrays.design import Array
from nearline._arrays.doors import door_of
from nearline._arrays.validation import indexable
from nearline._records.habits import translates_habits
from nearline._records.refused import ParameterError
from nearline.estimators.base import encoded
from nearline.predictions import Predictions, predictions_of
from nearline.selection.blocked_folds import BlockedTask, hashed_parts
from nearline.selection.comparison import TTest, corrected_t_test
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
    door = door_of(X)
    if door is not None:
        return _over_blocks(
            model, BlockedTask.of(door, X, y, scoring, pos_label), repeats, folds, split, groups, random_state
        )
    task = Task.of(X, y, scoring, groups, pos_label)
    found: list[list[float]] = []
    shares = []
    drawn = hashlib.sha256(task.codes.tobytes())
    for train, test in task.pairs(folds, split, random_state, repeats):
        for part in (train, test):
            drawn.update(np.asarray([len(part), *part], dtype=np.int64).tobytes())
        predictions = fitted_predictions(model, task, train, test)
        found.append([scorer(predictions, task.codes[test], task.classes) for scorer in task.scorers])
        shares.append(len(test) / len(train))
    columns = np.array(found).T
    scores = {scorer.name: column for scorer, column in zip(task.scorers, columns, strict=True)}
    return FoldScores(scores, float(np.mean(shares)), task.positive, drawn.hexdigest())


def _over_blocks(
    model: Any, task: BlockedTask, repeats: int, folds: Any, split: str, groups: Any, random_state: int
) -> FoldScores:
    """The same of rows in blocks, left out by their hashed numbers."""
    drawn = [
        hashed_parts("Cross-validation", folds, split, groups, random_state + r)
        for r in range(_whole(repeats))
    ]
    columns = np.array([scores for parts in drawn for scores in task.scores(model, parts)]).T
    scores = {scorer.name: column for scorer, column in zip(task.scorers, columns, strict=True)}
    shares = [share for parts in drawn for share in task.shares(parts)]
    return FoldScores(scores, float(np.mean(shares)), task.positive, task.drawn(drawn))


def _whole(repeats: Any) -> int:
    if not (isinstance(repeats, (int, np.integer)) and repeats >= 1):
        raise ParameterError("repeats", repeats, "a whole number >= 1")
    return int(repeats)


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


@dataclass(frozen=True)
class Task:
    """Rows, labels and what is asked of them."""

    X: Any
    codes: Array
    classes: Array
    scorers: list[Scorer]
    groups: Any
    positive: Any

    @classmethod
    def of(cls, X: Any, y: Any, scoring: Any, groups: Any, pos_label: Any) -> "Task":
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
        drawn: list[Folds] = []
        for r in range(_whole(repeats)):
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


def fitted_predictions(model: Any, task: Task, train: Array, test: Array) -> Predictions:
    X_train, codes = _safe_split(model, task.X, task.codes, train)  # of a Gram matrix rows and columns
    X_test, _ = _safe_split(model, task.X, task.codes, test, train)
    return predictions_of(clone(model).fit(X_train, task.classes[codes]), X_test, task.classes)
