"""Files that expand, or lie about their size."""

import bz2
import gzip
import lzma
import struct
import zipfile
from pathlib import Path

from benchmarks.attacks._hostile import MEGA, hostile, rows, written


@hostile("gz: 0.5 MB that unpack to 500 MB")
def _gzip_bomb(folder: Path, scale: float) -> Path:
    # members of all these formats may follow one another
    piece = gzip.compress(b"1,2,x\n" * (MEGA // 6))
    return written(folder / "bomb.csv.gz", gzip.compress(rows()) + piece * int(500 * scale))


@hostile("gz: one line of 1 GB")
def _gzip_line(folder: Path, scale: float) -> Path:
    return written(folder / "line.csv.gz", gzip.compress(b"x" * MEGA) * int(1024 * scale))


@hostile("bz2: 1 GB of zeros")
def _bzip_bomb(folder: Path, scale: float) -> Path:
    piece = bz2.compress(b"0,0,x\n" * (4 * MEGA // 6))
    return written(folder / "bomb.csv.bz2", bz2.compress(rows()) + piece * int(256 * scale))


@hostile("xz: 1 GB of zeros")
def _xz_bomb(folder: Path, scale: float) -> Path:
    piece = lzma.compress(b"0,0,x\n" * (4 * MEGA // 6), preset=0)
    return written(folder / "bomb.csv.xz", lzma.compress(rows()) + piece * int(256 * scale))


@hostile("zip: 1 GB of zeros")
def _zip_bomb(folder: Path, scale: float) -> Path:
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("bomb.csv", rows() + b"0,0,x\n" * int(170 * MEGA * scale))
    return folder / "bomb.zip"


@hostile("gz: LIBSVM of 1 GB")
def _gzip_libsvm(folder: Path, scale: float) -> Path:
    return written(folder / "bomb.svm.gz", gzip.compress(b"1 1:1 2:1\n" * (MEGA // 10)) * int(1024 * scale))


@hostile("npz: an array that expands a thousandfold")
def _npz_bomb(folder: Path, scale: float) -> Path:
    rows = int(128 * 1024 * scale)
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, shape, kind in (("X", (rows, 1024), "<f8"), ("y", (rows,), "<i8")):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                stream.write(_npy_header(shape, kind))
                piece = b"\0" * (8 * (shape[1] if len(shape) > 1 else 1))
                for _ in range(0, rows, 64):
                    stream.write(piece * 64)
    return folder / "bomb.npz"


def _npy_header(shape: tuple[int, ...], kind: str) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@hostile("npy: a header of a terabyte")
def _npy_lie(folder: Path, scale: float) -> Path:
    return written(folder / "lie.npy", _npy_header((1 << 30, 128), "<f8") + b"\0" * 1024)


@hostile("npy: strings of a million characters")
def _npy_strings(folder: Path, scale: float) -> Path:
    return written(folder / "wide.npy", _npy_header((1 << 20,), "<U1000000") + b"\0" * 1024)


@hostile("npz: a header of a terabyte")
def _npz_lie(folder: Path, scale: float) -> Path:
    with zipfile.ZipFile(folder / "lie.npz", "w") as archive:
        archive.writestr("X.npy", _npy_header((1 << 30, 128), "<f8") + b"\0" * 1024)
    return folder / "lie.npz"


@hostile("npz: sparse, with indices that lie")
def _npz_sparse(folder: Path, scale: float) -> Path:
    import numpy as np

    np.savez(
        folder / "sparse.npz",
        indices=np.array([10**9, -5], dtype=np.int32),
        indptr=np.array([0, 1, 2], dtype=np.int32),
        data=np.ones(2),
        shape=np.array([2, 10]),
        format=b"csr",
    )
    return folder / "sparse.npz"


@hostile("npy: an array of Python objects")
def _npy_objects(folder: Path, scale: float) -> Path:
    import numpy as np

    np.save(folder / "objects.npy", np.array([[{}, []]], dtype=object), allow_pickle=True)
    return folder / "objects.npy"


@hostile("npz: Python objects as labels")
def _npz_objects(folder: Path, scale: float) -> Path:
    import numpy as np

    np.savez(folder / "objects.npz", X=np.ones((2, 2)), y=np.array([{}, []], dtype=object))
    return folder / "objects.npz"


# IDX: a type, the number of dimensions, their lengths, then the numbers


def _idx(
    folder: Path, sizes: tuple[int, ...], numbers: bytes, kind: int = 8, dimensions: int | None = None
) -> Path:
    head = struct.pack(">HBB", 0, kind, len(sizes) if dimensions is None else dimensions)
    return written(folder / "images-idx3-ubyte", head + struct.pack(f">{len(sizes)}I", *sizes) + numbers)


@hostile("idx: cut off in the numbers")
def _idx_cut(folder: Path, scale: float) -> Path:
    return _idx(folder, (10, 4, 4), b"\x01" * 100)


@hostile("idx: cut off in the sizes")
def _idx_head(folder: Path, scale: float) -> Path:
    return _idx(folder, (10,), b"\0\0", dimensions=3)


@hostile("idx: more numbers than the sizes say")
def _idx_more(folder: Path, scale: float) -> Path:
    return _idx(folder, (2, 4, 4), b"\x01" * 1000)


@hostile("idx: a type that there is not")
def _idx_type(folder: Path, scale: float) -> Path:
    return _idx(folder, (10, 4, 4), b"\x01" * 160, kind=0x0A)


@hostile("idx: 255 dimensions")
def _idx_dimensions(folder: Path, scale: float) -> Path:
    return _idx(folder, (1,) * 255, b"\x01")


@hostile("idx: sizes of 2^31")
def _idx_large(folder: Path, scale: float) -> Path:
    return _idx(folder, (1 << 31, 1 << 31, 1 << 31), b"\x01" * 160)


@hostile("idx: sizes whose product is a small number of 64 bits")
def _idx_overflow(folder: Path, scale: float) -> Path:
    return _idx(folder, (1 << 31, 1 << 31, 4), b"", kind=0x08)


@hostile("idx: no rows")
def _idx_empty(folder: Path, scale: float) -> Path:
    return _idx(folder, (0, 28, 28), b"")


@hostile("idx: rows of no numbers")
def _idx_narrow(folder: Path, scale: float) -> Path:
    return _idx(folder, (1 << 31, 0, 28), b"")


@hostile("idx: 1 GB of zeros in 1 MB")
def _idx_bomb(folder: Path, scale: float) -> Path:
    size = int(1024 * scale)
    piece = gzip.compress(b"\0" * MEGA)
    head = gzip.compress(struct.pack(">HBB3I", 0, 8, 3, size, 1024, 1024))
    return written(folder / "images-idx3-ubyte.gz", head + piece * size)
