"""Least squares with ridge: all alphas and the leave-one-out choice among them from one factorization."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Contest, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, SKLEARN
from benchmarks.problems import Problem, job

RIDGE = np.logspace(-3, 3, 10)  # in scikit-learn's sum form; ours is divided by the number of rows


def ours(problem: Problem, dtype: str) -> Outcome:
    from nearline import LeastSquaresClassifier

    split = problem.split(dtype)
    model = LeastSquaresClassifier(alpha=list(RIDGE / problem.n_rows))
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    return Outcome(
        seconds, {"accuracy": model.score(split.X_test, split.y_test), "alpha": model.alpha_ * problem.n_rows}
    )


def scikit_learn(problem: Problem, dtype: str) -> Outcome:
    from sklearn.linear_model import RidgeClassifierCV

    split = problem.split(dtype)
    model = RidgeClassifierCV(alphas=RIDGE)
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    return Outcome(
        seconds, {"accuracy": model.score(split.X_test, split.y_test), "alpha": float(model.alpha_)}
    )


def exact_choice(problem: Problem) -> dict[str, float]:
    """The alpha of least leave-one-out squared error, and its accuracy, by a float64 singular value decomposition."""
    split = problem.split("float64")
    mean = split.X.mean(axis=0)
    Y = np.eye(problem.n_classes)[split.y]
    U, s, Vt = np.linalg.svd(split.X - mean, full_matrices=False)
    UtY = U.T @ (Y - Y.mean(axis=0))
    errors, accuracies = [], []
    for a in RIDGE:
        shrink = s**2 / (s**2 + a)
        residual = Y - Y.mean(axis=0) - U @ (shrink[:, None] * UtY)
        leverage = (U**2) @ shrink + 1.0 / len(Y)  # the bias takes 1/n
        errors.append(((residual / (1.0 - leverage)[:, None]) ** 2).mean())
        W = (Vt.T * (s / (s**2 + a))) @ UtY
        guess = ((split.X_test - mean) @ W + Y.mean(axis=0)).argmax(axis=1)
        accuracies.append((guess == split.y_test).mean())
    best = int(np.argmin(errors))
    return {"alpha": float(RIDGE[best]), "accuracy": float(accuracies[best])}


@dataclass(frozen=True)
class RightChoice:
    """Judge: the alpha of least leave-one-out error, and the accuracy that goes with it."""

    alpha: float
    accuracy: float

    def __call__(self, outcome: Outcome) -> Verdict:
        facts = outcome.facts
        right = (
            np.isclose(facts["alpha"], self.alpha, rtol=1e-6)
            and abs(facts["accuracy"] - self.accuracy) <= 1e-3
        )
        quality = {"chosen alpha n": f"{facts['alpha']:.3g}", "exact choice": f"{self.alpha:.3g}"}
        return Verdict(bool(right), {**quality, "test accuracy": f"{facts['accuracy']:.4f}"})


def heats(session: Session) -> Iterator[Heat]:
    for rows in (10_000, None):
        problem = Problem("fashion", session.options.rows(rows), "softmax", bias=True)
        key = f"{problem.key} ridge {RIDGE.tolist()}"
        found = None if session.options.fresh else session.cache.get("ridge", key)
        if found is None:
            found = exact_choice(problem)
            session.cache.put("ridge", key, found)
        judge = RightChoice(**found)
        peer = "scikit-learn RidgeClassifierCV"
        types = ("float32", "float64")
        entries = [job(f"nearline {t}", ours, problem, t, judge, NEARLINE, ours=True) for t in types]
        entries += [job(f"{peer} {t}", scikit_learn, problem, t, judge, SKLEARN) for t in types]
        title = f"ridge, {len(RIDGE)} alphas, leave-one-out, {problem.n_rows} rows"
        yield Heat(
            f"{title} [{problem.split().source}]", "the exact choice of alpha, accuracy within 1e-3", entries
        )
        if session.options.quick:
            return


CONTESTS = (Contest("ridge", "ridge, all alphas and leave-one-out", "2x RidgeClassifierCV", heats),)
