"""Records: columns of a table as they are, lists too, for what neighbors hand over; and features of one column."""

from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import did_you_mean, many
from nearline.data._files import content, sound
from nearline.data._read import read
from nearline.data._text import decoded
from nearline.data.base import DataError, polars
from nearline.data.images import square_of
from nearline.data.pixels import image_features
from nearline.data.typed import as_lines, attempted, check_size, objects

SIDE = 32  # pixels that images are brought to


def read_records(path: str | Path, **options: Any) -> Any:
    """A frame with all columns of a file: JSON lines, Parquet (both with lists), CSV and what else has columns."""
    path = Path(path)
    with sound(path):
        if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
            return objects(as_lines(decoded(content(path), path, None)[0]), path, 1)
        if path.suffix.lower() in (".parquet", ".pq"):
            check_size(path)
            return attempted(path, lambda pl: pl.read_parquet(path, glob=False))
    table = read(path, **options)
    if not isinstance(table.X, polars().DataFrame):
        raise DataError(f"{path} has no columns", "give JSON lines, Parquet, or CSV")
    return table.X


def column(frame: Any, name: str, path: Path) -> list[Any]:
    """A column's values."""
    if not frame.columns:
        raise DataError(f"{path} has no rows", "give a line for each")
    if name not in frame.columns:
        raise DataError(
            f"{path} has no column {name!r}.{did_you_mean(name, frame.columns)} It has "
            f"{', '.join(map(repr, frame.columns))}.",
            columns=[name],
        )
    values: list[Any] = frame[name].to_list()
    return values


def image_rows(files: list[Any], beside: Path) -> Array:
    """Features of image files, oriented gradients and colors; names are relative to the folder of the table."""
    squares = []
    for name in files:
        file = beside.parent / str(name)
        pixels = square_of(file, SIDE)[0] if file.is_file() else None
        if pixels is None:
            raise DataError(f"{file} is no image, or not there", f"give files that are, beside {beside.name}")
        squares.append(pixels)
    return image_features(np.stack(squares), "hog+histogram")


def are_images(values: list[Any], beside: Path) -> bool:
    """Whether a column names files that are there."""
    return all(
        isinstance(value, str) and "\n" not in value and len(value) < 300 for value in values[:5]
    ) and all((beside.parent / value).is_file() for value in values[:5])


def check_texts(values: list[Any], name: str, path: Path) -> list[str]:
    """Texts of a column; others are refused."""
    strange = [i for i, value in enumerate(values) if not isinstance(value, str) or not value.strip()]
    if strange:
        raise DataError(
            f"{many(len(strange), 'row')} of {path} without a text in {name!r} (the first is row {strange[0] + 1})",
            "leave them out, or name another column",
            rows=[row + 1 for row in strange],
            columns=[name],
        )
    return values
