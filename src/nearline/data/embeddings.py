"""Embeddings: rows of numbers that stay on disk where they can, with labels inside the file or beside it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline._records.words import many, worded
from nearline.data._files import sound
from nearline.data._labels import brought
from nearline.data._numpy import loaded, mapped_members, unpacked
from nearline.data._read import read
from nearline.data.arrays import LABELS, ROWS
from nearline.data.base import DataError, polars
from nearline.data.typed import attempted, check_size

PARTS = ("train", "test")


@dataclass(frozen=True)
class Embedded:
    """Rows (n, D) and one label for each."""

    X: Array
    y: Array
    said: str  # where rows and labels were found


def read_embeddings(
    path: str | Path, part: str = "train", *, target: str | None = None, labels: Any = None
) -> Embedded:
    """Embeddings with labels, from .npy, .npz, Parquet, or any file of numbers that :func:`nearline.data.read` knows.

    An .npy file, and an .npz file that is not compressed, is mapped: its rows are read when they are looked at.

    Parameters
    ----------
    part : "train" or "test": of an .npz file with both, X_train or X_test is taken.
    target : the array or column of the labels, where it is not found by its name.
    labels : an array, or a file with one label a line or .npy. Else they are looked for inside, then beside: for
        ``X_train.npy`` in ``y_train.npy``, for ``cats.npy`` in ``cats_labels.npy``, ``cats.labels.npy`` or the same as .txt.
    """
    path = Path(path)
    with sound(path):
        ending = path.suffix.lower()
        if ending == ".npy":
            return _with_labels(loaded(path, mapped=True), None, path, labels, "rows mapped from disk")
        if ending == ".npz":
            return _of_archive(path, part, target, labels)
        if ending in (".parquet", ".pq"):
            return _of_lists(path, target, labels)
    return _of_table(path, target, labels)


def read_rows(path: Path, rows: int, of: Path) -> Array:
    """Embeddings (rows, D) of an .npy file, mapped from disk, one for each row of the file ``of``."""
    with sound(path):
        X = loaded(path, mapped=True)
    if X.dtype.kind not in "fiub":
        raise DataError(f"{path} has values of type {X.dtype}", "give numbers")
    if X.ndim != 2 or len(X) != rows or not X.shape[1]:
        raise DataError(
            f"{path} has shape {X.shape}, and {of} has {many(rows, 'row')}: give one embedding for each row."
        )
    return X


def _of_archive(path: Path, part: str, target: str | None, labels: Any) -> Embedded:
    mapped = mapped_members(path)
    arrays, matrix = unpacked(path) if mapped is None else (mapped, None)
    if matrix is None and not arrays:
        raise DataError(f"{path} holds no array", "save embeddings with np.savez(file, X=..., y=...)")
    if matrix is not None:
        raise DataError(
            f"{path} holds a sparse matrix", "give dense embeddings, saved with np.savez(file, X=..., y=...)"
        )
    endings = (f"_{part}", "", "_all")
    name = next((f"{row}{end}" for end in endings for row in ROWS if f"{row}{end}" in arrays), None)
    if name is None:
        wide = [key for key, values in arrays.items() if values.ndim == 2]
        if len(wide) != 1:
            shapes = ", ".join(f"{key!r} {values.shape}" for key, values in list(arrays.items())[:12])
            raise DataError(
                f"{path} has no array called 'X' or 'X_{part}'", f"name the rows so; it has {shapes}"
            )
        name = wide[0]
    end = next((end for end in endings if end and name.endswith(end)), "")
    names = [f"{target}{end}", str(target)] if target is not None else [f"{label}{end}" for label in LABELS]
    found = next((key for key in names if key in arrays and key != name), None)
    if target is not None and found is None:
        raise DataError(f"{path} has no array {target!r} of labels; it has {', '.join(map(repr, arrays))}.")
    y = None if found is None or labels is not None else np.array(arrays[found])
    how = "read, as the file is compressed" if mapped is None else "mapped from disk"
    where = "" if y is None else f", labels are {found!r}"
    return _with_labels(arrays[name], y, path, labels, f"rows are {name!r}, {how}{where}")


def _of_lists(path: Path, target: str | None, labels: Any) -> Embedded:
    """A Parquet file with a column of lists of numbers; one with a column a feature is a table."""
    pl = polars()
    check_size(path)
    types = attempted(path, lambda pl: pl.scan_parquet(path, glob=False).collect_schema())
    wide = [
        name
        for name, kind in types.items()
        if isinstance(kind, (pl.List, pl.Array)) and kind.inner.is_numeric()
    ]
    if len(wide) != 1:
        if wide:
            raise DataError(
                f"{path} has several columns of lists ({', '.join(wide)})",
                "keep that of the embeddings alone",
            )
        return _of_table(path, target, labels)
    others = [name for name in types if name != wide[0]]
    column = target or next((name for name in LABELS if name in others), None)
    if column is not None and column not in others:
        raise DataError(
            f"{path} has no column {column!r} of labels; it has {', '.join(map(repr, others)) or 'no other'}.",
            columns=[str(column)],
        )
    columns = [wide[0], *([] if column is None else [column])]
    frame = attempted(path, lambda pl: pl.read_parquet(path, columns=columns, glob=False))
    _check_lists(frame[wide[0]], path)
    lengths = frame[wide[0]].list.len() if isinstance(types[wide[0]], pl.List) else None
    if lengths is not None and lengths.n_unique() != 1:
        raise DataError(
            f"The lists of {wide[0]!r} in {path} have {lengths.min()} to {lengths.max()} numbers",
            "give embeddings of one length",
        )
    width = int(lengths[0]) if lengths is not None else types[wide[0]].shape[0]
    values = frame[wide[0]].explode()
    X = (
        (values.cast(pl.Float64) if values.dtype.is_decimal() else values)
        .to_numpy()
        .reshape(len(frame), width)
    )
    y = None if column is None or labels is not None else frame[column].to_numpy()
    return _with_labels(
        X,
        y,
        path,
        labels,
        f"rows are lists in {wide[0]!r}" + (f", labels {column!r}" if y is not None else ""),
    )


def _check_lists(lists: Any, path: Path) -> None:
    """Refuse no rows, and rows without a list."""
    if not len(lists):
        raise DataError(f"{path} has no rows", "give embeddings")
    missing = lists.is_null()
    if missing.any():
        raise DataError(
            f"{many(int(missing.sum()), 'row')} of {path} without a list in {lists.name!r} (the first is row "
            f"{int(missing.arg_max()) + 1:,}, counted from 1)",
            "leave them out",
        )


def _of_table(path: Path, target: str | None, labels: Any) -> Embedded:
    table = read(path, target, labels=labels)
    if table.y is None:
        raise _unlabeled(path)
    X = table.X.to_numpy() if hasattr(table.X, "to_numpy") else table.X
    if is_sparse(X) or not isinstance(X, np.ndarray) or X.dtype.kind not in "fiub":
        raise DataError(
            f"{path} has columns that are no numbers, or sparse rows: embeddings are rows of numbers."
        )
    return Embedded(X, np.asarray(table.y), f"{many(X.shape[1], 'column')} of numbers")


def _with_labels(X: Array, y: Array | None, path: Path, labels: Any, said: str) -> Embedded:
    if y is None and labels is None:
        labels = next((place for place in beside(path) if place.is_file()), None)
    if y is None:
        if labels is None:
            raise _unlabeled(path)
        y, there, name = brought(labels, len(X), path)
        if not there.all():
            raise DataError(
                f"{many(int((~there).sum()), 'row')} of {path} without a label",
                "leave them out of both files",
            )
        said += f", labels of {name}" if name else ""
    return Embedded(X, y, said)


def beside(path: Path) -> list[Path]:
    """Where the labels of an array may be."""
    stem = path.stem
    names = [f"{stem}_labels", f"{stem}.labels"]
    if stem[:2] in ("X_", "x_"):
        names = [f"y_{stem[2:]}", *names]
    elif stem in ("X", "x"):
        names = ["y", "labels", *names]
    return [path.with_name(f"{name}{ending}") for name in names for ending in (".npy", ".txt")]


def _unlabeled(path: Path) -> DataError:
    looked = ", ".join(place.name for place in beside(path)[:2])
    return DataError(
        f"{path} has no labels inside, and none beside it ({looked})",
        f"give {worded('labels=', '--labels or --test-labels')}, "
        f"or name them by {worded('target=', '--target')}",
    )
