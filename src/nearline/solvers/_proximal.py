"""What the solvers for penalties with kinks share."""

import numpy as np

from nearline.arrays import Array
from nearline.risk import Point, Risk


def needs_smooth_loss(risk: Risk, name: str) -> str | None:
    """The one sentence by which they refuse a loss."""
    if risk.loss.refusal is not None:
        return f"{risk.loss.refusal}."
    if not risk.loss.smooth:
        rounded = risk.loss.smoothed(1.0) is not None and not risk.unpenalized
        other = (
            "'smoothing'"
            if rounded
            else "'dual-coordinate-descent' (with an L2 penalty), 'linear-program' or 'sgd'"
        )
        return f"Solver '{name}' needs a smooth loss and '{risk.loss.name}' has kinks: use {other}."
    return None


def inner(a: Array, b: Array) -> float:
    """sum of a b. Not by BLAS, which splits long sums over its threads: the last bits would depend on their number."""
    return float((a * b).sum())


def estimated_gap(risk: Risk, point: Point) -> float | None:
    """About what P - D will be at the point, from the gradient that is known already; None where there is no gap.

    With u the gradient of the loss, loss*(u) = u.f - loss(f), so that P - D needs no pass over the rows. For L1 u is
    scaled by some t < 1 into the domain; loss*(t u) lies between its tangent and its chord, and the middle is taken.
    """
    if risk.unpenalized or not risk.elastic:
        return None
    W, b, slope_b = point.params.W, point.params.b, point.gradient.b
    # The bias will be at its best in the certificate: what it is off by now must not be multiplied by large means.
    mean = risk.passes.column_moments[0] * risk.bias
    V = point.gradient.W - risk.l2 * W - np.outer(slope_b, mean)
    product = inner(V, W) + inner(slope_b, b + (W * mean).sum(axis=1))
    if risk.l2 > 0:
        excess = np.maximum(np.abs(V) - risk.l1, 0.0)
        gap = point.penalty + product + inner(excess, excess) / (2.0 * risk.l2)
    else:
        t = min(1.0, risk.l1 / max(float(np.abs(V).max(initial=0.0)), np.finfo(float).tiny))
        gap = point.penalty + t * product + 0.5 * (1.0 - t) * point.data_loss
    return max(gap, 0.0)
