"""Which code a column of a table gets: by what it was declared to be, by its values, and by how numbers are wanted."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.stopping import checkpoint
from nearline.representations._columns import Column, StringColumn
from nearline.representations.bases import SplineCode
from nearline.representations.codes import CategoryCode, Code, DateCode, NumberCode, TextCode
from nearline.representations.scales import SCALES, standard
from nearline.representations.shares import FitByTargets, SharesCode, Targets

CATEGORIES = 100  # strings with more distinct values in the training rows are texts
FEW = 10  # strings with so few distinct values are never texts
FEW_VALUES = 12  # whole numbers with so few distinct values may be categories,
REPEATED = 5  # if a value occurs so often on average
MANY_CATEGORIES = (
    10  # strings with more distinct values may be known by the shares of classes among their rows,
)
TWICE = 2  # if a value occurs so often on average
PADDED = re.compile(r"0\d{2,}")  # codes such as 00501, which are no numbers


def is_text(column: Column) -> bool:
    """Whether a column holds texts: strings that are no numbers, no dates, and too varied for categories."""
    return column.kind == "string" and _string_kind(column.strings()) == "text"


def are_few(numbers: Array) -> bool:
    """Whether numbers are whole and have few different values, three at least."""
    known = numbers[~np.isnan(numbers)]
    if not len(known) or (known != np.floor(known)).any():
        return False
    return 3 <= len(np.unique(known)) <= min(FEW_VALUES, len(known) // REPEATED)


def has_few_values(columns: dict[str, Column]) -> bool:
    """Whether some column of numbers has few different values."""
    return any(column.kind == "number" and are_few(column.numbers) for column in columns.values())


def _string_kind(column: StringColumn) -> str | None:
    """What strings hold, by those that occur; None: nothing."""
    present = column.present()
    if not len(present):
        return None
    padded = any(PADDED.fullmatch(column.distinct.values[code]) for code in present)
    if not padded and np.isfinite(column.distinct.numbers[present]).all():
        return "number"
    if np.isfinite(column.distinct.seconds[present]).all():
        return "date"
    return "text" if len(present) > min(CATEGORIES, max(FEW, len(column.codes) // 2)) else "category"


KINDS: dict[str, Callable[[Column], str | None]] = {
    "number": lambda column: None if np.isnan(column.numbers).all() else "number",
    "date": lambda column: None if np.isnan(column.seconds).all() else "date",
    "category": lambda column: "category" if len(column.strings().present()) else None,
    "string": lambda column: _string_kind(column.strings()),
}


def has_values(column: Column) -> bool:
    """Whether not all rows of a column are missing."""
    return KINDS[column.kind](column) is not None


def are_many(column: Column) -> bool:
    """Whether a column holds categories, or texts that recur, of many different values."""
    if KINDS[column.kind](column) not in ("category", "text"):
        return False
    strings = column.strings()
    known = int((strings.codes >= 0).sum())
    return MANY_CATEGORIES < len(strings.present()) <= known // TWICE


FitCode = Callable[[str, Column], Code]


def _number_or_values(name: str, column: Column) -> Code:
    """Whole numbers of few values as categories, others scaled."""
    if column.kind == "number" and are_few(column.numbers):
        return CategoryCode.fit(name, column, standard)
    return NumberCode.fit(name, column, standard)


def _spline_or_values(name: str, column: Column) -> Code:
    """Whole numbers of few values as categories, others as splines."""
    if column.kind == "number" and are_few(column.numbers):
        return CategoryCode.fit(name, column, standard)
    return SplineCode.fit(name, column, standard)


# How numbers become features: on a scale, as categories where they have few values, as splines.
NUMBERS: dict[str, FitCode] = {
    **{name: partial(NumberCode.fit, scale=scale) for name, scale in SCALES.items()},
    "values": _number_or_values,
    "splines": _spline_or_values,
    "shares": partial(NumberCode.fit, scale=standard),
}
# How many categories become features, where the labels of their rows say it.
BY_TARGETS: dict[str, FitByTargets] = {"shares": SharesCode.by}


def code_of(name: str, column: Column, numbers: str, targets: Targets | None = None) -> Code | None:
    """How a column becomes features, from its training rows; None where all of them are missing."""
    checkpoint()
    kind = KINDS[column.kind](column)
    if kind is None:
        return None
    if numbers in BY_TARGETS and are_many(column):
        if targets is None:
            raise ValueError(
                f"Codes {numbers!r} are learned from labels: give y, the labels of the training rows."
            )
        return BY_TARGETS[numbers](name, column, targets)
    scale = SCALES.get(numbers, standard)
    fits: dict[str, FitCode] = {
        "number": NUMBERS[numbers],
        "date": partial(DateCode.fit, scale=scale),
        "category": partial(CategoryCode.fit, scale=scale),
        "text": partial(TextCode.fit, scale=scale),
    }
    return fits[kind](name, column)
