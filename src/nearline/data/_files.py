"""Bytes and text of a file: compression by its first bytes, encoding by its content, errors as sentences."""

import bz2
import codecs
import errno
import gzip
import io
import lzma
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, AnyStr

from nearline._records.words import many
from nearline.data.base import DataError

SAMPLE = 1 << 18  # bytes from which format, encoding and delimiter are found out
MOST_EXPANDED = 100  # times its own size, beyond the next many bytes, that a file may unpack to
FREELY_UNPACKED = 1 << 26
MOST_LINE = 1 << 24  # characters in a line, or in a field of several lines
BOMS = [  # the longer ones first: that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
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
CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]")


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
            raise DataError(f"{path} is an Excel or Word file: save its table as CSV.")
        if len(names) != 1:
            raise DataError(
                f"{path} is an archive of {many(len(names), 'file')}: unpack it and name one of them."
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
                "files do that are made to fill a memory: unpack it first if you trust it."
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
        raise DataError(f"{path} is a folder, not a file: name a file in it.") from error
    except MemoryError as error:
        raise _too_large(path) from error
    except PermissionError as error:
        raise DataError(f"{path} may not be read: ask for permission, or copy the file.") from error
    except (*BROKEN, OSError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            raise DataError(f"{path} is a link that leads back to itself: name the file.") from error
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
        raise DataError(f"{path} is damaged ({said}): write it again.") from error


def _too_large(path: Path) -> DataError:
    return DataError(f"{path} does not fit into memory: take fewer rows or columns.")


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
            f"{path} is a pipe, socket or device, which cannot be read twice: save its content to a file."
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
            raise DataError(f"{path} is {what}, not a table or text: save the data as CSV.")
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


def encoding_of(data: bytes, *, whole: bool) -> str:
    """UTF-8, UTF-16 or 32 by their marks or zero bytes, else Windows or Latin-1."""
    for mark, name in BOMS:
        if data.startswith(mark):
            return name
    head = data[: 1 << 12]
    if len(head) >= 4 and head.count(0) > len(head) // 4:
        even, odd = head[::2].count(0), head[1::2].count(0)
        if min(even, odd) * 4 < max(even, odd):
            return "utf-16-be" if even > odd else "utf-16-le"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
        return "utf-8"
    except UnicodeDecodeError:
        pass
    # the bytes 0x80 to 0x9f are letters and quotes in Windows, control characters in Latin-1
    if re.search(rb"[\x80-\x9f]", data):
        try:
            data.decode("cp1252")
            return "cp1252"
        except UnicodeDecodeError:
            pass
    return "latin-1"


def decoded(data: bytes, path: Path, encoding: str | None = None, *, whole: bool = True) -> tuple[str, str]:
    """Text with plain line ends, and its encoding; what is no text is refused."""
    name = encoding or encoding_of(data, whole=whole)
    try:
        text = codecs.getincrementaldecoder(name)().decode(data, final=whole)
    except LookupError as error:
        raise DataError(f"There is no encoding {name!r}: try 'utf-8', 'utf-16' or 'latin-1'.") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not in {name}: byte {error.start:,} is {data[error.start]:#x}."
        ) from error
    odd = len(CONTROL.findall(text[:SAMPLE]))
    if odd * 100 > min(len(text), SAMPLE) or "\x00" in text[:SAMPLE]:
        raise DataError(
            f"{path} is not text (it has zero bytes or other control characters) nor of another format that is known: "
            "convert it to CSV, Parquet, JSON lines, LIBSVM, .npy or .npz."
        )
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix("\ufeff").removesuffix("\x1a"), name


def text_of(path: Path, encoding: str | None = None) -> tuple[str, str]:
    """All text with plain line ends, none of the lines too long, and its encoding."""
    text, name = decoded(content(path), path, encoding)
    check_lines(text, path, "\n")
    return text, name


def check_lines(text: AnyStr, path: Path, end_of_line: AnyStr) -> None:
    """Refuse a line that is longer than any row of a table: fields are looked at a line at a time."""
    start = 0
    while len(text) - start > MOST_LINE:
        end = text.rfind(end_of_line, start, start + MOST_LINE + 1)
        if end < 0:
            raise _too_long(path, text.count(end_of_line, 0, start) + 1)
        start = end + 1


def _too_long(path: Path, number: int) -> DataError:
    return DataError(
        f"Line {number:,} of {path} has more than {MOST_LINE:,} characters, which no row of a table has: "
        "save one row a line, or arrays as .npy."
    )


def sample_of(path: Path, encoding: str | None = None) -> tuple[str, str]:
    """The first lines, whole ones where there is more than one, and the encoding."""
    data = content(path, SAMPLE)
    text, name = decoded(data, path, encoding, whole=len(data) < SAMPLE)
    if len(data) >= SAMPLE and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    return text, name


@contextmanager
def lines_of(path: Path, encoding: str) -> Iterator[Iterator[str]]:
    """The lines one after the other, with plain line ends."""
    with readable(path):
        stream = opened(path)
    with stream, io.TextIOWrapper(stream, encoding=encoding) as lines:
        yield _safe(lines, path)


def _safe(lines: io.TextIOWrapper, path: Path) -> Iterator[str]:
    """Lines, with failures as sentences."""
    try:
        with readable(path):
            number = 0
            while line := lines.readline(MOST_LINE + 1):
                number += 1
                if len(line) > MOST_LINE:
                    raise _too_long(path, number)
                yield line
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not in {error.encoding} throughout (byte {error.object[error.start]:#x}): "
            "pass encoding='latin-1' or the one it is in."
        ) from error
