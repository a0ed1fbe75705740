"""Doubt: why a column may not be what it is taken for, from a look at all of its values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.data.base import Doubt, polars
from nearline.data.identifiers import FEWEST_ROWS, LONGEST_WORD, UNIQUE, enough, of_numbers, of_words

SPOILED = Doubt(7, "spoiled numbers", "numbers but for a few values")
LEAK = Doubt(6, "tells the class", "each value has one class: is it known before the class is?")
IDENTIFIER = Doubt(5, "an identifier", "hardly a value twice: an identifier?")
GUESSED = Doubt(4, "read by guess", "no value tells day and month apart")
LOST = Doubt(4, "partly read", "some values could not be read and are missing")
MISSING = Doubt(3, "nearly all missing", "nearly all values are missing")
CONSTANT = Doubt(2, "constant", "one value only")
MANY = Doubt(1, "many values", "many different values for categories")

GLANCE = 200  # rows that are looked at first
NEARLY_ALL = 0.9
MOST_LEVELS, MOST_SHARE = 100, 0.2  # more different words than both are many


@dataclass(frozen=True)
class Columns:
    """A frame with the kinds of its columns and the labels of its rows, to be asked about all columns at once."""

    frame: Any
    kinds: Mapping[str, str]
    y: Array | None

    def doubts(self) -> dict[str, tuple[Doubt, ...]]:
        """The doubts about each column, the strongest first."""
        if len(self.frame) < FEWEST_ROWS:
            return {}
        unique = self._unique()
        constant = self._constant()
        missing = {one.name for one in self.frame if one.null_count() >= NEARLY_ALL * len(one)}
        found = {
            LEAK: self._leaks() - constant,
            IDENTIFIER: {name for name in unique if self._is_identifier(name)},
            MISSING: missing,
            CONSTANT: constant - missing,
            MANY: self._many() - set(unique),
        }
        return {
            name: tuple(doubt for doubt, names in found.items() if name in names)
            for name in self.frame.columns
        }

    def _named(self, *kinds: str) -> list[str]:
        return [name for name in self.frame.columns if self.kinds[name].partition(" ")[0] in kinds]

    def _distinct(self, names: Iterable[str]) -> dict[str, int]:
        """How many different values each column has."""
        pl, names = polars(), list(names)
        if not names:
            return {}
        return dict(self.frame.select(pl.col(names).drop_nulls().n_unique()).row(0, named=True))

    def _unique(self) -> list[str]:
        """Columns whose values are there once, but for a few."""
        some = self.frame.head(GLANCE)
        seen = Columns(some, self.kinds, None)._distinct(self._named("integer", "string", "category"))
        names = [
            name for name, count in seen.items() if count >= UNIQUE * (len(some) - some[name].null_count())
        ]
        counts = self._distinct(names)
        rows = {name: len(self.frame) - self.frame[name].null_count() for name in names}
        return [name for name in names if counts[name] >= UNIQUE * rows[name]]

    def _is_identifier(self, name: str) -> bool:
        series = self.frame[name].drop_nulls()
        if not enough(len(series), len(self.frame)):
            return False
        if self.kinds[name] != "integer":
            return (
                of_words(series.cast(polars().String).unique(maintain_order=True).to_list(), len(series))
                is not None
            )
        return of_numbers(series.to_numpy().astype(np.float64)) is not None

    def _constant(self) -> set[str]:
        seen = Columns(self.frame.head(GLANCE), self.kinds, None)._distinct(self.frame.columns)
        names = [name for name, count in seen.items() if count <= 1]
        return {name for name, count in self._distinct(names).items() if count <= 1}

    def _many(self) -> set[str]:
        counts = self._distinct(self._named("string", "category"))
        return {
            name
            for name, count in counts.items()
            if count > max(MOST_LEVELS, MOST_SHARE * len(self.frame)) and _are_words(self.frame[name])
        }

    def _leaks(self) -> set[str]:
        """Columns of few values of which each has one class."""
        if self.y is None or len(self.y) != len(self.frame):
            return set()
        labels = [str(label) for label in self.y.tolist()]
        if len(set(labels)) < 2:
            return set()
        names = self._named("integer", "string", "category")
        names = [name for name in names if _tells(self.frame[name].head(GLANCE).to_list(), labels)]
        few = {name for name, count in self._distinct(names).items() if count <= 0.5 * len(labels)}
        return {name for name in names if name in few and _tells(self.frame[name].to_list(), labels)}


def _tells(values: list[Any], labels: list[str]) -> bool:
    seen: dict[Any, str] = {}
    return all(seen.setdefault(value, label) == label for value, label in zip(values, labels))


def _are_words(series: Any) -> bool:
    """Whether strings are words rather than texts or sequences."""
    some = [str(value) for value in series.drop_nulls().head(GLANCE).to_list()]
    words = sum(len(value.split()) == 1 and len(value) <= LONGEST_WORD for value in some)
    return words >= NEARLY_ALL * len(some)
