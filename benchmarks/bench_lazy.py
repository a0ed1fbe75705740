"""TryThemAll beside LazyPredict: time, and accuracy on rows that neither has seen.

    python -m benchmarks.bench_lazy

LazyPredict fits each of scikit-learn's classifiers once, with its defaults, and ranks them by their score on the test rows
it is given; here these are a part of the training rows, and the winner is scored on other rows. It needs
``pip install lazypredict``.
"""

import time
import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.model_selection import train_test_split

from nearline import TryThemAll


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {
        "table, 1,000 x 20": make_classification(1500, 20, n_informative=8, n_classes=3, random_state=0),
        "breast cancer, 569 x 30": load_breast_cancer(return_X_y=True),
        "wine, 178 x 13": load_wine(return_X_y=True),
        "digits, 1,797 x 64": load_digits(return_X_y=True),
    }


def lazy(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> tuple[float, float, str]:
    """Seconds, accuracy on the rows left out, and which model: fitted on 4/5, ranked on 1/5, fitted again on all."""
    from lazypredict.Supervised import LazyClassifier

    X, X_test = (pd.DataFrame(part, columns=[f"x{j}" for j in range(part.shape[1])]) for part in (X, X_test))
    start = time.perf_counter()
    X_train, X_rank, y_train, y_rank = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    contest = LazyClassifier(verbose=0, ignore_warnings=True)
    ranked, _ = contest.fit(X_train, X_rank, y_train, y_rank)
    name = ranked["Accuracy"].idxmax()
    model = clone(contest.models[name]).fit(X, y)
    seconds = time.perf_counter() - start
    return seconds, float(np.mean(model.predict(X_test) == y_test)), str(name)


def ours(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> tuple[float, float, str]:
    start = time.perf_counter()
    contest = TryThemAll(test=None, progress="silent").fit(X, y)
    seconds = time.perf_counter() - start
    return seconds, float(np.mean(contest.predict(X_test) == y_test)), str(contest.best_)


def main() -> None:
    warnings.simplefilter("ignore")
    for name, (X, y) in sets().items():
        parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=1)
        X_train, X_test, y_train, y_test = parts
        for who, run in (("nearline", ours), ("LazyPredict", lazy)):
            try:
                seconds, accuracy, model = run(X_train, y_train, X_test, y_test)
            except Exception as error:
                print(f"{name:24} {who:12} failed: {type(error).__name__}: {error}")
                continue
            print(f"{name:24} {who:12} {seconds:6.1f} s  accuracy {accuracy:.4f}  {model}", flush=True)


if __name__ == "__main__":
    main()
