"""The bytes of a model file: a prefix, a JSON header, then arrays; every byte lies under a checksum.

    8 bytes   "nearline"
    4         version of the format            (all numbers little-endian)
    8         length of the header
    32        SHA-256 of the 20 bytes above and of the header
    ...       header: one JSON object, UTF-8, filled up with spaces to a multiple of 64 bytes from the start
    ...       the arrays of header["arrays"] = [[type, shape, "C" or "F"], ...], in order, without gaps but for zeros
              up to the next multiple of 64; header["sha256"] is that of all of them

Where an array lies follows from the types and shapes before it, and where the last one ends the file must end: there are
no offsets, names or claimed sizes that could be wrong, and nothing is compressed.
"""

import hashlib
import json
import math
import os
import re
import stat
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from nearline._arrays.design import Array
from nearline._atomic.whole import WriteError, check_place, written_whole
from nearline._records.words import worded
from nearline.files._errors import ModelFileError

MAGIC, VERSION, OLDEST = b"nearline", 1, 1
FIELDS, PREFIX, ALIGNMENT = struct.Struct("<8sIQ"), 52, 64
LARGEST_HEADER = 16 * 2**20  # bytes
MOST_PARTS = 1_500_000  # commas and brackets in it: parsed, "[]," takes 60 bytes and a microsecond
LARGEST_EMPTY = 2**20  # of the other dimensions of an array without elements, which costs the file nothing
TYPES = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|\|S\d{1,9}|<U\d{1,9}")
# What is often given in place of a model file, by its first bytes.
OTHERS = {
    b"PK": " It is a zip archive.",
    b"\x80": " It looks like a pickle, which is never opened here: a pickle can run any code.",
    b"\x93NUMPY": " It is an array of NumPy.",
}


def write(path: Path, header: dict[str, Any], arrays: list[Array]) -> None:
    """Write a file by way of a temporary one beside it: readers see the old one or the new one, never a half."""
    try:
        check_place(path)  # before the work of the checksums
        start = _start(header, arrays)
        with written_whole(path) as file:
            file.write(start)
            for part in _parts(arrays):
                file.write(part)
    except WriteError as error:
        raise ModelFileError(str(error)) from error


def _start(header: dict[str, Any], arrays: list[Array]) -> bytes:
    """Prefix and header."""
    total = hashlib.sha256()
    for part in _parts(arrays):
        total.update(part)
    table = [[a.dtype.newbyteorder("<").str, list(a.shape), _order(a)] for a in arrays]
    whole = {**header, "arrays": table, "sha256": total.hexdigest()}
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    text += b" " * (-(PREFIX + len(text)) % ALIGNMENT)
    if len(text) > LARGEST_HEADER or _parts_of(text) > MOST_PARTS:
        raise ModelFileError(
            f"All but the arrays and texts of this model takes {len(text):,} bytes with {_parts_of(text):,} parts, but a "
            f"file may have {LARGEST_HEADER:,} with {MOST_PARTS:,}: give fewer facts, and as payload arrays, texts, "
            "or numbers of rows in a table of your own."
        )
    fields = FIELDS.pack(MAGIC, VERSION, len(text))
    return fields + hashlib.sha256(fields + text).digest() + text


def _parts_of(text: bytes) -> int:
    return sum(map(text.count, (b",", b"[", b"{")))


def _parts(arrays: list[Array]) -> Iterator[Any]:
    for array in arrays:
        # Views, as far as possible: the largest arrays are the rows of neighbors.
        flat = (array.T if _order(array) == "F" else np.ascontiguousarray(array)).reshape(-1)
        little = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
        data = little.view(np.uint8) if little.nbytes else np.empty(0, np.uint8)
        yield data
        yield bytes(-data.nbytes % ALIGNMENT)


def _order(array: Array) -> str:
    """BLAS rounds products of rows and of columns differently, so the order of the numbers is kept."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


class Reader:
    """An open file whose prefix and header have been checked."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self.size = os.fstat(file.fileno()).st_size
        self.header = self._read_header()

    def _bad(self, found: str, remedy: str = "Get the file anew, or save the model again.") -> ModelFileError:
        return ModelFileError(f"{self._path} is no intact model file: {found}. {remedy}")

    def _read_header(self) -> dict[str, Any]:
        prefix = self._file.read(PREFIX)
        if prefix[: len(MAGIC)] != MAGIC:
            hint = next((text for start, text in OTHERS.items() if prefix.startswith(start)), "")
            found = f"it begins with {prefix[:8]!r}, not with {MAGIC!r}" if prefix else "it is empty"
            raise self._bad(found, f"Give a file {_wrote()}.{hint}")
        if len(prefix) < PREFIX:
            raise self._bad(f"it ends after {len(prefix)} bytes")
        _, version, length = FIELDS.unpack_from(prefix)
        if not OLDEST <= version <= VERSION:
            raise self._other_version(version)
        if length > min(self.size - PREFIX, LARGEST_HEADER):
            raise self._bad(f"its header should have {length:,} bytes, but the file has {self.size:,}")
        text = self._file.read(length)
        self.checksum = prefix[FIELDS.size :].hex()
        if hashlib.sha256(prefix[: FIELDS.size] + text).digest() != prefix[FIELDS.size :]:
            raise self._bad("its header is damaged (the checksum differs)")
        if _parts_of(text) > MOST_PARTS:
            raise self._bad(f"its header has more than {MOST_PARTS:,} parts")
        try:
            header = json.loads(text.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError) as error:
            raise self._bad(f"its header is no JSON ({error})") from error
        if type(header) is not dict:
            raise self._bad("its header is no JSON object")
        return header

    def _other_version(self, version: int) -> ModelFileError:
        from nearline import __version__

        if version > VERSION:
            return ModelFileError(
                f"{self._path} has version {version} of the format, but nearline {__version__} reads versions up to "
                f"{VERSION}: upgrade it (pip install --upgrade nearline)."
            )
        return ModelFileError(
            f"{self._path} has version {version} of the format, but nearline {__version__} reads versions from {OLDEST} "
            "on: fit the model again, or load it with a nearline that reads both and save it anew."
        )

    def arrays(self) -> list[Array]:
        """All arrays, once it is sure that they fill the file exactly and that the checksum is right."""
        table = self.header.get("arrays")
        try:
            layout = [_checked(*row) for row in table]  # type: ignore[union-attr]
        except (TypeError, ValueError) as error:
            raise self._bad(f"its list of arrays is wrong ({error})") from error
        needed = sum(n + -n % ALIGNMENT for _, _, _, n in layout)
        found = self.size - self._file.tell()
        if needed != found:
            raise self._bad(f"its arrays should have {needed:,} bytes, but {found:,} are there")
        total, arrays = hashlib.sha256(), []
        for dtype, shape, order, n in layout:
            data = self._read(n + -n % ALIGNMENT)
            total.update(data.data)
            flat = data[:n].view(dtype) if n else np.empty(math.prod(shape), dtype)
            arrays.append(flat.reshape(shape[::-1]).T if order == "F" else flat.reshape(shape))
        if total.hexdigest() != self.header.get("sha256"):
            raise self._bad("its arrays are damaged (the checksum differs)")
        if not all(a.view(np.uint8).max(initial=0) <= 1 for a in arrays if a.dtype == np.bool_):
            raise self._bad("an array of truth values has others than 0 and 1")
        return arrays

    def _read(self, n: int) -> Array:
        try:
            data = np.empty(n, dtype=np.uint8)
        except MemoryError as error:
            raise ModelFileError(
                f"{self._path} has an array of {n:,} bytes, for which there is not enough memory: free some."
            ) from error
        if self._file.readinto(data) != n:  # type: ignore[attr-defined]
            raise self._bad("it became shorter while it was read")
        return data


def _checked(name: Any, shape: Any, order: Any) -> tuple[Any, tuple[int, ...], str, int]:
    """Type, shape, order and number of bytes of an array, or a ValueError."""
    if type(name) is not str or not TYPES.fullmatch(name) or order not in ("C", "F"):
        raise ValueError(f"type {name!r}, order {order!r}")
    if type(shape) is not list or len(shape) > 32 or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"shape {shape!r}"[:100])
    dtype = np.dtype(name)
    n = math.prod(shape) * dtype.itemsize
    if n == 0 and max(shape, default=0) > LARGEST_EMPTY:
        raise ValueError(f"shape {shape!r} of an array without elements"[:100])
    return dtype, tuple(shape), order, n


def _wrote() -> str:
    return worded("that nearline.files.save wrote", "that nearline try wrote (model.nearline)")


def opened(path: Path) -> BinaryIO:
    """A file to read; folders, devices and missing files are named."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise ModelFileError(f"{path} is a folder: give the path of a model file in it.")
        if not stat.S_ISREG(kind):
            raise ModelFileError(
                f"{path} is no file but a device, pipe or socket: give the path of a model file."
            )
        return path.open("rb")
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {path}: give the path of one {_wrote()}.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"{path} cannot be read: {error}. Check the path and your rights to it."
        ) from error
