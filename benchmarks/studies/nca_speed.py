"""How fast a distance is learned: MetricLearner beside scikit-learn's NeighborhoodComponentsAnalysis, at equal accuracy.

python -m benchmarks.studies.nca_speed [--json FILE] [--only digits]

Both learn a linear map of as many dimensions from all rows; what counts is the accuracy of five neighbors, leave-one-out, in
the map. scikit-learn's is as it is constructed (at most 50 iterations). nearline's, without weight decay as well, learns as
many rounds of ten iterations as it takes to be as good, found beforehand; then both are timed, in turn, best of three, on one
thread.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.studies.learned_metrics import Rows, covertype, fashion, splice
from nearline import MetricLearner, num_threads, sweep

ROUNDS = range(1, 9)


def first(rows: Rows, n: int) -> Rows:
    chosen = np.random.default_rng(0).permutation(len(rows[1]))[:n]
    return rows[0][chosen], rows[1][chosen]


# rows, whether columns are brought to variance 1, and dimensions
SETS: dict[str, tuple[Callable[[], Rows], bool, int]] = {
    "wine": (lambda: load_wine(return_X_y=True), True, 13),
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), True, 30),
    "digits": (lambda: load_digits(return_X_y=True), False, 32),
    "splice": (lambda: first(splice(), 2000), False, 32),
    "covertype": (lambda: first(covertype(), 2000), True, 10),
    "Fashion-MNIST": (lambda: first(fashion(), 1500), False, 32),
}


def left_one_out(Z: np.ndarray, y: np.ndarray) -> float:
    """Accuracy of five neighbors, each row left out in turn."""
    found = sweep(Z, y, ks=[5], metrics=["l2"], weights=["uniform"], folds="leave-one-out")
    return float(found.scores.mean())


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def meeting(name: str) -> dict[str, Any]:
    """Times and accuracies on one set."""
    make, scaled, dim = SETS[name]
    X, y = make()
    X = np.ascontiguousarray(StandardScaler().fit_transform(X) if scaled else X, dtype=np.float64)
    dim = min(dim, X.shape[1])
    theirs = NeighborhoodComponentsAnalysis(dim, random_state=0)
    wanted = left_one_out(theirs.fit_transform(X, y), y)
    reached, rounds, ours = 0.0, 0, MetricLearner("nca", dim=dim)
    for rounds in ROUNDS:
        ours = MetricLearner("nca", dim=dim, rounds=rounds, weight_decay=0.0)
        reached = left_one_out(ours.fit_transform(X, y), y)
        if reached >= wanted:
            break
    times = np.array([[seconds(lambda m=m: m.fit(X, y)) for m in (ours, theirs)] for _ in range(3)])
    mine, other = times.min(axis=0)
    return {
        "shape": list(X.shape), "dim": dim, "rounds": rounds, "nearline": mine, "scikit-learn": other,
        "accuracy": reached, "scikit-learn accuracy": wanted,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=list(SETS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    print(
        "| set | rows x features | nearline | scikit-learn | ratio | leave-one-out |\n|---|---|---|---|---|---|"
    )
    with num_threads(1), threadpool_limits(1):
        for name in options.only:
            one = found[name] = meeting(name)
            print(
                f"| {name} | {one['shape'][0]:,} x {one['shape'][1]} | {one['nearline']:.3f} s | "
                f"{one['scikit-learn']:.3f} s | {one['scikit-learn'] / one['nearline']:.1f}x | "
                f"{one['accuracy']:.4f}, {one['scikit-learn accuracy']:.4f} |",
                flush=True,
            )
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
