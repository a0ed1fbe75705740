"""Files larger than memory, in pieces: one look at all rows, then each piece is read again whenever it is asked for.

Parquet is read by its row groups. Other files are written as Parquet during the look, so that they are understood once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.blocks import Block
from nearline._arrays.design import Array
from nearline._arrays.streamed import StreamedBlocks
from nearline.data._frames import Frame, following
from nearline.data._read import batches, format_of
from nearline.data.base import DataError, Description, Request, Schema, Table, library
from nearline.data.delimited import Delimited
from nearline.data.parquet_folders import ParquetFolder, parquet_files
from nearline.data.typed import JsonLines, Parquet, attempted

UNPACKED = 4.0  # times its size, that a packed file of text has
NUMBERS = ("integer", "number")
LABELS = "nearline labels"  # the column of labels in files of our own
MOST_NOTES = 20


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of a Parquet file with their labels: a block, read whenever it is asked for."""

    file: Path
    start: int
    rows: int
    request: Request
    numbers: bool  # whether all columns are numbers, which are one array
    labels: Array
    kept: Array | None  # which rows have labels; None: all
    first: int  # number of the first among all rows with labels

    def __call__(self) -> Block:
        frame = rows_in(self.file, self.start, self.rows)
        if self.kept is not None:
            frame = frame.filter(self.kept)
        X = Frame(self.file, Parquet.name, frame, {}).features(self.request)
        if len(X) != len(self.labels):
            raise DataError(f"{self.file} has changed since it was looked at: begin anew.")
        rows = X.to_numpy().astype(np.float64, order="C") if self.numbers else X
        return Block(rows, self.labels, np.ones(len(self.labels)), self.first)


def rows_in(file: Path, start: int, rows: int) -> Any:
    """Some rows of a Parquet file as a frame."""
    return attempted(file, lambda pl: pl.scan_parquet(file, glob=False).slice(start, rows).collect())


@dataclass
class Look:
    """What a look at all rows finds: what is told of them, and the pieces they come in."""

    description: Description
    schema: Schema
    pieces: list[Piece]
    places: Array | None  # of rows with labels among all rows, where some have none

    @property
    def labels(self) -> Array:
        """Labels, each as often as in the file, or in the same shares."""
        counts = np.array(list(self.description.classes.values()), dtype=float)
        fewer = np.ceil(counts * min(1.0, 1e6 / counts.sum())).astype(int)
        return np.repeat(np.array(list(self.description.classes)), fewer)

    def blocks(self) -> StreamedBlocks:
        """Blocks that are read again for each pass."""
        return StreamedBlocks.of(self.pieces, [len(piece.labels) for piece in self.pieces])


def in_pieces(path: Path, format: str | None = None) -> bool:
    """Whether a file or folder can be read in pieces."""
    return isinstance(format_of(path, format, Request()), (Parquet, ParquetFolder, Delimited, JsonLines))


def table_size(path: Path, format: str | None = None) -> tuple[int | None, float]:
    """Rows, where they need not be counted, and about how many bytes they take as a table."""
    if isinstance(format_of(path, format, Request()), (Parquet, ParquetFolder)):
        rows = columns = 0
        for file in parquet_files(path):
            sizes, columns = _row_groups(file)
            rows += sum(sizes)
        return rows, 8.0 * rows * columns
    from nearline.data._files import compression

    return None, path.stat().st_size * (UNPACKED if compression(path) else 1.0)


def _row_groups(file: Path) -> tuple[list[int], int]:
    """Rows of each row group, and the number of columns."""
    arrow = library("pyarrow.parquet", "cluster", "Reading Parquet in pieces")
    with _sound_arrow(file), arrow.ParquetFile(file) as opened:
        found = opened.metadata
        return [found.row_group(i).num_rows for i in range(found.num_row_groups)], len(
            opened.schema_arrow.names
        )


@contextmanager
def _sound_arrow(file: Path) -> Iterator[None]:
    """Failures of pyarrow as sentences."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, OSError) and not type(error).__module__.startswith("pyarrow"):
            raise
        said = str(error).partition("\n")[0]
        raise DataError(f"{file} is not Parquet, or damaged ({said}): write it again.") from error


def _spans(path: Path, rows: int) -> Iterator[tuple[Path, int, int]]:
    """Files with first rows and numbers of rows: whole row groups, small ones together, at most so many rows if they can."""
    for file in parquet_files(path):
        start = size = 0
        for group in _row_groups(file)[0]:
            if size and size + group > rows:
                yield file, start, size
                start, size = start + size, 0
            size += group
        if size:
            yield file, start, size


def look(
    path: Path,
    target: str | None,
    *,
    rows: int,
    scratch: Path,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    format: str | None = None,
    told: Any = None,
    **options: Any,
) -> Look:
    """Go through all rows once, at most ``rows`` at a time; files that are not Parquet are written to ``scratch`` as such.

    ``told(rows so far)`` is called after each part.
    """
    kind = format_of(path, format, Request())
    request = Request(target, columns=columns, part=True)
    found = _Sum(path, kind.name)
    if isinstance(kind, (Parquet, ParquetFolder)):
        for file, start, size in _spans(path, rows):
            table = Frame(path, kind.name, rows_in(file, start, size), {}).table(request)
            request = following(request, table)
            found.take(table, (file, start, size))
            if told is not None:
                told(found.rows)
    else:
        parts = batches(path, rows, target=target, columns=columns, format=format, **options)
        for number, table in enumerate(parts):
            file = scratch / f"part-{number:05d}.parquet"
            attempted(file, lambda pl, table=table, file=file: table.X.write_parquet(file))
            found.take(table, (file, 0, len(table.X)))
            if told is not None:
                told(found.rows)
    return found.look(tuple(drop))


@dataclass
class _Sum:
    """What was found so far."""

    path: Path
    format: str
    tables: list[Table] = field(default_factory=list)  # what is told of each part, without its rows
    spans: list[tuple[Path, int, int]] = field(default_factory=list)
    labels: list[Array] = field(default_factory=list)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    rows: int = 0

    def take(self, table: Table, span: tuple[Path, int, int]) -> None:
        if table.y is None:
            raise DataError(f"{self.path} has no labels: name their column as the target.")
        self.tables.append(replace(table, X=None, y=None))
        self.labels.append(table.y)
        self.spans.append(span)
        self.rows += len(table.y)
        for name, kind in (table.schema.columns or {}).items():
            self.kinds.setdefault(name, set()).update(() if kind is None else (kind,))

    def look(self, drop: tuple[str, ...]) -> Look:
        """All of it as one table without some columns."""
        if not self.rows:
            raise DataError(f"No row of {self.path} has a label: choose another target.")
        lacking = [name for name in drop if name not in self.kinds]
        if lacking:
            raise DataError(f"There is no column {lacking[0]!r} to drop; there are: {', '.join(self.kinds)}.")
        columns = {name: _common(kinds) for name, kinds in self.kinds.items() if name not in drop}
        if not columns:
            raise DataError("All columns would be dropped: keep one to classify by.")
        classes, labels = _together(self.labels)
        counts = Counter[Any]()
        for part in labels:
            values, times = np.unique(part, return_counts=True)
            counts.update(dict(zip(values.tolist(), times.tolist())))
        one = self.tables[0]
        schema = replace(
            one.schema, columns=columns, classes=tuple(classes.tolist()), n_features=len(columns)
        )
        description = self._description(columns, {label: counts[label] for label in classes.tolist()})
        return Look(description, schema, self._pieces(columns, labels), self._places())

    def _pieces(self, columns: dict[str, str | None], labels: list[Array]) -> list[Piece]:
        request = Request(like=Schema(columns), part=True)
        numbers = all(kind is None or kind.partition(" ")[0] in NUMBERS for kind in columns.values())
        pieces, first = [], 0
        for table, (file, start, size), own in zip(self.tables, self.spans, labels, strict=True):
            kept = None
            if table.places is not None and size > len(own):
                kept = np.zeros(size, dtype=bool)
                kept[table.places] = True
            pieces.append(Piece(file, start, size, request, numbers, own, kept, first))
            first += len(own)
        return pieces

    def _places(self) -> Array | None:
        if all(table.places is None for table in self.tables):
            return None
        found, begin = [], 0
        for table, own in zip(self.tables, self.labels, strict=True):
            found.append(begin + (np.arange(len(own)) if table.places is None else table.places))
            begin += len(own) + table.description.unlabeled
        return np.concatenate(found)

    def _description(self, columns: dict[str, str | None], classes: dict[Any, int]) -> Description:
        one = self.tables[0].description
        missing = Counter[str]()
        for table in self.tables:
            missing.update({column.name: column.missing for column in table.description.columns})
        notes = dict.fromkeys(note for table in self.tables for note in table.description.notes)
        kept = tuple(
            replace(column, missing=missing[column.name], distinct=None)
            for column in one.columns
            if column.name in columns
        )
        return replace(
            one,
            path=str(self.path),
            format=self.format,
            details={**one.details, "pieces": f"{len(self.spans):,}"},
            rows=self.rows,
            shape=(len(columns),),
            columns=kept,
            classes=classes,
            unlabeled=sum(table.description.unlabeled for table in self.tables),
            notes=tuple(notes)[:MOST_NOTES],
        )


def _common(kinds: set[str]) -> str | None:
    """The type of a column whose parts may have been understood in several ways."""
    if len(kinds) < 2:
        return next(iter(kinds), None)
    return "number" if kinds <= set(NUMBERS) else "string"


def _together(labels: list[Array]) -> tuple[Array, list[Array]]:
    """Classes in order, and labels as they are spelled: numbers where all parts have numbers, else text."""
    filled = [part for part in labels if len(part)]
    numeric = all(part.dtype.kind in "biuf" for part in filled)
    common = np.result_type(*(part if numeric else part.astype(str) for part in filled))
    return np.unique(np.concatenate([np.unique(part.astype(common)) for part in filled])), [
        part.astype(common) for part in labels
    ]
