"""Codes: how each column of a table becomes numbers, as learned from training rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.extmath import randomized_svd

from nearline._arrays.design import Array
from nearline._parallel.tiles import single_threaded_blas
from nearline._records.kept import (
    Flag,
    Instance,
    ListOf,
    Mapping,
    Numbers,
    OneOf,
    Real,
    Vocabulary,
    Word,
    kept,
)
from nearline.representations._columns import Column, NumberColumn, StringColumn
from nearline.representations.scales import Affine, Fit, Knots, Scale
from nearline.representations.texts import inverse_frequencies, weighted

TOPICS = 30  # columns of a text
PARTS = ("days", "month", "day", "weekday", "hour")  # of a date
FARTHEST = 1e18  # the squares of larger numbers are infinite in float32


class Code(ABC):
    """How one column becomes numbers, as learned from the training rows."""

    @classmethod
    @abstractmethod
    def fit(cls, name: str, column: Column, scale: Fit) -> Self:
        """Learn from the training rows, of which some have a value; numbers are put on the scale."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """What its output columns are called."""

    @abstractmethod
    def write(self, column: Column, out: Array) -> None:
        """Fill in its output columns, which are all zeros."""

    def writer(self, column: Column) -> "Writer":
        """What writes rows of a column, after all that is done once for all of them."""
        return lambda rows, out: self.write(column.take(rows), out)

    def own_writer(self, column: Column, targets: Any) -> "Writer":
        """The same of the training rows, whose classes are the targets: codes learned from labels leave out a row's own."""
        return self.writer(column)

    @property
    def filled(self) -> int:
        """How many of its columns are not zero in a row."""
        return len(self.names)


Writer = Callable[[slice, Array], None]  # rows of a column into their output columns, which are all zeros


@kept(name=Word(), median=Real(), scale=Instance((Affine, Knots)), missing=Flag())
@dataclass(frozen=True)
class NumberCode(Code):
    """A scaled number, the median where it is missing, and a column that tells where."""

    name: str
    median: float
    scale: Scale
    missing: bool

    @classmethod
    def fit(cls, name: str, column: Column, scale: Fit) -> Self:
        values = column.numbers
        holes = np.isnan(values)
        median = float(np.median(values[~holes]))
        return cls(name, median, scale(np.where(holes, median, values)), bool(holes.any()))

    @property
    def names(self) -> list[str]:
        return [self.name, f"{self.name}_nan"] if self.missing else [self.name]

    def write(self, column: Column, out: Array) -> None:
        numbers = column.numbers
        holes = np.isnan(numbers)
        values = self.scale(np.where(holes, self.median, numbers) if holes.any() else numbers)
        out[:, 0] = values.clip(-FARTHEST, FARTHEST)
        if self.missing:
            out[:, 1] = holes


def date_parts(seconds: Array) -> dict[str, Array]:
    """Days since 1970, month, day, weekday and hour of dates given in seconds; NaN stays NaN."""
    holes = np.isnan(seconds)
    moments = np.where(holes, 0, np.floor(seconds)).astype(np.int64).astype("M8[s]")
    months = moments.astype("M8[M]")
    days = seconds / 86400
    parts = {
        "month": months.astype(np.int64) % 12 + 1.0,
        "day": (moments.astype("M8[D]") - months.astype("M8[D]")).astype(np.int64) + 1.0,
        "weekday": (np.floor(days) + 3) % 7,  # day 0 was a Thursday
        "hour": seconds % 86400 / 3600,
    }
    return {"days": days} | {part: np.where(holes, np.nan, values) for part, values in parts.items()}


@kept(parts=Mapping(OneOf(PARTS), Instance(NumberCode)))
@dataclass(frozen=True)
class DateCode(Code):
    """The parts of a date as numbers, those that vary."""

    parts: dict[str, NumberCode]

    @classmethod
    def fit(cls, name: str, column: Column, scale: Fit) -> Self:
        values = date_parts(column.seconds)
        varying = [p for p, v in values.items() if p == "days" or np.nanmin(v) < np.nanmax(v)]
        codes = {p: NumberCode.fit(f"{name}_{p}", NumberColumn(values[p]), scale) for p in varying}
        # where the date is missing all its parts are: one column tells
        return cls({p: code if p == "days" else replace(code, missing=False) for p, code in codes.items()})

    @property
    def names(self) -> list[str]:
        return [name for code in self.parts.values() for name in code.names]

    def write(self, column: Column, out: Array) -> None:
        values, start = date_parts(column.seconds), 0
        for part, code in self.parts.items():
            code.write(NumberColumn(values[part]), out[:, start:])
            start += len(code.names)


@kept(name=Word(), values=ListOf(Word(), kind=tuple, distinct=True), missing=Flag())
@dataclass(frozen=True)
class CategoryCode(Code):
    """A column of zeros and ones for each string of the training rows; an unknown string is all zeros."""

    name: str
    values: tuple[str, ...]
    missing: bool

    @classmethod
    def fit(cls, name: str, column: Column, scale: Fit) -> Self:
        strings = column.strings()
        values = tuple(strings.distinct.values[code] for code in strings.present())
        return cls(name, values, bool((strings.codes < 0).any()))

    @property
    def names(self) -> list[str]:
        return [f"{self.name}_{value}" for value in (*self.values, *(["nan"] if self.missing else []))]

    @property
    def filled(self) -> int:
        return 1

    def write(self, column: Column, out: Array) -> None:
        self.writer(column)(slice(None), out)

    def writer(self, column: Column) -> Writer:
        strings, place = column.strings(), {value: j for j, value in enumerate(self.values)}
        missing = len(self.values) if self.missing else -1
        of_string = np.array([*(place.get(v, -1) for v in strings.distinct.values), missing])

        def write(rows: slice, out: Array) -> None:
            columns = of_string[strings.codes[rows]]
            known = np.flatnonzero(columns >= 0)
            out[known, columns[known]] = 1.0

        return write


@kept(
    name=Word(),
    grams=Vocabulary("V"),
    idf=Numbers(("V",), "float32"),
    directions=Numbers(("V", "T"), "float32"),
)
@dataclass(frozen=True, eq=False)
class TextCode(Code):
    """Principal directions of the tf-idf of runs of characters, scaled to rows of length 1 on average."""

    name: str
    grams: dict[str, int]
    idf: Array
    directions: Array  # (tokens, topics)

    @classmethod
    def fit(cls, name: str, column: Column, scale: Fit) -> Self:
        """The scale does not matter: representations that differ in it share what is learned of the same rows."""
        strings = column.strings()
        learned, rows = strings.distinct.learned, strings.fingerprint
        if rows not in learned:
            learned[rows] = cls._of(name, strings)
        found: Self = replace(learned[rows], name=name)
        return found

    @classmethod
    def _of(cls, name: str, strings: StringColumn) -> Self:
        tf, tokens = strings.grams()
        frequencies = np.bincount(tf.indices, minlength=tf.shape[1])
        keep = frequencies > 0
        idf = inverse_frequencies(frequencies[keep], tf.shape[0], tf.dtype)
        rows = weighted(tf, keep, idf)
        count = min(TOPICS, *rows.shape)
        # small factors: threads would wait for each other, and change the last digits
        with single_threaded_blas:
            V = np.ascontiguousarray(randomized_svd(rows, count, random_state=0)[2].T)
        length = float(np.sqrt(((rows @ V) ** 2).sum(axis=1).mean()))
        return cls(name, {t: j for j, t in enumerate(tokens[keep])}, idf, V / np.float32(length or 1.0))

    @property
    def names(self) -> list[str]:
        return [f"{self.name}_{j}" for j in range(self.directions.shape[1])]

    def write(self, column: Column, out: Array) -> None:
        self.writer(column)(slice(None), out)

    def writer(self, column: Column) -> Writer:
        strings = column.strings()
        tf, tokens = strings.distinct.grams
        known = np.array([token in self.grams for token in tokens], dtype=bool)
        columns = [self.grams[token] for token in tokens[known]]
        idf, directions = self.idf[columns], self.directions[columns]

        def write(rows: slice, out: Array) -> None:
            if columns:
                out[:, : len(self.names)] = weighted(tf[strings.codes[rows]], known, idf) @ directions

        return write
