"""A folder of Parquet files with the same columns, as clusters write tables: rows in the order of the files' names."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearline.data._frames import Frame, following
from nearline.data.base import DataError, Format, Request, Table
from nearline.data.typed import Parquet, attempted, check_size


def parquet_files(path: Path) -> list[Path]:
    """The files that a table is in: itself, or those of a folder by name."""
    if not path.is_dir():
        return [path]
    try:
        found = [one for one in path.iterdir() if not one.name.startswith((".", "_"))]
    except OSError as error:
        raise DataError(f"{path} may not be read ({error.strerror}): ask for permission.") from error
    return sorted(one for one in found if one.suffix.lower() in Parquet.extensions and one.is_file())


@dataclass(frozen=True)
class ParquetFolder(Format):
    """A folder of Parquet files; hidden files and those that begin with '_' are left out."""

    name = "Parquet folder"

    def matches(self, path: Path) -> bool:
        return path.is_dir() and bool(parquet_files(path))

    def read(self, path: Path, request: Request) -> Table:
        frames = []
        for file in parquet_files(path):
            check_size(file)
            frames.append(attempted(file, lambda pl, file=file: pl.read_parquet(file, glob=False)))
        frame = self._joined(path, frames)
        if not len(frame):
            raise DataError(f"{path} has columns and no rows.")
        return Frame(path, self.name, frame, {"files": f"{len(frames):,}"}).table(request)

    def _joined(self, path: Path, frames: list[Any]) -> Any:
        names = frames[0].columns
        for file, frame in zip(parquet_files(path), frames, strict=True):
            if set(frame.columns) != set(names):
                raise DataError(
                    f"{file} has other columns than {parquet_files(path)[0].name}: make them alike."
                )
        return attempted(
            path, lambda pl: pl.concat([one.select(names) for one in frames], how="vertical_relaxed")
        )

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        for file in parquet_files(path):
            for table in Parquet().batches(file, rows, request):
                yield table
                request = following(request, table)
