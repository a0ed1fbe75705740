"""One pass over the rows: scores, softmax loss and gradient, against the two BLAS products of the usual code."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, SKLEARN
from benchmarks.problems import Problem, job

PASSES = 10  # in one timed run; the best of them counts


@lru_cache(maxsize=2)
def weights(problem: Problem) -> np.ndarray:
    """Weights as they are in the middle of a fit: neither zero nor saturated."""
    return 0.05 * np.random.default_rng(0).standard_normal(
        (problem.n_classes, problem.split("float32").X.shape[1])
    )


def best_of(passes: int, work: Callable[[], Any]) -> tuple[float, Any]:
    best, answer = np.inf, None
    for _ in range(passes):
        began = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - began)
    return best, answer


def ours(problem: Problem, dtype: str) -> Outcome:
    """Risk.at: the pass that every smooth solver makes."""
    from nearline import Params

    risk = problem.risk(dtype)
    params = Params.of(weights(problem), np.zeros(risk.n_outputs))
    seconds, point = best_of(PASSES, partial(risk.at, params))
    # The risk's gradient has the penalty in it; the contest is about the data term.
    return Outcome(seconds, {"gradient": point.gradient.W - risk.l2 * params.W, "loss": point.data_loss})


def products(problem: Problem, dtype: str, with_loss: bool) -> Outcome:
    """X W^T and G^T X by BLAS; with or without the softmax between them on the clock."""
    split = problem.split(dtype)
    W = weights(problem).astype(dtype)
    rows = np.arange(len(split.y))

    def forward() -> np.ndarray:
        return split.X @ W.T

    def residual(scores: np.ndarray) -> tuple[float, np.ndarray]:
        top = scores.max(axis=1, keepdims=True)
        own = scores[rows, split.y] - top[:, 0]
        P = np.exp(scores - top)
        total = P.sum(axis=1, keepdims=True)
        P /= total
        P[rows, split.y] -= 1
        return float((np.log(total[:, 0]) - own).mean(dtype=np.float64)), P

    def back(G: np.ndarray) -> np.ndarray:
        return G.T @ split.X

    if with_loss:
        seconds, (loss, gradient) = best_of(PASSES, lambda: _all(forward, residual, back))
        return Outcome(seconds, {"gradient": gradient / len(rows), "loss": loss})
    first, scores = best_of(PASSES, forward)
    loss, G = residual(scores)
    second, gradient = best_of(PASSES, partial(back, G))
    return Outcome(first + second, {"gradient": gradient / len(rows), "loss": loss})


def _all(forward: Any, residual: Any, back: Any) -> tuple[float, np.ndarray]:
    loss, G = residual(forward())
    return loss, back(G)


@dataclass(frozen=True)
class GradientError:
    """Judge: largest error of the gradient, relative to its largest entry, against float64."""

    exact: np.ndarray
    n_bytes: int
    flops: float
    bar: float = 1e-4

    def __call__(self, outcome: Outcome) -> Verdict:
        error = float(np.abs(outcome.facts["gradient"] - self.exact).max() / np.abs(self.exact).max())
        rate = self.n_bytes / outcome.seconds / 1e9
        quality = {
            "gradient error": f"{error:.1e}",
            "X read at": f"{rate:.1f} GB/s",
            "arithmetic": f"{self.flops / outcome.seconds / 1e9:.0f} GFLOP/s",
        }
        return Verdict(error <= self.bar, quality)


def heats(session: Session) -> Iterator[Heat]:
    problem = Problem("fashion", session.options.rows(None), "softmax", bias=True)
    exact = products(problem, "float64", True).facts["gradient"]
    for dtype in ("float32", "float64"):
        X = problem.split(dtype).X
        judge = GradientError(exact, X.nbytes, 4.0 * X.size * problem.n_classes)
        entries = [
            job("nearline Risk.at", ours, problem, dtype, judge, NEARLINE, ours=True),
            job("two BLAS products alone", products, problem, dtype, judge, SKLEARN, with_loss=False),
            job("two BLAS products and softmax", products, problem, dtype, judge, SKLEARN, with_loss=True),
        ]
        shape = f"{X.shape[0]} x {X.shape[1]} x {problem.n_classes} {dtype}"
        yield Heat(f"fused pass, {shape} [{problem.split().source}]", "gradient error <= 1e-4", entries)


CONTESTS = (
    Contest("pass", "scores, softmax loss and gradient in one pass", "3x the two BLAS products", heats),
)
