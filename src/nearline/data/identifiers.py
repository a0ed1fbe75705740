"""Identifiers: columns whose values number or name the rows. One rule, for what is read and for what is checked."""

import re
from collections.abc import Sequence

import numpy as np

from nearline._arrays.design import Array

FEWEST_ROWS = 20  # fewer tell nothing
UNIQUE = 0.99  # share of values that are different, from which on a column may name the rows
COLLISIONS = 10  # repeats to be expected of integers drawn at random, for each one seen
LONGEST_WORD = 40  # longer ones without digits are sequences (of amino acids, say)
MOST_WORDS = 1000  # that are looked at
ORDERED, DENSE, UUIDS, CODES, WORDS = "in order", "dense", "UUIDs", "codes", "words"
UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


def enough(present: int, rows: int) -> bool:
    """Whether so many values, of so many rows, can be judged."""
    return present >= max(FEWEST_ROWS, 0.5 * rows)


def of_numbers(values: Array) -> str | None:
    """How numbers, none missing, identify their rows: ORDERED, DENSE, or not at all.

    Integers are unique by design, not by chance, if as many drawn at random from their range would repeat ten times as
    often. Fractions are no identifiers.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.data.identifiers import of_numbers
    >>> of_numbers(np.arange(30.0)), of_numbers(np.arange(30.0) % 7)
    ('in order', None)
    """
    n, distinct = len(values), len(np.unique(values))
    if distinct < UNIQUE * n or not np.isfinite(values).all() or (values != np.floor(values)).any():
        return None
    steps = np.diff(values)
    if distinct == n and ((steps > 0).all() or (steps < 0).all()):
        return ORDERED
    expected = n * n / 2 / (float(values.max()) - float(values.min()) + 1)
    return DENSE if expected >= COLLISIONS * (1 + n - distinct) else None


def of_words(levels: Sequence[str | bytes], rows: int) -> str | None:
    """How different strings identify so many rows: UUIDS, CODES (most have digits), short WORDS, or not at all (texts).

    Examples
    --------
    >>> from nearline.data.identifiers import of_words
    >>> of_words([f"AB{n}" for n in range(30)], 30), of_words(["red", "green"], 30)
    ('codes', None)
    """
    if len(levels) < UNIQUE * rows:
        return None
    words = plain_words(levels)
    if sum(len(word.split()) == 1 for word in words) < 0.95 * len(words):
        return None
    if all(UUID.fullmatch(word) for word in words):
        return UUIDS
    if sum(any(sign.isdigit() for sign in word) for word in words) >= 0.9 * len(words):
        return CODES
    return WORDS if max(map(len, words)) <= LONGEST_WORD else None


def plain_words(levels: Sequence[str | bytes]) -> list[str]:
    """The first strings, without blanks around them."""
    some = levels[:MOST_WORDS]
    return [(one.decode(errors="replace") if isinstance(one, bytes) else one).strip() for one in some]
