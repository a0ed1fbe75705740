"""A few rows that stand for all of them: the same ones every time, whatever the number of threads."""

import numpy as np

from nearline._arrays.design import Array


def representative_rows(mass: Array, n_wanted: int) -> tuple[Array, Array]:
    """About ``n_wanted`` rows drawn with probability proportional to ``mass``, and how much of it each stands for.

    The cumulated mass is cut into equal shares and one point is drawn in each (with a fixed seed, so that a pattern in
    the order of the rows cannot meet a pattern in the draw). sum_i mass_i a_i is estimated by sum over the rows of
    share_i a_i. All rows, with their own mass, if there are no more than wanted.
    """
    used = np.flatnonzero(mass > 0)
    if len(used) <= n_wanted:
        return used, mass[used]
    ends = np.cumsum(mass, dtype=np.float64)
    jitter = np.random.default_rng(0).random(n_wanted)
    drawn = np.searchsorted(ends, (np.arange(n_wanted) + jitter) / n_wanted * ends[-1], side="right")
    rows, counts = np.unique(np.minimum(drawn, used[-1]), return_counts=True)
    return rows, counts * (ends[-1] / n_wanted)
