"""Whether the first line of a delimited file is a header: names differ from the numbers and values below them."""

import re
from collections.abc import Sequence

MARKERS = (  # what stands for a missing value
    *(
        "",
        "?",
        "NA",
        "N/A",
        "n/a",
        "#N/A",
        "<NA>",
        "nan",
        "NaN",
        "NAN",
        "-nan",
        "null",
        "NULL",
        "Null",
        "None",
    ),
)
DASHES = ("-", "--", ".", "*")  # missing values of a column of numbers; elsewhere a value like any other
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


def is_number(cell: str) -> bool:
    """Whether a cell is a number in plain notation."""
    return NUMBER.fullmatch(cell.strip()) is not None


def told_header(first: list[str], target: object, known: Sequence[str]) -> bool | None:
    """Whether the first line is a header, by names that it should have; None where these do not tell."""
    if target in first and target not in ("first", "last"):
        return True
    if not known:
        return None
    if all(re.fullmatch(r"column_\d+", name) for name in known):
        return False
    return True if 2 * sum(name in first for name in known) >= len(known) else None


def has_header(rows: list[list[str]]) -> bool:
    """Votes of the columns: a name differs from the values below it, in being no number or in not coming back."""
    first, body = rows[0], rows[1:]
    if len(set(first)) < len(first) or not any(first):
        return False
    if not body:
        return len(first) > 1 and not any(map(is_number, first))
    votes = [_vote(cell, [row[j] for row in body if j < len(row)]) for j, cell in enumerate(first[:1000])]
    if any(votes):
        return sum(votes) > 0
    known = {
        "label",
        "text",
        "class",
        "target",
        "id",
        "name",
        "title",
        "category",
        "message",
        "sentence",
        "y",
    }
    return bool(known & {cell.lower() for cell in first})


def _vote(cell: str, column: list[str]) -> int:
    """1 for a name, -1 for a value, 0 where nothing can be said."""
    values = [value for value in column if value not in MARKERS and value not in DASHES]
    numbers = sum(is_number(value) or COMMA_NUMBER.fullmatch(value) is not None for value in values)
    if not values:
        return 0
    if is_number(cell) or COMMA_NUMBER.fullmatch(cell):
        return -3 if numbers > 0.9 * len(values) else -1
    if cell in MARKERS or cell in DASHES:
        return -1 if cell else 0
    if numbers > 0.9 * len(values):
        return 3
    if cell in values:
        return -2
    repeated = len(set(values)) <= 0.5 * len(values)
    return 1 if repeated else 0
