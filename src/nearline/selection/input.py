"""What users give, checked: arrays, CSR matrices, frames, lists of texts; labels of any kind."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_feature_names

from nearline._arrays.design import Array, admitted, flat, is_sparse
from nearline._arrays.targets import quantity_in
from nearline._arrays.validation import validate_data
from nearline._records.words import many
from nearline.representations import is_frame, kind_of
from nearline.representations.base import by_name
from nearline.selection.calibrators import CALIBRATORS

NUMERIC = ("numbers", "sparse")


def checked_rows(model: Any, X: Any, y: Any = None, *, reset: bool = True) -> tuple[Any, Array]:
    """Rows as the representations take them, and labels (n,); the model remembers the features, or compares with them."""
    _refuse_lazy(X)
    X = admitted(X)
    if not reset:
        names = getattr(model, "feature_names_in_", None)
        X = by_name(X, None if names is None else names.tolist())
    kind = _kind(X, None if reset else model._kind)
    if not reset and (kind in NUMERIC) != (model._kind in NUMERIC):
        raise ValueError(
            f"The model was fitted on {model._kind}, got {kind}: give the columns or texts of the fit."
        )
    labels = np.empty(0) if y is None else checked_labels(y)
    if kind in NUMERIC:
        X, shape = _flat(X)
        if not reset and is_sparse(X) != (model._kind == "sparse"):
            X = sparse.csr_matrix(X) if model._kind == "sparse" else X.toarray()
        X = validate_data(
            model, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan"
        )
        if reset:
            model.row_shape_ = shape or X.shape[1:]
    else:
        _check_feature_names(model, X, reset=reset)
        if reset:
            model.n_features_in_ = X.shape[1] if kind == "table" else 1
        n = X.shape[0] if kind == "table" else len(X)
        if n == 0:
            raise ValueError("There are no rows: X is empty.")
    if y is not None:
        check_consistent_length(X, labels)
    if reset:
        model._kind = kind
    return X, labels


def _flat(X: Any) -> tuple[Any, tuple[int, ...]]:
    """Rows of numbers, and the shape of one that was a block; () of others."""
    values = X if is_sparse(X) or is_frame(X) else np.asarray(X)
    return (flat(values), values.shape[1:]) if len(values.shape) > 2 else (X, ())


def _refuse_lazy(X: Any) -> None:
    if getattr(X, "collect", None) is not None and getattr(X, "columns", None) is not None:
        raise ValueError("X is a lazy frame: give X.collect().")


def _kind(X: Any, fitted: str | None) -> str:
    """What the rows are; a table of the fit stays one, even if the rows at hand happen to hold only numbers."""
    kind = kind_of(X)
    return "table" if fitted == "table" and kind == "numbers" and not isinstance(X, np.ndarray) else kind


def checked_labels(y: Any) -> Array:
    """Labels as an array (n,); missing ones are refused."""
    labels = np.asarray(column_or_1d(y, warn=True))
    if labels.dtype == object:
        missing = np.array([label is None or label != label for label in labels.tolist()])
    else:
        missing = labels != labels
    if np.any(missing):
        rows = np.flatnonzero(missing)
        raise ValueError(
            f"{many(len(rows), 'label')} missing (NaN or None), the first in row {rows[0] + 1:,} (counted from 1): drop "
            "these rows or label them."
        )
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    return labels.astype(str) if labels.dtype == object and _all_strings(labels) else labels


def check_classes(y: Array) -> None:
    """Refuse labels that are a quantity; whole numbers may be classes of few rows each."""
    distinct = quantity_in(y) if y.dtype.kind == "f" and not np.array_equal(y, np.rint(y)) else None
    if distinct is not None:
        raise ValueError(
            f"Unknown label type: y has {distinct:,} different numbers, not whole: a continuous quantity, not classes. "
            "Make classes of it, as by np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75])), or give y as strings if each "
            "number is a class."
        )


def check_options(contest: Any) -> None:
    """Parameters of a contest that need no look at the data."""
    choices: dict[str, tuple[Any, ...]] = {
        "choose": ("best", "one-se"),
        "refit": ("train", "all"),
        "calibrate": (None, "auto", "needed", *CALIBRATORS),
    }
    for name, allowed in choices.items():
        value = getattr(contest, name)
        if not any(value is one or value == one for one in allowed):
            raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}.")
    limit, test = contest.time_limit, contest.test
    if limit is not None and not (isinstance(limit, (int, float, np.number)) and limit > 0):
        raise ValueError(f"time_limit must be a number of seconds > 0, got {limit!r}.")
    pair = isinstance(test, (tuple, list)) and len(test) == 2
    if test is not None and not pair and not isinstance(test, (float, int, np.number)):
        raise ValueError(f"test must be a share of the rows, a pair (X_test, y_test) or None, got {test!r}.")
    if not isinstance(contest.random_state, (int, np.integer)):
        raise ValueError(f"random_state must be a whole number, got {contest.random_state!r}.")
    if contest.own is not None and not isinstance(contest.own, dict):
        raise ValueError(f"own must be a dictionary {{name: estimator}}, got {contest.own!r}.")
    for name, model in (contest.own or {}).items():
        if isinstance(model, type) or not callable(getattr(model, "fit", None)):
            raise ValueError(
                f"own[{name!r}] must be a classifier object with fit and predict, got {model!r}."
            )
    for name in ("include", "exclude"):
        value = getattr(contest, name)
        if value is not None and not isinstance(value, (str, list, tuple, set, frozenset)):
            raise ValueError(f"{name} must be names of families, got {value!r}.")


def _all_strings(labels: Array) -> bool:
    return all(isinstance(label, str) for label in labels.tolist())
