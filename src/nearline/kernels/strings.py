"""Kernels of strings: common n-grams, and common subsequences with gaps."""

from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._records.kept import Flag, Real, Whole, kept
from nearline.kernels._items import FilledKernel, counted, ranks_of, sequences, starts_of


@dataclass(frozen=True)
class StringKernel(FilledKernel):
    """A kernel of strings or of lists of tokens; one collection holds either the ones or the others."""

    takes: ClassVar[str] = "strings"
    remedy: ClassVar[str] = "take shorter strings"

    def items(self, raw: Any) -> Array:
        return sequences(raw)

    def between(self, A: Array, B: Array) -> Array:
        if len(A) and len(B) and isinstance(A[0], str) != isinstance(B[0], str):
            raise ValueError(
                "One collection has strings, the other lists of tokens: give both in the same form."
            )
        return super().between(A, B)


@kept(n=Whole(1, 1000), up_to=Flag())
@dataclass(frozen=True)
class Spectrum(StringKernel):
    """The spectrum kernel: k(s, t) = sum over n-grams u of count_s(u) count_t(u) (Leslie et al. 2002).

    An n-gram is n symbols in a row, where a symbol is a character of a string or a token of a list.

    Parameters
    ----------
    n : symbols of an n-gram.
    up_to : whether all lengths 1 .. n count, instead of n alone.

    Examples
    --------
    >>> from nearline.kernels.strings import Spectrum
    >>> Spectrum(2)(["banana", "ananas"])
    array([[9., 8.],
           [8., 9.]])
    >>> Spectrum(1)([["to", "be", "or", "not", "to", "be"]], [["to", "do"]])
    array([[2.]])
    """

    positive: ClassVar[bool] = True

    n: int = 3
    up_to: bool = False

    def __post_init__(self) -> None:
        _whole("Spectrum", "n", self.n)

    def _fill(self, items: Array, kind: str, out: Array) -> None:
        symbols, starts, _ = encoded(items)
        rows, features, n_features = _grams(symbols, starts, int(self.n), bool(self.up_to))
        table = counted(rows, features, len(items))
        groups = np.zeros(max(n_features, 1), dtype=np.int32)
        _core.count_products(*table, groups, np.ones(1), kind, out)


@kept(length=Whole(1, 100), decay=Real(above=0.0, most=1.0))
@dataclass(frozen=True)
class Subsequence(StringKernel):
    """The gap-weighted subsequence kernel of Lodhi et al. (2002).

    k(s, t) = sum over u of ``length`` symbols, over places i with s[i] = u and j with t[j] = u, of decay^(l(i) + l(j)),
    where l(i) = i_last - i_first + 1 is how far the places reach: gaps are allowed, but make the weight smaller. The
    cost of a pair is length |s| |t|, where symbols that the other string does not have do not count. Long strings have
    large values: ``Normalized(Subsequence())`` divides by sqrt(k(s, s) k(t, t)).

    Parameters
    ----------
    length : symbols of a subsequence; a shorter string has none, and its kernel values are 0.
    decay : weight of each place that a subsequence reaches over, 0 < decay <= 1.

    Examples
    --------
    The only common subsequence of two letters of "cat" and "car" is "ca", so k = decay^4; "cat" with itself has three,
    and k = 2 decay^4 + decay^6:

    >>> from nearline.kernels.strings import Subsequence
    >>> Subsequence(length=2, decay=0.5)(["cat", "car"])
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])
    """

    positive: ClassVar[bool] = True

    remedy: ClassVar[str] = "take a smaller decay or length"
    length: int = 3
    decay: float = 0.5

    def __post_init__(self) -> None:
        _whole("Subsequence", "length", self.length)
        if not 0 < self.decay <= 1:
            raise ValueError(f"Subsequence needs 0 < decay <= 1, got {self.decay!r}.")
        if float(self.decay) ** (2 * int(self.length)) < np.finfo(float).tiny:
            raise ValueError(
                f"decay^(2 length) = {self.decay!r}^{2 * self.length} is too small for a float64: take a larger decay."
            )

    def _fill(self, items: Array, kind: str, out: Array) -> None:
        symbols, starts, alphabet = encoded(items)
        ranks = _ranks(items, symbols, starts)
        _core.subsequence_kernel(
            symbols, starts, ranks, alphabet, int(self.length), float(self.decay), kind, out
        )


def _whole(kernel: str, name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{kernel} needs {name} as an integer of at least 1, got {value!r}.")


def encoded(items: Array) -> tuple[Array, Array, int]:
    """All symbols in one row, numbered from 0 in an order that depends on them alone; starts; their number."""
    starts = starts_of([len(item) for item in items])
    if all(isinstance(item, str) for item in items):
        points = np.frombuffer("".join(items).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        distinct, symbols = np.unique(points, return_inverse=True)
        return symbols.astype(np.int32), starts, max(len(distinct), 1)
    tokens = set(chain.from_iterable(items))
    number = {
        t: i for i, t in enumerate(sorted(tokens, key=lambda token: (type(token).__name__, repr(token))))
    }
    row = np.fromiter(
        (number[token] for token in chain.from_iterable(items)), dtype=np.int32, count=int(starts[-1])
    )
    return row, starts, max(len(number), 1)


def _ranks(items: Array, symbols: Array, starts: Array) -> Array:
    """Strings by length, then by their symbols."""
    big_endian = symbols.astype(">i4").tobytes()  # compared as bytes, numbers come in their order
    return ranks_of(
        range(len(items)),
        lambda i: (int(starts[i + 1] - starts[i]), big_endian[4 * starts[i] : 4 * starts[i + 1]]),
    )


def _grams(symbols: Array, starts: Array, n: int, up_to: bool) -> tuple[Array, Array, int]:
    """Each n-gram of each string as (row, feature), and the number of features."""
    sizes = np.diff(starts)
    row = np.repeat(np.arange(len(sizes)), sizes)
    left = np.repeat(starts[1:], sizes) - np.arange(
        len(symbols)
    )  # symbols from here to the end of the string
    alphabet = int(symbols.max(initial=0)) + 1
    rows, features, n_features = [], [], 0
    at, gram = np.arange(len(symbols)), symbols.astype(np.int64)
    for length in range(1, n + 1):
        if length > 1:
            longer = left[at] >= length
            at = at[longer]
            _, gram = np.unique(gram[longer] * alphabet + symbols[at + length - 1], return_inverse=True)
        if length == n or up_to:
            distinct = int(gram.max(initial=-1)) + 1
            rows.append(row[at])
            features.append(gram + n_features)
            n_features += distinct
    return np.concatenate(rows), np.concatenate(features), n_features
