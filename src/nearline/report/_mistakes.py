"""The most confident mistakes on the test rows, with their neighbors in the training data."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import many
from nearline.report._plain import rounded
from nearline.report._rows import Nearby, Sight
from nearline.selection.test_result import TestResult

MOST_MISTAKES = 6
NEIGHBORS = 3


def mistake_facts(sight: Sight) -> dict[str, Any]:
    """Test rows that were called wrong, the surest first."""
    opened = sight.opened
    if opened is None or sight.test is None:
        return {"said": "The test is not open, so there are no mistakes to show.", "rows": []}
    wrong = np.flatnonzero(opened.predictions.labels != opened.codes)
    if not len(wrong):
        return {"said": f"None of the {many(opened.n_rows, 'test row')} was called wrong.", "rows": []}
    sureness, measure = _sureness(opened)
    first = wrong[np.argsort(-sureness[wrong], kind="stable")][:MOST_MISTAKES]
    near = sight.neighbors(sight.seen(first), NEIGHBORS)
    rows = [
        _mistake(sight, opened, int(number), float(sureness[number]))
        | {"neighbors": [_neighbor(sight, near, i, rank) for rank in range(near.places.shape[1])]}
        for i, number in enumerate(first)
    ]
    return {
        "measure": measure,
        "metric": near.metric,
        "n_wrong": len(wrong),
        "n_rows": opened.n_rows,
        "n_columns": len(sight.columns),
        "looked_at": near.looked_at,
        "rows": rows,
    }


def _sureness(opened: TestResult) -> tuple[Array, str]:
    """The probability of the class called, else how far its score is ahead of the next."""
    m = np.arange(len(opened.codes))
    probabilities = opened.predictions.probabilities()
    if probabilities is not None:
        return np.asarray(probabilities[m, opened.predictions.labels], dtype=np.float64), "probability"
    scores = opened.predictions.scores
    if scores is None:
        return np.zeros(len(m)), "none"
    if scores.ndim == 1:
        return np.abs(scores).astype(np.float64), "score"
    two = np.sort(scores, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0], dtype=np.float64), "lead"


def _mistake(sight: Sight, opened: TestResult, number: int, sureness: float) -> dict[str, Any]:
    assert sight.test is not None
    labels, known = opened.classes.tolist(), sight.contest.test_rows_
    return {
        **sight.place(number if known is None else int(known[number]), "test rows"),
        "class": labels[opened.codes[number]],
        "called": labels[opened.predictions.labels[number]],
        "sureness": rounded(sureness),
        **sight.shown(sight.test[0], number),
    }


def _neighbor(sight: Sight, near: Nearby, i: int, rank: int) -> dict[str, Any]:
    (X, labels, numbers), place = near.part, int(near.places[i, rank])
    return {
        **sight.place(int(numbers[place])),
        "class": labels[place],
        "distance": rounded(near.distances[i, rank]),
        **sight.shown(X, place),
    }
