"""Cells of CSV that a spreadsheet may open: text that it would take for a formula stays text."""

import re
from typing import Any

FORMULA = (*"=+-@\t\r\n'", *"\uff1d\uff0b\uff0d\uff20")  # and the wide ones of Chinese and Japanese
HARMLESS = re.compile(r"[+-]?[0-9]+([.,][0-9]*)?([eE][+-]?[0-9]+)?|[=+@-]")  # numbers, and a mark alone


def to_cell(value: Any) -> Any:
    """Text that begins as a formula does gets an apostrophe before it, and so does text that begins with one.

    Examples
    --------
    >>> from nearline.cli._cells import from_cell, to_cell
    >>> to_cell("=1+1"), to_cell("'tis"), to_cell("-1"), to_cell(-0.5), to_cell("spam")
    ("'=1+1", "''tis", '-1', -0.5, 'spam')
    >>> [from_cell(to_cell(text)) for text in ("=1+1", "'tis", "-1", "spam")]
    ['=1+1', "'tis", '-1', 'spam']
    """
    suspect = isinstance(value, str) and value.startswith(FORMULA) and not HARMLESS.fullmatch(value)
    return f"'{value}" if suspect else value


def cells(row: list[Any], *, raw: bool) -> list[Any]:
    """A row of CSV; ``raw``: as it is."""
    return row if raw else [to_cell(value) for value in row]


def from_cell(text: str) -> str:
    """The text of a cell as it was."""
    return text.removeprefix("'")
