"""Distances of chosen pairs of rows, bit for bit as the compiled core measures them: for back-ends that find candidates."""

import numpy as np

from nearline.arrays import Array
from nearline.neighbors.metrics import Metric
from nearline.neighbors.wanted import NO_GROUPS, NO_SIZES, Wanted, begin, finish

SUMS = (
    16  # feature j is added to sum number j mod 16, then the sums in pairs: l and l + 8, l + 4, l + 2, l + 1
)


@np.errstate(over="ignore")
def measured(metric: Metric, differences: list[Array]) -> Array:
    """Distances from the differences of each feature (arrays of one shape, float64), which are overwritten.

    The one order of summation: |x - q|^2 of 3 features is (e_0^2 + e_2^2) + e_1^2.
    """
    if not differences:
        raise ValueError("Rows without features have no distances to measure.")
    if metric.core == "lq":  # NumPy's powers differ from the C library's in the last bit on some machines
        return _powers(metric, differences)
    squares = metric.core in ("l2", "squared-l2")
    for e in differences:
        (np.square if squares else np.abs)(e, out=e)
    join = np.maximum if metric.core == "l-infinity" else np.add
    sums = differences[:SUMS]
    for j, term in enumerate(differences[SUMS:], start=SUMS):
        join(sums[j % SUMS], term, out=sums[j % SUMS])
    half = SUMS // 2
    while half:
        for l in range(half, len(sums)):
            join(sums[l - half], sums[l], out=sums[l - half])
        sums, half = sums[:half], half // 2
    return np.sqrt(sums[0], out=sums[0]) if metric.core == "l2" else sums[0]


def _powers(metric: Metric, differences: list[Array]) -> Array:
    """By the core, as distances from zero."""
    E = np.column_stack([e.ravel() for e in differences])
    zero = np.zeros((1, E.shape[1]))
    search = begin(metric, Wanted(0), zero)
    search.scan_all(E, NO_SIZES, NO_GROUPS)
    found = finish(search, 1)
    out = np.empty(len(E))
    out[found.indices] = found.distances
    return out.reshape(differences[0].shape)
