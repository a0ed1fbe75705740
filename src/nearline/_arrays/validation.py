"""scikit-learn's checks of input, behind the one door for sparse matrices (:func:`nearline._arrays.design.admitted`).

scikit-learn converts formats, and so follows indices, before it looks at any. All of the package takes these functions
from here; the linter holds it.
"""

from typing import Any

from sklearn import utils
from sklearn.utils import validation

from nearline._arrays.design import Array, admitted

NOTHING = "no_validation"


def validate_data(estimator: Any, X: Any = NOTHING, y: Any = NOTHING, **options: Any) -> Any:
    """:func:`sklearn.utils.validation.validate_data`."""
    return validation.validate_data(estimator, admitted(X), admitted(y, "y"), **options)


def check_array(X: Any, **options: Any) -> Any:
    """:func:`sklearn.utils.check_array`."""
    return utils.check_array(admitted(X), **options)


def indexable(*given: Any) -> list[Any]:
    """:func:`sklearn.utils.indexable`."""
    return list(utils.indexable(*map(admitted, given)))


def check_weights(sample_weight: Any, X: Any) -> Array:
    """Sample weights (n,), float64 and >= 0; 1 each if None."""
    return validation._check_sample_weight(
        admitted(sample_weight, "sample_weight"), X, dtype="float64", ensure_non_negative=True
    )
