"""scikit-learn's checks of input, behind the one door for sparse matrices (:func:`nearline._arrays.design.admitted`).

scikit-learn converts formats, and so follows indices, before it looks at any. All of the package takes these functions
from here; the linter holds it.

What scikit-learn would give back as it is, and most of what comes is, passes by a quick look (:func:`is_plain`,
:func:`are_plain_labels`): its checks take longer than many a fit. All else goes through them, and is refused by them.
"""

from math import isfinite
from typing import Any

import numpy as np
from sklearn import utils
from sklearn.utils import validation

from nearline._arrays.design import Array, admitted
from nearline._arrays.doors import refuse_blocks
from nearline._arrays.missing import missing_explained

NOTHING = "no_validation"


def is_plain(X: Any) -> bool:
    """Whether rows are a C-contiguous array of finite float32 or float64, which no check would change or refuse."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.char not in "df" or not X.size:
        return False
    if not (X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return isfinite(X.sum())


def are_plain_labels(y: Any, n_rows: int) -> bool:
    """Whether labels are an array of as many whole numbers, truth values or strings, which no check would refuse."""
    return type(y) is np.ndarray and y.shape == (n_rows,) and y.dtype.kind in "iubU" and y.dtype.isnative


def validate_data(estimator: Any, X: Any = NOTHING, y: Any = NOTHING, **options: Any) -> Any:
    """:func:`sklearn.utils.validation.validate_data`."""
    refuse_blocks(type(estimator).__name__, X)
    X = admitted(X)
    with missing_explained(X):
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
