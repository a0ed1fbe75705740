"""What rows are called: data rows of their file counted from 1, and the line where rows are lines."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nearline._records.visible import row_said
from nearline.cli._reading import Reading
from nearline.data import DataError, Schema, Table, row_lines
from nearline.selection.checks import Finding
from nearline.selection.try_all import TryThemAll

BY_LINES = ("format", "delimiter", "header", "encoding")  # what finding lines understands


class FileRows:
    """The rows of one file; ``most``: so many of them may be asked for."""

    def __init__(self, path: Path, reading: Reading, most: int, like: Schema | None = None) -> None:
        self.path, self.reading, self.most, self.like = path, reading, most, like

    @cached_property
    def _lines(self) -> list[int]:
        options: dict[str, Any] = {
            key: value for key, value in self.reading.options.items() if key in BY_LINES
        }
        try:
            found = row_lines(self.path, target=self.reading.target, like=self.like, **options)
            return list(islice(found, self.most))
        except (DataError, OSError):  # what is wrong with the file was, or will be, said by its reader
            return []

    def line(self, number: int) -> int | None:
        """The line that a row, counted from 1, begins in."""
        return self._lines[number - 1] if number <= len(self._lines) else None

    def said(self, number: int) -> str:
        """What the row is called."""
        return row_said(number, self.line(number))


class _Same:
    """Rows that are where their numbers say."""

    def __getitem__(self, row: Any) -> Any:
        return row


@dataclass(frozen=True)
class ContestRows:
    """The rows of a contest, which may be in another order than those of their file, or not all of them."""

    contest: TryThemAll
    order: Any  # of the rows of the contest in the table; None: rows in blocks, all in the order of the file
    table: Table
    file: FileRows
    test_file: FileRows | None = None  # of test rows of their own

    @property
    def places(self) -> Any:
        """Of the rows of the contest among those of the file, from 0."""
        places = self.table.places
        if self.order is None:
            return _Same() if places is None else places
        order = np.asarray(self.order)
        return order if places is None else np.asarray(places)[order]

    def place(self, row: int, what: str = "rows") -> tuple[int, int | None]:
        """The number and the line of a row of the contest, or of its own test rows."""
        own = self.test_file if what == "test rows" else None
        if own is not None:
            return row + 1, own.line(row + 1)
        number = int(self.places[row]) + 1
        return number, self.file.line(number)

    def finding(self, found: Finding) -> Finding:
        """A finding with its rows called so."""
        rows = found.rows
        if rows is None:
            return found
        return replace(found, subject=rows.said(name=lambda row: row_said(*self.place(row, rows.what))))

    def times(self, column: str) -> str:
        """From when to when the rows are."""
        times, test = self.table.X[column], self.contest.test_rows_
        first, last = times[int(self.order[0])], times[int(self.order[-1])]
        begins = "" if test is None else f"; the test begins at {times[int(self.order[test[0]])]}"
        return f"in order of {column}: from {first} to {last}{begins}"
