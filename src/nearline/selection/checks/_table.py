"""Table: one view of arrays, sparse matrices, data frames and texts; a column is numbers, categories or times."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from nearline._arrays.design import Array, admitted
from nearline._arrays.validation import is_missing
from nearline.representations import distinct_strings

BLANKS = ("", "?")  # what files write for a missing value
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")


@dataclass(frozen=True)
class Column:
    """Numbers with NaN for missing, or codes into levels with -1 for missing."""

    name: str
    kind: str  # "number", "category" or "time"
    values: Array  # (n,) float64 of a number, else codes
    levels: list[Any]  # what the codes stand for
    place: int = 0  # among the columns

    @property
    def missing(self) -> Array:
        """Which rows have no value."""
        return np.isnan(self.values) if self.kind == "number" else self.values < 0

    def codes(self) -> Array:
        """A code for each distinct value, missing being one of them."""
        if self.kind != "number":
            return self.values + 1
        return np.asarray(np.unique(self.values, return_inverse=True)[1])


@dataclass(frozen=True)
class CheckedTable:
    """Rows of any kind that a classifier takes."""

    kind: str  # "array" of numbers, "sparse", "frame" or "texts"
    data: Any
    names: list[str]
    n_rows: int

    @property
    def n_columns(self) -> int:
        """Texts have one."""
        return len(self.names)

    def column(self, j: int, rows: Array | None = None) -> Column:
        """The column at place j, of the given rows."""
        if self.kind == "frame" and not isinstance(self.data, np.ndarray):
            return replace(self._of_frame(j, rows), place=j)
        return replace(as_column(self.names[j], self._values(j, rows)), place=j)

    def _of_frame(self, j: int, rows: Array | None) -> Column:
        series = _safe_indexing(self.data, j, axis=1)
        series = series if rows is None else _safe_indexing(series, rows)
        strings = distinct_strings(series)
        if strings is None:
            return as_column(self.names[j], np.asarray(series.to_numpy()))
        return _coded(self.names[j], *_without_missing(*strings))

    def _values(self, j: int, rows: Array | None) -> Array:
        at = slice(None) if rows is None else rows
        if self.kind == "sparse":
            part = self.data[:, [j]] if rows is None else self.data[rows][:, [j]]
            return np.asarray(part.toarray()[:, 0])
        if self.kind == "texts":
            return np.asarray(self.data[at])
        return np.asarray(self.data[at, j])

    def ordered_as(self, other: "CheckedTable") -> "CheckedTable":
        """The same with a frame's columns in the other's order, if their names say how."""
        same = self.kind == "frame" == other.kind and len(set(self.names)) == self.n_columns
        if not same or self.names == other.names or set(self.names) != set(other.names):
            return self
        order = [self.names.index(name) for name in other.names]
        return CheckedTable("frame", _safe_indexing(self.data, order, axis=1), other.names, self.n_rows)


def as_table(X: Any, names: Sequence[str] | None = None) -> CheckedTable:
    """X as a table; strings in one dimension are texts, a frame keeps its column names, an array may be given some."""
    table = _as_table(X)
    return table if names is None or len(names) != table.n_columns else replace(table, names=list(names))


def _as_table(X: Any) -> CheckedTable:
    if issparse(X):
        return _sparse_table(X)
    columns = getattr(X, "columns", None)
    if columns is not None:
        return CheckedTable("frame", X, [str(name) for name in columns], X.shape[0])
    X = _as_array(X)
    n = X.shape[0] if X.ndim else 0
    if X.ndim < 2:
        if _has_strings(X):
            return CheckedTable("texts", X, ["text"], n)
        X = X.reshape(n, 1)
    X = X.reshape(n, int(np.prod(X.shape[1:])))
    kind = "array" if X.dtype.kind in "fiub" else "frame"
    return CheckedTable(kind, X, _numbered(X.shape[1]), n)


def _sparse_table(X: Any) -> CheckedTable:
    X = admitted(X).copy()  # the call below works in place
    X.eliminate_zeros()
    return CheckedTable("sparse", X, _numbered(X.shape[1]), X.shape[0])


def as_column(name: str, values: Array) -> Column:
    """Values of any type as numbers, categories or times."""
    if values.ndim > 1:  # a column of records or of lists
        values = np.array([repr(value) for value in values.tolist()], dtype=object)
    if values.dtype.kind in "fiub":
        return Column(name, "number", values.astype(np.float64), [])
    if values.dtype.kind == "m":
        seconds = values.astype("timedelta64[us]").astype(np.float64) / 1e6
        return Column(name, "number", np.where(np.isnat(values), np.nan, seconds), [])
    if values.dtype.kind == "M":
        times, places = np.unique(values, return_inverse=True)
        return Column(name, "time", np.where(np.isnat(values), -1, places), list(times[~np.isnat(times)]))
    return _coded(name, *encode(values))


def _coded(name: str, codes: Array, levels: list[Any]) -> Column:
    """Codes and their levels, which may be numbers, written out, or times."""
    numbers = _as_numbers(levels)
    if numbers is not None:
        return Column(name, "number", np.append(numbers, np.nan)[codes], [])
    return Column(name, "time" if _are_times(levels) else "category", codes, levels)


def encode(values: Array) -> tuple[Array, list[Any]]:
    """Codes in order of appearance, -1 where missing, and the levels."""
    seen: dict[Any, int] = {}
    listed = values.tolist()
    try:
        raw = np.array([seen.setdefault(value, len(seen)) for value in listed], dtype=np.intp)
    except TypeError:  # lists, dicts: their text stands for them
        seen = {}
        raw = np.array([seen.setdefault(repr(value), len(seen)) for value in listed], dtype=np.intp)
    return _without_missing(raw, list(seen))


def _without_missing(raw: Array, seen: list[Any]) -> tuple[Array, list[Any]]:
    """Codes among the levels that are values, -1 where missing."""
    present = np.array([not _is_missing(value) for value in seen], dtype=bool)
    final = np.where(present, np.cumsum(present) - 1, -1)
    codes = final[raw] if len(raw) else raw
    return codes, [value for value, here in zip(seen, present) if here]


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip() in BLANKS
    return is_missing(value)


def _as_numbers(levels: list[Any]) -> Array | None:
    """Levels as numbers if all are numbers or spell one."""
    if not levels:
        return np.empty(0)  # all missing
    if not all(isinstance(level, (Real, str, bytes, np.number)) for level in levels):
        return None
    try:
        return np.array([float(level) for level in levels])
    except (ValueError, OverflowError):
        return None


def _are_times(levels: list[Any]) -> bool:
    if all(isinstance(level, datetime.date) for level in levels):  # pandas' time stamps are dates as well
        return True
    some = levels[:: max(1, len(levels) // 200)]
    good = sum(isinstance(level, str) and ISO_DATE.fullmatch(level.strip()) is not None for level in some)
    return good >= 0.95 * len(some)


def _as_array(X: Any) -> Array:
    if not isinstance(X, (list, tuple)):
        return np.asarray(X)
    # As objects: else numpy makes numbers beside strings strings, and every string as wide as the longest.
    objects = np.asarray(X, dtype=object)
    if any(isinstance(value, (str, bytes)) for value in objects.flat):
        return objects
    try:
        plain = np.asarray(X)
    except ValueError:  # rows of unequal length
        return objects
    return plain if plain.dtype.kind in "fiub" else objects


def _has_strings(X: Array) -> bool:
    return X.dtype.kind in "US" or (X.dtype.kind in "OT" and any(isinstance(value, str) for value in X[:100]))


def _numbered(n: int) -> list[str]:
    return [f"column {j + 1}" for j in range(n)]
