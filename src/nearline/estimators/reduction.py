"""What the reductions to two classes share: fitting, votes, ambiguous regions."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted, has_fit_parameter

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.validation import check_weights, validate_data
from nearline._records.explanation import Contributions
from nearline._records.kept import Instance, ListOf, Numbers, OrNone, Perhaps, is_complete, kept, require
from nearline.estimators._explained import OfProblems, contributions
from nearline.estimators.base import Classifier, encoded
from nearline.predictions import log_probabilities_of

ANSWERS = ("decision_function", "predict_proba")


@dataclass(frozen=True)
class Regions:
    """Labels on a grid of the plane, for a picture: ``labels[i, j]`` is at (``x[j]``, ``y[i]``)."""

    x: Array  # (r,)
    y: Array  # (r,)
    labels: Array  # (r, r)
    ambiguous: Array  # (r, r) of bool


def base_has(name: str) -> Any:
    """The method exists exactly if the two-class estimator has it."""

    def check(self: "Reduction") -> bool:
        getattr(self.estimator, name)
        return True

    return available_if(check)


def _of_two_classes(model: "Reduction") -> None:
    """The estimators are fitted, to the same features, and answer as the one that they were cloned from."""
    columns = [None] * len(model.estimators_) if model._columns is None else model._columns
    require(len(columns) == len(model.estimators_), "There are not as many columns as two-class estimators")
    for estimator, own in zip(model.estimators_, columns, strict=True):
        require(is_complete(estimator), "A two-class estimator of a reduction is not fitted")
        known = np.asarray(getattr(estimator, "classes_", ()))
        require(
            known.shape == (2,) and known.tolist() == [0, 1],
            "A two-class estimator has other classes than 0 and 1",
        )
        alike = all(_has(estimator, name) == _has(model.estimator, name) for name in ANSWERS)
        require(
            alike and any(_has(estimator, name) for name in ANSWERS), "A two-class estimator cannot answer"
        )
        outer = vars(model).get("n_features_in_") if own is None else own.size
        inner = getattr(estimator, "n_features_in_", None)
        require(
            None in (inner, outer) or inner == outer,
            "A two-class estimator has other features than the model",
        )


def _has(estimator: Any, name: str) -> bool:
    return callable(getattr(estimator, name, None))


@kept(
    estimator=Instance(BaseEstimator),
    estimators_=ListOf(Instance(BaseEstimator)),
    _columns=Perhaps(OrNone(ListOf(Numbers(None, "whole numbers", least=0, below="D")))),
    links=_of_two_classes,
)
class Reduction(MetaEstimatorMixin, Classifier, ABC):
    """What the reductions share: they fit clones of ``estimator`` to labels 0 and 1, then count and compare."""

    estimator: Any
    estimators_: list[Any]
    classes_: Array
    _columns: list[Array] | None = None  # of a Gram matrix: which training rows each estimator was fitted to

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator)
        tags.input_tags = base.input_tags
        tags.classifier_tags.poor_score = getattr(base.classifier_tags, "poor_score", False)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the two-class estimators; sample weights are passed on to those that take them."""
        if not callable(getattr(self.estimator, "fit", None)) or isinstance(self.estimator, type):
            raise ValueError(
                f"{type(self).__name__} needs a two-class estimator, such as LogisticRegression(), "
                f"got {self.estimator!r}."
            )
        X = self._checked_rows(X, reset=True)
        y = _check_y(y, estimator=self)
        check_consistent_length(X, y)
        self.classes_, targets = encoded(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, but y has 1 class: {self.classes_.tolist()[0]!r}. "
                "Give rows of another class too."
            )
        if sample_weight is not None:
            sample_weight = self._checked_weights(X, targets, sample_weight)
        self._fit_all(X, targets, sample_weight)
        return self

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """X in a form whose rows can be taken. Tables and lists of texts stay as they are, for pipelines."""
        if not is_sparse(X) and (is_table(X) or np.asarray(X).dtype.kind in "OUS"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return X
        # Whether NaN is welcome is for the estimator to say.
        return validate_data(self, X, accept_sparse="csr", dtype=None, ensure_all_finite=False, reset=reset)

    def _checked_weights(self, X: Any, targets: Array, sample_weight: Any) -> Array:
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"sample_weight was given, but {type(self.estimator).__name__}.fit takes none: "
                "repeat or drop rows instead, or use an estimator that takes weights."
            )
        weights = check_weights(sample_weight, X)
        count = np.bincount(targets, weights=weights, minlength=len(self.classes_))
        if not (count > 0).all():
            label = self.classes_.tolist()[int(count.argmin())]
            raise ValueError(
                f"All rows of class {label!r} have weight 0, so that it has no two-class problem: drop its rows."
            )
        return weights

    @abstractmethod
    def _fit_all(self, X: Any, targets: Array, sample_weight: Array | None) -> None:
        """Fit the two-class problems."""

    @abstractmethod
    def _votes(self, F: Array) -> Array:
        """Votes (n, C) of the two-class scores F."""

    @abstractmethod
    def _choose(self, F: Array) -> Array:
        """Class numbers from the two-class scores F."""

    def _fit_one(
        self, X: Any, is_second: Array, sample_weight: Array | None, parameters: dict[str, Any]
    ) -> Any:
        estimator = clone(self.estimator).set_params(**parameters)
        if sample_weight is None:
            return estimator.fit(X, is_second.astype(np.intp))
        return estimator.fit(X, is_second.astype(np.intp), sample_weight=sample_weight)

    def _two_class_scores(self, X: Any) -> Array:
        """(n, number of estimators): decision_function, or P(1) - 1/2 of estimators that have probabilities only."""
        columns = []
        for estimator, own in self._each(X):
            try:
                scores = np.ravel(estimator.decision_function(own))
            except (AttributeError, NotImplementedError):
                scores = estimator.predict_proba(own)[:, 1] - 0.5
            columns.append(scores)
        # Infinite scores are as good as very large ones, and can be added.
        return np.clip(np.column_stack(columns).astype(np.float64), -1e100, 1e100)

    def _second_probabilities(self, X: Any) -> Array:
        """(n, number of estimators): P(1)."""
        return np.column_stack([estimator.predict_proba(own)[:, 1] for estimator, own in self._each(X)])

    def _each(self, X: Any) -> Iterator[tuple[Any, Any]]:
        """The two-class estimators, each with the rows as it takes them: of a Gram matrix its own columns."""
        check_is_fitted(self)
        X = self._checked_rows(X, reset=False)
        for k, estimator in enumerate(self.estimators_):
            yield estimator, X if self._columns is None else X[:, self._columns[k]]

    def _log_probabilities(self, X: Any) -> Array:
        """(n, number of estimators, 2): log P(0) and log P(1)."""
        return np.stack([log_probabilities_of(estimator, own) for estimator, own in self._each(X)], axis=1)

    def predict(self, X: Any) -> Array:
        """Label of each row, by the rule of the class."""
        winners = self._choose(self._two_class_scores(X))
        return self.classes_[winners]

    def explain(self, X: Any) -> Contributions:
        """What each two-class problem adds to each class: its score, or its vote."""
        F = self._two_class_scores(X)
        values, signs = self._parts(F)
        scores = values @ signs.T
        return contributions(
            self._choose(F),
            scores,
            self.classes_,
            of="problems",
            bias=np.zeros(len(self.classes_)),
            terms=OfProblems(values, signs),
        )

    @abstractmethod
    def _parts(self, F: Array) -> tuple[Array, Array]:
        """Of two-class scores F: what each problem adds (n, P), and to which class with which sign (C, P)."""

    def votes(self, X: Any) -> Array:
        """Number of two-class estimators that speak for each class, (n, C)."""
        return self._votes(self._two_class_scores(X))

    def ambiguous(self, X: Any) -> Array:
        """Which rows (n,) the votes alone do not decide: no class, or several, has the most."""
        return self._is_ambiguous(self._votes(self._two_class_scores(X)))

    @staticmethod
    def _is_ambiguous(votes: Array) -> Array:
        most = votes.max(axis=1, keepdims=True)
        return np.asarray((most[:, 0] == 0) | ((votes == most).sum(axis=1) > 1))

    def regions(
        self, x_range: tuple[float, float], y_range: tuple[float, float], resolution: int = 200
    ) -> Regions:
        """Labels and ambiguous places on a grid of the plane, for a model of two features."""
        x, y = np.linspace(*x_range, resolution), np.linspace(*y_range, resolution)
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        F = self._two_class_scores(grid)
        shape = len(y), len(x)
        labels = self.classes_[self._choose(F)].reshape(shape)
        return Regions(x, y, labels, self._is_ambiguous(self._votes(F)).reshape(shape))


def is_table(X: Any) -> bool:
    """Whether X is a data frame (asked without importing any)."""
    return type(X).__name__ == "DataFrame"
