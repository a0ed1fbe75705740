"""Parameters as the user gets them: one representative among equal solutions, in numbers of X's precision."""

import numpy as np

from nearline.params import Params
from nearline.risk import Point, Risk, ScoredPoint


def delivered(risk: Risk, params: Params) -> Params:
    """Parameters to hand out. What rounding takes from W x + b at the mean row, the bias gets back."""
    params = canonical(risk, params)
    if risk.X.dtype == np.float64:
        return params
    W = params.W.astype(risk.X.dtype).astype(np.float64)
    b = params.b + (params.W - W) @ risk.passes.column_moments[0] if risk.bias else params.b
    return Params.of(W, b.astype(risk.X.dtype))


def rounded(risk: Risk, point: Point, enough: float) -> Point:
    """The point as it is delivered, in float64; if its risk is more than enough, with the bias chosen anew."""
    exact = risk.exact
    found: Point = exact.scored(delivered(risk, point.params))
    if found.value <= enough or not (risk.bias and risk.loss.smooth):
        return found
    better = exact.with_best_bias(found)
    b = better.params.b.astype(risk.X.dtype).astype(np.float64)
    shifted = ScoredPoint(exact, Params.of(found.params.W, b), better.scores + (b - better.params.b))
    return min(found, shifted, key=lambda one: one.value)


def canonical(risk: Risk, params: Params) -> Params:
    """The representative among equal solutions: joint losses do not see a shift of all scores alike."""
    if not risk.loss.joint:
        return params
    params = params.copy()
    params.b[:] -= params.b.mean()
    if risk.unpenalized:
        params.W[...] -= params.W.mean(axis=0)
    return params
