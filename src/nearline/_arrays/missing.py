"""Values that are missing (NaN) where a model needs numbers: where they are, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from nearline._arrays.design import is_sparse

SHOWN = 5  # columns that are named


@contextmanager
def missing_explained(X: Any) -> Iterator[None]:
    """scikit-learn's refusal of NaN in X meanwhile, with the places, and with what nearline does about them."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("Input X contains NaN"):
            raise
        raise ValueError(_said(X)) from None


def _said(X: Any) -> str:
    rows, columns = _places(X)
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


def _places(X: Any) -> tuple[Any, Any]:
    """Rows and columns of what is missing."""
    if is_sparse(X):
        there = X.tocoo()
        missing = np.isnan(there.data)
        return there.row[missing], there.col[missing]
    rows, columns = np.nonzero(np.isnan(np.asarray(X, dtype=np.float64)))
    return rows, columns
