"""How far a point is from the minimum at most: the duality gap of a risk and, where there is none, its gradient.

    D(u) = -(1/S) sum_i s_i loss*(u_i) - alpha R*(-(1/(alpha S)) sum_i s_i u_i x_i^T)

is a lower bound on the risk of every model, for any duals u that sum to zero over the rows (if the bias is free).
"""

from typing import TYPE_CHECKING

import numpy as np

from nearline._arrays.design import Array
from nearline.risk._point import Point

if TYPE_CHECKING:
    from nearline.risk._objective import Objective
    from nearline.risk._risk import Risk


def dual_value(risk: "Risk", duals: Array) -> float | None:
    """D(u) = -(1/S) sum_i s_i loss*(u_i) - alpha R*(-(1/(alpha S)) sum_i s_i u_i x_i^T), u made feasible first.

    None where there is no certificate: alpha = 0, or a loss without a conjugate.
    """
    if risk.unpenalized:
        return None
    u = risk.passes.balanced(duals) if risk.bias else duals
    if u is None:
        return None
    V = -risk.passes.dual_product(u) / (risk.alpha * risk.total_weight)
    scale = risk.regularizer.into_domain(V)
    total = risk.passes.total_conjugate(u, scale)
    penalty = risk.regularizer.conjugate(scale * V)
    if total is None or penalty is None:
        return None
    return -total / risk.total_weight - risk.alpha * penalty


def certify(
    risk: "Objective", point: Point, duals: Array | None = None, enough: float = 0.0
) -> tuple[Point, float | None]:
    """P - D, and the point that it holds for: the one given or, if it is more than enough, that with the best b.

    D <= P, so a negative difference is rounding; its size says how much there is.
    """
    if risk.unpenalized:
        return point, None
    dual = risk.dual_value(risk.passes.duals(point.scores) if duals is None else duals)
    if dual is None:
        return point, None
    gap = abs(point.value - dual)
    if gap <= enough or duals is not None or not (risk.bias and risk.loss.smooth):
        return point, gap
    better = risk.with_best_bias(point)
    better = better if better.value <= point.value else point
    dual = max(dual, risk.dual_value(risk.passes.duals(better.scores)) or dual)
    return better, abs(better.value - dual)


def gradient_test(risk: "Risk", point: Point) -> float:
    """Size of the gradient relative to that at W = 0, each weight in units of its feature's scale.

    With an L1 penalty it is the smallest subgradient, with other kinks W less a proximal step, over its size.
    """
    unit, W, gradient = risk.passes.column_scale, point.params.W, point.gradient.W
    if risk.l1:
        shrunk = np.sign(gradient) * np.maximum(np.abs(gradient) - risk.l1, 0.0)
        gradient = np.where(W != 0, gradient + risk.l1 * np.sign(W), shrunk)
    elif not (risk.elastic or risk.regularizer.smooth):
        gradient = _proximal_gradient(risk, point)
    scaled = np.abs(gradient / unit).max(initial=0.0)
    null = np.abs(risk.null_point.gradient.W / unit).max(initial=0.0)
    own = max(scaled, np.abs(point.gradient.b).max(initial=0.0))
    return float(own / null) if null > 0 else float(own)


def _proximal_gradient(risk: "Risk", point: Point) -> Array:
    """(W - prox(W - t g, t alpha R)) / t, g the gradient of the data loss: 0 exactly where W is the minimizer."""
    W, pull = point.params.W, np.zeros_like(point.params.W)
    risk.add_penalty_gradient(W, pull)
    t = 1.0 / float((risk.passes.column_scale**2).max(initial=1e-300))
    nearest = risk.regularizer.prox(W - t * (point.gradient.W - pull), t * risk.alpha)
    assert nearest is not None  # solvers of penalties with kinks refuse those without
    return np.asarray((W - nearest) / t)
