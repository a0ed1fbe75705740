"""Parameters as the user gets them: one representative among equal solutions, in numbers of X's precision."""

from functools import partial

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Objective, Point, ScoredPoint
from nearline.risk.params import Params


def delivered(risk: Objective, params: Params) -> Params:
    """Parameters to hand out. What rounding takes from W x + b at the mean row, the bias gets back."""
    params = canonical(risk, params)
    if risk.precision == np.float64:
        return params
    W = params.W.astype(risk.precision).astype(np.float64)
    b = params.b + (params.W - W) @ risk.passes.column_moments[0] if risk.bias else params.b
    return Params.of(W, b.astype(risk.precision))


def rounded(risk: Objective, point: Point, enough: float) -> Point:
    """The point as it is delivered, in float64; if its risk is more than enough, with the bias chosen anew."""
    exact = risk.exact
    found: Point = exact.scored(delivered(risk, point.params))
    if found.value <= enough or not risk.bias:
        return found
    better = exact.with_best_bias(found) if risk.loss.smooth else with_searched_bias(exact, found)
    b = better.params.b.astype(risk.precision).astype(np.float64)
    scores = exact.passes.shifted(better.scores, b - better.params.b)
    shifted = ScoredPoint(exact, Params.of(found.params.W, b), scores)
    return min(found, shifted, key=lambda one: one.value)


def with_searched_bias(risk: Objective, point: Point) -> Point:
    """The point with a better b for the same W, where slopes do not lead to it: the risk is convex in each b_c."""
    from scipy.optimize import minimize_scalar

    scores, b = point.scores, point.params.b
    for unit in np.eye(risk.n_outputs):
        total = partial(_moved_loss, risk, scores, unit)
        step = float(minimize_scalar(total).x)
        if total(step) < total(0.0):
            scores, b = risk.passes.shifted(scores, step * unit), b + step * unit
    return ScoredPoint(risk, Params.of(point.params.W, b), scores)


def _moved_loss(risk: Objective, scores: Array, unit: Array, step: float) -> float:
    return risk.passes.total_loss(risk.passes.shifted(scores, step * unit))


def canonical(risk: Objective, params: Params) -> Params:
    """The representative among equal solutions: joint losses do not see a shift of all scores alike."""
    if not risk.loss.joint:
        return params
    params = params.copy()
    params.b[:] -= params.b.mean()
    if risk.unpenalized:
        params.W[...] -= params.W.mean(axis=0)
    return params
