"""From a frame, of strings or typed, to rows and labels: target, columns, types and what is to be told about them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import did_you_mean, worded
from nearline.data._cells import Cells, ReadColumn, described, type_of, typed
from nearline.data._labels import brought, counted, listed, matched, oddities, place_of, present
from nearline.data.base import Column, DataError, Description, Request, Schema, Table, polars
from nearline.data.bins import binned


@dataclass(frozen=True)
class Frame:
    """A frame as it comes from a file, with what is known about the file."""

    path: Path
    format: str
    frame: Any
    details: Mapping[str, str]
    cells: Cells | None = None  # of a file of strings
    named: bool = True  # whether the file itself names its columns
    notes: Sequence[str] = ()
    declared: Mapping[str, str] = field(default_factory=dict)  # types that the file itself says
    lines: Callable[[], Iterator[int]] = lambda: iter(())  # in which rows begin, where they are lines

    def table(self, request: Request) -> Table:
        """Rows and labels as asked for."""
        rest, y, kept, target = self._divided(request)
        notes, unlabeled, edges = list(self.notes), 0, None
        if y is not None and kept is not None:
            unlabeled = int(len(kept) - kept.sum())
            y, edges, told = binned(y, request.edges, self.path)
            y, notes = self._checked(y, request, [*notes, *told])
        columns, read = self._columns(rest, request)
        places = None if kept is None or kept.all() else np.flatnonzero(kept)
        facts = described(polars().DataFrame(columns), read, y, request.part)
        notes += [*_told(read), *self._spoiled(read, places)]
        table = self._assembled(columns, facts, y, target, unlabeled, notes, request.like)
        return replace(table, places=places, schema=replace(table.schema, bins=edges))

    def features(self, request: Request) -> Any:
        """The wanted columns alone, of a file that was looked at before."""
        return polars().DataFrame(self._columns(self.frame, request)[0])

    def _divided(self, request: Request) -> tuple[Any, Array | None, Array | None, str | None]:
        """Columns of the rows that have a label, the labels, which rows these are, and what the target is called."""
        names = list(self.frame.columns)
        place = None if request.target is None else place_of(request.target, names, self.path)
        rest = self.frame if place is None else self.frame.drop(names[place])
        rest = self._positional(rest, request)
        y, kept, target = None, None, None
        if request.labels is not None:
            y, kept, target = brought(request.labels, len(rest), self.path)
        elif place is not None:
            target = names[place]
            y, kept = _labels(self.frame.to_series(place))
        if kept is not None and not kept.all():
            rest = rest.filter(polars().Series(kept))
        return rest, y, kept, target

    def _spoiled(self, read: Sequence[ReadColumn], places: Array | None) -> list[str]:
        """Columns that a few values keep from being numbers, and where the first of these is."""
        notes = []
        for one in (column.spoiled for column in read if column.spoiled):
            row = one.row if places is None else int(places[one.row])
            line = next(islice(self.lines(), row, None), None)
            place = f"row {row + 1:,}" if line is None else f"line {line:,}"
            by = worded(f"missing=[{one.value!r}, '?', 'NA']", f"--read 'missing={one.value}|?|NA'")
            notes.append(
                f"{one.numbers:,} of {one.values:,} values of {one.name!r} are numbers; {place} says {one.value!r}, so "
                f"all are taken as categories: correct it, or say that it is missing by {by}"
            )
        return notes

    def _checked(self, y: Array, request: Request, notes: list[str]) -> tuple[Array, list[str]]:
        if not len(y) and not request.part:
            raise DataError(
                f"No row of {self.path} has a label in {request.target!r}",
                "choose another target",
                columns=[str(request.target)],
            )
        y, changed = matched(y, request.like.classes, self.path)
        return y, [*notes, *changed, *oddities(y)]

    def _assembled(
        self,
        columns: list[Any],
        facts: tuple[Column, ...],
        y: Array | None,
        target: str | None,
        unlabeled: int,
        notes: list[str],
        like: Schema,
    ) -> Table:
        X = polars().DataFrame(columns)
        rows = len(X) if y is None else len(y)
        description = Description(
            path=str(self.path),
            format=self.format,
            details=self.details,
            rows=rows,
            shape=(len(columns),),
            columns=facts,
            target=target,
            classes={} if y is None else counted(y),
            unlabeled=unlabeled,
            notes=tuple(notes),
        )
        types = {column.name: None if column.type == "empty" else column.type for column in facts}
        classes = like.classes if y is None else tuple(description.classes)
        return Table(X, y, description, Schema(types, classes, target or like.target, len(columns)))

    def _positional(self, frame: Any, request: Request) -> Any:
        """A file without names that has just as many columns as are wanted has them in that order."""
        wanted = _wanted(request)
        if self.named or wanted is None or len(wanted) != len(frame.columns):
            return frame
        return frame.rename(dict(zip(frame.columns, wanted)))

    def _columns(self, frame: Any, request: Request) -> tuple[list[Any], list[ReadColumn]]:
        """The wanted columns with their types, and how each column of the file was read."""
        wanted = _wanted(request)
        types: Mapping[str, str | None] = {**self.declared, **(request.like.columns or {})}
        # a typed column may be spread into several, with names of their own
        source = list(frame.columns) if wanted is None or self.cells is None else wanted
        have = set(frame.columns)
        lacking = [name for name in source if name not in have]
        if lacking:
            self._refuse(lacking, list(frame.columns))
        if self.cells is None:
            read = {name: typed(frame[name], types.get(name)) for name in source}
        else:
            read = dict(zip(source, self.cells.read(frame.select(source), types) if source else ()))
        made = {series.name: [series] for one in read.values() for series in one.columns}
        found = {name: one.columns for name, one in read.items()} | made
        names = list(source) if wanted is None else wanted
        lacking = [name for name in names if name not in found]
        if lacking:
            self._refuse(lacking, list(found))
        columns = [series for name in names for series in found[name]]
        if not columns:
            raise DataError(f"{self.path} has no column left to classify by: it needs one beside the target.")
        return columns, [one for name, one in read.items() if wanted is None or name in wanted]

    def _refuse(self, lacking: Sequence[str], names: list[str]) -> None:
        raise DataError(
            f"{self.path} lacks {len(lacking):,} of the wanted columns: {listed(lacking, 5)}."
            f"{did_you_mean(lacking[0], names)} It has {listed(names)}.",
            columns=lacking,
        )


def following(request: Request, table: Table) -> Request:
    """What to ask of the next part: the columns of this one, their types as soon as they are known."""
    known = request.like.columns or {}
    columns = {name: known.get(name) or kind for name, kind in (table.schema.columns or {}).items()}
    return replace(request, like=replace(request.like, columns=columns), columns=None)


def _wanted(request: Request) -> list[str] | None:
    if request.columns is not None:
        return [request.columns] if isinstance(request.columns, str) else list(map(str, request.columns))
    return None if request.like.columns is None else list(request.like.columns)


def _told(read: Sequence[ReadColumn]) -> list[str]:
    total: Counter[str] = sum((one.markers for one in read), Counter())
    told = [f"{text!r} {count:,}" for text, count in sorted(total.items()) if text]
    notes = [one.note for one in read if one.note]
    return ([f"taken as missing: {', '.join(told)}"] if told else []) + notes


def _labels(series: Any) -> tuple[Array, Array]:
    """Labels of the rows that have one, and which rows these are."""
    pl = polars()
    if series.dtype.is_numeric() or type_of(series) == "empty":
        return present(
            np.asarray(series.cast(pl.Float64).to_numpy() if series.null_count() else series.to_numpy())
        )
    if str(series.dtype) == "Boolean" and not series.null_count():
        return present(np.asarray(series.to_numpy()))
    return present(np.array(series.cast(pl.String).to_list(), dtype=object))
