"""Tables of coverage where rows of a group are alike, or rows follow each other in time."""

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.stats import norm

from benchmarks.studies.intervals.populations import (
    Array,
    Rng,
    group_sizes,
    grouped_hits,
    grouped_scores,
    series,
    time_hits,
)
from nearline.predictions import Known, Predictions
from nearline.selection.intervals import Interval, accuracy_interval
from nearline.selection.intervals.of_scores import Sample, interval_of
from nearline.selection.scoring import SCORERS

GROUPS = (
    (10, 20, 0.0),
    (20, 10, 0.0),
    (20, 100, 0.0),
    (50, 10, 0.0),
    (20, 20, 1.0),
    (50, 20, 1.0),
)  # groups, rows, spread
SCORES = ("balanced-accuracy", "auc", "log-loss", "brier")


def coverage(intervals: Iterable[Interval], truth: float) -> str:
    """Share of the defined intervals that hold the truth, with their mean width."""
    known = [one for one in intervals if one.defined]
    if not known:
        return "-"
    width = np.mean([one.high - one.low for one in known])
    return f"{np.mean([truth in one for one in known]):.3f} ({width:.3f})"


def grouped_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for n_groups, size, spread in GROUPS:
        sizes = group_sizes(n_groups, size, spread)
        groups = np.repeat(np.arange(n_groups), sizes)
        for p in (0.5, 0.8, 0.9, 0.95, 0.98):
            row = [f"{n_groups}", f"{sizes.min()} to {sizes.max()}", f"{p:g}"]
            for correlation in (0.02, 0.1, 0.4):
                hits = grouped_hits(rng, n_sets, sizes, p, correlation)
                row.append(coverage((accuracy_interval(h, groups=groups) for h in hits), p))
            yield [*row, coverage((accuracy_interval(h) for h in hits), p)]


def time_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for n in (200, 1000):
        for p in (0.5, 0.8, 0.95):
            row = [f"{n}", f"{p:g}"]
            for correlation in (0.0, 0.5, 0.8, 0.9):
                hits = time_hits(rng, n_sets, n, p, correlation)
                row.append(coverage((accuracy_interval(h, block="auto") for h in hits), p))
            yield [*row, coverage((accuracy_interval(h) for h in hits), p)]


def answers_of_scores(scores: Array, shift: float, share: float) -> Predictions:
    """Labels by the middle between two normal classes, and their true probabilities."""
    p = 1.0 / (1.0 + np.exp(-(shift * (scores - shift / 2) + np.log(share / (1 - share)))))
    return Predictions((scores > shift / 2).astype(np.intp), 2, scores, Known(np.column_stack([1 - p, p])))


def truths(rng: Rng, shift: float, share: float) -> list[float]:
    """Of :data:`SCORES`: the first two in closed form, the losses from a million rows."""
    codes = (np.arange(1_000_000) < share * 1_000_000).astype(np.intp)
    predictions = answers_of_scores(rng.standard_normal(len(codes)) + shift * codes, shift, share)
    classes = np.arange(2)
    exact = [float(norm.cdf(shift / 2)), float(norm.cdf(shift / np.sqrt(2)))]
    return exact + [SCORERS[name](predictions, codes, classes) for name in SCORES[2:]]


def dependent_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    """Scores N(shift, 1) of a fifth of the rows against N(0, 1), part of the noise shared by a group or lasting in time."""
    for area in (0.75, 0.9, 0.97):
        shift, share = float(norm.ppf(area) * np.sqrt(2)), 0.2
        known = truths(rng, shift, share)
        for n_groups, size in ((20, 20), (50, 20)):
            sizes = np.full(n_groups, size)
            codes = (np.arange(sizes.sum()) % 5 == 0).astype(np.intp)
            sample = Sample(codes, np.arange(2), groups=np.repeat(np.arange(n_groups), sizes))
            for part in (0.1, 0.4):
                scores = grouped_scores(rng, n_sets, sizes, codes, shift, part)
                yield [
                    f"{n_groups} groups of {size}",
                    f"{part}",
                    f"{area}",
                    *_cells(scores, sample, shift, share, known),
                ]
        codes = (np.arange(1000) % 5 == 0).astype(np.intp)
        sample = Sample(codes, np.arange(2), in_time=True)
        for correlation in (0.5, 0.8):
            scores = shift * codes + series(rng, n_sets, len(codes), correlation)
            yield ["1000 in time", f"{correlation}", f"{area}", *_cells(scores, sample, shift, share, known)]


def _cells(scores: Array, sample: Sample, shift: float, share: float, known: list[float]) -> list[str]:
    predictions = [answers_of_scores(one, shift, share) for one in scores]
    return [
        coverage((interval_of(SCORERS[name], one, sample) for one in predictions), truth)
        for name, truth in zip(SCORES, known, strict=True)
    ]
