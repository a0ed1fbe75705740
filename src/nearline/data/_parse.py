"""Text in a known dialect to columns of strings: regular lines by polars, quotes and ragged lines by the csv module."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from nearline.data._dialect import SPACES, Dialect, long_fields, records
from nearline.data.base import DataError, polars

SWALLOWED = 20  # rows in a field by which a quote that was not closed is told from a text


@dataclass(frozen=True)
class Part:
    """Some rows of a file, and the number of fields of those that have too few or too many."""

    columns: Sequence[Any]  # series of strings
    rows: int
    seen: int  # records, with those before the first row
    ragged: dict[int, int] = field(default_factory=dict)

    def frame(self) -> Any:
        """The rows as a polars frame."""
        return polars().DataFrame(self.columns)


def parsed(text: str, dialect: Dialect) -> Part:
    """All rows."""
    part = None if _quoted(text, dialect) else _regular(text, dialect, dialect.lead)
    if part is not None:
        return part
    with long_fields(), _said():
        found = list(records(io.StringIO(text), dialect))
    return _from_records(found, dialect, dialect.lead)


def next_part(chunk: list[str], more: Iterator[str], dialect: Dialect, skip: int) -> Part:
    """The rows of the next lines; of a record in quotes that goes on beyond them, further lines are taken."""
    text = "".join(chunk)
    part = None if _quoted(text, dialect) else _regular(text, dialect, skip)
    if part is not None:
        return part
    used = 0

    def lines() -> Iterator[str]:
        nonlocal used
        for line in chain(chunk, more):
            used += 1
            yield line

    found = []
    with long_fields(), _said():
        for row in records(lines(), dialect):
            found.append(row)
            if used >= len(chunk):
                break
    return _from_records(found, dialect, skip)


def record_lines(lines: Iterator[str], dialect: Dialect) -> Iterator[int]:
    """The line, counted from 1, that each record begins in; comments are none."""
    used = 0

    def counted() -> Iterator[str]:
        nonlocal used
        for line in lines:
            used += 1
            yield line

    with long_fields(), _said():
        for row in records(counted(), dialect):
            if not (dialect.comment and row[0].lstrip(" ").startswith(dialect.comment)):
                yield used - sum(field.count("\n") for field in row)


def _check_closed(found: list[list[str]], dialect: Dialect) -> None:
    """Refuse a record that took further rows for one of its fields, as its quote has no partner."""
    for number, row in enumerate(found, 1):
        taken = row[-1].split("\n")[1:] if row[-1].count("\n") >= SWALLOWED else []
        alike = sum(line.count(dialect.delimiter) == dialect.width - 1 for line in taken)
        if 2 * alike > len(taken):
            raise DataError(
                f"A quote opens in record {number:,} and takes {len(taken):,} lines, most of which look like rows, "
                "for one field",
                "close the quote, or take it out",
            )


@contextmanager
def _said() -> Iterator[None]:
    """Errors of the csv module as sentences."""
    try:
        yield
    except csv.Error as error:
        raise DataError(
            f"The file is no regular CSV ({error}): a quote may be missing. Repair it, or pass its delimiter."
        ) from error


def _quoted(text: str, dialect: Dialect) -> bool:
    return dialect.quote is not None and dialect.quote in text


def _regular(text: str, dialect: Dialect, skip: int) -> Part | None:
    """Rows that all have the same number of fields, without quotes; None for others."""
    pl = polars()
    text = _plain(text, dialect)
    start = 0
    for seen in range(skip):
        end = text.find("\n", start)
        if end < 0:
            return _none(dialect, seen + bool(text[start:]))
        start = end + 1
    data = text[start:].encode()
    if not data:
        return _none(dialect, skip)
    width = _width(data, dialect.delimiter)
    if width != dialect.width + dialect.trailing and width != dialect.width:
        return None
    names = [*dialect.names, *["\x1f"] * (width - dialect.width)]
    frame = pl.read_csv(
        data,
        has_header=False,
        separator=dialect.delimiter,
        quote_char=None,
        schema=dict.fromkeys(names, pl.String),
    )
    return Part(frame.get_columns()[: dialect.width], len(frame), skip + len(frame))


def _plain(text: str, dialect: Dialect) -> str:
    """Text without blank lines and comments, one delimiter between fields."""
    if dialect.comment:
        text = re.sub(rf"(?m)^[ ]*{re.escape(dialect.comment)}.*(\n|\Z)", "", text)
    if dialect.delimiter == SPACES:
        text = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", re.sub(r"[ \t]+", " ", text))
    text = text.rstrip(" \n")
    if text.startswith(("\n", " ")) or "\n\n" in text or "\n " in text:
        text = re.sub(r"(?m)^ *(\n|\Z)", "", text)
    return text


def _none(dialect: Dialect, seen: int) -> Part:
    pl = polars()
    return Part([pl.Series(name, [], dtype=pl.String) for name in dialect.names], 0, seen)


def _width(data: bytes, delimiter: str) -> int | None:
    """The number of fields that every line has; None if they differ."""
    mark = delimiter.encode()
    if len(mark) != 1:
        return None
    values = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(values == ord("\n"))
    if not len(ends) or ends[-1] != len(values) - 1:
        ends = np.append(ends, len(values))
    places = np.flatnonzero(values == mark[0])
    counts = np.diff(np.searchsorted(places, ends), prepend=0)
    return int(counts[0]) + 1 if (counts == counts[0]).all() else None


def _from_records(found: list[list[str]], dialect: Dialect, skip: int) -> Part:
    """Rows from lists of fields, filled up or cut to one width."""
    pl = polars()
    if dialect.comment:
        found = [row for row in found if not row[0].lstrip(" ").startswith(dialect.comment)]
    rows, width, seen = found[skip:], dialect.width, len(found)
    if not rows:
        return _none(dialect, seen)
    if dialect.width > 1:
        _check_closed(found, dialect)
    ragged = {i: len(row) for i, row in enumerate(rows) if len(row) < width or any(row[width:])}
    if any(len(row) != width for row in rows):
        rows = [row[:width] + [None] * (width - len(row)) for row in rows]  # type: ignore[list-item]
    columns = [pl.Series(name, values, dtype=pl.String) for name, values in zip(dialect.names, zip(*rows))]
    return Part(columns, len(rows), seen, ragged)
