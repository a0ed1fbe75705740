"""Which interval a score has on test rows: only where its coverage was measured, else the reason why there is none."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from nearline._arrays.design import Array
from nearline.predictions import Predictions
from nearline.selection.contributions import Contributions, brier_losses, contributions_of, log_losses
from nearline.selection.intervals._interval import Interval, tail, undefined
from nearline.selection.intervals.area import area_ends, areas, flawless_end, mean_normal_variance
from nearline.selection.intervals.balanced import balanced_ends
from nearline.selection.intervals.dependent import (
    block_length,
    bounded_interval,
    group_numbers,
    grouped_spread,
    positive_interval,
    time_spread,
    too_few_blocks,
    too_few_groups,
)
from nearline.selection.intervals.means import mean_ends, moments
from nearline.selection.intervals.shares import share_ends, share_interval
from nearline.selection.measures import TopK
from nearline.selection.scoring import SCORERS, Scorer

UNMEASURED = "what an interval of this score would cover has not been measured"
FEWEST_OF_A_CLASS = 10
FEWEST_OF_A_SHARE = 5
ROUNDING = 1e-12  # losses that differ by less are equal


@dataclass(frozen=True)
class Sample:
    """Test rows: their classes, and how they depend on each other."""

    codes: Array
    classes: Array
    weights: Array | None = None
    groups: Any = None
    in_time: bool = False
    confidence: float = 0.95

    @property
    def sizes(self) -> Array:
        """Rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))


@dataclass(frozen=True)
class Method:
    """How the interval of a score is computed, and of how many rows of each class it is known to cover."""

    independent: Callable[[Predictions, Sample, Scorer], Interval]
    dependent: Callable[..., Interval] | None = None  # (mean, spread, confidence)
    fewest: int = 0
    rows: int = 0  # in all


def intervals_of(scorers: list[Scorer], predictions: Predictions, sample: Sample) -> dict[str, Interval]:
    """The interval of each score on these rows, or why there is none."""
    return {scorer.name: interval_of(scorer, predictions, sample) for scorer in scorers}


def interval_of(scorer: Scorer, predictions: Predictions, sample: Sample) -> Interval:
    """The interval of a score that is defined on these rows."""
    if scorer.directed and len(sample.classes) == 2 and scorer.positive_code(sample.classes) == 0:
        predictions = predictions.turned()  # from here on the positive class is 1
        sample = replace(sample, codes=1 - sample.codes, classes=sample.classes[::-1])
    method = METHODS.get(scorer.score) or SHARES.get(type(scorer.score))
    if method is None:
        return undefined(sample.confidence, "none", UNMEASURED)
    few = _too_few_of_a_class(sample, method.fewest) or _too_few(sample, method.rows)
    if few is not None:
        return few
    if sample.weights is not None:
        return _weighted(scorer, predictions, sample)
    hidden = _hidden(scorer, predictions, sample)
    if hidden is not None:
        return undefined(sample.confidence, "none", hidden)
    if sample.groups is None and not sample.in_time:
        return method.independent(predictions, sample, scorer)
    contributions = contributions_of(scorer)
    rows = None if contributions is None else contributions(predictions, sample.codes, len(sample.classes))
    if rows is None or method.dependent is None:
        kind = "in time" if sample.in_time else "by groups"
        return undefined(sample.confidence, "none", f"{UNMEASURED} {kind}")
    return _dependent(method.dependent, sample, rows)


def _dependent(ends: Callable[..., Interval], sample: Sample, rows: Array) -> Interval:
    n, mean = len(rows), float(rows.mean())
    if sample.groups is not None:
        numbers = group_numbers(sample.groups, n)
        few = too_few_groups(numbers, sample.confidence)
        return few or ends(mean, grouped_spread(rows - mean, numbers), sample.confidence)
    length = block_length("auto", n)
    few = too_few_blocks(n, length, sample.confidence)
    return few or ends(mean, time_spread(rows - mean, max(1, n // length)), sample.confidence)


def _too_few_of_a_class(sample: Sample, fewest: int) -> Interval | None:
    sizes = sample.sizes
    if sizes.min() >= fewest:
        return None
    rare = int(sizes.argmin())
    said = f"class {sample.classes.tolist()[rare]!r} has {sizes[rare]} test rows, an interval of this score needs {fewest}"
    return undefined(sample.confidence, "none", f"{said} of each class")


def _too_few(sample: Sample, rows: int) -> Interval | None:
    n = len(sample.codes)
    if n >= rows:
        return None
    return undefined(
        sample.confidence, "none", f"there are {n} test rows, an interval of this score needs {rows}"
    )


def _weighted(scorer: Scorer, predictions: Predictions, sample: Sample) -> Interval:
    """Of the accuracy: that of a share of the effective number of rows p (1 - p) / v, v the variance of the weighted mean."""
    w, confidence = sample.weights, sample.confidence
    if scorer.score is not SCORERS["accuracy"].score or sample.groups is not None or sample.in_time:
        return undefined(confidence, "none", f"{UNMEASURED} with sample weights")
    assert w is not None
    right = (predictions.labels == sample.codes).astype(np.float64)
    p, kish = float(np.average(right, weights=w)), float(w.sum() ** 2 / (w @ w))
    if kish < 2:
        return undefined(confidence, "Wilson t, weighted", "the weights leave less than 2 rows")
    variance = float(((w * (right - p)) ** 2).sum() / w.sum() ** 2)
    effective = p * (1 - p) / variance if variance > 0 else kish
    rows = min(effective, kish)
    low, high = share_ends(p * rows, rows, -stdtrit(kish - 1, tail(confidence)), confidence)
    return Interval(float(low), float(high), confidence, "Wilson t, weighted")


def _share_of(part: float, whole: float, what: str, confidence: float) -> Interval:
    if whole < FEWEST_OF_A_SHARE:
        said = f"an interval of this score needs {FEWEST_OF_A_SHARE} rows {what}, there are {whole:g}"
        return undefined(confidence, "none", said)
    return share_interval(part, whole, confidence)


def _rows(predictions: Predictions, sample: Sample, scorer: Scorer) -> Interval:
    """The score is a share of the rows."""
    share, n = scorer.score(predictions, sample.codes, sample.classes, None), len(sample.codes)
    if np.isnan(share):
        return undefined(sample.confidence, "none", "the score is undefined")
    return share_interval(float(np.rint(share * n)), n, sample.confidence)


def _counts(predictions: Predictions, sample: Sample) -> tuple[Array, Array]:
    """Rows of each class that are found, and that are called so."""
    C = len(sample.classes)
    found = np.bincount(sample.codes, weights=predictions.labels == sample.codes, minlength=C)
    return found, np.bincount(predictions.labels, minlength=C)


def _balanced(predictions: Predictions, sample: Sample, scorer: Scorer) -> Interval:
    return _mean_of_shares(_counts(predictions, sample)[0], sample.sizes, sample)


def _recall(predictions: Predictions, sample: Sample, scorer: Scorer) -> Interval:
    found, _ = _counts(predictions, sample)
    if len(found) > 2:
        return _mean_of_shares(found, sample.sizes, sample)
    return _share_of(found[1], sample.sizes[1], "of the positive class", sample.confidence)


def _precision(predictions: Predictions, sample: Sample, scorer: Scorer) -> Interval:
    """Rows called a class are of it independently of each other, however many are called so."""
    found, called = _counts(predictions, sample)
    if len(found) > 2:
        return _mean_of_shares(found, called, sample)
    return _share_of(found[1], called[1], "called the positive class", sample.confidence)


def _mean_of_shares(found: Array, sizes: Array, sample: Sample) -> Interval:
    method, rare = "MOVER of Wilson by class", int(sizes.argmin())
    if sizes[rare] < FEWEST_OF_A_CLASS:
        said = f"{sizes[rare]:g} rows are of class {sample.classes.tolist()[rare]!r} or called so"
        needed = f"an interval of this score needs {FEWEST_OF_A_CLASS} for each class"
        return undefined(sample.confidence, "none", f"{said}, {needed}")
    low, high = balanced_ends(found, sizes, sample.confidence)
    return Interval(float(low), float(high), sample.confidence, method)


def _f1(predictions: Predictions, sample: Sample, scorer: Scorer) -> Interval:
    """F1 = 2 J / (1 + J), where J = found / (rows of the class or called so) is a share of these rows."""
    found, called = _counts(predictions, sample)
    if len(found) > 2:
        return undefined(sample.confidence, "none", f"{UNMEASURED} for more than two classes")
    union = called[1] + sample.sizes[1] - found[1]
    share = _share_of(found[1], union, "of the positive class or called so", sample.confidence)
    return replace(share, low=2 * share.low / (1 + share.low), high=2 * share.high / (1 + share.high))


def _area(predictions: Predictions, sample: Sample, scorer: Scorer) -> Interval:
    ranking = predictions.ranking()
    if ranking is None:
        return undefined(sample.confidence, "none", "the score is undefined")
    found = areas(np.asarray(ranking), sample.codes, len(sample.classes))
    least = mean_normal_variance(sample.sizes)
    flawless = flawless_end(sample.sizes, sample.confidence)
    low, high = area_ends(found.mean, found.variance, least, sample.confidence, found.freedom, flawless)
    return Interval(float(low), float(high), sample.confidence, "DeLong score")


def _loss(contributions: Contributions) -> Callable[[Predictions, Sample, Scorer], Interval]:
    def interval(predictions: Predictions, sample: Sample, scorer: Scorer) -> Interval:
        rows = contributions(predictions, sample.codes, len(sample.classes))
        if rows is None:
            return undefined(sample.confidence, "none", "the score is undefined")
        low, high = mean_ends(*moments(rows), len(rows), sample.confidence)
        return Interval(max(0.0, float(low)), float(high), sample.confidence, "t corrected for skewness")

    return interval


def _hidden(scorer: Scorer, predictions: Predictions, sample: Sample) -> str | None:
    """Why the losses of these rows, if the score is a loss, do not show how far their mean may be from the truth."""
    P, losses = predictions.probabilities(), LOSSES.get(scorer.score)
    if P is None or losses is None:
        return None
    rows = losses(predictions, sample.codes, len(sample.classes))
    if rows is None or np.ptp(rows) <= ROUNDING:
        return "all rows have the same loss, which does not show what others would lose"
    if losses is log_losses and float(P.min()) <= np.finfo(P.dtype).eps:
        return "the model gives probabilities of 0, and the first row of such a class would decide the score"
    return None


LOSSES: dict[object, Contributions] = {
    SCORERS["log-loss"].score: log_losses,
    SCORERS["brier"].score: brier_losses,
}
# Losses of fewer rows may show none of the few that make up their mean: at an AUC of 0.99 intervals cover 74% there.
FEWEST_LOSSES = 100

METHODS: dict[object, Method] = {
    SCORERS["accuracy"].score: Method(_rows, bounded_interval),
    SCORERS["balanced-accuracy"].score: Method(_balanced, bounded_interval, FEWEST_OF_A_CLASS),
    SCORERS["auc"].score: Method(_area, bounded_interval, FEWEST_OF_A_CLASS),
    SCORERS["recall"].score: Method(_recall),
    SCORERS["precision"].score: Method(_precision),
    SCORERS["f1"].score: Method(_f1),
    SCORERS["log-loss"].score: Method(_loss(log_losses), positive_interval, 15, FEWEST_LOSSES),
    SCORERS["brier"].score: Method(_loss(brier_losses), positive_interval, 15, FEWEST_LOSSES),
}
SHARES: dict[type, Method] = {TopK: Method(_rows)}  # scores with parameters, by their class
