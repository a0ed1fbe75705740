"""Votes of neighbors on held-out rows: what tells when to stop, and whether a learned distance is worth it."""

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices

KS = (1, 3, 5, 9)  # neighbors that vote: the mean over these is less noisy than one
SHARP = 2.0  # votes of k are softened to softmax(2 counts / sqrt(k)), by which few rows tell more: near draws are half lost
MOST = 10_000  # rows that may be neighbors
TILE = 2**21  # distances at a time
SPREADS = 2.5  # of a difference that is chance alone, the largest among several looks at the held-out rows


def wrong_votes(Z: Array, codes: Array, Q: Array, truth: Array) -> Array:
    """The chance that the classes ``truth`` of rows Q (m, d) are outvoted by their nearest rows of Z (n, d).

    It is the mean over softened votes of the 1, 3, 5 and 9 nearest.
    """
    if len(Z) > MOST:
        Z, codes = Z[:: -(-len(Z) // MOST)], codes[:: -(-len(codes) // MOST)]
    ks = {min(k, len(Z)) for k in KS}
    most = max(ks)
    squares = np.einsum("ij,ij->i", Z, Z)
    n_classes = int(max(codes.max(), truth.max())) + 1

    def votes(part: slice) -> Array:
        D = squares - 2.0 * (Q[part] @ Z.T)
        rows = np.arange(len(D))
        near = (
            np.argpartition(D, most - 1, axis=1)[:, :most]
            if most < len(Z)
            else np.tile(np.arange(most), (len(D), 1))
        )
        near = np.take_along_axis(
            near, np.take_along_axis(D, near, axis=1).argsort(axis=1, kind="stable"), axis=1
        )
        counts, right = np.zeros((len(D), n_classes)), np.zeros(len(D))
        for place in range(most):
            counts[rows, codes[near[:, place]]] += 1.0
            if place + 1 in ks:
                chances = np.exp(SHARP / np.sqrt(place + 1.0) * (counts - counts.max(axis=1, keepdims=True)))
                right += chances[rows, truth[part]] / chances.sum(axis=1)
        return 1.0 - right / len(ks)

    work = 2.0 * len(Z) * len(Q) * (Z.shape[1] + 10)
    return np.concatenate(map_tiles(votes, slices(len(Q), max(16, TILE // len(Z))), work=work))


def is_better(plain: Array, learned: Array) -> bool:
    """Whether learned votes are less often wrong than plain ones, by more than chance gives the best of several looks."""
    gains = plain - learned
    return float(gains.sum()) > SPREADS * float(np.sqrt(np.square(gains).sum()))
