"""The percentile bootstrap, for differences that nothing better is known for; too narrow where few rows count."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit
from sklearn.exceptions import UndefinedMetricWarning

from nearline._arrays.design import Array
from nearline.selection.intervals._interval import Interval, tail, undefined
from nearline.selection.intervals.accuracy import Block, check_dependence
from nearline.selection.intervals.dependent import block_length, group_numbers


def bootstrap(
    score: Callable[[Array], float],
    n: int,
    *,
    groups: Any = None,
    block: Block = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int = 0,
) -> Interval:
    """Percentile bootstrap of any ``score(rows)``, rows an index array of test rows, widened for few resampled units.

    As many units (rows, whole groups, circular blocks of consecutive rows) as there are, m, are drawn with replacement.
    The ends are the quantiles a and 1 - a of the scores, a = Phi(sqrt(m / (m - 1)) t) with Student's lower quantile t of
    m - 1 degrees of freedom, as plain percentiles are too narrow by that; groups of different sizes n_g count as
    m = n^2 / sum n_g^2. Resamples whose score is NaN (one class only) are dropped; where they are half of all
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
    >>> bool(np.median(errors) in interval), interval.method
    (True, 'bootstrap of rows')
    """
    outside = tail(confidence)
    check_dependence(groups, block)
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}: 2000 make steady ends.")
    draw, n_units, unit = _resampling(n, groups, block)
    method = f"bootstrap of {unit}"
    # Nearly all rows in one group are hardly more than one unit, too.
    if n_units < 1.5:
        return undefined(confidence, method, f"there is hardly more than one of the {unit}: give several")
    rng = np.random.default_rng(random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        scores = np.array([score(draw(rng)) for _ in range(n_resamples)], dtype=np.float64)
    known = scores[~np.isnan(scores)]
    dropped = n_resamples - len(known)
    if 2 * len(known) <= n_resamples:
        reason = f"{dropped} of {n_resamples} resamples have no score: test on more rows of the rarest class"
        return undefined(confidence, method, reason)
    a = float(ndtr(np.sqrt(n_units / (n_units - 1)) * stdtrit(n_units - 1, outside)))
    low, high = np.quantile(known, [a, 1 - a])
    return Interval(float(low), float(high), confidence, method)


def _resampling(
    n: int, groups: Any, block: Block
) -> tuple[Callable[[np.random.Generator], Array], float, str]:
    """A function that draws rows, the number m of units it draws among, and their name."""
    if groups is not None:
        numbers = group_numbers(groups, n)
        sizes = np.bincount(numbers)
        members = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])
        count = len(members)

        def whole_groups(rng: np.random.Generator) -> Array:
            return np.concatenate([members[g] for g in rng.integers(count, size=count)])

        return whole_groups, float(n**2 / (sizes @ sizes)), "groups"
    if block is not None:
        length = block_length(block, n)
        n_starts, offsets = -(-n // length), np.arange(length)

        def blocks(rng: np.random.Generator) -> Array:
            starts = rng.integers(n, size=n_starts)
            return np.asarray(((starts[:, None] + offsets) % n).ravel()[:n])

        return blocks, n / length, "blocks"
    return lambda rng: rng.integers(n, size=n), n, "rows"
