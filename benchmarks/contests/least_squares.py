"""Least squares with ridge: all alphas and the leave-one-out choice among them from one factorization."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, SKLEARN
from benchmarks.problems import Problem, job

RIDGE = np.logspace(-3, 3, 10)  # in scikit-learn's sum form; ours is divided by the number of rows
DTYPES = ("float32", "float64")
SCORINGS = (None, "accuracy")  # None: minus the mean squared error


def ours(problem: Problem, dtype: str, scoring: str | None) -> Outcome:
    from nearline import LeastSquaresClassifier

    split = problem.split(dtype)
    model = LeastSquaresClassifier(alpha=list(RIDGE / problem.n_rows), scoring=scoring)
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    chosen = int(np.argmin(np.abs(RIDGE / problem.n_rows - model.alpha_)))
    accuracy = float(model.score(split.X_test, split.y_test))
    return Outcome(
        seconds,
        {
            "chosen": chosen,
            "claim": float(model.loo_score_[chosen]) / (problem.n_classes if scoring is None else 1),
            "accuracy": accuracy,
        },
    )


def scikit_learn(problem: Problem, dtype: str, scoring: str | None) -> Outcome:
    from sklearn.linear_model import RidgeClassifierCV

    split = problem.split(dtype)
    model = RidgeClassifierCV(alphas=RIDGE, scoring=scoring)
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    # Its targets are -1 and +1, ours 0 and 1: squared errors differ by a factor of 4, choices and labels do not.
    claim = float(model.best_score_) / (4.0 if scoring is None else 1.0)
    accuracy = float(model.score(split.X_test, split.y_test))
    return Outcome(
        seconds,
        {"chosen": int(np.argmin(np.abs(RIDGE - model.alpha_))), "claim": claim, "accuracy": accuracy},
    )


def exact_scores(problem: Problem) -> dict[str, list[float]]:
    """Leave-one-out scores of every alpha and test accuracies, by a float64 singular value decomposition."""
    split = problem.split("float64")
    mean = split.X.mean(axis=0)
    Y = np.eye(problem.n_classes)[split.y]
    U, s, Vt = np.linalg.svd(split.X - mean, full_matrices=False)
    UtY = U.T @ (Y - Y.mean(axis=0))
    found: dict[str, list[float]] = {"None": [], "accuracy": [], "test": []}
    for a in RIDGE:
        shrink = s**2 / (s**2 + a)
        residual = Y - Y.mean(axis=0) - U @ (shrink[:, None] * UtY)
        leverage = (U**2) @ shrink + 1.0 / len(Y)  # the bias takes 1/n
        left_out = residual / (1.0 - leverage)[:, None]
        found["None"].append(-float((left_out**2).mean()))
        found["accuracy"].append(float(((Y - left_out).argmax(axis=1) == split.y).mean()))
        W = (Vt.T * (s / (s**2 + a))) @ UtY
        guess = ((split.X_test - mean) @ W + Y.mean(axis=0)).argmax(axis=1)
        found["test"].append(float((guess == split.y_test).mean()))
    return found


@dataclass(frozen=True)
class RightChoice:
    """Judge: a best alpha, with its true leave-one-out score, and the test accuracy that goes with it."""

    exact: list[float]
    test: list[float]

    def __call__(self, outcome: Outcome) -> Verdict:
        chosen, claim, accuracy = (outcome.facts[name] for name in ("chosen", "claim", "accuracy"))
        best = max(self.exact)
        right = (
            self.exact[chosen] >= best - 1e-4 * abs(best)
            and abs(claim - self.exact[chosen]) <= 1e-3 * abs(best)
            and abs(accuracy - self.test[chosen]) <= 1e-3
        )
        quality = {
            "chosen n alpha": f"{RIDGE[chosen]:.3g}",
            "its leave-one-out score, claimed": f"{claim:.5f}",
            "exact": f"{self.exact[chosen]:.5f}",
            "best exact": f"{best:.5f}",
            "test accuracy": f"{accuracy:.4f}",
        }
        return Verdict(bool(right), quality)


def known_scores(problem: Problem, session: Session) -> dict[str, Any]:
    key = f"{problem.key} leave-one-out {RIDGE.tolist()}"
    found = session.cache.get("ridge", key)
    if found is None:
        session.say("  exact leave-one-out scores ...")
        found = exact_scores(problem)
        session.cache.put("ridge", key, found)
    return found


def heats(session: Session) -> Iterator[Heat]:
    for rows in (1000,) if session.options.quick else (10_000, None):
        problem = Problem("fashion", rows, "softmax", bias=True)
        exact = known_scores(problem, session)
        for scoring in SCORINGS:
            judge = RightChoice(exact[str(scoring)], exact["test"])
            entries = [
                job(f"nearline {t}", ours, problem, t, judge, NEARLINE, ours=True, scoring=scoring)
                for t in DTYPES
            ]
            entries += [
                job(f"RidgeClassifierCV {t}", scikit_learn, problem, t, judge, SKLEARN, scoring=scoring)
                for t in DTYPES
            ]
            by = scoring or "squared error"
            title = f"ridge, {len(RIDGE)} alphas, leave-one-out {by}, {problem.n_rows} rows"
            bar = "a best alpha by exact leave-one-out, its true score, test accuracy within 1e-3"
            yield Heat(f"{title} [{problem.split().source}]", bar, entries)


CONTESTS = (Contest("ridge", "ridge, all alphas and leave-one-out", "2x RidgeClassifierCV", heats),)
