"""The whole contest against GridSearchCV: the same candidates, folds and preprocessing, two processes.

    python -m benchmarks.bench_try_all fashion|adult|newsgroups|table [--cap 120] [--rows N]

Every family is a GridSearchCV(Pipeline(representation, scikit-learn's model), candidates, n_jobs=2) of its own. One that has
not ended after ``--cap`` seconds is stopped and counted with the cap, so the ratio is a lower bound. With ``--folds 1``
the peer runs one fold, and five times its time are counted. Families that
scikit-learn has not (sparsemax, Weston-Watkins) are left out on both sides.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from nearline import TryThemAll

WITHOUT_PEER = (
    "sparsemax",
    "SVM, Weston-Watkins",
    "kernel",
    "low-rank",
)  # kernels have contests of their own


def fashion(rows: int | None) -> tuple[Any, np.ndarray]:
    """Fashion-MNIST, 10,000 images."""
    from benchmarks.data import load

    split = load("fashion", None, "float32")
    n = rows or 10_000
    return split.X[:n], split.y[:n]


def adult(rows: int | None) -> tuple[Any, np.ndarray]:
    """Adult census, 32,561 rows of mixed types with missing values."""
    import pandas as pd

    folder = data_folder()
    if folder is None:
        raise SystemExit("adult needs the folder of real data: see benchmarks/data.py")
    names = ["age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation"]
    names += [
        "relationship",
        "race",
        "sex",
        "capital_gain",
        "capital_loss",
        "hours_per_week",
        "country",
        "income",
    ]
    file = next((folder / "tabular_mixed").rglob("adult.data*"))
    table = pd.read_csv(file, names=names, na_values="?", skipinitialspace=True).iloc[: rows or None]
    return table.drop(columns="income"), table["income"].to_numpy(dtype=str)


def newsgroups(rows: int | None) -> tuple[Any, np.ndarray]:
    """20 Newsgroups, 11,314 texts."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("newsgroups needs the folder of real data: see benchmarks/data.py")
    with gzip.open(folder / "newsgroups20" / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    texts, labels = [record["text"] for record in records], [record["label"] for record in records]
    order = np.random.default_rng(0).permutation(len(texts))[: rows or None]
    return [texts[i] for i in order], np.asarray(labels)[order]


def table(rows: int | None) -> tuple[Any, np.ndarray]:
    """1,000 generated rows, 20 columns, 3 classes."""
    from sklearn.datasets import make_classification

    return make_classification(rows or 1000, 20, n_informative=8, n_classes=3, random_state=0)


DATA: dict[str, Callable[[int | None], tuple[Any, np.ndarray]]] = {
    "fashion": fashion,
    "adult": adult,
    "newsgroups": newsgroups,
    "table": table,
}


def peer(family: str, n: int) -> Callable[[dict[str, Any]], Any] | None:
    """scikit-learn's model for the parameters of a candidate; n rows are learned from."""
    from sklearn import discriminant_analysis, dummy, linear_model, naive_bayes, neighbors, svm

    def C(p: dict[str, Any]) -> float:
        return 1.0 / (n * p["alpha"])

    metrics = {"l2": "euclidean", "l1": "manhattan", "cosine": "cosine"}
    saga = {"solver": "saga", "tol": 1e-3, "max_iter": 1000}
    return {
        "majority": lambda p: dummy.DummyClassifier(),
        "nearest centroid": lambda p: neighbors.NearestCentroid(metric=metrics[p["metric"]]),
        "naive Bayes, Gaussian": lambda p: naive_bayes.GaussianNB(var_smoothing=p["smoothing"]),
        "naive Bayes, multinomial": lambda p: naive_bayes.MultinomialNB(alpha=p["smoothing"]),
        "naive Bayes, Bernoulli": lambda p: naive_bayes.BernoulliNB(alpha=p["smoothing"]),
        "linear discriminant": lambda p: discriminant_analysis.LinearDiscriminantAnalysis(
            solver="lsqr", shrinkage=p["shrinkage"]
        ),
        "least squares": lambda p: linear_model.RidgeClassifier(alpha=n * p["alpha"]),
        "perceptron": lambda p: linear_model.SGDClassifier(
            loss="perceptron",
            alpha=0.0,
            penalty=None,
            learning_rate="constant",
            eta0=1.0,
            average=True,
            max_iter=30,
        ),
        "k-NN, L2": lambda p: neighbors.KNeighborsClassifier(p["n_neighbors"], weights=p["weights"]),
        "k-NN, L1": lambda p: neighbors.KNeighborsClassifier(
            p["n_neighbors"], weights=p["weights"], metric="manhattan"
        ),
        "k-NN, cosine": lambda p: neighbors.KNeighborsClassifier(
            p["n_neighbors"], weights=p["weights"], metric="cosine"
        ),
        "logistic, L2": lambda p: linear_model.LogisticRegression(C=C(p), max_iter=1000),
        "SVM, squared hinge": lambda p: svm.LinearSVC(C=C(p) / 2, tol=1e-3),
        "SVM, hinge": lambda p: svm.LinearSVC(C=C(p), loss="hinge", tol=1e-3),
        "SVM, Crammer-Singer": lambda p: svm.LinearSVC(C=C(p), multi_class="crammer_singer", tol=1e-3),
        "logistic, L1": lambda p: linear_model.LogisticRegression(C=C(p), l1_ratio=1.0, **saga),
        "logistic, elastic net": lambda p: linear_model.LogisticRegression(C=C(p), l1_ratio=0.5, **saga),
    }.get(family)


def _ready() -> None:
    import sklearn.linear_model
    import sklearn.pipeline  # noqa: F401

    import nearline.representations  # noqa: F401

    time.sleep(0.1)


def grid_search(
    family: str, way: Any, parameters: list[dict[str, Any]], X: Any, y: np.ndarray, folds: Any, pipe: Any
) -> None:
    """One family by GridSearchCV; sends (seconds, best mean)."""
    from joblib import Parallel, delayed
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    os.setsid()  # a group of its own, so that its workers end with it
    warnings.simplefilter("ignore")
    os.environ["PYTHONWARNINGS"] = "ignore"
    make = peer(family, len(folds[0][0]))
    assert make is not None
    models = [make(p) for p in parameters]
    Parallel(n_jobs=2)(
        delayed(_ready)() for _ in range(8)
    )  # workers that run and have imported are not on the clock
    start = time.perf_counter()
    search = GridSearchCV(
        Pipeline([("representation", way.transformer()), ("model", models[0])]),
        {"model": models},
        cv=folds,
        n_jobs=2,
        refit=False,
    ).fit(X, y)
    pipe.send((time.perf_counter() - start, float(np.nanmax(search.cv_results_["mean_test_score"]))))


def capped(cap: float, *work: Any) -> tuple[float, float | None]:
    """Seconds and best mean of a grid search in a process of its own; at most ``cap`` seconds."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=grid_search, args=(*work, there))
    process.start()
    try:
        if here.poll(cap):
            return here.recv()
    except EOFError:
        pass
    finally:
        try:
            os.killpg(process.pid, 9)
        except (ProcessLookupError, PermissionError):
            process.kill()
        process.join()
    return cap, None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", choices=sorted(DATA))
    parser.add_argument("--cap", type=float, default=120.0, help="seconds for each family of the peer")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument(
        "--folds", type=int, default=5, help="folds that the peer runs; its time is scaled to 5"
    )
    parser.add_argument("--ours", action="store_true", help="only nearline")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = DATA[arguments.data](arguments.rows)
    start = time.perf_counter()
    contest = TryThemAll(exclude=WITHOUT_PEER, test=None, progress="silent").fit(X, y)
    ours = time.perf_counter() - start
    print(contest.leaderboard_)
    print(f"\nnearline: {len(contest.leaderboard_)} candidates x 5 folds in {ours:.1f} s\n")
    if arguments.ours:
        return
    units: dict[tuple[str, str], list[Any]] = {}
    for entry in contest.leaderboard_:
        units.setdefault((entry.family, entry.representation), []).append(entry)
    total, best, stopped = 0.0, 0.0, 0
    for (family, name), entries in units.items():
        parameters = [entry.parameters for entry in entries]
        work = family, contest._ways[name], parameters, X, y, contest._folds[: arguments.folds]
        seconds, score = capped(arguments.cap, *work)
        seconds *= 5 / arguments.folds
        total, best, stopped = total + seconds, max(best, score or 0.0), stopped + (score is None)
        own = max(contest.leaderboard_.mean(entry) for entry in entries)
        shown = "stopped" if score is None else f"{score:.4f}"
        print(
            f"{family:26} {name:13} {len(entries):3} candidates  {seconds:8.1f} s  best {shown}  ours {own:.4f}",
            flush=True,
        )
    least = "at least " if stopped else ""
    print(f"\nGridSearchCV, n_jobs=2: {least}{total:.0f} s ({stopped} of {len(units)} families stopped)")
    own = contest.leaderboard_.mean(contest.best_)
    where = "" if arguments.folds == 5 else f" (on {arguments.folds} of 5 folds only)"
    print(f"ratio: {least}{total / ours:.1f}; best mean: nearline {own:.4f}, scikit-learn {best:.4f}{where}")
    print(
        json.dumps(
            {"data": arguments.data, "ours": ours, "peer": total, "stopped": stopped, "cap": arguments.cap}
        )
    )


if __name__ == "__main__":
    main()
