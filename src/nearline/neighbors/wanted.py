"""What a search is given, checked at one door, and what it is to find. The core's search, begun and read in one place."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, admitted, contiguous, is_sparse
from nearline._parallel.tiles import slices
from nearline._records.refused import ParameterError
from nearline.neighbors.lists import ALL_TIES, Found, Ragged
from nearline.neighbors.metric import Metric

NO_ROWS, NO_FLAGS = np.empty((0, 0), np.uint8), np.empty(0, np.uint8)
NO_GROUPS, NO_SIZES = np.empty(0, np.int64), np.empty(0)


@dataclass(frozen=True)
class Wanted:
    """The k nearest rows within a radius (k = 0: all that are), never of one's own group.

    Of the rows that tie with the last one of a list, at most ``most_ties`` are kept: where it is that many, there may be
    more of them, and which are kept is not said.
    """

    k: int
    radius: float = np.inf
    own: Array = field(default_factory=lambda: NO_GROUPS)  # (m,) groups of the queries; empty: there are none
    others: Array = field(default_factory=lambda: NO_GROUPS)  # (n,) groups of the rows
    most_ties: int = ALL_TIES

    @property
    def grouped(self) -> bool:
        return len(self.others) > 0

    @property
    def lists(self) -> bool:
        """Whether lists of k are wanted, however far."""
        return self.k > 0 and self.radius == np.inf

    def of(self, queries: Any) -> "Wanted":
        """The same for some of the queries (a slice or their numbers)."""
        return replace(self, own=self.own[queries]) if self.grouped else self


def begin(
    metric: Metric, wanted: Wanted, q: Array, bytes_: Array = NO_ROWS, whole: Array = NO_FLAGS
) -> _core.Search:
    """A search of the core for queries q (m, D), or (m, 0) where distances are given."""
    return _core.Search(
        metric.core,
        metric.exponent,
        metric.map,
        q,
        bytes_,
        whole,
        wanted.own,
        wanted.k,
        wanted.radius,
        wanted.most_ties,
    )


def sizes_of(metric: Metric, X: Array) -> Array:
    """What the core needs to know of each row alone, where it does."""
    if metric.core is None or not _core.needs_sizes(metric.core):
        return NO_SIZES
    sizes = np.empty(len(X))
    _core.row_sizes(metric.core, X, sizes)
    return sizes


def measured(metric: Metric, X: Array, Q: Array, rows: Array, queries: Array) -> Array:
    """Distances of the pairs X[rows], Q[queries], as every search measures them. Q is float64."""
    assert metric.core is not None
    out = np.empty(len(rows))
    rows, queries = (np.ascontiguousarray(part, dtype=np.int64) for part in (rows, queries))
    _core.pair_distances(metric.core, metric.exponent, metric.map, X, Q, rows, queries, out)
    return out


def finish(search: _core.Search, m: int) -> Found:
    """The lists of a core search."""
    counts, n_ties = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    search.finish(counts, n_ties)
    starts = np.concatenate([[0], np.cumsum(counts)])
    tie_starts = np.concatenate([[0], np.cumsum(n_ties)])
    distances, indices = np.empty(int(starts[-1])), np.empty(int(starts[-1]), dtype=np.int64)
    ties = np.empty(int(tie_starts[-1]), dtype=np.int64)
    search.write(starts[:-1].copy(), distances, indices, tie_starts[:-1].copy(), ties)
    return Found(counts, distances, indices, Ragged(tie_starts, ties))


def check_memory(memory: Any) -> int:
    """A number of bytes, > 0."""
    number = isinstance(memory, (int, float, np.integer, np.floating)) and not isinstance(memory, bool)
    if not number or not 1 <= memory < np.inf:
        raise ParameterError("memory", memory, "a number of bytes, at least 1", "2**30 is 1 GB")
    return int(memory)


def check_k(k: Any, n: int) -> int:
    """A number of neighbors, 1 <= k <= n."""
    whole = isinstance(k, (int, np.integer)) or (
        isinstance(k, (float, np.floating)) and float(k).is_integer()
    )
    if isinstance(k, (bool, np.bool_)) or not whole:
        raise ParameterError("k", k, "a whole number of neighbors")
    if k < 1:
        raise ParameterError("k", k, "at least 1")
    if k > n:
        raise ValueError(f"k = {k} neighbors were asked for, but there are only {n} rows: take k <= {n}.")
    return int(k)


def as_rows(X: Any, name: str) -> Any:
    """Rows as searches take them: C-contiguous float32, float64 or uint8, or canonical CSR; finite."""
    if is_sparse(X):
        X = admitted(X, name)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        values = X.data
    else:
        X = np.asarray(X)
        if X.dtype == np.bool_:
            X = X.astype(np.uint8)
        if X.ndim != 2:
            raise ValueError(f"{name} must be a table of rows (two dimensions), got shape {X.shape}.")
        if X.dtype not in (np.float32, np.float64, np.uint8):
            X = X.astype(np.float64)
        X = values = contiguous(X)
    tile = max(1, 2**18 // max(values[:1].size, 1))
    if values.dtype != np.uint8 and not all(np.isfinite(values[t]).all() for t in slices(len(values), tile)):
        raise ValueError(
            f"{name} has NaN or infinite values: fill them in (sklearn.impute) or drop those rows."
        )
    return X
