"""Pairs of the matrix: one model of nearline and of scikit-learn, at defaults where these are the same model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.everyday.shapes import Shape

Weights = tuple[np.ndarray, np.ndarray]
Formula = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Pair:
    """How both libraries are called. ``loss`` is that of linear models, whose risks are compared; else labels are."""

    name: str
    ours: Callable[[Shape], Any]
    theirs: Callable[[Shape, str], Any]
    fits: Callable[[Shape], bool] = lambda shape: True
    loss: Formula | None = None
    strength: Callable[[int], float] = lambda n: 1.0 / n  # alpha of (alpha/2) |W|^2
    accelerated: bool = False  # by scikit-learn-intelex


def nearline(name: str, **settings: Any) -> Callable[[Shape], Any]:
    def make(shape: Shape) -> Any:
        import nearline as library

        return getattr(library, name)(**settings)

    return make


def sklearn(module: str, name: str, **settings: Any) -> Callable[[Shape, str], Any]:
    def make(shape: Shape, library: str) -> Any:
        from importlib import import_module

        return getattr(import_module(f"{library}.{module}"), name)(**settings)

    return make


def logistic(F: np.ndarray, y: np.ndarray) -> float:
    """Mean of log(1 + exp(-y f)), or of the softmax loss."""
    if F.shape[1] == 1:
        return float(np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * F[:, 0]).mean())
    highest = F.max(axis=1, keepdims=True)
    normal = highest[:, 0] + np.log(np.exp(F - highest).sum(axis=1))
    return float((normal - F[np.arange(len(y)), y]).mean())


def _signs(F: np.ndarray, y: np.ndarray) -> np.ndarray:
    if F.shape[1] == 1:
        return np.where(y == 1, 1.0, -1.0)[:, None]
    return np.where(y[:, None] == np.arange(F.shape[1]), 1.0, -1.0)


def squared_hinge(F: np.ndarray, y: np.ndarray) -> float:
    """Mean of the sum over classes of max(0, 1 - y f)^2."""
    return float((np.maximum(0.0, 1.0 - _signs(F, y) * F) ** 2).sum(axis=1).mean())


def dense(shape: Shape) -> bool:
    return not shape.sparse


def counts(shape: Shape) -> bool:
    return shape.sparse


def covariance(shape: Shape) -> bool:
    """scikit-learn decomposes the rows: minutes, where both sides are long."""
    return dense(shape) and shape.rows * shape.features * min(shape.rows, shape.features) <= 2e10


def gram(shape: Shape) -> bool:
    return (
        dense(shape) and shape.rows <= 10_000 and shape.rows * shape.features <= 5e6 and shape.classes <= 20
    )


def pairwise(shape: Shape) -> bool:
    """scikit-learn compares all pairs under L1 with one distance function."""
    return dense(shape) and shape.rows * shape.features <= 2e7


PAIRS = (
    Pair(
        "logistic",
        nearline("LogisticRegression"),
        sklearn("linear_model", "LogisticRegression"),
        loss=logistic,
        accelerated=True,
    ),
    Pair("linear SVM", nearline("LinearSVM"), sklearn("svm", "LinearSVC"), loss=squared_hinge),
    Pair(
        "ridge",
        nearline("LeastSquaresClassifier"),
        sklearn("linear_model", "RidgeClassifier"),
    ),
    Pair(
        "k-NN, L2",
        nearline("KNeighborsClassifier"),
        sklearn("neighbors", "KNeighborsClassifier"),
        accelerated=True,
    ),
    Pair(
        "k-NN, L1",
        nearline("KNeighborsClassifier", metric="l1"),
        sklearn("neighbors", "KNeighborsClassifier", metric="manhattan"),
        pairwise,
        accelerated=True,
    ),
    Pair(
        "k-NN, cosine",
        nearline("KNeighborsClassifier", metric="cosine"),
        sklearn("neighbors", "KNeighborsClassifier", metric="cosine"),
    ),
    Pair("nearest centroid", nearline("NearestCentroid"), sklearn("neighbors", "NearestCentroid")),
    Pair("Gaussian naive Bayes", nearline("GaussianNB"), sklearn("naive_bayes", "GaussianNB"), dense),
    Pair(
        "multinomial naive Bayes", nearline("MultinomialNB"), sklearn("naive_bayes", "MultinomialNB"), counts
    ),
    Pair("Bernoulli naive Bayes", nearline("BernoulliNB"), sklearn("naive_bayes", "BernoulliNB")),
    Pair(
        "linear discriminant",
        nearline("LinearDiscriminantAnalysis"),
        sklearn("discriminant_analysis", "LinearDiscriminantAnalysis"),
        covariance,
    ),
    Pair("RBF SVM", nearline("KernelSVM"), sklearn("svm", "SVC"), gram, accelerated=True),
)
