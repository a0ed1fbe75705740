"""Pools of captions: those that all items have, numbered once, and which of them the neighbors of a query bring."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.neighbors.captions import CaptionSimilarity, Grams
from nearline.neighbors.lists import Ragged

QUERIES = 2**20  # pairs of candidates at a time


@dataclass(frozen=True)
class CaptionPool:
    """The captions of items: each item's are places in ``texts``, equal texts being one."""

    texts: list[str]
    of_items: Ragged  # places of each item's captions
    grams: Grams

    @classmethod
    def of(cls, payload: Sequence[Any], similarity: CaptionSimilarity) -> "CaptionPool":
        """From a caption, or several, for each item."""
        places: dict[str, int] = {}
        lists = [[places.setdefault(text, len(places)) for text in captions_of(one)] for one in payload]
        starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
        values = np.array([place for one in lists for place in one], dtype=np.int64)
        of_items = Ragged(starts, values)
        owners = np.full(len(places), -1)
        owners[values[::-1]] = of_items.rows[::-1]  # the first item that has a text counts as its own
        return cls(list(places), of_items, similarity.grams(list(places), owners))

    def candidates(self, neighbors: Array) -> Ragged:
        """Places of the captions that the neighbors (m, k) of each query bring, the nearest first."""
        m, k = neighbors.shape
        found = self.of_items.take(neighbors.ravel())
        return Ragged(found.starts[::k] if m else np.zeros(1, np.int64), found.values)

    def agreed(self, candidates: Ragged, similarity: CaptionSimilarity, subset: int | None) -> Array:
        """The place of the caption with the best agreement, of each query; -1 where it has no candidate.

        Agreement is the mean of the ``subset`` largest similarities to the other candidates. Among equals the first, which
        comes from the nearest neighbor.
        """
        counts = candidates.counts
        best = np.full(len(counts), -1, dtype=np.int64)
        for c in np.unique(counts[counts > 0]).tolist():
            queries = np.flatnonzero(counts == c)
            step = max(1, QUERIES // (c * c))
            for begin in range(0, len(queries), step):
                some = queries[begin : begin + step]
                places = candidates.take(some).values.reshape(len(some), c)
                best[some] = places[np.arange(len(some)), self._first_best(places, similarity, subset)]
        return best

    def _first_best(self, places: Array, similarity: CaptionSimilarity, subset: int | None) -> Array:
        m, c = places.shape
        if c == 1:
            return np.zeros(m, dtype=np.int64)
        one, other = np.nonzero(~np.eye(c, dtype=bool))
        values = similarity.pairs(self.grams, places[:, one].ravel(), places[:, other].ravel())
        ordered = -np.sort(-values.reshape(m, c, c - 1), axis=2)
        agreement = ordered[:, :, : min(subset or c - 1, c - 1)].mean(axis=2)
        return np.asarray(np.argmax(agreement.round(12), axis=1))  # sums of other orders are the same


def captions_of(one: Any) -> list[str]:
    """The captions of an item, given as one text or as several."""
    texts = list(one) if isinstance(one, (list, tuple, np.ndarray)) else [one]
    strange = [text for text in texts if not isinstance(text, str)]
    if strange:
        raise ValueError(
            f"Captions are strings, or lists of them, got {strange[0]!r}: give texts, or no consensus."
        )
    return texts
