"""Splits that cannot be: one group on both sides, classes with too few members."""

import numpy as np

from nearline.arrays import Array
from nearline.selection.checks._case import Case, Finding, listed

GROUPS, RARE = "groups-split", "rare-class"


def groups_split(case: Case) -> list[Finding]:
    """Groups with rows on both sides: of a fold, of training and test part, or of the random split to come."""
    if case.groups is None:
        return []
    n = case.table.n_rows
    train, test = case.groups[:n], case.groups[n:]
    found = []
    shared = np.intersect1d(train, test)
    if len(shared):
        remedy = "Split by group, so that each group is wholly in the training or wholly in the test part."
        message = f"{len(shared):,} of {len(np.unique(case.groups)):,} groups are in training and test part."
        found.append(Finding(GROUPS, "warning", _rows_of(case.groups, shared), message, remedy))
    torn, where = _torn(case, train)
    if len(torn):
        message = f"{len(torn):,} of {len(np.unique(train)):,} groups {where}."
        remedy = 'Fold by group (split="group", or scikit-learn\'s StratifiedGroupKFold).'
        found.append(Finding(GROUPS, "warning", _rows_of(train, torn), message, remedy))
    return found


def rare_class(case: Case) -> list[Finding]:
    """Classes with fewer members than folds: some folds cannot test them, or cannot train on them."""
    n_folds = case.n_folds if case.folds is None else len(case.folds)
    counts = np.bincount(case.targets[case.targets >= 0], minlength=len(case.classes))
    rare = np.flatnonzero(counts < n_folds)
    if len(rare) == 0:
        return []
    subject = f"class{'' if len(rare) == 1 else 'es'} {listed([case.classes[code] for code in rare])}"
    sizes = listed([int(counts[code]) for code in rare])
    message = f"{len(rare):,} of {len(counts):,} classes have fewer members ({sizes}) than there are folds, {n_folds}."
    remedy = (
        f"Use at most {max(2, int(counts.min()))} folds, merge the class with another, or collect more of it."
    )
    if counts.min() < 2:
        remedy = "Merge the class with another, leave it out, or collect more of it."
    return [Finding(RARE, "warning", subject, message, remedy)]


def _torn(case: Case, groups: Array) -> tuple[Array, str]:
    """Groups that the folds tear, or will if they are drawn row by row."""
    if case.folds is not None:
        torn = [np.intersect1d(groups[train], groups[left_out]) for train, left_out in case.folds]
        return np.unique(
            np.concatenate([*torn, np.empty(0, np.intp)])
        ), "are trained on and tested in one fold"
    if "group" in case.split or case.split == "time":
        return np.empty(0, np.intp), ""
    values, counts = np.unique(groups, return_counts=True)
    return values[counts > 1], f"have several rows, which the split {case.split!r} puts on both sides"


def _rows_of(groups: Array, some: Array) -> str:
    return f"groups of rows {listed(np.flatnonzero(np.isin(groups, some)))}"
