"""Folds: which rows are left out together (SPEC H2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from nearline.arrays import Array


@dataclass(frozen=True)
class Folds:
    """Pairs (numbers of the training rows, numbers of the rows left out)."""

    n_rows: int
    numbers: Array | None  # (n,) each row's fold, where every row is left out once and else trained on
    pairs: list[tuple[Array, Array]] | None = None

    def __len__(self) -> int:
        return int(self.numbers.max()) + 1 if self.numbers is not None else len(self.pairs or [])

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        if self.numbers is None:
            yield from self.pairs or []
            return
        for test in self.tests():
            yield np.setdiff1d(np.arange(self.n_rows), test, assume_unique=True), test

    def tests(self) -> list[Array]:
        """The rows left out by each fold."""
        if self.numbers is None:
            return [test for _, test in self.pairs or []]
        order = np.argsort(self.numbers, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.numbers))[:-1])

    @property
    def fewest(self) -> int:
        """Training rows of the fold that has the fewest."""
        if self.numbers is None:
            return min(len(train) for train, _ in self.pairs or [])
        return int(self.n_rows - np.bincount(self.numbers).max())


def as_folds(folds: Any, y: Array, *, stratified: bool, seed: int) -> Folds:
    """Folds from a number, "leave-one-out", the number of each row's fold, or a scikit-learn splitter."""
    n = len(y)
    if isinstance(folds, str) and folds == "leave-one-out":
        return _several(Folds(n, np.arange(n)))
    if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
        if not 2 <= folds <= n:
            raise ValueError(f"folds must be between 2 and the number of rows, {n}, got {folds}.")
        kind = StratifiedKFold if stratified else KFold
        folds = kind(int(folds), shuffle=True, random_state=seed)
    if isinstance(folds, (list, tuple, np.ndarray)):
        numbers = np.asarray(folds)
        if numbers.shape != (n,):
            raise ValueError(
                f"folds must have one fold number for each of the {n} rows, got shape {numbers.shape}."
            )
        return _several(Folds(n, np.unique(numbers, return_inverse=True)[1]))
    split = None if isinstance(folds, str) else getattr(folds, "split", None)
    if split is None:
        raise ValueError(
            f"Unknown folds {folds!r}: give a number, 'leave-one-out', each row's fold number, or a scikit-learn splitter."
        )
    pairs = [(np.asarray(train), np.asarray(test)) for train, test in split(np.zeros((n, 1)), y)]
    return _several(Folds(n, partition(n, pairs), pairs))


def partition(n: int, pairs: list[tuple[Array, Array]]) -> Array | None:
    """Each row's fold, if every row is left out exactly once and trained on in all other folds."""
    numbers = np.full(n, -1)
    for f, (train, test) in enumerate(pairs):
        if (numbers[test] >= 0).any() or len(np.union1d(train, test)) != n or len(train) + len(test) != n:
            return None
        numbers[test] = f
    return numbers if (numbers >= 0).all() else None


def _several(folds: Folds) -> Folds:
    if len(folds) < 2:
        raise ValueError(f"A mean with its deviation needs at least 2 folds, got {len(folds)}.")
    return folds
