"""Choosing alpha: a path of 10 values x 5 folds of softmax regression, then a fit on all rows with the best."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, PATIENCE, SKLEARN
from benchmarks.problems import Problem, job

CS = np.logspace(-4, 4, 10)
FOLDS = 5
BAR = 0.01  # largest difference of a fold's accuracy from the converged one


def strengths(problem: Problem) -> np.ndarray:
    """Our alphas of the Cs, from large to small; a fold trains on four rows of five."""
    return 1.0 / ((1.0 - 1.0 / FOLDS) * problem.n_rows * CS)


def fold_scores(problem: Problem, dtype: str, tol: float) -> dict[str, Any]:
    """Accuracy of every fold (rows) and C (columns), with the largest gap of all fits."""
    from sklearn.model_selection import StratifiedKFold

    from nearline import LogisticRegression, path_scores

    split = problem.split(dtype)
    model = LogisticRegression(tol=tol)
    found = path_scores(model, split.X, split.y, strengths(problem), folds=StratifiedKFold(FOLDS))
    return {
        "scores": found.scores.T.tolist(),
        "gap": float(np.nanmax(found.gaps)),
        "C": float(CS[found.best]),
    }


def ours(problem: Problem, dtype: str, tol: float) -> Outcome:
    """Fold scores, then the best alpha on all rows, as LogisticRegressionCV does."""
    from nearline import LogisticRegression

    split, n_rows = problem.split(dtype), problem.n_rows
    began = time.perf_counter()
    facts = fold_scores(problem, dtype, tol)
    LogisticRegression(alpha=1.0 / (n_rows * facts["C"]), tol=tol).fit(split.X, split.y)
    return Outcome(time.perf_counter() - began, facts)


def scikit_learn(problem: Problem, dtype: str) -> Outcome:
    from sklearn.linear_model import LogisticRegressionCV

    split = problem.split(dtype)
    modern = {"use_legacy_attributes": False, "scoring": "accuracy", "l1_ratios": (0.0,)}
    model = LogisticRegressionCV(Cs=CS, cv=FOLDS, **modern)
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    scores = np.asarray(model.scores_).reshape(FOLDS, -1)
    return Outcome(seconds, {"scores": scores.tolist(), "gap": None, "C": float(np.ravel(model.C_)[0])})


@dataclass(frozen=True)
class FoldScores:
    """Judge: accuracies of all folds and strengths against those of converged solutions."""

    converged: np.ndarray
    bar: float = BAR

    def __call__(self, outcome: Outcome) -> Verdict:
        scores = np.asarray(outcome.facts["scores"])
        off = np.abs(scores - self.converged)
        gap = outcome.facts["gap"]
        quality = {
            "largest difference of a fold's accuracy": f"{off.max():.4f}",
            "mean difference": f"{off.mean():.5f}",
            "mean accuracy at its best C": f"{scores.mean(axis=0).max():.4f} (C = {outcome.facts['C']:.2g})",
            "largest certified gap": "-" if gap is None else f"{gap:.1e}",
        }
        return Verdict(bool(off.max() <= self.bar), quality)


def converged_scores(problem: Problem, tol: float, session: Session) -> np.ndarray:
    """Fold accuracies of solutions certified to ``tol`` in float64, found once."""
    key = f"{problem.key} {CS.tolist()} {FOLDS} {tol}"
    found = None if session.options.fresh else session.cache.get("folds", key)
    if found is None:
        session.say("  converged reference of the folds ...")
        facts = session.pool.call(NEARLINE, partial(fold_scores, problem, "float64", tol), 4 * PATIENCE)
        found = {"scores": facts["scores"], "gap": facts["gap"]}
        session.cache.put("folds", key, found)
    session.say(f"  fold reference: certified gap at most {found['gap']:.1e}")
    return np.array(found["scores"])


def heats(session: Session) -> Iterator[Heat]:
    quick = session.options.quick
    problem = Problem("fashion", session.options.rows(10_000), "softmax", bias=True)
    judge = FoldScores(converged_scores(problem, 1e-4 if quick else 1e-5, session))
    entries = [
        job(f"nearline tol={tol:.0e}", ours, problem, "float32", judge, NEARLINE, ours=True, tol=tol)
        for tol in (1e-3, 1e-2)
    ]
    # The peer as it comes does not converge: its scores are shown, and its time counts all the same.
    lenient = replace(judge, bar=1.0)
    entries.append(job("LogisticRegressionCV, defaults", scikit_learn, problem, "float64", lenient, SKLEARN))
    title = f"{len(CS)} strengths x {FOLDS} folds, softmax, {problem.n_rows} rows [{problem.split().source}]"
    yield Heat(
        title, f"ours: each fold's accuracy within {BAR} of the converged one; the peer as it comes", entries
    )


CONTESTS = (
    Contest(
        "path", "10 alphas x 5 folds of softmax regression", "20x LogisticRegressionCV(Cs=10, cv=5)", heats
    ),
)
