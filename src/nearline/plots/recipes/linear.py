"""Weights, paths, solvers and Gram matrices."""

from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline.estimators import LogisticRegression
from nearline.kernels import RBF
from nearline.plots import kernels, models
from nearline.plots.samples import Sample
from nearline.risk import Risk
from nearline.selection.path import coefficients, path
from nearline.solvers import minimize


def coefficient_path(sample: Sample) -> Any:
    rows = sample.of_two_classes()
    X, y = sample.dense()[rows], sample.y[rows]
    alphas, W, _ = coefficients(path(X, y, loss="logistic", regularizer="l1", n_alphas=40))
    ax = models.plot_coefficients(alphas, W[:, 0], names=sample.names)
    title = "L1 coefficient path: " + " against ".join(map(visible, np.unique(y).tolist()[::-1]))
    ax.set_title(title, fontsize="medium")
    return ax


def objective(sample: Sample, *, alpha: Any = None) -> Any:
    codes = np.unique(sample.y, return_inverse=True)[1]
    if not codes.any():
        raise ValueError(
            "All rows are of one class, whose risk has no minimum: give rows of another class too."
        )
    loss = "softmax" if codes.max() > 1 else "logistic"
    risk = Risk(sample.X, codes, loss=loss, alpha=1e-3 if alpha is None else alpha)
    names = ("gradient-descent", "conjugate-gradient", "lbfgs", "newton-cg", "fista")
    found = {name: minimize(risk, name, tol=1e-9, max_iter=300) for name in names}
    return models.plot_objective(found, seconds=False)


def templates(sample: Sample, *, alpha: Any = None) -> Any:
    if not sample.shape:
        raise ValueError("Templates are weights as images, and these rows are no images: try 'weights'.")
    model = LogisticRegression(alpha=1e-2 if alpha is None else alpha).fit(sample.X, sample.y)
    return models.plot_templates(model, sample.shape)


def weights(sample: Sample, *, alpha: Any = None) -> Any:
    model = LogisticRegression(alpha=1e-3 if alpha is None else alpha).fit(sample.X, sample.y)
    return models.plot_weights(model, sample.names)


def gram(sample: Sample) -> Any:
    X, y = sample.dense(), sample.y
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), 600)).astype(int))  # a heat map shows no more
    return kernels.plot_gram(RBF("scale").fitted(X[rows]), X[rows], y[rows])
