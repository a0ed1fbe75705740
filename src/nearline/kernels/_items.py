"""Collections of strings and trees: what is accepted, and the matrices that the core fills for them."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline.kernels._base import Kernel

Fill = Callable[[str, Array], None]  # fills the matrix of a kind: "among", "between" or "diagonal"


def as_list(raw: Any, what: str) -> list[Any]:
    """The items of a list, a 1-D array, a series or a column (n, 1)."""
    if isinstance(raw, (str, bytes)):
        raise ValueError(f"A collection of {what} is needed, got one string {raw[:40]!r}: put it in a list.")
    if is_sparse(raw):
        raise ValueError(f"A collection of {what} is a list or 1-D array, got a sparse matrix.")
    columns = getattr(raw, "columns", None)
    if columns is not None:  # a frame: of pandas or polars
        if len(columns) != 1:
            raise ValueError(
                f"A collection of {what} is one column, got a table of {len(columns)}: choose one."
            )
        raw = raw[columns[0]]
    if isinstance(raw, (dict, set, frozenset)):
        raise ValueError(
            f"A collection of {what} is a list, got a {type(raw).__name__}, which has no order of rows."
        )
    if isinstance(raw, np.ndarray) and raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if isinstance(raw, np.ndarray) and raw.ndim != 1:
        raise ValueError(f"A collection of {what} is a list or 1-D array, got an array of shape {raw.shape}.")
    try:
        return list(raw)
    except TypeError as error:
        raise ValueError(f"A collection of {what} is needed, got {type(raw).__name__} {raw!r}.") from error


def as_array(items: Sequence[Any]) -> Array:
    """A 1-D object array; NumPy by itself would make a matrix of tuples of one length."""
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array


def sequences(raw: Any) -> Array:
    """Strings, or tuples of tokens, as a 1-D object array; numbers, missing values and mixtures are refused."""
    if isinstance(raw, np.ndarray) and raw.dtype.kind == "U" and raw.ndim == 1:
        return as_array(raw.tolist())
    items = as_list(raw, "strings")
    if all(isinstance(item, str) for item in items):
        return as_array([str(item) for item in items])
    for i, item in enumerate(items):
        if not isinstance(item, (str, list, tuple, np.ndarray)):
            raise ValueError(
                f"String kernels take strings or lists of tokens, but item {i + 1} is {item!r} ({type(item).__name__}): "
                "leave out what is missing, and for numbers take a kernel of vectors."
            )
    strange = next((i for i, item in enumerate(items) if isinstance(item, str)), None)
    if strange is not None:
        raise ValueError(
            f"Strings and lists of tokens are mixed: item {strange + 1} is the string {items[strange][:40]!r}. "
            "Split it into tokens, or join the others."
        )
    tokens = [tuple(item) for item in items]
    for i, item in enumerate(tokens):
        for token in item:
            if not isinstance(token, Hashable):
                raise ValueError(f"Tokens must be hashable, but item {i + 1} has the token {token!r}.")
    return as_array(tokens)


def ranks_of(items: Iterable[Any], key: Callable[[Any], Any]) -> Array:
    """The place of each item's key among all distinct ones: the same for equal items."""
    keys = [key(item) for item in items]
    place = {k: i for i, k in enumerate(sorted(set(keys)))}
    return np.array([place[k] for k in keys], dtype=np.int64)


def filled(kind: str, n: int, n_columns: int, fill: Fill, remedy: str) -> Array:
    """The matrix that the core fills, checked for overflow."""
    out = np.empty((n, n_columns))
    if out.size:
        fill(kind, out)
    if not np.isfinite(out).all():
        raise ValueError(f"Values of this kernel are too large for a float64: {remedy}.")
    return out


def starts_of(sizes: Sequence[int]) -> Array:
    """Where each item begins when all are put in one row, and the end."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def counted(rows: Array, features: Array, n: int) -> tuple[Array, Array, Array]:
    """How often each feature occurs in each row, as the three arrays of a CSR matrix with sorted features."""
    width = int(features.max(initial=0)) + 1
    pairs, counts = np.unique(rows.astype(np.int64) * width + features, return_counts=True)
    starts = starts_of(np.bincount(pairs // width, minlength=n).tolist())
    return starts, (pairs % width).astype(np.int32), counts.astype(np.float64)


@dataclass(frozen=True)
class FilledKernel(Kernel):
    """A kernel whose matrices the core fills, of one collection or of two, one behind the other."""

    remedy: ClassVar[str]  # what to do where values overflow

    def among(self, items: Array) -> Array:
        return self._matrix("among", items, len(items), len(items))

    def between(self, A: Array, B: Array) -> Array:
        return self._matrix("between", np.concatenate([A, B]), len(A), len(B))

    def diagonal(self, items: Array) -> Array:
        return self._matrix("diagonal", items, len(items), 1)[:, 0]

    def _matrix(self, kind: str, items: Array, n_rows: int, n_columns: int) -> Array:
        return filled(kind, n_rows, n_columns, lambda kind, out: self._fill(items, kind, out), self.remedy)

    @abstractmethod
    def _fill(self, items: Array, kind: str, out: Array) -> None:
        """Write the matrix of a kind: "among", "between" or "diagonal"."""
