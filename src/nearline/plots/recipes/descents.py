"""Steps of solvers down the logistic risk of two classes."""

from typing import Any

import numpy as np

from nearline.plots.descent import plot_descent, plot_newton
from nearline.plots.recipes.planes import in_the_plane, noted
from nearline.plots.samples import Flat, Sample, Units
from nearline.risk import Risk
from nearline.solvers import SGD, DecayingStep, GradientDescent


def _risk(sample: Sample, features: int, alpha: Any) -> tuple[Risk, Flat]:
    """That of standardized rows without a bias, over the first features or the plane of most difference."""
    flat = sample.flat(two_classes=True)
    flat = flat if flat.X.shape[1] <= 2 else in_the_plane(flat)[0]
    X, codes = Units.of(flat.X).off(flat.X)[:, :features], np.unique(flat.y, return_inverse=True)[1]
    return Risk(X, codes, loss="logistic", alpha=2e-2 if alpha is None else alpha, bias=False), flat


def descent(sample: Sample, *, alpha: Any = None) -> Any:
    solvers = {
        "fixed step": GradientDescent(step_size=1.0),
        "decaying step": GradientDescent(step_size=DecayingStep(2.0, 0.2)),
        "line search": "gradient-descent",
        "Newton": "newton",
        "SGD": SGD(schedule="decaying", eta=0.2, averaged=False),
    }
    risk, flat = _risk(sample, 2, alpha)
    start = risk.zeros()
    start.W[0] = (-1.5, 1.0)[: risk.n_features]
    return noted(plot_descent(risk, solvers, start=start, max_iter=40), flat)


def newton(sample: Sample, *, alpha: Any = None) -> Any:
    risk, flat = _risk(sample, 1, alpha)
    return noted(plot_newton(risk), flat)
