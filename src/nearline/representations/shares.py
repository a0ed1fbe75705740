"""Categories as the shares of classes among the training rows that have them, cross-fitted for these rows themselves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import ListOf, Numbers, Word, kept, require
from nearline.representations._columns import Column
from nearline.representations.codes import Code, Writer
from nearline.representations.scales import Fit

PRIOR_ROWS = 10.0  # rows with the shares of all rows that are thought to be in each category beside its own
PARTS = 5  # of the training rows: the code of each comes from the others


@dataclass(frozen=True)
class Targets:
    """The classes of the training rows by number, and what they are called."""

    codes: Array
    labels: list[str]

    @classmethod
    def of(cls, y: Array) -> Self:
        """From labels."""
        known, codes = np.unique(np.asarray(y), return_inverse=True)
        return cls(codes, [str(label) for label in known.tolist()])

    def take(self, rows: Array) -> Self:
        """Of some rows; all classes stay."""
        return type(self)(self.codes[rows], self.labels)


def _has_rows(code: "SharesCode") -> None:
    fits = code.table.shape == (len(code.values) + 1, len(code.labels))
    require(fits, "A code by classes has not one row for each category and one for others")


@kept(
    name=Word(),
    values=ListOf(Word(), kind=tuple, distinct=True),
    labels=ListOf(Word(), kind=tuple),
    table=Numbers(("V", "C"), "float32"),
    links=_has_rows,
)
@dataclass(frozen=True, eq=False)
class SharesCode(Code):
    """How far the share of each class in a category is above that in all rows, in standard deviations of the rows.

    The share of class c in a category of n rows, n_c of them of the class, is (n_c + 10 p_c) / (n + 10), where p_c is its
    share in all rows. A missing value is a category of its own; a category that training rows lack has the shares of all
    rows, which are zeros here. Of two classes only the second has a column.
    """

    name: str
    values: tuple[str, ...]  # "" is a missing one, where training rows have some
    labels: tuple[str, ...]  # that have columns
    table: Array  # (categories + 1, columns); the last row is that of other categories

    @classmethod
    def by(cls, name: str, column: Column, targets: Targets) -> Self:
        """Learn from the training rows and their classes."""
        strings = column.strings()
        present = strings.present()
        holes = strings.codes < 0
        values = (*(strings.distinct.values[code] for code in present), *([""] if holes.any() else []))
        place = np.where(holes, len(present), np.searchsorted(present, strings.codes))
        n_classes = len(targets.labels)
        counts = np.bincount(place * n_classes + targets.codes, minlength=len(values) * n_classes)
        counts = counts.reshape(len(values), n_classes).astype(np.float64)
        first = 1 if n_classes == 2 else 0
        table = np.vstack([_standing(counts)[:, first:], np.zeros(n_classes - first)])
        return cls(name, values, tuple(targets.labels[first:]), table.astype(np.float32))

    @classmethod
    def fit(cls, name: str, column: Column, scale: Fit) -> Self:
        raise ValueError(
            "Shares of classes are learned from labels: give y, or the classes of the training rows."
        )

    @property
    def names(self) -> list[str]:
        return [f"{self.name}_share_{label}" for label in self.labels]

    def write(self, column: Column, out: Array) -> None:
        self.writer(column)(slice(None), out)

    def writer(self, column: Column) -> Writer:
        strings, place = column.strings(), {value: j for j, value in enumerate(self.values)}
        known = [place.get(value, len(self.values)) for value in (*strings.distinct.values, "")]
        of_string = np.array(known, dtype=np.intp)  # -1 finds that of missing values at the end

        def write(rows: slice, out: Array) -> None:
            out[:] = self.table[of_string[strings.codes[rows]]]

        return write

    def own_writer(self, column: Column, targets: Targets) -> Writer:
        """Each part of the training rows by what the other parts say: no row's label is in its own numbers."""
        n = len(column)
        part = np.random.default_rng(0).permutation(n) % PARTS
        out = np.zeros((n, len(self.labels)), dtype=np.float32)
        for number in range(min(PARTS, n)):
            own, others = np.flatnonzero(part == number), np.flatnonzero(part != number)
            if len(others):
                code = type(self).by(self.name, column.take(others), targets.take(others))
                code.write(column.take(own), block := np.zeros_like(out[own]))
                out[own] = block
        return _looking_up(out)


def _looking_up(numbers: Array) -> Writer:
    def write(rows: slice, out: Array) -> None:
        out[:] = numbers[rows]

    return write


def _standing(counts: Array) -> Array:
    """Smoothed shares of classes in each category less those in all rows, divided by their deviation over rows."""
    rows = counts.sum(axis=1, keepdims=True)
    prior = counts.sum(axis=0) / counts.sum()
    above = (counts + PRIOR_ROWS * prior) / (rows + PRIOR_ROWS) - prior
    spread = np.sqrt((rows * above**2).sum(axis=0) / rows.sum())
    return np.asarray(above / np.where(spread > 1e-9, spread, 1.0))


FitByTargets = Callable[[str, Column, Targets], Code]
