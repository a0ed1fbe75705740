"""The k-NN probe: one search gives the votes of every k and temperature."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.neighbors.index import Index
from nearline.neighbors.vote import Electorate, Vote
from nearline.neighbors.weights import Temperature, Uniform
from nearline.probes._case import Case
from nearline.probes._part import DECLARED, TRAINING, Answer, Part

MOST_LEFT_OUT = 10_000  # training rows that are left out, one at a time, to choose


@dataclass(frozen=True)
class NeighborVotes(Part):
    """The k nearest training rows by cosine vote with exp(cosine / T).

        label(q) = argmax over c of  sum over the k nearest x_i with y_i = c of  exp(cos(q, x_i) / T)

    Rows at the k-th similarity share the places that are left; equal votes go to the class of the nearest row. T = inf is
    one vote each. Every (k, T) is shown, or with ``choose`` only the one with the most training rows right when each
    is left out of its own neighbors (of at most 10,000 training rows; among equals the largest k, then the largest T).
    """

    ks: tuple[int, ...]
    temperatures: tuple[float, ...]
    choose: bool = False
    probe: ClassVar[str] = "k-NN"
    by_direction: ClassVar[bool] = True

    def answers(self, case: Case) -> Iterator[Answer]:
        settings = self._settings(len(case.X) - self.choose)
        index = Index(case.X, "cosine")
        inside = None
        if self.choose:
            rights = self._left_out(index, case, settings)
            best = max(range(len(settings)), key=lambda i: (rights[i], settings[i]))
            settings, inside = [settings[best]], rights[best]
        chosen_on = TRAINING if self.choose else DECLARED
        labels = _votes(index, case, case.Q, settings)
        for (k, T), found in zip(settings, labels, strict=True):
            yield Answer(self.probe, {"k": k, "T": T}, found, chosen_on, inside=inside)

    def notes(self, case: Case) -> list[str]:
        n = len(case.X) - self.choose
        large = [k for k in self.ks if k > n]
        if not large:
            return []
        return [f"k = {', '.join(map(str, large))} left out: there are only {n:,} rows to be neighbors"]

    def _settings(self, n: int) -> list[tuple[int, float]]:
        settings = [(k, T) for k in self.ks if k <= n for T in self.temperatures]
        if not settings:
            raise ValueError(
                f"The smallest k is {min(self.ks)}, but there are only {n:,} rows to be neighbors: give more training rows, "
                "or a protocol with a smaller k (honest)."
            )
        return settings

    def _left_out(self, index: Index, case: Case, settings: list[tuple[int, float]]) -> list[float]:
        """Share of training rows that their neighbors, without themselves, call right."""
        n = len(case.X)
        rows = np.arange(n)
        if n > MOST_LEFT_OUT:
            rows = np.sort(np.random.default_rng(case.random_state).permutation(n)[:MOST_LEFT_OUT])
        labels = _votes(index, case, case.X[rows], settings, (rows, np.arange(n)))
        return [float(np.mean(found == case.codes[rows])) for found in labels]


def _votes(
    index: Index, case: Case, Q: Array, settings: list[tuple[int, float]], groups: Any = None
) -> list[Array]:
    """The winners of every setting, from one search for as many neighbors as the largest k needs."""
    votes = [
        Vote.of(k, Uniform() if np.isinf(T) else Temperature(T), "share", "nearest", index.metric)
        for k, T in settings
    ]
    electorate = Electorate(case.codes, case.n_classes)
    found = [np.empty(len(Q), dtype=np.int64) for _ in votes]
    for part, lists in index.search_blocks(Q, max(vote.k for vote in votes), groups=groups):
        for winners, vote in zip(found, votes):
            winners[part] = vote.decide(lists, electorate).winners
    return found
