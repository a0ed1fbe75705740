"""How a delimited file is written, found out from its first lines: delimiter, quotes, header, decimal comma, comments."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

from nearline.data._header import COMMA_NUMBER, has_header, is_number, told_header
from nearline.data._text import MOST_LINE

SPACES = " "  # stands for any run of spaces and tabs
NONE = "\x1f"  # no delimiter: one column
CANDIDATES = ("\t", ";", ",", "|", SPACES)  # of equally regular ones the first is taken
NAMES = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar", SPACES: "spaces", NONE: "none"}
COMMENTS = ("#", "%", "//")
LINES = 500  # of the sample that are looked at


@dataclass(frozen=True)
class Dialect:
    """How the lines of a file are to be read."""

    delimiter: str
    quote: str | None = '"'
    skipped: int = 0  # lines before the table
    header: bool = False
    names: tuple[str, ...] = ()
    decimal_comma: bool = False
    comment: str | None = None
    trailing: bool = False  # whether lines end with a delimiter
    regularity: float = 1.0  # share of the lines with the usual number of fields
    classes: tuple[
        str, ...
    ] = ()  # names of the classes 0, 1, ..., where the first line has them after two counts

    @property
    def width(self) -> int:
        return len(self.names)

    @property
    def lead(self) -> int:
        """Records before the first row."""
        return self.skipped + self.header


@contextmanager
def long_fields() -> Iterator[None]:
    """Long fields, as documents are; the csv module's own limit is set back afterwards."""
    limit = csv.field_size_limit(MOST_LINE)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def records(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    """The fields of each line, of quoted ones that span lines too; blank lines are left out."""
    if dialect.delimiter == SPACES:
        lines = (line.replace("\t", " ").strip(" \n") + "\n" for line in lines)
    if dialect.quote is None:
        split = (line.rstrip("\n").split(dialect.delimiter) for line in lines if line.strip(" \n"))
        spaced = dialect.delimiter == SPACES
        yield from ([f for f in fields if f] if spaced else fields for fields in split)
        return
    # spaces after a delimiter may stand before a quote; a NUL cannot stand in a line of the csv module
    reader = csv.reader(
        (line.replace("\x00", "") for line in lines),
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        skipinitialspace=True,
    )
    yield from (fields for fields in reader if len(fields) > 1 or (fields and fields[0].strip(" ")))


def sniffed(
    text: str,
    delimiter: str | None = None,
    header: bool | None = None,
    target: object = None,
    known: Sequence[str] = (),
) -> Dialect:
    """The dialect of a sample; a target or known columns tell a header if the first line has them."""
    lines = text.split("\n", LINES)[:LINES]
    separator = re.fullmatch(r"sep=(.)", lines[0]) if lines else None
    preamble = 1 if separator else 0
    lines = lines[preamble:]
    if separator and delimiter is None:
        delimiter = separator[1]
    with long_fields():
        dialect = _delimited(lines, CANDIDATES if delimiter is None else (delimiter,))
        rows = list(records((line + "\n" for line in lines), dialect))
    if not rows:
        return replace(dialect, skipped=preamble)
    comment = _comment(rows, dialect.delimiter)
    if comment:
        rows = [row for row in rows if not row[0].lstrip(" ").startswith(comment)]
    counts = _counts_and_classes(rows, whole=len(lines) < LINES) if header is None else ()
    if counts:
        rows = rows[1:]
    usual = _usual(rows)
    skipped = _preamble(rows, usual)
    dialect = replace(dialect, comment=comment, skipped=preamble + skipped + bool(counts), classes=counts)
    rows = [[cell.strip() for cell in row] for row in rows[skipped:]]
    told = told_header(rows[0], target, known) if header is None and not counts else bool(header)
    return _named(rows, dialect, has_header(rows) if told is None else told)


def _counts_and_classes(rows: list[list[str]], *, whole: bool) -> tuple[str, ...]:
    """The names of classes in a first line "150,4,setosa,versicolor": rows, features, names of the labels 0, 1, ..."""
    first, body = [cell.strip() for cell in rows[0]], rows[1:]
    names = first[2:]
    if len(names) < 2 or not body or any(map(is_number, names)) or len(set(names)) < len(names):
        return ()
    labels = {str(number) for number in range(len(names))}
    fits = re.fullmatch(r"\d{1,9}", first[0]) is not None and first[1] == str(len(body[0]) - 1)
    fits = fits and (int(first[0]) == len(body) if whole else int(first[0]) > len(body))
    return tuple(names) if fits and {row[-1].strip() for row in body} <= labels else ()


def _usual(rows: list[list[str]]) -> int:
    """The number of fields that most lines have; of equally frequent ones the larger."""
    counts = Counter(map(len, rows))
    return max(counts, key=lambda width: (counts[width], width))


def _delimited(lines: list[str], candidates: Sequence[str]) -> Dialect:
    """The delimiter and quotes for which most lines have the same number of fields, more than one."""
    opened = [line for line in lines if line.startswith('"')]
    single = Dialect(NONE, '"' if opened and all(line.endswith('"') for line in opened) else None)
    best, reached, filled = single, 0.0, 0.0
    quotes = [mark for mark in ('"', "'") if mark == '"' or any(mark in line for line in lines)]
    # without any quote in sight, to heed them and not to is the same
    ways = [*quotes, None] if any(mark in line for line in lines for mark in quotes) else quotes
    for delimiter in candidates:
        for quote in ways:
            dialect = Dialect(delimiter, quote)
            rows = list(records((line + "\n" for line in lines), dialect))
            share = _regularity(rows, quote)
            numbers = _numeric(rows)
            # an apostrophe must do clearly better than a quote, and spaces better than a character made to delimit;
            # of equally regular ways, the one that finds many more numbers is right
            margin = 0.02 if delimiter == SPACES or quote == "'" else 1e-9
            more = quote != "'" and share > 0 and share >= reached and numbers > filled + 0.2
            if share > reached + margin or more:
                best, reached, filled = replace(dialect, regularity=share), share, numbers
    # what is mostly irregular is one column of texts, unless the delimiter was told
    return best if reached >= 0.5 or (reached and len(candidates) == 1) else single


def _regularity(rows: list[list[str]], quote: str | None) -> float:
    """Share of the lines with the usual number of fields, if that is more than one; long quoted runs are suspicious."""
    body = [row for row in rows if not row[0].lstrip(" ").startswith(COMMENTS)]
    if not body or _usual(body) < 2:
        return 0.0
    usual = _usual(body)
    share = sum(len(row) == usual for row in body) / len(body)
    stray = quote is not None and any(field.count("\n") > 200 for row in body for field in row)
    # a column between others in which nothing stands: two delimiters in a row are decoration
    hollow = any(_empty(body, j) for j in range(1, min(usual, 100) - 1))
    return round((0.5 if stray else 0.95 if hollow else 1.0) * share, 2)


def _numeric(rows: list[list[str]]) -> float:
    """Share of numbers among the cells."""
    cells = [cell.strip() for row in rows[:50] for cell in row[:50]]
    return sum(is_number(c) or COMMA_NUMBER.fullmatch(c) is not None for c in cells) / max(1, len(cells))


def _comment(rows: list[list[str]], delimiter: str) -> str | None:
    """The prefix of comment lines: never that of a line with as many fields as the others."""
    usual = _usual(rows)
    for prefix in COMMENTS:
        marked = [row for row in rows if row[0].lstrip(" ").startswith(prefix)]
        if marked and len(marked) < len(rows) and all(len(row) != usual for row in marked):
            return prefix
        if delimiter == NONE and marked and len(marked) < len(rows) and rows[0] is marked[0]:
            return prefix
    return None


def _preamble(rows: list[list[str]], usual: int) -> int:
    """Lines before the table that have one field where the others have more."""
    first = next((i for i, row in enumerate(rows[:20]) if len(row) > 1 or usual == 1), 0)
    return first if sum(len(row) == usual for row in rows) > 0.9 * (len(rows) - first) else 0


def _named(rows: list[list[str]], dialect: Dialect, header: bool) -> Dialect:
    """The dialect with the names of the columns, from a header or made up."""
    body = rows[1:] or rows
    width = _usual(body if header else rows)
    names = rows[0] if header else [""] * width
    if header and names:
        bare = names[0].lstrip("#").strip() if dialect.delimiter != NONE else ""
        names[0] = bare or names[0]
    kept = max(width, len(names)) if header and not _trails(body, len(names)) else len(names)
    trailing = header and width > len(names) == kept
    while kept > 1 and (kept > len(names) or not names[kept - 1]) and _empty(body, kept - 1):
        kept, trailing = kept - 1, True
    if header and kept == len(names) + 1:
        names = ["row_name", *names]  # as R writes them: the header has no name for the first column
    names = [*names[:kept], *[""] * (kept - len(names))]
    made = tuple(text or f"column_{j}" for j, text in enumerate(names, 1))
    return replace(
        dialect,
        header=header,
        names=made,
        trailing=trailing,
        decimal_comma=_decimal_comma(body, dialect.delimiter),
    )


def _trails(body: list[list[str]], width: int) -> bool:
    """Whether all that lines have beyond the header is empty."""
    return all(not any(row[width:]) for row in body)


def _empty(body: list[list[str]], j: int) -> bool:
    return all(len(row) <= j or not row[j] for row in body)


def _decimal_comma(body: list[list[str]], delimiter: str) -> bool:
    cells = [cell for row in body for cell in islice(row, 100)]
    commas = [cell for cell in cells if COMMA_NUMBER.fullmatch(cell)]
    if not commas or any("." in cell and is_number(cell) for cell in cells):
        return False
    # in quotes, "1,234" may be one thousand: only another number of digits tells
    return delimiter != "," or any(len(cell.partition(",")[2]) != 3 for cell in commas)
