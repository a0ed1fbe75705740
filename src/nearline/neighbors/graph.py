"""Graph: an index (HNSW) of an existing library, whose effort is chosen so that recall is met."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._parallel.tiles import slices
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.backend import Backend
from nearline.neighbors.exact import Dense
from nearline.neighbors.graph_files import check_links, check_parts, faiss_library, stored_rows
from nearline.neighbors.lists import Found, Ragged
from nearline.neighbors.mapped import fingerprints
from nearline.neighbors.metrics import METRIC_TYPES, Metric
from nearline.neighbors.wanted import NO_GROUPS, NO_SIZES, Wanted, begin, finish, sizes_of

LINKS, BUILD_EFFORT = 16, 100  # links of a node, candidates looked at to choose them
SAMPLE = 512  # rows whose neighbors are also searched exactly, to choose the effort
KS = (
    1,
    5,
    10,
    20,
    50,
    100,
)  # lengths of lists for which it is chosen; longer lists take a proportional effort
LEAST, MOST = 16, 2048  # effort to begin with, and to end with: beyond it exact search is faster


class Graph(Backend):
    """Dense rows in an HNSW graph of FAISS (measured against usearch: searches 0.9 to 2.7 times as fast, mostly faster).

    Equal rows are one node: many of them would link to each other only, and cut the graph into pieces.
    """

    algorithm: ClassVar[str] = "approximate"
    approximate: ClassVar[bool] = True

    def __init__(self, X: Array, metric: Metric, target: Approximate, memory: int) -> None:
        _check_served(metric)
        self.metric, self.target = metric, target
        self._X, self._sizes = X, sizes_of(metric, X)
        equal = self._equal_rows()
        # Rows are easier to find for themselves than for others: the sample joins the graph after the effort is chosen.
        every = max(len(equal) // SAMPLE, 8)
        sample = np.arange(every - 1, len(equal), every)
        first = np.setdiff1d(np.arange(len(equal)), sample)
        self._nodes = equal.take(first)  # rows of each node of the graph
        self._graph = self._empty()
        self._add(self._nodes)
        self.efforts: dict[int, tuple[int, float]] = {}
        if len(sample):
            left = equal.take(sample)
            queries = X[left.values[left.starts[:-1]]]
            exact = Dense(X[self._nodes.values], metric, memory)
            exact.expect(len(queries))
            self._calibrate(np.ascontiguousarray(queries, dtype=np.float64), exact)
            self._nodes = equal.take(np.concatenate([first, sample]))
            self._add(left)

    @property
    def recall(self) -> float:
        """Measured on the sample, the lowest over KS."""
        return min((recall for _, recall in self.efforts.values()), default=1.0)

    def find(self, Q: Array, wanted: Wanted) -> Found:
        if not wanted.lists:
            raise ValueError(
                "Approximate search finds the k nearest rows, not those within a radius: take algorithm='exact'."
            )
        return self._search(np.ascontiguousarray(Q, dtype=np.float64), wanted, self._effort(wanted.k))

    def _search(self, Q: Array, wanted: Wanted, effort: int) -> Found:
        n, k = len(self._nodes), wanted.k
        lists: list[Any] = [None] * len(Q)
        open_, c = np.arange(len(Q)), min(k + 1, n)
        while len(open_):
            found = self._candidates(Q[open_], c, max(effort, c))
            left = []
            for i, nodes in zip(open_, found, strict=True):
                candidates = np.sort(self._nodes.take(nodes).values)
                if wanted.grouped:
                    candidates = candidates[wanted.others[candidates] != wanted.own[i]]
                if len(candidates) >= k or c >= n:
                    lists[i] = self._measured(Q[i : i + 1], candidates, k)
                else:
                    left.append(i)
            # Past a fourth of the rows, all of them are as fast.
            open_, c = np.array(left, dtype=np.int64), n if 2 * c > n // 4 else 2 * c
        return Found.join(lists) if lists else _nothing()

    def _candidates(self, Q: Array, c: int, effort: int) -> list[Array]:
        """About c nodes near each query."""
        if c >= len(self._nodes):
            return [np.arange(len(self._nodes))] * len(Q)
        faiss = faiss_library()
        with _threads(faiss):
            keys = self._graph.search(self._points(Q), c, params=faiss.SearchParametersHNSW(efSearch=effort))[
                1
            ]
        return [row[row >= 0] for row in keys]

    def _measured(self, q: Array, candidates: Array, k: int) -> Found:
        """The core measures the candidates; as they come by rising index, it orders them by (distance, index)."""
        search = begin(self.metric, Wanted(k), q)
        sizes = self._sizes[candidates] if len(self._sizes) else NO_SIZES
        search.scan_all(self._X[candidates], sizes, NO_GROUPS)
        found = finish(search, 1)
        ties = Ragged(found.ties.starts, candidates[found.ties.values])
        return Found(found.counts, found.distances, candidates[found.indices], ties)

    def _effort(self, k: int) -> int:
        """What was chosen for the next longer lists; in proportion beyond the longest."""
        longer = [effort for length, (effort, _) in self.efforts.items() if length >= k]
        if longer:
            return longer[0]
        length, (effort, _) = max(self.efforts.items(), default=(k, (max(k, LEAST), 1.0)))
        return -(-effort * k // length)

    def _calibrate(self, Q: Array, exact: Dense) -> None:
        """Choose, for lists of each length, the smallest effort (within a factor of about 1.4) that reaches the target.

        Where the largest effort does not, longer lists are not tried with more.
        """
        most, target = min(MOST, len(self._nodes)), self.target.recall
        n_rows = len(self._nodes.values)
        lengths = [k for k in KS if k <= n_rows] or [n_rows]
        truth = exact.find(Q, Wanted(lengths[-1])).lists(lengths[-1]).distances
        effort = LEAST
        for k in lengths:
            effort = max(effort, k)
            recall = self._measured_recall(Q, truth, k, effort)
            while recall < target and effort < most:
                effort = min(2 * effort, most)
                recall = self._measured_recall(Q, truth, k, effort)
                between = int(effort / 2**0.5)
                if recall >= target and (less := self._measured_recall(Q, truth, k, between)) >= target:
                    effort, recall = between, less
            self.efforts[k] = effort, recall
        if self.recall < target:
            warnings.warn(
                f"Approximate search reaches a recall of {self.recall:.3f}, not {target}, with the largest effort that can "
                "pay: take algorithm='exact'.",
                stacklevel=2,
            )

    def _measured_recall(self, Q: Array, truth: Array, k: int, effort: int) -> float:
        """Share of the true k nearest rows (any at the k-th distance counts) among those found."""
        found = self._search(Q, Wanted(k), effort).lists(k)
        return float((found.distances <= truth[:, k - 1 : k]).mean())

    def _equal_rows(self) -> Ragged:
        """Rows that are equal to the graph, as lists."""
        parts = [fingerprints(self._points(self._X[part])) for part in slices(len(self._X), 65536)]
        number = np.unique(np.concatenate(parts), return_inverse=True)[1]
        first = np.unique(number, return_index=True)[1]
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))  # in the order in which they come
        counts = np.bincount(place[number], minlength=len(first))
        return Ragged(np.concatenate([[0], np.cumsum(counts)]), np.argsort(place[number], kind="stable"))

    def _points(self, A: Array) -> Array:
        """Rows as the graph measures them, float32."""
        return self.metric.points(np.ascontiguousarray(A, dtype=np.float32))

    def _empty(self) -> Any:
        faiss = faiss_library()
        kind = faiss.METRIC_INNER_PRODUCT if self.metric.by_product else faiss.METRIC_L2
        graph = faiss.IndexHNSWFlat(self._X.shape[1], LINKS, kind)
        graph.hnsw.efConstruction = BUILD_EFFORT
        return graph

    def _add(self, nodes: Ragged) -> None:
        rows = nodes.values[nodes.starts[:-1]]
        with _threads(faiss_library()):
            for begin in range(0, len(rows), 65536):
                self._graph.add(self._points(self._X[rows[begin : begin + 65536]]))

    def arrays(self) -> dict[str, Array]:
        """All that took time to make."""
        efforts = np.array([(k, effort, recall) for k, (effort, recall) in self.efforts.items()]).reshape(
            -1, 3
        )
        nodes = {"rows": self._nodes.values, "starts": self._nodes.starts}
        return {"nodes": faiss_library().serialize_index(self._graph), **nodes, "efforts": efforts}

    @classmethod
    def restored(cls, X: Array, metric: Metric, target: Approximate, arrays: dict[str, Array]) -> "Graph":
        """From rows and :meth:`arrays`, which must fit together."""
        _check_served(metric)
        check_parts(X, arrays)
        graph = cls.__new__(cls)
        graph.__setstate__({"_X": X, "metric": metric, "target": target, **arrays})
        graph._check_graph()
        return graph

    def _check_graph(self) -> None:
        """Refuse a graph of other rows: FAISS would read beyond its memory."""
        graph = self._graph
        kind = self._empty().metric_type
        if not isinstance(graph, faiss_library().IndexHNSWFlat) or graph.metric_type != kind:
            raise ValueError("the graph is of another kind")
        if (graph.ntotal, graph.d) != (len(self._nodes), self._X.shape[1]):
            raise ValueError(f"the graph is of {graph.ntotal} rows with {graph.d} features")
        stored, rows = stored_rows(graph), self._nodes.values[self._nodes.starts[:-1]]
        for part in slices(len(stored), 65536):
            # Lengths, which cosine divides by, may differ between machines in the last bit.
            if not np.allclose(stored[part], self._points(self._X[rows[part]]), rtol=1e-5, atol=0.0):
                raise ValueError("the graph is of other rows")
        check_links(graph)

    def __getstate__(self) -> dict[str, Any]:
        return {"_X": self._X, "metric": self.metric, "target": self.target, **self.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._X, self.metric, self.target = state["_X"], state["metric"], state["target"]
        rows = state["rows"]
        starts = state.get("starts", np.arange(len(rows) + 1))  # files of old have a node for each row
        self._nodes, self._sizes = Ragged(starts, rows), sizes_of(self.metric, self._X)
        self._graph = faiss_library().deserialize_index(state["nodes"])
        self.efforts = {int(k): (int(effort), float(recall)) for k, effort, recall in state["efforts"]}


def _check_served(metric: Metric) -> None:
    if not metric.in_graph:
        served = ", ".join(repr(kind.name) for kind in METRIC_TYPES if kind.in_graph)
        raise ValueError(
            f"Approximate search serves {served}, but not metric {metric.name!r}: take algorithm='exact'."
        )


@contextmanager
def _threads(faiss: Any) -> Iterator[None]:
    """FAISS on as many threads as our own limit allows."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(_core.thread_limit())
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _nothing() -> Found:
    none = np.empty(0, dtype=np.int64)
    return Found(none, np.empty(0), none, Ragged(np.zeros(1, dtype=np.int64), none))
