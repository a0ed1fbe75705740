"""Splits: the test rows that are locked away, and the folds on which candidates are compared."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit

from nearline._arrays.design import Array
from nearline._records.parameters import Parametrized
from nearline._records.refused import ParameterError, UnknownNameError, check_choice
from nearline._records.words import many, worded
from nearline.selection.folds import Folds, as_folds, warn_of_torn

SPLITS = ("auto", "stratified", "group", "time")


@dataclass(frozen=True)
class Split(Parametrized):
    """How a contest divides the rows: into the test part and the others, and these into folds.

    Parameters
    ----------
    by : "auto" (by group where groups are given, else stratified), "stratified", "group", or "time" (rows are in the order
        of time).
    folds : a number, "leave-one-out", a scikit-learn splitter, fold numbers, or a list of pairs of row numbers.
    nested : whether the whole procedure, choice included, is cross-validated on these folds too.

    Examples
    --------
    >>> from nearline import Split
    >>> Split("time", folds=10)
    Split(by='time', folds=10, nested=False)
    """

    by: str = "auto"
    folds: Any = 5
    nested: bool = False

    def __post_init__(self) -> None:
        check_choice("by", self.by, SPLITS)
        check_choice("nested", self.nested, (True, False))


def as_split(split: Any, folds: Any = None) -> Split:
    """By name with a number of folds, or as it is: then it has its folds already."""
    if isinstance(split, Split):
        if folds is not None:
            raise ParameterError("folds", folds, "None beside a Split", f"give Split(folds={folds!r})")
        return split
    if not isinstance(split, str) or split not in SPLITS:
        raise ParameterError("split", split, f"{', '.join(map(repr, SPLITS))} or a Split")
    return Split(split, 5 if folds is None else folds)


@dataclass(frozen=True)
class Division:
    """What divides some rows: "stratified" by class, by "group", or by "time" (rows are in the order of time)."""

    kind: str
    random_state: int = 0

    def holdout(self, codes: Array, groups: Array | None, fraction: float) -> tuple[Array, Array]:
        """Row numbers (training part, test part), each in ascending order."""
        n = len(codes)
        if not 0 < fraction < 1:
            raise ParameterError("test", fraction, "a share of the rows between 0 and 1")
        if round(fraction * n) < 1:
            raise ValueError(
                f"A share of {fraction:g} of {many(n, 'row')} is no row: give more rows, a larger share, or {_no_test()}."
            )
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
                f"With a share of {fraction:g} as test rows the training part has {many(len(train), 'row')} of "
                f"{many(len(np.unique(codes[train])), 'class', 'classes')}, too few to learn from: give more rows, a smaller "
                f"test part, or {_no_test()}."
            )
        return train, np.sort(test)

    def _group_holdout(self, codes: Array, groups: Array | None, fraction: float) -> Array:
        """Of some drawn divisions of the groups, the one whose test part is most like all rows in size and classes."""
        assert groups is not None
        if len(np.unique(groups)) < 2:
            by_group = worded("split='group'", "--groups")
            raise ValueError(f"{by_group} needs at least 2 groups, got 1: give other groups, or none.")
        drawn = GroupShuffleSplit(20, test_size=fraction, random_state=self.random_state)
        shares = np.bincount(codes) / len(codes)

        def unlike(test: Array) -> float:
            there = np.bincount(codes[test], minlength=len(shares)) / max(len(test), 1)
            return abs(len(test) / len(codes) - fraction) / fraction + float(np.abs(there - shares).sum())

        return min((test for _, test in drawn.split(codes, codes, groups)), key=unlike)

    def _stratified_holdout(self, codes: Array, fraction: float) -> Array:
        """The same share of every class, drawn by the seed; single rows of a class stay in the training part."""
        rng = np.random.default_rng(self.random_state)
        there = np.bincount(codes)
        wanted = fraction * there
        sizes = np.floor(wanted).astype(int)
        more = max(0, round(fraction * len(codes)) - int(sizes.sum()))
        sizes[np.argsort(sizes - wanted, kind="stable")[:more]] += 1  # the largest remainders first
        sizes = np.minimum(sizes, np.maximum(there - 1, 0))
        parts = [rng.permutation(np.flatnonzero(codes == c))[:size] for c, size in enumerate(sizes)]
        return np.concatenate(parts)

    def folds(self, codes: Array, groups: Array | None, folds: Any, *, quietly: bool = False) -> Folds:
        """Folds with at least two classes to learn from."""
        drawn = as_folds(folds, codes, split=self.kind, groups=groups, random_state=self.random_state)
        return drawn.learnable(codes, quietly=quietly)


def _no_test() -> str:
    return worded("test=None", "--test none")


def division(by: str, groups: Any, random_state: int) -> Division:
    """By name; "auto" is by group where groups are given, else stratified."""
    if by not in SPLITS:
        raise UnknownNameError("split", by, SPLITS)
    if by == "auto":
        by = "stratified" if groups is None else "group"
    if by == "time" and groups is not None:
        raise ValueError(
            "split='time' and groups exclude each other: later rows are of groups that were there before, so that groups "
            "would be on both sides. Give groups to test on groups never seen, or split='time' to test on later rows."
        )
    if by == "group" and groups is None:
        raise ValueError("split='group' needs groups: give them to fit.")
    return Division(by, random_state)


def checked_groups(groups: Any, n: int) -> Array:
    """Group labels (n,) as numbers; rows without one are refused."""
    given = np.asarray(groups)
    if given.ndim != 1 or len(given) != n:
        raise ValueError(f"groups must have one label for each of the {n} rows, got shape {given.shape}.")
    missing = np.array([label is None or label != label for label in given.tolist()])
    if missing.any():
        raise ValueError(
            f"{many(int(missing.sum()), 'row')} without a group (NaN or None): give each row one."
        )
    return np.unique(given.astype(str) if given.dtype == object else given, return_inverse=True)[1]


def folds_by(
    split: str, folds: Any, y: Array, groups: Any, random_state: int, *, labels: bool = True
) -> Folds:
    """Folds as functions take them: split by name, groups as they come; targets that are no labels are not stratified.

    Groups that the folds tear are said.
    """
    known = None if groups is None else checked_groups(groups, len(y))
    kind = division(split, known, random_state).kind
    kind = kind if labels or kind != "stratified" else "plain"
    drawn = as_folds(folds, y, split=kind, groups=known, random_state=random_state)
    if known is not None:
        warn_of_torn(drawn, known)
    return drawn
