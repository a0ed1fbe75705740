"""Slow, obvious references for SGD and the perceptron rule: one row at a time, every weight touched, plain loops."""

import numpy as np


def table_step(kind, w, x, y, eta):
    """The data step for one weight vector, y in {-1, +1}, no bias and no penalty."""
    f = w @ x
    if kind == "squared":
        return w + eta * (y - f) * x
    if kind == "logistic":
        return w + eta * y * x / (1.0 + np.exp(y * f))
    if kind == "perceptron":
        return w + eta * (y * f < 0) * y * x
    if kind == "hinge":
        return w + eta * (y * f < 1) * y * x
    raise KeyError(kind)


def table_step_joint(kind, W, x, y, eta):
    """The data step for K weight vectors and a class y."""
    f, new = W @ x, W.copy()
    if kind == "softmax":
        P = np.exp(f - f.max())
        P /= P.sum()
        for c in range(len(W)):
            new[c] += eta * ((c == y) - P[c]) * x
        return new
    margin = {"multiclass-perceptron": 0.0, "weston-watkins": 1.0}[kind]
    for c in range(len(W)):
        if c != y and margin + f[c] - f[y] > 0:
            new[y] += eta * x
            new[c] -= eta * x
    return new


def perceptron(X, targets, n_classes, multiclass, weights, bias, max_iter, start=None, step=lambda t: 1.0):
    """The rule of (W, b, sum of s W, sum of s b, mistakes, cycles, converged)."""
    K = 1 if n_classes == 2 else n_classes
    W, b = np.zeros((K, X.shape[1])), np.zeros(K)
    if start is not None:
        W, b = start.W.copy(), start.b.copy()
    sum_W, sum_b, mistakes = np.zeros_like(W), np.zeros_like(b), 0
    for cycle in range(1, max_iter + 1):
        before = mistakes
        for x, y, s in zip(X, targets, weights):
            if s == 0:
                continue
            f = W @ x + b
            for c, gain in corrections(f, y, K, multiclass):
                mistakes += K == 1 or multiclass == "one-vs-rest" or gain < 0
                W[c] += step(cycle - 1) * s * gain * x
                b[c] += step(cycle - 1) * s * gain * bias
            sum_W += s * W
            sum_b += s * b
        if mistakes == before:
            return W, b, sum_W, sum_b, mistakes, cycle, True
    return W, b, sum_W, sum_b, mistakes, max_iter, False


def corrections(f, y, K, multiclass):
    """(column, multiple of x to add) for the scores of one row."""
    if K == 1:
        sign = 1 if y == 1 else -1
        return [(0, sign)] if sign * f[0] <= 0 else []
    signs = [1 if c == y else -1 for c in range(K)]
    if multiclass == "one-vs-rest":
        return [(c, signs[c]) for c in range(K) if signs[c] * f[c] <= 0]
    wrong = [c for c in range(K) if c != y and f[c] >= f[y]]
    if multiclass == "argmax" and wrong:
        wrong = [max(wrong, key=lambda c: (f[c], -c))]
    return [(c, -1) for c in wrong] + ([(y, len(wrong))] if wrong else [])
