"""Folds and test rows by hashed row numbers: the same rows whatever the blocks that hold them."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array


def uniform(numbers: Array, random_state: int, stream: int = 0) -> Array:
    """A number in [0, 1) for each row number, as if drawn by chance; streams are independent of each other.

    >>> uniform(np.arange(3), 0).round(3).tolist()
    [0.883, 0.432, 0.026]
    """
    mixed = numbers.astype(np.uint64) + np.uint64((random_state * 2654435761 + stream * 40503 + 1) % 2**64)
    with np.errstate(over="ignore"):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11), dtype=np.float64) / 2.0**53


class Parts:
    """Test rows, and folds of the others. Shares of classes are right by chance, not by force: rare ones may be missing."""

    def __init__(self, share: float, n_folds: int, random_state: int) -> None:
        self.share, self.n_folds, self.random_state = share, n_folds, random_state

    def __call__(self, numbers: Array) -> Array:
        """The fold of each row; -1 of test rows."""
        u = uniform(numbers, self.random_state)
        folds = np.floor((u - self.share) / (1.0 - self.share) * self.n_folds)
        return np.where(u < self.share, -1, np.minimum(folds, self.n_folds - 1)).astype(np.int64)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Parts) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.share, self.n_folds, self.random_state))
