"""Least squares with ridge: all alphas and the leave-one-out choice among them from one factorization."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Heat, Outcome, Session, Verdict, no_bar
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


# -- folds, and one fit -------------------------------------------------------------------------------------------


def our_folds(problem: Problem, dtype: str) -> Outcome:
    """Accuracy of all alphas by five folds from one factorization, then the fit at the best."""
    from nearline import LeastSquaresClassifier, RidgeFactorization
    from nearline.losses import one_hot

    split, alphas = problem.split(dtype), RIDGE / problem.n_rows
    pairs = five_folds(split.y)
    numbers = np.empty(problem.n_rows, dtype=int)
    for number, (_, test) in enumerate(pairs):
        numbers[test] = number
    began = time.perf_counter()
    scores = RidgeFactorization(split.X, one_hot(split.y, problem.n_classes)).leave_folds_out(numbers, alphas)
    right = [[np.mean(s[test].argmax(axis=1) == split.y[test]) for _, test in pairs] for s in scores]
    best = int(np.argmax(np.mean(right, axis=1)))
    LeastSquaresClassifier(alpha=alphas[best]).fit(split.X, split.y)
    seconds = time.perf_counter() - began
    return Outcome(
        seconds, {"chosen n alpha": f"{RIDGE[best]:.3g}", "its mean": f"{np.mean(right[best]):.4f}"}
    )


def their_folds(problem: Problem, dtype: str) -> Outcome:
    """The same; a refit keeps the sum-form ridge of all rows less a fold."""
    from sklearn.linear_model import RidgeClassifierCV

    split = problem.split(dtype)
    model = RidgeClassifierCV(alphas=0.8 * RIDGE, cv=five_folds(split.y), scoring="accuracy")
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    chosen = RIDGE[int(np.argmin(np.abs(0.8 * RIDGE - model.alpha_)))]
    return Outcome(seconds, {"chosen n alpha": f"{chosen:.3g}", "its mean": f"{model.best_score_:.4f}"})


def five_folds(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros((len(y), 1)), y))


def one_fit(problem: Problem, dtype: str, library: str) -> Outcome:
    """One fit at n alpha = 1."""
    from sklearn.linear_model import RidgeClassifier

    from nearline import LeastSquaresClassifier

    split, own = problem.split(dtype), library == "nearline"
    model = LeastSquaresClassifier(alpha=1.0 / problem.n_rows) if own else RidgeClassifier(alpha=1.0)
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    return Outcome(seconds, {"test accuracy": f"{model.score(split.X_test, split.y_test):.4f}"})


def other_heats(session: Session) -> Iterator[Heat]:
    problem = Problem("fashion", session.options.rows(10_000, 300), "softmax", bias=True)
    shape = f"{problem.n_rows} rows [{problem.split().source}]"
    entries = [
        job("nearline RidgeFactorization", our_folds, problem, "float32", no_bar, NEARLINE, ours=True),
        job("RidgeClassifierCV(cv=5)", their_folds, problem, "float32", no_bar, SKLEARN),
    ]
    yield Heat(f"ridge, {len(RIDGE)} alphas x 5 folds, {shape}", "none; chosen alphas are shown", entries)
    entries = [
        job(name, one_fit, problem, "float32", no_bar, home, ours=name == "nearline", library=name)
        for name, home in (("nearline", NEARLINE), ("RidgeClassifier", SKLEARN))
    ]
    yield Heat(f"ridge, one fit, {shape}", "none; test accuracies are shown", entries)


CONTESTS = (
    Contest("ridge", "ridge, all alphas and leave-one-out", "2x RidgeClassifierCV", heats),
    Contest(
        "ridge-folds", "ridge, all alphas by folds, and one fit", "2x RidgeClassifierCV(cv=5)", other_heats
    ),
)
