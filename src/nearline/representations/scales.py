"""Scales of a column of numbers, fitted to training rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from nearline._arrays.design import Array
from nearline._records.kept import Numbers, Real, kept, require

QUANTILES = 1000


@kept(center=Real(), scale=Real(above=0.0))
@dataclass(frozen=True)
class Affine:
    """(value - center) / scale."""

    center: float
    scale: float

    def __call__(self, values: Array) -> Array:
        return (values - self.center) / self.scale


def standard(values: Array) -> Affine:
    """To mean 0 and standard deviation 1; constant values become 0."""
    if values.min() == values.max():  # asked exactly: the deviation of a huge constant is not 0
        return Affine(float(values[0]), 1.0)
    center = float(values.mean())
    largest = float(np.abs(values - center).max()) or 1.0  # squares of huge values would overflow
    return Affine(center, largest * (float(np.sqrt(np.mean(((values - center) / largest) ** 2))) or 1.0))


def minmax(values: Array) -> Affine:
    """To the range from 0 to 1; constant values become 0."""
    low, high = float(values.min()), float(values.max())
    return Affine(low, high - low or 1.0)


def robust(values: Array) -> Affine:
    """To median 0 and distance 1 between the quartiles; where these are equal, to deviation 1."""
    low, center, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Affine(float(center), float(high - low)) if high > low else standard(values)


def _has_points(knots: "Knots") -> None:
    require(len(knots.x), "A scale has no points")


@kept(x=Numbers(("k",), rising=True), y=Numbers(("k",)), links=_has_points)
@dataclass(frozen=True, eq=False)
class Knots:
    """Piecewise linear through (x, y), constant outside."""

    x: Array
    y: Array

    def __call__(self, values: Array) -> Array:
        return np.interp(values, self.x, self.y)


def quantile(values: Array) -> Knots:
    """Ranks, mapped to a normal distribution; constant values become 0."""
    ordered = np.sort(values)
    x = np.unique(ordered[np.linspace(0, len(values) - 1, min(QUANTILES, len(values))).astype(np.intp)])
    below, upto = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    return Knots(x, ndtri((below + upto) / (2 * len(values))))  # the middle of the ranks of equal values


Scale = Callable[[Array], Array]  # what is fitted
Fit = Callable[[Array], Scale]  # what fits it to the training rows
SCALES: dict[str, Fit] = {
    "standard": standard,
    "minmax": minmax,
    "quantile": quantile,
    "robust": robust,
}
