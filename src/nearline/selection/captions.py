"""Are transferred captions any good? Scored against what a random neighbor and the nearest one would have said."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.refused import UnknownNameError
from nearline._records.words import many
from nearline.neighbors.caption_pools import CaptionPool, captions_of
from nearline.neighbors.captions import CAPTION_SIMILARITIES, CaptionSimilarity
from nearline.neighbors.index import Index
from nearline.neighbors.lists import Ragged
from nearline.selection.cells import table
from nearline.selection.intervals import Interval
from nearline.selection.intervals.means import mean_ends, moments

METHOD, OF_LEADS = "Student, corrected for skewness", "Student"


@dataclass(frozen=True)
class CaptionScore:
    """The mean over test items of one way to choose a caption, and its lead over the nearest neighbor's caption."""

    way: str
    mean: float
    interval: Interval
    lead: float
    lead_interval: Interval | None  # None for the nearest itself


@dataclass(frozen=True)
class CaptionTest:
    """Scores of captions from neighbors. A caption's score is its largest similarity to a reference of its item."""

    similarity: str
    k: int
    scores: tuple[CaptionScore, ...]
    captions: tuple[str, ...]  # that the consensus gives
    n_items: int
    by_item: dict[str, Array] = field(compare=False, repr=False)  # way -> (items,) scores

    def __str__(self) -> str:
        rows = [["caption of", f"{self.similarity} to the references", "", "more than the nearest", ""]]
        for one in self.scores:
            lead = "" if one.lead_interval is None else f"{one.lead:+.4f}"
            ends = "" if one.lead_interval is None else one.lead_interval.bounds()
            rows.append([one.way, f"{one.mean:.4f}", one.interval.bounds(), lead, ends])
        return "\n".join(
            [
                *table(rows),
                f"\n{many(self.n_items, 'test item')}, {self.k} neighbors; 95% intervals ({METHOD}; of leads {OF_LEADS})",
            ]
        )


def caption_test(
    X: Any,
    captions: Any,
    X_test: Any,
    references: Any,
    *,
    k: int = 10,
    metric: Any = "cosine",
    similarity: Any = "f1",
    judge: Any = None,
    subset: int | None = None,
    random_state: int = 0,
) -> CaptionTest:
    """Transfer captions from neighbors to test items, and score them against the items' own.

    Parameters
    ----------
    X, captions : training rows, and a caption or several for each.
    X_test, references : test rows, and their own captions.
    k, metric : of the neighbors whose captions are candidates.
    similarity, subset : of the consensus, see :class:`Consensus`: "f1", "bleu", "cider" or an object.
    judge : the similarity that scores; None: that of the consensus. A consensus is favored by its own.
    random_state : which neighbor is the random one.

    Examples
    --------
    >>> from nearline.selection.captions import caption_test
    >>> X = [[1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [0.0, 1.0]]
    >>> captions = ["a red car", "a dog on grass", "the dog on grass", "a cat"]
    >>> found = caption_test(X, captions, [[1.0, 0.05], [1.0, 0.06]], ["a dog on green grass", "dog on grass"], k=3)
    >>> found.captions
    ('a dog on grass', 'a dog on grass')
    """
    similarity = as_similarity(similarity)
    judge = similarity if judge is None else as_similarity(judge)
    X_test = np.asarray(X_test)
    _check_one_each(captions, X, "training")
    _check_one_each(references, X_test, "test")
    if any(not any(text.split() for text in captions_of(one)) for one in references):
        raise ValueError("A test item has no caption with words to be compared with: leave such items out.")
    neighbors = Index(np.asarray(X), metric).search(X_test, k, ties=False).indices
    pool = CaptionPool.of(captions, similarity)
    candidates = pool.candidates(neighbors)
    agreed = pool.agreed(candidates, similarity, subset)
    if (agreed < 0).any():
        raise ValueError(f"None of the {k} neighbors of a test item has a caption: take more neighbors.")
    drawn = np.random.default_rng(random_state).integers(2**31, size=len(agreed)) % candidates.counts
    ways = {
        "a random neighbor": candidates.values[candidates.starts[:-1] + drawn],
        "the nearest": candidates.values[candidates.starts[:-1]],
        "consensus": agreed,
    }
    scores = {way: _scores(pool, places, references, judge) for way, places in ways.items()}
    shown = tuple(_score(way, scores[way], scores["the nearest"]) for way in ways)
    texts = tuple(pool.texts[place] for place in agreed.tolist())
    return CaptionTest(judge.name, k, shown, texts, len(agreed), scores)


def as_similarity(similarity: Any) -> CaptionSimilarity:
    """By name, or an object."""
    if isinstance(similarity, CaptionSimilarity):
        return similarity
    if similarity in CAPTION_SIMILARITIES:
        return CAPTION_SIMILARITIES[similarity]
    raise UnknownNameError("similarity", similarity, CAPTION_SIMILARITIES, kind="similarity of captions")


def _scores(pool: CaptionPool, places: Array, references: Any, judge: CaptionSimilarity) -> Array:
    """(m,) the largest similarity of each chosen caption to a reference, n-grams counted in all texts."""
    own = [captions_of(one) for one in references]
    texts = [*pool.texts, *(text for one in own for text in one)]
    n = len(pool.texts)
    grams = judge.grams(texts)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in own])])
    lists = Ragged(starts, np.arange(n, len(texts)))
    values = judge.pairs(grams, np.repeat(places, lists.counts), lists.values)
    return np.asarray(np.maximum.reduceat(values, starts[:-1]))


def _score(way: str, scores: Array, nearest: Array) -> CaptionScore:
    mean, interval = mean_interval(scores)
    lead, ends = mean_interval(scores - nearest, skewed=False)
    return CaptionScore(way, mean, interval, lead, None if way == "the nearest" else ends)


def mean_interval(values: Array, *, skewed: bool = True) -> tuple[float, Interval]:
    """The mean of scores of items, and where the mean of all items of the kind lies.

    Scores are skewed, which is corrected. Leads (``skewed=False``) are mostly 0, with a few large ones of either sign: the
    skewness of a sample says nothing of them, and its correction makes intervals that miss more often.
    """
    method = METHOD if skewed else OF_LEADS
    if len(values) < 3:
        return float(values.mean()), Interval(np.nan, np.nan, 0.95, method, "fewer than 3 test items")
    mean, deviation, skewness = moments(values)
    low, high = mean_ends(mean, deviation, skewness if skewed else 0.0, len(values), 0.95)
    return float(mean), Interval(float(low), float(high), 0.95, method)


def _check_one_each(captions: Any, rows: Any, what: str) -> None:
    if len(captions) != len(rows):
        raise ValueError(
            f"There are {len(rows)} {what} rows and captions for {len(captions)}: give one, or a list, a row."
        )
