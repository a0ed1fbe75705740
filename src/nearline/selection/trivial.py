"""Trivial answers, made without a look at the features, and whether a model is better than they are."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import many
from nearline.predictions import Known, Predictions
from nearline.selection.comparison import CorrectRows, indistinguishable, mcnemar
from nearline.selection.fold_data import TrainingRows
from nearline.selection.folds import Folds
from nearline.selection.intervals import Block, Interval
from nearline.selection.intervals.bootstrap import bootstrap
from nearline.selection.intervals.of_scores import Sample
from nearline.selection.leaderboard import Entry, Leaderboard, right_rows
from nearline.selection.scoring import SCORERS, Scorer

LEVEL = 0.05
CONSTANT = ("balanced-accuracy", "auc", "mcc")  # scores that trivial answers have whatever the rows


@dataclass(frozen=True)
class Against:
    """A model against trivial answers by one score, with the class that it misses most easily: the rarest one."""

    score: str
    own: float
    trivial: float
    always: Any  # the label that is always answered
    better: bool | None  # shown on these rows; None where no test could tell
    gain: float  # how much better the own score is, less than 0 if it is worse
    how: str  # the test, in words
    rare: Any = None  # the rarest class that is there, if it is another one
    rare_rows: int = 0
    missed: int = 0

    def __str__(self) -> str:
        reference = REFERENCES.get(self.score, f"always answering {self.always!r}")
        scores = f"{self.score} {self.own:.4f} against {self.trivial:.4f}"
        said = f"{self.verdict} {reference}: {scores} ({self.how})"
        return f"{said}; {self.misses}" if self.rare_rows else said

    @property
    def verdict(self) -> str:
        """What was shown, or else how the scores lie on these rows."""
        if self.better is None:
            return "too few rows to tell whether it is better than"
        if self.better:
            return "better than"
        return (
            "not shown to be better than"
            if self.gain > 0
            else "worse than"
            if self.gain < 0
            else "no better than"
        )

    @property
    def misses(self) -> str:
        """How the rarest class fares."""
        return f"{self.missed:,} of {many(self.rare_rows, 'row')} of class {self.rare!r} missed"


# What the trivial answers amount to, by score; labels are those of the most frequent class.
REFERENCES = {
    "balanced-accuracy": "answers without a look at the features (1 / number of classes)",
    "auc": "a ranking without a look at the features (0.5)",
    "log-loss": "probabilities that are the shares of the classes",
    "brier": "probabilities that are the shares of the classes",
}


def trivial_answers(codes: Array, weights: Array | None, n_classes: int, m: int) -> Predictions:
    """The most frequent of the classes, and their shares as probabilities, for m rows."""
    shares = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    shares /= shares.sum()
    return Predictions(np.full(m, shares.argmax()), n_classes, None, Known(np.tile(shares, (m, 1))))


def against_on_rows(
    predictions: Predictions,
    trivial: Predictions,
    rows: Sample,
    scorer: Scorer,
    interval: Interval,
    random_state: int = 0,
) -> Against:
    """On test rows, with the interval of the model's own score.

    Accuracy of independent rows: McNemar's exact test, where there are enough rows for a perfect model to pass it. Scores
    that are the same for any trivial answers (a constant ranking has AUC 0.5): whether the interval is above. Others: the
    paired bootstrap of the difference.
    """
    codes, classes = rows.codes, rows.classes
    own, reference = (scorer(one, codes, classes, rows.weights) for one in (predictions, trivial))
    right = predictions.labels == codes
    better: bool | None
    if _is(scorer, "accuracy") and rows.weights is None and rows.groups is None and not rows.in_time:
        test = mcnemar(right, trivial.labels == codes)
        better = bool(test.p_value <= LEVEL and test.only_a > test.only_b)
        if mcnemar(np.ones(len(codes), bool), trivial.labels == codes).p_value > LEVEL:
            better = None  # even a model without a mistake could not show it
        how = f"right alone on {many(test.only_a, 'row')}, wrong alone on {test.only_b:,}, McNemar's p = {test.p_value:.2g}"
    else:
        constant = _is(scorer, *CONSTANT)
        gain = (
            _shifted(interval, reference)
            if constant
            else _gain(predictions, trivial, rows, scorer, random_state)
        )
        better = gain.low > 0 if gain.defined else None
        how = (
            f"{gain.confidence:.0%} interval of the gain {gain.low:.4f} to {gain.high:.4f}"
            if constant
            else "by the paired bootstrap, approximate"  # its coverage has not been measured: no interval
        )
    found = Against(scorer.name, own, reference, None, better, scorer.sign * (own - reference), how)
    return _with_misses(found, trivial, right, codes, classes)


def _gain(
    predictions: Predictions, trivial: Predictions, rows: Sample, scorer: Scorer, random_state: int
) -> Interval:
    def gain(numbers: Array) -> float:
        weights = None if rows.weights is None else rows.weights[numbers]
        codes = rows.codes[numbers]
        a, b = (scorer(one.some(numbers), codes, rows.classes, weights) for one in (predictions, trivial))
        return scorer.sign * (a - b)

    block: Block = "auto" if rows.in_time else None
    return bootstrap(
        gain, len(rows.codes), groups=rows.groups, block=block, n_resamples=500, random_state=random_state
    )


def _shifted(interval: Interval, by: float) -> Interval:
    return replace(interval, low=interval.low - by, high=interval.high - by)


@dataclass(frozen=True)
class FoldScores:
    """What a candidate and the trivial answers scored on the same folds."""

    own: Array  # (folds,)
    trivial: Array
    right: Array  # which of the rows left out, fold after fold, the candidate had right
    trivially_right: Array
    codes: Array  # of these rows


def against_on_folds(
    folds: FoldScores,
    always: Predictions,
    classes: Array,
    scorer: Scorer,
    test_to_train: float,
    by_rows: bool,
) -> Against:
    """In cross-validation, by the paired comparison of the leaderboard. The candidate was chosen by these scores."""
    correct = None
    if by_rows and _is(scorer, "accuracy"):
        bits = np.packbits([folds.right, folds.trivially_right], axis=1)
        correct = CorrectRows(bits, len(folds.codes))
    both = scorer.sign * np.array([folds.own, folds.trivial])
    own, reference = float(folds.own.mean()), float(folds.trivial.mean())
    better: bool | None = None
    gain = scorer.sign * (own - reference)
    if np.isfinite(both).all():
        better = bool(not indistinguishable(both, test_to_train, LEVEL, correct)[1] and gain > 0)
    how = "a paired comparison on the folds, approximate"
    found = Against(scorer.name, own, reference, None, better, gain, how)
    return _with_misses(found, always, folds.right, folds.codes, classes)


def chosen_against_trivial(board: Leaderboard, chosen: Entry, rows: TrainingRows, scorer: Scorer) -> Against:
    """The chosen candidate against answers without a look at the features, on the folds."""
    tests = [test for _, test in rows.folds]
    codes = np.concatenate([rows.codes[test] for test in tests])
    scores, right = trivial_on_folds(rows.folds, rows.codes, rows.weights, rows.classes, scorer)
    found = FoldScores(
        chosen.scores[scorer.name], scores, right_rows(chosen, list(map(len, tests))), right, codes
    )
    always = trivial_answers(rows.codes, rows.weights, len(rows.classes), 1)
    by_rows = board.n_rows is not None
    return against_on_folds(found, always, rows.classes, scorer, board.test_to_train, by_rows)


def trivial_on_folds(
    folds: Folds, codes: Array, weights: Array | None, classes: Array, scorer: Scorer
) -> tuple[Array, Array]:
    """Scores of the trivial answers on each fold, and which rows left out they have right."""
    scores, right = [], []
    for train, test in folds:
        own = None if weights is None else weights[train]
        predictions = trivial_answers(codes[train], own, len(classes), len(test))
        scores.append(scorer(predictions, codes[test], classes, None if weights is None else weights[test]))
        right.append(predictions.labels == codes[test])
    return np.array(scores), np.concatenate(right)


def _with_misses(found: Against, trivial: Predictions, right: Array, codes: Array, classes: Array) -> Against:
    always = int(trivial.labels[0])
    there = np.bincount(codes, minlength=len(classes)).astype(float)
    there[there == 0] = np.inf
    there[always] = np.inf
    rare = int(there.argmin())
    found = replace(found, always=classes.tolist()[always])
    if not np.isfinite(there[rare]):
        return found
    missed = int((~right[codes == rare]).sum())
    return replace(found, rare=classes.tolist()[rare], rare_rows=int(there[rare]), missed=missed)


def _is(scorer: Scorer, *names: str) -> bool:
    return any(scorer.score is SCORERS[name].score for name in names)
