"""Stochastic gradients and the perceptron rule, seconds per epoch, on sparse and dense rows."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, PATIENCE, SKLEARN
from benchmarks.problems import Problem, job, preload

EPOCHS = 20
LOSSES = {"hinge": "hinge", "logistic": "log_loss", "perceptron": "perceptron"}


def our_model(loss: str, alpha: float) -> Any:
    """The estimator for a loss, made to run a fixed number of epochs."""
    import nearline

    if loss == "perceptron":
        return nearline.Perceptron(max_iter=EPOCHS)
    solver = nearline.SGD(max_iter=EPOCHS)
    return nearline.LinearClassifier(loss=loss, alpha=alpha, multiclass="one-vs-rest", solver=solver)


def their_model(loss: str, alpha: float, averaged: bool = False) -> Any:
    from sklearn.linear_model import Perceptron, SGDClassifier

    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))  # as its home was told
    if loss == "perceptron":
        return Perceptron(max_iter=EPOCHS, tol=None, n_jobs=threads, random_state=0)
    settings = {"alpha": alpha, "max_iter": EPOCHS, "tol": None, "n_jobs": threads, "random_state": 0}
    return SGDClassifier(loss=LOSSES[loss], average=averaged, **settings)


def epochs(problem: Problem, dtype: str, library: str, loss: str) -> Outcome:
    split = problem.split(dtype)
    makers = {"nearline": our_model, "averaged": partial(their_model, averaged=True)}
    model = makers.get(library, their_model)(loss, 1e-4)
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    facts = {"accuracy": float(model.score(split.X_test, split.y_test)), "epochs": int(np.max(model.n_iter_))}
    return Outcome(seconds / facts["epochs"], facts)


@dataclass(frozen=True)
class AccurateEnough:
    """Judge: test accuracy, at most 0.02 below the peer's after the same number of epochs."""

    bar: float

    def __call__(self, outcome: Outcome) -> Verdict:
        accuracy = outcome.facts["accuracy"]
        quality = {"epochs": str(outcome.facts["epochs"]), "test accuracy": f"{accuracy:.4f}"}
        return Verdict(accuracy >= self.bar, quality)


def heats(session: Session) -> Iterator[Heat]:
    for data in ("news20", "reviews", "fashion"):
        problem = Problem(data, session.options.rows(None), "hinge")
        for loss in LOSSES:
            session.pool.call(SKLEARN, partial(preload, problem, "float64"), PATIENCE)
            task = partial(epochs, problem, "float64", "scikit-learn", loss)
            first = session.pool.call(SKLEARN, task, session.options.limit)
            judge = AccurateEnough(first.facts["accuracy"] - 0.02)
            entries = []
            for name, home in (("nearline", NEARLINE), ("scikit-learn", SKLEARN)):
                own, settings = name == "nearline", {"library": name, "loss": loss}
                for dtype in ("float64", "float32"):
                    entries.append(
                        job(f"{name} {dtype}", epochs, problem, dtype, judge, home, ours=own, **settings)
                    )
            if loss != "perceptron":  # ours averages too
                settings = {"library": "averaged", "loss": loss}
                entries.append(
                    job(
                        "scikit-learn averaged float64",
                        epochs,
                        problem,
                        "float64",
                        judge,
                        SKLEARN,
                        **settings,
                    )
                )
            rule = "perceptron rule" if loss == "perceptron" else f"SGD {loss}"
            title = f"{rule}, one epoch, {problem.n_rows} rows, {problem.n_classes} classes"
            yield Heat(f"{title} [{problem.split().source}]", f"test accuracy >= {judge.bar:.3f}", entries)


CONTESTS = (Contest("sgd", "SGD and perceptron, one epoch", "2x SGDClassifier and Perceptron", heats),)
