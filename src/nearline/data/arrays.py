"""Arrays: .npy with labels beside it or in a column, .npz with rows and labels inside, IDX as MNIST has it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import did_you_mean, many, worded
from nearline.data._files import first_bytes, readable
from nearline.data._idx import idx_array, is_idx, labels_beside
from nearline.data._labels import place_of
from nearline.data._numpy import loaded, unpacked
from nearline.data._rows import Rows
from nearline.data.base import DataError, Format, Request, Table

ROWS = ("X", "x", "data", "features", "embeddings", "images", "texts", "arr_0")
LABELS = ("y", "Y", "labels", "label", "target", "targets", "classes", "arr_1")
PARTS = ("", "_train", "_all", "_test", "_val")


@dataclass(frozen=True)
class ArrayFile(Format):
    """An array of numbers (n, D); labels from a file beside it, or from a column."""

    name = "npy"
    extensions = (".npy",)

    def matches(self, path: Path) -> bool:
        return first_bytes(path).startswith(b"\x93NUMPY")

    def read(self, path: Path, request: Request) -> Table:
        return _table(loaded(path), None, path, self.name, request)

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        values = loaded(path, mapped=True)
        for start in range(0, len(values), rows):
            yield _table(np.array(values[start : start + rows]), None, path, self.name, request)


@dataclass(frozen=True)
class ArrayArchive(Format):
    """Several arrays: one of rows, one of labels; or a sparse matrix saved by SciPy."""

    name = "npz"
    extensions = (".npz",)

    def matches(self, path: Path) -> bool:
        if not first_bytes(path).startswith(b"PK") or not is_zipfile(path):
            return False
        with readable(path), ZipFile(path) as archive:
            return all(name.endswith(".npy") for name in archive.namelist())

    def read(self, path: Path, request: Request) -> Table:
        arrays, matrix = unpacked(path)
        if matrix is not None:
            return _table(matrix, None, path, self.name, request)
        return _archived(arrays, path, request)


@dataclass(frozen=True)
class IdxFile(Format):
    """Images or other numbers as MNIST has them; labels from the file beside it."""

    name = "IDX"

    def matches(self, path: Path) -> bool:
        return is_idx(path)

    def read(self, path: Path, request: Request) -> Table:
        values = idx_array(path)
        if values.ndim < 2:
            raise DataError(
                f"{path} has {many(len(values), 'number')} and no rows, as files of labels do",
                "name the file of images "
                f"(...-images-idx3-ubyte), whose labels are found beside it or given by {worded('labels=', '--labels')}",
            )
        beside = labels_beside(path) if request.target is None and request.labels is None else None
        y = None if beside is None else idx_array(beside)
        if beside is None or y is None:
            return _table(values, None, path, self.name, request)
        if y.shape != values.shape[:1]:
            said = (
                f"{beside.name} has {many(len(y), 'label')} for {many(len(values), 'row')} and was not used"
            )
            return _table(values, None, path, self.name, request, notes=[said])
        return _table(values, y, path, self.name, request, notes=[f"labels are those of {beside.name}"])


def _archived(arrays: dict[str, Array], path: Path, request: Request) -> Table:
    target = request.target
    name = _rows_name(arrays, path, request)
    ending = next((part for part in PARTS[1:] if name.endswith(part)), "")
    found = str(target) if target in arrays else None
    if target is None and request.labels is None:
        same = len(arrays[name])
        names = (f"{label}{ending}" for label in LABELS)
        found = next((n for n in names if n in arrays and n != name and arrays[n].shape == (same,)), None)
    y = None if found is None else arrays[found]
    if y is not None and y.shape != arrays[name].shape[:1]:
        raise DataError(
            f"In {path}, {found!r} has shape {y.shape} and {name!r} {arrays[name].shape}",
            "give one label a row",
        )
    column = str(target) in ("first", "last") or str(target).lstrip("+-").isdigit()
    if target is not None and found is None and not (column and arrays[name].ndim == 2):
        raise _unknown(str(target), arrays, path)
    rest = [n for n in arrays if n not in (name, found)]
    notes = [f"rows are {name!r}" + (f"; not used: {', '.join(map(repr, rest))}" if rest else "")]
    return _table(arrays[name], y, path, "npz", request, found, notes)


def _rows_name(arrays: dict[str, Array], path: Path, request: Request) -> str:
    """Which array holds the rows: the one named, one called X or alike, or the only one with two dimensions."""
    if request.columns is not None:
        name = request.columns if isinstance(request.columns, str) else next(iter(request.columns), "")
        if name not in arrays:
            raise _unknown(name, arrays, path)
        return name
    target = str(request.target) if request.target in arrays else ""
    parts = [part for part in PARTS[1:] if target.endswith(part)] or list(PARTS)
    for part in parts:
        for name in ROWS:
            if f"{name}{part}" in arrays:
                return f"{name}{part}"
    wide = [name for name, values in arrays.items() if values.ndim >= 2]
    if len(wide) != 1:
        raise DataError(
            f"{path} has no array called 'X'",
            f"name that of the rows by {worded('columns=', '--columns')}, among {_shapes(arrays)}",
        )
    return wide[0]


def _unknown(name: str, arrays: dict[str, Array], path: Path) -> DataError:
    return DataError(
        f"{path} has no array {name!r}.{did_you_mean(name, list(arrays))} It has {_shapes(arrays)}."
    )


def _shapes(arrays: dict[str, Array]) -> str:
    return ", ".join(f"{name!r} {values.shape}" for name, values in list(arrays.items())[:12])


def _table(
    X: Any,
    y: Array | None,
    path: Path,
    format: str,
    request: Request,
    target: str | None = None,
    notes: list[str] | None = None,
) -> Table:
    """Rows as numbers (n, D) or texts; a target that is no array is a column."""
    details = {"dtype": str(X.dtype)}
    if X.ndim == 1 and X.dtype.kind == "U":
        texts = Rows(path, format, X.tolist(), y, target=target, details=details, notes=notes or [])
        return texts.table(request)
    if X.ndim < 2 or X.dtype.kind not in "biuf" or not X.shape[0] or 0 in X.shape:
        raise DataError(
            f"{path} has an array of shape {X.shape} and type {X.dtype}: rows must be numbers (n, D), at least one."
        )
    if y is None and request.target is not None and request.labels is None:
        if X.ndim > 2:
            raise DataError(
                f"{path} has rows of shape {X.shape[1:]}, which have no columns to take labels from",
                "give the labels in a file of their own",
            )
        names = [f"column_{j}" for j in range(1, X.shape[1] + 1)]
        place = place_of(request.target, names, path)
        y, target = np.asarray(X[:, place]), names[place]
        X = np.delete(X, place, axis=1)
    shape = X.shape[1:]
    rows = X if X.ndim == 2 else np.ascontiguousarray(X.reshape(len(X), -1))
    table = Rows(path, format, rows, y, target=target, shape=shape, details=details, notes=notes or [])
    return table.table(request)
