"""The interval of the balanced accuracy: the mean of shares of different rows."""

from typing import Any

import numpy as np
from scipy.special import ndtri

from nearline._arrays.design import Array
from nearline.selection.intervals._interval import tail
from nearline.selection.intervals.shares import share_ends


def balanced_ends(found: Any, sizes: Any, confidence: float) -> tuple[Array, Array]:
    """Ends for the mean of the C shares p_c = found_c / sizes_c, classes along the last axis.

    With the ends l_c and u_c of each share: mean - sqrt(sum (p_c - l_c)^2) / C and mean + sqrt(sum (u_c - p_c)^2) / C
    (Zou and Donner's MOVER: each side recovers the variance of its own end). Of more than two classes at least the ends of
    a share of C^2 / sum 1 / sizes_c rows, which the mean is where all classes are found alike: few mistakes spread over
    many classes are too few in each.
    """
    found, sizes = np.asarray(found, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    shares, C = found / sizes, found.shape[-1]
    low, high = share_ends(found, sizes, -ndtri(tail(confidence)), confidence)
    mean = shares.mean(axis=-1)
    below, above = (np.sqrt((gap**2).sum(axis=-1)) / C for gap in (shares - low, high - shares))
    low, high = np.maximum(0.0, mean - below), np.minimum(1.0, mean + above)
    if C > 2:
        rows = C**2 / (1.0 / sizes).sum(axis=-1)
        pooled = share_ends(mean * rows, rows, -ndtri(tail(confidence)), confidence)
        low, high = np.minimum(low, pooled[0]), np.maximum(high, pooled[1])
    return low, high


def balanced_deviations(correct: Array, codes: Array, n_classes: int) -> Array:
    """(n,): how much each row moves the balanced accuracy, n (hit - p_c) / (C n_c) for a row of class c."""
    sizes = np.bincount(codes, minlength=n_classes)
    found = np.bincount(codes, weights=correct, minlength=n_classes)
    own = (found / np.maximum(sizes, 1))[codes]
    return np.asarray(len(codes) * (correct - own) / (n_classes * sizes[codes]))
