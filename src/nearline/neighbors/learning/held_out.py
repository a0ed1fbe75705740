"""Votes of neighbors on held-out rows: what tells when to stop, and whether a learned distance is worth it."""

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices

K = 5  # neighbors that vote
MOST = 10_000  # rows that may be neighbors
TILE = 2**21  # distances at a time
SPREADS = 2.5  # of a difference that is chance alone, the largest among several looks at the held-out rows


def wrong_votes(Z: Array, codes: Array, Q: Array, truth: Array) -> Array:
    """Which rows Q (m, d) of classes ``truth`` their five nearest rows of Z (n, d) outvote; ties go to the nearest."""
    if len(Z) > MOST:
        Z, codes = Z[:: -(-len(Z) // MOST)], codes[:: -(-len(codes) // MOST)]
    k = min(K, len(Z))
    squares = np.einsum("ij,ij->i", Z, Z)
    n_classes = int(max(codes.max(), truth.max())) + 1

    def votes(part: slice) -> Array:
        D = squares - 2.0 * (Q[part] @ Z.T)
        near = np.argpartition(D, k - 1, axis=1)[:, :k] if k < len(Z) else np.tile(np.arange(k), (len(D), 1))
        D = np.take_along_axis(D, near, axis=1)
        rows = np.arange(len(D))
        counts = np.zeros((len(D), n_classes))
        np.add.at(counts, (rows[:, None], codes[near]), 1.0)
        counts[rows, codes[near[rows, D.argmin(axis=1)]]] += 0.5
        return np.asarray(counts.argmax(axis=1) != truth[part])

    work = 2.0 * len(Z) * len(Q) * (Z.shape[1] + 10)
    return np.concatenate(map_tiles(votes, slices(len(Q), max(16, TILE // len(Z))), work=work))


def is_better(plain: Array, learned: Array) -> bool:
    """Whether fewer learned votes are wrong than plain ones, by more than chance gives the best of several looks."""
    won, lost = int((plain & ~learned).sum()), int((learned & ~plain).sum())
    return won - lost > SPREADS * np.sqrt(won + lost)
