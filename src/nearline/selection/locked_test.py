"""LockedTest: rows that nothing looks at until a model has been chosen, and the count of how often they were opened."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.parameters import Parametrized
from nearline._records.refused import ParameterError, check_choice
from nearline.estimators.base import encoded
from nearline.predictions import Predictions, predictions_of
from nearline.selection.fingerprints import fingerprint, model_key
from nearline.selection.input import checked_rows
from nearline.selection.intervals.of_scores import Sample, intervals_of
from nearline.selection.openings import Openings, record_opening
from nearline.selection.rows import LabeledRows
from nearline.selection.scoring import Scorer
from nearline.selection.splits import Division
from nearline.selection.test_result import TestResult
from nearline.selection.trivial import against_on_rows, trivial_answers

REFITS = ("train", "all")


@dataclass(frozen=True, repr=False)
class Holdout(Parametrized):
    """Which rows a contest locks away for the test, and what becomes of the model once they are open.

    Parameters
    ----------
    rows : share of the rows that is locked away, or a pair (X_test, y_test) of your own.
    refit : "train" keeps the model that was tested; "all" fits it anew on all rows once the test is open.

    Examples
    --------
    >>> from nearline import Holdout
    >>> Holdout(0.25, refit="all")
    Holdout(0.25, refit='all')
    """

    rows: Any = 0.2
    refit: str = "train"

    def __post_init__(self) -> None:
        pair = isinstance(self.rows, (tuple, list)) and len(self.rows) == 2
        if not pair and (isinstance(self.rows, bool) or not isinstance(self.rows, (float, int, np.number))):
            raise ParameterError(
                "test", self.rows, "a share of the rows, a pair (X_test, y_test), a Holdout or None"
            )
        check_choice("refit", self.refit, REFITS)
        if self.refit == "all" and self.own:
            raise ParameterError(
                "refit",
                "all",
                "'train' with test rows of your own",
                "to learn from them too, fit contest.estimator(...)",
            )

    @property
    def own(self) -> bool:
        """Whether the test rows are brought, rather than drawn."""
        return isinstance(self.rows, (tuple, list))

    def __repr__(self) -> str:
        rows = "(X_test, y_test)" if self.own else repr(self.rows)
        return f"Holdout({rows})" if self.refit == "train" else f"Holdout({rows}, refit={self.refit!r})"


def as_holdout(test: Any) -> Holdout | None:
    """A share or a pair as it is written for short; None: nothing is locked away."""
    return test if test is None or isinstance(test, Holdout) else Holdout(test)


def lock(
    model: Any, rows: LabeledRows, holdout: Holdout | None, division: Division, before: "LockedTest | None"
) -> "tuple[Array, LockedTest | None]":
    """Numbers of the training rows, and the test. If it has the rows of the one before, the count goes on."""
    every, in_time = np.arange(len(rows)), division.kind == "time"
    if holdout is None:
        return every, None
    if holdout.own:
        X, y = checked_rows(model, *holdout.rows, reset=False)
        unknown = y[~np.isin(y, rows.y)]
        if len(unknown):
            raise ValueError(f"The test rows have a label that no training row has: {unknown.tolist()[0]!r}.")
        train, locked = every, LockedTest(holdout, LabeledRows(X, y), in_time=in_time)
    else:
        train, test = division.holdout(encoded(rows.y)[1], rows.groups, holdout.rows)
        part = rows.some(test)
        if division.kind != "group":
            part = replace(part, groups=None)  # given, but not what the rows are divided by
        locked = LockedTest(holdout, part, test, in_time)
    if before is not None and before.key == locked.key:
        locked.counted = before.counted
    return train, locked


@dataclass(frozen=True)
class Winner:
    """A chosen model that was fitted, with all that its test is compared with."""

    name: str
    model: Any
    labels: Array  # of the training part
    weights: Array | None
    classes: Array
    scorers: list[Scorer]
    positive: Any
    on_folds: dict[str, float]  # its means in cross-validation
    calibrated: bool
    random_state: int
    rule: str = ""  # that makes the labels, in words, where it is not the model's own


@dataclass
class LockedTest:
    """Test rows, and what was seen of them."""

    plan: Holdout
    rows: LabeledRows
    numbers: Array | None = None  # of the rows, where they were drawn
    in_time: bool = False
    n_training: int | None = None  # rows of the training part, where only a sample of them is at hand
    counted: Openings = field(default_factory=Openings)
    result: TestResult | None = None  # once it is open
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = fingerprint(self.rows.X, self.rows.y)

    def count(self) -> None:
        """One more opening; a model that has not been scored on these rows is one more model."""
        self.counted = Openings(
            self.counted.openings + 1, self.counted.models + (1 if self.result is None else 0)
        )

    def opened(self, record: Any = None) -> TestResult:
        """The result with the count of openings so far, kept in a file of records too if one is named."""
        assert self.result is not None
        openings, models = self.counted.openings, self.counted.models
        if record is not None:
            key = model_key(self.result.model, self.result.predictions)
            kept = record_opening(record, self.key, key)
            openings, models = max(openings, kept.openings), max(models, kept.models)
        return replace(self.result, openings=openings, models=models)

    def score(self, winner: Winner) -> TestResult:
        """Scores of a model, with intervals, and against answers without a look at the features."""
        rows = self.rows
        classes = np.unique(np.concatenate([winner.classes, rows.y]))
        codes = np.searchsorted(classes, rows.y)
        predictions = predictions_of(winner.model, rows.X, classes).settled()
        scorers = [scorer.of(classes, winner.positive) for scorer in winner.scorers]
        trivial = trivial_answers(
            np.searchsorted(classes, winner.labels), winner.weights, len(classes), len(codes)
        )
        sample = Sample(codes, classes, rows.weights, rows.groups, self.in_time)
        intervals = intervals_of(scorers, predictions, sample)
        interval = intervals[scorers[0].name]
        self.result = TestResult(
            winner.name,
            len(codes),
            self.n_training or len(winner.labels),
            {s.name: s(predictions, codes, classes, rows.weights) for s in scorers},
            intervals,
            winner.on_folds,
            _accuracy(trivial, sample),
            against_on_rows(predictions, trivial, sample, scorers[0], interval, winner.random_state),
            classes,
            codes,
            predictions,
            refitted=self.plan.refit == "all",
            calibrated=winner.calibrated,
            positive=winner.positive if len(classes) == 2 else None,
            weights=rows.weights,
            titles={scorer.name: scorer.title for scorer in scorers},
            fold_titles={scorer.name: scorer.title for scorer in winner.scorers},
            rule=winner.rule,
        )
        return self.result


def _accuracy(predictions: Predictions, sample: Sample) -> float:
    return float(np.average(predictions.labels == sample.codes, weights=sample.weights))
