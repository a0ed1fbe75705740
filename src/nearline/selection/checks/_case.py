"""Case: what the checks look at, and Finding: what they say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._parallel.tiles import steps
from nearline._records.words import many
from nearline.selection.checks._keys import joint_keys
from nearline.selection.checks._table import CheckedTable, Column, as_table, encode

SAMPLE_ROWS = 6_000
SAMPLE_CELLS = 1_500_000
SEPARATE = 5  # columns of a finding that have one each


@dataclass(frozen=True)
class Concerned:
    """Rows that a finding is about. Their numbers index the rows given; what is said counts from 1."""

    what: str  # "rows", "test rows" or "groups of rows"
    numbers: tuple[int, ...]  # from 0

    def said(self, most: int = 5, name: Callable[[int], str] = lambda row: f"{row + 1:,}") -> str:
        """rows 3, 5 and 2 more."""
        shown = ", ".join(map(name, self.numbers[:most]))
        return f"{self.what} {shown}" + (
            f" and {len(self.numbers) - most:,} more" if len(self.numbers) > most else ""
        )


@dataclass(frozen=True)
class Columns:
    """Columns that a finding is about. Columns without names are called by their number, counted from 1."""

    names: tuple[str, ...]
    numbers: tuple[int, ...]  # from 0

    def said(self, most: int = 5) -> str:
        """a, b and 2 more."""
        return listed(self.names, most)


@dataclass(frozen=True)
class Finding:
    """One thing that may make a score too good, with what to do about it."""

    name: str  # of the check, as in CHECKS
    severity: str  # "warning": the score cannot be trusted; "note": worth a look
    subject: str  # the column, classes or rows concerned
    message: str
    remedy: str
    rows: Concerned | None = None  # that the subject names
    columns: Columns | None = None  # that the subject names
    leave_out: bool = False  # the columns: that is the remedy

    @classmethod
    def of_rows(cls, name: str, severity: str, rows: Concerned, message: str, remedy: str) -> "Finding":
        """A finding whose subject are rows."""
        return cls(name, severity, rows.said(), message, remedy, rows)

    @classmethod
    def of_column(
        cls, name: str, severity: str, column: Column, message: str, remedy: str, *, leave_out: bool = False
    ) -> "Finding":
        """A finding whose subject is a column."""
        columns = Columns((column.name,), (column.place,))
        return cls(name, severity, column.name, message, remedy, columns=columns, leave_out=leave_out)

    def facts(self) -> dict[str, Any]:
        """What it says."""
        names = ("name", "severity", "subject", "message", "remedy")
        columns = [] if self.columns is None else list(self.columns.names)
        return {name: str(getattr(self, name)) for name in names} | {"columns": columns}

    def __str__(self) -> str:
        return f"{self.severity} {self.name} ({self.subject}): {self.message} {self.remedy}"


@dataclass(frozen=True)
class Case:
    """Training rows with their classes, and how they are to be split."""

    table: CheckedTable
    targets: Array  # (n,) codes of the classes, -1 where the label is missing
    classes: list[Any]
    test: CheckedTable | None
    test_targets: Array | None  # coded as targets, -1 for a class that training lacks
    groups: Array | None  # codes, of the training rows and then, if as long, the test rows
    folds: list[tuple[Array, Array]] | None
    split: str
    n_folds: int
    own_test: bool  # the test part was brought, not drawn from the same rows
    rows: Array | None = None  # numbers that the user knows the rows by, where they differ
    test_rows: Array | None = None
    only_in_test: tuple[Any, ...] = ()  # classes that no training row has

    @once
    def sample(self) -> Array:
        """Rows, in order, that the checks of columns look at: all, or as many of each class as can be."""
        cells = SAMPLE_CELLS // max(1, self.table.n_columns)
        most = min(SAMPLE_ROWS, max(1_000, cells))
        known = np.flatnonzero(self.targets >= 0)
        if len(known) <= most:
            return known
        shuffled = np.random.default_rng(0).permutation(known)
        by_class = shuffled[np.argsort(self.targets[shuffled], kind="stable")]
        counts = np.bincount(self.targets[known], minlength=len(self.classes))
        rank = np.arange(len(known)) - np.repeat(np.cumsum(counts) - counts, counts)
        # Every class's first row, then every class's second row, ...: rare classes are kept whole.
        return np.sort(by_class[np.argsort(rank, kind="stable")[:most]])

    @once
    def keys(self) -> tuple[Array, Array | None]:
        """Equal for equal rows, of the training rows and of the test rows; None where these have other columns."""
        if self.test is None or self.test.n_columns != self.table.n_columns:
            return joint_keys([self.table]), None
        both = joint_keys([self.table, self.test.ordered_as(self.table)])
        return both[: self.table.n_rows], both[self.table.n_rows :]

    def columns(self, places: Sequence[int]) -> list[Column]:
        """These columns, of the sampled rows."""
        return [self.table.column(int(j), self.sample) for j in steps(places)]


def as_case(
    X: Any,
    y: Any,
    *,
    X_test: Any,
    y_test: Any,
    groups: Any,
    folds: Any,
    split: str,
    n_folds: int,
    own_test: bool,
    names: Sequence[str] | None = None,
) -> Case:
    """Everything in one form; lengths that do not fit are refused."""
    table = as_table(X, names)
    targets, classes = encode(_flat(y))
    _same_length("y", len(targets), table.n_rows)
    test = None if X_test is None else as_table(X_test, names)
    test_targets, only = None, ()
    if test is not None and y_test is not None:
        place = {label: code for code, label in enumerate(classes)}
        codes, labels = encode(_flat(y_test))
        _same_length("y_test", len(codes), test.n_rows)
        test_targets = np.append([place.get(label, -1) for label in labels], -1)[codes]
        only = tuple(label for label in labels if label not in place)
    if groups is not None:
        groups = np.unique(_group_codes(groups), return_inverse=True)[1]
        if len(groups) != table.n_rows + (test.n_rows if test is not None else 0):
            _same_length("groups", len(groups), table.n_rows)
    pairs = None if folds is None else [(_numbers(train), _numbers(left_out)) for train, left_out in folds]
    return Case(
        table,
        targets,
        classes,
        test,
        test_targets,
        groups,
        pairs,
        split,
        n_folds,
        own_test,
        only_in_test=only,
    )


def listed(things: Sequence[Any] | Array, most: int = 5) -> str:
    """The first few, and how many more there are."""
    text = ", ".join(str(thing) for thing in things[:most])
    return text if len(things) <= most else f"{text} and {len(things) - most:,} more"


def together(found: list[Finding]) -> list[Finding]:
    """Findings about columns, alike but for the column, as one where they are more than a few: an image has many."""
    kinds = dict.fromkeys((one.severity, one.leave_out) for one in found)
    return [one for kind in kinds for one in _merged([f for f in found if (f.severity, f.leave_out) == kind])]


def _merged(alike: list[Finding]) -> list[Finding]:
    first = alike[0]
    if len(alike) <= SEPARATE:
        return alike
    parts = [one.columns for one in alike if one.columns is not None]
    columns = Columns(
        tuple(name for part in parts for name in part.names),
        tuple(number for part in parts for number in part.numbers),
    )
    message = f"{many(len(alike), 'column')}, each by itself. Of {first.subject}: {first.message}"
    return [replace(first, subject=columns.said(), message=message, columns=columns)]


def _group_codes(groups: Any) -> Array:
    """A row without a group is a group of its own."""
    codes, levels = encode(_flat(groups))
    alone = codes < 0
    return np.where(alone, len(levels) + np.cumsum(alone), codes)


def _flat(values: Any) -> Array:
    if isinstance(values, (list, tuple)):
        values = np.asarray(values, dtype=object)
    values = np.asarray(values)
    if values.ndim > 1 and values.size == len(values):
        values = values.reshape(-1)
    if values.ndim != 1:
        raise ValueError(f"One label for each row is needed, got an array of shape {values.shape}.")
    return values


def _numbers(rows: Any) -> Array:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype.kind == "b" else rows.astype(np.intp)


def _same_length(what: str, got: int, n: int) -> None:
    if got != n:
        raise ValueError(f"{what} must have one entry for each of the {n} rows, got {got}.")
