"""Where a k-d tree beats exact search behind bounds: build and queries, k = 10; and whether the rule chooses so."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE

MEMORY = 256 * 2**20
K = 10
QUERIES = 10_000
DIMENSIONS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24)
DEARER = 2.0  # times: what a wrong choice may cost


def rows_of(kind: str, n: int, D: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return rng.random((n, D))
    centers = np.random.default_rng(0).random((50, D))
    return centers[rng.integers(50, size=n)] + 0.02 * rng.standard_normal((n, D))


def both(kind: str, name: str, n: int, m: int, D: int) -> Outcome:
    """Seconds of what the rule chooses, and those of the tree and of the bounds; their answers must be the same."""
    from nearline.neighbors.exact import Dense
    from nearline.neighbors.metrics import METRICS, Lq
    from nearline.neighbors.tree import Tree

    metric = Lq(3) if name == "l3" else METRICS[name]
    X, Q = rows_of(kind, n, D, 1), rows_of(kind, m, D, 2)
    tree, a = found(Tree, X, Q, metric)
    bounds, b = found(Dense, X, Q, metric)
    if not (np.array_equal(a.distances, b.distances) and np.array_equal(a.indices, b.indices)):
        raise AssertionError("answers differ")
    chosen = "tree" if metric.tree_pays(n, D) else "bounds"
    return Outcome(tree if chosen == "tree" else bounds, {"chosen": chosen, "tree": tree, "bounds": bounds})


def found(backend: Any, X: np.ndarray, Q: np.ndarray, metric: Any) -> tuple[float, Any]:
    from nearline.neighbors.wanted import Wanted

    began = time.perf_counter()
    answer = backend(X, metric, MEMORY).find(Q, Wanted(K))
    return time.perf_counter() - began, answer


def right_choice(outcome: Outcome) -> Verdict:
    """Judge: what was chosen takes at most twice the time of the other."""
    facts = outcome.facts
    quality = {"chosen": facts["chosen"], "bounds over tree": f"{facts['bounds'] / facts['tree']:.2f}"}
    return Verdict(outcome.seconds <= DEARER * min(facts["tree"], facts["bounds"]), quality)


def heats(session: Session) -> Iterator[Heat]:
    quick = session.options.quick
    m = session.options.rows(QUERIES, 50) or 0
    for kind in ("uniform",) if quick else ("uniform", "clustered"):
        for metric in ("l2",) if quick else ("l2", "l1", "l-infinity", "l3"):
            for n in (500,) if quick else (1_000, 10_000, 100_000):
                entries = [
                    Entry(f"D = {D}", partial(both, kind, metric, n, m, D), right_choice, NEARLINE, ours=True)
                    for D in (DIMENSIONS[1:2] if quick else DIMENSIONS)
                ]
                title = f"tree or bounds, {kind} rows, {metric}, {n} rows, {m} queries"
                yield Heat(title, f"the choice takes at most {DEARER:g} times the other", entries)


CONTESTS = (Contest("tree", "k-d tree or bounds, and the rule between them", "the rule is right", heats),)
