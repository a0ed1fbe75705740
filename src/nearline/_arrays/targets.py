"""What targets and weights of rows may be. One reading for risks, losses, steps of SGD and the perceptron rule."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array, contiguous

MOST_CLASSES = 20  # different numbers that are classes in any case
FEW_ROWS = 5  # on average for each of more whole numbers: fewer are no classes
MOST_CODES = 50  # different whole numbers that are classes though their rows are spread unevenly
EVEN = 2.0  # times: the largest class to the smallest, or the variance of counts to that of chance
ENCODE = "encode labels by classes, targets = np.unique(y, return_inverse=True)[1]"


def checked_targets(targets: Any, n_classes: int | None = None) -> Array:
    """Class numbers (n,) as int32, or label distributions (n, K) as float64. All else would be read as other classes.

    Class numbers are 0 .. C-1. Two classes may also be -1 and +1 (which become 0 and 1) or False and True. Where
    ``n_classes`` is not given, every number up to the largest must occur: labels 1, 2 are no class numbers, and would
    bring in a class 0 that has no rows.
    """
    targets = np.asarray(targets)
    if targets.ndim == 2 and targets.dtype.kind in "iubf":
        return _distributions(targets, n_classes)
    whole = targets.dtype.kind in "iub" or (targets.dtype.kind == "f" and (targets == np.rint(targets)).all())
    if not (targets.ndim == 1 and whole):
        raise ValueError(
            f"Targets must be class numbers (n,) or label distributions (n, K), got {targets.dtype} of shape "
            f"{targets.shape}: {ENCODE}."
        )
    if not len(targets):
        return targets.astype(np.int32)
    low, high = int(targets.min()), int(targets.max())
    if low == -1 and high in (-1, 1) and n_classes in (None, 2) and (targets != 0).all():
        return contiguous(targets == 1, np.int32)
    if low < 0 or (n_classes is not None and high >= n_classes):
        known = f"0 .. {n_classes - 1}" if n_classes is not None else "0, 1, 2, ... (or -1 and +1)"
        raise ValueError(f"Targets must be class numbers {known}, got {low} .. {high}: {ENCODE}.")
    if n_classes is None and high > 1:
        _check_gaps(targets, high)
    if targets.dtype.kind == "b" and n_classes not in (None, 2):
        raise ValueError(
            f"Targets False and True are two classes, but there are {n_classes}: give class numbers."
        )
    return contiguous(targets, np.int32)


def _check_gaps(targets: Array, high: int) -> None:
    used = (
        np.bincount(targets.astype(np.int64), minlength=high + 1) > 0
        if high < len(targets)
        else np.zeros(1, bool)
    )
    if not used.all():
        first = (
            int(np.argmin(used))
            if high < len(targets)
            else min(set(range(len(targets) + 1)) - set(targets.tolist()))
        )
        raise ValueError(
            f"Targets go up to {high}, but no row is of class {first}: {ENCODE}, or set n_classes if classes without "
            "rows are meant."
        )


def _distributions(targets: Array, n_classes: int | None) -> Array:
    given = contiguous(targets, np.float64)
    if not np.isfinite(given).all():
        raise ValueError(
            "Label distributions must be finite numbers, got NaN or infinity: drop or fill those rows."
        )
    if n_classes is not None and given.shape[1] not in (1, n_classes):
        raise ValueError(
            f"Label distributions have {given.shape[1]} columns, but there are {n_classes} classes: give one column each."
        )
    return given


def row_weights(weights: Any, n_rows: int) -> Array:
    """Weights of rows as float64, 1 each if None."""
    if weights is None:
        return np.ones(n_rows)
    given = contiguous(weights, np.float64)
    if given.shape != (n_rows,):
        raise ValueError(f"There are {n_rows} rows but weights {given.shape}: give one weight for each row.")
    if not (np.isfinite(given).all() and given.min(initial=0.0) >= 0 and 0 < given.sum() < np.inf):
        raise ValueError(
            "weights must be finite numbers >= 0 with a positive sum: they count how often a row is there."
        )
    return given


def quantity_in(y: Array) -> int | None:
    """How many different numbers labels have if they are a quantity rather than classes; None if they may be classes.

    Up to 20 different numbers are classes. More of them are a quantity if some are not whole, if there are fewer than 5
    rows for each on average, or if they are more than 50 (ages, say), unless they are codes: whole numbers that go from 0 or
    1 on without a gap, with about as many rows each (the largest class has at most twice the rows of the smallest, or counts
    vary at most twice as much as those of a random draw from equal classes).
    """
    if y.dtype.kind not in "iuf" or not len(y):
        return None
    values, counts = np.unique(y, return_counts=True)
    distinct = len(values)
    if distinct <= MOST_CLASSES:
        return None
    fractions = y.dtype.kind == "f" and not np.array_equal(y, np.rint(y))
    if fractions or len(y) < FEW_ROWS * distinct:
        return distinct
    return None if distinct <= MOST_CODES or _are_codes(values, counts) else distinct


def _are_codes(values: Array, counts: Array) -> bool:
    """Whether whole numbers count on from 0 or 1, with about as many rows each."""
    first, last = int(values[0]), int(values[-1])
    even = counts.max() <= EVEN * counts.min() or counts.var() <= EVEN * counts.mean()
    return first in (0, 1) and last - first + 1 == len(values) and bool(even)
