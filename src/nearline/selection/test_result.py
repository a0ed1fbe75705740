"""TestResult: what the locked rows say about the chosen model, once."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline._records.words import many
from nearline.predictions import Predictions
from nearline.selection.cells import shown
from nearline.selection.intervals import Interval
from nearline.selection.measures import class_counts
from nearline.selection.trivial import Against


@dataclass(frozen=True)
class TestResult:
    """Scores of one model on the test rows, each with an interval that accounts for the choice of the test rows only."""

    __test__: ClassVar[bool] = False  # no class of tests, whatever pytest makes of the name

    model: str
    n_rows: int
    n_training_rows: int
    scores: dict[str, float]
    intervals: dict[str, Interval]
    cross_validation: dict[str, float]  # the winner's mean: optimistic, for it was chosen by it
    majority: float  # accuracy of the most frequent class of the training part
    against: Against  # answers without a look at the features, by the score that decides
    classes: Array = field(repr=False)
    codes: Array = field(repr=False)
    predictions: Predictions = field(repr=False)
    openings: int = 1
    models: int = 1  # that were tested on these rows
    refitted: bool = False  # whether the model in hand has been fitted on all rows since
    calibrated: bool = False
    positive: Any = None  # the positive one of two classes
    weights: Array | None = field(default=None, repr=False)  # of the test rows; scores and figures count them
    titles: dict[str, str] = field(default_factory=dict)  # names of scores, with what must be said with them
    fold_titles: dict[str, str] = field(
        default_factory=dict
    )  # the same on folds, which may lack a class of the test rows
    rule: str = ""  # that makes the labels, in words, where it is not the model's own

    @property
    def confusion(self) -> Array:
        """(C, C): rows of class i that were called j."""
        C = len(self.classes)
        return np.bincount(self.codes * C + self.predictions.labels, minlength=C * C).reshape(C, C)

    def per_class(self) -> list[dict[str, float]]:
        """Precision, recall, F1 (weighted as the scores are) and number of rows of each class; NaN where undefined."""
        found, called, there = class_counts(self.predictions, self.codes, self.classes, self.weights)
        rows = np.bincount(self.codes, minlength=len(self.classes))
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall, f1 = found / called, found / there, 2 * found / (called + there)
        return [
            {"class": label, "precision": p, "recall": r, "f1": f, "rows": int(n)}
            for label, p, r, f, n in zip(self.classes.tolist(), precision, recall, f1, rows, strict=True)
        ]

    def _on_folds(self, name: str) -> str:
        mean = self.cross_validation[name]
        if np.isnan(mean):
            return ""
        decides = name == next(iter(self.scores))
        chosen = "it was chosen by it" if decides else "the model was chosen on the same folds"
        before = ", before calibration" if self.calibrated else ""
        on_folds = self.fold_titles.get(name, name)
        what = "" if on_folds == self.titles.get(name, name) else f"{on_folds} "
        return f"; in cross-validation {what}{shown(mean)}, optimistic as {chosen}{before}"

    def __str__(self) -> str:
        lines = [
            f"test: {self.model}, fitted on {many(self.n_training_rows, 'row')}, {many(self.n_rows, 'test row')}"
        ]
        for name, score in self.scores.items():
            interval = self.intervals[name]
            said = "the model or the test rows do not define it" if np.isnan(score) else interval.said()
            lines.append(f"  {self.titles.get(name, name)} {shown(score)} ({said}){self._on_folds(name)}")
        ranked = [name for name in ("auc", "average-precision") if name in self.scores]
        if ranked and self.predictions.ranked_by is not None:
            lines.append(f"  {', '.join(ranked)}: rows ranked by {self.predictions.ranked_by}")
        lines.append(f"  accuracy of the most frequent class: {self.majority:.4f}")
        if self.against.better is False:
            lines.append(f"  {self.against}")
        elif 2 * self.against.missed > self.against.rare_rows:  # a good score may hide it
            lines.append(f"  {self.against.misses}")
        if self.models > 1:
            said = f"opened {self.openings} times, for {self.models} models"
            lines.append(f"  {said}: a test that models are chosen by is no test any more")
        elif self.openings > 1:
            lines.append(f"  opened {self.openings} times, for the same model")
        if self.refitted:
            lines.append("  the model in hand was fitted anew on all rows; the score is the earlier model's")
        return visible("\n".join(lines), keep="\n")
