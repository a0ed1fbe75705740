"""The best bias for given scores: Newton's method in K dimensions."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nearline._arrays.design import Array


class BiasSums(NamedTuple):
    """The summed loss of scores + b, its gradient and curvature in b."""

    value: float
    gradient: Array  # (K,)
    curvature: Array | None  # (K, K); None where the loss has none


def minimize_bias(
    sums_at: Callable[[Array], BiasSums],
    n_outputs: int,
    total_weight: float,
    *,
    max_iter: int = 100,
    tol: float = 1e-14,
) -> Array:
    """argmin_b sum_i s_i loss(f_i + b, y_i) for a smooth loss: damped Newton (gradient steps without curvature)."""
    b = np.zeros(n_outputs)
    here = sums_at(b)
    for _ in range(max_iter):
        if np.abs(here.gradient).max() <= tol * total_weight:
            break
        step = _newton_step(here, total_weight)
        slope, t = float(here.gradient @ step), 1.0
        if -slope <= 4.0 * np.finfo(float).eps * abs(here.value):
            # Values cannot tell better from worse any more; the last Newton step still halves the error or better.
            return b + step if here.curvature is not None else b
        there = sums_at(b + step)
        while t > 1e-12 and not there.value <= here.value + 1e-4 * t * slope:
            t *= 0.5
            there = sums_at(b + t * step)
        if not there.value <= here.value:
            break
        b, here = b + t * step, there
    return b


def _newton_step(here: BiasSums, total_weight: float) -> Array:
    H = np.eye(len(here.gradient)) if here.curvature is None else here.curvature / total_weight
    # The ridge keeps the step finite along directions without curvature (softmax: all scores alike).
    ridge = 1e-12 * np.eye(len(H))
    step = -np.linalg.lstsq(H + ridge, here.gradient / total_weight, rcond=None)[0]
    return np.asarray(step * min(1.0, 20.0 / max(float(np.abs(step).max()), 1e-300)))
