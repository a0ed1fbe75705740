"""Columns of a table, read row by row: what is a number, a date or a string; nothing is learned from other rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._parallel.tiles import steps
from nearline.representations._distinct import MANY, distinct_texts
from nearline.representations._runs import count_runs
from nearline.representations.base import is_frame, kind_of_series, library_of, names_of, series_of
from nearline.representations.texts import dampened

MISSING = frozenset(
    {
        "",
        "?",
        "nan",
        "NaN",
        "-nan",
        "-NaN",
        "NA",
        "<NA>",
        "N/A",
        "n/a",
        "#N/A",
        "#NA",
        "NaT",
        "None",
        "null",
        "NULL",
    }
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
GRAMS = (3, 4)  # shortest and longest runs of characters of long strings


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return np.nan
    return value if np.isfinite(value) and "_" not in text else np.nan


def _seconds(text: str) -> float:
    """Seconds since 1970 of an ISO date, 2024-05-31 or 2024/05/31 with or without a time of day; else NaN."""
    if len(text) < 8 or not text[:4].isdigit() or text[4] not in "-/":
        return np.nan
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return np.nan
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH).total_seconds()


@dataclass(frozen=True, eq=False)
class Strings:
    """The distinct strings of a column, sorted, and what each says; rows share them, so each is read once."""

    values: list[str]
    learned: dict[bytes, Any] = field(default_factory=dict)  # from which rows, by their fingerprint: what

    @once
    def numbers(self) -> Array:
        return np.array([_number(text) for text in steps(self.values, MANY)], dtype=np.float64)

    @once
    def seconds(self) -> Array:
        return np.array([_seconds(text) for text in steps(self.values, MANY)], dtype=np.float64)

    @once
    def grams(self) -> tuple[csr_matrix, Array]:
        """Dampened counts of runs of characters, and these; the last row, of missing strings, is empty."""
        if not self.values:
            return csr_matrix(np.zeros((1, 1), dtype=np.float32)), np.array([""], dtype=object)
        counts, runs = count_runs([*self.values, ""], *GRAMS)
        return dampened(counts), runs


class Column(ABC):
    """One column, seen as numbers, as dates or as strings, whatever it was declared to be."""

    kind: str

    @property
    @abstractmethod
    def numbers(self) -> Array:
        """(n,) float64, NaN where there is none."""

    @property
    @abstractmethod
    def seconds(self) -> Array:
        """(n,) seconds since 1970, NaN where there is no date."""

    @abstractmethod
    def strings(self) -> "StringColumn":
        """The column as strings."""

    @abstractmethod
    def take(self, rows: Array | slice) -> "Column":
        """Some of the rows."""

    @abstractmethod
    def __len__(self) -> int:
        """Rows."""


@dataclass(frozen=True, eq=False)
class NumberColumn(Column):
    """Numbers and truth values."""

    kind = "number"
    values: Array

    @property
    def numbers(self) -> Array:
        return self.values

    @property
    def seconds(self) -> Array:
        return np.full(len(self.values), np.nan)

    def strings(self) -> "StringColumn":
        return read_strings([int(v) if v == np.floor(v) else v for v in self.values.tolist()])

    def take(self, rows: Array | slice) -> Column:
        return NumberColumn(self.values[rows])

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class DateColumn(Column):
    """Dates, with or without a time of day."""

    kind = "date"
    values: Array  # (n,) seconds since 1970, NaN where missing

    @property
    def numbers(self) -> Array:
        return np.full(len(self.values), np.nan)

    @property
    def seconds(self) -> Array:
        return self.values

    def strings(self) -> "StringColumn":
        holes = np.isnan(self.values)
        moments = np.where(holes, 0, self.values).astype(np.int64).astype("M8[s]").tolist()
        # a day is written without its midnight, as in the files that dates come from
        texts = [str(moment).removesuffix(" 00:00:00") for moment in moments]
        return read_strings(np.where(holes, "", np.array(texts, dtype=object)))

    def take(self, rows: Array | slice) -> Column:
        return DateColumn(self.values[rows])

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class StringColumn(Column):
    """Anything else, as strings: the number of each row's string, -1 where missing."""

    kind = "string"
    codes: Array
    distinct: Strings

    @property
    def fingerprint(self) -> bytes:
        """Of the rows: those with the same distinct strings and the same fingerprint are the same."""
        return blake2b(self.codes.tobytes(), digest_size=16).digest()

    def present(self) -> Array:
        """Numbers of the strings that occur, in order."""
        return np.flatnonzero(np.bincount(self.codes + 1, minlength=1)[1:])

    def grams(self) -> tuple[csr_matrix, Array]:
        """Dampened counts of runs of characters of each row, and these."""
        tf, tokens = self.distinct.grams
        return tf[self.codes], tokens

    def _looked_up(self, values: Array) -> Array:
        return np.append(values, np.nan)[self.codes]  # -1 finds the NaN at the end

    @property
    def numbers(self) -> Array:
        return self._looked_up(self.distinct.numbers)

    @property
    def seconds(self) -> Array:
        return self._looked_up(self.distinct.seconds)

    def strings(self) -> "StringColumn":
        return self

    def take(self, rows: Array | slice) -> Column:
        return StringColumn(self.codes[rows], self.distinct)

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class CategoryColumn(StringColumn):
    """Strings that are declared to be categories, whatever they look like."""

    kind = "category"

    def take(self, rows: Array | slice) -> Column:
        return CategoryColumn(self.codes[rows], self.distinct)


def _read_categories(values: Any) -> Column:
    strings = read_strings(values)
    return CategoryColumn(strings.codes, strings.distinct)


def read_strings(values: Any) -> StringColumn:
    """Strings without the spaces around them, numbered in sorted order; what stands for a missing value is missing."""
    numbers, texts = distinct_texts(values)
    stripped = [text.strip() for text in steps(texts, MANY)]
    known = sorted(set(stripped) - MISSING)
    place = dict(zip(known, range(len(known))))
    codes = np.array([place.get(text, -1) for text in stripped], dtype=np.int32)
    return StringColumn(codes[numbers] if len(codes) else numbers, Strings(known))


def _read_numbers(values: Any) -> Column:
    return NumberColumn(np.ascontiguousarray(values, dtype=np.float64))


def _read_dates(values: Any) -> Column:
    moments = np.asarray(values).astype("M8[us]")
    return DateColumn(np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6))


def _read_durations(values: Any) -> Column:
    spans = np.asarray(values).astype("m8[us]")
    return NumberColumn(np.where(np.isnat(spans), np.nan, spans.astype(np.int64) / 1e6))


READ: dict[str, Callable[[Any], Column]] = {
    "number": _read_numbers,
    "date": _read_dates,
    "duration": _read_durations,
    "category": _read_categories,
    "string": read_strings,
}


def _pandas_values(series: Any, kind: str) -> Any:
    dtypes = {"number": np.float64, "date": "M8[us]", "duration": "m8[us]"}
    if kind == "number":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind == "date" and getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    return series.to_numpy(dtype=dtypes[kind]) if kind in dtypes else series


def _polars_values(series: Any, kind: str) -> Any:
    if kind in ("string", "category"):
        return series
    return (series.cast(float) if kind == "number" else series).to_numpy()


VALUES: dict[str, Callable[[Any, str], Any]] = {"pandas": _pandas_values, "polars": _polars_values}


def read_series(series: Any) -> Column:
    """A column of a frame, by what its type declares."""
    kind = kind_of_series(series)
    return READ[kind](VALUES[library_of(series)](series, kind))


def read_columns(X: Any) -> dict[str, Column]:
    """The columns of a frame or of a two-dimensional array, by name (x0, x1, ... where there is none)."""
    if is_frame(X):
        columns = dict(zip(names_of(X), map(read_series, steps(series_of(X)))))
    else:
        values = np.asarray(X)
        if values.ndim != 2:
            raise ValueError(f"A table needs rows and columns, got an array of shape {values.shape}.")
        kind = "number" if values.dtype.kind in "biuf" else "string"
        columns = {f"x{j}": READ[kind](values[:, j]) for j in range(values.shape[1])}
    for name, column in columns.items():
        if np.isinf(column.numbers).any():
            raise ValueError(f"Column {name!r} has infinite values: replace them, or make them missing.")
    return columns
