"""Which library's HNSW graph serves approximate search: build, search and recall at k = 10, two threads.

python -m benchmarks.bench_hnsw [rows]
"""

import sys
import time
from collections.abc import Callable

import faiss
import numpy as np
from usearch.index import Index as Usearch

from benchmarks.data import load
from nearline.neighbors.index import Index

LINKS, BUILD_EFFORT, THREADS, K = 16, 100, 2, 10


def graph_of_faiss(X: np.ndarray) -> Callable[[np.ndarray, int], np.ndarray]:
    faiss.omp_set_num_threads(THREADS)
    graph = faiss.IndexHNSWFlat(X.shape[1], LINKS)
    graph.hnsw.efConstruction = BUILD_EFFORT
    graph.add(X)
    return lambda Q, effort: graph.search(Q, K, params=faiss.SearchParametersHNSW(efSearch=effort))[1]


def graph_of_usearch(X: np.ndarray) -> Callable[[np.ndarray, int], np.ndarray]:
    graph = Usearch(
        ndim=X.shape[1], metric="l2sq", dtype="f32", connectivity=LINKS, expansion_add=BUILD_EFFORT
    )
    graph.add(np.arange(len(X)), X, threads=THREADS)

    def search(Q: np.ndarray, effort: int) -> np.ndarray:
        graph.expansion_search = effort
        return np.asarray(graph.search(Q, K, threads=THREADS).keys)

    return search


def noise(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((64, 256))
    X = (rng.standard_normal((rows + 1000, 64)) @ A + 0.3 * rng.standard_normal((rows + 1000, 256))).astype(
        "f4"
    )
    return X[:-1000], X[-1000:]


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    images = load("fashion", rows, "float32")
    print("data      library   build s  effort  search s  recall")
    for name, (X, Q) in {"images": (images.X, images.X_test[:1000]), "64-d": noise(rows)}.items():
        truth = Index(X, algorithm="exact").search(Q, K).indices
        for library, build in (("faiss", graph_of_faiss), ("usearch", graph_of_usearch)):
            begin = time.perf_counter()
            search = build(X)
            built = time.perf_counter() - begin
            for effort in (16, 32, 64, 128):
                begin = time.perf_counter()
                found = search(Q, effort)
                seconds = time.perf_counter() - begin
                recall = np.mean([len(np.intersect1d(a, b)) / K for a, b in zip(found, truth, strict=True)])
                print(
                    f"{name:9s} {library:8s} {built:8.2f} {effort:7d} {seconds:9.3f} {recall:7.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
