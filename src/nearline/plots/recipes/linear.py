"""Weights, paths, solvers and Gram matrices."""

from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline.kernels import as_kernel
from nearline.plots import kernels, models
from nearline.plots.recipes.models import checked_whole, linear_of
from nearline.plots.samples import Sample
from nearline.risk import Risk
from nearline.selection.path import coefficients, path
from nearline.solvers import minimize


def coefficient_path(
    sample: Sample, *, loss: str = "logistic", regularizer: str = "l1", alphas: Any = None
) -> Any:
    rows = sample.of_two_classes()
    X, y = sample.dense()[rows], sample.y[rows]
    alphas, W, _ = coefficients(path(X, y, loss=loss, regularizer=regularizer, alphas=alphas, n_alphas=40))
    ax = models.plot_coefficients(alphas, W[:, 0], names=sample.names)
    how = regularizer.upper() if loss == "logistic" else f"{loss}, {regularizer}"
    title = f"{how} coefficient path: " + " against ".join(map(visible, np.unique(y).tolist()[::-1]))
    ax.set_title(title, fontsize="medium")
    return ax


def objective(
    sample: Sample,
    *,
    loss: Any = None,
    alpha: float = 1e-3,
    solvers: Any = ("gradient-descent", "conjugate-gradient", "lbfgs", "newton-cg", "fista"),
    steps: int = 300,
) -> Any:
    codes = np.unique(sample.y, return_inverse=True)[1]
    if not codes.any():
        raise ValueError(
            "All rows are of one class, whose risk has no minimum: give rows of another class too."
        )
    loss = loss or ("softmax" if codes.max() > 1 else "logistic")
    risk = Risk(sample.X, codes, loss=loss, alpha=alpha)
    most = checked_whole("steps", steps, most=100_000)
    found = {name: minimize(risk, name, tol=1e-9, max_iter=most) for name in solvers}
    return models.plot_objective(found, seconds=False)


def templates(sample: Sample, *, model: Any = None, alpha: Any = None) -> Any:
    if not sample.shape:
        raise ValueError("Templates are weights as images, and these rows are no images: try 'weights'.")
    made, _ = linear_of(model, alpha, 1e-2)
    return models.plot_templates(made.fit(sample.X, sample.y), sample.shape)


def weights(sample: Sample, *, model: Any = None, alpha: Any = None, top: int = 8) -> Any:
    made, _ = linear_of(model, alpha, 1e-3)
    most = checked_whole("top", top, most=100)
    return models.plot_weights(made.fit(sample.X, sample.y), sample.names, top=most)


def gram(sample: Sample, *, kernel: str = "rbf") -> Any:
    X, y = sample.dense(), sample.y
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), 600)).astype(int))  # a heat map shows no more
    return kernels.plot_gram(as_kernel(kernel).fitted(X[rows]), X[rows], y[rows])
