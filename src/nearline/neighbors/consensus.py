"""Consensus: the candidate that agrees best with the others, for captions taken from neighbors."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import AnyOf, Instance, OneOf, OrNone, Whole, kept
from nearline._records.refused import UnknownNameError
from nearline.neighbors.captions import CAPTION_SIMILARITIES, CaptionSimilarity


def ngram_similarity(first: str, second: str, longest: int = 4) -> float:
    """Mean over n = 1 .. 4 of the cosine between the counts of n-grams of words; n as far as both have that many words.

    >>> round(ngram_similarity("a dog runs", "A dog sleeps"), 4)  # (2/3 + 1/2 + 0/1) / 3
    0.3889
    """
    words = [text.lower().split() for text in (first, second)]
    longest = min(longest, *map(len, words))
    if longest == 0:
        return float(words[0] == words[1])
    return sum(_cosine(*(_grams(text, n) for text in words)) for n in range(1, longest + 1)) / longest


def _grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _cosine(a: Counter[Any], b: Counter[Any]) -> float:
    lengths = [sum(count * count for count in counts.values()) for counts in (a, b)]
    return float(sum(count * b[gram] for gram, count in a.items()) / np.sqrt(lengths[0] * lengths[1]))


@kept(similarity=AnyOf((OneOf((ngram_similarity,)), Instance(CaptionSimilarity))), subset=OrNone(Whole(1)))
@dataclass(frozen=True)
class Consensus:
    """Ranks candidates by their agreement with the others: the mean of the ``subset`` largest similarities to them.

        c* = argmax over c of max over sets M of others, |M| = m, of (1/m) sum over c' in M of sim(c, c')

    Neighbors may be wrong ones; what several of them say is more likely to fit. A subset smaller than the pool lets
    outliers among the candidates count for nothing.

    Parameters
    ----------
    similarity : function of two candidates; default the n-gram similarity of two texts. "f1", "bleu" and "cider", or an
        object such as :class:`NgramF1`, compare all candidates of all queries in one pass.
    subset : number m of agreeing candidates that count; None: all.

    Examples
    --------
    >>> from nearline import Consensus
    >>> Consensus().rank(["a red car", "a dog on grass", "the dog on grass", "a dog on green grass"])
    [1, 3, 2, 0]
    """

    similarity: Callable[[Any, Any], float] | str = ngram_similarity
    subset: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.similarity, str):
            if self.similarity not in CAPTION_SIMILARITIES:
                instead = "or give a function of two candidates"
                raise UnknownNameError("similarity", self.similarity, CAPTION_SIMILARITIES, instead)
            object.__setattr__(self, "similarity", CAPTION_SIMILARITIES[self.similarity])
        if self.subset is not None and not (isinstance(self.subset, (int, np.integer)) and self.subset >= 1):
            raise ValueError(f"Consensus needs subset >= 1 or None, got {self.subset!r}.")

    def agreement(self, candidates: Sequence[Any]) -> Array:
        """(c,): how much each candidate agrees with the others; 0 for a single one."""
        c = len(candidates)
        if c < 2:
            return np.zeros(c)
        S = self._similarities(candidates)
        np.fill_diagonal(S, -np.inf)
        m = min(self.subset or c - 1, c - 1)
        return np.asarray(-np.sort(-S, axis=1)[:, :m].mean(axis=1))

    def _similarities(self, candidates: Sequence[Any]) -> Array:
        """(c, c) of candidate i with candidate j; a function of two is taken to be the same both ways."""
        c = len(candidates)
        if isinstance(self.similarity, CaptionSimilarity):
            ones, others = np.indices((c, c)).reshape(2, -1)
            return self.similarity.pairs(self.similarity.grams(candidates), ones, others).reshape(c, c)
        assert not isinstance(self.similarity, str)
        S = np.zeros((c, c))
        for i in range(c):
            for j in range(i):
                S[i, j] = S[j, i] = self.similarity(candidates[i], candidates[j])
        return S

    def rank(self, candidates: Sequence[Any]) -> list[int]:
        """Numbers of the candidates, best first; among equals the one that comes first (from the nearer neighbor)."""
        return np.argsort(-self.agreement(candidates), kind="stable").tolist()
