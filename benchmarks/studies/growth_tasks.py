"""What grows: each engine on generated data of one size, and the slopes that are the best known for its method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

Task = Callable[[], Any]


@dataclass(frozen=True)
class Growth:
    """An engine along one of its sizes, the others fixed."""

    engine: str
    axis: str  # "rows", "features", "classes", "queries", "components"
    sizes: tuple[int, ...]
    make: Callable[[int], Task]  # data are made here, off the clock
    best: float  # the best known slope of the method, in log time over log size
    why: str = ""  # the work that gives it


def dense(n: int, D: int, C: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Rows around one center a class, which overlap."""
    rng = np.random.default_rng(0)
    codes = np.arange(n) % C
    return rng.normal(size=(n, D)) + 0.3 * rng.normal(size=(C, D))[codes], codes


def sparse(n: int, D: int, C: int = 2) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows of 50 numbers in random columns."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, D, size=(n, 50)), axis=1)
    X = sp.csr_matrix((rng.exponential(size=n * 50), columns.ravel(), np.arange(0, 50 * n + 1, 50)), (n, D))
    X.sum_duplicates()
    means = rng.normal(size=(D, C))
    return X, np.argmax(X @ means + rng.normal(size=(n, C)), axis=1)


def fit(name: str, rows: Any, **parameters: Any) -> Task:
    import nearline

    X, y = rows
    return lambda: getattr(nearline, name)(**parameters).fit(X, y)


def built(n: int, D: int) -> Task:
    from nearline import Index

    X, _ = dense(n, D)
    return lambda: Index(X).search(X[:1], 1)


def searched(n: int, D: int, q: int) -> Task:
    from nearline import Index

    X, _ = dense(n + q, D)
    index = Index(X[:n])
    index.search(X[n : n + 1], 1)
    return lambda: index.search(X[n:], 10)


def mapped(n: int, D: int, m: int) -> Task:
    from nearline import Nystroem
    from nearline.kernels import RBF

    X, _ = dense(n, D)
    return lambda: Nystroem(RBF(1.0 / D), m).fit(X).transform(X)


def contest(n: int, D: int, C: int = 2) -> Task:
    from nearline import TryThemAll

    X, y = dense(n, D, C)
    return lambda: TryThemAll("quick", progress="silent").fit(X, y)


def _fits(engine: str, name: str, rows: Any, sizes: dict[str, tuple[int, ...]], best: dict[str, float],
          why: dict[str, str], **parameters: Any) -> tuple[Growth, ...]:  # fmt: skip
    """Along rows, features and classes, from the middle of the other sizes."""
    n, D = sizes["rows"][1], sizes["features"][1]
    makes: dict[str, Callable[[int], Task]] = {
        "rows": lambda size: fit(name, rows(size, D), **parameters),
        "features": lambda size: fit(name, rows(n, size), **parameters),
        "classes": lambda size: fit(name, rows(n, D, size), **parameters),
    }
    return tuple(
        Growth(engine, axis, sizes[axis], makes[axis], best[axis], why.get(axis, "")) for axis in sizes
    )


LINEAR = {"rows": 1.0, "features": 1.0, "classes": 1.0}
PARTS: dict[str, tuple[Growth, ...]] = {
    "linear-dense": _fits(
        "logistic regression, dense", "LogisticRegression", dense,
        {"rows": (4000, 8000, 16000, 32000, 64000), "features": (25, 50, 100, 200, 400), "classes": (2, 4, 8, 16)},
        LINEAR, dict.fromkeys(LINEAR, "passes over the rows"), alpha=1e-3,
    ),
    "linear-sparse": _fits(
        "logistic regression, sparse", "LogisticRegression", sparse,
        {"rows": (4000, 8000, 16000, 32000), "features": (2000, 4000, 8000, 16000), "classes": (2, 4, 8, 16)},
        {**LINEAR, "features": 0.0}, {"features": "the numbers in a row are always 50"}, alpha=1e-3,
    ),
    "neighbors": (
        Growth("k-NN, build", "rows", (8000, 16000, 32000, 64000), lambda n: built(n, 32), 1.0, "a copy of the rows"),
        Growth("k-NN, build", "features", (8, 16, 32, 64, 128), lambda D: built(16000, D), 1.0, "a copy of the rows"),
        Growth("k-NN, search", "rows", (8000, 16000, 32000, 64000), lambda n: searched(n, 32, 1000), 1.0,
               "every row is compared in many dimensions"),
        Growth("k-NN, search", "features", (8, 16, 32, 64, 128), lambda D: searched(16000, D, 1000), 1.0),
        Growth("k-NN, search", "queries", (500, 1000, 2000, 4000), lambda q: searched(16000, 32, q), 1.0),
    ),
    "naive-bayes": _fits(
        "naive Bayes, Gaussian", "GaussianNB", dense,
        {"rows": (16000, 32000, 64000, 128000), "features": (25, 50, 100, 200), "classes": (2, 8, 32, 128)},
        {**LINEAR, "classes": 0.0}, {"classes": "each row is added to one class"},
    ),
    "discriminant": _fits(
        "linear discriminant", "LinearDiscriminantAnalysis", dense,
        {"rows": (16000, 32000, 64000, 128000), "features": (50, 100, 200, 400), "classes": (2, 8, 32, 128)},
        {**LINEAR, "features": 2.0, "classes": 0.0}, {"features": "the covariance matrix"},
    ),
    "kernel-svm": _fits(
        "kernel SVM", "KernelSVM", dense,
        {"rows": (500, 1000, 2000, 4000), "features": (25, 50, 100, 200), "classes": (2, 4, 8, 16)},
        {"rows": 2.0, "features": 1.0, "classes": 0.0},
        {"rows": "the Gram matrix; the steps of SMO grow between n and n^2", "classes": "pairs share one Gram matrix"},
    ),
    "nystroem": (
        Growth("Nystroem", "rows", (4000, 8000, 16000, 32000), lambda n: mapped(n, 50, 300), 1.0),
        Growth("Nystroem", "features", (25, 50, 100, 200), lambda D: mapped(8000, D, 300), 1.0),
        Growth("Nystroem", "components", (100, 200, 400, 800), lambda m: mapped(8000, 50, m), 2.0,
               "rows times components squared, and its cube"),
    ),
    "contest": (
        Growth("contest, quick", "rows", (500, 1000, 2000, 4000), lambda n: contest(n, 20), 2.0,
               "k-NN compares all rows with all rows"),
        Growth("contest, quick", "features", (10, 20, 40, 80), lambda D: contest(1000, D), 1.0),
        Growth("contest, quick", "classes", (2, 4, 8, 16), lambda C: contest(1000, 20, C), 1.0),
    ),
}  # fmt: skip
