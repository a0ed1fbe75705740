"""Fact: numbers that say something, as a sentence, a table and a picture."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_ROWS = 40  # of a table that is printed


@dataclass(frozen=True)
class Table:
    """Rows of numbers, words and vectors under named columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, columns: str | Iterable[str], rows: Iterable[Iterable[Any]]) -> "Table":
        """``columns``: names, in one string with bars between them."""
        names = columns.split("|") if isinstance(columns, str) else columns
        return cls(tuple(names), tuple(tuple(row) for row in rows))

    def __str__(self) -> str:
        shown = self.rows if len(self.rows) <= MOST_ROWS else self.rows[: MOST_ROWS - 5]
        cells = [list(self.columns)] + [[said(value) for value in row] for row in shown]
        wide = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        left = [all(isinstance(row[j], str) for row in self.rows) for j in range(len(self.columns))]
        lines = [
            "  ".join(
                cell.ljust(size) if to_left else cell.rjust(size)
                for cell, size, to_left in zip(row, wide, left, strict=True)
            ).rstrip()
            for row in cells
        ]
        more = len(self.rows) - len(shown)
        return "\n".join(lines + ([f"... and {more} rows more"] if more else []))


def said(value: Any, digits: int = 4) -> str:
    """A cell of a table: numbers with some digits, vectors in parentheses, matrices row by row."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return f"{float(value) + 0.0:.{digits}g}"  # no minus before a zero
    if isinstance(value, np.ndarray):
        return "(" + ", ".join(said(one, digits) for one in value) + ")"
    return "" if value is None else str(value)


@dataclass(frozen=True)
class Fact(ABC):
    """What a function of this package finds. ``print`` it for the sentence and the numbers; ``plot`` draws it."""

    @property
    @abstractmethod
    def says(self) -> str:
        """The fact in one sentence."""

    @abstractmethod
    def table(self) -> Table:
        """The numbers."""

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """The picture: matplotlib axes, or several of them."""

    def __str__(self) -> str:
        return f"{self.says}\n\n{self.table()}"
