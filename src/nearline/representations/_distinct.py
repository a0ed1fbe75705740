"""The different values of a column, and which of them each row has: by the column's own library where that is quick."""

from collections.abc import Callable
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import steps
from nearline.representations.base import library_of

MANY = 4096  # values that are read between two checkpoints


def distinct_texts(values: Any) -> tuple[Array, list[str]]:
    """The number (n,) of each row's text, int32, and the different texts in the order in which they come.

    Examples
    --------
    >>> from nearline.representations._distinct import distinct_texts
    >>> numbers, texts = distinct_texts(["red", 5, "red", None])
    >>> numbers.tolist(), texts
    ([0, 1, 0, 2], ['red', '5', 'None'])
    """
    found = distinct_strings(values)
    if found is not None:
        return found[0], list(map(str, found[1]))
    listed = values.to_list() if library_of(values) in LIBRARIES else values
    first: dict[str, int] = {}
    numbers = np.fromiter((first.setdefault(str(v), len(first)) for v in steps(listed, MANY)), np.int32)
    return numbers, list(first)


def distinct_strings(values: Any) -> tuple[Array, list[str | None]] | None:
    """The same of a series of strings, some of them perhaps missing (None); None of anything else."""
    return LIBRARIES.get(library_of(values), lambda _: None)(values)


def _of_polars(series: Any) -> tuple[Array, list[str | None]] | None:
    import polars as pl

    if str(series.dtype).partition("(")[0] in ("Categorical", "Enum"):
        series = series.cast(pl.String)
    if series.dtype != pl.String:
        return None
    different = series.unique(maintain_order=True)
    numbers = pl.Series(np.arange(len(different), dtype=np.int32))
    found = series.replace_strict(different, numbers, return_dtype=pl.Int32)
    return found.cast(pl.Int32).to_numpy(), different.to_list()


def _of_pandas(series: Any) -> tuple[Array, list[str | None]] | None:
    import pandas as pd

    values = series.astype(object).to_numpy()
    if pd.api.types.infer_dtype(values, skipna=True) != "string":
        return None  # 1, 1.0 and True are equal, their texts are not
    numbers, different = pd.factorize(values, use_na_sentinel=True)
    holes = numbers < 0
    numbers[holes] = len(different)
    return numbers.astype(np.int32), [*different.tolist(), *([None] if holes.any() else [])]


LIBRARIES: dict[str, Callable[[Any], tuple[Array, list[str | None]] | None]] = {
    "polars": _of_polars,
    "pandas": _of_pandas,
}
