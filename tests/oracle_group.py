"""Slow, obvious reference for the group penalty: accelerated proximal gradients with one fixed step."""

import numpy as np


def group_penalty(W):
    """sum over features of the length of their weights."""
    return sum(float(np.sqrt((column**2).sum())) for column in W.T)


def shortened(W, t):
    """argmin_V |V - W|^2 / 2 + t sum_j |V_j|, column by column."""
    columns = []
    for column in W.T:
        length = float(np.sqrt((column**2).sum()))
        columns.append(np.zeros_like(column) if length <= t else column * (1.0 - t / length))
    return np.stack(columns, axis=1)


def least_by_groups(loss, X, targets, n_outputs, alpha, *, steps=20_000):
    """The least mean loss + alpha sum_j |W_j|, and where it is; losses whose curvature is at most 2."""
    n, t = len(X), 1.0 / (2.0 * (float((X**2).sum(axis=1).max()) + 1.0))
    at = np.zeros((n_outputs, X.shape[1] + 1))  # the last column is the bias
    rows = np.hstack([X, np.ones((n, 1))])
    ahead, momentum, last = at, 1.0, np.inf
    for _ in range(steps):
        slope = loss.value_and_gradient(rows @ ahead.T, targets)[1].T @ rows / n
        new = ahead - t * slope
        new[:, :-1] = shortened(new[:, :-1], t * alpha)
        value = loss.value(rows @ new.T, targets).mean() + alpha * group_penalty(new[:, :-1])
        if np.abs(new - at).max() < 1e-12:
            break
        following = 1.0 if value > last else 0.5 * (1.0 + (1.0 + 4.0 * momentum**2) ** 0.5)
        ahead = new if value > last else new + (momentum - 1.0) / following * (new - at)
        at, momentum, last = new, following, value
    return float(value), new[:, :-1]
