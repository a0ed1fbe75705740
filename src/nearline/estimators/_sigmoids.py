"""Sigmoids of many exemplars at once: P(same class | score f) = 1 / (1 + exp(-(a f + c))), on rows not trained on.

Targets are Platt's, (N+ + 1) / (N+ + 2) for the N+ rows of the class and 1 / (N- + 2) for the N- others, so that scores that
are told apart perfectly have a finite slope. Newton's method on (a, c), all exemplars of a block in the same operations.
"""

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices

CELLS = 2**21  # scores of a block
STEPS = 50
LEAST_SLOPE = 1e-6


def sigmoids(
    X: Array, codes: Array, folds: Array, rows: Array, own_folds: Array, W: Array, b: Array
) -> tuple[Array, Array]:
    """Slopes a > 0 and offsets c (E,). What an exemplar has not seen: its class but for itself, its own fold's others."""
    E = len(rows)
    parts = slices(E, max(1, CELLS // len(X)))

    def task(part: slice) -> tuple[Array, Array, Array, Array, Array]:
        scores = (X @ W[part].T + b[part]).T.astype(np.float64)  # (exemplars, n)
        same = codes == codes[rows[part]][:, None]
        held = same | (folds == own_folds[part][:, None])
        held[np.arange(len(held)), rows[part]] = False
        usable = (held & same).any(axis=1) & (held & ~same).any(axis=1)
        a, c = _newton(scores, *_targets(same, held))
        return a, c, usable & (a > LEAST_SLOPE), scores[held], same[held]

    found = map_tiles(task, parts, work=20.0 * X.size * E)
    slopes, offsets, usable = (np.concatenate([one[j] for one in found]) for j in range(3))
    if not usable.all():
        scores, same = (np.concatenate([one[j] for one in found])[None] for j in (3, 4))
        a, c = _pooled(scores, same)
        slopes, offsets = np.where(usable, slopes, a), np.where(usable, offsets, c)
    return slopes, offsets


def _pooled(scores: Array, same: Array) -> tuple[float, float]:
    """Of all exemplars together; 1 and 0 where there is nothing to tell apart."""
    if not scores.size or same.all() or not same.any():
        return 1.0, 0.0
    a, c = _newton(scores, *_targets(same, np.ones_like(same)))
    return (float(a[0]), float(c[0])) if a[0] > LEAST_SLOPE else (1.0, 0.0)


def _targets(same: Array, held: Array) -> tuple[Array, Array]:
    """Targets (E, n), and weights: 1 where a row is held out."""
    ours = (held & same).sum(axis=1, keepdims=True)
    others = (held & ~same).sum(axis=1, keepdims=True)
    return np.where(same, (ours + 1.0) / (ours + 2.0), 1.0 / (others + 2.0)), held.astype(np.float64)


def _newton(scores: Array, targets: Array, weights: Array) -> tuple[Array, Array]:
    """argmin over (a, c) of sum_i weights_i (log(1 + exp(z_i)) - targets_i z_i), z = a f + c, for each exemplar."""
    total = np.maximum(weights.sum(axis=1), 1.0)
    mean = (weights * scores).sum(axis=1) / total
    deviation = np.sqrt((weights * (scores - mean[:, None]) ** 2).sum(axis=1) / total)
    scale = np.where(deviation > 0, deviation, 1.0)
    F = (scores - mean[:, None]) / scale[:, None]
    share = np.clip((weights * targets).sum(axis=1) / total, 1e-12, 1 - 1e-12)
    a, c = np.zeros(len(F)), np.log(share / (1.0 - share))
    value = _loss(F, targets, weights, a, c)
    for _ in range(STEPS):
        step_a, step_c = _step(F, targets, weights, a, c)
        size = np.ones(len(F))
        for _ in range(30):
            new = _loss(F, targets, weights, a + size * step_a, c + size * step_c)
            worse = new > value + 1e-12 * np.abs(value)
            if not worse.any():
                break
            size = np.where(worse, 0.5 * size, size)
        a, c, gained = a + size * step_a, c + size * step_c, value - new
        value = new
        if (gained <= 1e-10 * np.abs(value)).all():
            break
    return a / scale, c - a * mean / scale


def _loss(F: Array, targets: Array, weights: Array, a: Array, c: Array) -> Array:
    Z = a[:, None] * F + c[:, None]
    return np.asarray((weights * (np.logaddexp(0.0, Z) - targets * Z)).sum(axis=1))


def _step(F: Array, targets: Array, weights: Array, a: Array, c: Array) -> tuple[Array, Array]:
    """Newton's, of each 2 x 2 system."""
    P = 1.0 / (1.0 + np.exp(-np.clip(a[:, None] * F + c[:, None], -500.0, 500.0)))
    off, curve = weights * (P - targets), weights * P * (1.0 - P)
    ga, gc = (off * F).sum(axis=1), off.sum(axis=1)
    haa, hac, hcc = (curve * F * F).sum(axis=1) + 1e-12, (curve * F).sum(axis=1), curve.sum(axis=1) + 1e-12
    determinant = np.maximum(haa * hcc - hac * hac, 1e-300)
    return -(hcc * ga - hac * gc) / determinant, -(haa * gc - hac * ga) / determinant
