"""Answers: what a fitted candidate says about rows it has not seen, for scorers of any kind."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from nearline._arrays.design import Array
from nearline._arrays.once import once

LARGEST = 1e300  # in place of infinity, which has no differences


@dataclass(frozen=True)
class Known:
    """Probabilities, or their logarithms, that need not be computed."""

    values: Array

    def __call__(self) -> Array:
        return self.values


@dataclass(frozen=True)
class Predictions:
    """Labels as class numbers, and what stands behind them. Probabilities are made when first asked for."""

    labels: Array  # (m,) class numbers
    n_classes: int
    scores: Array | None = None  # (m,) for two classes, else (m, C)
    make_probabilities: Callable[[], Array] | None = field(default=None, repr=False)  # (m, C) probabilities
    # (m, C) their logarithms, where these tell more: a probability of 1e-400 is rounded to 0, 1 - 1e-20 to 1
    make_log_probabilities: Callable[[], Array] | None = field(default=None, repr=False)

    def probabilities(self) -> Array | None:
        """(m, C), or None for a model that gives none."""
        return None if self.make_probabilities is None else self._probabilities

    @once
    def _probabilities(self) -> Array:
        assert self.make_probabilities is not None
        return self.make_probabilities()

    @once
    def _log_probabilities(self) -> Array:
        return (
            log_of(self._probabilities)
            if self.make_log_probabilities is None
            else self.make_log_probabilities()
        )

    def settled(self) -> "Predictions":
        """With probabilities as they are now, so that the model may go."""
        if self.make_probabilities is None:
            return self
        logs = None if self.make_log_probabilities is None else Known(self._log_probabilities)
        return replace(self, make_probabilities=Known(self._probabilities), make_log_probabilities=logs)

    def some(self, numbers: Array) -> "Predictions":
        """The answers about some of the rows."""
        probabilities, logs = None, None
        if self.make_probabilities is not None:
            probabilities = Known(self._probabilities[numbers])
            logs = None if self.make_log_probabilities is None else Known(self._log_probabilities[numbers])
        scores = None if self.scores is None else self.scores[numbers]
        return Predictions(self.labels[numbers], self.n_classes, scores, probabilities, logs)

    def turned(self) -> "Predictions":
        """Of two classes the first in the place of the second."""

        def reversed_columns(made: Callable[[], Array] | None) -> Callable[[], Array] | None:
            return None if made is None else lambda: made()[:, ::-1]

        return Predictions(
            1 - self.labels,
            2,
            None if self.scores is None else -self.scores,
            reversed_columns(None if self.make_probabilities is None else lambda: self._probabilities),
            reversed_columns(
                None if self.make_log_probabilities is None else lambda: self._log_probabilities
            ),
        )

    def ranking(self) -> Array | None:
        """Numbers that put rows in order for each class, (m,) for the second of two classes, else (m, C).

        Two classes: the scores f where there are some. Else the order of the log-odds of a class against the rest,
        log p_c - log sum of the other p (:func:`by_log_odds`). More than two classes without probabilities: the margin
        f_c - max of the other f, which is what log-odds are when the f are large. The scores of several classes may
        carry a term that a row's classes share (a log-likelihood does), so that a column of them is no order of the rows.
        """
        if self.scores is not None and self.scores.ndim == 1:
            return self.scores
        if self.make_probabilities is None:
            return None if self.scores is None else margins(self.scores)
        order = by_log_odds(self._probabilities, lambda: self._log_probabilities)
        return order[:, 1] if self.n_classes == 2 else order

    @property
    def ranked_by(self) -> str | None:
        """What :meth:`ranking` orders rows by, in words; None where there is nothing."""
        if self.scores is not None and self.scores.ndim == 1:
            return "the score"
        if self.make_probabilities is None:
            return None if self.scores is None else "the score of a class less the largest other"
        return "the probability" if self.n_classes == 2 else "the log-odds of a class against the rest"


def margins(F: Array) -> Array:
    """f_c less the largest other score, (m, C): positive for the class that wins."""
    second, first = (column[:, None] for column in np.partition(F, -2, axis=1)[:, -2:].T)
    rival = np.where(first > F, first, second)
    return np.asarray(F - rival, dtype=np.float64)


def by_log_odds(P: Array, logs: Callable[[], Array]) -> Array:
    """(m, C) numbers in the order of log p_c - log sum of the other p, rows of equal p_c sharing theirs.

    p_c itself, which has that order, wherever its floating-point numbers can tell probabilities apart; log p_c where p_c
    is next to 0, and -log sum of the others where p_c is next to 1, from logarithms that are asked for only then.
    """
    kind = np.finfo(P.dtype)
    smallest, nearest = 1e8 * float(kind.tiny), float(np.sqrt(kind.eps))
    order = P.astype(np.float64)
    low, high = order < smallest, order > 1.0 - nearest
    if low.any() or high.any():
        L = logs().astype(np.float64)
        order[low] = L[low]
        rows, top = np.nonzero(high)
        others = L[rows]
        others[np.arange(len(rows)), top] = -np.inf
        order[rows, top] = -np.logaddexp.reduce(others, axis=1)
    return np.clip(order, -LARGEST, LARGEST)


def log_odds(L: Array) -> Array:
    """log p_c - log sum of the other p, (m, C), from the logarithms L of probabilities."""
    columns = [L[:, c] - np.logaddexp.reduce(np.delete(L, c, axis=1), axis=1) for c in range(L.shape[1])]
    return np.stack(columns, axis=1)


def log_of(P: Array) -> Array:
    """log P in float64, -inf for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(P.astype(np.float64)))


def predictions_of(model: Any, X: Any, classes: Array) -> Predictions:
    """What a fitted scikit-learn classifier says; it may have seen only some of the classes."""
    n_classes, known = len(classes), np.searchsorted(classes, model.classes_)
    scores = model.decision_function(X) if _can(model, "decision_function") else None
    if scores is not None and len(known) < n_classes:
        scores = None  # classes that were not there have no score

    def probabilities() -> Array:
        return spread(np.asarray(model.predict_proba(X)), known, n_classes)

    def log_probabilities() -> Array:
        return spread(log_probabilities_of(model, X), known, n_classes, -np.inf)

    labels = np.searchsorted(classes, model.predict(X))
    with_probabilities = _can(model, "predict_proba")
    return Predictions(
        labels,
        n_classes,
        scores,
        probabilities if with_probabilities else None,
        log_probabilities if with_probabilities and _can(model, "predict_log_proba") else None,
    )


def log_probabilities_of(model: Any, X: Any) -> Array:
    """(n, C) in float64: the model's own ``predict_log_proba``, which may tell more, or log of its probabilities."""
    if not _can(model, "predict_log_proba"):
        return log_of(np.asarray(model.predict_proba(X)))
    with np.errstate(divide="ignore"):
        return np.asarray(model.predict_log_proba(X), dtype=np.float64)


def spread(columns: Array, known: Array, n_classes: int, missing: float = 0.0) -> Array:
    """Columns of the known classes put in their places among all; probability 0 for the others."""
    if len(known) == n_classes:
        return columns
    whole = np.full((len(columns), n_classes), missing, columns.dtype)
    whole[:, known] = columns
    return whole


def _can(model: Any, method: str) -> bool:
    return callable(getattr(model, method, None))


class Foretold(ClassifierMixin, BaseEstimator):
    """A classifier whose answers are known, so that any scorer of scikit-learn can judge them.

    Its rows are their own numbers, X[:, 0]: a scorer may ask for some of them, but finds no features there.
    """

    def __init__(self, predictions: Predictions, classes: Array) -> None:
        self.predictions = predictions
        self.classes = classes
        self.classes_ = classes
        self.refused = False  # whether what it was last asked for is not there

    def __getattribute__(self, name: str) -> Any:
        if name in ("predict_proba", "decision_function"):
            proba = name == "predict_proba"
            self.refused = (self.predictions.make_probabilities if proba else self.predictions.scores) is None
            if self.refused:
                raise AttributeError(f"These answers have no {'probabilities' if proba else 'scores'}.")
        return super().__getattribute__(name)

    def fit(self, X: Any, y: Any) -> Self:
        """There is nothing to learn."""
        return self

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.predictions.labels[_numbers(X)]])

    def predict_proba(self, X: Any) -> Array:
        probabilities = self.predictions.probabilities()
        assert probabilities is not None
        return np.asarray(probabilities[_numbers(X)])

    def decision_function(self, X: Any) -> Array:
        assert self.predictions.scores is not None
        return np.asarray(self.predictions.scores[_numbers(X)])


def _numbers(X: Any) -> Array:
    return np.asarray(X)[:, 0].astype(np.intp)


def judgement(judge: Any, foretold: Foretold, codes: Array, weights: Array | None) -> float:
    """What a scorer of scikit-learn, or a function (estimator, X, y), says of answers about rows of known classes."""
    weighted = weights is not None and "sample_weight" in inspect.signature(judge).parameters
    extra = {"sample_weight": weights} if weighted else {}
    numbers = np.arange(len(codes), dtype=np.float64)[:, None]
    return float(judge(foretold, numbers, foretold.classes_[codes], **extra))
