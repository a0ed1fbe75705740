"""Text of a file: its encoding by its content, plain line ends, no line too long; errors as sentences."""

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import AnyStr

from nearline.data._files import content, opened, readable
from nearline.data.base import DataError

SAMPLE = 1 << 18  # bytes from which format, encoding and delimiter are found out
MOST_LINE = 1 << 24  # characters in a line, or in a field of several lines
BOMS = [  # the longer ones first: that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]")


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
        raise DataError(f"There is no encoding {name!r}", "try 'utf-8', 'utf-16' or 'latin-1'") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not in {name}: byte {error.start:,} is {data[error.start]:#x}."
        ) from error
    odd = len(CONTROL.findall(text[:SAMPLE]))
    if odd * 100 > min(len(text), SAMPLE) or "\x00" in text[:SAMPLE]:
        raise DataError(
            f"{path} is not text (it has zero bytes or other control characters) nor of another format that is known",
            "convert it to CSV, Parquet, JSON lines, LIBSVM, .npy or .npz",
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
        f"Line {number:,} of {path} has more than {MOST_LINE:,} characters, which no row of a table has",
        "save one row a line, or arrays as .npy",
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
            f"{path} is not in {error.encoding} throughout (byte {error.object[error.start]:#x})",
            "pass encoding='latin-1' or the one it is in",
        ) from error
