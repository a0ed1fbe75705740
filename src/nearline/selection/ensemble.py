"""Ensemble: several fitted candidates whose probabilities are averaged with weights."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._arrays.validation import check_weights
from nearline._parallel.stopping import checkpoint
from nearline._records.explanation import Explanation
from nearline._records.kept import Instance, ListOf, OrNone, Real, Word, is_complete, kept, require
from nearline._records.visible import visible
from nearline.estimators.base import Classifier, encoded
from nearline.predictions import log_of, spread
from nearline.selection.calibrators import TemperatureScaling


@dataclass(frozen=True)
class Opinions(Explanation):
    """What each of several models says of a row: the weighted mean of their probabilities decides."""

    names: list[str]  # of the models
    weights: Array  # (M,), they sum to 1
    probabilities: Array  # (M, m, C)
    classes: Array  # (C,)

    def rows(self, i: int) -> list[dict[str, Any]]:
        """Of each model its weight, its own label, and its probability of the label that row i got."""
        place = int(np.searchsorted(self.classes, self.predictions[i]))
        return [
            {
                "model": name,
                "weight": float(weight),
                "label": self.classes[P[i].argmax()],
                "probability": float(P[i, place]),
            }
            for name, weight, P in zip(self.names, self.weights, self.probabilities, strict=True)
        ]

    def said(self, i: int) -> str:
        """In words, the weightiest model first."""
        lines = sorted(self.rows(i), key=lambda line: -line["weight"])
        parts = [
            f"{line['weight']:.2f} {line['model']} says {visible(line['label'])} (probability of "
            f"{visible(self.predictions[i])} {line['probability']:.3f})"
            for line in lines
        ]
        return f"the weighted mean probability of {len(parts)} models decides: {'; '.join(parts)}"


def _fits_together(model: "Ensemble") -> None:
    sizes = {len(model.estimators), len(model.weights), len(model.names), len(model.models_)}
    require(len(sizes) == 1 and len(model.models_) > 0, "An ensemble has other weights than models")
    require(sum(model.weights) > 0, "The weights of an ensemble are all zero")
    require(len(model.scaled) == len(model.models_), "An ensemble has other temperatures than models")
    for one, temperature in zip(model.models_, model.scaled, strict=True):
        require(is_complete(one), "A model of an ensemble is not fitted")
        known = getattr(one, "classes_", np.empty(0))
        require(len(known) > 0 and np.isin(known, model.classes_).all(),
                "A model of an ensemble has other classes")  # fmt: skip
        method = "predict_proba" if temperature is None else "decision_function"
        require(callable(getattr(one, method, None)), "A model of an ensemble has no probabilities")


@kept(
    estimators=ListOf(Instance(BaseEstimator)),
    weights=ListOf(Real(0.0)),
    names=ListOf(Word()),
    temperatures=OrNone(ListOf(OrNone(Real(above=0.0)))),
    models_=ListOf(Instance(BaseEstimator)),
    links=_fits_together,
)
class Ensemble(Classifier):
    """p(c | x) = sum_m weight_m p_m(c | x) / sum_m weight_m; the label is the most probable class.

    Parameters
    ----------
    estimators : classifiers with probabilities, or with scores and a temperature, each fitted to all rows.
    weights : one for each of them, >= 0.
    names : what they are called where the ensemble explains itself.
    temperatures : None, or for each None or the T that makes its scores probabilities, softmax(scores / T), of two classes
        sigmoid(score / T).

    Attributes
    ----------
    models_ : the fitted classifiers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import GaussianNB, LogisticRegression
    >>> from nearline.selection.ensemble import Ensemble
    >>> X, y = load_iris(return_X_y=True)
    >>> both = Ensemble([GaussianNB(), LogisticRegression()], [1.0, 3.0], ["Bayes", "logistic"]).fit(X, y)
    >>> bool(both.score(X, y) > 0.9), len(both.explain(X[:1]).rows(0))
    (True, 2)
    """

    def __init__(
        self,
        estimators: list[Any],
        weights: list[float],
        names: list[str],
        temperatures: list[float | None] | None = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.names = names
        self.temperatures = temperatures

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit all of them, one after the other."""
        self.classes_ = encoded(np.asarray(y))[0]
        extra = {} if sample_weight is None else {"sample_weight": check_weights(sample_weight, y)}
        models = []
        for estimator in self.estimators:
            checkpoint()
            models.append(clone(estimator).fit(X, y, **extra))
        self.models_ = models
        return self

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C)."""
        return mean_of(self._each(X), self.weights)

    def predict_log_proba(self, X: Any) -> Array:
        """Their logarithms (n, C)."""
        return log_of(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class, the first among equals."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def explain(self, X: Any) -> Opinions:
        """What each model says."""
        each = self._each(X)
        weights = np.asarray(self.weights) / np.sum(self.weights)
        labels = self.classes_[mean_of(each, self.weights).argmax(axis=1)]
        return Opinions(labels, list(self.names), weights, np.stack(each), self.classes_)

    def _each(self, X: Any) -> list[Array]:
        check_is_fitted(self)
        n_classes = len(self.classes_)
        return [
            spread(_probabilities(one, T, X), np.searchsorted(self.classes_, one.classes_), n_classes)
            for one, T in zip(self.models_, self.scaled, strict=True)
        ]

    @property
    def scaled(self) -> list[float | None]:
        """The temperature of each model."""
        return [None] * len(self.estimators) if self.temperatures is None else self.temperatures


def _probabilities(model: Any, temperature: float | None, X: Any) -> Array:
    if temperature is None:
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return TemperatureScaling(temperature).probabilities(model.decision_function(X))


def mean_of(each: Any, weights: Any) -> Array:
    """The weighted mean of probabilities, in float64, added in the order of the models."""
    total = np.zeros(each[0].shape)
    for P, weight in zip(each, weights, strict=True):
        if weight:
            total += weight * P
    return np.asarray(total / np.sum(weights))
