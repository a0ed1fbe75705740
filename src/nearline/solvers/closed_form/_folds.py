"""Cross-validation of ridge regression from sums over the rows of each fold: one pass over X serves all folds."""

from collections.abc import Callable, Iterator
from itertools import accumulate
from operator import add
from typing import Protocol

import numpy as np

from nearline._arrays.design import Array, Design
from nearline._parallel.tiles import map_tiles
from nearline.solvers.closed_form._centered import Centered, less
from nearline.solvers.closed_form._moments import WELL_CONDITIONED, Moments, PositiveSystem

FOLD_BUDGET = 1 << 30  # bytes of the folds' Gram matrices


class Scorer(Protocol):
    """A fit that can score rows at any alpha."""

    def scores(self, X: Design, alpha: float) -> Array: ...


def leave_folds_out(
    design: Centered, folds: Array, alphas: Array, factorize: Callable[[Centered], Scorer]
) -> Array:
    """Scores (A, n, K) of each row by the model fitted to all other folds; ``factorize`` where sums are not enough."""
    if len(folds) != design.n_rows:
        raise ValueError(
            f"X has {design.n_rows} rows but folds {len(folds)}: give each row the number of its fold."
        )
    members = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    rests: list[Moments | None] = [None] * len(members)
    if design.primal and 8 * len(members) * design.n_features**2 <= FOLD_BUDGET:
        rests = list(_sums_of_others([design.moments(rows) for rows in members]))

    def left_out(task: tuple[Array, Moments | None]) -> Array:
        rows, rest = task
        others = np.setdiff1d(np.arange(design.n_rows), rows)
        if not design.weights[others].any():
            raise ValueError("A fold holds all the weight, so nothing is left to fit: use smaller folds.")
        X = design.X[rows]
        known = {} if rest is None else _from_sums(design, rest, X, alphas)
        if len(known) < len(alphas):
            alone = factorize(design.subset(others))
            known |= {a: alone.scores(X, float(alphas[a])) for a in range(len(alphas)) if a not in known}
        return np.stack([known[a] for a in range(len(alphas))])

    scores = np.empty((len(alphas), *design.codes.shape))
    work = len(members) * len(alphas) * min(design.n_rows, design.n_features) ** 3 / 3.0
    for rows, result in zip(members, map_tiles(left_out, list(zip(members, rests)), work=work)):
        scores[:, rows] = result
    return scores


def _sums_of_others(parts: list[Moments]) -> Iterator[Moments | None]:
    """For each part the sum of all others. By additions alone: whole less part would cancel where a part is heavy."""
    after = list(accumulate(reversed(parts[1:]), add))[::-1]
    before: Moments | None = None
    for i, part in enumerate(parts):
        rest = after[i] if i < len(after) else None
        yield before if rest is None else rest if before is None else before + rest
        before = part if before is None else before + part


def _from_sums(design: Centered, rest: Moments, X: Design, alphas: Array) -> dict[int, Array]:
    """Scores of rows X by the fit to the rows that were summed, for the alphas at which it is well-conditioned."""
    G, C, mean, level = rest.centered(design.bias)
    Z = less(X, design.near_mean + mean)
    scores = {}
    for a, alpha in enumerate(alphas):
        system = PositiveSystem(G, alpha * rest.total)
        if system.rcond >= 10.0 * WELL_CONDITIONED:
            scores[a] = Z @ system.solve(C) + (design.target_mean + level)
    return scores
