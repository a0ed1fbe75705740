"""Sparse matrices from outside: all their numbers are looked at before compiled code, ours or SciPy's, follows them.

A matrix with an index beyond its columns, or row starts that fall, would be read and written outside of its memory.
:func:`sound` is the one door: every format comes in, canonical CSR with indices within the matrix comes out.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from nearline import _core

Parts = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]  # data, indices, indptr

MOST = 2**31 - 1  # rows or columns: the core counts them in 32 bits
REMEDY = "Build it anew, for example as csr_matrix((values, (rows, columns)), shape=shape)."


def sound(X: Any, name: str = "X") -> Any:
    """A sparse matrix as CSR, checked: indices within the matrix, those of a row rising. ValueError if it is damaged.

    Entries that are there twice are added, as SciPy has it. A matrix that is as it should be comes back as it is.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from nearline._arrays.sparse import sound
    >>> X = csr_matrix([[0.0, 1.0], [2.0, 0.0]])
    >>> sound(X) is X
    True
    >>> X.indices[0] = 7
    >>> sound(X)
    Traceback (most recent call last):
        ...
    nearline._arrays.sparse.DamagedMatrixError: X is a damaged sparse matrix: entry 1 has the column index 7, ...
    """
    _check_shape(X, name)
    if X.format == "csr":
        return _canonical(X, name)
    read = _READERS.get(X.format)
    if read is None:
        raise ValueError(
            f"{name} is a sparse matrix of format {X.format!r}, which is not known: give X.tocsr()."
        )
    return _canonical(read(X, name), name)


class DamagedMatrixError(ValueError):
    """A sparse matrix whose numbers do not fit together; ``what`` is wrong with it."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"{name} is a damaged sparse matrix: {what}. {REMEDY}")
        self.what = what

    def __reduce__(self) -> Any:
        return ValueError, self.args


def _check_shape(X: Any, name: str) -> None:
    shape = X.shape
    if len(shape) != 2:
        raise ValueError(f"{name} must have rows and columns, got a sparse array of shape {shape}.")
    if not all(0 <= size <= MOST for size in shape):
        raise ValueError(f"{name} has shape {shape}: there can be at most {MOST:,} rows and columns.")


def _canonical(X: Any, name: str) -> Any:
    """A CSR matrix of any class whose flags are not trusted, as one of SciPy's own that has been looked at."""
    plain = _class(X, "csr")
    parts = _parts(X, name)
    kind = _fault(X, name, parts, X.shape[1], ("row", "column"))
    parts = _within(parts)
    kept = type(X) is plain and all(a is b for a, b in zip(parts, (X.data, X.indices, X.indptr), strict=True))
    if kind == "order":
        out = plain(parts, shape=X.shape, copy=True)
        out.sum_duplicates()
        return out
    return X if kept else plain(parts, shape=X.shape)


def _within(parts: Parts) -> Parts:
    """Without the entries after the last row's end, which no row has and nobody has looked at."""
    data, indices, indptr = parts
    end = int(indptr[-1])
    return parts if end == len(indices) else (data[:end], indices[:end], indptr)


def _class(X: Any, format: str) -> Any:
    """SciPy's own class: a matrix stays a matrix, an array an array."""
    import scipy.sparse as sp

    return getattr(sp, f"{format}_{'array' if isinstance(X, sp.sparray) else 'matrix'}")


def _parts(X: Any, name: str, *, blocks: bool = False) -> Parts:
    """Data, indices and starts of a compressed matrix: arrays of the right kinds and lengths, as the core takes them."""
    data = _values(X, name, 3 if blocks else 1)
    indices, indptr = (_whole(getattr(X, part, None), f"{name}.{part}") for part in ("indices", "indptr"))
    n = X.shape[X.format == "csc"] // (data.shape[1] if blocks else 1)
    if len(indptr) != n + 1:
        raise DamagedMatrixError(
            name, f"there are {len(indptr)} starts for {n} rows or columns, not one more"
        )
    if len(data) != len(indices):
        raise DamagedMatrixError(name, f"there are {len(data)} values for {len(indices)} indices")
    width = np.int32 if indices.dtype == indptr.dtype == np.int32 else np.int64
    return data, indices.astype(width, copy=False), indptr.astype(width, copy=False)


def _values(X: Any, name: str, dimensions: int) -> npt.NDArray[Any]:
    """The values, as compiled code reads them. Anything may have been written to an attribute."""
    array = np.asarray(getattr(X, "data", None))
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} is a sparse matrix of type {array.dtype}: give real numbers.")
    if array.ndim != dimensions:
        raise DamagedMatrixError(name, f"its data have the shape {array.shape}")
    dtype = np.dtype(np.float32) if array.dtype == np.float16 else array.dtype  # SciPy has no sums of float16
    return _plain(array, dtype)


def _whole(values: Any, name: str) -> npt.NDArray[Any]:
    """Whole numbers (n,), as compiled code reads them."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DamagedMatrixError(name, f"it is of type {array.dtype} and shape {array.shape}")
    return _plain(array, array.dtype)


def _plain(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The array itself, or a copy that compiled code can read."""
    if array.dtype == dtype and dtype.isnative and array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.require(array, dtype.newbyteorder("="), ("C", "A"))


def _fault(X: Any, name: str, parts: Parts, n_columns: int, words: tuple[str, str]) -> str:
    """Raises where a number leads out of the matrix; else '' or, where columns of a row do not rise, 'order'."""
    _, indices, indptr = parts
    kind, place, value = _core.compressed_fault(indptr, indices, n_columns)
    row, column = words
    what = {
        "first start": f"the first {row} begins after {value} entries, not after 0",
        "falling start": f"{row} {place:,} ends before it begins, after {value} entries",
        "last start": f"the last {row} ends after {value} entries, and there are {len(indices):,}",
        "index": _outside(place, column, value, n_columns),
    }.get(kind)
    if what is not None:
        raise DamagedMatrixError(name, what)
    return str(kind)


def _outside(place: int, word: str, value: Any, size: int) -> str:
    """Entries, like rows, are counted from 1; indices are shown as they stand in the matrix."""
    return f"entry {place + 1:,} has the {word} index {value}, and there are {size:,} {word}s, with indices from 0"


def _from_columns(X: Any, name: str) -> Any:
    parts = _parts(X, name)
    _fault(X, name, parts, X.shape[0], ("column", "row"))
    return _class(X, "csc")(parts, shape=X.shape).tocsr()


def _from_blocks(X: Any, name: str) -> Any:
    size = _values(X, name, 3).shape[1:]
    if 0 in size or any(n % block for n, block in zip(X.shape, size, strict=True)):
        raise DamagedMatrixError(name, f"blocks of {size} do not fill the shape {X.shape}")
    parts = _parts(X, name, blocks=True)
    _fault(X, name, parts, X.shape[1] // size[1], ("row of blocks", "column of blocks"))
    return _class(X, "bsr")(parts, shape=X.shape, blocksize=size).tocsr()


def _from_triplets(X: Any, name: str) -> Any:
    places = getattr(X, "coords", None) or (X.row, X.col)  # SciPy before 1.13 has the latter alone
    if len(places) != 2:
        raise DamagedMatrixError(name, f"entries have {len(places)} coordinates")
    return _of_triplets(X, name, _values(X, name, 1), *places)


def _of_triplets(X: Any, name: str, data: Any, rows: Any, columns: Any) -> Any:
    rows, columns = (_whole(part, f"{name}.coords") for part in (rows, columns))
    if not len(data) == len(rows) == len(columns):
        raise DamagedMatrixError(
            name, f"there are {len(data)} values for {len(rows)} rows and {len(columns)} columns"
        )
    for part, size, word in ((rows, X.shape[0], "row"), (columns, X.shape[1], "column")):
        wrong = np.flatnonzero((part < 0) | (part >= size))
        if len(wrong):
            raise DamagedMatrixError(name, _outside(int(wrong[0]), word, part[wrong[0]], size))
    return _class(X, "coo")((data, (rows, columns)), shape=X.shape).tocsr()


def _from_diagonals(X: Any, name: str) -> Any:
    data, offsets = _values(X, name, 2), _whole(X.offsets, f"{name}.offsets")
    if len(offsets) != len(data) or len(np.unique(offsets)) != len(offsets):
        raise DamagedMatrixError(
            name, f"there are {len(data)} diagonals for {len(offsets)} offsets, or an offset twice"
        )
    wrong = offsets[(offsets <= -max(X.shape[0], 1)) | (offsets >= max(X.shape[1], 1))]
    if len(wrong):
        raise DamagedMatrixError(name, f"the diagonal {wrong[0]} is outside of the shape {X.shape}")
    return _class(X, "dia")((data, offsets), shape=X.shape).tocsr()


def _from_lists(X: Any, name: str) -> Any:
    rows, data = (np.asarray(part) for part in (X.rows, X.data))
    if not all(part.dtype == object and part.shape == X.shape[:1] for part in (rows, data)):
        raise DamagedMatrixError(
            name, f"it has lists of shapes {rows.shape} and {data.shape} for {X.shape[0]} rows"
        )
    lengths = [[len(row) if type(row) is list else -1 for row in part.tolist()] for part in (rows, data)]
    if lengths[0] != lengths[1] or -1 in lengths[0]:
        raise DamagedMatrixError(
            name, "a row has another number of columns than of values, or no list of them"
        )
    values = _listed(chain.from_iterable(data), f"{name}.data", "biuf", X.dtype)
    columns = _listed(chain.from_iterable(rows), f"{name}.rows", "iu", np.int64)
    return _of_triplets(X, name, values, np.repeat(np.arange(X.shape[0]), lengths[0]), columns)


def _from_keys(X: Any, name: str) -> Any:
    keys = list(X.keys())
    if not all(type(key) is tuple and len(key) == 2 for key in keys):
        raise DamagedMatrixError(name, "a key is no pair of row and column")
    rows, columns = (_listed((key[i] for key in keys), f"{name}.keys", "iu", np.int64) for i in (0, 1))
    return _of_triplets(X, name, _listed(X.values(), f"{name}.values", "biuf", X.dtype), rows, columns)


def _listed(values: Iterable[Any], name: str, kinds: str, dtype: Any) -> npt.NDArray[Any]:
    """Python objects as an array of that type."""
    listed = list(values)
    try:
        array = np.asarray(listed) if listed else np.empty(0, dtype)
    except (ValueError, OverflowError) as error:
        raise DamagedMatrixError(name, "it has something else than numbers") from error
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise DamagedMatrixError(name, f"it is of type {array.dtype} and shape {array.shape}")
    return array.astype(dtype, copy=False)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "csc": _from_columns,
    "bsr": _from_blocks,
    "coo": _from_triplets,
    "dia": _from_diagonals,
    "lil": _from_lists,
    "dok": _from_keys,
}
