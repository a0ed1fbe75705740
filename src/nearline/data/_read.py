"""Reading: which format a path has, and its rows at once or in parts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nearline.data._files import check_regular, compression, first_bytes, sound
from nearline.data.arff import Arff
from nearline.data.arrays import ArrayArchive, ArrayFile, IdxFile
from nearline.data.base import DataError, Format, Request, Schema, Table
from nearline.data.delimited import Delimited
from nearline.data.fasta import Fasta
from nearline.data.images import ImageFile, ImageFolder
from nearline.data.libsvm import LibSVM
from nearline.data.orange import OrangeTab
from nearline.data.parquet_folders import ParquetFolder
from nearline.data.texts import ClassFiles, TextFolder, TextLines
from nearline.data.trees import BracketedTrees, KeLP
from nearline.data.typed import JsonLines, Parquet

# in the order in which they are asked whether a path is theirs
FOLDERS: list[Format] = [ParquetFolder(), ImageFolder(), TextFolder(), ClassFiles()]
FILES: list[Format] = [
    ImageFile(),
    ArrayFile(),
    ArrayArchive(),
    IdxFile(),
    Parquet(),
    JsonLines(),
    Arff(),
    OrangeTab(),
    Fasta(),
    KeLP(),
    BracketedTrees(),
    LibSVM(),
    TextLines(),
    Delimited(),
]
FORMATS: list[Format] = [*FOLDERS, *FILES]
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")


def read(
    path: str | Path,
    target: str | int | None = None,
    *,
    like: Table | Schema | None = None,
    columns: Sequence[str] | None = None,
    labels: Any = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    size: int = 32,
    features: str = "pixels",
    bins: int | Sequence[float] | None = None,
) -> Table:
    """Read a file or folder as rows and labels; what is not said is found out, and shown by ``print``.

    Parameters
    ----------
    path : a file (CSV, TSV, ARFF, KEEL, Orange, Parquet, JSON lines, LIBSVM, FASTA, trees in brackets, .npy, .npz, IDX,
        lines of text; also .gz, .bz2, .xz, .zip), or a folder of images or texts with a sub-folder a class, or of text files,
        one a class.
    target : the column of labels: its name, its number counted from 1 (-1 is the last), "first" or "last".
    like : a table that was read before, or its ``schema``: its columns, types and spelling of classes are those of this one.
    columns : the columns to classify by; all others are left out. In an .npz file, the name of the array of rows.
    labels : an array of labels, or a file with one label a line (or .npy).
    format : a name of ``FORMATS``.
    delimiter, header, encoding, missing : what is known about a delimited file: its delimiter, whether its first line names
        the columns, its encoding, and what stands for a missing value.
    bins : makes classes of a target that is a quantity: how many, with quantiles of all labels as edges, or the edges.
    size, features : side of the square that images are brought to, and what is taken of them (see `image_features`).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from nearline.data import read
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = file.write_text("weight;color;fruit\\n150,5;red;apple\\n?;yellow;banana\\n120;yellow;banana\\n")
    >>> table = read(file, "fruit")
    >>> table.y.tolist(), table.X["weight"].to_list()
    (['apple', 'banana', 'banana'], [150.5, None, 120.0])
    >>> table.description.details
    {'delimiter': 'semicolon', 'header': 'yes', 'encoding': 'utf-8', 'decimals': 'comma'}
    """
    request = Request(
        target, _schema(like), columns, labels, delimiter, header, encoding, missing, size, features, bins
    )
    place = Path(path)
    with sound(place):
        return format_of(place, format, request).read(place, request)


def batches(
    path: str | Path,
    rows: int = 10_000,
    *,
    target: str | int | None = None,
    like: Table | Schema | None = None,
    columns: Sequence[str] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
) -> Iterator[Table]:
    """The rows of a file in order, at most ``rows`` at a time, so that a file larger than memory can be predicted.

    Columns and types are those of ``like`` (a table, or its ``schema``), else those of the first rows. Labels, if a target is
    asked for, are spelled as the classes of ``like``; rows without one are left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from nearline.data import batches
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "numbers.csv"
    >>> _ = file.write_text("a,b\\n" + "1,2\\n" * 5)
    >>> [part.X.shape for part in batches(file, rows=2)]
    [(2, 2), (2, 2), (1, 2)]
    """
    if rows < 1:
        raise DataError(f"A batch needs at least 1 row, got rows={rows}.")
    request = Request(target, _schema(like), columns, None, delimiter, header, encoding, missing, part=True)
    place = Path(path)
    with sound(place):
        parts = format_of(place, format, request).batches(place, rows, request)
    return _sound_parts(place, parts)


def _sound_parts(path: Path, parts: Iterator[Table]) -> Iterator[Table]:
    with sound(path):
        yield from (part for part in parts if len(part))


def row_lines(
    path: str | Path,
    *,
    target: str | int | None = None,
    like: Table | Schema | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
) -> Iterator[int]:
    """The line of the file, counted from 1, that each row begins in; nothing where rows are no lines.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from nearline.data import row_lines
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = file.write_text('a,b\\n1,"two\\nlines"\\n\\n3,x\\n')
    >>> list(row_lines(file))
    [2, 5]
    """
    request = Request(target, _schema(like), delimiter=delimiter, header=header, encoding=encoding)
    place = Path(path)
    return format_of(place, format, request).lines(place, request)


def _schema(like: Table | Schema | None) -> Schema:
    if like is None:
        return Schema()
    return like.schema if isinstance(like, Table) else like


def format_of(path: Path, name: str | None, request: Request) -> Format:
    """The format that was named, that the file's name tells, or that its content shows."""
    check_regular(path)
    if name is not None:
        found = [format for format in FORMATS if format.name.casefold() == name.casefold()]
        if not found:
            raise DataError(
                f"There is no format {name!r}", f"choose among {', '.join(f.name for f in FORMATS)}"
            )
        return found[0]
    if path.is_file() and not first_bytes(path):
        raise DataError(f"{path} is empty.")
    inner = path.suffixes
    while inner and inner[-1].lower() in PACKED and compression(path):
        inner = inner[:-1]
    ending = inner[-1].lower() if inner else ""
    if path.is_dir():
        return next((format for format in FOLDERS if format.matches(path)), TextFolder())
    named = [format for format in FORMATS if ending in format.extensions]
    if named:  # several kinds of files may end alike: the last takes what the others do not know
        return next((format for format in named[:-1] if format.matches(path)), named[-1])
    if request.delimiter is not None or request.header is not None:
        return Delimited()
    seen = next((format for format in FILES if format.matches(path)), TextLines())
    # a text with commas, alone in its file, looks like the names of columns
    return TextLines() if request.like.texts and isinstance(seen, Delimited) else seen
