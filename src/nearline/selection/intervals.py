"""Intervals for scores on test rows: Wilson for independent rows, cluster and time-series variances, bootstrap."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.fft import dct
from scipy.special import expit, logit, ndtr, ndtri, stdtrit
from sklearn.exceptions import UndefinedMetricWarning

from nearline.arrays import Array

# Intraclass correlation of the model that gives the degrees of freedom (not the variance) of grouped intervals. In
# simulations 0 covered too little for groups of very different sizes, 0.1 too much.
WORKING_CORRELATION = 0.02
# Blocks of 4 n^(1/3) rows: in simulations shorter ones missed correlations that last.
# What both choices cover: python -m benchmarks.studies.intervals.
BLOCK_FACTOR = 4.0

Block = int | Literal["auto"] | None


@dataclass(frozen=True)
class Interval:
    """A confidence interval; ``low`` and ``high`` are NaN where it is undefined, and ``reason`` says why.

    Examples
    --------
    >>> interval = Interval(0.71, 0.86, 0.95, "Wilson")
    >>> str(interval), 0.8 in interval, interval.defined
    ('[0.710, 0.860]', True, True)
    """

    low: float
    high: float
    confidence: float
    method: str
    dropped: int = 0  # resamples without a score
    reason: str | None = None

    @property
    def defined(self) -> bool:
        """Whether there is an interval at all."""
        return self.reason is None

    def __contains__(self, value: float) -> bool:
        return bool(self.low <= value <= self.high)

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}]" if self.defined else f"undefined: {self.reason}"


def wilson(successes: float, n: float, confidence: float = 0.95) -> Interval:
    """Wilson's interval for a share p of n independent rows: all p with |successes / n - p| <= z sqrt(p (1 - p) / n).

    Its ends are (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n) at p = successes / n.

    Examples
    --------
    >>> print(wilson(80, 100))
    [0.711, 0.867]
    """
    z = -float(ndtri(_tail(confidence)))
    if n == 0:
        return _undefined(confidence, "Wilson", "there are no rows: give at least one")
    if not 0 <= successes <= n:
        raise ValueError(
            f"successes must be between 0 and n = {n:g}, got {successes:g}: count them among the n rows."
        )
    p, ratio = successes / n, z**2 / n
    center = (p + ratio / 2) / (1 + ratio)
    half = z * np.sqrt(p * (1 - p) / n + ratio / (4 * n)) / (1 + ratio)
    low, high = max(0.0, float(center - half)), min(1.0, float(center + half))
    # Rounding must not shut out the share itself where it is an end.
    return Interval(0.0 if p == 0 else low, 1.0 if p == 1 else high, confidence, "Wilson")


def accuracy_interval(
    correct: Any, *, groups: Any = None, block: Block = None, confidence: float = 0.95
) -> Interval:
    """Interval for the accuracy p: Wilson for independent rows, else logit(p) -+ t_df sqrt(v) / (p (1 - p)).

    v is the variance of the mean. For ``groups`` it is sum_g e_g^2 / (1 - n_g / n) / n^2, with e_g the sum of correct - p
    over the n_g rows of group g, and df are Satterthwaite's (groups - 1 for groups of one size). For ``block``, rows
    in order of time, it is the mean of (sqrt(2) / n sum_i cos(pi j (i + 1/2) / n) (correct_i - p))^2 over
    j = 1 .. df = n / block. Where v = 0, as with no mistake, each group or block counts as one row in Wilson's interval.

    Parameters
    ----------
    correct : (n,) of bool or 0 and 1.
    groups : (n,) of any labels; rows of a group may be alike, groups are independent. Fewer than 2 have no interval, fewer
        than 10 a wide one. Where mistakes fill whole groups (accuracy 0.95, correlation 0.4 within groups), 10 to 50
        groups cover less than they claim, about 88% to 93% for 95%, as many samples lack bad groups.
    block : rows in order of time: the number of consecutive rows that may be alike, or "auto" for 4 n^(1/3), which covers
        about 90% to 94% for 95% where 200 rows have a correlation of 0.9 from row to row.

    Examples
    --------
    >>> import numpy as np
    >>> correct = np.repeat([1, 1, 1, 0, 1], 20)
    >>> print(accuracy_interval(correct), accuracy_interval(correct, groups=np.arange(100) // 20))
    [0.711, 0.867] [0.111, 0.992]
    """
    hits = _checked_hits(correct)
    _check_dependence(groups, block)
    if groups is not None:
        return _grouped_interval(hits, _group_numbers(groups, len(hits)), confidence)
    if block is not None:
        return _time_interval(hits, _block_length(block, len(hits)), confidence)
    return wilson(hits.sum(), len(hits), confidence)


def bootstrap(
    score: Callable[[Array], float],
    n: int,
    *,
    groups: Any = None,
    block: Block = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap of any ``score(rows)``, rows an index array of test rows, widened for few resampled units.

    As many units (rows, whole groups, circular blocks of consecutive rows) as there are, m, are drawn with replacement.
    The ends are the quantiles a and 1 - a of the scores, a = Phi(sqrt(m / (m - 1)) t) with Student's lower quantile t of
    m - 1 degrees of freedom, as plain percentiles are too narrow by that; groups of different sizes n_g count as
    m = n^2 / sum n_g^2. Resamples whose score is NaN (one class only) are dropped and counted; where they are half of all
    or more, the interval is undefined.

    Parameters
    ----------
    score : function of an index array with values in 0 .. n - 1, repeated where a row was drawn again.
    n : number of test rows.
    groups, block : as for :func:`accuracy_interval`. Prefer 20 or more groups.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.abs(np.random.default_rng(0).normal(size=200))
    >>> interval = bootstrap(lambda rows: np.median(errors[rows]), 200)
    >>> bool(np.median(errors) in interval), interval.method, interval.dropped
    (True, 'bootstrap of rows', 0)
    """
    tail = _tail(confidence)
    _check_dependence(groups, block)
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}: 2000 make steady ends.")
    draw, n_units, unit = _resampling(n, groups, block)
    method = f"bootstrap of {unit}"
    # Nearly all rows in one group are hardly more than one unit, too.
    if n_units < 1.5:
        return _undefined(confidence, method, f"there is hardly more than one of the {unit}: give several")
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        # What such a warning would say of each resample is said once, by ``dropped``.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        scores = np.array([score(draw(rng)) for _ in range(n_resamples)], dtype=np.float64)
    known = scores[~np.isnan(scores)]
    dropped = n_resamples - len(known)
    if 2 * len(known) <= n_resamples:
        reason = f"{dropped} of {n_resamples} resamples have no score: test on more rows of the rarest class"
        return Interval(np.nan, np.nan, confidence, method, dropped, reason)
    a = float(ndtr(np.sqrt(n_units / (n_units - 1)) * stdtrit(n_units - 1, tail)))
    low, high = np.quantile(known, [a, 1 - a])
    return Interval(float(low), float(high), confidence, method, dropped)


def _resampling(
    n: int, groups: Any, block: Block
) -> tuple[Callable[[np.random.Generator], Array], float, str]:
    """A function that draws rows, the number m of units it draws among, and their name."""
    if groups is not None:
        numbers = _group_numbers(groups, n)
        sizes = np.bincount(numbers)
        members = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])
        count = len(members)

        def whole_groups(rng: np.random.Generator) -> Array:
            return np.concatenate([members[g] for g in rng.integers(count, size=count)])

        return whole_groups, float(n**2 / (sizes @ sizes)), "groups"
    if block is not None:
        length = _block_length(block, n)
        n_starts, offsets = -(-n // length), np.arange(length)

        def blocks(rng: np.random.Generator) -> Array:
            starts = rng.integers(n, size=n_starts)
            return np.asarray(((starts[:, None] + offsets) % n).ravel()[:n])

        return blocks, n / length, "blocks"
    return lambda rng: rng.integers(n, size=n), n, "rows"


def _grouped_interval(hits: Array, numbers: Array, confidence: float) -> Interval:
    sizes = np.bincount(numbers)
    count = len(sizes)
    if count == len(hits):
        return wilson(hits.sum(), count, confidence)
    if count < 2:
        reason = "1 group does not show how groups differ: test on 2 or more"
        return _undefined(confidence, "grouped", reason)
    variance, freedom = _grouped_variance(np.bincount(numbers, weights=hits), sizes)
    return _logit_interval(float(hits.mean()), variance, freedom, count, confidence, "grouped")


def _time_interval(hits: Array, length: int, confidence: float) -> Interval:
    n_cosines = len(hits) // length
    if n_cosines < 2:
        reason = f"{len(hits)} rows are fewer than 2 blocks of {length}: give more rows"
        return _undefined(confidence, "time", reason)
    variance = _cosine_variance(hits, n_cosines)
    return _logit_interval(float(hits.mean()), variance, n_cosines, n_cosines, confidence, "time")


def _grouped_variance(hits: Array, sizes: Array) -> tuple[float, float]:
    """Variance of sum(hits) / sum(sizes) and its degrees of freedom, from the sums of each group.

    The deviations e = hits - p sizes have the covariance B = D + U C U^T under a working model D of independent groups;
    with A = diag(1 / (1 - sizes / n)), e^T A e has the degrees of freedom tr(A B)^2 / tr(A B A B).
    """
    n = sizes.sum()
    share, a = sizes / n, 1.0 / (1.0 - sizes / n)
    deviations = hits - hits.sum() / n * sizes
    variance = float(a @ deviations**2) / n**2
    D = sizes * (1.0 + WORKING_CORRELATION * (sizes - 1.0))
    U, C = np.column_stack([share, D]), np.array([[D.sum(), -1.0], [-1.0, 0.0]])
    inner = U.T @ (a[:, None] * U) @ C
    crossed = U.T @ ((a**2 * D)[:, None] * U) @ C
    trace = float(a @ D + np.trace(inner))
    trace_of_square = float((a * D) @ (a * D) + 2.0 * np.trace(crossed) + np.trace(inner @ inner))
    return variance, trace**2 / trace_of_square


def _cosine_variance(hits: Array, n_cosines: int) -> float:
    """Variance of the mean of a stationary series: its spectrum at 0, from the n_cosines slowest cosines."""
    waves = dct(hits - hits.mean(), type=2)[1 : n_cosines + 1] / 2.0
    return float(2.0 / len(hits) ** 2 * np.mean(waves**2))


def _logit_interval(
    p: float, variance: float, freedom: float, n_units: int, confidence: float, kind: str
) -> Interval:
    # The threshold is rounding: a mean of n hits cannot have so small a variance unless it is 0.
    if not 0.0 < p < 1.0 or variance < 1e-20:
        ends = wilson(p * n_units, n_units, confidence)
        return Interval(ends.low, ends.high, confidence, f"Wilson ({kind})")
    half = -float(stdtrit(freedom, _tail(confidence))) * np.sqrt(variance) / (p * (1.0 - p))
    low, high = expit(logit(p) - half), expit(logit(p) + half)
    return Interval(float(low), float(high), confidence, f"logit t ({kind})")


def _block_length(block: Block, n: int) -> int:
    if block == "auto":
        return max(1, min(n, round(BLOCK_FACTOR * n ** (1 / 3))))
    if not isinstance(block, (int, np.integer)) or isinstance(block, bool) or not 1 <= block <= n:
        raise ValueError(f"block must be 'auto' or a number of rows between 1 and {n}, got {block!r}.")
    return int(block)


def _group_numbers(groups: Any, n: int) -> Array:
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups must have one label for each of the {n} rows, got shape {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1]


def _checked_hits(correct: Any) -> Array:
    hits = np.asarray(correct)
    if hits.ndim != 1 or not ((hits == 0) | (hits == 1)).all():
        raise ValueError(
            f"correct must be one-dimensional with True and False (or 1 and 0), got shape {hits.shape} and type "
            f"{hits.dtype}: give predicted == y."
        )
    return hits.astype(np.float64)


def _check_dependence(groups: Any, block: Block) -> None:
    if groups is not None and block is not None:
        raise ValueError(
            "groups and block were both given: choose one, groups for alike rows, block for rows in time."
        )


def _tail(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}: 0.95 is usual.")
    return (1.0 - confidence) / 2.0


def _undefined(confidence: float, method: str, reason: str) -> Interval:
    return Interval(np.nan, np.nan, confidence, method, reason=reason)
