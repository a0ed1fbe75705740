"""One cell: fit, predict of one row and of a thousand, each the median of several; and what the judge wants to see."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.everyday.models import PAIRS, Pair
from benchmarks.everyday.shapes import Shape, table
from benchmarks.harness import Outcome, Verdict

ENOUGH = 0.15  # seconds of repetition of what is short
MOST = 25  # repetitions
ABOVE = 1e-6  # of the peer's risk, that ours may be above it: rounding
DIFFERENT = 0.005  # share of labels that may differ: ties, and values that round differently
LIBRARIES = {"scikit-learn": "sklearn", "scikit-learn-intelex": "sklearnex"}


def pair(name: str) -> Pair:
    return next(one for one in PAIRS if one.name == name)


def cell(name: str, shape: Shape, library: str) -> Outcome:
    """The seconds of a fit and its first prediction, of a thousand rows; fit and further predictions as facts."""
    X, y, queries = table(shape)
    who = pair(name)
    make = (
        (lambda: who.ours(shape))
        if library == "nearline"
        else (lambda: who.theirs(shape, LIBRARIES[library]))
    )
    model = make().fit(X, y)
    one = queries[:1].copy()
    fit = repeated(lambda: make().fit(X, y))
    single = repeated(lambda: model.predict(one))
    many = repeated(lambda: model.predict(queries))
    both = repeated(lambda: make().fit(X, y).predict(queries))  # what a first prediction prepares is in it
    facts: dict[str, Any] = {
        "fit": fit,
        "one": single,
        "thousand": many,
        "labels": model.predict(queries).tolist(),
    }
    if who.loss is not None:
        facts["risk"] = risk(who, model, X, y)
    elif library != "nearline" and hasattr(model, "kneighbors"):
        facts["tied"] = tied(model, y, queries).tolist()
    return Outcome(both, facts)


def tied(model: Any, y: np.ndarray, queries: Any) -> np.ndarray:
    """Whether a vote of neighbors can fall several ways: equal counts, or an equally near row left out."""
    k = model.n_neighbors
    distances, rows = model.kneighbors(queries, min(k + 1, len(y)))
    counts = np.sort([np.bincount(y[one], minlength=int(y.max()) + 1) for one in rows[:, :k]], axis=1)
    border = (
        distances[:, -1] <= distances[:, k - 1] * (1 + 1e-9) if len(y) > k else np.zeros(len(distances), bool)
    )
    return border | (counts[:, -1] == counts[:, -2])


def repeated(work: Callable[[], object]) -> float:
    """The median time; long work is done once."""
    took: list[float] = []
    while len(took) < MOST and sum(took) < ENOUGH:
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return median(took)


def risk(who: Pair, model: Any, X: Any, y: np.ndarray) -> float:
    """Mean loss + (alpha/2) |W|^2, by the formula."""
    assert who.loss is not None
    W, b = np.atleast_2d(np.asarray(model.coef_, float)), np.atleast_1d(np.asarray(model.intercept_, float))
    return who.loss(np.asarray(X @ W.T) + b, y) + who.strength(len(y)) / 2 * float((W * W).sum())


class Standard:
    """The judge of one cell: scikit-learn's answer is the bar for the others."""

    def __init__(self) -> None:
        self.bar: dict[str, Any] | None = None

    def of_peer(self, outcome: Outcome) -> Verdict:
        if self.bar is None:
            self.bar = outcome.facts
        return Verdict(True, self._shown(outcome.facts))

    def of_ours(self, outcome: Outcome) -> Verdict:
        facts, bar = outcome.facts, self.bar
        if bar is None:  # the peer was ended, or failed
            return Verdict(True, self._shown(facts))
        shown = self._shown(facts)
        if "risk" in facts:
            above = facts["risk"] / bar["risk"] - 1 if bar["risk"] else 0.0
            return Verdict(bool(above <= ABOVE), {**shown, "risk above scikit-learn's": f"{above:+.0e}"})
        equal = np.asarray(facts["labels"]) == np.asarray(bar["labels"])
        different = float(np.mean(~(equal | np.asarray(bar.get("tied", False)))))
        return Verdict(different <= DIFFERENT, {**shown, "labels that differ": f"{different:.3f}"})

    def _shown(self, facts: dict[str, Any]) -> dict[str, str]:
        return {f"{part} (ms)": f"{1e3 * facts[part]:.4g}" for part in ("fit", "one", "thousand")}
