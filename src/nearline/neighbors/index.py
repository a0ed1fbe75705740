"""Index: rows to be searched for the nearest ones. Neighbors: what a search gives."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline._parallel.tiles import slices
from nearline._records.kept import AnyOf, Instance, OneOf, RowArray, Whole, kept
from nearline._records.refused import ParameterError
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.backend import Backend
from nearline.neighbors.backends import ALGORITHMS, choose_backend
from nearline.neighbors.lists import ALL_TIES, Found, Neighbors
from nearline.neighbors.metrics import Metric, as_metric
from nearline.neighbors.wanted import NO_GROUPS, Wanted, as_rows, check_k, check_memory

MEMORY = 256 * 2**20  # bytes beyond the data
FIRST = 1024  # queries after which it is known how many ties to expect
STORED, COUNTED = 48, 256  # bytes that a tie needs to be found, and to be counted as a vote


@kept(
    X=RowArray(("n", "F"), "floats or bytes"),
    metric=Instance(Metric),
    algorithm=AnyOf((OneOf(ALGORITHMS), Instance(Approximate))),
    memory=Whole(1, 2**50),
)
class Index:
    """Rows that can be searched for nearest neighbors, exactly.

    Search excludes rows by rigorous lower bounds of their distance and measures the others in float64 by direct
    differences, feature j accumulated in partial sum j mod 16; the 16 sums are combined pairwise. The answer is that of
    brute force with this order of summation, whatever the bounds, the number of threads or the instruction set.

    Parameters
    ----------
    X : (n, D) array (float32, float64 and uint8 are kept as they are, others become float64) or CSR matrix. It is not
        copied: do not change it afterwards.
    metric : name, object (``Lq(3)``, ``Mahalanobis(M)``) or function; see :data:`METRICS`.
    algorithm : "auto", "exact", "tree", or :class:`Approximate`.
    memory : bytes that a search may need beyond the data and its answer.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import Index
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    >>> found = Index(X).search([[0.0, 0.0]], k=2)
    >>> found.indices.tolist(), found.distances.tolist()
    ([[0, 1]], [[0.0, 1.0]])
    >>> found.boundary[0].tolist()  # as far as the second one
    [2]
    """

    def __init__(self, X: Any, metric: Any = "l2", *, algorithm: Any = "auto", memory: int = MEMORY) -> None:
        self.metric: Metric = as_metric(metric)
        self.algorithm = algorithm
        self.memory = check_memory(memory)
        self.X = as_rows(X, "X")
        self._check_given(self.X, "X")
        if self.X.shape[0] == 0:
            raise ValueError("An index needs at least one row, got none: X is empty.")
        self.metric = self.metric.fit(self.X)
        if self.metric.given and self.X.shape[0] != self.X.shape[1]:
            raise ValueError(
                f"metric='precomputed' needs the (n, n) distances between the rows, got shape {self.X.shape}."
            )
        self._backend: Backend = choose_backend(self.X, self.metric, algorithm, memory)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def algorithm_(self) -> str:
        """What a search runs: 'exact', 'tree', 'approximate' or 'brute'."""
        return self._backend.algorithm

    @property
    def recall_of_own_rows_(self) -> float:
        """Share of the true neighbors that a search finds: 1.0 if it is exact, else as measured on a sample of the rows.

        Queries from elsewhere may be served worse: see :meth:`measure_recall`.
        """
        return self._backend.recall

    @property
    def recall_(self) -> float:
        """Has another name, which says what was measured."""
        raise AttributeError(
            "recall_ is recall_of_own_rows_ now: it is measured on rows of the index. measure_recall(queries) measures "
            "that of other queries."
        )

    def measure_recall(self, queries: Any, k: int = 10) -> float:
        """Share of the true k nearest rows (any at the k-th distance counts) that a search finds for these queries.

        They are searched exactly too, which takes what exact search takes.
        """
        found = self.search(queries, k, ties=False).distances
        if not self._backend.approximate:
            return 1.0
        truth = Index(self.X, self.metric, algorithm="exact", memory=self.memory).search(
            queries, k, ties=False
        )
        return float((found <= truth.distances[:, -1:]).mean()) if len(found) else 1.0

    def __repr__(self) -> str:
        n, D = self.X.shape
        recall = "" if not self._backend.approximate else f", recall {self._backend.recall:.3f} of own rows"
        return f"<Index of {n:,} rows, {D:,} features, metric {self.metric.name!r}: {self.algorithm_} search{recall}>"

    def search(self, queries: Any, k: int, *, groups: Any = None, ties: bool = True) -> Neighbors:
        """The k nearest rows of each query.

        ``groups``: no neighbor comes from the query's own group. One array if the queries are the rows of the index
        (leave-one-out is ``np.arange(n)``; for folds give the number of each row's fold), else a pair of arrays, for the
        queries and for the rows.

        ``ties``: ``boundary`` of the answer has every row that is as far as the last one of a list, which may be many. If
        False it has some of them, to tell that there are any.
        """
        blocks = self.search_blocks(queries, k, groups=groups, ties=ties)
        return Neighbors.join([found for _, found in blocks], k)

    def search_blocks(
        self, queries: Any, k: int, *, groups: Any = None, ties: bool = True
    ) -> Iterator[tuple[slice, Neighbors]]:
        """The same, some queries at a time, so that lists and ties fit into ``memory``."""
        k = check_k(k, self.n_rows)
        Q = self._queries(queries)
        wanted = Wanted(k, np.inf, *self._groups(groups, Q.shape[0]))
        self._backend.expect(Q.shape[0])
        made_dense = is_sparse(Q) and not self._backend.takes_sparse
        each = 64 * k + 16 * (self.X.shape[1] if made_dense else min(self.X.shape[1], 4096))
        begin, expected = 0, 0.0
        while begin < Q.shape[0]:
            size = max(64 if expected < 64 else 8, int(self.memory // (each + COUNTED * expected)))
            if ties and begin == 0:
                size = min(size, self._first)
            part = slice(begin, min(begin + size, Q.shape[0]))
            counts = []
            for piece, found in self._lists(Q, part, wanted, ties):
                counts.append(found.boundary.counts)
                yield piece, found
            begin, expected = part.stop, float(np.concatenate(counts).mean()) if ties else 0.0

    @property
    def _first(self) -> int:
        """Queries to begin with."""
        return ALL_TIES if self._backend.rebuilds else FIRST

    def _lists(self, Q: Any, part: slice, wanted: Wanted, ties: bool) -> Iterator[tuple[slice, Neighbors]]:
        """The lists of a block of queries, in pieces whose ties fit into memory."""
        size = part.stop - part.start
        most = ALL_TIES if size == 1 else max(64, int(self.memory // (STORED * size)))
        most = most if ties else 1
        found = self._find(Q[part], replace(wanted.of(part), most_ties=most)).lists(wanted.k)
        counts = found.boundary.counts
        if ties and counts.max(initial=0) >= most:
            step = -(-size // 4)  # there may be more of them: again, fewer queries at a time
            for begin in range(part.start, part.stop, step):
                smaller = slice(begin, min(begin + step, part.stop))
                yield from self._lists(Q, smaller, wanted, ties)
            return
        for piece in _pieces(counts, max(4096, int(self.memory // COUNTED))):
            whole = piece == slice(0, size)
            yield (
                slice(part.start + piece.start, part.start + piece.stop),
                found if whole else found.part(piece),
            )

    def radius(self, queries: Any, radius: float, *, groups: Any = None) -> list[tuple[Array, Array]]:
        """All rows within a distance of each query: a pair (distances, indices) each, ordered by (distance, index)."""
        if not isinstance(radius, (int, float, np.number)) or np.isnan(radius):
            raise ParameterError("radius", radius, "a number")
        Q = self._queries(queries)
        wanted = Wanted(0, float(radius), *self._groups(groups, Q.shape[0]))
        self._backend.expect(Q.shape[0])
        lists = []
        for part in slices(Q.shape[0], self._first):  # what is within the radius is held twice for these only
            found = self._find(Q[part], wanted.of(part))
            ends = np.cumsum(found.counts)
            lists += [
                (found.distances[b - c : b], found.indices[b - c : b])
                for b, c in zip(ends, found.counts, strict=True)
            ]
        return lists

    def save(self, path: Any) -> None:
        """Write the index to one file (NumPy's npz; never half-written). Functions as metrics cannot be saved."""
        from nearline.neighbors.storage import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: Any) -> "Index":
        """An index from a file of :meth:`save`."""
        from nearline.neighbors.storage import load

        return load(Path(path))

    def _find(self, Q: Any, wanted: Wanted) -> Found:
        if is_sparse(Q) and not self._backend.takes_sparse:
            Q = Q.toarray()  # of a block: the rows of the index are dense
        if not self.metric.given:
            Q = self.metric.rows(Q)
        return self._backend.find(Q, wanted)

    def _check_given(self, rows: Any, name: str) -> None:
        if self.metric.given and is_sparse(rows):
            raise ValueError(
                f"metric='precomputed' needs a dense matrix of distances, but {name} is sparse, where what is not stored "
                "would count as distance 0: give an array."
            )

    def _queries(self, queries: Any) -> Any:
        Q = as_rows(queries, "queries")
        self._check_given(Q, "queries")
        if Q.shape[1] != self.X.shape[1]:
            raise ValueError(
                f"The rows of the index have {self.X.shape[1]} features, but the queries {Q.shape[1]}."
            )
        return Q

    def _groups(self, groups: Any, n_queries: int) -> tuple[Array, Array]:
        if groups is None:
            return NO_GROUPS, NO_GROUPS
        pair = groups if _is_pair(groups) else (groups, groups)
        own, others = (np.asarray(part) for part in pair)
        for part, n, name in ((own, n_queries, "queries"), (others, self.n_rows, "rows of the index")):
            if part.shape != (n,):
                raise ValueError(
                    f"groups must have one entry for each of the {n} {name}, got shape {part.shape}: give a pair "
                    "(groups of the queries, groups of the rows) where queries are not the rows."
                )
        codes = np.unique(np.concatenate([own, others]), return_inverse=True)[1].astype(np.int64)
        return np.ascontiguousarray(codes[:n_queries]), np.ascontiguousarray(codes[n_queries:])


def _is_pair(groups: Any) -> bool:
    """Whether groups are (those of the queries, those of the rows), not a tuple with the group of each row."""
    return isinstance(groups, tuple) and len(groups) == 2 and all(np.ndim(part) for part in groups)


def _pieces(counts: Array, most: int) -> list[slice]:
    """Consecutive lists with at most so many ties together, or one list that has more alone."""
    ends = np.cumsum(counts)
    pieces, begin = [], 0
    while begin < len(counts):
        before = ends[begin - 1] if begin else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), begin + 1)
        pieces.append(slice(begin, end))
        begin = end
    return pieces


__all__ = ["ALGORITHMS", "Index", "Neighbors", "as_rows", "check_k"]
