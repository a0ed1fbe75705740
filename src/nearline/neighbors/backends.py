"""How rows of each kind are searched: dense, sparse, by a matrix of distances or a Python function, by a tree, by a graph."""

from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline._parallel.tiles import slices, steps
from nearline._records.habits import ours
from nearline._records.refused import UnknownNameError
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.backend import Backend
from nearline.neighbors.exact import Dense, at_a_time
from nearline.neighbors.graph import Graph
from nearline.neighbors.lists import Found
from nearline.neighbors.metric import Metric
from nearline.neighbors.tree import Tree
from nearline.neighbors.wanted import Wanted, begin, finish

ALGORITHMS = ("auto", "exact", "tree")
MEASURED = 2**22  # distances that a metric measures in Python at a time
WIDTH = 32  # coordinates of dense rows that a pair of sparse ones costs as much as
OTHERS = 0.85  # share of the products of sparse rows that is left to those which bounds do not exclude


class Sparse(Backend):
    """CSR rows, by their columns."""

    algorithm: ClassVar[str] = "exact"
    takes_sparse: ClassVar[bool] = True

    def __init__(self, X: Any, metric: Metric) -> None:
        self.metric = metric
        self._rows = _csr(X)
        self._columns = _csr(X.T.tocsr())
        self._common = _common(X, np.diff(self._columns[0]))
        self.n_features = X.shape[1]

    def find(self, Q: Any, wanted: Wanted) -> Found:
        from scipy.sparse import csr_matrix

        Q = csr_matrix(Q, dtype=np.float64)
        Q.sum_duplicates()
        parts = slices(Q.shape[0], at_a_time(len(self._rows[0]) - 1, WIDTH)) or [slice(0)]
        return Found.join([self._find(Q[part], wanted.of(part)) for part in steps(parts)])

    def _find(self, Q: Any, wanted: Wanted) -> Found:
        search = begin(self.metric, wanted, np.empty((Q.shape[0], 0)))
        search.scan_sparse(
            *self._rows, *self._columns, *self._common, wanted.others, *_csr(Q), self.n_features
        )
        return finish(search, Q.shape[0])


class Given(Backend):
    """Distances given with the queries."""

    algorithm: ClassVar[str] = "brute"

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def find(self, Q: Array, wanted: Wanted) -> Found:
        return _given(self.metric, wanted, np.ascontiguousarray(Q, dtype=np.float64))


class Called(Backend):
    """Distances that a metric measures in Python, a block of queries at a time."""

    algorithm: ClassVar[str] = "brute"

    def __init__(self, X: Array, metric: Metric) -> None:
        self.X, self.metric = X, metric

    def find(self, Q: Array, wanted: Wanted) -> Found:
        Q = _numbers(Q)
        parts = slices(len(Q), max(1, MEASURED // len(self.X))) or [slice(0)]
        return Found.join([self._find(Q[part], wanted.of(part)) for part in steps(parts)])

    def _find(self, Q: Array, wanted: Wanted) -> Found:
        D = np.ascontiguousarray(self.metric.distances(Q, self.X), dtype=np.float64)
        if D.shape != (len(Q), len(self.X)):
            raise ValueError(
                f"The metric {self.metric.name!r} gave distances of shape {D.shape} for {len(Q)} queries and {len(self.X)} "
                "rows: distances(Q, X) must give one row a query, and one column a row."
            )
        if np.isnan(D).any():
            raise ValueError(
                f"The metric {self.metric.name} gave NaN: it must return a number for every pair of rows."
            )
        return _given(self.metric, wanted, D)


def choose_backend(X: Any, metric: Metric, algorithm: Any, memory: int) -> Backend:
    """The backend for rows X: a tree in low dimension, else exact search; what the caller asks for where given."""
    given, algorithm = algorithm, ours(algorithm)
    if not (isinstance(algorithm, Approximate) or (isinstance(algorithm, str) and algorithm in ALGORITHMS)):
        raise UnknownNameError("algorithm", given, ALGORITHMS, "or Approximate(recall=0.95)")
    sparse = is_sparse(X) and metric.on_sparse
    if algorithm in ("auto", "exact"):
        if metric.given:
            return Given(metric)
        if metric.core is None:
            return Called(_numbers(X), metric)
        if sparse:
            return Sparse(metric.rows(X), metric)
    elif sparse:
        raise ValueError(
            f"algorithm={algorithm!r} needs dense rows, got a sparse matrix: take algorithm='exact', or X.toarray() "
            "where it has few columns."
        )
    if isinstance(algorithm, Approximate):
        return Graph(X, metric, algorithm, memory)
    if algorithm == "tree":
        return Tree(np.ascontiguousarray(metric.rows(X)), metric, memory)
    rows: Array = np.ascontiguousarray(metric.rows(X))
    n, D = rows.shape
    if algorithm == "auto" and 8 * n * (D + 3) <= memory and metric.tree_pays(n, D):
        return Tree(rows, metric, memory)
    return Dense(rows, metric, memory)


def _numbers(X: Any) -> Array:
    """Dense rows whose differences are numbers: those of bytes would begin again at 255."""
    X = X.toarray() if is_sparse(X) else X
    return np.asarray(X, dtype=np.float64 if X.dtype == np.uint8 else None)


def _common(X: Any, counts: Array) -> tuple[Array, Array]:
    """Which features are so frequent that products over them are most of the work, and |x| of each row over them."""
    order = np.argsort(-counts, kind="stable")
    work = np.cumsum(counts[order].astype(float) ** 2)
    frequent = np.zeros(len(counts), dtype=np.uint8)
    frequent[order[: np.searchsorted(work, OTHERS * work[-1]) if len(work) else 0]] = 1
    with np.errstate(over="ignore"):  # infinite lengths exclude nothing
        squares = np.where(frequent[X.indices] > 0, X.data.astype(np.float64) ** 2, 0.0)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return frequent, np.sqrt(np.bincount(row, weights=squares, minlength=X.shape[0]))


def _csr(X: Any) -> tuple[Array, Array, Array]:
    return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data


def _given(metric: Metric, wanted: Wanted, distances: Array) -> Found:
    """The lists of given distances (m, n)."""
    search = begin(metric, wanted, np.empty((len(distances), 0)))
    search.scan_distances(distances, wanted.others, 0)
    return finish(search, len(distances))
