"""What was seen of rows in blocks: sums that can be added, from which scales, categories and words are corrected.

A representation is fitted to a sample in memory, which decides what each column is; then what adds up over rows (means and
deviations, ends, categories, frequencies of words) is taken from all training rows, by one pass over the blocks.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from nearline._arrays.design import Array, is_sparse
from nearline.representations._columns import Column, read_columns
from nearline.representations.base import is_frame
from nearline.representations.codes import PARTS, date_parts

MOST_STRINGS = 1000  # of a column that are counted: the commonest
MOST_WORDS = 200_000  # that are counted: the commonest


@dataclass(frozen=True)
class Moments:
    """Of each column: how many values, their mean, the sum of squares about it, their ends; and how many are missing."""

    n: Array
    mean: Array
    squares: Array
    low: Array
    high: Array
    missing: Array

    @classmethod
    def of(cls, values: Array) -> "Moments":
        """Of the columns of an array, NaN where missing."""
        known = ~np.isnan(values)
        n = known.sum(axis=0).astype(np.float64)
        filled = np.where(known, values, 0.0)
        mean = filled.sum(axis=0) / np.maximum(n, 1.0)
        squares = np.where(known, values - mean, 0.0)
        low, high = (np.where(known, values, end) for end in (np.inf, -np.inf))
        return cls(
            n,
            mean,
            (squares**2).sum(axis=0),
            low.min(axis=0, initial=np.inf),
            high.max(axis=0, initial=-np.inf),
            len(values) - n,
        )

    def __add__(self, other: "Moments") -> "Moments":
        n = np.maximum(self.n + other.n, 1.0)
        apart = other.mean - self.mean
        return Moments(
            self.n + other.n,
            self.mean + apart * other.n / n,
            self.squares + other.squares + apart**2 * self.n * other.n / n,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.missing + other.missing,
        )

    def filled(self, values: Array) -> "Moments":
        """With these values in place of the missing ones of each column."""
        none = np.zeros_like(self.n)
        low, high = np.where(self.missing > 0, [values, values], [[np.inf], [-np.inf]])
        return self + Moments(self.missing, np.asarray(values, np.float64), none, low, high, none)


@dataclass(frozen=True)
class SeenColumn:
    """One column: as numbers, as the parts of a date, as strings."""

    numbers: Moments
    dates: Moments
    strings: Counter[str] = field(default_factory=Counter)
    missing: int = 0  # strings

    @classmethod
    def of(cls, column: Column) -> "SeenColumn":
        parts = date_parts(column.seconds)
        dates = Moments.of(np.column_stack([parts[name] for name in PARTS]))
        counted: Counter[str] = Counter()
        missing = 0
        if column.kind in ("string", "category"):
            strings = column.strings()
            times = np.bincount(strings.codes + 1, minlength=1 + len(strings.distinct.values))
            counted = Counter(
                {strings.distinct.values[code]: int(times[code + 1]) for code in strings.present()}
            )
            missing = int(times[0])
        return cls(Moments.of(column.numbers[:, None]), dates, commonest(counted, MOST_STRINGS), missing)

    def __add__(self, other: "SeenColumn") -> "SeenColumn":
        strings = commonest(self.strings + other.strings, MOST_STRINGS)
        return SeenColumn(
            self.numbers + other.numbers, self.dates + other.dates, strings, self.missing + other.missing
        )


@dataclass(frozen=True)
class Seen:
    """Some rows: of an array its columns together, of a frame one by one, and in how many texts each word occurs."""

    n_rows: int
    moments: Moments | None = None
    columns: dict[str, SeenColumn] | None = None
    words: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, X: Any, texts: Sequence[str] = ()) -> "Seen":
        """Of an array, a CSR matrix or a frame, with the words of some columns."""
        if is_sparse(X):
            return cls(X.shape[0], _sparse_ends(X))
        if not is_frame(X):
            return cls(len(X), Moments.of(np.asarray(X, dtype=np.float64)))
        columns = read_columns(X)
        plain = {name: SeenColumn.of(column) for name, column in columns.items() if name not in texts}
        return cls(len(X), None, plain, _words(columns, texts))

    def __add__(self, other: "Seen") -> "Seen":
        moments = None if self.moments is None or other.moments is None else self.moments + other.moments
        columns = None
        if self.columns is not None and other.columns is not None:
            columns = {name: column + other.columns[name] for name, column in self.columns.items()}
        words = commonest(self.words + other.words, MOST_WORDS)
        return Seen(self.n_rows + other.n_rows, moments, columns, words)


def together(parts: Sequence[Seen]) -> Seen:
    """All of them."""
    return reduce(add, parts)


def commonest(counted: Counter[str], most: int) -> Counter[str]:
    """The strings that occur most often; of equally frequent ones the first in the alphabet."""
    if len(counted) <= most:
        return counted
    ordered = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return Counter(dict(ordered[:most]))


def _words(columns: dict[str, Column], texts: Sequence[str]) -> Counter[str]:
    """In how many rows each word of the texts occurs."""
    from nearline.representations.text_tables import TOKENS, joined

    counted: Counter[str] = Counter()
    if texts:
        analyze = CountVectorizer(**TOKENS).build_analyzer()
        for text in joined(columns, list(texts)):
            counted.update(set(analyze(text)))
    return commonest(counted, MOST_WORDS)


def _sparse_ends(X: Any) -> Moments:
    """Ends of the columns of a CSR matrix; no representation asks for more of it."""
    width = X.shape[1]
    zeros, n = np.zeros(width), np.full(width, float(X.shape[0]))
    if not X.shape[0]:
        return Moments(n, zeros, zeros, zeros + np.inf, zeros - np.inf, zeros)
    low, high = (np.asarray(end.toarray(), np.float64).ravel() for end in (X.min(axis=0), X.max(axis=0)))
    return Moments(n, zeros, zeros, low, high, zeros)
