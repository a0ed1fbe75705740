"""Steps of solvers down a risk of two classes."""

from typing import Any

import numpy as np

from nearline.plots.descent import plot_descent, plot_newton
from nearline.plots.recipes.models import checked_whole
from nearline.plots.recipes.planes import in_the_plane, noted
from nearline.plots.samples import Flat, Sample, Units
from nearline.risk import Risk
from nearline.solvers import SGD, DecayingStep, GradientDescent


def _risk(sample: Sample, features: int, loss: str, alpha: float) -> tuple[Risk, Flat]:
    """That of standardized rows without a bias, over the first features or the plane of most difference."""
    flat = sample.flat(two_classes=True)
    flat = flat if flat.X.shape[1] <= 2 else in_the_plane(flat)[0]
    X, codes = Units.of(flat.X).off(flat.X)[:, :features], np.unique(flat.y, return_inverse=True)[1]
    return Risk(X, codes, loss=loss, alpha=alpha, bias=False), flat


def descent(
    sample: Sample,
    *,
    loss: str = "logistic",
    alpha: float = 2e-2,
    solvers: Any = None,
    start: Any = (-1.5, 1.0),
    steps: int = 40,
) -> Any:
    usual = {
        "fixed step": GradientDescent(step_size=1.0),
        "decaying step": GradientDescent(step_size=DecayingStep(2.0, 0.2)),
        "line search": "gradient-descent",
        "Newton": "newton",
        "SGD": SGD(schedule="decaying", eta=0.2, averaged=False),
    }
    risk, flat = _risk(sample, 2, loss, alpha)
    if len(start) < risk.n_features:
        raise ValueError(f"A start has {risk.n_features} weights here, got {len(start)}: give as many.")
    first, most = risk.zeros(), checked_whole("steps", steps, most=10_000)
    first.W[0] = start[: risk.n_features]
    return noted(plot_descent(risk, solvers or usual, start=first, max_iter=most), flat)


def newton(
    sample: Sample, *, loss: str = "logistic", alpha: float = 2e-2, start: Any = (0.0,), steps: int = 3
) -> Any:
    risk, flat = _risk(sample, 1, loss, alpha)
    return noted(plot_newton(risk, start=start[0], steps=checked_whole("steps", steps, most=100)), flat)
