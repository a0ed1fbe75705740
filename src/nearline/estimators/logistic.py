"""LogisticRegression and SparsemaxClassifier: linear models whose losses define probabilities."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._arrays.validation import validate_data
from nearline._records.kept import (
    Flag,
    Perhaps,
    kept,
)
from nearline.estimators.base import by_blocks, fits_blocks
from nearline.estimators.linear import LinearClassifier
from nearline.risk import Risk
from nearline.solvers import minimize


@kept(loss=None)
class LogisticRegression(LinearClassifier):
    """Logistic regression: log(1 + exp(-y f)) for two classes, softmax cross-entropy for more.

    Parameters are those of :class:`LinearClassifier`; ``multiclass="one-vs-rest"`` fits K two-class models instead.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(alpha=0.1, tol=1e-8).fit(X, y)
    >>> model.predict_proba(X[:1]).round(2).tolist()
    [[0.89, 0.1, 0.0]]
    """

    loss = "logistic"

    def __init__(
        self,
        alpha: float | str = "1/n",
        regularizer: Any = "l2",
        *,
        multiclass: str = "auto",
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.regularizer = regularizer
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start


@kept(loss=None, multiclass=None, multilabel_=Perhaps(Flag()))
class SparsemaxClassifier(LinearClassifier):
    """Sparsemax regression: probabilities that can be exactly 0.

    ``y`` may also be a label indicator matrix (n, C), one or more labels a row; ``predict`` then gives the labels of
    positive probability, as an indicator matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import SparsemaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparsemaxClassifier(alpha=1e-3).fit(X, y)
    >>> model.predict_proba(X[:1]).tolist()
    [[1.0, 0.0, 0.0]]
    """

    loss = "sparsemax"
    multiclass = "auto"
    multilabel_ = False  # until a fit to label sets

    def __init__(
        self,
        alpha: float | str = "1/n",
        regularizer: Any = "l2",
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.regularizer = regularizer
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimize the risk; ``y`` is labels (n,) or an indicator matrix (n, C) of label sets."""
        shape = np.asarray(y).shape
        self.multilabel_ = len(shape) == 2 and shape[1] > 1
        return (
            self._fit_label_sets(X, y, sample_weight)
            if self.multilabel_
            else super().fit(X, y, sample_weight)
        )

    def _fit_label_sets(self, X: Any, Y: Any, sample_weight: Any) -> Self:
        X, Y = validate_data(
            self, X, Y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", multi_output=True
        )
        Y = np.asarray(Y, dtype=np.float64)
        if not (np.isin(Y, (0.0, 1.0)).all() and (Y.sum(axis=1) > 0).all()):
            raise ValueError(
                "A label indicator matrix must hold 0 and 1 only, with at least one 1 in each row; "
                "drop rows without labels, or add a column for 'none'."
            )
        if self.class_weight is not None:
            raise ValueError("class_weight is for one label a row: give sample_weight with label sets.")
        self.classes_ = np.arange(Y.shape[1])
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        risk = Risk(
            X,
            Y / Y.sum(axis=1, keepdims=True),
            loss="sparsemax",
            regularizer=self.regularizer,
            alpha=self.alpha,
            weights=weights,
            bias=self.fit_intercept,
        )
        self._keep(risk, minimize(risk, self.solver, self._start(risk), tol=self.tol))
        self.solution_.warn(self.tol, self._limit)
        return self

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Labels, or for a model of label sets the indicator matrix of labels with positive probability."""
        check_is_fitted(self)
        return (self.predict_proba(X) > 0).astype(int) if self.multilabel_ else super().predict(X)
