"""Sums of parts, added as a tree that depends on the number of parts alone, whoever adds them."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Generic, TypeVar

Sums = TypeVar("Sums")
FAN = 8  # sums that are added one after the other, before these are added in turn


class Tree(Generic[Sums]):
    """A sum that takes its parts one after the other: runs of ``FAN`` in order, then runs of these, whoever adds them.

    It holds one part for each level, so that many parts need little memory.
    """

    def __init__(self, add: Callable[[Sums, Sums], Sums]) -> None:
        self._add = add
        self._levels: list[list[Sums]] = []  # at most one sum each, of the run that is not full
        self._counts: list[int] = []

    def take(self, part: Sums, level: int = 0) -> None:
        if level == len(self._levels):
            self._levels.append([])
            self._counts.append(0)
        held = self._levels[level]
        held[:] = [self._add(held[0], part) if held else part]
        self._counts[level] += 1
        if self._counts[level] == FAN:
            full, self._levels[level], self._counts[level] = held[0], [], 0
            self.take(full, level + 1)

    def whole(self) -> Sums:
        """The sum of at least one part; nothing can be added afterwards."""
        found: list[Sums] = []
        for held in self._levels:  # a run that is not full comes after the full ones of its level
            found = [self._add(held[0], found[0])] if held and found else held or found
        return found[0]


class Each:
    """Parts as they are, in order."""

    def __init__(self) -> None:
        self._parts: list[Any] = []

    def take(self, part: Any) -> None:
        self._parts.append(part)

    def whole(self) -> list[Any]:
        return self._parts


def tree(parts: Sequence[Sums], add: Callable[[Sums, Sums], Sums]) -> Sums:
    """The sum of at least one part: runs of ``FAN`` in order, then runs of these, whoever adds them.

    >>> from operator import add
    >>> tree(["a", "b", "c"], add)
    'abc'
    """
    while len(parts) > 1:
        parts = [reduce(add, parts[i : i + FAN]) for i in range(0, len(parts), FAN)]
    return parts[0]
