"""Columns of strings become numbers where all their values are; columns of any type are described."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from typing import Any

from nearline._arrays.design import Array
from nearline._records.words import many
from nearline.data._doubts import GUESSED, LOST, SPOILED, Columns
from nearline.data._header import DASHES, MARKERS, is_number
from nearline.data._notation import NOTATIONS, Notation, dates_notation, is_coded, numbers_notation, unit_of
from nearline.data._notation import NUMBERS as NUMBERS_WRITTEN
from nearline.data.base import Column, Doubt, polars

NUMBERS = ("integer", "number")
LEAST_GOOD = 10  # numbers in a column that a few other values spoil
MOST_SPOILED = 0.05
EXAMPLES = 3
EXAMPLE_LENGTH = 24


@dataclass(frozen=True)
class Spoiled:
    """A column that would be numbers but for a few values."""

    name: str
    numbers: int
    values: int
    row: int  # of the first value that is none
    value: str


@dataclass(frozen=True)
class ReadColumn:
    """A column of a file, which may have become several or none, what to tell about it, and its missing values."""

    columns: list[Any]
    note: str | None = None
    markers: Counter[str] = field(default_factory=Counter)
    kind: str | None = None  # where the values alone do not tell: a notation, or 'category'
    spoiled: Spoiled | None = None
    doubt: Doubt | None = None


@dataclass(frozen=True)
class Cells:
    """How the strings of a delimited file are to be understood.

    All columns are asked at once: a question to polars costs a millisecond, and there may be thousands of columns.
    """

    markers: Sequence[str] = MARKERS
    decimal_comma: bool = False

    def read(self, frame: Any, types: Mapping[str, str | None]) -> list[ReadColumn]:
        """Each column as numbers, dates or strings."""
        pl = polars()
        names = frame.columns
        stripped = frame.select(pl.all().str.strip_chars())
        missing = _any_of(self.markers)
        texts = stripped.select(pl.when(missing(n)).then(None).otherwise(pl.col(n)).alias(n) for n in names)
        numbers = self._numbers(texts)
        dashed = _any_of(DASHES)
        # what is neither a number nor a dash makes a column one of strings
        dashes = texts.select(dashed(n).sum() for n in names).row(0)
        padded = texts.select(pl.col(n).str.contains(r"^0\d{2,}$").any() for n in names).row(0)
        return [
            self._column(types.get(name), *column)
            for name, *column in zip(names, stripped, texts, numbers, dashes, padded)
        ]

    def _column(
        self, wanted: str | None, stripped: Any, text: Any, number: Any, dashes: int, padded: bool
    ) -> ReadColumn:
        """A column as numbers if it has no other values, or if numbers are wanted."""
        found: Counter[str] = Counter()
        if text.null_count() > stripped.null_count():
            found = _counted(stripped, self.markers)
        if wanted == "category":
            return ReadColumn([text.cast(polars().Categorical)], None, found, wanted)
        if wanted in NOTATIONS:
            return _written(text, NOTATIONS[wanted], None, found)
        strange = number.null_count() - text.null_count() - dashes
        if wanted is None and padded and not strange and is_coded(_distinct(text)):
            padding = f"{text.name!r} has leading zeros: its values are codes, not numbers"
            return ReadColumn([text], padding, found)
        if strange and wanted != "string":
            notation, told = self._notation(text, wanted)
            if notation is not None:
                guessed = told is not None and notation not in NUMBERS_WRITTEN
                return _written(text, notation, told, found, GUESSED if guessed else None)
        other = strange or number.null_count() == len(number)
        if wanted == "string" or (other and wanted not in NUMBERS):
            spoiled = _spoiled(text, number, strange)
            return ReadColumn(
                [text], None, found, spoiled=spoiled, doubt=None if spoiled is None else SPOILED
            )
        if dashes:
            found += _counted(text, DASHES)
        note = (
            f"no numbers, and taken as missing: {many(strange, 'value')} of {text.name!r}"
            if strange
            else None
        )
        series = _real(number) if wanted == "number" else number
        return ReadColumn([series], note, found, doubt=LOST if strange else None)

    def _notation(self, text: Any, wanted: str | None) -> tuple[Notation | None, str | None]:
        """The notation that all values are written in, and what to tell about it."""
        distinct = _distinct(text)
        if not distinct:
            return None, None
        if wanted != "date" and (found := numbers_notation(distinct, self.decimal_comma)) is not None:
            unit = unit_of(distinct[0])
            more = f", without their {unit}" if unit else ""
            return found, f"{text.name!r} is read as {found.name.replace('number', 'numbers like')}{more}"
        if wanted in NUMBERS:
            return None, None
        date, unsure = dates_notation(distinct)
        if date is None or not unsure:
            return date, None
        return date, (
            f"{text.name!r} is read as {date.name}, but no value tells day and month apart: write dates as 2024-05-31 to be "
            "sure"
        )

    def _numbers(self, texts: Any) -> Any:
        """All columns as numbers, whole ones where all values are; what is no number is missing."""
        pl = polars()
        plain = texts.select(pl.all().str.replace(",", ".", literal=True)) if self.decimal_comma else texts
        real = plain.select(pl.all().cast(pl.Float64, strict=False).fill_nan(None))
        whole = plain.select(pl.all().cast(pl.Int64, strict=False))
        columns = [w if w.null_count() == r.null_count() else r for w, r in zip(whole, real)]
        return pl.DataFrame(columns)


def _counted(text: Any, values: Sequence[str]) -> Counter[str]:
    """How often each of these occurs."""
    there = text.filter(text.is_in(list(values))).value_counts()
    return Counter(dict(there.iter_rows()))


def _distinct(text: Any) -> list[str]:
    return [value for value in text.drop_nulls().unique(maintain_order=True).to_list() if value not in DASHES]


def _written(
    text: Any, notation: Notation, told: str | None, found: Counter[str], doubt: Doubt | None = None
) -> ReadColumn:
    """A column by its notation; what is not written so is missing."""
    pl = polars()
    values = {value: notation.value(value) for value in _distinct(text)}
    lost = [value for value, read in values.items() if read is None]
    if notation in NUMBERS_WRITTEN:  # a plain number is one in any notation
        values |= {value: float(value) for value in lost if is_number(value)}
        lost = [value for value in lost if values[value] is None]
    kind = pl.Float64 if notation in NUMBERS_WRITTEN else pl.Datetime("us")
    known = pl.Series(list(values), dtype=pl.String), pl.Series(list(values.values()), dtype=kind)
    series = text.replace_strict(*known, default=None, return_dtype=kind).alias(text.name)
    if kind != pl.Float64 and (series.dt.time() == time()).all():  # days without a time of day
        series = series.cast(pl.Date)
    if lost:
        told = f"{len(lost):,} different values of {text.name!r} are not written as {notation.name}, and taken as missing"
    return ReadColumn([series], told, found, notation.name, doubt=LOST if lost else doubt)


def _spoiled(text: Any, number: Any, strange: int) -> Spoiled | None:
    """The first value that keeps a column from being numbers, where few do."""
    good = len(number) - number.null_count()
    if not strange or good < LEAST_GOOD or strange > MOST_SPOILED * good:
        return None
    row = next(
        i for i, (t, n) in enumerate(zip(text, number)) if t is not None and n is None and t not in DASHES
    )
    return Spoiled(text.name, good, good + strange, row, text[row])


def _real(series: Any) -> Any:
    return series.cast(polars().Float64)


def _any_of(values: Sequence[str]) -> Any:
    """An expression that tells whether a column's value is one of these."""
    pl = polars()
    known = pl.Series(list(values), dtype=pl.String).implode()
    return lambda name: pl.col(name).is_in(known).fill_null(False)


def described(frame: Any, read: Sequence[ReadColumn], y: Array | None, part: bool) -> tuple[Column, ...]:
    """Name, type (its notation where one is known), missing values, examples and doubts of each column; a part has none."""
    pl = polars()
    known = {one.columns[0].name: one.kind for one in read if one.kind is not None}
    kinds = {series.name: known.get(series.name) or type_of(series) for series in frame}
    strings = [name for name, kind in kinds.items() if kind in ("string", "category")]
    distinct = frame.select(pl.col(strings).drop_nulls().n_unique()).row(0, named=True) if strings else {}
    seen = {one.columns[0].name: (one.doubt,) for one in read if one.doubt is not None}
    doubts = {} if part else Columns(frame, kinds, y).doubts()
    return tuple(
        Column(
            s.name,
            kinds[s.name],
            int(s.null_count()),
            distinct.get(s.name),
            _examples(s),
            (*seen.get(s.name, ()), *doubts.get(s.name, ())),
        )
        for s in frame
    )


def _examples(series: Any) -> tuple[str, ...]:
    distinct = list(dict.fromkeys(value for value in series.head(100).to_list() if value is not None))
    return tuple(map(_short, distinct[:EXAMPLES]))


def _short(value: Any) -> str:
    text = (
        f"{value:g}" if isinstance(value, float) else " ".join(str(value).split()).removesuffix(" 00:00:00")
    )
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
    if wanted in NOTATIONS and have == "string":
        return _written(series.cast(pl.String), NOTATIONS[wanted], None, Counter())
    if wanted == "category":
        return ReadColumn([series.cast(pl.String).cast(pl.Categorical)], kind=wanted)
    wanted = wanted and wanted.partition(" ")[0]  # without the notation
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
