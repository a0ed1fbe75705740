"""Folds: which rows are left out together. One parser for everyone who takes ``folds``, ``split`` and ``groups``.

Folds are a number, "leave-one-out", each row's fold number, pairs of rows, or a scikit-learn splitter. How a number divides
the rows is the split: "stratified" by class, "plain" (for targets), by "group", or in "time".
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError
from nearline._records.words import many, worded

Pairs = list[tuple[Array, Array]]  # (numbers of the training rows, numbers of the rows left out)


@dataclass(frozen=True)
class Folds:
    """Pairs (numbers of the training rows, numbers of the rows left out); a scikit-learn splitter too."""

    n_rows: int
    numbers: Array | None  # (n,) each row's fold, where every row is left out once and else trained on
    pairs: Pairs  # none where the numbers tell all: leaving out each of n rows would take n^2 numbers

    @classmethod
    def of(cls, pairs: Pairs, n_rows: int) -> "Folds":
        """Pairs, or each row's fold where they divide the rows."""
        numbers = partition(n_rows, pairs)
        return cls(n_rows, numbers, pairs if numbers is None else [])

    def __len__(self) -> int:
        return len(self.pairs) if self.numbers is None else int(self.numbers.max(initial=-1)) + 1

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, f: int) -> tuple[Array, Array]:
        if self.numbers is None:
            return self.pairs[f]
        return np.flatnonzero(self.numbers != f), np.flatnonzero(self.numbers == f)

    def tests(self) -> list[Array]:
        """The rows left out by each fold."""
        if self.numbers is None:
            return [test for _, test in self.pairs]
        order = np.argsort(self.numbers, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.numbers))[:-1])

    @property
    def fewest(self) -> int:
        """Training rows of the fold that has the fewest."""
        if self.numbers is None:
            return min(len(train) for train, _ in self.pairs)
        return int(self.n_rows - np.bincount(self.numbers).max())

    def learnable(self, codes: Array, *, quietly: bool = False) -> "Folds":
        """Those with at least two classes to learn from; that others are left out is said."""
        if self.numbers is not None and _classes_outside(self.numbers, codes, len(self)) > 1:
            return self
        kept = [(train, test) for train, test in self if len(np.unique(codes[train])) > 1]
        if len(kept) < 2:
            raise ValueError(
                f"A mean with its deviation needs at least 2 folds with 2 classes to learn from, got {len(kept)}: give "
                "more rows, or other folds."
            )
        if len(kept) == len(self):
            return self
        if not quietly:
            warnings.warn(
                f"{len(self) - len(kept)} of {len(self)} folds have only one class to learn from and are left out: "
                f"scores are of {len(kept)} folds.",
                stacklevel=4,
            )
        return Folds.of(kept, self.n_rows)

    def torn(self, groups: Array) -> Array:
        """Groups (as numbers) that a fold has on both sides, so that rows like those left out are trained on."""
        if self.numbers is None:
            both = [np.intersect1d(groups[train], groups[test]) for train, test in self.pairs]
            return np.unique(np.concatenate([*both, np.empty(0, groups.dtype)]))
        together = np.unique(np.column_stack([groups, self.numbers]), axis=0)[:, 0]
        values, counts = np.unique(together, return_counts=True)
        return np.asarray(values[counts > 1])

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """The pairs, for scikit-learn."""
        return iter(self)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many, for scikit-learn."""
        return len(self)


class LeakageWarning(UserWarning):
    """The data may tell the answer in a way that new data will not."""


def warn_of_torn(folds: Folds, groups: Array) -> None:
    """Say that folds tear groups, which were given to stay together."""
    torn = len(folds.torn(groups))
    if torn:
        warnings.warn(
            f"{torn:,} of {len(np.unique(groups)):,} groups are trained on and tested in one fold: scores are too good for "
            "groups never seen. Give folds that keep groups together (a number, or scikit-learn's StratifiedGroupKFold).",
            LeakageWarning,
            stacklevel=5,  # who called the function that was given the folds
        )


def as_folds(
    folds: Any, y: Array, *, split: str = "stratified", groups: Any = None, random_state: int = 0
) -> Folds:
    """Folds of the rows whose labels, or targets, are ``y``."""
    n = len(y)
    if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
        folds = splitter(split, int(folds), y, groups, random_state)
    numbers = np.arange(n) if isinstance(folds, str) and folds == "leave-one-out" else _fold_numbers(folds, n)
    if numbers is not None:
        return _several(Folds(n, numbers, []))
    if not isinstance(folds, str) and callable(getattr(folds, "split", None)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # classes with few rows: the checks say so
            folds = list(folds.split(np.zeros((n, 1)), y, groups))
    return _several(Folds.of([_checked(pair, n) for pair in _listed(folds)], n))


def _several(folds: Folds) -> Folds:
    if len(folds) < 2:
        raise ValueError(f"A mean with its deviation needs at least 2 folds, got {len(folds)}.")
    return folds


def splitter(split: str, n_folds: int, y: Array, groups: Any, random_state: int) -> Any:
    """A scikit-learn splitter of that many folds."""
    n = len(y)
    _check_number(n_folds, n)
    if split == "time":
        return TimeSeriesSplit(n_folds)
    if split == "plain":
        return KFold(n_folds, shuffle=True, random_state=random_state)
    sizes = np.unique(y, return_counts=True)[1]
    if split == "group":
        n_groups = len(np.unique(groups))
        if n_groups < n_folds:
            raise ValueError(
                f"{n_folds} folds by group need as many groups, and there are {n_groups}: take fewer folds "
                f"({worded(f'folds={max(2, n_groups)}', f'--folds {max(2, n_groups)}')}), or give more groups."
            )
        common = int(sizes.min()) >= n_folds
        return (
            StratifiedGroupKFold(n_folds, shuffle=True, random_state=random_state)
            if common
            else GroupKFold(n_folds)
        )
    if sizes.max() < n_folds:
        raise ValueError(
            f"The largest class has {many(int(sizes.max()), 'row')}, and {n_folds} folds need as many: give more rows of "
            f"each class, or take fewer folds ({worded('folds=2', '--folds 2')})."
        )
    return StratifiedKFold(n_folds, shuffle=True, random_state=random_state)


def _check_number(folds: int, n: int) -> None:
    """Refuse a number of folds that rows cannot be divided into, by what is wrong: the number, or too few rows."""
    if folds < 2:
        raise ParameterError("folds", folds, f"between 2 and the number of rows that they divide, {n:,}")
    if folds > n:
        fewer = f", or take fewer folds ({worded('folds=2', '--folds 2')})" if n > 2 else ""
        there = f"There {'is' if n == 1 else 'are'} only {many(n, 'row')} to divide"
        raise ValueError(f"{there}, and {folds} folds need as many: give more rows{fewer}.")


def partition(n: int, pairs: Pairs) -> Array | None:
    """Each row's fold, if every row is left out exactly once and trained on in all other folds."""
    numbers = np.full(n, -1)
    for f, (train, test) in enumerate(pairs):
        there = np.zeros(n, dtype=bool)
        there[train] = there[test] = True
        if len(train) + len(test) != n or not there.all() or (numbers[test] >= 0).any():
            return None
        numbers[test] = f
    return numbers if (numbers >= 0).all() else None


def _classes_outside(numbers: Array, codes: Array, n_folds: int) -> int:
    """Classes that the fold which leaves the fewest of them has to train on."""
    counts = np.zeros((int(codes.max()) + 1, n_folds), dtype=np.intp)
    np.add.at(counts, (codes, numbers), 1)
    return int((counts.sum(axis=1, keepdims=True) > counts).sum(axis=0).min())


def _fold_numbers(folds: Any, n: int) -> Array | None:
    """Each row's fold, counted from 0, if folds are one value for each row."""
    several = isinstance(folds, (list, tuple)) and len(folds) > 0
    if not (isinstance(folds, np.ndarray) or (several and all(np.isscalar(number) for number in folds))):
        return None
    values = np.asarray(folds)
    if values.shape != (n,):
        raise ValueError(
            f"folds must have one fold number for each of the {n} rows, got shape {values.shape}."
        )
    return np.unique(values, return_inverse=True)[1]


def _listed(folds: Any) -> list[Any]:
    pairs = [] if isinstance(folds, (str, bytes)) else list(folds) if np.iterable(folds) else []
    if not pairs or not all(isinstance(pair, (tuple, list, np.ndarray)) and len(pair) == 2 for pair in pairs):
        allowed = (
            "a number, 'leave-one-out', each row's fold number, a list of pairs (training rows, test rows), or a "
            "scikit-learn splitter"
        )
        raise ParameterError("folds", folds, allowed)
    return pairs


def _checked(pair: Any, n: int) -> tuple[Array, Array]:
    """Row numbers from row numbers or masks: both parts have rows, each once, all of the data, and none in common."""
    train, test = (_row_numbers(part, n) for part in pair)
    for part, what in ((train, "training"), (test, "test")):
        counts = np.bincount(part, minlength=1)
        if counts.max() > 1:
            raise ValueError(
                f"Row number {int(counts.argmax())} is {counts.max()} times among the {what} rows of a fold: give each row "
                "once (sample weights say that a row counts more)."
            )
    common = np.zeros(n, dtype=bool)
    common[train] = True
    twice = int(np.count_nonzero(common[test]))
    if not len(train) or not len(test) or twice:
        raise ValueError(
            f"folds are pairs (training rows, test rows), got one of {len(train)} and {len(test)} rows with {twice} in "
            "common: both need rows, and none may be in both."
        )
    return train, test


def _row_numbers(part: Any, n: int) -> Array:
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and not np.issubdtype(rows.dtype, np.integer)):
        raise ValueError(
            f"folds are pairs of row numbers, or of masks of {n} rows, got an array of {rows.dtype} of shape {rows.shape}."
        )
    if len(rows) and not (rows.min() >= 0 and rows.max() < n):
        raise ValueError(
            f"folds has row numbers that are not among 0 to {n - 1}: folds divide {n} rows, of a contest those of "
            "the training part (with test=None all rows)."
        )
    return rows.astype(np.intp)
