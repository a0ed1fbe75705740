"""IDX files, as MNIST and its relatives are: a type, the lengths of the dimensions, then the numbers."""

from pathlib import Path

import numpy as np

from nearline._arrays.design import Array
from nearline.data._files import content
from nearline.data.base import DataError

# by the third byte; numbers are big-endian
TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MOST_DIMENSIONS = 4


def is_idx(path: Path) -> bool:
    """Whether a file, unpacked, begins as IDX files do."""
    start = content(path, 4)
    return len(start) == 4 and start[:2] == b"\0\0" and start[2] in TYPES and 1 <= start[3] <= MOST_DIMENSIONS


def idx_array(path: Path) -> Array:
    """The array of an IDX file, packed or not."""
    data = content(path)
    kind, dimensions = np.dtype(TYPES[data[2]]), data[3]
    begin = 4 + 4 * dimensions
    head = data[4:begin]
    shape = tuple(int.from_bytes(head[i : i + 4], "big") for i in range(0, len(head) - 3, 4))
    needed = int(np.prod(shape, dtype=object)) * kind.itemsize
    if len(shape) < dimensions or len(data) - begin != needed:
        raise DataError(
            f"{path} is damaged: its head says shape {shape}, which takes {needed:,} bytes, and "
            f"{max(0, len(data) - begin):,} follow: get the file anew."
        )
    return np.frombuffer(data, kind, offset=begin).reshape(shape).astype(kind.newbyteorder("="))


def labels_beside(path: Path) -> Path | None:
    """The file of labels that belongs to a file of images by its name: train-images-idx3-ubyte, train-labels-idx1-ubyte."""
    name = path.name.replace("images", "labels").replace("idx3", "idx1")
    bare = name.removesuffix(".gz")
    found = [path.with_name(one) for one in (name, bare, f"{bare}.gz") if one != path.name]
    return next((one for one in found if one.is_file()), None)
