"""Models whose files are attacked: every estimator, and what contests keep of tables, numbers, texts, strings and trees."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

import nearline
from nearline.kernels import RBF, Centered, Polynomial, Subsequence
from nearline.representations import REPRESENTATIONS
from nearline.selection.chain import Chain
from nearline.selection.families import FAMILIES, Fold

X, CODES = load_iris(return_X_y=True)
X, CODES = X[::5], CODES[::5]
NAMES = np.array(["setosa", "versicolor", "virginica"])[CODES]
HOLES = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
TEXTS = [f"word{i % 7} thing{c} und Strasse {'x' * (i % 4)}" for i, c in enumerate(CODES)]
TREES = [f"(S (NP {'abc'[c]}) (VP {'de'[i % 2]}))" for i, c in enumerate(CODES)]
TABLE = pd.DataFrame(
    {
        "length": X[:, 0],
        "holes": np.where(np.arange(len(X)) % 5 == 0, np.nan, X[:, 1]),
        "wide": np.where(X[:, 2] > 3, "wide", "narrow"),
        "town": [f"town {i % 11}" if i % 6 else None for i in range(len(X))],
        "day": pd.date_range("2020-01-30", periods=len(X)),
        "note": [f"note {i} of {i * 7919 % 101}" for i in range(len(X))],
    }
)
PIXELS = np.random.default_rng(0).integers(0, 17, (len(X), 16)).astype(np.uint8)
CHOSEN = ("k-NN, L2", "logistic, L2", "kernel SVM", "k-NN, kernel")


def examples() -> list[str]:
    """Names of all models, without fitting any."""
    return [name for name, *_ in _unfitted()]


def example(wanted: str) -> tuple[Any, Any]:
    """A fitted model, and rows that it takes."""
    for name, model, rows, y in _unfitted():
        if name == wanted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return model.fit(rows, y), rows[:8]
    raise KeyError(wanted)


def _unfitted() -> Iterator[tuple[str, Any, Any, Any]]:
    for name, made in nearline.ESTIMATORS.items():
        model = made(nearline.LogisticRegression()) if name in ("OneVsRest", "OneVsOne") else made()
        y = X[:, 0] if name == "KNeighborsRegressor" else CODES
        yield name, model, X, y
        if name != "KNeighborsRegressor":
            yield f"{name} of two", clone(model), X.astype(np.float32), (NAMES != "setosa").astype(str)
    for name, model in _variants().items():
        rows = {"sparse": sparse.csr_matrix(X), "holes": HOLES, "gram": X @ X.T}.get(name.split()[-1], X)
        yield name, model, rows, NAMES
    yield "captions", nearline.NeighborsTransfer(4, consensus=nearline.Consensus()), X, TEXTS
    yield "counted words", make_pipeline(CountVectorizer(), nearline.MultinomialNB()), TEXTS, NAMES
    yield "strings", nearline.KernelSVM(Subsequence(2, 0.5)), TEXTS, NAMES
    for representation in REPRESENTATIONS:
        yield from _contest(representation)


def _variants() -> dict[str, Any]:
    knn = nearline.KNeighborsClassifier
    return {
        "k-NN sparse": knn(3, weights="distance", metric="cosine"),
        "k-NN gram": knn(3, metric="precomputed"),
        "k-NN learned": knn(3, metric=nearline.Mahalanobis("within"), weights=nearline.Temperature(0.1), ties="prior"),
        "SVM gram": nearline.KernelSVM("precomputed", multiclass="one-vs-rest"),
        "SVM centered": nearline.KernelLeastSquares(Centered(Polynomial(2) + RBF(0.1))),
        "neighbors sparse": nearline.KernelNeighborsClassifier(3),
        "sigmoid": nearline.CalibratedClassifier(nearline.LinearSVM(), method="sigmoid", folds=3),
        "isotonic": nearline.CalibratedClassifier(nearline.GaussianNB(), method="isotonic", folds=3),
        "pairs": nearline.OneVsOne(make_pipeline(StandardScaler(), nearline.LinearSVM())),
        "hard margin": nearline.LinearSVM(hard_margin=False, loss="crammer-singer"),
        "medians": nearline.NearestCentroid("l1"),
        "shared": nearline.GaussianNB(shared_variance=True),
        "imputed holes": make_pipeline(
            SimpleImputer(add_indicator=True), RobustScaler(), MinMaxScaler(), nearline.LogisticRegression()
        ),
        "mapped": make_pipeline(nearline.Nystroem(n_components=5), nearline.LogisticRegression()),
        "trivial": make_pipeline(StandardScaler(), DummyClassifier()),
    }  # fmt: skip


def _contest(name: str) -> Iterator[tuple[str, Any, Any, Any]]:
    """Chains of a representation and a family, as contests choose them."""
    numbers = {"as-is": PIXELS, "max-abs": HOLES}.get(name, X)
    kinds = {"table": TABLE, "trees": TREES, "word": TEXTS, "characters": TEXTS}
    rows = next((kinds[kind] for kind in kinds if kind in name), numbers)
    rows = TEXTS if REPRESENTATIONS[name].gives == "gram" and rows is numbers else rows
    way = REPRESENTATIONS[name].adapted(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = way.transformer().fit_transform(rows, CODES)
    fold = Fold(numbers, CODES, None, numbers, np.arange(3), way.gives == "gram")
    families = [family for family in FAMILIES.values() if way.gives in family.takes]
    for family in [one for one in families if one.name in CHOSEN] or families[:2]:
        if family.refuses(fold) is None:
            model = family.estimator(family.grid(fold, "default")[0])
            yield f"{name}: {family.name}", Chain(way.chained(model)), rows, NAMES
