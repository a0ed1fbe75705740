"""Exact zeros for the mean of SGD's iterates, which has hardly any: each iterate has its own."""

from collections.abc import Iterator

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Point, Risk
from nearline.risk.params import Params

STRIDES = (
    10.0,
    1.0,
)  # lengths of the proximal step that are tried, in units of the one that is safe for a weight alone


def with_zeros(risk: Risk, mean: Params, last: Params, duals: Array | None) -> Point:
    """The risk at the mean with weights set to 0, by the first of these rules that does not raise the risk.

    Weight j is 0 where a proximal step on it alone ends there (for L1: |w_j - t_j g_j| <= t_j alpha), with g the gradient
    of the data loss (of losses with kinks: the mean of the gradients taken) and t_j a stride / curvature of the loss along
    w_j. Else it is 0 where the last iterate is. Else the mean stays as it is.
    """
    here = risk.at(mean) if duals is None else risk.scored(mean)
    for zero in _rules(risk, here, last, duals):
        params = mean.copy()
        params.W[zero] = 0.0
        there = risk.scored(params)
        if there.value <= here.value:
            return there
    return here


def _rules(risk: Risk, here: Point, last: Params, duals: Array | None) -> Iterator[Array]:
    W = here.params.W
    if duals is None:
        pull = np.zeros_like(W)
        risk.add_penalty_gradient(W, pull)
        gradient = here.gradient.W - pull
    else:
        gradient = risk.passes.back_product(duals * risk.weights[:, None]) / risk.total_weight
    center, deviation = risk.passes.column_moments
    curvature = risk.loss.own.steepness * (center**2 + deviation**2)
    t = 1.0 / np.where(curvature > 0, curvature, 1.0)
    t = t if risk.regularizer.by_feature else np.full_like(t, t.min(initial=np.inf))
    for stride in STRIDES:
        step = stride * t if risk.regularizer.by_feature else stride * float(t[0])
        nearest = risk.regularizer.prox(W - step * gradient, step * risk.alpha)
        if nearest is not None:
            yield nearest == 0
    yield last.W == 0
