"""Approximate neighbors by HNSW graphs: build, search and recall at k = 10."""

import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import FAISS, NEARLINE, USEARCH

LINKS, BUILD_EFFORT, THREADS, K = 16, 100, 2, 10
EFFORTS = (16, 32, 64, 128)
RECALL = 0.95
QUERIES = 1000

Search = Callable[[np.ndarray, int], np.ndarray]


@lru_cache(maxsize=2)
def rows(data: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Images, or noise around 64 dimensions of 256."""
    if data == "images":
        from benchmarks.data import load

        split = load("fashion", n, "float32")
        return split.X, split.X_test[:QUERIES]
    rng = np.random.default_rng(0)
    latent, mixing = rng.standard_normal((n + QUERIES, 64)), rng.standard_normal((64, 256))
    X = (latent @ mixing + 0.3 * rng.standard_normal((n + QUERIES, 256))).astype(np.float32)
    return X[:n], X[n:]


@lru_cache(maxsize=2)
def truth(data: str, n: int) -> np.ndarray:
    from nearline import Index

    X, Q = rows(data, n)
    return np.asarray(Index(X, algorithm="exact").search(Q, K).indices)


def of_faiss(X: np.ndarray) -> Search:
    import faiss

    faiss.omp_set_num_threads(THREADS)
    graph = faiss.IndexHNSWFlat(X.shape[1], LINKS)
    graph.hnsw.efConstruction = BUILD_EFFORT
    graph.add(X)
    return lambda Q, effort: graph.search(Q, K, params=faiss.SearchParametersHNSW(efSearch=effort))[1]


def of_usearch(X: np.ndarray) -> Search:
    from usearch.index import Index as Usearch

    settings = {"metric": "l2sq", "dtype": "f32", "connectivity": LINKS, "expansion_add": BUILD_EFFORT}
    graph = Usearch(ndim=X.shape[1], **settings)
    graph.add(np.arange(len(X)), X, threads=THREADS)

    def search(Q: np.ndarray, effort: int) -> np.ndarray:
        graph.expansion_search = effort
        return np.asarray(graph.search(Q, K, threads=THREADS).keys)

    return search


def of_nearline(X: np.ndarray) -> Search:
    from nearline import Approximate, Index

    index = Index(X, algorithm=Approximate(recall=RECALL))
    return lambda Q, effort: index.search(Q, K).indices


BUILDERS: dict[str, Callable[[np.ndarray], Search]] = {
    "nearline": of_nearline,
    "faiss": of_faiss,
    "usearch": of_usearch,
}


@lru_cache(maxsize=2)
def built(library: str, data: str, n: int) -> tuple[Search, float]:
    began = time.perf_counter()
    search = BUILDERS[library](rows(data, n)[0])
    return search, time.perf_counter() - began


def prepare(library: str, data: str, n: int) -> None:
    built(library, data, n)


def searched(library: str, data: str, n: int, effort: int) -> Outcome:
    (search, seconds), Q = built(library, data, n), rows(data, n)[1]
    began = time.perf_counter()
    found = search(Q, effort)
    taken = time.perf_counter() - began
    return Outcome(taken, {"found": np.asarray(found).tolist(), "build": seconds})


def judge(data: str, n: int) -> Callable[[Outcome], Verdict]:
    def recalled(outcome: Outcome) -> Verdict:
        pairs = zip(outcome.facts["found"], truth(data, n), strict=True)
        recall = float(np.mean([len(np.intersect1d(a, b)) / K for a, b in pairs]))
        quality = {"recall": f"{recall:.3f}", "build": f"{outcome.facts['build']:.2f} s"}
        return Verdict(recall >= RECALL, quality)

    return recalled


def heats(session: Session) -> Iterator[Heat]:
    n = session.options.rows(30_000, 500) or 0
    for data in ("images", "64-d"):
        entries = [_entry("nearline Approximate(0.95)", "nearline", data, n, 0, NEARLINE)]
        for library, home in (("faiss", FAISS), ("usearch", USEARCH)):
            entries += [_entry(f"{library}, effort {e}", library, data, n, e, home) for e in EFFORTS]
        title = f"graphs, {data}, {n} rows, {QUERIES} queries, k = {K}"
        yield Heat(title, f"recall >= {RECALL}; the build is not on the clock", entries)


def _entry(name: str, library: str, data: str, n: int, effort: int, home: Any) -> Entry:
    task, ready = partial(searched, library, data, n, effort), partial(prepare, library, data, n)
    return Entry(name, task, judge(data, n), home, library == "nearline", prepare=ready)


CONTESTS = (Contest("graphs", "approximate neighbors by graphs", "as fast as the best library", heats),)
