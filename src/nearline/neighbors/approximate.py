"""Approximate: a graph index (HNSW) of an existing library, whose effort is chosen so that recall is met (SPEC F8)."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline import _core
from nearline.arrays import Array, is_sparse
from nearline.neighbors.exact import Dense
from nearline.neighbors.lists import Found, Ragged
from nearline.neighbors.metrics import Metric
from nearline.neighbors.wanted import NO_GROUPS, NO_SIZES, Wanted, begin, finish
from nearline.tiles import slices

GRAPH_METRICS = ("l2", "squared-l2", "cosine", "inner-product")
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
LEAST = 16  # effort to begin with


@dataclass(frozen=True)
class Approximate:
    """Approximate search with a target for its recall: the mean share of the true k nearest rows that are found.

    The effort of the search is the smallest that reaches the target on a sample of rows, which are held out of the graph
    for that time and searched exactly too; the recall measured there is ``index.recall_``.
    Distances are measured exactly and lists are ordered by (distance, index) as always; ``boundary`` has the ties among
    the rows that were looked at. It needs ``nearline[approximate]``.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.neighbors.approximate import Approximate
    >>> from nearline.neighbors.index import Index
    >>> X = np.random.default_rng(0).normal(size=(2000, 32))
    >>> index = Index(X, algorithm=Approximate(recall=0.9))  # doctest: +SKIP
    >>> index.recall_ >= 0.9  # doctest: +SKIP
    True
    """

    recall: float = 0.95

    def __post_init__(self) -> None:
        if not (isinstance(self.recall, (int, float)) and 0.0 < self.recall < 1.0):
            raise ValueError(
                f"recall must be above 0 and below 1, got {self.recall!r}: for recall 1 take algorithm='exact'."
            )


class Graph:
    """Dense rows in an HNSW graph of FAISS (measured against usearch: searches 0.9 to 2.7 times as fast, mostly faster)."""

    def __init__(self, X: Array, metric: Metric, target: Approximate, memory: int) -> None:
        _check_served(metric)
        self.metric, self.target = metric, target
        self._X, self._sizes = X, _sizes(X, metric)
        # Rows are easier to find for themselves than for others: the sample joins the graph after the effort is chosen.
        every = max(len(X) // SAMPLE, 8)
        sample = np.arange(every - 1, len(X), every)
        first = np.setdiff1d(np.arange(len(X)), sample)
        self._rows = first  # of the nodes of the graph
        self._graph = self._empty()
        self._add(first)
        self.efforts: dict[int, tuple[int, float]] = {}
        if len(sample):
            self._calibrate(
                np.ascontiguousarray(X[sample], dtype=np.float64), Dense(X[first], metric, memory)
            )
            self._rows = np.concatenate([first, sample])
            self._add(sample)

    @property
    def algorithm(self) -> str:
        return "approximate"

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
        n, k = len(self._rows), wanted.k
        lists: list[Any] = [None] * len(Q)
        open_, c = np.arange(len(Q)), min(k + 1, n)
        while len(open_):
            keys, counts = self._candidates(Q[open_], c, max(effort, c))
            left = []
            for i, row, count in zip(open_, keys, counts, strict=True):
                candidates = np.sort(row[:count])
                if wanted.grouped:
                    candidates = candidates[wanted.others[candidates] != wanted.own[i]]
                if len(candidates) >= min(k, n) or c >= n:
                    lists[i] = self._measured(Q[i : i + 1], candidates, k)
                else:
                    left.append(i)
            # Past a fourth of the rows, all of them are as fast.
            open_, c = np.array(left, dtype=np.int64), n if 2 * c > n // 4 else 2 * c
        return Found.join(lists) if lists else _nothing()

    def _candidates(self, Q: Array, c: int, effort: int) -> tuple[Array, Array]:
        if c >= len(self._rows):
            return np.broadcast_to(self._rows, (len(Q), len(self._rows))), np.full(len(Q), len(self._rows))
        faiss = _faiss()
        with _threads(faiss):
            keys = self._graph.search(self._points(Q), c, params=faiss.SearchParametersHNSW(efSearch=effort))[
                1
            ]
        return self._rows[keys], (keys >= 0).sum(axis=1)

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
        """Choose, for lists of each length, the smallest effort (within a factor of about 1.4) that reaches the target."""
        n, target = len(self._rows), self.target.recall
        lengths = [k for k in KS if k <= n] or [n]
        truth = exact.find(Q, Wanted(lengths[-1])).lists(lengths[-1]).distances
        effort = LEAST
        for k in lengths:
            effort = max(effort, k)
            recall = self._measured_recall(Q, truth, k, effort)
            while recall < target and effort < n:
                effort = min(2 * effort, n)
                recall = self._measured_recall(Q, truth, k, effort)
                between = int(effort / 2**0.5)
                if recall >= target and (less := self._measured_recall(Q, truth, k, between)) >= target:
                    effort, recall = between, less
            self.efforts[k] = effort, recall
        if self.recall < target:
            warnings.warn(
                f"Approximate search reaches a recall of {self.recall:.3f}, not {target}, even with the largest effort: "
                "take algorithm='exact'.",
                stacklevel=2,
            )

    def _measured_recall(self, Q: Array, truth: Array, k: int, effort: int) -> float:
        """Share of the true k nearest rows (any at the k-th distance counts) among those found."""
        found = self._search(Q, Wanted(k), effort).lists(k)
        return float((found.distances <= truth[:, k - 1 : k]).mean())

    def _points(self, A: Array) -> Array:
        """Rows as the graph measures them, float32."""
        A = np.ascontiguousarray(A, dtype=np.float32)
        if self.metric.core == "cosine":
            sizes = np.linalg.norm(A, axis=1, keepdims=True)
            A = A / np.where(sizes > 0, sizes, 1.0).astype(np.float32)
        return A

    def _empty(self) -> Any:
        faiss = _faiss()
        kind = faiss.METRIC_INNER_PRODUCT if self.metric.core == "inner-product" else faiss.METRIC_L2
        graph = faiss.IndexHNSWFlat(self._X.shape[1], LINKS, kind)
        graph.hnsw.efConstruction = BUILD_EFFORT
        return graph

    def _add(self, rows: Array) -> None:
        with _threads(_faiss()):
            for begin in range(0, len(rows), 65536):
                self._graph.add(self._points(self._X[rows[begin : begin + 65536]]))

    def arrays(self) -> dict[str, Array]:
        """All that took time to make."""
        efforts = np.array([(k, effort, recall) for k, (effort, recall) in self.efforts.items()]).reshape(
            -1, 3
        )
        return {"nodes": _faiss().serialize_index(self._graph), "rows": self._rows, "efforts": efforts}

    @classmethod
    def restored(cls, X: Array, metric: Metric, target: Approximate, arrays: dict[str, Array]) -> "Graph":
        """From rows and :meth:`arrays`, which must fit together."""
        _check_served(metric)
        _check_parts(X, arrays)
        graph = cls.__new__(cls)
        graph.__setstate__({"_X": X, "metric": metric, "target": target, **arrays})
        graph._check_graph()
        return graph

    def _check_graph(self) -> None:
        """Refuse a graph of other rows: FAISS would read beyond its memory."""
        graph = self._graph
        kind = self._empty().metric_type
        if not isinstance(graph, _faiss().IndexHNSWFlat) or graph.metric_type != kind:
            raise ValueError("the graph is of another kind")
        if (graph.ntotal, graph.d) != self._X.shape:
            raise ValueError(f"the graph is of {graph.ntotal} rows with {graph.d} features")
        stored = _stored(graph)
        for part in slices(len(stored), 65536):
            # Lengths, which cosine divides by, may differ between machines in the last bit.
            if not np.allclose(stored[part], self._points(self._X[self._rows[part]]), rtol=1e-5, atol=0.0):
                raise ValueError("the graph is of other rows")
        _check_links(graph)

    def __getstate__(self) -> dict[str, Any]:
        return {"_X": self._X, "metric": self.metric, "target": self.target, **self.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._X, self.metric, self.target = state["_X"], state["metric"], state["target"]
        self._rows, self._sizes = state["rows"], _sizes(self._X, self.metric)
        self._graph = _faiss().deserialize_index(state["nodes"])
        self.efforts = {int(k): (int(effort), float(recall)) for k, effort, recall in state["efforts"]}


def _check_served(metric: Metric) -> None:
    if metric.name not in GRAPH_METRICS:
        raise ValueError(
            f"Approximate search serves {', '.join(map(repr, GRAPH_METRICS))}, but not metric {metric.name!r}: "
            "take algorithm='exact'."
        )


def _check_parts(X: Any, arrays: dict[str, Array]) -> None:
    nodes, rows, efforts = (arrays[name] for name in ("nodes", "rows", "efforts"))
    if is_sparse(X):
        raise ValueError("a graph is of dense rows")
    if nodes.dtype != np.uint8 or nodes.ndim != 1:
        raise ValueError(f"the graph is of type {nodes.dtype} and shape {nodes.shape}")
    if rows.dtype != np.int64 or not np.array_equal(np.sort(rows, axis=None), np.arange(len(X))):
        raise ValueError(f"the nodes of the graph are not the {len(X)} rows")
    if efforts.dtype != np.float64 or efforts.ndim != 2 or efforts.shape[1] != 3:
        raise ValueError(f"the efforts are of type {efforts.dtype} and shape {efforts.shape}")
    if not (np.isfinite(efforts).all() and (efforts[:, :2] >= 1).all() and (efforts >= 0).all()):
        raise ValueError("an effort is no number >= 1")


def _stored(graph: Any) -> Array:
    """The rows that a graph has kept, (n, D) float32."""
    flat = _faiss().downcast_index(graph.storage)
    size = graph.ntotal * graph.d
    if not isinstance(flat, _faiss().IndexFlat) or flat.codes.size() != 4 * size:
        raise ValueError("the graph has not kept its rows")
    return np.asarray(_faiss().rev_swig_ptr(flat.get_xb(), size)).reshape(-1, graph.d)


def _check_links(graph: Any) -> None:
    """Links lead to nodes: FAISS follows them without a look."""
    hnsw, n = graph.hnsw, graph.ntotal
    levels, offsets, links = (
        _faiss().vector_to_array(part) for part in (hnsw.levels, hnsw.offsets, hnsw.neighbors)
    )
    widths = _faiss().vector_to_array(hnsw.cum_nneighbor_per_level)
    right = (
        len(levels) == n
        and len(offsets) == n + 1
        and (levels >= 1).all()
        and (widths[:1] == 0).all()
        and (np.diff(widths) > 0).all()
        and levels.max(initial=1) < len(widths)
        and np.array_equal(np.diff(offsets.astype(np.int64)), widths[levels])
        and (offsets[0], offsets[-1]) == (0, len(links))
        and ((links >= -1) & (links < n)).all()
        and 0 <= hnsw.entry_point < n
        and hnsw.max_level == levels.max(initial=1) - 1 == levels[hnsw.entry_point] - 1
    )
    if not right:
        raise ValueError("the links of the graph are damaged")


def _sizes(X: Array, metric: Metric) -> Array:
    """What the core needs to know of rows under cosine: their lengths."""
    if metric.core != "cosine":
        return NO_SIZES
    sizes = np.empty(len(X))
    _core.row_lengths(X, sizes)
    return sizes


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ImportError("Approximate search needs FAISS: pip install 'nearline[approximate]'") from error
    return faiss


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
