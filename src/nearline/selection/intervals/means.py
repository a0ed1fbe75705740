"""The interval of a mean of rows that are skewed, as losses are."""

from typing import Any

import numpy as np
from scipy.special import stdtrit

from nearline._arrays.design import Array
from nearline.selection.intervals._interval import tail


def mean_ends(mean: Any, deviation: Any, skewness: Any, n: Any, confidence: float) -> tuple[Array, Array]:
    """Ends for the mean of n independent rows of that standard deviation and skewness g: Student's, corrected for skewness.

    Hall (1992): T + g T^2 / (3 sqrt(n)) + g^2 T^3 / (27 n) + g / (6 sqrt(n)) with T = (mean - truth) sqrt(n) / deviation
    has hardly any skewness left. It grows with T, and its inverse at y is
    3 sqrt(n) / g ((1 + g (y - g / (6 sqrt(n))) / sqrt(n))^(1/3) - 1).
    """
    t = -stdtrit(np.asarray(n, dtype=np.float64) - 1, tail(confidence))
    slant = np.asarray(skewness, dtype=np.float64) / np.sqrt(n)
    steep = np.where(np.abs(slant) < 1e-8, 1e-8, slant)

    def inverse(y: Any) -> Array:
        return np.asarray(3.0 / steep * (np.cbrt(1.0 + steep * (y - steep / 6.0)) - 1.0))

    error = np.asarray(deviation) / np.sqrt(n)
    return mean - error * inverse(t), mean - error * inverse(-t)


def moments(values: Array) -> tuple[Array, Array, Array]:
    """Mean, standard deviation and skewness along the last axis."""
    mean = values.mean(axis=-1)
    centered = values - mean[..., None]
    spread = np.sqrt((centered**2).mean(axis=-1))
    cubes = (centered**3).mean(axis=-1)
    skewness = np.divide(cubes, spread**3, out=np.zeros_like(cubes), where=spread > 0)
    n = values.shape[-1]
    return mean, spread * np.sqrt(n / max(n - 1, 1)), skewness
