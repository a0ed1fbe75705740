"""What users give, checked: arrays, CSR matrices, frames, lists of texts; labels of any kind."""

import os
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_feature_names

from nearline._arrays.design import Array, admitted, flat, is_sparse
from nearline._arrays.targets import quantity_in
from nearline._arrays.validation import check_weights, validate_data
from nearline._records.refused import ParameterError, check_choice
from nearline._records.words import many
from nearline.estimators.base import encoded
from nearline.representations import is_frame, kind_of
from nearline.representations.base import by_name
from nearline.selection.calibrators import CALIBRATORS
from nearline.selection.rows import LabeledRows
from nearline.selection.splits import checked_groups

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


def labeled_rows(model: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> LabeledRows:
    """Rows of at least two classes, with all that belongs to them."""
    name = type(model).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    X, y = checked_rows(model, X, y)
    check_classes(y)
    if len(encoded(y)[0]) < 2:
        raise ValueError(f"{name} needs at least 2 classes, but y has 1 class: {y.tolist()[0]!r}.")
    weights = None if sample_weight is None else check_weights(sample_weight, y)
    return LabeledRows(X, y, None if groups is None else checked_groups(groups, len(y)), weights)


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


THRESHOLDS = ("auto", "tune", "costs", None)
BESIDE = ("reference", "ensemble")  # what runs beside the families of a contest


def beside_of(beside: Any, preset: str) -> tuple[str, ...]:
    """What runs beside the families."""
    if beside == "auto":
        return () if preset == "quick" else BESIDE[:1]  # an ensemble has not been shown to help
    names = () if beside is None else (beside,) if isinstance(beside, str) else tuple(beside)
    for name in names:
        check_choice("beside", name, ("auto", None, *BESIDE))
    return names


def check_words(choose: Any, calibrate: Any, threshold: Any) -> None:
    """Parameters of a contest that are one of a few words."""
    check_choice("choose", choose, ("best", "one-se"))
    check_choice("calibrate", calibrate, (None, "auto", "needed", *CALIBRATORS))
    check_choice("threshold", threshold, THRESHOLDS)


def check_options(contest: Any) -> None:
    """Parameters of a contest that need no look at the data."""
    check_words(contest.choose, contest.calibrate, contest.threshold)
    beside_of(contest.beside, contest.preset)
    limit = contest.time_limit
    if limit is not None and not (isinstance(limit, (int, float, np.number)) and limit > 0):
        raise ParameterError("time_limit", limit, "a number of seconds > 0")
    if not isinstance(contest.random_state, (int, np.integer)):
        raise ParameterError("random_state", contest.random_state, "a whole number")
    if contest.own is not None and not isinstance(contest.own, dict):
        raise ParameterError("own", contest.own, "a dictionary {name: estimator}")
    for name, model in (contest.own or {}).items():
        if isinstance(model, type) or not callable(getattr(model, "fit", None)):
            raise ParameterError(f"own[{name!r}]", model, "a classifier object with fit and predict")
    if contest.journal is not None and not isinstance(contest.journal, (str, os.PathLike)):
        raise ParameterError("journal", contest.journal, "the path of a file")
    for name in ("include", "exclude"):
        value = getattr(contest, name)
        if value is not None and not isinstance(value, (str, list, tuple, set, frozenset)):
            raise ParameterError(name, value, "names of families")


def _all_strings(labels: Array) -> bool:
    return all(isinstance(label, str) for label in labels.tolist())
