"""Variances of means of rows that are not independent, from deviations: by groups, and in time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import dct
from scipy.special import expit, logit, stdtrit

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError
from nearline.selection.intervals._interval import Interval, tail, undefined
from nearline.selection.intervals.shares import share_ends

# Intraclass correlation of the model that gives the degrees of freedom (not the variance) of grouped intervals. In
# simulations 0 covered too little for groups of very different sizes, 0.1 too much.
WORKING_CORRELATION = 0.02
# Blocks of 6 n^(1/3) rows: in simulations 4 missed correlations that last (89% for 95% at 0.9 from row to row).
BLOCK_FACTOR = 6.0
# A variance that few groups make up is known as badly as from few groups. Of normal deviations 3 (sum e^2)^2 / sum e^4
# counts the groups; half of that covers where mistakes fill whole groups.
CARRIED = 1.5
# Fewer do not show how groups differ: 5 covered 91% for 95%.
FEWEST_GROUPS = 10


@dataclass(frozen=True)
class Spread:
    """Variance of a mean, its degrees of freedom, and how many independent units the rows are."""

    variance: float
    freedom: float
    n_units: float
    kind: str  # "grouped" or "time"


def grouped_spread(deviations: Array, numbers: Array) -> Spread:
    """Of a mean whose rows deviate from it by ``deviations``, where rows of a group may be alike: from sums by group.

    The variance is sum_g e_g^2 / (1 - n_g / n) / n^2 with e_g the sum of the deviations of group g. Its degrees of freedom
    are Satterthwaite's under a working model D of independent groups, tr(A B)^2 / tr(A B A B) for the covariance
    B = D + U C U^T of the e_g and A = diag(1 / (1 - n_g / n)), and at most 1.5 (sum e_g^2)^2 / sum e_g^4: a variance that
    few groups make up is as uncertain as they are few.
    """
    sizes = np.bincount(numbers)
    e, n = np.bincount(numbers, weights=deviations), sizes.sum()
    a = 1.0 / (1.0 - sizes / n)
    variance = float(a @ e**2) / n**2
    fourth = float((e**4).sum())
    carried = CARRIED * float((e**2).sum()) ** 2 / fourth if fourth > 0 else np.inf
    freedom = max(1.0, min(working_freedom(sizes), carried))
    return Spread(variance, freedom, float(len(sizes)), "grouped")


def working_freedom(sizes: Array) -> float:
    """tr(A B)^2 / tr(A B A B) of :func:`grouped_spread`: groups - 1 for groups of one size."""
    n = sizes.sum()
    share, a = sizes / n, 1.0 / (1.0 - sizes / n)
    D = sizes * (1.0 + WORKING_CORRELATION * (sizes - 1.0))
    U, C = np.column_stack([share, D]), np.array([[D.sum(), -1.0], [-1.0, 0.0]])
    inner = U.T @ (a[:, None] * U) @ C
    crossed = U.T @ ((a**2 * D)[:, None] * U) @ C
    trace = float(a @ D + np.trace(inner))
    trace_of_square = float((a * D) @ (a * D) + 2.0 * np.trace(crossed) + np.trace(inner @ inner))
    return trace**2 / trace_of_square


def time_spread(deviations: Array, n_cosines: int) -> Spread:
    """Of the mean of a stationary series: its spectrum at 0, from the n_cosines slowest cosines.

    The mean over j = 1 .. n_cosines of (sqrt(2) / n sum_i cos(pi j (i + 1/2) / n) deviation_i)^2.
    """
    waves = dct(deviations, type=2)[1 : n_cosines + 1] / 2.0
    variance = float(2.0 / len(deviations) ** 2 * np.mean(waves**2))
    return Spread(variance, float(n_cosines), float(n_cosines), "time")


def bounded_interval(value: float, spread: Spread, confidence: float) -> Interval:
    """For a mean between 0 and 1: logit(value) -+ t sqrt(variance) / (value (1 - value)).

    Where the variance is 0, as with no mistake, each group or block counts as one row of a share.
    """
    outside = tail(confidence)
    quantile = -float(stdtrit(spread.freedom, outside))
    # The threshold is rounding: a mean of n hits cannot have so small a variance unless it is 0.
    if not 0.0 < value < 1.0 or spread.variance < 1e-20:
        units = spread.n_units
        low, high = share_ends(value * units, units, -stdtrit(units - 1, outside), confidence)
        return Interval(float(low), float(high), confidence, f"Wilson t, {_units(spread)}")
    half = quantile * np.sqrt(spread.variance) / (value * (1.0 - value))
    low, high = expit(logit(value) - half), expit(logit(value) + half)
    return Interval(float(low), float(high), confidence, f"logit t, {_units(spread)}")


def positive_interval(value: float, spread: Spread, confidence: float) -> Interval:
    """For a mean that is not negative, as a loss: value exp(-+ t sqrt(variance) / value)."""
    if value <= 0.0 or spread.variance < 1e-20:
        return undefined(confidence, f"log t, {_units(spread)}", "all rows have the same loss")
    half = -float(stdtrit(spread.freedom, tail(confidence))) * np.sqrt(spread.variance) / value
    low, high = value * np.exp(-half), value * np.exp(half)
    return Interval(float(low), float(high), confidence, f"log t, {_units(spread)}")


def _units(spread: Spread) -> str:
    return "by groups" if spread.kind == "grouped" else "in time"


def group_numbers(groups: Any, n: int) -> Array:
    """Groups of any labels as 0, 1, ..."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups must have one label for each of the {n} rows, got shape {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1]


def too_few_groups(numbers: Array, confidence: float) -> Interval | None:
    """No interval where the groups are too few, and why."""
    count = len(np.unique(numbers))
    if count >= FEWEST_GROUPS:
        return None
    said = f"{count} groups of test rows do not show how groups differ: test on {FEWEST_GROUPS} or more"
    return undefined(confidence, "logit t, by groups", said)


def too_few_blocks(n: int, length: int, confidence: float) -> Interval | None:
    """No interval where the rows are fewer than two blocks, and why."""
    if n // length >= 2:
        return None
    return undefined(
        confidence, "logit t, in time", f"{n} rows are fewer than 2 blocks of {length}: give more rows"
    )


def block_length(block: Any, n: int) -> int:
    """A number of rows, or 6 n^(1/3) for "auto"."""
    if block == "auto":
        return max(1, min(n, round(BLOCK_FACTOR * n ** (1 / 3))))
    if not isinstance(block, (int, np.integer)) or isinstance(block, bool) or not 1 <= block <= n:
        raise ParameterError("block", block, f"'auto' or a number of rows between 1 and {n}")
    return int(block)
