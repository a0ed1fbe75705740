"""Learning a distance: MetricLearner against scikit-learn's neighborhood components analysis."""

import resource
import time
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.data import load
from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, SKLEARN

SLACK = 0.002  # of leave-one-out accuracy


@lru_cache(maxsize=2)
def rows(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Digits with columns of variance 1, or images of clothes."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        spread = X.std(axis=0)
        return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:n], y[:n]
    split = load("fashion", n, "float32")
    return split.X, split.y


def left_out(Z: np.ndarray, y: np.ndarray) -> float:
    """Accuracy of the five nearest neighbors of each row, itself not among them."""
    from nearline import Index

    near = Index(Z).search(Z, 5, groups=np.arange(len(Z)), ties=False).indices
    votes = np.stack([(y[near] == c).sum(axis=1) for c in np.unique(y)], axis=1)
    return float((np.unique(y)[votes.argmax(axis=1)] == y).mean())


def learner(library: str, dim: int, rounds: int | None) -> Any:
    if library == "nearline":
        from nearline import MetricLearner

        return MetricLearner("nca", dim, start="pca", rounds=rounds)
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    return NeighborhoodComponentsAnalysis(dim, init="pca", random_state=0)


def learned(library: str, name: str, n: int, dim: int, rounds: int | None = None) -> Outcome:
    X, y = rows(name, n)
    model = learner(library, dim, rounds)
    began = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Outcome(seconds, {"accuracy": left_out(model.transform(X), y), "peak": peak})


def as_good(bar: float, outcome: Outcome) -> Verdict:
    accuracy = outcome.facts["accuracy"]
    quality = {"leave-one-out accuracy": f"{accuracy:.4f}", "peak memory, GB": f"{outcome.facts['peak']:.2f}"}
    return Verdict(accuracy >= bar - SLACK, quality)


def heats(session: Session) -> Iterator[Heat]:
    for n, dim in ((session.options.rows(600, 200) or 0, 16), (session.options.rows(1797, 300) or 0, 32)):
        theirs = session.pool.call(SKLEARN, partial(learned, "scikit-learn", "digits", n, dim), 600)
        judge = partial(as_good, theirs.facts["accuracy"])
        entries = [
            Entry(
                "MetricLearner, 1 round",
                partial(learned, "nearline", "digits", n, dim, 1),
                judge,
                NEARLINE,
                ours=True,
            ),
            Entry(
                "MetricLearner, rounds by held-out rows",
                partial(learned, "nearline", "digits", n, dim),
                judge,
                NEARLINE,
            ),
            Entry("scikit-learn NCA", partial(learned, "scikit-learn", "digits", n, dim), judge, SKLEARN),
        ]
        yield Heat(f"digits, {n} rows x 64 to {dim}", "scikit-learn's leave-one-out accuracy", entries)
    n = session.options.rows(20_000, 500) or 0
    task = partial(learned, "nearline", "fashion", n, 32)
    own = Entry("MetricLearner", task, partial(as_good, 0.0), NEARLINE, ours=True)
    yield Heat(f"Fashion-MNIST, {n} rows x 784 to 32", "none", [own])


CONTESTS = (Contest("learned-metric", "learning a distance by NCA", "at least 5x scikit-learn's", heats),)
