"""Two classes whose Bayes risk is known, and the error of a vote between them."""

import numpy as np

from nearline._arrays.design import Array
from nearline.neighbors.lists import Neighbors


def noisy_classes(rng: np.random.Generator, n: int, noise: float) -> tuple[Array, Array, Array]:
    """x uniform in the unit square; P(y = 1 | x) = 1 - noise right of the diagonal, noise left of it."""
    X = rng.random((n, 2))
    likely = (X[:, 0] > X[:, 1]).astype(np.int64)
    return X, np.where(rng.random(n) < noise, 1 - likely, likely), likely


def vote_error(found: Neighbors, y: Array, labels: Array) -> float:
    """Of a majority vote; rows that tie at rank k share the votes that are left, an even vote is half a mistake."""
    last = found.distances[:, -1:]
    nearer = (found.distances < last).astype(float)
    m, k = nearer.sum(axis=1), found.k
    tied = k - m + found.boundary.counts
    inside = ((1 - nearer) * y[found.indices]).sum(axis=1)
    owners = np.repeat(np.arange(len(m)), found.boundary.counts)
    beyond = np.bincount(owners, weights=y[found.boundary.values], minlength=len(m))
    votes = (nearer * y[found.indices]).sum(axis=1) + (k - m) * (inside + beyond) / tied
    share = votes / k
    even = np.isclose(share, 0.5)
    return float(np.where(even, 0.5, (share > 0.5) != (labels == 1)).mean())
