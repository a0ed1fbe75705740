"""Sigmoids of many exemplars at once: P(same class | score f) = sigma(a f + c), on rows that they were not trained on."""

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices
from nearline.solvers.platt import platt

CELLS = 2**21  # scores of a block
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
        a, c = platt(scores, same, held.astype(np.float64))
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
    a, c = platt(scores, same, np.ones(same.shape))
    return (float(a[0]), float(c[0])) if a[0] > LEAST_SLOPE else (1.0, 0.0)
