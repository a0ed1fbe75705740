"""CSV, TSV and other delimited files, however they are written."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from nearline._records.words import many, worded
from nearline.data._cells import Cells
from nearline.data._dialect import NAMES, NONE, Dialect, sniffed
from nearline.data._files import compression
from nearline.data._frames import Frame, following
from nearline.data._header import MARKERS, is_number
from nearline.data._labels import listed
from nearline.data._parse import Part, next_part, parsed, record_lines
from nearline.data._text import SAMPLE, lines_of, sample_of, text_of
from nearline.data.base import DataError, Format, Request, Table

MOST_COLUMNS = 100_000  # beyond, a frame costs more than its numbers
LONG_SAMPLE = 1 << 22


@dataclass(frozen=True)
class Delimited(Format):
    """Lines of fields between delimiters (comma, semicolon, tab, bar, spaces), with or without a header."""

    name = "CSV"
    extensions = (".csv", ".tsv", ".tab", ".psv", ".data", ".dat")

    def matches(self, path: Path) -> bool:
        text, _ = sample_of(path)
        dialect = sniffed(text)
        return dialect.delimiter != NONE and dialect.regularity >= 0.9

    def read(self, path: Path, request: Request) -> Table:
        text, encoding = text_of(path, request.encoding)
        dialect = _dialect(text, path, request)
        part = parsed(text, dialect)
        if not part.rows:
            raise DataError(f"{path} has a header and no rows; {_no_header()} if its only line is a row.")
        return _framed(part, path, dialect, encoding, request).table(request)

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        text, encoding = sample_of(path, request.encoding)
        dialect = _dialect(text, path, request)
        skip = dialect.lead
        with lines_of(path, encoding) as lines:
            while chunk := list(islice(lines, rows + skip)):
                part = next_part(chunk, lines, dialect, skip)
                skip = max(0, skip - part.seen)
                if part.rows:
                    table = _framed(part, path, dialect, encoding, request).table(request)
                    yield table
                    request = following(request, table)

    def lines(self, path: Path, request: Request) -> Iterator[int]:
        text, encoding = sample_of(path, request.encoding)
        dialect = _dialect(text, path, request)
        with lines_of(path, encoding) as lines:
            yield from islice(record_lines(lines, dialect), dialect.lead, None)


def _sample_end(text: str) -> int:
    """The end of the lines from which the dialect is found out; a line beyond all measure is cut."""
    end = text.find("\n", SAMPLE, LONG_SAMPLE)
    return min(len(text), LONG_SAMPLE) if end < 0 else end + 1


def check_width(columns: int, path: Path) -> None:
    """Refuse more columns than a table has."""
    if columns > MOST_COLUMNS:
        raise DataError(
            f"{path} has {columns:,} columns, and tables go to {MOST_COLUMNS:,}",
            "save so many numbers as .npy or in LIBSVM format",
        )


def _dialect(text: str, path: Path, request: Request) -> Dialect:
    if not text.strip():
        raise DataError(f"{path} is empty.")
    first = text.lstrip("\n").partition("\n")[0]
    widest = max(first.count(mark) for mark in ",;\t|")
    check_width(widest + 1, path)
    if request.delimiter is not None and len(request.delimiter) != 1:
        raise DataError(f"A delimiter is one character, such as ',' or '\\t', got {request.delimiter!r}.")
    dialect = sniffed(
        text[: _sample_end(text)],
        request.delimiter,
        request.header,
        request.target,
        tuple(request.like.columns or ()),
    )
    check_width(dialect.width, path)
    if not dialect.names:
        raise DataError(f"{path} has no rows, only comments or blank lines.")
    twice = [name for name, count in Counter(dialect.names).items() if count > 1]
    if twice:
        raise DataError(
            f"Column names must differ, but {listed(twice, 5)} stands more than once in the first line of {path}: "
            f"rename columns, or {_no_header()} if that line is no header."
        )
    return dialect


def _framed(part: Part, path: Path, dialect: Dialect, encoding: str, request: Request) -> Frame:
    packed = compression(path)
    details = {"delimiter": NAMES.get(dialect.delimiter, repr(dialect.delimiter))}
    details |= {"header": "yes" if dialect.header else "no", "encoding": encoding}
    details |= {"compression": packed} if packed else {}
    details |= {"decimals": "comma"} if dialect.decimal_comma else {}
    details |= {"quotes": dialect.quote} if dialect.quote == "'" else {}
    notes = []
    if dialect.classes:
        told = ", ".join(f"{code} is {name}" for code, name in enumerate(dialect.classes))
        notes.append(
            f"the first line counts rows and columns and names the classes of the last column: {told}"
        )
    elif dialect.skipped:
        notes.append(f"skipped before the table: {many(dialect.skipped, 'line')}")
    if dialect.comment:
        notes.append(f"lines that begin with {dialect.comment} were skipped")
    for what, done, rows in (
        ("fewer", "the rest is missing", [i for i, n in part.ragged.items() if n < dialect.width]),
        ("more", "the rest was dropped", [i for i, n in part.ragged.items() if n > dialect.width]),
    ):
        if rows:
            wide = many(dialect.width, "field")
            notes.append(
                f"{many(len(rows), 'row')} with {what} than {wide} (first: row {rows[0] + 1:,}); {done}"
            )
    cells = Cells(MARKERS if request.missing is None else request.missing, dialect.decimal_comma)
    frame = part.frame()
    return Frame(
        path,
        "CSV",
        frame,
        details,
        cells,
        dialect.header,
        [*notes, *(_numbers_as_names(frame.columns) if dialect.header else ())],
        lines=lambda: Delimited().lines(path, request),
    )


def _numbers_as_names(names: list[str]) -> list[str]:
    """Names that are numbers, beside others, and do not count on: the first line may be something else."""
    numbers = [name for name in names if is_number(name)]
    counted = all(float(b) - float(a) == 1 for a, b in pairwise(numbers))
    if not numbers or (counted and len(numbers) > 1) or len(numbers) == len(names):
        return []
    return [f"columns are called {listed(numbers, 3)}: if the first line has no names, {_no_header()}"]


def _no_header() -> str:
    return worded("pass header=False", "give --read header=no")
