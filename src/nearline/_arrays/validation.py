"""scikit-learn's checks of input, behind the one door for sparse matrices (:func:`nearline._arrays.design.admitted`).

scikit-learn converts formats, and so follows indices, before it looks at any. All of the package takes these functions
from here; the linter holds it.

What scikit-learn would give back as it is, and most of what comes is, passes by a quick look (:func:`is_plain`,
:func:`are_plain_labels`): its checks take longer than many a fit. All else goes through them, and is refused by them.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import isfinite
from typing import Any

import numpy as np
from sklearn import utils
from sklearn.utils import validation

from nearline._arrays.design import Array, admitted, is_sparse
from nearline._arrays.doors import refuse_blocks

NOTHING = "no_validation"
SHOWN = 5  # columns with missing values that are named


def is_plain_sparse(X: Any) -> bool:
    """Whether a sparse matrix that :func:`admitted` let in is CSR of finite float32 or float64, as the checks ask."""
    return X.format == "csr" and 0 not in X.shape and X.dtype.char in "df" and _sums_to_a_number(X.data)


def is_plain(X: Any) -> bool:
    """Whether rows are a C-contiguous array of finite float32 or float64, which no check would change or refuse."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.char not in "df" or not X.size:
        return False
    if not (X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative):
        return False
    return _sums_to_a_number(X)


def _sums_to_a_number(values: Array) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return isfinite(values.sum())


def are_plain_labels(y: Any, n_rows: int) -> bool:
    """Whether labels are an array of as many whole numbers, truth values or strings, which no check would refuse."""
    return type(y) is np.ndarray and y.shape == (n_rows,) and y.dtype.kind in "iubU" and y.dtype.isnative


def validate_data(estimator: Any, X: Any = NOTHING, y: Any = NOTHING, **options: Any) -> Any:
    """:func:`sklearn.utils.validation.validate_data`."""
    refuse_blocks(type(estimator).__name__, X)
    X = admitted(X)
    with missing_explained(X) if options.get("ensure_all_finite", True) is True else nullcontext():
        return validation.validate_data(estimator, X, admitted(y, "y"), **options)


def check_array(X: Any, **options: Any) -> Any:
    """:func:`sklearn.utils.check_array`."""
    return utils.check_array(admitted(X), **options)


def indexable(*given: Any) -> list[Any]:
    """:func:`sklearn.utils.indexable`."""
    return list(utils.indexable(*map(admitted, given)))


def check_weights(sample_weight: Any, X: Any) -> Array:
    """Sample weights (n,), float64 and >= 0; 1 each if None."""
    if sample_weight is None:
        return np.ones(validation._num_samples(X))
    return validation._check_sample_weight(
        admitted(sample_weight, "sample_weight"), X, dtype="float64", ensure_non_negative=True
    )


def is_missing(value: Any) -> bool:
    """Whether a value of a column is none: None, NaN, and pandas' NA and NaT, told by name since pandas may be absent."""
    return type(value).__name__ in ("NoneType", "NAType", "NaTType") or (
        isinstance(value, (float, np.floating)) and value != value  # NaN alone differs from itself
    )


@contextmanager
def missing_explained(X: Any) -> Iterator[None]:
    """scikit-learn's refusal of NaN in X meanwhile, with the places, and with what nearline does about them."""
    try:
        yield
    except ValueError:
        rows, columns = _places(X)
        if not len(rows):  # it was refused for something else
            raise
        raise ValueError(_said(X, rows, columns)) from None


def _said(X: Any, rows: Array, columns: Array) -> str:
    names = getattr(X, "columns", None)
    numbers = np.unique(columns).tolist()
    called = [repr(names[j]) if names is not None else f"{j + 1:,}" for j in numbers[:SHOWN]]
    more = f" and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else ""
    return (
        f"Input X contains NaN: {len(rows):,} value{'s'[: len(rows) != 1]} in column{'s'[: len(numbers) != 1]} "
        f"{', '.join(called)}{more}, the first in row {int(rows.min()) + 1:,} (counted from 1). Fill them in inside of a "
        "pipeline (sklearn.impute.SimpleImputer(add_indicator=True)), drop these rows, or give all rows to "
        "nearline.TryThemAll, which fills them in on each fold and marks where they were."
    )


def _places(X: Any) -> tuple[Array, Array]:
    """Rows and columns of what is missing in a table of numbers."""
    nowhere = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    if is_sparse(X):
        there = X.tocoo()
        missing = np.isnan(there.data)
        return there.row[missing], there.col[missing]
    given = np.asarray(X)
    if given.ndim != 2 or given.dtype.kind not in "fO":
        return nowhere
    try:
        rows, columns = np.nonzero(np.isnan(given.astype(np.float64)))
    except (TypeError, ValueError):
        return nowhere
    return rows, columns
