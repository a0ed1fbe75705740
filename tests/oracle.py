"""Slow, obvious reference code: one row and one class at a time, straight from the formulas."""

import math

import numpy as np


def loss_of_row(name, f, y):
    """The loss of one row of scores f (list) and a class number y, by its definition (SPEC B1-B12)."""
    K = len(f)
    margin_losses = {
        "zero-one": lambda z: 1.0 if z <= 0 else 0.0,
        "logistic": lambda z: math.log1p(math.exp(-z)) if z > 0 else -z + math.log1p(math.exp(z)),
        "perceptron": lambda z: max(0.0, -z),
        "hinge": lambda z: max(0.0, 1.0 - z),
        "squared-hinge": lambda z: max(0.0, 1.0 - z) ** 2,
        "binary-sparsemax": lambda z: 0.0 if z >= 1 else (-z if z <= -1 else (1.0 - z) ** 2 / 4.0),
    }
    if name in margin_losses:
        signs = [1.0 if y == 1 else -1.0] if K == 1 else [1.0 if c == y else -1.0 for c in range(K)]
        return sum(margin_losses[name](s * value) for s, value in zip(signs, f))
    if name == "squared":
        codes = [1.0 if y == 1 else -1.0] if K == 1 else [1.0 if c == y else 0.0 for c in range(K)]
        return sum(0.5 * (value - t) ** 2 for value, t in zip(f, codes))
    others = [c for c in range(K) if c != y]
    if name == "multiclass-perceptron":
        return sum(max(0.0, f[c] - f[y]) for c in others)
    if name == "weston-watkins":
        return sum(max(0.0, 1.0 - f[y] + f[c]) for c in others)
    if name == "crammer-singer":
        return max(0.0, max(1.0 + f[c] - f[y] for c in others))
    if name == "softmax":
        top = max(f)
        return top + math.log(sum(math.exp(value - top) for value in f)) - f[y]
    if name == "sparsemax":
        p = simplex_projection(f)
        return sum(p[c] * f[c] for c in range(K)) - 0.5 * sum(v * v for v in p) - f[y] + 0.5
    raise KeyError(name)


def simplex_projection(f):
    """Projection onto the simplex by bisection on the threshold."""
    low, high = min(f) - 1.0, max(f)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if sum(max(v - middle, 0.0) for v in f) > 1.0:
            low = middle
        else:
            high = middle
    return [max(v - high, 0.0) for v in f]


def risk(name, X, targets, W, b, alpha, l1, l2, weights=None):
    """alpha R(W) + weighted mean loss, row by row (R1)."""
    X = np.asarray(X.todense()) if hasattr(X, "todense") else np.asarray(X)
    weights = np.ones(len(X)) if weights is None else weights
    total = sum(
        s * loss_of_row(name, [float(w @ x) + float(c) for w, c in zip(W, b)], int(y))
        for x, y, s in zip(X.astype(float), targets, weights)
    )
    penalty = l1 * float(np.abs(W).sum()) + 0.5 * l2 * float((W**2).sum())
    return alpha * penalty + total / float(np.sum(weights))


def numeric_gradient(function, point, step=1e-6):
    """Central differences."""
    gradient = np.zeros_like(point)
    for index in np.ndindex(point.shape):
        up, down = point.copy(), point.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (function(up) - function(down)) / (2.0 * step)
    return gradient
