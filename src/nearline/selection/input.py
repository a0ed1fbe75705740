"""What users give, checked: arrays, CSR matrices, frames, lists of texts; labels of any kind."""

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_feature_names, validate_data

from nearline.arrays import Array
from nearline.representations import kind_of

NUMERIC = ("numbers", "sparse")


def checked_rows(model: Any, X: Any, y: Any = None, *, reset: bool = True) -> tuple[Any, Array]:
    """Rows as the representations take them, and labels (n,); the model remembers the features, or compares with them."""
    kind = kind_of(X)
    if not reset and (kind in NUMERIC) != (model._kind in NUMERIC):
        raise ValueError(
            f"The model was fitted on {model._kind}, got {kind}: give the columns or texts of the fit."
        )
    labels = np.empty(0) if y is None else checked_labels(y)
    if kind in NUMERIC:
        X = validate_data(
            model, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan"
        )
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
            f"{len(rows)} labels are missing (NaN or None), the first in row {rows[0]}: drop these rows or label them."
        )
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    return labels.astype(str) if labels.dtype == object and _all_strings(labels) else labels


def _all_strings(labels: Array) -> bool:
    return all(isinstance(label, str) for label in labels.tolist())
