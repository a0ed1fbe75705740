"""Files whose columns have types: Parquet and JSON lines."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from nearline.data._files import FREELY_UNPACKED, MOST_EXPANDED, compression, content, first_bytes, readable
from nearline.data._frames import Frame, following
from nearline.data._text import decoded, lines_of, sample_of
from nearline.data.base import DataError, Format, Request, Table, polars

MOST_KEYS = 5000  # of JSON objects
MOST_CELLS = 10**8


@dataclass(frozen=True)
class Parquet(Format):
    """Parquet, read by polars."""

    name = "Parquet"
    extensions = (".parquet", ".pq")

    def matches(self, path: Path) -> bool:
        return first_bytes(path).startswith(b"PAR1")

    def read(self, path: Path, request: Request) -> Table:
        check_size(path)
        frame = attempted(path, lambda pl: pl.read_parquet(path, glob=False))
        if not len(frame):
            raise DataError(f"{path} has columns and no rows.")
        return Frame(path, self.name, frame, {}).table(request)

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        lazy = attempted(path, lambda pl: pl.scan_parquet(path, glob=False))
        count = attempted(path, lambda pl: lazy.select(pl.len()).collect().item())
        for start in range(0, count, rows):
            frame = attempted(path, lambda pl, start=start: lazy.slice(start, rows).collect())
            table = Frame(path, self.name, frame, {}).table(request)
            yield table
            request = following(request, table)


def check_size(path: Path) -> None:
    """Refuse a table that is far larger than its file."""
    lazy = attempted(path, lambda pl: pl.scan_parquet(path, glob=False))
    rows = attempted(path, lambda pl: lazy.select(pl.len()).collect().item())
    cells = rows * len(attempted(path, lambda _: lazy.collect_schema()))
    if 8 * cells > max(8 * FREELY_UNPACKED, MOST_EXPANDED * path.stat().st_size):
        raise DataError(
            f"{path} says that it has {cells:,} cells, {MOST_EXPANDED} times its size or more, as files do that are made to "
            "fill a memory",
            "write it as CSV if you trust it",
        )


def attempted(path: Path, work: Callable[..., Any]) -> Any:
    pl = polars()
    with readable(path):
        try:
            return work(pl)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            said = str(error).partition("\n")[0]
            raise DataError(f"{path} is not Parquet, or damaged ({said})", "write it again") from error


@dataclass(frozen=True)
class JsonLines(Format):
    """One JSON object a line."""

    name = "JSON lines"
    extensions = (".jsonl", ".ndjson", ".json")

    def matches(self, path: Path) -> bool:
        text, _ = sample_of(path)
        return text.lstrip().startswith(('{"', "{ ", "{}", '[{"', "[\n"))

    def read(self, path: Path, request: Request) -> Table:
        text, encoding = decoded(content(path), path, request.encoding)
        frame = objects(as_lines(text), path, 1)
        if not len(frame):
            raise DataError(f"{path} is empty.")
        return _framed(frame, path, encoding).table(request)

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        _, encoding = sample_of(path, request.encoding)
        done = 0
        with lines_of(path, encoding) as lines:
            while chunk := list(islice(lines, rows)):
                frame = objects("".join(chunk), path, done + 1)
                # a key that no line of this part has is missing in all of them
                for name in (request.like.columns or {}) if done else ():
                    if name not in frame.columns:
                        frame = frame.with_columns(polars().lit(None).alias(name))
                done += len(chunk)
                if len(frame):
                    table = _framed(frame, path, encoding).table(request)
                    yield table
                    request = following(request, table)

    def lines(self, path: Path, request: Request) -> Iterator[int]:
        text, encoding = sample_of(path, request.encoding)
        if text.lstrip().startswith("["):  # one array of objects
            return
        with lines_of(path, encoding) as lines:
            yield from (number for number, line in enumerate(lines, 1) if line.strip())


def _framed(frame: Any, path: Path, encoding: str) -> Frame:
    packed = compression(path)
    return Frame(
        path, "JSON lines", frame, {"encoding": encoding} | ({"compression": packed} if packed else {})
    )


def as_lines(text: str) -> str:
    """JSON lines as they are; one array of objects as lines."""
    if not text.lstrip().startswith("["):
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "\n".join(map(json.dumps, found)) if isinstance(found, list) else text


def objects(text: str, path: Path, first: int) -> Any:
    """A frame with a column for each key."""
    pl = polars()
    if not text.strip():
        return pl.DataFrame()
    if _many_keys(text):
        return _checked(text, path, first)
    try:
        return pl.read_ndjson(text.encode("utf-8", "replace"), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return _checked(text, path, first)


def _many_keys(text: str) -> bool:
    """Whether objects may have so many keys that finding all of them, quadratic work in polars, is no longer quick."""
    found: set[str] = set()
    for line in text.split("\n"):
        try:
            json.loads(line or "0", object_hook=found.update)
        except (ValueError, RecursionError):
            return True  # what is wrong is said where each line is looked at
        if len(found) > MOST_KEYS:
            return True
    return False


def _check_keys(found: list[dict[str, Any]], size: int, path: Path) -> None:
    """Refuse objects that hardly share keys: each key is a column with a cell for every object."""
    keys = set().union(*found)
    if len(keys) > MOST_KEYS or len(keys) * len(found) > max(MOST_CELLS, size):
        raise DataError(
            f"The {len(found):,} objects of {path} have {len(keys):,} different keys, each of which would be a column, and "
            f"objects go to {MOST_KEYS:,}",
            "give all the same keys, or save them in LIBSVM format",
        )


def _checked(text: str, path: Path, first: int) -> Any:
    """The same line by line: slower, and able to say which line is wrong."""
    pl = polars()
    found = []
    for number, line in enumerate(text.split("\n"), first):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"Line {number:,} of {path} is no JSON ({error}): each line must be an object."
            ) from error
        if not isinstance(value, dict):
            raise DataError(
                f"Line {number:,} of {path} is JSON, but no object with keys and values: {line[:40]!r}."
            )
        found.append(value)
    _check_keys(found, len(text), path)
    try:
        return pl.from_dicts(found, strict=False, infer_schema_length=None)
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        TypeError,
        ValueError,
        OverflowError,
    ) as error:
        said = str(error).partition("\n")[0]
        raise DataError(f"The objects of {path} do not fit into columns ({said}).") from error
