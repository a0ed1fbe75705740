"""Problems: what is minimized, in plain float64 NumPy, and how far above the minimum an answer is.

The objective is written out here a second time, on purpose: a judge should not share code with a contestant.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.data import Split, load
from benchmarks.harness import Entry, Judge, Outcome, Verdict
from benchmarks.homes import Home

Array = np.ndarray


@dataclass(frozen=True)
class Problem:
    """mean loss + alpha R(W) with alpha = 1/(n C), so that C means what it means to LIBLINEAR and scikit-learn.

    R(W) is |W|^2 / 2 for "l2" and |W|_1 for "l1"; the bias, if any, is free. Margin losses with K > 2 classes are
    one-vs-rest: their K risks are added.
    """

    data: str
    rows: int | None
    loss: str
    C: float = 1.0
    regularizer: str = "l2"
    bias: bool = False

    @property
    def key(self) -> str:
        """Names the problem in the cache; the numbers of the data are part of it."""
        return f"{self!r} {fingerprint(self.data, self.rows)}"

    def split(self, dtype: str = "float64") -> Split:
        return load(self.data, self.rows, dtype)

    @property
    def n_rows(self) -> int:
        return int(self.split().X.shape[0])

    @property
    def n_classes(self) -> int:
        return int(self.split().y.max()) + 1

    @property
    def alpha(self) -> float:
        return 1.0 / (self.n_rows * self.C)

    def objective(self, W: Array, b: Array) -> float:
        """The risk of W (K, D) and b (K,) on the training rows."""
        split = self.split()
        scores = np.asarray(split.X @ np.asarray(W, dtype=np.float64).T) + np.asarray(b, dtype=np.float64)
        penalty = np.abs(W).sum() if self.regularizer == "l1" else 0.5 * float(np.vdot(W, W))
        return float(LOSSES[self.loss](scores, split.y).mean() + self.alpha * penalty)

    def accuracy(self, W: Array, b: Array) -> float:
        """Share of right labels on the test rows."""
        split = self.split()
        scores = np.asarray(split.X_test @ np.asarray(W, dtype=np.float64).T) + b
        labels = (scores[:, 0] >= 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return float((labels == split.y_test).mean())

    def risk(self, dtype: str = "float64") -> Any:
        """The same problem as nearline says it."""
        from nearline import Risk

        split = self.split(dtype)
        return Risk(
            split.X,
            split.y,
            loss=self.loss,
            regularizer=self.regularizer,
            alpha=self.alpha,
            bias=self.bias,
            n_classes=self.n_classes,
        )


@lru_cache(maxsize=32)
def fingerprint(data: str, rows: int | None) -> str:
    """Shape and sums that tell data sets of the same name apart."""
    split = load(data, rows, "float64")
    total, mixed = float(split.X.sum(dtype=np.float64)), int(split.y @ np.arange(len(split.y)) % 1_000_003)
    return f"{split.X.shape} {total:.10g} {mixed}"


def preload(problem: Problem, dtype: str) -> None:
    """Have a problem's rows in memory before a clock or limit runs."""
    problem.split(dtype)


def job(
    name: str,
    work: Callable[..., Outcome],
    problem: Problem,
    dtype: str,
    judge: Judge,
    home: Home,
    *,
    ours: bool = False,
    **settings: Any,
) -> Entry:
    """An entry that does some other work than a fit on a problem's rows: work(problem, dtype, **settings)."""
    task, ready = partial(work, problem, dtype, **settings), partial(preload, problem, dtype)
    key = f"{work.__module__}.{work.__qualname__} {settings} {dtype} {problem.key}"
    return Entry(name, task, judge, home, ours, prepare=ready, key=key)


# -- the losses, row by row ---------------------------------------------------------------------------------------


def _signs(scores: Array, y: Array) -> Array:
    if scores.shape[1] == 1:
        return np.where(y == 1, 1.0, -1.0)[:, None]
    signs = -np.ones_like(scores)
    signs[np.arange(len(y)), y] = 1.0
    return signs


def _softmax(scores: Array, y: Array) -> Array:
    top = scores.max(axis=1)
    return np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - scores[np.arange(len(y)), y]


def _logistic(scores: Array, y: Array) -> Array:
    return np.logaddexp(0.0, -_signs(scores, y) * scores).sum(axis=1)


def _hinge(scores: Array, y: Array) -> Array:
    return np.maximum(0.0, 1.0 - _signs(scores, y) * scores).sum(axis=1)


def _squared_hinge(scores: Array, y: Array) -> Array:
    return (np.maximum(0.0, 1.0 - _signs(scores, y) * scores) ** 2).sum(axis=1)


def _excess(scores: Array, y: Array) -> Array:
    """1 + f_c - f_y for c != y, 0 for c = y."""
    rows = np.arange(len(y))
    excess = 1.0 + scores - scores[rows, y][:, None]
    excess[rows, y] = 0.0
    return excess


def _crammer_singer(scores: Array, y: Array) -> Array:
    return np.maximum(_excess(scores, y).max(axis=1), 0.0)


def _weston_watkins(scores: Array, y: Array) -> Array:
    return np.maximum(_excess(scores, y), 0.0).sum(axis=1)


LOSSES = {
    "softmax": _softmax,
    "logistic": _logistic,
    "hinge": _hinge,
    "squared-hinge": _squared_hinge,
    "crammer-singer": _crammer_singer,
    "weston-watkins": _weston_watkins,
}


# -- judging ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """The minimum of a problem to 1e-9: its ``value``."""

    value: float
    gap: float | None  # certified relative gap of the solution that gave the value
    source: str

    def suboptimality(self, value: float) -> float:
        """(P - P*) / P*."""
        return (value - self.value) / self.value


@dataclass(frozen=True)
class Suboptimality:
    """Judge: an answer counts if its suboptimality is at most ``target``."""

    problem: Problem
    reference: Reference
    target: float

    def __call__(self, outcome: Outcome) -> Verdict:
        facts = outcome.facts
        value = facts["value"] if "value" in facts else self.problem.objective(facts["W"], facts["b"])
        accuracy = facts["accuracy"] if "accuracy" in facts else self.problem.accuracy(facts["W"], facts["b"])
        above = self.reference.suboptimality(value)
        if above < -2e-9:
            raise RuntimeError(
                f"An answer has risk {value!r}, below the reference {self.reference.value!r} "
                f"({self.reference.source}): the reference is wrong; delete it from out/bench-cache and find out why."
            )
        gap = facts.get("gap")
        quality = {
            "(P-P*)/P*": f"{max(above, 0.0):.1e}",
            "certified gap": "-" if gap is None else f"{gap:.1e}",
            "test accuracy": f"{accuracy:.4f}",
        }
        return Verdict(above <= self.target, quality)
