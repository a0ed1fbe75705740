"""Sparse matrices that lie: damaged ones, which must be refused, and odd ones, which mean the same as a plain one."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

N, D = 40, 6

Made = tuple[str, Any]  # how it was made, and the matrix


def clean(kind: Any = sp.csr_matrix) -> Any:
    """40 rows of small whole numbers, two classes apart in the first columns; about half are stored."""
    rng = np.random.default_rng(5)
    rows = rng.integers(1, 4, size=(N, D)) * (rng.random((N, D)) < 0.5)
    rows[:, 0] = np.where(labels() == 1, 3, 1)
    return kind(rows.astype(np.float64))


def labels() -> Any:
    return np.arange(N) % 2


def _with(kind: Any, change: Callable[[Any], None]) -> Any:
    X = clean(kind)
    change(X)
    return X


def _put(part: str, place: Any, value: Any) -> Callable[[Any], None]:
    """Write a number into an array of the matrix, which is widened if need be."""

    def change(X: Any) -> None:
        array = getattr(X, part).copy()
        array = array.astype(np.int64) if abs(value) >= 2**31 else array
        array[place] = value
        setattr(X, part, array)

    return change


def _map(part: str, to: Callable[[Any], Any]) -> Callable[[Any], None]:
    return lambda X: setattr(X, part, to(getattr(X, part)))


def _ramp(X: Any) -> None:
    X.indptr[:] = np.linspace(0, 2**31 - 1, len(X.indptr)).astype(X.indptr.dtype)


def _shaped(*shape: int) -> Callable[[Any], None]:
    return lambda X: setattr(X, "_shape", shape)


COMPRESSED: dict[str, Callable[[Any], None]] = {
    "index -1": _put("indices", 3, -1),
    "index at the end": _put("indices", 3, max(N, D)),
    "index 2^31 - 1": _put("indices", 3, 2**31 - 1),
    "index -2^31": _put("indices", 3, -(2**31)),
    "index 2^40": _put("indices", 3, 2**40),
    "index 2^32 + 1": _put("indices", 3, 2**32 + 1),
    "index -2^33": _put("indices", 3, -(2**33)),
    "last index": _put("indices", -1, 10**6),
    "every index": _put("indices", slice(None), 10**8),
    "first start 1": _put("indptr", 0, 1),
    "first start -5": _put("indptr", 0, -5),
    "falling start": _put("indptr", 4, 10**6),
    "start before": _put("indptr", 4, 0),
    "negative start": _put("indptr", 4, -(2**31)),
    "last start beyond": _put("indptr", -1, 10**7),
    "last start 2^31 - 1": _put("indptr", -1, 2**31 - 1),
    "last start 2^62": _put("indptr", -1, 2**62),
    "starts far beyond": _ramp,
    "starts missing": _map("indptr", lambda a: a[:-1]),
    "starts too many": _map("indptr", lambda a: np.append(a, a[-1])),
    "no starts": _map("indptr", lambda a: a[:0]),
    "indices missing": _map("indices", lambda a: a[:-3]),
    "data missing": _map("data", lambda a: a[:-3]),
    "no data": _map("data", lambda a: a[:0]),
    "indices of floats": _map("indices", lambda a: a + 0.5),
    "starts of floats": _map("indptr", lambda a: a.astype(float)),
    "indices of objects": _map("indices", lambda a: a.astype(object)),
    "indices of bits": _map("indices", lambda a: a.astype(np.float32).view(np.int32) | 1),
    "indices none": lambda X: setattr(X, "indices", None),
    "indices in two dimensions": _map("indices", lambda a: np.stack([a, a])),
    "starts in two dimensions": _map("indptr", lambda a: a[None]),
    "unsigned index 2^63": _map("indices", lambda a: a.astype(np.uint64) + np.uint64(2**63)),
    "complex data": _map("data", lambda a: a + 1j),
    "data of objects": _map("data", lambda a: a.astype(object)),
    "data of strings": _map("data", lambda a: a.astype(str)),
    "fewer columns in the shape": _shaped(N, 2),
    "more rows and columns in the shape": _shaped(10 * N, 10 * D),
    "fewer rows in the shape": _shaped(3, D),
    "negative shape": _shaped(-N, -D),
    "shape of 2^62 rows": _shaped(2**62, D),
}


def _place(axis: int, value: int) -> Callable[[Any], None]:
    return _along(axis, lambda a: np.where(np.arange(len(a)) == 2, np.int64(value), a))


def _along(axis: int, to: Callable[[Any], Any]) -> Callable[[Any], None]:
    def change(X: Any) -> None:
        places = list(X.coords)
        places[axis] = to(places[axis])
        X.coords = tuple(places)

    return change


TRIPLETS: dict[str, Callable[[Any], None]] = {
    "row -1": _place(0, -1),
    "row at the end": _place(0, N),
    "row 2^40": _place(0, 2**40),
    "column -1": _place(1, -1),
    "column at the end": _place(1, D),
    "column 2^32 + 1": _place(1, 2**32 + 1),
    "rows missing": _along(0, lambda a: a[:-2]),
    "columns of floats": _along(1, lambda a: a + 0.5),
    "no columns": lambda X: setattr(X, "coords", X.coords[:1]),
    "data missing": _map("data", lambda a: a[:-3]),
    "complex data": _map("data", lambda a: a + 1j),
}
DIAGONALS: dict[str, Callable[[Any], None]] = {
    "offset beyond": _put("offsets", 0, 10**6),
    "offset 2^62": _put("offsets", 0, 2**62),
    "offset twice": _put("offsets", 0, 1),
    "offsets missing": _map("offsets", lambda a: a[:-1]),
    "offsets of floats": _map("offsets", lambda a: a + 0.5),
    "data flat": _map("data", lambda a: a.ravel()),
}


def _list(part: str, row: int, value: Any) -> Callable[[Any], None]:
    return lambda X: getattr(X, part).__setitem__(row, value)


LISTS: dict[str, Callable[[Any], None]] = {
    "column at the end": _list("rows", 1, [D]),
    "column -1": _list("rows", 1, [-1]),
    "column 2^70": _list("rows", 1, [2**70]),
    "column of text": _list("rows", 1, ["a"]),
    "columns none": _list("rows", 1, None),
    "values none": _list("data", 1, None),
    "a value too many": _list("data", 1, [1.0] * 99),
    "rows missing": _map("rows", lambda a: a[:-1]),
}


def _key(key: Any) -> Callable[[Any], None]:
    return lambda X: X._dict.__setitem__(key, 1.0)


KEYS: dict[str, Callable[[Any], None]] = {
    "row at the end": _key((N, 0)),
    "column -1": _key((0, -1)),
    "column 2^40": _key((0, 2**40)),
    "key of one number": _key((3,)),
    "key of text": _key(("a", "b")),
}
FORMATS: dict[str, dict[str, Callable[[Any], None]]] = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED,
    "coo": TRIPLETS,
    "dia": DIAGONALS,
    "lil": LISTS,
    "dok": KEYS,
}


def damaged(classes: tuple[str, ...] = ("matrix", "array")) -> Iterator[Made]:
    """Every damage to every format. Where a format cannot be damaged that way it is left out."""
    for format, changes in FORMATS.items():
        for kind in classes:
            for name, change in changes.items():
                try:
                    yield f"{format}_{kind}, {name}", _with(getattr(sp, f"{format}_{kind}"), change)
                except (AttributeError, ValueError, TypeError, IndexError):
                    continue  # SciPy itself refuses it


def _unsorted(X: Any) -> None:
    for i in range(N):
        row = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[row], X.data[row] = X.indices[row][::-1].copy(), X.data[row][::-1].copy()


def _halved(X: Any) -> None:
    """Every entry twice, with half of its value."""
    X.indices, X.data, X.indptr = np.repeat(X.indices, 2), np.repeat(X.data / 2, 2), 2 * X.indptr


def _lying(change: Callable[[Any], None]) -> Callable[[Any], None]:
    def made(X: Any) -> None:
        change(X)
        X.has_sorted_indices = X.has_canonical_format = True

    return made


def _with_rest(X: Any) -> None:
    """Entries that no row has."""
    X.indices = np.append(X.indices, [10**9, -7]).astype(X.indices.dtype)
    X.data = np.append(X.data, [1.0, 2.0])


def misaligned(a: Any) -> Any:
    out = np.empty(a.nbytes + 1, dtype=np.uint8)[1:].view(a.dtype).reshape(a.shape)
    out[...] = a
    return out


def _strided(a: Any) -> Any:
    return np.repeat(a, 2)[::2]


def _frozen(X: Any) -> None:
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False


ODD: dict[str, Callable[[Any], None]] = {
    "unsorted": _unsorted,
    "every entry twice": _halved,
    "unsorted, flags lie": _lying(_unsorted),
    "every entry twice, flags lie": _lying(_halved),
    "entries that no row has": _with_rest,
    "indices int64": _map("indices", lambda a: a.astype(np.int64)),
    "indices uint16": _map("indices", lambda a: a.astype(np.uint16)),
    "starts int64": _map("indptr", lambda a: a.astype(np.int64)),
    "indices big-endian": _map("indices", lambda a: a.astype(">i4")),
    "data big-endian": _map("data", lambda a: a.astype(">f8")),
    "indices strided": _map("indices", _strided),
    "data strided": _map("data", _strided),
    "indices misaligned": _map("indices", misaligned),
    "data misaligned": _map("data", misaligned),
    "data float16": _map("data", lambda a: a.astype(np.float16)),
    "data int8": _map("data", lambda a: a.astype(np.int8)),
    "read-only": _frozen,
}


def odd() -> Iterator[Made]:
    """Matrices that mean the same as the clean one: other formats, orders and types."""
    for kind in ("matrix", "array"):
        for format in FORMATS:
            yield f"{format}_{kind}", clean(getattr(sp, f"{format}_{kind}"))
        for name, change in ODD.items():
            yield f"csr_{kind}, {name}", _with(getattr(sp, f"csr_{kind}"), change)
