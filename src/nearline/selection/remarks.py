"""Remarks: findings about a contest that has been held, from what its candidates scored."""

import warnings
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline._records.words import worded
from nearline.selection.checks import Finding, check
from nearline.selection.fold_data import TrainingRows
from nearline.selection.folds import LeakageWarning
from nearline.selection.input import NUMERIC
from nearline.selection.leaderboard import Entry, Leaderboard, right_rows
from nearline.selection.locked_test import LockedTest
from nearline.selection.rows import LabeledRows
from nearline.selection.scoring import SCORERS
from nearline.selection.trivial import Against

GRID_END, TRIVIAL, MISLEADS = "grid-end", "no-better-than-trivial", "accuracy-misleads"
RARER = 4  # times as many rows in the largest class as in the rarest
HIDDEN = 0.1  # by which the mean share of the classes that is found is below the accuracy


def leaks(
    model: Any, rows: TrainingRows, part: LabeledRows, locked: LockedTest | None, numbers: Array
) -> list[Finding]:
    """What the checks find in the training part, whose rows have these numbers, and in the locked rows beside it."""
    names = getattr(model, "feature_names_in_", None)
    if model._kind not in NUMERIC:  # a frame of numbers has become an array, others have their names
        names = None
    return check(
        rows.X,
        part.y,
        X_test=None if locked is None else locked.rows.X,
        y_test=None if locked is None else locked.rows.y,
        groups=part.groups,
        folds=rows.folds,
        split=model.split_,
        n_folds=len(rows.folds),
        own_test=locked is not None and locked.plan.own,
        rows=numbers,
        test_rows=None if locked is None else locked.numbers,
        names=None if names is None else [str(name) for name in names],
    )


def warn_of(findings: list[Finding]) -> None:
    """Say those that are warnings, to whoever called fit."""
    for finding in findings:
        if finding.severity == "warning":
            said = visible(f"{finding.subject}: {finding.message} {finding.remedy}")
            warnings.warn(said, LeakageWarning, stacklevel=3)


def grid_ends(board: Leaderboard) -> list[Finding]:
    """Families whose best candidate is the last of its grid, even after the grid went on."""
    best = [entry for entry in board.best_of_families() if entry.edges]
    if not best:
        return []
    said = [
        f"The best {edge.parameter} of {entry.family} on {entry.representation} is the {edge.place} tried, {edge.value:g} "
        f"({edge.why})."
        for entry in best
        for edge in entry.edges
    ]
    remedy = (
        "Values beyond may be better, and the place on the leaderboard too low: try them by themselves "
        f"({worded('path_scores, sweep, kernel_scores', 'nearline path, nearline sweep')}), or give more time."
    )
    return [Finding(GRID_END, "note", "; ".join(entry.family for entry in best), " ".join(said), remedy)]


def no_better(found: Against, where: str) -> list[Finding]:
    """A model that was not shown to be better than answers without a look at the features."""
    if found.better is not False:
        return []
    remedy = "Give more rows or other features; without them the model is of no use."
    if found.score == "accuracy":
        balanced = worded('scoring="balanced-accuracy"', "--scoring balanced-accuracy")
        remedy = (
            "Where the rare class matters, choose by a score that counts it: "
            f"{balanced}. "
            "Else give more rows or other features."
        )
    return [Finding(TRIVIAL, "note", where, f"The chosen model is {found}.", remedy)]


def misled(board: Leaderboard, chosen: Entry, rows: TrainingRows) -> list[Finding]:
    """Accuracy decides, classes are of very different size, and the chosen candidate misses much of the small ones."""
    if board.primary.score is not SCORERS["accuracy"].score:
        return []
    tests = [test for _, test in rows.folds]
    codes, right = rows.codes[np.concatenate(tests)], right_rows(chosen, [len(test) for test in tests])
    sizes = np.bincount(codes, minlength=len(rows.classes))
    there = np.flatnonzero(sizes)
    found = np.bincount(codes, right, minlength=len(sizes))[there] / sizes[there]
    rarest = int(there[sizes[there].argmin()])
    accuracy, balanced = float(right.mean()), float(found.mean())
    if sizes.max() < RARER * sizes[rarest] or balanced > accuracy - HIDDEN:
        return []
    worst = int(there[found.argmin()])
    labels = rows.classes.tolist()
    said = (
        f"Accuracy decides, and {sizes.max() / sizes.sum():.0%} of the rows are of class {labels[int(sizes.argmax())]!r}: "
        f"the chosen model has accuracy {accuracy:.3f} on the folds, but finds {found.min():.0%} of the "
        f"{sizes[worst]:,} rows of class {labels[worst]!r}; its balanced accuracy is {balanced:.3f}."
    )
    better = worded(
        'scoring="balanced-accuracy", threshold="tune" for two classes, or costs={(true, answered): cost}',
        "--scoring balanced-accuracy, --threshold tune for two classes, or --costs true:answered=cost",
    )
    remedy = f"Where that class matters, choose by a score that counts it: {better}."
    return [Finding(MISLEADS, "note", str(labels[worst]), said, remedy)]
