"""Columns of strings become numbers where all their values are; columns of any type are described."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nearline.data._base import Column, polars
from nearline.data._dialect import DASHES, MARKERS

NUMBERS = ("integer", "number")
GROUPED = {  # numbers with marks between thousands, and the mark, by whether there is a decimal comma
    False: (re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"), ","),
    True: (re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?"), "."),
}
EXAMPLES = 3
EXAMPLE_LENGTH = 24


@dataclass(frozen=True)
class ReadColumn:
    """A column of a file, which may have become several or none, what to tell about it, and its missing values."""

    columns: list[Any]
    note: str | None = None
    markers: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Cells:
    """How the strings of a delimited file are to be understood.

    All columns are asked at once: a question to polars costs a millisecond, and there may be thousands of columns.
    """

    markers: Sequence[str] = MARKERS
    decimal_comma: bool = False

    def read(self, frame: Any, types: Mapping[str, str | None]) -> list[ReadColumn]:
        """Each column as numbers or strings."""
        pl = polars()
        names = frame.columns
        stripped = frame.select(pl.all().str.strip_chars())
        missing = _any_of(self.markers)
        texts = stripped.select(pl.when(missing(n)).then(None).otherwise(pl.col(n)).alias(n) for n in names)
        numbers = self._numbers(texts)
        dashed = _any_of(DASHES)
        # what is neither a number nor a dash makes a column one of strings
        dashes = texts.select(dashed(n).sum() for n in names).row(0)
        return [
            self._column(types.get(name), *column)
            for name, *column in zip(names, stripped, texts, numbers, dashes)
        ]

    def _column(self, wanted: str | None, stripped: Any, text: Any, number: Any, dashes: int) -> ReadColumn:
        """A column as numbers if it has no other values, or if numbers are wanted."""
        found: Counter[str] = Counter()
        if text.null_count() > stripped.null_count():
            found = Counter(value for value in stripped.to_list() if value in self.markers)
        strange = number.null_count() - text.null_count() - dashes
        marked = self._ungrouped(text) if strange and wanted != "string" else None
        if marked is not None:
            told = f"marks of thousands were taken out of {text.name!r}"
            return ReadColumn([_real(marked) if wanted == "number" else marked], told, found)
        other = strange or number.null_count() == len(number)
        if wanted == "string" or (other and wanted not in NUMBERS):
            return ReadColumn([text], None, found)
        if dashes:
            found += Counter(value for value in text.to_list() if value in DASHES)
        note = (
            f"{strange:,} values of {text.name!r} are no numbers, and taken as missing" if strange else None
        )
        return ReadColumn([_real(number) if wanted == "number" else number], note, found)

    def _ungrouped(self, text: Any) -> Any:
        """Numbers with marks between thousands, as 1,234.5; None where there are other values."""
        pattern, mark = GROUPED[self.decimal_comma]
        if not any(pattern.fullmatch(value) for value in text.drop_nulls().head(100).to_list()):
            return None
        values = [v.replace(mark, "") if v and pattern.fullmatch(v) else v for v in text.to_list()]
        frame = polars().DataFrame([polars().Series(text.name, values, dtype=polars().String)])
        numbers = self._numbers(frame).to_series(0)
        return numbers if numbers.null_count() == text.null_count() else None

    def _numbers(self, texts: Any) -> Any:
        """All columns as numbers, whole ones where all values are; what is no number is missing."""
        pl = polars()
        plain = texts.select(pl.all().str.replace(",", ".", literal=True)) if self.decimal_comma else texts
        real = plain.select(pl.all().cast(pl.Float64, strict=False).fill_nan(None))
        whole = plain.select(pl.all().cast(pl.Int64, strict=False))
        columns = [w if w.null_count() == r.null_count() else r for w, r in zip(whole, real)]
        return pl.DataFrame(columns)


def _real(series: Any) -> Any:
    return series.cast(polars().Float64)


def _any_of(values: Sequence[str]) -> Any:
    """An expression that tells whether a column's value is one of these."""
    pl = polars()
    known = pl.Series(list(values), dtype=pl.String).implode()
    return lambda name: pl.col(name).is_in(known).fill_null(False)


def described(frame: Any) -> tuple[Column, ...]:
    """Name, type, missing values and examples of each column."""
    pl = polars()
    kinds = {series.name: type_of(series) for series in frame}
    strings = [name for name, kind in kinds.items() if kind == "string"]
    distinct = frame.select(pl.col(strings).drop_nulls().n_unique()).row(0, named=True) if strings else {}
    return tuple(
        Column(s.name, kinds[s.name], int(s.null_count()), distinct.get(s.name), _examples(s)) for s in frame
    )


def _examples(series: Any) -> tuple[str, ...]:
    distinct = list(dict.fromkeys(value for value in series.head(100).to_list() if value is not None))
    return tuple(map(_short, distinct[:EXAMPLES]))


def _short(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= EXAMPLE_LENGTH else text[: EXAMPLE_LENGTH - 3] + "..."


def type_of(series: Any) -> str:
    """'integer', 'number', 'date', 'string' or, of a column without values, 'empty'."""
    if series.null_count() == len(series):
        return "empty"
    dtype = series.dtype
    if dtype.is_numeric() or str(dtype) == "Boolean":
        return "integer" if dtype.is_integer() else "number"
    return "date" if dtype.is_temporal() else "string"


def typed(series: Any, wanted: str | None) -> ReadColumn:
    """A column of a typed file as the contest takes it: itself, several of numbers for lists, or none with a note."""
    pl = polars()
    dtype = series.dtype
    kind = str(dtype).partition("(")[0]
    if kind in ("List", "Array"):
        return _spread(series)
    if kind in ("Struct", "Object", "Binary"):
        return ReadColumn([], f"column {series.name!r} was left out: it holds {kind.lower()} values")
    if kind == "Decimal":
        series = series.cast(pl.Float64)
    elif kind in ("Categorical", "Enum", "Null"):
        series = series.cast(pl.String)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    have = type_of(series)
    if wanted in NUMBERS and have not in NUMBERS:
        series = series.cast(pl.String).cast(pl.Float64, strict=False)
    elif wanted == "number" and have == "integer":
        series = _real(series)
    elif wanted == "string" and have != "string":
        series = series.cast(pl.String)
    return ReadColumn([series])


def _spread(series: Any) -> ReadColumn:
    """Lists of numbers of one length, as embeddings are, become as many columns."""
    lengths = (series.list if str(series.dtype).startswith("List") else series.arr).len().unique().to_list()
    inner = series.dtype.inner
    if len(lengths) != 1 or not lengths[0] or not inner.is_numeric():
        return ReadColumn([], f"column {series.name!r} was left out: its lists are not numbers of one length")
    frame = polars().DataFrame(
        series.cast(polars().Array(inner, lengths[0])).to_numpy(),
        schema=[f"{series.name}_{j}" for j in range(1, lengths[0] + 1)],
        orient="row",
    )
    return ReadColumn(frame.get_columns())
