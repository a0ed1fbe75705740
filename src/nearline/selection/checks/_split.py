"""Splits that cannot be: one group on both sides, classes with too few members, or that training never sees."""

from collections.abc import Sequence

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import worded
from nearline.selection.checks._case import Case, Concerned, Finding, listed
from nearline.selection.folds import Folds

GROUPS, RARE, UNSEEN = "groups-split", "rare-class", "unseen-class"


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
        found.append(Finding.of_rows(GROUPS, "warning", _rows_of(case, case.groups, shared), message, remedy))
    torn, where = _torn(case, train)
    if len(torn):
        message = f"{len(torn):,} of {len(np.unique(train)):,} groups {where}."
        by_group = worded('split="group", or scikit-learn\'s StratifiedGroupKFold', "--groups COLUMN")
        remedy = f"Fold by group ({by_group})."
        found.append(Finding.of_rows(GROUPS, "warning", _rows_of(case, train, torn), message, remedy))
    return found


def rare_class(case: Case) -> list[Finding]:
    """Classes with fewer members than folds: some folds cannot test them, or cannot train on them."""
    n_folds = case.n_folds if case.folds is None else len(case.folds)
    counts = np.bincount(case.targets[case.targets >= 0], minlength=len(case.classes))
    alone = n_folds >= counts.sum()  # each row is a fold: no class needs more than a row to train on
    rare = np.flatnonzero(counts < (2 if alone else n_folds))
    if len(rare) == 0:
        return []
    subject = _classes([case.classes[code] for code in rare])
    sizes = listed([int(counts[code]) for code in rare])
    message = f"{len(rare):,} of {len(counts):,} classes have fewer members ({sizes}) than there are folds, {n_folds}."
    without = _folds_without(case, rare)
    if without:
        message += (
            f" {without} of {n_folds} folds have no row of one of them to score, and there scores that average over classes "
            "are of the others."
        )
    remedy = (
        f"Use at most {max(2, int(counts.min()))} folds, merge the class with another, or collect more of it."
    )
    if counts.min() < 2:
        remedy = "Merge the class with another, leave it out, or collect more of it."
    return [Finding(RARE, "warning", subject, message, remedy)]


def _folds_without(case: Case, codes: Array) -> int:
    """In how many folds some of these classes are not among the rows left out."""
    tests = [] if case.folds is None else [case.targets[test] for _, test in case.folds]
    return sum(not np.isin(codes, labels).all() for labels in tests)


def unseen_class(case: Case) -> list[Finding]:
    """Classes that are tested but not trained on, in the test part or in a fold: no model can answer them."""
    found = []
    if case.only_in_test and case.test_targets is not None:
        rows = int((case.test_targets < 0).sum())
        message = f"{rows:,} of {len(case.test_targets):,} test rows are of a class that no training row has: every model is "
        remedy = "Give training rows of the class, or say of the test score that it counts a class the model cannot know."
        found.append(Finding(UNSEEN, "note", _classes(case.only_in_test), message + "wrong on them.", remedy))
    codes, n_folds, n_rows = _unseen_in_folds(case)
    if n_rows:
        message = (
            f"In {n_folds} of {len(case.folds or [])} folds, {n_rows:,} rows are of a class that the fold's training rows "
            "lack: every candidate is wrong on them, so that means over folds are low."
        )
        remedy = "Take fewer folds, or rows from a time in which every class is there from the start."
        found.append(Finding(UNSEEN, "note", _classes([case.classes[c] for c in codes]), message, remedy))
    return found


def _unseen_in_folds(case: Case) -> tuple[Array, int, int]:
    """Classes, folds and rows; classes with fewer members than folds are the affair of another check."""
    counts = np.bincount(case.targets[case.targets >= 0], minlength=len(case.classes))
    rare = np.flatnonzero(counts < len(case.folds or []))
    codes, n_folds, n_rows = [np.empty(0, np.intp)], 0, 0
    for train, left_out in case.folds or []:
        unseen = ~np.isin(case.targets[left_out], np.append(case.targets[train], -1))
        unseen &= ~np.isin(case.targets[left_out], rare)
        codes.append(case.targets[left_out][unseen])
        n_folds, n_rows = n_folds + bool(unseen.any()), n_rows + int(unseen.sum())
    return np.unique(np.concatenate(codes)), n_folds, n_rows


def _classes(labels: Sequence[object]) -> str:
    return f"class{'' if len(labels) == 1 else 'es'} {listed(labels)}"


def _torn(case: Case, groups: Array) -> tuple[Array, str]:
    """Groups that the folds tear, or will if they are drawn row by row."""
    if case.folds is not None:
        torn = Folds(len(groups), None, case.folds).torn(groups)
        return torn, "are trained on and tested in one fold"
    if "group" in case.split or case.split == "time":
        return np.empty(0, np.intp), ""
    values, counts = np.unique(groups, return_counts=True)
    return values[counts > 1], f"have several rows, which the split {case.split!r} puts on both sides"


def _rows_of(case: Case, groups: Array, some: Array) -> Concerned:
    """Rows of some groups, of the training part as the user knows them."""
    rows, n = np.flatnonzero(np.isin(groups, some)), case.table.n_rows
    if case.rows is not None:
        rows = np.asarray(case.rows)[rows[rows < n]]
    return Concerned("groups of rows", tuple(rows.tolist()))
