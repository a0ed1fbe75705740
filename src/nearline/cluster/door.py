"""The door of Dask: collections in, blocks and collections out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed

from nearline._arrays.blocks import Block, Blocks
from nearline._arrays.design import Array, is_sparse
from nearline._arrays.doors import Task
from nearline._arrays.validation import check_array
from nearline.cluster._blocks import DaskBlocks
from nearline.cluster._crews import crew
from nearline.estimators.blocked import FLOATS
from nearline.representations import kind_of_series, series_of


def is_frame(X: Any) -> bool:
    """Whether a collection is a frame (rows with named columns) or a column of one."""
    return not isinstance(X, da.Array) and getattr(X, "_meta", None) is not None


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a frame."""
    return list(X.columns) if is_frame(X) else None


def parts_of(X: Any) -> list[Delayed]:
    """The blocks of rows of a collection, not computed yet."""
    if is_frame(X):
        # Columns are chosen as files are read; no more, as Dask would join small blocks of X and y in different ways.
        parts: list[Delayed] = X.simplify().to_delayed(optimize_graph=False)
        return parts
    if X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel())


def blocks(
    X: Any, y: Any = None, sample_weight: Any = None, *, dtypes: Any, ahead: Sequence[Task] = ()
) -> Blocks:
    """Checked rows, with labels as they came for targets and weights of 1 if none are given, held by the crew."""
    if not is_frame(X) and not isinstance(X, da.Array):
        raise ValueError(f"X must be a Dask array or frame, got a {type(X).__name__}: make one of it.")
    if X.ndim != 2:
        what = "column of a frame" if is_frame(X) else "Dask array"
        raise ValueError(f"X must be rows by features (n, D), got a {what} of {X.ndim} dimension(s).")
    rows = parts_of(X)
    others = {
        "y": _beside(X, y, len(rows), "y"),
        "weights": _beside(X, sample_weight, len(rows), "sample_weight"),
    }
    table = dtypes is None and is_table(X)
    wanted = Wanted(None if dtypes is None else tuple(dtypes), table, column_names(X))
    check = delayed(checked, pure=False)
    made = [
        check(part, *(None if other is None else other[i] for other in others.values()), wanted, i)
        for i, part in enumerate(rows)
    ]
    working = crew()
    return DaskBlocks.of(working, working.hold(made), ahead)


def _beside(X: Any, given: Any, n_parts: int, name: str) -> list[Any] | None:
    """What goes with the rows of each block of X."""
    if given is None:
        return None
    if not is_frame(given) and not isinstance(given, da.Array):
        return _cut(X, given, n_parts, name)
    if isinstance(given, da.Array) and not is_frame(X) and not _unknown(X) and not _unknown(given):
        if given.shape[0] != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but {name} {given.shape[0]}: give one for each row.")
        given = given.rechunk({0: X.chunks[0]})
    parts = parts_of(given)
    if len(parts) != n_parts:
        raise ValueError(
            f"X has {n_parts} blocks but {name} {len(parts)}, and the numbers of their rows are not known: cut both alike, "
            "or call X.compute_chunk_sizes() on both."
        )
    return parts


def _unknown(X: Any) -> bool:
    return bool(np.isnan(X.shape[0]))


def _cut(X: Any, given: Any, n_parts: int, name: str) -> list[Any]:
    """An array in memory, cut as X is."""
    values = np.asarray(given)
    uncounted = is_frame(X) or _unknown(X)
    sizes = crew().ask(len, crew().hold(parts_of(X))) if uncounted else list(X.chunks[0])
    if len(values) != sum(sizes):
        raise ValueError(f"X has {sum(sizes)} rows but {name} {len(values)}: give one for each row.")
    return (
        [delayed(part) for part in np.split(values, np.cumsum(sizes)[:-1])]
        if n_parts > 1
        else [delayed(values)]
    )


def _numbers(X: Any, dtypes: tuple[Any, ...] | None) -> Any:
    finite: Any = "allow-nan" if dtypes is None and not is_sparse(X) else True
    return check_array(
        X,
        accept_sparse="csr",
        dtype=list(FLOATS if dtypes is None else dtypes),
        order="C",
        ensure_min_samples=0,
        ensure_all_finite=finite,
        input_name="X",
    )


def is_table(X: Any) -> bool:
    """Whether a frame has other columns than numbers."""
    return is_frame(X) and any(kind_of_series(one) != "number" for one in series_of(X._meta))


@dataclass(frozen=True)
class Wanted:
    """What the rows of all blocks are to be. Without dtypes a table stays a frame, and numbers may be missing."""

    dtypes: tuple[Any, ...] | None
    table: bool
    columns: list[Any] | None  # of a frame

    def __call__(self, X: Any) -> Any:
        if self.columns is not None and list(X.columns) != self.columns:
            at = next(i for i, (a, b) in enumerate(zip_longest(X.columns, self.columns)) if a != b)
            found, wanted = (
                repr(names[at]) if at < len(names) else "none" for names in (X.columns, self.columns)
            )
            raise ValueError(
                f"Column {at + 1} is {found}, but that of the frame is {wanted}: give all partitions the same columns in the "
                "same order (frame.map_partitions(lambda part: part[columns], meta=frame._meta))."
            )
        return X if self.table else _numbers(X, self.dtypes)


def checked(X: Any, y: Any, weights: Any, wanted: Wanted, number: int) -> Block:
    """A block of rows as the mathematics wants it; bad ones are refused, with the number of their block."""
    n = int(X.shape[0])
    try:
        rows = wanted(X)
        if is_sparse(rows) and type(rows).__module__.startswith("sparse"):
            raise ValueError(
                "X has sparse arrays that are no matrices of SciPy: give scipy.sparse.csr_matrix blocks."
            )
        targets = np.zeros(n, np.int32) if y is None else _column(y, "y")
        given = np.ones(n) if weights is None else _column(weights, "sample_weight").astype(np.float64)
        for name, values in (("y", targets), ("sample_weight", given)):
            if len(values) != n:
                raise ValueError(f"X has {n} rows but {name} {len(values)}: give one for each row.")
        if given.ndim != 1:
            raise ValueError(f"sample_weight must be one number for each row, got shape {given.shape}.")
        if not (np.isfinite(given).all() and (given >= 0).all()):
            raise ValueError("sample_weight must be finite numbers >= 0.")
    except (ValueError, TypeError) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"Block {number + 1} of X (counted from 1): {why}") from None
    return Block(rows, targets, given)


def _column(given: Any, name: str) -> Array:
    """Labels or weights of a block as an array."""
    values = np.asarray(given)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.dtype.kind == "O" and len(values) and all(isinstance(one, str) for one in values.tolist()):
        values = values.astype(str)
    missing = values != values if values.dtype.kind in "fO" else np.zeros(len(values), bool)
    if values.dtype.kind == "O":
        missing = missing | np.array([one is None for one in values.tolist()], dtype=bool)
    if np.any(missing):
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"Input {name} contains NaN, the first in row {row + 1} of the block: drop such rows."
        )
    return values


def applied(function: Callable[[Any], Any], X: Any) -> Any:
    """An array of what a function says of each block, computed where the block is and when it is asked for."""
    apply = delayed(_Answers(function), pure=False)
    return _array([apply(part) for part in parts_of(X)], function, X)


def streamed(function: Callable[[Any], Any], X: Any) -> Any:
    """The same where blocks of X come here one after the other, as the answers need what is elsewhere."""
    answers, apply = [], _Answers(function)
    for part in parts_of(X):
        answers.append(apply(part.compute()))
    filled = [answer for answer in answers if len(answer)] or answers[:1]
    return da.concatenate([da.from_array(answer, chunks=answer.shape) for answer in filled])


class _Answers:
    """A function of rows that takes blocks without any."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, rows: Any) -> Any:
        if rows.shape[0]:
            return self.function(rows)
        answer = self.function(_one_row(rows))
        return answer[:0]


def _one_row(rows: Any) -> Any:
    """A row of the kind that the block would have."""
    if hasattr(rows, "iloc"):
        from dask.dataframe.utils import meta_nonempty

        return meta_nonempty(rows).iloc[:1]
    return np.zeros((1, rows.shape[1]))


def _array(parts: list[Delayed], function: Callable[[Any], Any], X: Any) -> Any:
    """Blocks of answers as one array; a trial of one row tells their type and width."""
    names = column_names(X)
    if names is None:
        trial: Any = np.zeros((1, X.shape[1]), dtype=X.dtype)
        sizes = X.chunks[0]
    else:
        trial = X._meta_nonempty.iloc[:1]
        sizes = (np.nan,) * len(parts)
    sample = np.asarray(function(trial))
    shape = sample.shape[1:]
    pieces = [
        da.from_delayed(part, shape=(size, *shape), dtype=sample.dtype, meta=sample[:0])
        for part, size in zip(parts, sizes)
    ]
    return da.concatenate(pieces, allow_unknown_chunksizes=True)
