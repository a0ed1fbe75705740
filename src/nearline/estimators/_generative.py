"""What the generative classifiers share: priors, batches, scores -> labels and probabilities."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets

from nearline._arrays.blocks import Block
from nearline._arrays.design import Array, Design
from nearline._arrays.doors import Door
from nearline._arrays.validation import check_weights, validate_data
from nearline._records.kept import Numbers, Plain, kept
from nearline._records.refused import ParameterError
from nearline.estimators.base import by_blocks, fits_blocks
from nearline.estimators.blocked import labelled
from nearline.estimators.linear_base import LinearModel


def by_class_count(W: Array, b: Array, dtype: Any) -> tuple[Array, Array]:
    """W (C, D) and b (C,) in scikit-learn's shapes: two classes have the one row of their difference."""
    if len(W) == 2:
        W, b = W[1:] - W[:1], b[1:] - b[:1]
    return W.astype(dtype, copy=False), b.astype(dtype, copy=False)


@kept(priors=Plain(), class_count_=Numbers(("C",), least=0.0))
class Generative(LinearModel, ABC):
    """Bayes' rule: scores are log p(y = c) + log p(x | y = c) up to a term that all classes share."""

    priors: Any

    @by_blocks
    def predict_log_proba(self, X: Any) -> Array:
        """log p(y = c | x), (n, C), in float64: float32 could not tell 1 - 1e-8 from 1."""
        scores = self._scores(X).astype(np.float64, copy=False)
        if scores.shape[1] == 1:
            return -np.logaddexp(0.0, np.hstack([scores, -scores]))
        shifted = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))

    @by_blocks
    def predict_proba(self, X: Any) -> Array:
        """p(y = c | x), (n, C)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def _class_prior(self, class_weights: Array) -> Array:
        """p(y = c): of the data, all alike, or as given."""
        n_classes = len(class_weights)
        if isinstance(self.priors, str):
            if self.priors == "empirical":
                return class_weights / class_weights.sum()
            if self.priors == "uniform":
                return np.full(n_classes, 1.0 / n_classes)
            raise ParameterError(
                "priors", self.priors, "'empirical', 'uniform' or one probability for each class"
            )
        given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != (n_classes,):
            raise ValueError(
                f"priors has shape {given.shape}, but there are {n_classes} classes: "
                "give one probability for each, in the order of classes_."
            )
        if not (given >= 0).all() or abs(given.sum() - 1.0) > 1e-8:
            raise ValueError(
                f"priors must be >= 0 and sum to 1, got {given.tolist()} with sum {given.sum():g}: "
                "divide them by their sum."
            )
        return given


class OnlineGenerative(Generative, ABC):
    """Generative models with sums that batches add to: a fit in batches is the fit of all rows at once."""

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One pass: the sums of each block, added."""
        self._check_parameters()
        blocks = labelled(self, door, X, y, sample_weight)
        self._clear()
        self._include(blocks.total(_SumsOf(self), self._both))
        self._finish(blocks.dtype)
        return self

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, labels y and, if given, weights (integer weights equal repeated rows)."""
        self._check_parameters()
        X, targets, weights = self._validate_fit(X, y, sample_weight)
        return self._accumulate(X, targets, weights, clear=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of rows. The first call needs ``classes``, all labels that will ever come."""
        self._check_parameters()
        first = _check_partial_fit_first_call(self, classes)
        X, targets, weights = self._validate_batch(X, y, sample_weight, first)
        return self._accumulate(X, targets, weights, clear=first)

    def _accumulate(self, X: Design, targets: Array, weights: Array, *, clear: bool) -> Self:
        X = self._prepare(X)
        if clear:
            self._clear()
        self._add(X, targets, weights)
        self._finish(X.dtype)
        return self

    def _validate_batch(self, X: Any, y: Any, sample_weight: Any, first: bool) -> tuple[Design, Array, Array]:
        """As ``_validate_fit``, but the classes are known and a batch may lack some of them."""
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, but classes has 1 class: "
                f"{self.classes_.tolist()[0]!r}."
            )
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=first
        )
        check_classification_targets(y)
        targets = np.searchsorted(self.classes_, y)
        known = self.classes_[np.minimum(targets, len(self.classes_) - 1)] == y
        if not np.all(known):
            raise ValueError(
                f"y has the label {y[~known].tolist()[0]!r}, which is not among the classes {self.classes_.tolist()}: "
                "name every label in the first partial_fit."
            )
        weights = check_weights(sample_weight, X)
        if not (weights.sum() > 0 or not first):
            raise ValueError("All sample weights are zero: give at least one row a positive weight.")
        return X, targets.astype(np.int32), weights

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    def _prepare(self, X: Design) -> Design:
        """Check X or turn it into what is counted."""
        return X

    @abstractmethod
    def _clear(self) -> None:
        """Set all sums to zero."""

    def _add(self, X: Design, targets: Array, weights: Array) -> None:
        """Add the sums of a batch."""
        self._include(self._sums(X, targets, weights))

    @abstractmethod
    def _sums(self, X: Design, targets: Array, weights: Array) -> tuple[Array, ...]:
        """The sums of some rows."""

    @staticmethod
    @abstractmethod
    def _both(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
        """The sums of two sets of rows."""

    @abstractmethod
    def _include(self, sums: tuple[Array, ...]) -> None:
        """Add sums to one's own."""

    @abstractmethod
    def _finish(self, dtype: Any) -> None:
        """Turn the sums into parameters; W and b have the dtype of X."""


@dataclass(frozen=True)
class _SumsOf:
    """The sums of a block, as a model takes them."""

    model: OnlineGenerative

    def __call__(self, block: Block) -> tuple[Array, ...]:
        return self.model._sums(self.model._prepare(block.X), block.targets, block.weights)


def check_number(owner: object, name: str, value: Any, *, positive: bool, remedy: str) -> float:
    """A finite real number, > 0 or >= 0, or an error that says so."""
    sign = "> 0" if positive else ">= 0"
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0 or (positive and value == 0):
        raise ValueError(f"{type(owner).__name__}: {name} must be a number {sign}, got {value!r}. {remedy}")
    return float(value)


def log_or_never(values: Array) -> Array:
    """Logarithm with log 0 = -inf: a class without rows has no prior and never wins."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
