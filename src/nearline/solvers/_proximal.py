"""What the solvers for penalties with kinks share."""

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Point, Risk
from nearline.solvers._refusals import rounds_off


def needs_smooth_loss(risk: Risk, name: str) -> str | None:
    """The one sentence by which they refuse a loss."""
    if risk.loss.refusal is not None:
        return f"{risk.loss.refusal}."
    if not risk.loss.smooth:
        plain = "'dual-coordinate-descent' (with an L2 penalty), 'linear-program' or 'sgd'"
        other = "'smoothing'" if rounds_off(risk) else plain
        return f"Solver '{name}' needs a smooth loss and '{risk.loss.name}' has kinks: use {other}."
    return None


def inner(a: Array, b: Array) -> float:
    """sum of a b. Not by BLAS, which splits long sums over its threads: the last bits would depend on their number."""
    return float((a * b).sum())


def estimated_gap(risk: Risk, point: Point) -> float | None:
    """About what P - D will be at the point, from the gradient that is known already; None where there is no gap.

    With u the gradient of the loss, loss*(u) = u.f - loss(f), so that P - D needs no pass over the rows. Where the
    penalty's conjugate is infinite (L1), u is scaled by some t < 1 into its domain; loss*(t u) lies between its tangent
    and its chord, and the middle is taken.
    """
    if risk.unpenalized or not (risk.elastic or risk.regularizer.knows("conjugate")):
        return None
    W, b, slope_b = point.params.W, point.params.b, point.gradient.b
    # The bias will be at its best in the certificate: what it is off by now must not be multiplied by large means.
    mean, pull = risk.passes.column_moments[0] * risk.bias, np.zeros_like(W)
    risk.add_penalty_gradient(W, pull)
    V = point.gradient.W - pull - np.outer(slope_b, mean)
    product = inner(V, W) + inner(slope_b, b + (W * mean).sum(axis=1))
    V /= -risk.alpha
    t = risk.regularizer.into_domain(V)
    conjugate = risk.regularizer.conjugate(t * V)
    assert conjugate is not None
    gap = point.penalty + t * product + risk.alpha * conjugate + 0.5 * (1.0 - t) * point.data_loss
    return max(gap, 0.0)
