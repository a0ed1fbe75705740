"""What was read: rows, labels and a description of what was understood; and what a format has to do."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from nearline._arrays.design import Array
from nearline._records.words import many
from nearline.data.listing import listing

SHOWN = 16  # classes that a summary lists


class DataError(ValueError):
    """A file or folder that cannot be read as data: why, what to do, and which rows and columns are meant.

    Parameters
    ----------
    cause : what is wrong; with what to do in it, where that is no clause of its own.
    remedy : what to do.
    rows : rows that are meant, counted from 1.
    columns : names of columns that are meant.

    Examples
    --------
    >>> from nearline.data import DataError
    >>> error = DataError("table.csv has no column 'age'", "choose another target", columns=["age"])
    >>> print(error, error.columns)
    table.csv has no column 'age': choose another target. ('age',)
    """

    def __init__(
        self, cause: str, remedy: str = "", *, rows: Sequence[int] = (), columns: Sequence[str] = ()
    ) -> None:
        self.cause, self.remedy, self.rows, self.columns = cause, remedy, tuple(rows), tuple(columns)
        super().__init__(f"{cause}: {remedy}." if remedy else cause)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cause, self.remedy), {"rows": self.rows, "columns": self.columns}


class NotInPartsError(DataError):
    """A format whose rows are read all at once or not at all."""


@dataclass(frozen=True)
class Doubt:
    """A reason to look at a column again before it is believed."""

    weight: int  # the larger, the earlier it is listed
    name: str
    reason: str


@dataclass(frozen=True)
class Column:
    """A column of a table: 'integer', 'number', 'string', 'category', 'date' or 'empty' (only missing values).

    Numbers and dates in other than plain notation have it in their type: 'number 1.234,5', 'date d/m/y'.
    """

    name: str
    type: str
    missing: int = 0
    distinct: int | None = None  # of strings
    examples: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()  # the strongest first

    def __str__(self) -> str:
        kind = self.type if self.distinct is None else f"{self.type}, {self.distinct:,} distinct"
        missing = f", {self.missing:,} missing" if self.missing else ""
        return f"{self.name}: {kind}{missing}" + (f" ({', '.join(self.examples)})" if self.examples else "")


@dataclass(frozen=True)
class Schema:
    """What further files are read like: columns with their types, the known classes, and the number of features.

    Without a table at hand, ``Schema(columns=dict.fromkeys(model.feature_names_in_), classes=tuple(model.classes_))``
    leaves the types to the file.
    """

    columns: Mapping[str, str | None] | None = None
    classes: tuple[Any, ...] | None = None
    target: str | None = None
    n_features: int | None = None  # of rows without column names
    zero_based: bool | None = None  # whether features of a LIBSVM file are counted from 0
    texts: bool = False  # whether rows are texts
    bins: tuple[float, ...] | None = None  # edges of the bins that a quantity was put into


@dataclass(frozen=True)
class Description:
    """What was understood of a file or folder."""

    path: str
    format: str
    details: Mapping[str, str]  # delimiter, header, encoding, ...
    rows: int
    shape: tuple[int, ...]  # of one row; (height, width, channels) of an image
    columns: tuple[Column, ...] = ()
    target: str | None = None
    classes: Mapping[Any, int] = field(default_factory=dict)  # label -> rows
    unlabeled: int = 0  # rows left out, as their label is missing
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        how = ", ".join([self.format, *(f"{key} {value}" for key, value in self.details.items())])
        size = " x ".join(f"{n:,}" for n in self.shape)
        what = (
            many(len(self.columns), "column")
            if self.columns
            else f"{size} {'feature' if self.shape == (1,) else 'features'}"
            if self.shape
            else "texts"
        )
        lines = [f"{self.path}: {many(self.rows, 'row')}, {what} ({how})"]
        lines += [f"  {line}" for line in listing(self.columns)]
        if self.classes:
            shown = [f"{label!r} {count:,}" for label, count in list(self.classes.items())[:SHOWN]]
            more = f" and {len(self.classes) - SHOWN:,} more" if len(self.classes) > SHOWN else ""
            name = f" in {self.target}" if self.target else ""
            lines.append(f"  {many(len(self.classes), 'class', 'classes')}{name}: {', '.join(shown)}{more}")
        if self.unlabeled:
            lines.append(f"  {many(self.unlabeled, 'row')} without a label left out")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


@dataclass(frozen=True, eq=False)
class Table:
    """Rows ready for a contest, their labels (None where there are none), and what was understood of the file."""

    X: Any  # polars frame, CSR matrix, array (n, D) or list of texts
    y: Array | None
    description: Description
    schema: Schema
    places: Array | None = None  # of these rows among those of the file, from 0, where some were left out

    def __str__(self) -> str:
        return str(self.description)

    def __len__(self) -> int:
        return self.description.rows


@dataclass(frozen=True)
class Request:
    """What the caller asks for; None leaves the choice to what is found in the file."""

    target: str | int | None = None
    like: Schema = field(default_factory=Schema)
    columns: Sequence[str] | None = None
    labels: Any = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    missing: Sequence[str] | None = None
    size: int = 32
    features: str = "pixels"
    bins: int | Sequence[float] | None = None
    part: bool = False  # whether other parts of the file may have what this one lacks

    @property
    def edges(self) -> int | Sequence[float] | None:
        """The bins of labels: those of a table that was read before, or as asked for."""
        return self.bins if self.like.bins is None else self.like.bins


@dataclass(frozen=True)
class Format(ABC):
    """A kind of file or folder: how it is recognized and read."""

    name: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def matches(self, path: Path) -> bool:
        """Whether the content, not the name, is of this format."""

    @abstractmethod
    def read(self, path: Path, request: Request) -> Table:
        """All rows."""

    def lines(self, path: Path, request: Request) -> Iterator[int]:
        """The line of the file, counted from 1, that each row begins in; nothing where rows are no lines."""
        return iter(())

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        """The rows in order, at most so many at a time."""
        raise NotInPartsError(
            f"{path} ({self.name}) cannot be read in parts",
            "use nearline.data.read, or convert it to CSV, Parquet, JSON lines or LIBSVM",
        )


def library(name: str, extra: str, purpose: str) -> Any:
    """An optional package, or the command that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = {"PIL.Image": "Pillow", "PIL.ImageOps": "Pillow"}.get(name, name)
        raise ImportError(f"{purpose} needs {package}: pip install 'nearline[{extra}]'") from error


def polars() -> Any:
    """The library that reads tables."""
    return library("polars", "tables", "Reading tables")
