"""Formulas that several losses share."""

import numpy as np

from nearline._arrays.design import Array


def sides(class_weights: Array, n_outputs: int) -> tuple[Array, Array]:
    """Weight of the rows with y = +1 and with y = -1, for each column."""
    if n_outputs == 1:
        return class_weights[1:], class_weights[:1]
    return class_weights, class_weights.sum() - class_weights


def mean_sign(class_weights: Array, n_outputs: int) -> Array:
    """The mean of y in each column: the best bias where the loss is a parabola between y f = -1 and 1."""
    positive, negative = sides(class_weights, n_outputs)
    return np.asarray((positive - negative) / (positive + negative))


def sigmoid(t: Array) -> Array:
    """1 / (1 + exp(-t)) without overflow."""
    e = np.exp(-np.abs(t))
    return np.asarray(np.where(t >= 0, 1.0, e) / (1.0 + e))


def xlogx(t: Array) -> Array:
    """t log t, 0 at 0, infinite below."""
    inside = np.where(t > 0, t, 1.0)
    return np.where(t < 0, np.inf, np.where(t > 0, inside * np.log(inside), 0.0))


def within(a: Array, low: float, high: float, value: Array) -> Array:
    """value where low <= a <= high, else infinity."""
    return np.where((a >= low) & (a <= high), value, np.inf)


def log_softmax(scores: Array) -> Array:
    """The logarithm of the softmax map, finite where probabilities round to 0."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def softmax(scores: Array) -> Array:
    """exp(f_c) / sum_d exp(f_d), with the maximum subtracted."""
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def sparsemax(scores: Array) -> Array:
    """Euclidean projection of each row onto the probability simplex."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    ordered = -np.sort(-shifted, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - 1.0
    ranks = np.arange(1, scores.shape[-1] + 1)
    size = (ordered * ranks > excess).sum(axis=-1, keepdims=True)
    threshold = np.take_along_axis(excess, size - 1, axis=-1) / size
    return np.maximum(shifted - threshold, 0.0)
