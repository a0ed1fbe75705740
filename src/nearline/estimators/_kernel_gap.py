"""The duality gap of a kernel machine with a smooth loss, from the coefficients that the user gets."""

import numpy as np

from nearline.arrays import Array
from nearline.losses import Loss


def kernel_gap(
    loss: Loss, K: Array, A: Array, b: Array, targets: Array, weights: Array, alpha: float, *, bias: bool
) -> float | None:
    """(P - D) / P of the scores F = K A + b under mean loss + (alpha/2) |W|^2, with |W|^2 = tr A' K A.

    D = -(1/S) sum_i s_i loss*(u_i) - tr (s u)' K (s u) / (2 alpha S^2) for u the gradient of the loss, balanced where a
    bias is free. None without a penalty, or for a loss without a conjugate.
    """
    S, KA = float(weights.sum()), K @ A
    values, u = loss.value_and_gradient(KA + b, targets)
    balanced = loss.balance(u, targets, weights) if bias else u
    if alpha == 0 or balanced is None:
        return None
    conjugate = loss.conjugate(balanced, targets)
    if conjugate is None:
        return None
    primal = float(weights @ values) / S + 0.5 * alpha * float((A * KA).sum())
    mass = weights[:, None] * balanced
    dual = -float(weights @ conjugate) / S - float((mass * (K @ mass)).sum()) / (2.0 * alpha * S * S)
    return abs(primal - dual) / max(primal, float(np.finfo(float).tiny))
