"""Where a k-d tree beats exact search behind bounds: build and 10,000 queries, k = 10, two threads.

python -m benchmarks.bench_tree [--quick]
"""

import argparse
import time

import numpy as np

import nearline
from nearline.neighbors.exact import Dense
from nearline.neighbors.metrics import METRICS, Lq
from nearline.neighbors.tree import Tree, tree_pays
from nearline.neighbors.wanted import Wanted

MEMORY = 256 * 2**20


def rows_of(kind: str, n: int, D: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "uniform":
        return rng.random((n, D))
    centers = rng.random((50, D))
    return centers[rng.integers(50, size=n)] + 0.02 * rng.standard_normal((n, D))


def seconds(backend: type, X: np.ndarray, Q: np.ndarray, metric, repeats: int) -> tuple[float, object]:
    best, found = np.inf, None
    for _ in range(repeats):
        begin = time.perf_counter()
        found = backend(X, metric, MEMORY).find(Q, Wanted(10))
        best = min(best, time.perf_counter() - begin)
    return best, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--kinds", nargs="*", default=["uniform", "clustered"])
    arguments = parser.parse_args()
    quick = arguments.quick
    sizes = (1_000, 20_000, 200_000) if quick else (1_000, 10_000, 100_000, 500_000)
    dimensions = (1, 2, 3, 4, 6, 8, 12) if quick else (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24)
    rng = np.random.default_rng(0)
    print("kind       metric      n        D   tree s   exact s  exact/tree  rule")
    with nearline.num_threads(2):
        for kind in arguments.kinds:
            for metric in (METRICS["l2"], METRICS["l1"], METRICS["l-infinity"], Lq(3)):
                for n in sizes:
                    for D in dimensions:
                        X, Q = rows_of(kind, n, D, rng), rows_of(kind, 10_000, D, rng)
                        repeats = 2 if n <= 20_000 else 1
                        exact, a = seconds(Dense, X, Q, metric, repeats)
                        tree, b = seconds(Tree, X, Q, metric, repeats)
                        same = np.array_equal(a.distances, b.distances) and np.array_equal(
                            a.indices, b.indices
                        )
                        if not same:
                            raise AssertionError(f"answers differ: {kind}, {metric}, n = {n}, D = {D}")
                        rule = "tree" if tree_pays(n, D, metric) else "exact"
                        print(
                            f"{kind:10s} {metric.name:10s} {n:7d} {D:3d}",
                            f"{tree:8.3f} {exact:8.3f}  {exact / tree:8.2f}  {rule}",
                            flush=True,
                        )
                        if tree > 2 * exact and D >= 4:
                            break  # larger D is no better for the tree


if __name__ == "__main__":
    main()
