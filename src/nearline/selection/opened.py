"""Opened: what the locked rows say about the chosen model, once (SPEC H3, H5)."""

from dataclasses import dataclass, field

import numpy as np

from nearline.arrays import Array
from nearline.selection.answers import Answers
from nearline.selection.intervals import Block, Interval, accuracy_interval, bootstrap
from nearline.selection.leaderboard import shown
from nearline.selection.scoring import Scorer


@dataclass(frozen=True)
class LockedRows:
    """What the rows of the test part are, features aside."""

    codes: Array
    classes: Array
    weights: Array | None = None
    groups: Array | None = None
    in_time: bool = False


@dataclass(frozen=True)
class TestResult:
    """Scores of one model on the test rows, each with an interval that accounts for the choice of the test rows only."""

    __test__ = False  # pytest: no test case

    model: str
    n_rows: int
    n_training_rows: int
    scores: dict[str, float]
    intervals: dict[str, Interval]
    cross_validation: dict[str, float]  # the winner's mean: optimistic, for it was chosen by it
    majority: float  # accuracy of the most frequent class of the training part
    classes: Array = field(repr=False)
    codes: Array = field(repr=False)
    answers: Answers = field(repr=False)
    openings: int = 1
    refitted: bool = False  # whether the model in hand has been fitted on all rows since

    @property
    def confusion(self) -> Array:
        """(C, C): rows of class i that were called j."""
        C = len(self.classes)
        return np.bincount(self.codes * C + self.answers.labels, minlength=C * C).reshape(C, C)

    def per_class(self) -> list[dict[str, float]]:
        """Precision, recall, F1 and number of rows of each class; NaN where undefined."""
        table = self.confusion
        found, called, there = np.diag(table).astype(float), table.sum(axis=0), table.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall, f1 = found / called, found / there, 2 * found / (called + there)
        return [
            {"class": label, "precision": p, "recall": r, "f1": f, "rows": int(n)}
            for label, p, r, f, n in zip(self.classes.tolist(), precision, recall, f1, there, strict=True)
        ]

    def __str__(self) -> str:
        lines = [f"test: {self.model}, fitted on {self.n_training_rows:,} rows, {self.n_rows:,} test rows"]
        for name, score in self.scores.items():
            interval = self.intervals[name]
            bounds = f"{interval.confidence:.0%} interval {shown(interval.low)} to {shown(interval.high)}"
            said = bounds if interval.defined else f"no interval: {interval.reason}"
            lines.append(
                f"  {name} {shown(score)} ({said}); in cross-validation {shown(self.cross_validation[name])}"
            )
        lines.append(f"  accuracy of the most frequent class: {self.majority:.4f}")
        if self.openings > 1:
            lines.append(
                f"  opened {self.openings} times: a test that is looked at again while models change is no test"
            )
        if self.refitted:
            lines.append("  the model in hand was fitted anew on all rows; the score is the earlier model's")
        return "\n".join(lines)


def intervals_of(answers: Answers, rows: LockedRows, scorers: list[Scorer], seed: int) -> dict[str, Interval]:
    """Wilson's for the accuracy of independent rows, by groups or in time their like; the bootstrap for other scores."""
    block: Block = "auto" if rows.in_time else None
    found = {}
    for scorer in scorers:
        if scorer.name == "accuracy" and rows.weights is None:
            correct = answers.labels == rows.codes
            found[scorer.name] = accuracy_interval(correct, groups=rows.groups, block=block)
            continue
        score = _resampled(answers, rows, scorer)
        found[scorer.name] = bootstrap(
            score, len(rows.codes), groups=rows.groups, block=block, n_resamples=1000, seed=seed
        )
    return found


def _resampled(answers: Answers, rows: LockedRows, scorer: Scorer):  # type: ignore[no-untyped-def]
    probabilities = answers.probabilities()

    def score(numbers: Array) -> float:
        some = Answers(
            answers.labels[numbers],
            answers.n_classes,
            None if answers.scores is None else answers.scores[numbers],
            None if probabilities is None else lambda: probabilities[numbers],
        )
        weights = None if rows.weights is None else rows.weights[numbers]
        return scorer(some, rows.codes[numbers], rows.classes, weights)

    return score
