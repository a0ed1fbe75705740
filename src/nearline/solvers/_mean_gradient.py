"""A sub-gradient that is small at the minimum of a loss with kinks: the mean of those taken on the way."""

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Objective, Point
from nearline.risk.params import Params


def with_mean_gradient(risk: Objective, point: Point, duals: Array, tol: float) -> Point:
    """The point with the mean of the gradients taken, g = (1/S) sum_i s_i u_i x_i^T, in place of one at a kink.

    Without a penalty there is no gap, and the gradient test of a loss with kinks needs the right sub-gradient. By
    Fenchel's inequality g is an epsilon-sub-gradient at the point, epsilon = (1/S) sum_i s_i (loss(f_i) + loss*(u_i)
    - u_i.f_i); it is taken only where epsilon <= tol P(W = 0), else the test must fail.
    """
    conjugate = risk.loss.conjugate(duals, risk.targets)
    if conjugate is None:
        return point
    scores = point.scores.astype(np.float64)
    excess = risk.loss.value(scores, risk.targets) + conjugate - (duals * scores).sum(axis=1)
    if not risk.weights @ excess <= tol * risk.null_value * risk.total_weight:
        return point
    gradients = duals * risk.weights[:, None] / risk.total_weight
    bias = gradients.sum(axis=0) if risk.bias else np.zeros(risk.n_outputs)
    return Point(
        point.params,
        point.scores,
        point.data_loss,
        point.penalty,
        gradient=Params.of(risk.passes.back_product(gradients), bias),
    )
