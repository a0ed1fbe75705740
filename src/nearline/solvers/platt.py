"""Platt's sigmoids: P(own class | score f) = sigma(a f + c), the lines of many scores fitted at once.

The log-loss is minimized with targets (N1 + 1) / (N1 + 2) for the own rows and 1 / (N0 + 2) for the others, N1 and N0 the
sums of their weights, so that scores that tell them apart perfectly have a finite slope.
"""

import numpy as np
from scipy.special import expit, logit

from nearline._arrays.design import Array
from nearline._parallel.stopping import checkpoint

STEPS, HALVINGS = 100, 34
SMALLEST_GRADIENT = 1e-10  # of the sum of weights
SMALLEST_GAIN = 1e-14  # of the loss: a step that promises less is hidden by rounding where rows are many
RIDGE = 1e-12  # serves scores that are all alike


def platt(scores: Array, own: Array, weights: Array) -> tuple[Array, Array]:
    """Slopes a and offsets c (E,), by Newton's method with step halving, each line by itself.

    Parameters
    ----------
    scores, own, weights : (E, n), what a line is fitted to: scores, whether a row is of the class, and how much it counts.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.solvers.platt import platt
    >>> a, c = platt(np.array([[-2.0, -1.0, 1.0, 2.0]]), np.array([[False, False, True, True]]), np.ones((1, 4)))
    >>> a.round(3).tolist(), abs(c).round(3).tolist()
    ([0.674], [0.0])
    """
    total = np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
    low, high = certainty(own, weights)
    targets = np.where(own, high[:, None], low[:, None])
    mean = (weights * scores).sum(axis=1) / total
    deviation = np.sqrt((weights * (scores - mean[:, None]) ** 2).sum(axis=1) / total)
    scale = np.where(deviation > 0, deviation, 1.0)
    F = (scores - mean[:, None]) / scale[:, None]
    share = np.clip((weights * targets).sum(axis=1) / total, 1e-12, 1 - 1e-12)
    a, c = np.zeros(len(F)), np.asarray(logit(share))
    moving = np.arange(len(F))
    for _ in range(STEPS):
        checkpoint()
        a[moving], c[moving], moved = _stepped(
            F[moving], targets[moving], weights[moving], a[moving], c[moving]
        )
        moving = moving[moved]
        if not len(moving):
            break
    return a / scale, c - a * mean / scale


def certainty(own: Array, weights: Array) -> tuple[Array, Array]:
    """How small and how large a probability so many rows can speak for: 1 / (N0 + 2) and (N1 + 1) / (N1 + 2)."""
    ours, others = (weights * own).sum(axis=-1), (weights * ~own).sum(axis=-1)
    return 1.0 / (others + 2.0), (ours + 1.0) / (ours + 2.0)


def _stepped(F: Array, targets: Array, weights: Array, a: Array, c: Array) -> tuple[Array, Array, Array]:
    """After one step of every line; False for those that have arrived and stay where they are."""
    Z = a[:, None] * F + c[:, None]
    P = expit(Z)
    off, curve = weights * (P - targets), weights * P * (1.0 - P)
    g = np.stack([(off * F).sum(axis=1), off.sum(axis=1)], axis=1)
    total = weights.sum(axis=1)
    haa, hac, hcc = (curve * F * F).sum(axis=1), (curve * F).sum(axis=1), curve.sum(axis=1)
    haa, hcc = haa + RIDGE * total, hcc + RIDGE * total
    determinant = np.maximum(haa * hcc - hac * hac, np.finfo(float).tiny)
    step = (
        np.stack([hcc * g[:, 0] - hac * g[:, 1], haa * g[:, 1] - hac * g[:, 0]], axis=1)
        / determinant[:, None]
    )
    promised, before = (g * step).sum(axis=1), _loss(Z, targets, weights)
    going = (np.abs(g).max(axis=1) > SMALLEST_GRADIENT * total) & (promised > SMALLEST_GAIN * before)
    size = going.astype(np.float64)
    for _ in range(HALVINGS):
        ahead = (a - size * step[:, 0])[:, None] * F + (c - size * step[:, 1])[:, None]
        worse = going & (_loss(ahead, targets, weights) > before - 1e-4 * size * promised)
        if not worse.any():
            break
        size[worse] /= 2.0
    return a - size * step[:, 0], c - size * step[:, 1], going


def _loss(Z: Array, targets: Array, weights: Array) -> Array:
    return np.asarray((weights * (np.logaddexp(0.0, Z) - targets * Z)).sum(axis=1))
