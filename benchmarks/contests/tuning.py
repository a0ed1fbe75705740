"""Choosing alpha: a path of 10 values x 5 folds of softmax regression, then a fit on all rows with the best."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, SKLEARN
from benchmarks.ours import solutions
from benchmarks.problems import Problem

CS = np.logspace(-4, 4, 10)
FOLDS = 5
BAR = 0.01  # largest difference of a fold's accuracy from the converged one


def folds(problem: Problem) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import StratifiedKFold

    split = problem.split("float32")
    return list(StratifiedKFold(FOLDS).split(split.X, split.y))


def path_scores(problem: Problem, dtype: str, tol: float, refit: bool = True) -> dict[str, Any]:
    """Accuracy of every fold (rows) and C (columns) by warm-started paths."""
    from nearline import Risk

    split = problem.split(dtype)
    scores, gaps = np.empty((FOLDS, len(CS))), []
    for fold, (train, test) in enumerate(folds(problem)):
        risk = Risk(
            split.X[train], split.y[train], loss=problem.loss, bias=problem.bias, n_classes=problem.n_classes
        )
        held_out, labels = split.X[test], split.y[test]
        for j, solution in enumerate(solutions(risk, 1.0 / (len(train) * CS), tol)):
            params = solution.params
            guess = (held_out @ params.W.T.astype(dtype) + params.b).argmax(axis=1)
            scores[fold, j] = (guess == labels).mean()
            gaps.append(np.nan if solution.gap is None else solution.gap)
    best = int(scores.mean(axis=0).argmax())
    if refit:
        risk = Risk(split.X, split.y, loss=problem.loss, bias=problem.bias, n_classes=problem.n_classes)
        list(solutions(risk, 1.0 / (problem.n_rows * CS[: best + 1]), tol))
    return {"scores": scores, "gap": float(np.nanmax(gaps)), "C": float(CS[best])}


def ours(problem: Problem, dtype: str, tol: float) -> Outcome:
    problem.split(dtype)
    began = time.perf_counter()
    facts = path_scores(problem, dtype, tol)
    return Outcome(time.perf_counter() - began, facts)


def scikit_learn(problem: Problem, dtype: str, max_iter: int) -> Outcome:
    from sklearn.linear_model import LogisticRegressionCV

    split = problem.split(dtype)
    modern = {"use_legacy_attributes": False, "scoring": "accuracy", "l1_ratios": (0.0,)}
    model = LogisticRegressionCV(Cs=CS, cv=FOLDS, max_iter=max_iter, **modern)
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    scores = np.asarray(model.scores_).reshape(FOLDS, -1)
    return Outcome(seconds, {"scores": scores, "gap": None, "C": float(np.ravel(model.C_)[0])})


@dataclass(frozen=True)
class FoldScores:
    """Judge: accuracies of all folds and strengths against those of converged solutions."""

    converged: np.ndarray

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
        return Verdict(bool(off.max() <= BAR), quality)


def converged_scores(problem: Problem, tol: float, session: Session) -> np.ndarray:
    """Fold accuracies of solutions certified to ``tol`` in float64, found once."""
    key = f"{problem.key} {CS.tolist()} {FOLDS} {tol}"
    found = None if session.options.fresh else session.cache.get("folds", key)
    if found is None:
        session.say("  converged reference of the folds ...")
        facts = session.pool.call(NEARLINE, partial(path_scores, problem, "float64", tol, False), 7200.0)
        found = {"scores": facts["scores"].tolist(), "gap": facts["gap"]}
        session.cache.put("folds", key, found)
    session.say(f"  fold reference: certified gap at most {found['gap']:.1e}")
    return np.array(found["scores"])


def heats(session: Session) -> Iterator[Heat]:
    quick = session.options.quick
    problem = Problem("fashion", session.options.rows(10_000), "softmax", bias=True)
    judge = FoldScores(converged_scores(problem, 1e-5 if quick else 1e-7, session))
    entries = [
        Entry(
            f"nearline path float32 tol={tol:.0e}",
            partial(ours, problem, "float32", tol),
            judge,
            NEARLINE,
            ours=True,
        )
        for tol in (1e-4, 1e-3)
    ]
    for max_iter in (100, 1000):
        name = f"LogisticRegressionCV max_iter={max_iter}"
        if quick and max_iter > 100:
            continue
        entries.append(Entry(name, partial(scikit_learn, problem, "float64", max_iter), judge, SKLEARN))
    title = f"{len(CS)} strengths x {FOLDS} folds, softmax, {problem.n_rows} rows"
    yield Heat(
        f"{title} [{problem.split().source}]",
        f"every fold's accuracy within {BAR} of the converged one",
        entries,
    )


CONTESTS = (
    Contest(
        "path", "10 alphas x 5 folds of softmax regression", "20x LogisticRegressionCV(Cs=10, cv=5)", heats
    ),
)
