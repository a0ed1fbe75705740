"""Similarities of captions by the n-grams of words that they share, for all pairs of a pass at once.

An n-gram that is c times in a text is c features of 0 or 1 (its first, second, ... occurrence), so that the number of n-grams
that two texts have in common, each counted as often as both have it, is a product of two sparse rows.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, diags

from nearline._arrays.design import Array
from nearline._records.kept import Whole, kept

PAIRS = 2**18  # pairs of texts at a time


@dataclass(frozen=True)
class Grams:
    """The n-grams of some texts: of each n a sparse matrix (texts, features), and how many n-grams each text has."""

    features: list[Any]  # of n = 1, 2, ...
    totals: Array  # (n, texts)
    empty: Array  # (texts,) whether a text has no words

    def products(self, i: Array, j: Array) -> Array:
        """(n, pairs) products of the features of texts i and j."""
        found = [np.asarray(F[i].multiply(F[j]).sum(axis=1)).ravel() for F in self.features]
        return np.array(found, dtype=np.float64)


@kept(longest=Whole(1, 16))
@dataclass(frozen=True)
class CaptionSimilarity(ABC):
    """How alike two captions are, from 0 to 1, by n-grams of words up to ``longest``; capitals do not matter.

    The first of a pair is the candidate, the second what it is compared with. Texts without words are like each other only.
    """

    longest: int = 4
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if not (isinstance(self.longest, (int, np.integer)) and 1 <= self.longest <= 16):
            raise ValueError(
                f"longest must be a whole number from 1 to 16, got {self.longest!r}: 4 is usual."
            )

    def grams(self, texts: Sequence[str], items: Array | None = None) -> Grams:
        """What pairs are compared by. ``items``: the number of the item that each text is a caption of."""
        words = [text.lower().split() for text in texts]
        features = [_occurrences(words, n) for n in range(1, self.longest + 1)]
        totals = np.array([np.maximum([len(one) - n for one in words], 0) for n in range(self.longest)])
        return Grams(features, totals.astype(np.float64), np.array([not one for one in words], dtype=bool))

    def pairs(self, grams: Grams, i: Array, j: Array) -> Array:
        """(p,) similarities of texts i (p,) and j (p,)."""
        parts = [slice(a, a + PAIRS) for a in range(0, len(i), PAIRS)]
        found = [self._pairs(grams, i[part], j[part]) for part in parts]
        values = np.concatenate([np.empty(0), *found])
        none = grams.empty[i] | grams.empty[j]
        return np.where(none, (grams.empty[i] & grams.empty[j]).astype(np.float64), values)

    def __call__(self, first: str, second: str) -> float:
        """Of two texts."""
        return float(self.pairs(self.grams([first, second]), np.array([0]), np.array([1]))[0])

    @abstractmethod
    def _pairs(self, grams: Grams, i: Array, j: Array) -> Array:
        """Of texts that have words."""


@kept()
@dataclass(frozen=True)
class NgramF1(CaptionSimilarity):
    """Mean over n of F1 = 2 (n-grams in common) / (n-grams of the one + of the other), n as far as both have n words.

    Examples
    --------
    >>> from nearline.neighbors.captions import NgramF1
    >>> round(NgramF1()("a dog runs", "A dog sleeps"), 4)  # (2 * 2/6 + 2 * 1/4 + 0) / 3
    0.3889
    """

    name: ClassVar[str] = "f1"

    def _pairs(self, grams: Grams, i: Array, j: Array) -> Array:
        both = np.minimum(grams.totals[:, i], grams.totals[:, j]) > 0
        f1 = 2.0 * grams.products(i, j) / np.maximum(grams.totals[:, i] + grams.totals[:, j], 1.0)
        return np.asarray((f1 * both).sum(axis=0) / np.maximum(both.sum(axis=0), 1))


@kept()
@dataclass(frozen=True)
class Bleu(CaptionSimilarity):
    """BLEU of one sentence: min(1, exp(1 - r / c)) (p_1 ... p_N)^(1/N), c and r words of candidate and reference.

    p_n is the share of the candidate's n-grams that the reference has, each at most as often as there; for n > 1 one is
    added to both numbers (Lin and Och 2004), so that a short text has a score. 0 where no word is shared.

    Examples
    --------
    >>> from nearline.neighbors.captions import Bleu
    >>> round(Bleu(2)("a dog runs", "a dog sleeps here"), 4)  # exp(1 - 4/3) sqrt(2/3 * 2/3)
    0.4777
    """

    name: ClassVar[str] = "bleu"

    def _pairs(self, grams: Grams, i: Array, j: Array) -> Array:
        more = (np.arange(self.longest) > 0).astype(np.float64)[:, None]
        shares = (grams.products(i, j) + more) / np.maximum(grams.totals[:, i] + more, 1.0)
        with np.errstate(divide="ignore"):
            mean = np.exp(np.log(shares).mean(axis=0))
        lengths = grams.totals[0, j] / np.maximum(grams.totals[0, i], 1.0)
        return np.asarray(mean * np.minimum(1.0, np.exp(1.0 - lengths)))


@kept()
@dataclass(frozen=True)
class Cider(CaptionSimilarity):
    """As CIDEr: mean over n of the cosine of n-gram counts weighted by log((items + 1) / items that have the n-gram).

    What many items have counts little. Words are not stemmed, and lengths are not compared. n-grams are counted in the
    texts that are given together: the captions of the training items in a transfer, all captions and references in a
    test of one.
    """

    name: ClassVar[str] = "cider"

    def grams(self, texts: Sequence[str], items: Array | None = None) -> Grams:
        plain = super().grams(texts)
        items = np.arange(len(texts)) if items is None else np.asarray(items)
        n_items = len(np.unique(items))
        places = np.unique(items, return_inverse=True)[1]
        of_items = csr_matrix(
            (np.ones(len(texts)), (places, np.arange(len(texts)))), shape=(n_items, len(texts))
        )
        words = [text.lower().split() for text in texts]
        features = []
        for n in range(1, self.longest + 1):
            counts = _counts(words, n)
            there = np.asarray(((of_items @ counts) > 0).sum(axis=0)).ravel()
            weighted = counts @ diags(np.log((n_items + 1.0) / np.maximum(there, 1)))
            lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
            features.append(csr_matrix(diags(1.0 / np.where(lengths > 0, lengths, 1.0)) @ weighted))
        return Grams(features, plain.totals, plain.empty)

    def _pairs(self, grams: Grams, i: Array, j: Array) -> Array:
        both = np.minimum(grams.totals[:, i], grams.totals[:, j]) > 0
        return np.asarray(grams.products(i, j).sum(axis=0) / np.maximum(both.sum(axis=0), 1))


CAPTION_SIMILARITIES: dict[str, CaptionSimilarity] = {one.name: one for one in (NgramF1(), Bleu(), Cider())}


def _counts(words: list[list[str]], n: int) -> Any:
    """(texts, n-grams) how often each text has each."""
    known: dict[tuple[str, ...], int] = {}
    rows, columns, values = [], [], []
    for row, text in enumerate(words):
        for gram, count in Counter(zip(*(text[k:] for k in range(n)))).items():
            rows.append(row)
            columns.append(known.setdefault(gram, len(known)))
            values.append(float(count))
    return csr_matrix((values, (rows, columns)), shape=(len(words), max(len(known), 1)))


def _occurrences(words: list[list[str]], n: int) -> Any:
    """(texts, occurrences): 1 where a text has an n-gram for the first, second, ... time."""
    known: dict[tuple[tuple[str, ...], int], int] = {}
    rows, columns = [], []
    for row, text in enumerate(words):
        seen: Counter[tuple[str, ...]] = Counter()
        for gram in zip(*(text[k:] for k in range(n))):
            seen[gram] += 1
            rows.append(row)
            columns.append(known.setdefault((gram, seen[gram]), len(known)))
    return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(words), max(len(known), 1)))
