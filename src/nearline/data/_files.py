"""Bytes of a file: compression by its first bytes, errors as sentences."""

import bz2
import errno
import gzip
import io
import lzma
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from nearline._records.words import many
from nearline.data.base import DataError

MOST_EXPANDED = 100  # times its own size, beyond the next many bytes, that a file may unpack to
FREELY_UNPACKED = 1 << 26
FOREIGN = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"\x7fELF": "a program",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x80\x04\x95": "a Python pickle",
}


def _zstd(path: Path) -> Any:
    for name in ("compression.zstd", "zstandard"):
        try:
            return import_module(name).open(path, "rb")
        except ImportError:
            continue
    raise DataError(f"{path} is compressed with Zstandard, which needs a package: pip install zstandard")


def _zip(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:  # what is opened in it keeps the file open
        names = [
            name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")
        ]
        if "[Content_Types].xml" in names:
            raise DataError(f"{path} is an Excel or Word file", "save its table as CSV")
        if len(names) != 1:
            raise DataError(
                f"{path} is an archive of {many(len(names), 'file')}", "unpack it and name one of them"
            )
        return archive.open(names[0])


OPENERS: list[tuple[bytes, Callable[[Path], Any]]] = [
    (b"\x1f\x8b", gzip.GzipFile),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", _zstd),
    (b"PK\x03\x04", _zip),
]


class _Unpacked(io.RawIOBase):
    """The unpacked bytes of a file, as long as they are not far more than those of the file."""

    def __init__(self, inner: Any, path: Path) -> None:
        self.inner, self.path, self.count = inner, path, 0
        self.most = max(FREELY_UNPACKED, MOST_EXPANDED * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.inner.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        if self.count > self.most:
            raise DataError(
                f"{self.path} unpacks to more than {self.most >> 20:,} MB, {MOST_EXPANDED} times its size or more, as "
                "files do that are made to fill a memory",
                "unpack it first if you trust it",
            )
        return len(data)

    def close(self) -> None:
        self.inner.close()
        super().close()


BROKEN = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, NotImplementedError)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Failures of the file system and of decompression as sentences."""
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}{_nearest(path)}.") from error
    except IsADirectoryError as error:
        raise DataError(f"{path} is a folder, not a file", "name a file in it") from error
    except MemoryError as error:
        raise _too_large(path) from error
    except PermissionError as error:
        raise DataError(f"{path} may not be read", "ask for permission, or copy the file") from error
    except (*BROKEN, OSError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            raise DataError(f"{path} is a link that leads back to itself", "name the file") from error
        said = str(error) or type(error).__name__
        raise DataError(f"{path} is damaged or incomplete ({said}): get the file again.") from error


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """What a strange file brings about in a library, as a sentence: no memory, or a panic of polars."""
    try:
        yield
    except MemoryError as error:
        raise _too_large(path) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust, and not even an Exception
            raise
        said = (str(error).splitlines() or [""])[0][:200]
        raise DataError(f"{path} is damaged ({said})", "write it again") from error


def _too_large(path: Path) -> DataError:
    return DataError(f"{path} does not fit into memory", "take fewer rows or columns")


def _nearest(path: Path) -> str:
    from difflib import get_close_matches

    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return f", nor a folder {path.parent}"
    near = get_close_matches(path.name, names, n=1)
    return f"; {path.parent} has {near[0]!r}" if near else f" in {path.parent.resolve()}"


def check_regular(path: Path) -> None:
    """Refuse what is neither a file nor a folder: a pipe is empty after one reading, a device may never end."""
    with readable(path):
        mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise DataError(
            f"{path} is a pipe, socket or device, which cannot be read twice", "save its content to a file"
        )


def first_bytes(path: Path, count: int = 16) -> bytes:
    """The first bytes as they are on disk."""
    check_regular(path)
    with readable(path), path.open("rb") as stream:
        return stream.read(count)


def opened(path: Path) -> Any:
    """The unpacked content as a stream of bytes."""
    start = first_bytes(path)
    for magic, opener in OPENERS:
        if start.startswith(magic):
            return io.BufferedReader(_Unpacked(opener(path), path), 1 << 16)
    for magic, what in FOREIGN.items():
        if start.startswith(magic):
            raise DataError(f"{path} is {what}, not a table or text", "save the data as CSV")
    return path.open("rb")


def compression(path: Path) -> str | None:
    """How a file is packed, by its first bytes."""
    names = ("gzip", "bzip2", "xz", "zstd", "zip")
    start = first_bytes(path)
    return next((name for name, (magic, _) in zip(names, OPENERS) if start.startswith(magic)), None)


def content(path: Path, count: int = -1) -> bytes:
    """All bytes, or the first ones, unpacked."""
    with readable(path), opened(path) as stream:
        data: bytes = stream.read(count)
    return data
