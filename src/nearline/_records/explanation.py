"""Explanation: why each row got its label, as data. Estimators make them; rendering is the affair of others."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline._records.words import many

SHOWN_ROWS, SHOWN_LINES = 5, 5  # of an explanation that is printed


@dataclass(frozen=True)
class Explanation(ABC):
    """Why each of m rows got its label."""

    predictions: Array  # (m,) labels, or targets

    def __len__(self) -> int:
        return len(self.predictions)

    @abstractmethod
    def rows(self, i: int) -> list[dict[str, Any]]:
        """What speaks for and against the prediction of row i, as a table."""

    def heading(self, i: int) -> str:
        """The prediction of row i, counted from 0."""
        return f"[{i}] {visible(self.predictions[i])}"

    def __str__(self) -> str:
        """The first rows, each with the first lines of its table; numbers of rows and features count from 0."""
        parts = [_printed(self.heading(i), self.rows(i)) for i in range(min(len(self), SHOWN_ROWS))]
        more = len(self) - len(parts)
        return "\n".join([*parts, f"and {many(more, 'row')} more"] if more else parts)


class Terms(Protocol):
    """Terms of the scores of rows, made when a row is asked for: all of them together may be many."""

    def __getitem__(self, i: int) -> tuple[Array, Array]:
        """Of row i: the numbers (q,) of what adds something, and what it adds to the score of each class (C, q)."""


@dataclass(frozen=True)
class Contributions(Explanation):
    """Scores as sums: of a bias, and of what each feature, training row or two-class problem adds to each class.

    The sum is the score of a class, up to a number that all classes of a row share, which decides nothing.
    """

    runners_up: Array  # (m,) labels with the largest score but for the prediction
    classes: Array  # (C,)
    of: str  # what adds something: "features", "training rows" or "problems"
    bias: Array  # (m, C)
    terms: Terms

    def pair(self, i: int) -> tuple[int, int]:
        """The numbers of row i's class and of the runner-up."""
        own, other = np.searchsorted(self.classes, [self.predictions[i], self.runners_up[i]]).tolist()
        return own, other

    def lead(self, i: int) -> tuple[Array, Array, float]:
        """What adds to the lead of row i's label over the runner-up: numbers (q,), terms (q,), and the bias."""
        own, other = self.pair(i)
        numbers, by_class = self.terms[i]
        return numbers, by_class[own] - by_class[other], float(self.bias[i, own] - self.bias[i, other])

    def heading(self, i: int) -> str:
        """The prediction of row i, and its lead over the runner-up."""
        _, lead, bias = self.lead(i)
        other = visible(self.runners_up[i])
        return (
            f"{super().heading(i)}, ahead of {other} by {lead.sum() + bias:.4g}: bias {bias:+.4g}, {self.of}"
        )

    def rows(self, i: int) -> list[dict[str, Any]]:
        """What adds most to, or takes most from, the lead of row i's label over the runner-up; the strongest first."""
        numbers, lead, _ = self.lead(i)
        order = np.argsort(-np.abs(lead), kind="stable")
        return [
            {"index": j, "contribution": value}
            for j, value in zip(numbers[order].tolist(), lead[order].tolist())
            if value
        ]


def _printed(heading: str, table: list[dict[str, Any]]) -> str:
    """A heading and the first lines of a table, in columns."""
    if not table:
        return heading
    cells = [list(table[0]), *([_cell(value) for value in row.values()] for row in table[:SHOWN_LINES])]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
    more = len(table) - SHOWN_LINES
    return "\n".join([heading, *lines, *([f"  and {more:,} more"] if more > 0 else [])])


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else visible(value)
