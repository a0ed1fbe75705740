"""What every classifier shares: validation, label encoding, weights, and methods that see from X that rows are in blocks."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

import nearline._parallel.threads  # noqa: F401  (threadpoolctl, which scikit-learn has loaded by now, learns of the core)
from nearline._arrays.design import Array, Design, admitted, is_sparse
from nearline._arrays.doors import door_of
from nearline._arrays.validation import (
    are_plain_labels,
    check_weights,
    is_plain,
    is_plain_sparse,
    validate_data,
)
from nearline._records.habits import TranslatesHabits
from nearline._records.kept import Labels, kept
from nearline._records.parameters import HoldsParametrized

Method = TypeVar("Method", bound=Callable[..., Any])


def encoded(y: Array, *, plain: bool = False) -> tuple[Array, Array]:
    """The labels in order (C,), and the number of each row's label (n,). ``plain``: as ``are_plain_labels`` has it."""
    try:
        found = np.unique(y, return_inverse=True) if plain else None
        if found is not None and 2 * len(found[0]) < len(y):  # beyond it scikit-learn may warn of a quantity
            return found
        check_classification_targets(y)
        return found or np.unique(y, return_inverse=True)
    except TypeError as error:  # numbers and strings have no common order
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise ValueError(f"y mixes labels of types {', '.join(kinds)}: give labels of one type.") from error


def class_weights(class_weight: Any, classes: Array, y: Array) -> Array:
    """Weight of each class: 'balanced', or a dictionary {label: weight} (1 where a label is missing)."""
    weights = np.asarray(compute_class_weight(class_weight, classes=classes, y=y), dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"class_weight must have finite numbers >= 0, got {class_weight!r}.")
    return weights


@kept(classes_=Labels())
class Classifier(TranslatesHabits, HoldsParametrized, ClassifierMixin, BaseEstimator):
    """Base of the classifiers: turns what users give into (X, targets, weights) and back into their labels."""

    accept_sparse: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accept_sparse
        return tags

    def _validate_fit(
        self, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None
    ) -> tuple[Design, Array, Array]:
        """X as CSR or C-contiguous float32/float64, targets as class numbers (sets ``classes_``), weights (n,)."""
        plain = is_plain(X) and are_plain_labels(y, len(X))
        if plain:
            see(self, X)
        else:
            X, y = validate_data(self, X, y, **self._wanted)
        self.classes_, targets = encoded(y, plain=plain)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, but y has 1 class: {self.classes_.tolist()[0]!r}. "
                "Give rows of another class too."
            )
        if sample_weight is None and class_weight is None:
            return X, targets.astype(np.int32), np.ones(len(targets))
        weights = check_weights(sample_weight, X)
        if class_weight is not None:
            weights = weights * class_weights(class_weight, self.classes_, y)[targets]
        weighty = np.unique(targets[weights > 0])
        if len(weighty) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes with positive sample weight, got {len(weighty)} "
                "class(es): give rows of another class a positive weight."
            )
        return X, targets.astype(np.int32), weights

    def _validate_predict(self, X: Any) -> Design:
        known = vars(self)
        if "feature_names_in_" not in known and getattr(X, "shape", ())[1:] == (known.get("n_features_in_"),):
            if is_plain(X):
                return X
            if self.accept_sparse and is_sparse(X) and is_plain_sparse(X := admitted(X)):
                return X
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._wanted)

    @property
    def _wanted(self) -> dict[str, Any]:
        """What rows are to be, in scikit-learn's words."""
        sparse = "csr" if self.accept_sparse else False
        return {"accept_sparse": sparse, "dtype": [np.float64, np.float32], "order": "C"}


def see(model: Any, X: Array) -> Array:
    """Remember what rows without names look like, as scikit-learn does."""
    model.n_features_in_ = X.shape[1]
    model.__dict__.pop("feature_names_in_", None)
    return X


def by_blocks(method: Method) -> Method:
    """A method of X alone that answers row by row: of rows in blocks it gives blocks of answers."""

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        door = door_of(X)
        if door is None:
            return method(self, X)
        return (door.streamed if gathers(self) else door.applied)(partial(method, self), X)

    return answer  # type: ignore[return-value]


def gathers(model: Any) -> bool:
    """Whether a model keeps its rows in blocks, so that queries must come to it."""
    return bool(getattr(model, "_in_blocks", False))


class ScoresBlocks:
    """Accuracy, of rows in blocks too: their labels come here."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows (or of their weight) whose label :meth:`predict` gives."""
        if door_of(X) is None:
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        from sklearn.metrics import accuracy_score

        weights = None if sample_weight is None else np.asarray(sample_weight)
        predicted = np.asarray(self.predict(X))  # type: ignore[attr-defined]
        return float(accuracy_score(np.asarray(y), predicted, sample_weight=weights))


def fits_blocks(method: Method) -> Method:
    """``fit``: rows in blocks go to ``_fit_blocks(door, X, y, sample_weight)``."""

    @wraps(method)
    def fit(self: Any, X: Any, y: Any = None, *more: Any, **named: Any) -> Any:
        door = door_of(X)
        if door is None:
            return method(self, X, y, *more, **named)
        return self._fit_blocks(door, X, y, *more, **named)

    return fit  # type: ignore[return-value]
