"""What surrounds the work and must stay small beside it: votes beside their search, files, checks for leaks.

python -m benchmarks.bench_small_costs [--repeats 5]
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from nearline import METRICS, Index, KNeighborsClassifier, NearestCentroid, Temperature, check, load, save


def best(work: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of several turns."""
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def votes(repeats: int) -> None:
    """10,000 queries among 10,000 rows, k = 10."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_000, 3)), rng.integers(0, 10, 10_000)
    search = best(lambda: Index(X, metric=METRICS["l2"]).search(X, 10), repeats)
    for weights in ("uniform", "distance", Temperature(1.0)):
        model = KNeighborsClassifier(10, weights=weights).fit(X, y)
        whole = best(lambda model=model: model.predict(X), repeats)
        print(f"votes, {weights}: search {search:.3f} s, predict {whole:.3f} s")


def files(repeats: int) -> None:
    """A model of half a megabyte, saved and loaded."""
    rng = np.random.default_rng(0)
    model = NearestCentroid().fit(rng.normal(size=(40, 6250)), np.arange(40) % 10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nearline"
        print(
            f"save {best(lambda: save(model, path), repeats):.4f} s, load {best(lambda: load(path), repeats):.4f} s"
        )


def leaks(repeats: int) -> None:
    """10,000 rows of 784 features."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_000, 784)), rng.integers(0, 10, 10_000)
    print(f"check for leaks: {best(lambda: check(X, y), repeats):.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    for measure in (votes, files, leaks):
        measure(repeats)


if __name__ == "__main__":
    main()
