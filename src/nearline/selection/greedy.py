"""The greedy choice: how often each of several models is taken into the mean of their probabilities.

Models without probabilities have scores there, which a temperature makes into probabilities. It is fitted to the rows by
which is chosen.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.stopping import checkpoint
from nearline.predictions import Known, Predictions
from nearline.selection.calibrators import TemperatureScaling
from nearline.selection.ensemble import mean_of

ROUNDS = 15
FITTED_CELLS = 20_000  # rows times classes that a temperature is fitted to: one number needs no more


@dataclass(frozen=True)
class Choice:
    """How often each of M candidates is taken, and how scores are made into probabilities."""

    counts: Array  # (M,)
    temperatures: list[float | None]  # None: the candidate has probabilities

    def mean(self, said: Array) -> Array:
        """The weighted mean (n, C) of what they say of rows, (M, n, C)."""
        return mean_of(tempered(said, self.temperatures), self.counts)


def temperatures_of(
    said: Array, scored: list[bool], codes: Array, weights: Array | None
) -> list[float | None]:
    """One for each candidate that has scores only, by rows that their models had not seen."""
    most = max(1, FITTED_CELLS // said.shape[2])
    some = np.random.default_rng(0).permutation(len(codes))[
        :most
    ]  # in an order by chance: rows may be sorted
    if weights is not None and weights[some].sum() > 0:
        weights = weights[some]
    elif weights is not None:
        weights = None
    found: list[float | None] = []
    for S, alone in zip(said, scored, strict=True):
        checkpoint()
        found.append(TemperatureScaling.fit(S[some], codes[some], weights).temperature if alone else None)
    return found


def tempered(said: Array, temperatures: list[float | None]) -> Array:
    """All as probabilities."""
    P = said.copy()
    for m, T in enumerate(temperatures):
        if T is not None:
            P[m] = TemperatureScaling(T).probabilities(said[m])
    return P


def greedy(P: Array, judge: Callable[[Array], float], loss: Callable[[Array], float]) -> Array:
    """How often each of M models is taken: again and again the one that helps the mean most, (M, n, C) -> (M,).

    Among equals the one of the smaller loss, then the first. Of the means of 1, 2, ... models the best is taken, the
    shortest among equals.
    """
    counts, total = np.zeros(len(P), np.intp), np.zeros(P.shape[1:])
    best, kept = -np.inf, counts
    for number in range(1, ROUNDS + 1):
        checkpoint()
        scores = np.array([judge((total + one) / number) for one in P])
        equal = np.flatnonzero(scores == scores.max())
        m = min(equal.tolist(), key=lambda m: loss((total + P[m]) / number)) if len(equal) > 1 else equal[0]
        total, counts = total + P[m], counts + (np.arange(len(P)) == m)
        if number == 1 or scores[m] > best:
            best, kept = scores[m], counts
    return kept


def means(P: Array) -> Predictions:
    P = P / P.sum(axis=1, keepdims=True)  # what is kept is rounded
    return Predictions(P.argmax(axis=1), P.shape[1], None, Known(P))
