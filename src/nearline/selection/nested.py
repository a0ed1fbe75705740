"""Nested cross-validation: the whole procedure, choice included, on each fold."""

import os
import warnings
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from nearline._arrays.design import Array
from nearline.predictions import predictions_of
from nearline.selection.folds import Folds, LeakageWarning
from nearline.selection.rows import LabeledRows
from nearline.selection.scoring import Scorer
from nearline.selection.splits import Split


def nested_scores(
    contest: Any, rows: LabeledRows, folds: Folds, split: Split, scorers: list[Scorer], positive: Any
) -> tuple[dict[str, Array], bool]:
    """Scores of the procedure, each outer fold choosing for itself, and whether it was interrupted after some folds."""
    classes, scores = contest.classes_, {scorer.name: list[float]() for scorer in scorers}
    codes = np.searchsorted(classes, rows.y)
    number = split.folds if isinstance(split.folds, (int, np.integer, str)) else len(folds)
    procedure = clone(contest).set_params(
        split=Split(split.by, number),
        folds=None,
        test=None,
        progress="silent",
        pos_label=positive,
        beside=None,
    )
    interrupted = False
    for f, (train, test) in enumerate(folds):
        inner, part = clone(procedure), rows.some(train)
        inner.set_params(journal=None if contest.journal is None else _journal(contest.journal, f))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LeakageWarning)  # said already
                inner.fit(_as_given(contest, part.X), classes[codes[train]], part.groups, part.weights)
            interrupted = inner.interrupted_
        except KeyboardInterrupt:
            interrupted = True
        if interrupted:
            break
        left_out = rows.some(test)
        predictions = predictions_of(inner.model_, left_out.X, classes)
        for scorer in scorers:
            scores[scorer.name].append(scorer(predictions, codes[test], classes, left_out.weights))
    return {name: np.array(values) for name, values in scores.items()}, interrupted


def forget(journal: Path) -> None:
    """Remove the journal of a contest, and those of its folds' own contests beside it."""
    of_folds = takewhile(Path.exists, (Path(_journal(journal, f)) for f in count()))
    for one in (*of_folds, journal):
        one.unlink(missing_ok=True)


def _journal(journal: Any, f: int) -> str:
    return f"{os.fspath(journal)}.fold-{f + 1}"


def _as_given(contest: Any, X: Any) -> Any:
    """Rows in the shape that the contest got them in: that of images tells what they are."""
    shape = vars(contest).get("row_shape_", ())
    return X.reshape(len(X), *shape) if len(shape) > 1 else X
