"""Everyday fits on small tables, in turns with scikit-learn: the same model, and a risk that is not above its.

python -m benchmarks.studies.everyday [--turns 15] [--only logistic] [--threads 2] [--cpu]
"""

import argparse
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.naive_bayes import GaussianNB as PeerBayes
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import nearline
from nearline import GaussianNB, KernelSVM, LinearSVM, LogisticRegression, Params
from nearline.kernels import RBF

SHAPES = [(100, 5, 2), (1000, 20, 2), (1000, 20, 10), (10_000, 50, 2), (300, 3000, 2)]
MODELS: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "logistic": (lambda D: LogisticRegression(), lambda D: PeerLogistic()),
    "linear svm": (lambda D: LinearSVM(), lambda D: LinearSVC()),
    "naive bayes": (lambda D: GaussianNB(), lambda D: PeerBayes()),
    "rbf svm": (lambda D: KernelSVM(kernel=RBF(1.0 / D)), lambda D: SVC(gamma=1.0 / D)),
}  # C = 1 is alpha = 1/n, the default of both
MOST_GRAM = 100_000  # numbers in X for which the kernel machine is run
Clock = Callable[[], float]


def rows(n: int, D: int, C: int) -> tuple[np.ndarray, np.ndarray]:
    informative = 4 if D <= 5 else 12
    X, y = make_classification(n, D, n_informative=informative, n_redundant=0, n_classes=C, random_state=0)
    return X, y


def in_turns(works: list[Callable[[], object]], turns: int, clock: Clock) -> list[float]:
    """The median time of each, in milliseconds."""
    took: list[list[float]] = [[] for _ in works]
    for turn in range(turns + 1):
        for work, times in zip(works, took):
            began = clock()
            work()
            if turn:  # the first warms up
                times.append(1e3 * (clock() - began))
    return [median(times) for times in took]


def excess(model: Any, peer: Any, X: np.ndarray, y: np.ndarray) -> str:
    """The peer's risk over ours, less 1; of linear models. LinearSVC penalizes its bias, so that it minimizes another."""
    if not isinstance(model, LogisticRegression):
        return ""
    risk = model.risk(X, y)
    theirs = risk.value(Params.of(peer.coef_, peer.intercept_))
    return f"{theirs / model.solution_.value - 1:+.0e}"


def cell(name: str, shape: tuple[int, int, int], turns: int, clock: Clock) -> None:
    """One line of the table."""
    X, y = rows(*shape)
    ours, theirs = (make(shape[1]) for make in MODELS[name])
    few = max(3, turns // 5) if X.size > 100_000 else turns
    fits = in_turns([lambda: ours.fit(X, y), lambda: theirs.fit(X, y)], few, clock)
    one, many = X[:1].copy(), X[:1000]
    single = in_turns([lambda: ours.predict(one), lambda: theirs.predict(one)], 20 * turns, clock)
    bulk = in_turns([lambda: ours.predict(many), lambda: theirs.predict(many)], turns, clock)
    columns = "  ".join(f"{a:8.3f} {b:8.3f} {b / a:5.2f}x" for a, b in (fits, single, bulk))
    print(f"{name:12} {'x'.join(map(str, shape)):>10}  {columns}  {excess(ours, theirs, X, y)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--only", choices=MODELS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--cpu", action="store_true", help="processor time in place of time, for a busy machine"
    )
    given = parser.parse_args()
    nearline.set_num_threads(given.threads)
    warnings.simplefilter("ignore")
    print(
        "milliseconds: nearline, scikit-learn, ratio; of fit, predict of one row, of up to 1,000 rows; excess risk"
    )
    with threadpool_limits(given.threads):
        for name in MODELS if given.only is None else [given.only]:
            for shape in SHAPES:
                if name != "rbf svm" or shape[0] * shape[1] <= MOST_GRAM:
                    cell(name, shape, given.turns, time.process_time if given.cpu else time.perf_counter)


if __name__ == "__main__":
    main()
