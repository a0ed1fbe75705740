"""The interval of the area under the ROC curve: DeLong's variance beside that of normal classes, by scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, owens_t, stdtrit

from nearline._arrays.design import Array
from nearline.selection.intervals._interval import tail

# Two normal classes whose rarer one is spread sqrt(0.58 / 0.42) = 1.18 times as widely. A few rows of a class often show less
# variance than there is, for a large area comes from rare rows far on the wrong side.
RARE = 0.58
HALVINGS = 50
# Of normal contributions 3 (sum e^2)^2 / sum e^4 counts the rows: a variance that few rows make up is known as badly.
CARRIED = 3.0
# Rows that the variance of normal classes counts for, where the rows themselves show less.
EXPECTED = 8.0


@dataclass(frozen=True)
class Areas:
    """Areas of classes against their rest, and what each row adds to their mean."""

    mean: float
    deviations: Array  # (n,), the sum over each class is 0
    variance: float

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance: how many rows make it up."""
        return float(carried(self.deviations))


def carried(added: Array) -> Array:
    """3 (sum e^2)^2 / sum e^4 of what rows add, along the last axis, at least 1."""
    squares = added**2
    fourth = (squares**2).sum(axis=-1)
    count = np.divide(squares.sum(axis=-1) ** 2, fourth, out=np.zeros_like(fourth), where=fourth > 0)
    return np.asarray(np.maximum(1.0, CARRIED * count))


def placements(ranking: Array, positive: Array) -> Array:
    """(n,): of a positive row the share of negative ones below it, of a negative row that of positive ones above it.

    Ties count half. The mean over the positive rows, and over the negative ones, is the area.
    """
    a, b = ranking[positive], ranking[~positive]
    place = np.empty(len(ranking))
    place[positive] = _below(np.sort(b), a)
    place[~positive] = 1.0 - _below(np.sort(a), b)
    return place


def _below(ordered: Array, values: Array) -> Array:
    """Share of the ordered numbers that are below each value, ties counting half."""
    twice = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(twice / (2.0 * len(ordered)))


def areas(ranking: Array, codes: Array, n_classes: int) -> Areas:
    """The mean over classes of one against the rest, with DeLong's variance.

    A row's placement less the area of a class, divided by the rows on its side, is what it adds to that area; summed over
    the classes this carries their covariances. The variance is sum_k m_k / (m_k - 1) sum over the rows of class k of
    (added - its mean)^2.
    """
    columns = ranking[:, None] if ranking.ndim == 1 else ranking
    positives = [1] if ranking.ndim == 1 else range(n_classes)
    added, found = np.zeros(len(codes)), []
    for column, c in zip(columns.T, positives, strict=True):
        positive = codes == c
        place, m = placements(column, positive), int(positive.sum())
        found.append(float(place[positive].mean()))
        added += (place - found[-1]) / np.where(positive, m, len(codes) - m) / len(positives)
    sizes = np.bincount(codes, minlength=n_classes)
    added -= (np.bincount(codes, weights=added, minlength=n_classes) / sizes)[codes]
    squares = np.bincount(codes, weights=added**2, minlength=n_classes)
    variance = float((squares * sizes / np.maximum(sizes - 1, 1)).sum())
    return Areas(float(np.mean(found)), added * len(codes), variance)


def normal_variance(area: Any, m: Any, n: Any) -> Array:
    """Variance of the area of m rows against n of two normal classes, the rarer one a little more spread.

    (A (1 - A) + (b - 1) xi(r) + (a - 1) xi(1 - r)) / (m n) with a = min(m, n), b = max(m, n), r = 0.58, and
    xi(r) = P(two normal variables of correlation r are below z) - A^2 at the z below which one is with probability A.
    """
    A, a, b = np.asarray(area, dtype=np.float64), np.minimum(m, n), np.maximum(m, n)
    z = ndtri(A)

    def xi(r: float) -> Array:
        return np.maximum(0.0, A - 2.0 * owens_t(z, np.sqrt((1.0 - r) / (1.0 + r))) - A**2)

    return np.asarray((A * (1 - A) + (b - 1) * xi(RARE) + (a - 1) * xi(1.0 - RARE)) / (m * n))


def mean_normal_variance(sizes: Array) -> Callable[[Array], Array]:
    """Of the mean over classes of one against the rest, as if all had the same area: a function of it."""
    if len(sizes) == 2:
        return lambda area: normal_variance(area, sizes[0], sizes[1])
    n, C = sizes.sum(), len(sizes)
    return lambda area: sum((normal_variance(area, m, n - m) for m in sizes), np.zeros(())) / C**2


def flawless_end(sizes: Array, confidence: float) -> float:
    """The area of a model that puts no row among those of another class may be so small.

    A share q of the rarest of C classes may be told from the others by chance alone: the area is 1 - q / 2 then (of the
    mean over more than two classes 1 - q / 2C), and none of its m rows shows it with probability exp(-q m). That is
    the tail where q = -log(tail) / m.
    """
    share = min(1.0, -float(np.log(tail(confidence))) / int(np.min(sizes)))
    return 1.0 - share / 2.0 / (1 if len(sizes) == 2 else len(sizes))


def area_ends(
    area: Any,
    variance: Any,
    expected: Callable[[Array], Array],
    confidence: float,
    freedom: Any = 1e9,
    flawless: float = 1.0,
) -> tuple[Array, Array]:
    """All A with |area - A| <= z sqrt(k expected(A)): a score interval, k the shown variance over the expected one.

    r = variance / expected(area) is known with f degrees of freedom, and k = (t_f / z)^2 r. Few rows often show too little
    variance, so k is at least (t_g / z)^2 (8 + f r) / g with g = 8 + f: as if eight more rows had shown the expected one.
    z is the normal quantile, t Student's. Such an interval has ends between 0 and 1. Where the area is 0 or 1,
    no row shows a variance: k is 1, and the interval reaches at least to ``flawless`` (of 0, as far from 0).
    """
    area = np.asarray(area, dtype=np.float64)
    z = -ndtri(tail(confidence))
    within = (area > 0) & (area < 1)
    ratio = np.asarray(variance) / expected(np.clip(area, 1e-9, 1 - 1e-9))
    counted = EXPECTED + freedom
    shown = np.square(stdtrit(freedom, tail(confidence)) / z) * ratio
    shrunk = np.square(stdtrit(counted, tail(confidence)) / z) * (EXPECTED + freedom * ratio) / counted
    factor = np.where(within, np.maximum(shown, shrunk), 1.0)

    def end(inside: Array, outside: Array) -> Array:
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            holds = np.abs(area - middle) <= z * np.sqrt(factor * expected(middle))
            inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
        return inside

    low, high = end(area, np.zeros_like(area)), end(area, np.ones_like(area))
    low = np.where(area >= 1, np.minimum(low, flawless), low)
    return low, np.where(area >= 1, 1.0, np.where(area <= 0, np.maximum(high, 1.0 - flawless), high))
