"""Calibrated probabilities: the calibrator that serves rows left out best, or none."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted, has_fit_parameter

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.validation import check_weights, validate_data
from nearline._parallel.stopping import checkpoint
from nearline._records.explanation import Explanation
from nearline._records.kept import (
    Instance,
    Mapping,
    OneOf,
    OrNone,
    Plain,
    Real,
    Whole,
    Word,
    is_complete,
    kept,
    require,
)
from nearline._records.refused import UnknownNameError
from nearline.estimators.base import Classifier, encoded
from nearline.estimators.reduction import is_table
from nearline.predictions import Known, Predictions, log_of, log_probabilities_of
from nearline.selection.calibrators import CALIBRATORS, Isotonic, Sigmoid, TemperatureScaling
from nearline.selection.evidence import Evidence
from nearline.selection.folds import Folds
from nearline.selection.measures import log_loss
from nearline.selection.splits import SPLITS, folds_by

__all__ = ["CALIBRATORS", "CalibratedClassifier", "Isotonic", "Sigmoid", "TemperatureScaling"]

WORTH = 1e-3  # of the log-loss that a calibrator must save to be worth having


def _of_its_estimator(model: "CalibratedClassifier") -> None:
    inner = model.estimator_
    require(is_complete(inner), "The classifier that was calibrated is not fitted")
    require(
        np.array_equal(getattr(inner, "classes_", ()), model.classes_),
        "A calibrated classifier has other classes",
    )
    features = getattr(inner, "n_features_in_", None), vars(model).get("n_features_in_")
    require(None in features or len(set(features)) == 1, "A calibrated classifier has other features")
    kind = type(None) if model.method_ == "none" else CALIBRATORS[model.method_]
    require(type(model.calibrator_) is kind, f"There is no calibrator for the method {model.method_!r}")
    own = callable(getattr(inner, "predict_proba", None))
    require(own or (model.calibrator_ is not None and callable(getattr(inner, "decision_function", None))),
            "A calibrated classifier has no probabilities")  # fmt: skip
    parts = getattr(model.calibrator_, "slopes", getattr(model.calibrator_, "points", None))
    C = len(model.classes_)
    require(parts is None or len(parts) == (1 if C == 2 else C), "A calibrator does not fit the classes")


@kept(
    estimator=Instance(BaseEstimator),
    method=OneOf(("auto", *CALIBRATORS)),
    folds=Plain(),
    split=OneOf(SPLITS),
    random_state=Whole(),
    log_losses_=Mapping(Word(), Real(wild=True)),
    method_=OneOf(("none", *CALIBRATORS)),
    calibrator_=OrNone(Instance(tuple(CALIBRATORS.values()))),
    estimator_=Instance(BaseEstimator),
    links=_of_its_estimator,
)
class CalibratedClassifier(MetaEstimatorMixin, Classifier):
    """Any classifier with calibrated probabilities: a calibrator of scores of rows that the classifier had not seen.

    On each fold a clone is fitted to the other folds and judges the rows left out, by log-posteriors that are bounded
    where probabilities are rounding (``predict_log_proba``), or by ``decision_function`` if it has no probabilities. Each
    calibrator is fitted to these scores without one fold and gives that fold a log-loss; the one of the smallest log-loss
    is fitted to them all; where it does not save a thousandth of that of the probabilities as they are, these are left
    alone. The estimator is fitted to all rows. Labels are the estimator's own: ``predict`` is not changed by calibration.
    Temperature keeps the most probable class at the largest score; the other calibrators of more than two classes need not.

    Parameters
    ----------
    estimator : a classifier with ``decision_function`` or ``predict_proba``.
    method : "auto", or the calibrator whatever it does to the log-loss: "temperature", one parameter, "sigmoid", two for
        each class, or "isotonic", a rising function for each class.
    folds : a number (shuffled by ``random_state``), "leave-one-out", each row's fold number, a list of pairs (training rows,
        test rows), or a scikit-learn splitter.
    split : how a number of folds divides the rows: "stratified" by class; "group", rows of one group together; or "time",
        where rows are in the order of time. "auto" is by group where ``fit`` is given ``groups``.

    Attributes
    ----------
    classes_ : (C,) labels.
    estimator_ : fitted to all rows.
    method_ : the calibrator's name, or "none" where the probabilities are the estimator's own.
    log_losses_ : {method: log-loss on rows left out}, of all that were compared, "none" among them if the estimator has
        probabilities.
    calibrator_ : a :class:`TemperatureScaling`, :class:`Sigmoid`, :class:`Isotonic` or None.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import GaussianNB
    >>> from nearline.selection.calibration import CalibratedClassifier
    >>> model = CalibratedClassifier(GaussianNB()).fit(*load_iris(return_X_y=True))
    >>> model.method_, model.log_losses_["temperature"] < model.log_losses_["none"]
    ('temperature', True)
    >>> model.calibrator_.temperature > 1  # naive Bayes is too sure of itself
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "auto",
        folds: Any = 5,
        split: str = "auto",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.folds = folds
        self.split = split
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit clones on the folds, the calibrator to their scores, and the estimator to all rows; weights go to all three.

        ``groups``: rows of one group stay together in a number of folds.
        """
        methods = [*CALIBRATORS] if self.method == "auto" else [self.method]
        if not set(methods) <= set(CALIBRATORS):
            raise UnknownNameError("method", self.method, ["auto", *CALIBRATORS])
        X = self._checked_rows(X, reset=True)
        y = _check_y(y, estimator=self)
        check_consistent_length(X, y)
        self.classes_, codes = encoded(y)
        self._check_classes(codes, groups)
        weights = None if sample_weight is None else self._checked_weights(X, sample_weight)
        drawn = folds_by(self.split, self.folds, codes, groups, self.random_state)
        left_out, parts = self._left_out(X, y, codes, weights, drawn)
        evidence = Evidence.joined(parts)
        own = None if weights is None else weights[left_out]
        folds = np.repeat(np.arange(len(parts)), [len(part.scores) for part in parts])
        self.log_losses_ = _log_losses(methods, evidence, codes[left_out], own, folds)
        self.method_ = _best(self.log_losses_) if self.method == "auto" else self.method
        self.calibrator_ = None
        if self.method_ != "none":
            calibrator = CALIBRATORS[self.method_]
            self.calibrator_ = calibrator.fit(evidence.seen_by(calibrator), codes[left_out], own)
        self.estimator_ = self._fit_one(X, y, weights)
        return self

    def _left_out(
        self, X: Any, y: Array, codes: Array, weights: Array | None, folds: Folds
    ) -> tuple[Array, list[Evidence]]:
        """Row numbers, fold by fold, and what a model of the other folds says of them."""
        rows, parts = [], []
        for train, test in folds:
            missing = np.setdiff1d(codes, codes[train])
            if len(missing):
                raise ValueError(
                    f"A fold has no training rows of class {self.classes_[missing].tolist()[0]!r}: "
                    "give folds each of which leaves rows of every class to train on."
                )
            # Of a Gram matrix these are rows and columns.
            X_train, y_train = _safe_split(self.estimator, X, y, train)
            X_test, _ = _safe_split(self.estimator, X, y, test, train)
            model = self._fit_one(X_train, y_train, None if weights is None else weights[train])
            parts.append(Evidence.of(model, X_test))
            rows.append(test)
        return np.concatenate(rows), parts

    def predict(self, X: Any) -> Array:
        """The estimator's own labels."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(self._checked_rows(X, reset=False)))

    @available_if(lambda self: callable(getattr(self.estimator, "explain", None)))  # type: ignore[untyped-decorator]
    def explain(self, X: Any) -> Explanation:
        """The estimator's own explanation: labels are its own."""
        check_is_fitted(self)
        return self.estimator_.explain(self._checked_rows(X, reset=False))

    def predict_proba(self, X: Any) -> Array:
        """Calibrated class probabilities (n, C)."""
        check_is_fitted(self)
        return Evidence.of(self.estimator_, self._checked_rows(X, reset=False)).calibrated(self.calibrator_)

    def predict_log_proba(self, X: Any) -> Array:
        """Their logarithms; the estimator's own, which are not rounded, where its probabilities are left alone."""
        check_is_fitted(self)
        if self.calibrator_ is None:
            return log_probabilities_of(self.estimator_, self._checked_rows(X, reset=False))
        return log_of(self.predict_proba(X))

    def _fit_one(self, X: Any, y: Array, weights: Array | None) -> Any:
        model = clone(self.estimator)
        return model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """X in a form whose rows can be taken; tables and texts stay as they are, for pipelines."""
        if not is_sparse(X) and (is_table(X) or np.asarray(X).dtype.kind in "OUS"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return X
        return validate_data(self, X, accept_sparse="csr", dtype=None, ensure_all_finite=False, reset=reset)

    def _checked_weights(self, X: Any, sample_weight: Any) -> Array:
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"sample_weight was given, but {type(self.estimator).__name__}.fit takes none: "
                "repeat or drop rows instead, or use an estimator that takes weights."
            )
        return check_weights(sample_weight, X)

    def _check_classes(self, codes: Array, groups: Any) -> None:
        counts = np.bincount(codes)
        if len(counts) < 2:
            raise ValueError(
                f"CalibratedClassifier needs at least 2 classes, but y has 1 class: {self.classes_.tolist()[0]!r}. "
                "Give rows of another class too."
            )
        by_class = self.split == "stratified" or (self.split == "auto" and groups is None)
        if by_class and isinstance(self.folds, (int, np.integer)) and counts.min() < self.folds:
            raise ValueError(
                f"folds={self.folds}, but class {self.classes_.tolist()[int(counts.argmin())]!r} has {counts.min()} "
                "row(s) only: give fewer folds or more rows of it."
            )


def _best(log_losses: dict[str, float]) -> str:
    best = min(log_losses, key=log_losses.__getitem__)
    alone = log_losses.get("none", np.inf)
    return best if log_losses[best] < (1.0 - WORTH) * alone else "none"


def _log_losses(
    methods: list[str], evidence: Evidence, codes: Array, weights: Array | None, folds: Array
) -> dict[str, float]:
    """Of probabilities as they are, if there are any, and of calibrators that were fitted without the fold of the row."""
    n_classes = 2 if evidence.scores.ndim == 1 else evidence.scores.shape[1]

    def loss(P: Array) -> float:
        return log_loss(Predictions(codes, n_classes, None, Known(P)), codes, np.arange(n_classes), weights)

    losses = {} if evidence.probabilities is None else {"none": loss(evidence.probabilities)}
    for method in methods:
        calibrator, P = CALIBRATORS[method], np.empty((len(codes), n_classes))
        for f in np.unique(folds):
            checkpoint()
            here, there = np.flatnonzero(folds == f), np.flatnonzero(folds != f)
            if weights is not None and not weights[there].sum() > 0:
                there = here
            own = None if weights is None else weights[there]
            fitted = calibrator.fit(evidence.some(there).seen_by(calibrator), codes[there], own)
            P[here] = evidence.some(here).calibrated(fitted)
        losses[method] = loss(P)
    return losses
