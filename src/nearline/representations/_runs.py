"""Counts of runs of characters inside words: each different word is cut once, and texts are counted by their words."""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_matrix, vstack

from nearline._arrays.design import Array
from nearline._parallel.tiles import slices, steps

ROWS, MANY = 2048, 256  # texts that are counted, and read, between two checkpoints


def count_runs(texts: Sequence[str], shortest: int, longest: int) -> tuple[csr_matrix, Array]:
    """Counts (texts, runs), and the runs in sorted order, as ``CountVectorizer(analyzer="char_wb")`` finds them.

    Languages repeat their words, so that most of the cutting is saved. Without any word there is one empty column.

    Examples
    --------
    >>> from nearline.representations._runs import count_runs
    >>> counts, runs = count_runs(["to be", "To to"], 2, 2)
    >>> runs.tolist(), counts.toarray().tolist()
    ([' b', ' t', 'be', 'e ', 'o ', 'to'], [[1, 1, 1, 1, 1, 1], [0, 2, 0, 0, 2, 2]])
    """
    in_texts, words = _numbered(text.lower().split() for text in texts)
    in_words, runs = _numbered(_runs(f" {word} ", shortest, longest) for word in words)
    if not runs:
        return csr_matrix(np.zeros((len(texts), 1), dtype=np.int64)), np.array([""], dtype=object)
    parts = [in_texts[rows] @ in_words for rows in steps(slices(len(texts), ROWS))]
    counts = csr_matrix(vstack(parts, format="csr"))
    order = sorted(range(len(runs)), key=runs.__getitem__)
    place = np.empty(len(runs), dtype=counts.indices.dtype)
    place[order] = np.arange(len(runs), dtype=place.dtype)
    counts = csr_matrix((counts.data, place[counts.indices], counts.indptr), shape=counts.shape)
    counts.sort_indices()
    return counts, np.array([runs[i] for i in order], dtype=object)


def _numbered(lists: Iterable[list[str]]) -> tuple[csr_matrix, list[str]]:
    """How often each item is in each list, and the items in the order in which they came."""
    known: dict[str, int] = {}
    numbers, starts = array("q"), array("q", [0])
    for items in steps(lists, MANY):
        numbers.extend([known.setdefault(item, len(known)) for item in items])
        starts.append(len(numbers))
    indices, indptr = (
        np.frombuffer(one, dtype=np.int64) if len(one) else np.empty(0, np.int64) for one in (numbers, starts)
    )
    found = csr_matrix(
        (np.ones(len(indices), np.int64), indices, indptr), shape=(len(starts) - 1, max(1, len(known)))
    )
    found.sum_duplicates()
    return found, list(known)


def _runs(word: str, shortest: int, longest: int) -> list[str]:
    """All runs of a padded word; one that is shorter than a length is a run itself, once."""
    found: list[str] = []
    for length in range(shortest, longest + 1):
        last = len(word) - length
        found += [word[i : i + length] for i in range(max(last, 0) + 1)]
        if last <= 0:
            break
    return found
