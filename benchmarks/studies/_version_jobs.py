"""The small jobs of ``against_version``, run by path in the environment of either version: imports nothing of benchmarks.

Reads names of jobs from stdin, a line each with a number of runs, and writes the seconds of one run.
"""

import inspect
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

import nearline as nl

# What parameters are called now, and what they were called before.
RENAMED = {"random_state": "seed", "fit_intercept": "bias"}

Job = Callable[[], Any]


def called(what: Callable[..., Any], *given: Any, **settings: Any) -> Any:
    """The call in the words of this version."""
    known = inspect.signature(what).parameters
    return what(*given, **{k if k in known else RENAMED.get(k, k): v for k, v in settings.items()})


@cache
def rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A bundled set, each column brought to variance 1."""
    load = {"iris": load_iris, "cancer": load_breast_cancer, "digits": load_digits}[name.split("/")[0]]
    X, y = load(return_X_y=True)
    X = np.ascontiguousarray(StandardScaler().fit_transform(X))
    return (X[:500], y[:500]) if name.endswith("/500") else (X, y)


def fit(kind: str, data: str, **settings: Any) -> Job:
    return lambda: called(getattr(nl, kind), **settings).fit(*rows(data))


def answer(kind: str, data: str, **settings: Any) -> Job:
    """A fit and the labels of its own rows."""
    return lambda: fit(kind, data, **settings)().predict(rows(data)[0])


def alpha_path(data: str, loss: str) -> Job:
    return lambda: list(nl.path(*rows(data), loss=loss, alphas=[1e-1, 1e-2, 1e-3]))


def alpha_scores(kind: str, data: str) -> Job:
    return lambda: nl.path_scores(called(getattr(nl, kind)), *rows(data), alphas=[1e-1, 1e-2, 1e-3], folds=3)


def neighbor_sweep(data: str) -> Job:
    return lambda: nl.sweep(
        *rows(data), ks=[1, 3, 5, 9, 15], metrics=["l2", "l1"], weights=["uniform", "distance"]
    )


def gram_scores(data: str) -> Job:
    from nearline.kernels import RBF

    return lambda: nl.kernel_scores(nl.KernelSVM(), *rows(data), [RBF(0.01)], alphas=[1e-2, 1e-3], folds=3)


def minimized(data: str, loss: str, solver: str) -> Job:
    return lambda: nl.minimize(nl.Risk(*rows(data), loss=loss, alpha=1e-3), solver=solver)


def contest(data: str) -> Callable[[], int]:
    """A contest; what it is charged for is one candidate, as grids have grown."""

    def run() -> int:
        done = called(nl.TryThemAll, "quick", progress="silent", random_state=0).fit(*rows(data))
        done.open_test()
        return len(done.leaderboard_)

    return run


@cache
def kept(kind: str, data: str) -> tuple[Any, Path]:
    return fit(kind, data)(), Path(tempfile.mkdtemp()) / "model.nearline"


def round_trip(kind: str, data: str) -> Job:
    def run() -> Any:
        model, path = kept(kind, data)
        nl.save(model, path)
        return nl.load(path)

    return run


JOBS: dict[str, Job] = {
    "logistic, iris": fit("LogisticRegression", "iris", alpha=1e-3),
    "logistic, cancer": fit("LogisticRegression", "cancer", alpha=1e-3),
    "softmax, digits": fit("LogisticRegression", "digits", alpha=1e-3),
    "logistic L1, cancer": fit("LogisticRegression", "cancer", alpha=1e-2, regularizer="l1"),
    "softmax L1, digits": fit("LogisticRegression", "digits/500", alpha=1e-2, regularizer="l1"),
    "logistic without bias": fit("LogisticRegression", "cancer", alpha=1e-3, fit_intercept=False),
    "SVM, cancer": fit("LinearSVM", "cancer", alpha=1e-2),
    "SVM, digits": fit("LinearSVM", "digits", alpha=1e-2),
    "SVM squared hinge, digits": fit("LinearSVM", "digits", loss="squared-hinge", alpha=1e-2),
    "least squares, digits": fit("LeastSquaresClassifier", "digits", alpha=1e-2),
    "sparsemax, digits": fit("SparsemaxClassifier", "digits", alpha=1e-2),
    "perceptron, iris": fit("Perceptron", "iris", random_state=0, max_iter=5),
    "Gaussian naive Bayes, digits": answer("GaussianNB", "digits"),
    "discriminant, cancer": answer("LinearDiscriminantAnalysis", "cancer"),
    "centroid, digits": answer("NearestCentroid", "digits"),
    "one-vs-rest, iris": lambda: nl.OneVsRest(nl.LogisticRegression(alpha=1e-2)).fit(*rows("iris")),
    "k-NN L2, iris": answer("KNeighborsClassifier", "iris"),
    "k-NN L2, digits": answer("KNeighborsClassifier", "digits"),
    "k-NN L1, digits": answer("KNeighborsClassifier", "digits", metric="l1"),
    "k-NN cosine, digits": answer("KNeighborsClassifier", "digits", metric="cosine"),
    "L-BFGS, digits": minimized("digits", "softmax", "lbfgs"),
    "Newton, cancer": minimized("cancer", "logistic", "newton"),
    "path softmax, digits": alpha_path("digits/500", "softmax"),
    "path logistic, cancer": alpha_path("cancer", "logistic"),
    "path scores logistic, cancer": alpha_scores("LogisticRegression", "cancer"),
    "path scores SVM, digits": alpha_scores("LinearSVM", "digits/500"),
    "sweep, iris": neighbor_sweep("iris"),
    "sweep, digits": neighbor_sweep("digits"),
    "kernel SVM, iris": answer("KernelSVM", "iris", alpha=1e-2),
    "kernel SVM, cancer": answer("KernelSVM", "cancer", alpha=1e-2),
    "kernel SVM, digits": answer("KernelSVM", "digits", alpha=1e-2),
    "kernel logistic, cancer": answer("KernelLogisticRegression", "cancer", alpha=1e-2),
    "kernel least squares, digits": answer("KernelLeastSquares", "digits", alpha=1e-2),
    "kernel scores, cancer": gram_scores("cancer"),
    "Nystroem, digits": lambda: called(nl.Nystroem, random_state=0).fit_transform(rows("digits")[0]),
    "contest, iris": contest("iris"),
    "contest, cancer": contest("cancer"),
    "contest, digits": contest("digits"),
    "save and load, logistic": round_trip("LogisticRegression", "digits"),
    "save and load, k-NN": round_trip("KNeighborsClassifier", "digits"),
}


def seconds(job: Job, runs: int) -> float:
    """Mean seconds of a run, or of one candidate of it where the job counts them."""
    began, units = time.perf_counter(), 0
    for _ in range(runs):
        done = job()
        units += done if type(done) is int else 1
    return (time.perf_counter() - began) / units


def main() -> None:
    warnings.simplefilter("ignore")
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a job prints goes where it is not taken for an answer
    nl.set_num_threads(int(sys.argv[1]))
    for line in sys.stdin:
        runs, name = line.strip().split(" ", 1)
        try:
            print(repr(seconds(JOBS[name], int(runs))), file=told, flush=True)
        except Exception as error:  # a job that this version does not know
            print(f"! {type(error).__name__}: {error}".splitlines()[0], file=told, flush=True)


if __name__ == "__main__":
    main()
