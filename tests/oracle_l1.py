"""Slow, obvious references for penalties with kinks: plain proximal gradients, and the optimality conditions."""

import numpy as np

from oracle import loss_of_row
from oracle import risk as slow_risk


def gradient_of_row(name, f, y, h=1e-6):
    """Derivative of one row's loss by central differences."""
    steps = np.eye(len(f)) * h
    return np.array([(loss_of_row(name, f + s, y) - loss_of_row(name, f - s, y)) / (2 * h) for s in steps])


def gradient(name, X, targets, W, b, weights):
    """Gradient of the mean data loss in W and b, row by row."""
    G_W, G_b = np.zeros_like(W), np.zeros_like(b)
    for x, y, s in zip(X, targets, weights):
        g = gradient_of_row(name, W @ x + b, int(y))
        G_W += s * np.outer(g, x)
        G_b += s * g
    return G_W / weights.sum(), G_b / weights.sum()


def soft_threshold(W, t):
    return np.sign(W) * np.maximum(np.abs(W) - t, 0.0)


def proximal_gradient(name, X, targets, W, b, l1, l2, *, steps, weights=None, bias=True):
    """ISTA from (W, b), with a step that bounds every loss here: 1 / (2 (max |x|^2 + 1))."""
    weights = np.ones(len(X)) if weights is None else weights
    step = 0.5 / (float((X**2).sum(axis=1).max()) + 1.0)
    for _ in range(steps):
        G_W, G_b = gradient(name, X, targets, W, b, weights)
        W = soft_threshold(W - step * G_W, step * l1) / (1.0 + step * l2)
        b = b - step * G_b * bias
    return W, b


def lasso(X, t, l1, l2=0.0, *, sweeps=5000, weights=None):
    """min (1/S) sum s_i (w.x_i + b - t_i)^2 / 2 + l1 |w|_1 + (l2/2) |w|^2, one coordinate at a time, centered."""
    s = np.ones(len(X)) if weights is None else weights
    s = s / s.sum()
    mean, level = s @ X, s @ t
    Z, r = X - mean, t - level
    w = np.zeros(X.shape[1])
    for _ in range(sweeps):
        for j in range(len(w)):
            h = s @ Z[:, j] ** 2
            if h == 0:
                continue
            r = r + w[j] * Z[:, j]
            w[j] = soft_threshold(s @ (Z[:, j] * r), l1) / (h + l2)
            r = r - w[j] * Z[:, j]
    return w, level - w @ mean


def violation(G_W, G_b, W, l1, l2):
    """How far the optimality conditions are from holding: 0 in the subdifferential, coordinate by coordinate."""
    smooth = G_W + l2 * W
    at_zero = np.maximum(np.abs(smooth) - l1, 0.0)
    elsewhere = np.abs(smooth + l1 * np.sign(W))
    return max(float(np.where(W == 0, at_zero, elsewhere).max()), float(np.abs(G_b).max()))


__all__ = ["gradient", "lasso", "proximal_gradient", "slow_risk", "soft_threshold", "violation"]
