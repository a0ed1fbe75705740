"""Answers: what a fitted candidate says about rows it has not seen, for scorers of any kind."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from nearline.arrays import Array


@dataclass(frozen=True)
class Known:
    """Probabilities that need not be computed."""

    probabilities: Array

    def __call__(self) -> Array:
        return self.probabilities


@dataclass(frozen=True)
class Answers:
    """Labels as class numbers, and what stands behind them. Probabilities are made when first asked for."""

    labels: Array  # (m,) class numbers
    n_classes: int
    scores: Array | None = None  # (m,) for two classes, else (m, C)
    chances: Callable[[], Array] | None = field(default=None, repr=False)  # (m, C) probabilities

    def probabilities(self) -> Array | None:
        """(m, C), or None for a model that gives none."""
        return None if self.chances is None else self.chances()

    def settled(self) -> "Answers":
        """With probabilities as they are now, so that the model may go."""
        probabilities = self.probabilities()
        return self if probabilities is None else replace(self, chances=Known(probabilities))

    def some(self, numbers: Array) -> "Answers":
        """The answers about some of the rows."""
        probabilities = self.probabilities()
        return Answers(
            self.labels[numbers],
            self.n_classes,
            None if self.scores is None else self.scores[numbers],
            None if probabilities is None else Known(probabilities[numbers]),
        )

    def ranking(self) -> Array | None:
        """Scores or, without them, probabilities in scikit-learn's shape: (m,) for two classes, else (m, C)."""
        if self.scores is not None:
            return self.scores
        probabilities = self.probabilities()
        if probabilities is None:
            return None
        return probabilities[:, 1] if self.n_classes == 2 else probabilities


def answers_of(model: Any, X: Any, classes: Array) -> Answers:
    """What a fitted scikit-learn classifier says; it may have seen only some of the classes."""
    n_classes, known = len(classes), np.searchsorted(classes, model.classes_)
    scores = model.decision_function(X) if _can(model, "decision_function") else None
    if scores is not None and len(known) < n_classes:
        scores = None  # classes that were not there have no score

    def chances() -> Array:
        return spread(np.asarray(model.predict_proba(X)), known, n_classes)

    labels = np.searchsorted(classes, model.predict(X))
    return Answers(labels, n_classes, scores, chances if _can(model, "predict_proba") else None)


def spread(columns: Array, known: Array, n_classes: int) -> Array:
    """Columns of the known classes put in their places among all; probability 0 for the others."""
    if len(known) == n_classes:
        return columns
    whole = np.zeros((len(columns), n_classes), columns.dtype)
    whole[:, known] = columns
    return whole


def _can(model: Any, method: str) -> bool:
    return callable(getattr(model, method, None))


class Foretold(ClassifierMixin, BaseEstimator):
    """A classifier whose answers are known, so that any scorer of scikit-learn can judge them.

    Its rows are their own numbers, X[:, 0]: a scorer may ask for some of them, but finds no features there.
    """

    def __init__(self, answers: Answers, classes: Array) -> None:
        self.answers = answers
        self.classes = classes
        self.classes_ = classes

    def __getattribute__(self, name: str) -> Any:
        if name == "predict_proba" and self.answers.chances is None:
            raise AttributeError("These answers have no probabilities.")
        if name == "decision_function" and self.answers.scores is None:
            raise AttributeError("These answers have no scores.")
        return super().__getattribute__(name)

    def fit(self, X: Any, y: Any) -> Self:
        """There is nothing to learn."""
        return self

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.answers.labels[_numbers(X)]])

    def predict_proba(self, X: Any) -> Array:
        probabilities = self.answers.probabilities()
        assert probabilities is not None
        return np.asarray(probabilities[_numbers(X)])

    def decision_function(self, X: Any) -> Array:
        assert self.answers.scores is not None
        return np.asarray(self.answers.scores[_numbers(X)])


def _numbers(X: Any) -> Array:
    return np.asarray(X)[:, 0].astype(np.intp)


def judgement(judge: Any, answers: Answers, classes: Array, codes: Array, weights: Array | None) -> float:
    """What a scorer of scikit-learn, or a function (estimator, X, y), says of answers about rows of known classes."""
    weighted = weights is not None and "sample_weight" in inspect.signature(judge).parameters
    extra = {"sample_weight": weights} if weighted else {}
    numbers = np.arange(len(codes), dtype=np.float64)[:, None]
    return float(judge(Foretold(answers, classes), numbers, classes[codes], **extra))
