"""Slow, obvious references for the passes: exact sums, one row at a time."""

import math
from fractions import Fraction

import numpy as np


def exact_moments(X, weights):
    """Weighted mean and standard deviation of each column in rational arithmetic."""
    means, deviations = [], []
    s = [Fraction(float(w)) for w in weights]
    for column in np.asarray(X).T:
        x = [Fraction(float(v)) for v in column]
        mean = sum((a * b for a, b in zip(s, x)), Fraction(0)) / sum(s)
        square = sum((a * (b - mean) ** 2 for a, b in zip(s, x)), Fraction(0)) / sum(s)
        means.append(float(mean))
        deviations.append(math.sqrt(float(square)))
    return np.array(means), np.array(deviations)


def weighted_gram(X, h):
    """sum_i h_i [x_i; 1] [x_i; 1]^T, row by row."""
    X = np.asarray(X, dtype=np.float64)
    total = np.zeros((X.shape[1] + 1, X.shape[1] + 1))
    for x, weight in zip(X, h):
        phi = np.append(x, 1.0)
        total += weight * np.outer(phi, phi)
    return total


def logistic_reference(z):
    """log(1 + exp(-z)), its slope and curvature, each accurate where it is tiny."""
    e = math.exp(-abs(z))
    value = math.log1p(e) + max(-z, 0.0)
    slope = -(e if z >= 0 else 1.0) / (1.0 + e)
    return value, slope, e / (1.0 + e) ** 2
