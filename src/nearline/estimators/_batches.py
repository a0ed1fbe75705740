"""Learning from one batch of rows after the other: a pass of stochastic gradient descent over each."""

from typing import TYPE_CHECKING, Any

import numpy as np

from nearline._arrays.validation import check_weights, validate_data
from nearline.estimators.base import encoded
from nearline.risk import strength
from nearline.risk.params import Params
from nearline.solvers import SGD

if TYPE_CHECKING:
    from nearline.estimators.linear import LinearClassifier


def learn_batch(model: "LinearClassifier", X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """One pass over new rows, from where the last batch ended, from a fitted model, or from zero."""
    progress, seen = getattr(model, "progress_", None), getattr(model, "seen_weight_", 0.0)
    fitted = getattr(model, "coef_", None) is not None
    X, y = validate_data(model, X, y, reset=not fitted, **model._wanted)
    if not fitted:
        _expect(model, classes)
    targets = model._known(y)
    weights = model._weighted_batch(check_weights(sample_weight, X), targets)
    sgd = model.solver if isinstance(model.solver, SGD) else SGD()
    if progress is None:
        progress = model.progress_ = sgd.begin(_start(model, fitted, X.shape[1]))
    model.seen_weight_ = seen + float(weights.sum())
    model.alpha_ = strength(model.alpha, model.seen_weight_)
    params = sgd.partial_fit(
        progress,
        X,
        targets,
        loss=model.loss_,
        regularizer=model.regularizer,
        alpha=model.alpha_,
        weights=weights,
        bias=model.fit_intercept,
    )
    model.coef_, model.intercept_ = params.W.astype(X.dtype), params.b.astype(X.dtype)
    model.solver_ = sgd.name
    # What an earlier fit certified no longer holds.
    model.gap_, model.solution_ = None, None
    model.n_iter_, model.objective_path_ = 1, np.empty(0)


def _expect(model: "LinearClassifier", classes: Any) -> None:
    """The classes that will come, and the loss for so many."""
    if classes is None:
        raise ValueError("The first call of partial_fit needs classes=: all labels that will ever come.")
    model.classes_ = encoded(np.asarray(classes))[0]
    if len(model.classes_) < 2:
        raise ValueError(f"classes must be at least 2 labels, got {model.classes_.tolist()}.")
    model.loss_ = model._loss_for(len(model.classes_))


def _start(model: "LinearClassifier", fitted: bool, n_features: int) -> Params:
    if fitted:
        return Params.of(model.coef_, model.intercept_)
    n_classes = len(model.classes_)
    return Params.zeros(n_classes if model.loss_.joint or n_classes > 2 else 1, n_features)
