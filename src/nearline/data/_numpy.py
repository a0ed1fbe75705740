"""Arrays out of NumPy's files: no objects, no more than the file holds, whatever it says of itself."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from scipy import sparse

from nearline._arrays.design import Array, admitted
from nearline._arrays.sparse import DamagedMatrixError
from nearline.data._files import FREELY_UNPACKED, MOST_EXPANDED, first_bytes, readable
from nearline.data.base import DataError

SPARSE = {"format", "shape", "data"}  # what scipy.sparse.save_npz writes of every format
LOCAL_HEADER = 30  # bytes of a zip member's own header before its name


def loaded(path: Path, *, mapped: bool = False) -> Array:
    """The array of an .npy file; mapped, it stays on disk until it is looked at."""
    _begins(path, b"\x93NUMPY")
    with _sound(path):
        with path.open("rb") as stream:
            _header(stream, path)
        # a map fails where a file is shorter than its header says, before memory is asked for
        values: Array = np.load(path, allow_pickle=False, mmap_mode="r")
        return values if mapped else np.array(values)


def unpacked(path: Path) -> tuple[dict[str, Array], Any]:
    """The arrays of an .npz file by name, or none and the sparse matrix that it holds."""
    _begins(path, b"PK")
    # opened here, as NumPy leaves a damaged archive open
    with _sound(path), path.open("rb") as stream:
        with ZipFile(stream) as members:
            _check_sizes(members, path)
        stream.seek(0)
        archive = np.load(stream, allow_pickle=False)
        if set(archive.files) >= SPARSE:
            _check_indices(archive, path)
            stream.seek(0)
            return {}, _whole_matrix(sparse.load_npz(stream), path)
        return {name: archive[name] for name in archive.files}, None


def mapped_members(path: Path) -> dict[str, Array] | None:
    """The arrays of an .npz file by name, on disk until they are looked at; None where it is compressed or sparse."""
    _begins(path, b"PK")
    arrays: dict[str, Array] = {}
    with _sound(path), path.open("rb") as stream, ZipFile(stream) as members:
        _check_sizes(members, path)
        if any(member.compress_type != ZIP_STORED for member in members.infolist()):
            return None
        if {name.removesuffix(".npy") for name in members.namelist()} >= SPARSE:
            return None
        for member in members.infolist():
            arrays[member.filename.removesuffix(".npy")] = _mapped(path, stream, member)
    return arrays


def _mapped(path: Path, stream: Any, member: ZipInfo) -> Array:
    """A stored member: its bytes begin after the local header, whose last fields say how long its names are."""
    stream.seek(member.header_offset + LOCAL_HEADER - 4)
    names, extra = np.frombuffer(stream.read(4), dtype="<u2").tolist()
    stream.seek(member.header_offset + LOCAL_HEADER + names + extra)
    shape, fortran, dtype = _layout(stream, path)
    order: Any = "F" if fortran else "C"
    if 0 in shape:
        return np.empty(shape, dtype, order)
    return np.memmap(path, dtype, "r", stream.tell(), shape, order)


def _whole_matrix(matrix: Any, path: Path) -> Any:
    try:
        return admitted(matrix)
    except DamagedMatrixError as error:
        raise _damaged_matrix(path, error.what) from error


def _check_indices(archive: Any, path: Path) -> None:
    """SciPy would round them."""
    for name in set(archive.files) - SPARSE - {"_is_array"}:
        if archive[name].dtype.kind not in "iu":
            raise _damaged_matrix(path, f"{name} are of type {archive[name].dtype}, not whole numbers")


def _damaged_matrix(path: Path, what: str) -> DataError:
    return DataError(
        f"{path} holds a damaged sparse matrix: {what}. Save it again with scipy.sparse.save_npz."
    )


def _check_sizes(members: ZipFile, path: Path) -> None:
    """Refuse arrays that are far larger than the file, or than the archive says they are."""
    total = sum(member.file_size for member in members.infolist())
    if total > max(FREELY_UNPACKED, MOST_EXPANDED * path.stat().st_size):
        raise DataError(
            f"{path} unpacks to {total >> 20:,} MB, more than {MOST_EXPANDED} times its size, as files do that are made "
            "to fill a memory",
            "save it with np.savez, unpacked, if you trust it",
        )
    for member in members.infolist():
        if not member.filename.endswith(".npy"):
            continue
        with members.open(member) as stream:
            shape, dtype = _header(stream, path)
        if int(np.prod(shape, dtype=object)) * dtype.itemsize > member.file_size:
            raise DataError(
                f"{path} is damaged: {member.filename} is to have shape {shape} and has {member.file_size:,} bytes; "
                "save it again with np.savez."
            )


def _header(stream: Any, path: Path) -> tuple[tuple[int, ...], Any]:
    """Shape and type of an array of plain values."""
    shape, _, dtype = _layout(stream, path)
    return shape, dtype


def _layout(stream: Any, path: Path) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, order (whether Fortran's) and type of an array of plain values; objects are refused."""
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:  # names of fields in UTF-8: no array of numbers
        raise DataError(f"{path} has an array with named fields", "save plain numbers")
    shape, fortran, dtype = read(stream)
    if dtype.hasobject:
        raise DataError(
            f"{path} holds Python objects, which are not read as they may run code", "save plain numbers"
        )
    return shape, fortran, dtype


def _begins(path: Path, mark: bytes) -> None:
    if not first_bytes(path).startswith(mark):
        raise _refused(path, "it does not begin like one")


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """Whatever NumPy says of a damaged file, in a sentence."""
    with readable(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (DataError, MemoryError, PermissionError):
            raise
        except Exception as error:
            raise _refused(path, str(error)) from error


def _refused(path: Path, said: str) -> DataError:
    first = " ".join(said.split())[:200]
    how = "np.savez" if path.suffix == ".npz" else "np.save"
    return DataError(f"{path} is not a NumPy file, or damaged ({first})", f"save it again with {how}")
