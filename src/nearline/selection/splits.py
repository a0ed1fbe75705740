"""Splits: the test rows that are locked away, and the folds on which candidates are compared (SPEC H1, H2)."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from nearline.arrays import Array

SPLITS = ("auto", "stratified", "group", "time")


@dataclass(frozen=True)
class FixedFolds:
    """Folds that are decided already, as a scikit-learn splitter."""

    pairs: list[tuple[Array, Array]]

    def split(self, X: Any, y: Any = None, groups: Any = None) -> list[tuple[Array, Array]]:
        """Pairs of row numbers."""
        return self.pairs

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return len(self.pairs)


@dataclass(frozen=True)
class Split:
    """How rows are divided: "stratified" by class, by "group", or by "time" (rows are in the order of time)."""

    kind: str
    seed: int = 0

    def holdout(self, codes: Array, groups: Array | None, fraction: float) -> tuple[Array, Array]:
        """Row numbers (training part, test part), each in ascending order."""
        n = len(codes)
        if not 0 < fraction < 1:
            raise ValueError(f"test must be a share of the rows between 0 and 1, got {fraction!r}.")
        if round(fraction * n) < 1:
            raise ValueError(f"test={fraction!r} of {n} rows is no row: give a larger share, or test=None.")
        if self.kind == "time":
            size = max(1, round(fraction * n))
            test = np.arange(n - size, n)
        elif self.kind == "group":
            test = self._group_holdout(codes, groups, fraction)
        else:
            test = self._stratified_holdout(codes, fraction)
        train = np.setdiff1d(np.arange(n), test, assume_unique=True)
        if len(train) < 2 or len(np.unique(codes[train])) < 2:
            raise ValueError(
                f"With test={fraction:g} the training part has {len(train)} rows of {len(np.unique(codes[train]))} "
                "class(es), too few to learn from: give more rows, a smaller test part, or test=None."
            )
        return train, np.sort(test)

    def _group_holdout(self, codes: Array, groups: Array | None, fraction: float) -> Array:
        """Of some drawn divisions of the groups, the one whose test part is most like all rows in size and classes."""
        assert groups is not None
        if len(np.unique(groups)) < 2:
            raise ValueError("split='group' needs at least 2 groups, got 1: give other groups, or none.")
        drawn = GroupShuffleSplit(20, test_size=fraction, random_state=self.seed)
        shares = np.bincount(codes) / len(codes)

        def unlike(test: Array) -> float:
            there = np.bincount(codes[test], minlength=len(shares)) / max(len(test), 1)
            return abs(len(test) / len(codes) - fraction) / fraction + float(np.abs(there - shares).sum())

        return min((test for _, test in drawn.split(codes, codes, groups)), key=unlike)

    def _stratified_holdout(self, codes: Array, fraction: float) -> Array:
        """The same share of every class, drawn by the seed; single rows of a class stay in the training part."""
        rng = np.random.default_rng(self.seed)
        there = np.bincount(codes)
        wanted = fraction * there
        sizes = np.floor(wanted).astype(int)
        more = max(0, round(fraction * len(codes)) - int(sizes.sum()))
        sizes[np.argsort(sizes - wanted, kind="stable")[:more]] += 1  # the largest remainders first
        sizes = np.minimum(sizes, np.maximum(there - 1, 0))
        parts = [rng.permutation(np.flatnonzero(codes == c))[:size] for c, size in enumerate(sizes)]
        return np.concatenate(parts)

    def folds(self, codes: Array, groups: Array | None, folds: Any) -> list[tuple[Array, Array]]:
        """Pairs of row numbers (training, left out)."""
        if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
            folds = self._splitter(codes, groups, int(folds))
        split = None if isinstance(folds, str) else getattr(folds, "split", None)
        if split is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # classes with few rows: the checks say so
                folds = list(split(np.zeros((len(codes), 1)), codes, groups))
        try:
            pairs = [
                (np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)) for train, test in folds
            ]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Unknown folds {folds!r}: give a number, a scikit-learn splitter, or a list of pairs of row numbers."
            ) from error
        for train, test in pairs:
            if (
                max(train.max(initial=0), test.max(initial=0)) >= len(codes)
                or min(train.min(initial=0), test.min(initial=0)) < 0
            ):
                raise ValueError(
                    f"folds has row numbers that are not among 0 to {len(codes) - 1}: folds divide the training part, "
                    f"{len(codes)} rows; with test=None that is all rows."
                )
        return _usable(pairs, codes)

    def _splitter(self, codes: Array, groups: Array | None, n_folds: int) -> Any:
        n = len(codes)
        if not 2 <= n_folds <= n:
            raise ValueError(f"folds must be between 2 and the number of training rows, {n}, got {n_folds}.")
        if self.kind == "time":
            return TimeSeriesSplit(n_folds)
        if self.kind == "group":
            assert groups is not None
            n_groups = len(np.unique(groups))
            if n_groups < n_folds:
                raise ValueError(
                    f"folds={n_folds} by group need as many groups, got {n_groups}: take fewer folds."
                )
            common = int(np.bincount(codes).min()) >= n_folds
            if common:
                return StratifiedGroupKFold(n_folds, shuffle=True, random_state=self.seed)
            return GroupKFold(n_folds)
        if np.bincount(codes).max() < n_folds:
            raise ValueError(
                f"No class has as many rows as there are folds, {n_folds}: take fewer folds, or give more rows."
            )
        return StratifiedKFold(n_folds, shuffle=True, random_state=self.seed)


def as_split(split: str, groups: Any, seed: int) -> Split:
    """By name; "auto" is by group where groups are given, else stratified."""
    if split not in SPLITS:
        raise ValueError(f"Unknown split {split!r}: choose among {', '.join(map(repr, SPLITS))}.")
    if split == "auto":
        split = "stratified" if groups is None else "group"
    if split == "time" and groups is not None:
        raise ValueError(
            "split='time' and groups exclude each other: later rows are of groups that were there before, so that groups "
            "would be on both sides. Give groups to test on groups never seen, or split='time' to test on later rows."
        )
    if split == "group" and groups is None:
        raise ValueError("split='group' needs groups: give them to fit.")
    return Split(split, seed)


def _usable(pairs: list[tuple[Array, Array]], codes: Array) -> list[tuple[Array, Array]]:
    """Folds that have rows to test on and at least two classes to learn from."""
    kept = [(train, test) for train, test in pairs if len(test) and len(np.unique(codes[train])) > 1]
    if len(kept) < 2:
        raise ValueError(
            f"A mean with its deviation needs at least 2 folds with 2 classes to learn from, got {len(kept)}: give more "
            "rows, or other folds."
        )
    return kept
