"""Calibrated probabilities: temperature and sigmoid on out-of-fold scores, and how well probabilities keep their word."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, softmax
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from nearline.arrays import Array, is_sparse
from nearline.estimators._base import Classifier, encoded
from nearline.estimators._reduction import _is_table
from nearline.selection.folds import as_folds

# Bounds of score range / temperature: between them lie probabilities from nearly equal to nearly 0 and 1.
FLATTEST, SHARPEST = 1e-4, 1e4


@dataclass(frozen=True)
class Temperature:
    """softmax(scores / T), for two classes with one score f sigmoid(f / T): the order of the classes does not change.

    ``fit`` minimizes the log-loss over T, which is convex in 1 / T. Where every row's own class has the largest score no
    T > 0 does, and the one is taken whose mean probability of the own class is (N + 1) / (N + 2), N the sum of weights,
    which count repeated rows.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([8.0, 8.0, 8.0, 8.0, -8.0])  # all are sure, one of them is wrong
    >>> calibrator = Temperature.fit(scores, np.array([1, 1, 1, 0, 0]))
    >>> calibrator.probabilities(np.array([8.0])).round(3).tolist()
    [[0.2, 0.8]]
    """

    temperature: float = 1.0

    @classmethod
    def fit(cls, scores: Any, codes: Any, weights: Any = None) -> Self:
        """From scores (n,) or (n, K) of rows that were not trained on, class numbers (n,) and weights (n,) or None."""
        S, codes, w = _checked(scores, codes, weights)
        S = _two_columns(S)
        span = float(w @ np.ptp(S, axis=1)) / float(w.sum())
        if span == 0.0:
            return cls()
        U, rows = (S - S.max(axis=1, keepdims=True)) / span, np.arange(len(S))

        def slope(sharpness: float) -> float:
            """Derivative of the log-loss by sharpness = span / T."""
            expected = (softmax(sharpness * U, axis=1) * U).sum(axis=1)
            return float(w @ (expected - U[rows, codes]))

        def beyond(log_sharpness: float) -> float:
            """Mean probability of the own class beyond (N + 1) / (N + 2)."""
            own = softmax(np.exp(log_sharpness) * U, axis=1)[rows, codes]
            return float(w @ own) / float(w.sum()) - float((w.sum() + 1.0) / (w.sum() + 2.0))

        if (U[rows, codes] == 0.0)[w > 0].all():  # every row's own class is first
            bounds = float(np.log(FLATTEST)), float(np.log(SHARPEST))
            return cls(span / float(np.exp(_root(beyond, *bounds))))
        return cls(span / _root(slope, FLATTEST, SHARPEST))

    def probabilities(self, scores: Any) -> Array:
        """Class probabilities (n, K)."""
        return np.asarray(
            softmax(_two_columns(np.asarray(scores, dtype=np.float64)) / self.temperature, axis=1)
        )


@dataclass(frozen=True)
class Sigmoid:
    """Platt's sigmoid(slope f + offset) for two classes; of more, one for each class against the rest, divided by the sum.

    ``fit`` minimizes the log-loss with the targets (N1 + 1) / (N1 + 2) and 1 / (N0 + 2) in place of 1 and 0, N1 and N0 the
    weights (repeated rows) of the class and of the rest. With more than two classes the most probable one can differ
    from the one of the largest score; and each sigmoid sees its own score alone, so that scores which mean something
    only beside each other (log-likelihoods, a softmax) are better served by a temperature.

    Examples
    --------
    >>> import numpy as np
    >>> calibrator = Sigmoid.fit(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]))
    >>> calibrator.probabilities(np.array([0.0, 2.0])).round(2).tolist()
    [[0.5, 0.5], [0.21, 0.79]]
    """

    slopes: Array  # (1,) for two classes, else (K,)
    offsets: Array

    @classmethod
    def fit(cls, scores: Any, codes: Any, weights: Any = None) -> Self:
        """From scores (n,) or (n, K) of rows that were not trained on, class numbers (n,) and weights (n,) or None."""
        S, codes, w = _checked(scores, codes, weights)
        F = _one_column(S)
        owners = [1] if F.shape[1] == 1 else range(F.shape[1])
        lines = [_platt(f, codes == c, w) for f, c in zip(F.T, owners)]
        return cls(np.array([a for a, _ in lines]), np.array([b for _, b in lines]))

    def probabilities(self, scores: Any) -> Array:
        """Class probabilities (n, K)."""
        p = expit(_one_column(np.asarray(scores, dtype=np.float64)) * self.slopes + self.offsets)
        if p.shape[1] == 1:
            return np.column_stack([1.0 - p[:, 0], p[:, 0]])
        total = p.sum(axis=1, keepdims=True)
        return np.divide(p, total, out=np.full_like(p, 1.0 / p.shape[1]), where=total > 0)


CALIBRATORS: dict[str, Any] = {"temperature": Temperature, "sigmoid": Sigmoid}


class CalibratedClassifier(MetaEstimatorMixin, Classifier):
    """Any classifier with calibrated probabilities: a calibrator of scores of rows that the classifier had not seen.

    On each fold a clone is fitted to the other folds and scores the rows left out (``decision_function``, or else the log of
    ``predict_proba``). The calibrator is fitted to all these scores, the estimator to all rows. Labels are the
    estimator's own: ``predict`` is not changed by calibration. Temperature keeps the most probable class at the largest
    score; the sigmoids of three or more classes need not.

    Parameters
    ----------
    estimator : a classifier with ``decision_function`` or ``predict_proba``.
    method : "temperature", one parameter, or "sigmoid", two for each class.
    folds : a number (stratified, shuffled by ``seed``), each row's fold number (where rows come in groups), or a
        scikit-learn splitter.

    Attributes
    ----------
    classes_ : (C,) labels.
    estimator_ : fitted to all rows.
    calibrator_ : a :class:`Temperature` or :class:`Sigmoid`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import GaussianNB
    >>> from nearline.selection.calibration import CalibratedClassifier
    >>> model = CalibratedClassifier(GaussianNB()).fit(*load_iris(return_X_y=True))
    >>> model.calibrator_.temperature > 1  # naive Bayes is too sure of itself
    True
    """

    def __init__(self, estimator: Any, *, method: str = "temperature", folds: Any = 5, seed: int = 0) -> None:
        self.estimator = estimator
        self.method = method
        self.folds = folds
        self.seed = seed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit clones on the folds, the calibrator to their scores, and the estimator to all rows; weights go to all three."""
        if self.method not in CALIBRATORS:
            raise ValueError(f"Unknown method {self.method!r}: choose among {', '.join(CALIBRATORS)}.")
        X = self._checked_rows(X, reset=True)
        y = _check_y(y, estimator=self)
        check_consistent_length(X, y)
        self.classes_, codes = encoded(y)
        self._check_classes(codes)
        weights = None if sample_weight is None else self._checked_weights(X, sample_weight)
        scores, rows = [], []
        for train, test in as_folds(self.folds, codes, stratified=True, seed=self.seed):
            missing = np.setdiff1d(codes, codes[train])
            if len(missing):
                raise ValueError(
                    f"A fold has no training rows of class {self.classes_[missing].tolist()[0]!r}: "
                    "give folds each of which leaves rows of every class to train on."
                )
            own = None if weights is None else weights[train]
            model = self._fit_one(_safe_indexing(X, train), y[train], own)
            scores.append(_scores(model, _safe_indexing(X, test)))
            rows.append(test)
        left_out = np.concatenate(rows)
        own = None if weights is None else weights[left_out]
        self.calibrator_ = CALIBRATORS[self.method].fit(np.concatenate(scores), codes[left_out], own)
        self.estimator_ = self._fit_one(X, y, weights)
        return self

    def predict(self, X: Any) -> Array:
        """The estimator's own labels."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(self._checked_rows(X, reset=False)))

    def predict_proba(self, X: Any) -> Array:
        """Calibrated class probabilities (n, C)."""
        check_is_fitted(self)
        probabilities: Array = self.calibrator_.probabilities(
            _scores(self.estimator_, self._checked_rows(X, reset=False))
        )
        return probabilities

    def _fit_one(self, X: Any, y: Array, weights: Array | None) -> Any:
        model = clone(self.estimator)
        return model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """X in a form whose rows can be taken; tables and texts stay as they are, for pipelines."""
        if not is_sparse(X) and (_is_table(X) or np.asarray(X).dtype.kind in "OUS"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return X
        return validate_data(self, X, accept_sparse="csr", dtype=None, ensure_all_finite=False, reset=reset)

    def _checked_weights(self, X: Any, sample_weight: Any) -> Array:
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"sample_weight was given, but {type(self.estimator).__name__}.fit takes none: "
                "repeat or drop rows instead, or use an estimator that takes weights."
            )
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _check_classes(self, codes: Array) -> None:
        counts = np.bincount(codes)
        if len(counts) < 2:
            raise ValueError(
                f"CalibratedClassifier needs at least 2 classes, but y has 1 class: {self.classes_.tolist()[0]!r}. "
                "Give rows of another class too."
            )
        if isinstance(self.folds, (int, np.integer)) and counts.min() < self.folds:
            raise ValueError(
                f"folds={self.folds}, but class {self.classes_.tolist()[int(counts.argmin())]!r} has {counts.min()} "
                "row(s) only: give fewer folds or more rows of it."
            )


def _scores(model: Any, X: Any) -> Array:
    """(n,) or (n, C) as ``decision_function`` gives them, else the log of the probabilities."""
    try:
        scores = model.decision_function(X)
    except (AttributeError, NotImplementedError):
        probabilities = getattr(model, "predict_proba", None)
        if probabilities is None:
            raise ValueError(
                f"{type(model).__name__} has neither decision_function nor predict_proba, so that there is nothing to "
                "calibrate: give a classifier that has one of them."
            ) from None
        scores = np.log(np.clip(probabilities(X), 1e-12, None))
    # Infinite scores are as good as very large ones, and have differences.
    return np.clip(np.asarray(scores, dtype=np.float64), -1e100, 1e100)


def _root(increasing: Callable[[float], float], low: float, high: float) -> float:
    """Where the function is 0, or the end next to that."""
    if increasing(low) >= 0.0:
        return low
    return high if increasing(high) <= 0.0 else float(brentq(increasing, low, high))


def _two_columns(S: Array) -> Array:
    return np.column_stack([np.zeros(len(S)), S]) if S.ndim == 1 else S


def _one_column(S: Array) -> Array:
    """(n, 1) for two classes, positive for the second; else as it is."""
    if S.ndim == 1:
        return S[:, None]
    return S[:, 1:] - S[:, :1] if S.shape[1] == 2 else S


def _platt(f: Array, is_own: Array, w: Array) -> tuple[float, float]:
    """Slope and offset of Platt's sigmoid, by Newton's method with step halving on the standardized score."""
    center, spread = float(f.mean()), float(f.std()) or 1.0
    Z = np.column_stack([(f - center) / spread, np.ones(len(f))])
    own, rest = float(w[is_own].sum()), float(w[~is_own].sum())
    targets = np.where(is_own, (own + 1.0) / (own + 2.0), 1.0 / (rest + 2.0))

    def loss(line: Array) -> float:
        margin = Z @ line
        return float(w @ (np.logaddexp(0.0, margin) - targets * margin))

    line = np.array([0.0, float(logit(w @ targets / w.sum()))])
    for _ in range(100):
        p = expit(Z @ line)
        gradient = Z.T @ (w * (p - targets))
        if np.abs(gradient).max() <= 1e-10 * w.sum():
            break
        # The small ridge serves scores that are all alike.
        hessian = (Z * (w * p * (1.0 - p))[:, None]).T @ Z + 1e-12 * w.sum() * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size, before = 1.0, loss(line)
        while loss(line - size * step) > before - 1e-4 * size * (gradient @ step) and size > 1e-10:
            size /= 2.0
        line = line - size * step
    return float(line[0] / spread), float(line[1] - line[0] * center / spread)


def _checked(scores: Any, codes: Any, weights: Any) -> tuple[Array, Array, Array]:
    S, codes = np.asarray(scores, dtype=np.float64), np.asarray(codes)
    n_classes = 2 if S.ndim == 1 else S.shape[-1]
    if S.ndim not in (1, 2) or n_classes < 2 or codes.shape != S.shape[:1] or not np.isfinite(S).all():
        raise ValueError(
            f"scores must be finite, (n,) or (n, K) with a class number for each row, got shapes {S.shape} and "
            f"{codes.shape}: give a column for each class, or one score for two classes."
        )
    if not np.isin(codes, np.arange(n_classes)).all():
        raise ValueError(
            f"codes must be class numbers from 0 to {n_classes - 1}, got {np.unique(codes).tolist()}."
        )
    w = np.ones(len(S)) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != codes.shape or not (w >= 0).all() or not w.sum() > 0:
        raise ValueError(f"weights must be {len(S)} numbers >= 0 that are not all 0, got shape {w.shape}.")
    return S, codes, w
