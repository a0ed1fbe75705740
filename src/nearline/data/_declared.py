"""Files that declare their columns: what is declared, how values are read by it, and which column is the class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nearline.data._cells import Cells
from nearline.data._files import compression
from nearline.data._frames import Frame
from nearline.data._labels import listed
from nearline.data.base import DataError, Request, Table, polars

MISSING = ("", "?", "<null>")


@dataclass(frozen=True)
class Attribute:
    """A declared column: its type (that of a `Column`, or '' where none is said), its categories, and what it is for."""

    name: str
    type: str
    categories: tuple[str, ...] = ()
    role: str = "feature"  # or 'class', 'meta' (left out unless asked for)


@dataclass(frozen=True)
class Declared:
    """The declarations of a file, and its values as strings."""

    path: Path
    format: str
    attributes: Sequence[Attribute]
    frame: Any  # a polars frame of strings
    encoding: str
    missing: Sequence[str] = MISSING
    notes: tuple[str, ...] = ()
    lines: Sequence[int] = ()  # in which rows begin

    def table(self, request: Request) -> Table:
        """Rows and labels as asked for; the declared class is the target if nothing is said."""
        told = list(self.notes)
        target = request.target
        if target is None and request.labels is None and not request.part:  # parts are for predicting
            target = self._class(request)
            told += (
                []
                if target is None
                else [f"the class is {target!r}, as the file declares, unless another target is named"]
            )
        asked = set(request.columns or ()) | set(request.like.columns or ()) | {str(target)}
        meta = [a.name for a in self.attributes if a.role == "meta" and a.name not in asked]
        if meta:
            told.append(f"left out, as the file declares them to be no features: {listed(meta)}")
        types = {a.name: a.type for a in self.attributes if a.type}
        request = replace(request, target=target)
        packed = compression(self.path)
        details = {"encoding": self.encoding} | ({"compression": packed} if packed else {})
        markers = self.missing if request.missing is None else request.missing
        frame = Frame(
            self.path,
            self.format,
            self.frame.drop(meta),
            details,
            Cells(markers),
            notes=[*told, *self._undeclared(markers)],
            declared=types,
            lines=lambda: iter(self.lines),
        )
        return frame.table(request)

    def _class(self, request: Request) -> str | None:
        """The column of labels, if it has some: that of a table read before, or the one declared."""
        names = [request.like.target, *(a.name for a in self.attributes if a.role == "class")]
        found = next((name for name in names if name in self.frame.columns), None)
        if found is None or self.frame[found].is_in([*self.missing]).fill_null(True).all():
            return None
        return found

    def parts(self, rows: int, request: Request) -> Iterator[Table]:
        """The same in parts; the file itself is read at once."""
        for start in range(0, len(self.frame), rows):
            part = slice(start, start + rows)
            yield replace(self, frame=self.frame[part], lines=self.lines[part]).table(request)

    def _undeclared(self, markers: Sequence[str]) -> list[str]:
        """Values that are none of the categories declared for their column."""
        notes = []
        for attribute in self.attributes:
            if not attribute.categories:
                continue
            values = self.frame[attribute.name].drop_nulls().unique().to_list()
            declared = {category.strip() for category in attribute.categories}  # as the values are
            strange = sorted({str(value).strip() for value in values} - declared - set(markers))
            if strange:
                notes.append(
                    f"{attribute.name!r} has values that are not declared, and were kept: {listed(strange, 3)}"
                )
        return notes


def check_names(attributes: Sequence[Attribute], path: Path) -> None:
    """Refuse a file without columns, or with two of one name."""
    if not attributes:
        raise DataError(f"{path} declares no columns: it needs a line '@attribute name type' for each.")
    seen: set[str] = set()
    for attribute in attributes:
        if attribute.name in seen:
            raise DataError(f"{path} declares {attribute.name!r} more than once: rename columns.")
        seen.add(attribute.name)


def strings(names: Sequence[str], rows: Sequence[Sequence[str | None]]) -> Any:
    """Rows of strings as a frame."""
    pl = polars()
    return pl.DataFrame(
        [pl.Series(name, values, dtype=pl.String) for name, values in zip(names, zip(*rows))]
        if rows
        else [pl.Series(name, [], dtype=pl.String) for name in names]
    )
