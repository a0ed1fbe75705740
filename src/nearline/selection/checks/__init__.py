"""Checks: named causes of scores that are too good to be true, each with a remedy.

The cost is bounded: equal rows take one pass over the table (rows of a wide array that 48 columns tell apart are
not read further), every check of columns looks at 6,000 rows or 1.5 million cells, with at least 1,000 rows, drawn
with a fixed seed and evenly from the classes, and of an array with more than 200 columns only the 200 whose means
differ most by class are tried as predictors. So Adult (32,561 x 14) or 10,000 x 784 take a fraction of a second.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nearline._parallel.stopping import OutOfTime, checkpoint
from nearline._records.words import many
from nearline.selection.checks._case import Case, Columns, Concerned, Finding, as_case
from nearline.selection.checks._columns import empty_column, identifier, time_order, time_stamp
from nearline.selection.checks._near import near_duplicates
from nearline.selection.checks._order import row_order
from nearline.selection.checks._pairs import pair_determines_target
from nearline.selection.checks._rows import own_test_rows_in_training, rows_in_train_and_test
from nearline.selection.checks._split import groups_split, rare_class, unseen_class
from nearline.selection.checks._target import column_determines_target

__all__ = ["CHECKS", "Case", "Columns", "Concerned", "Finding", "check"]

CHECKS: dict[str, Callable[[Case], list[Finding]]] = {
    "column-determines-target": column_determines_target,
    "pair-determines-target": pair_determines_target,
    "rows-in-train-and-test": rows_in_train_and_test,
    "near-duplicates": near_duplicates,
    "test-rows-in-training": own_test_rows_in_training,
    "identifier": identifier,
    "empty-column": empty_column,
    "time-stamp": time_stamp,
    "time-order": time_order,
    "row-order": row_order,
    "groups-split": groups_split,
    "rare-class": rare_class,
    "unseen-class": unseen_class,
}


def check(
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    groups: Any = None,
    folds: Any = None,
    split: str = "stratified",
    n_folds: int = 5,
    own_test: bool = True,
    rows: Any = None,
    test_rows: Any = None,
    names: Sequence[str] | None = None,
) -> list[Finding]:
    """Findings of all checks that apply, warnings first.

    X is an array, a sparse matrix, a pandas or polars frame, or texts; groups are those of the training rows, or of
    the training rows followed by the test rows; folds are pairs (training rows, rows left out). With
    own_test=False the test part was drawn from the same rows as X, rather than brought by the user; rows and test_rows
    are then the numbers that the user knows them by. names are those of the columns of an array; without them columns
    are called by their number, counted from 1 as rows are, while Finding.columns.numbers, which index X, count from 0.

    >>> import numpy as np
    >>> y = np.arange(100) % 2
    >>> X = np.column_stack([np.random.default_rng(0).normal(size=100), 3.0 * y])
    >>> [(finding.name, finding.severity, finding.subject) for finding in check(X, y)]
    [('column-determines-target', 'warning', 'column 2')]
    """
    case = as_case(
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        groups=groups,
        folds=folds,
        split=split,
        n_folds=n_folds,
        own_test=own_test,
        names=names,
    )
    case = replace(case, rows=rows, test_rows=test_rows)
    found: list[Finding] = []
    waiting = list(CHECKS)
    try:
        while waiting:
            checkpoint()
            found += CHECKS[waiting[0]](case)
            waiting.pop(0)
    except OutOfTime:
        said = f"The time limit left no time for {many(len(waiting), 'check')}: {', '.join(waiting)}."
        found.append(
            Finding("checks-left-out", "note", "checks", said, "Give more time, or call check() by itself.")
        )
    return sorted(found, key=lambda finding: finding.severity != "warning")
