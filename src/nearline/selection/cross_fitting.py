"""Cross-fitting: a candidate with probabilities that rows left out of its fits tell, as many fits as folds and one more."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.folds import Folds
from nearline.selection.splits import Division

MOST_FOLDS = 5
MANY_ROWS, FEWER_FOLDS = 20_000, 3  # so many rows tell the calibrator enough on fewer folds


def gives_probabilities(model: Any) -> bool:
    """Whether a model, fitted or not, has probabilities of its own."""
    return callable(getattr(model, "predict_proba", None))


def cross_fitted(model: Any, codes: Array, groups: Any, split: Division) -> CalibratedClassifier:
    """A model that has only scores, unfitted, with probabilities by the calibrator of the smallest log-loss.

    Folds are drawn as the contest's are, by group or in time. Rows of a class that a fold would have none of to train on
    are trained on there. Where a class is left out of fewer than two folds, only the temperature is asked, which needs no
    rows of each class.
    """
    folds = _folds(codes, groups, split)
    tested = sum((np.bincount(codes[test], minlength=codes.max() + 1) > 0).astype(int) for _, test in folds)
    method = "auto" if np.min(tested) >= 2 else "temperature"
    return CalibratedClassifier(model, method=method, folds=folds, random_state=split.random_state)


def _folds(codes: Array, groups: Any, split: Division) -> Folds:
    n_folds = MOST_FOLDS if len(codes) <= MANY_ROWS else FEWER_FOLDS
    most = int(np.bincount(codes).max()) if split.kind == "stratified" else len(codes) - 1
    if split.kind == "group":
        most = len(np.unique(groups))
    found = []
    for train, test in split.folds(codes, groups, min(n_folds, most), quietly=True):
        known = np.isin(codes[test], codes[train])
        lacking = np.setdiff1d(codes, codes[np.concatenate([train, test[~known]])])
        more = np.flatnonzero(np.isin(codes, lacking))  # in time: classes that come later
        rest = np.setdiff1d(test[known], more)
        if len(rest):
            found.append((np.union1d(train, np.concatenate([test[~known], more])), rest))
    return Folds.of(found, len(codes))
