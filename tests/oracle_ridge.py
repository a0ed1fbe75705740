"""Slow, obvious ridge regression: refits by textbook formulas, exact rational arithmetic, row by row."""

from fractions import Fraction

import numpy as np


def fit(X, codes, alpha, weights=None, bias=True):
    """(W, b) of (1/2) mean |W x + b - t|^2 + (alpha/2) |W|^2 by a least-squares solver on centered, augmented rows."""
    X, codes = np.asarray(X, dtype=float), np.asarray(codes, dtype=float)
    s = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    mean = s @ X / s.sum() if bias else np.zeros(X.shape[1])
    level = s @ codes / s.sum() if bias else np.zeros(codes.shape[1])
    Z, T = np.sqrt(s)[:, None] * (X - mean), np.sqrt(s)[:, None] * (codes - level)
    if alpha > 0:
        D = X.shape[1]
        Z = np.vstack([Z, np.sqrt(s.sum() * alpha) * np.eye(D)])
        T = np.vstack([T, np.zeros((D, codes.shape[1]))])
        W = np.linalg.lstsq(Z, T, rcond=None)[0].T
    else:
        # Zero is what is small beside the rows themselves: equal rows leave only rounding after centering.
        U, sigma, Vt = np.linalg.svd(Z, full_matrices=False)
        kept = sigma > 1e-11 * np.linalg.norm(X)
        W = ((Vt[kept].T / sigma[kept]) @ U.T[kept] @ T).T
    return W, level - W @ mean


def leave_out(X, codes, alpha, groups, weights=None, bias=True):
    """Scores (n, K) of each row by a refit without its group; groups = row numbers is leave-one-out."""
    X, groups = np.asarray(X, dtype=float), np.asarray(groups)
    s = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    scores = np.empty(codes.shape)
    for group in np.unique(groups):
        rest = groups != group
        W, b = fit(X[rest], codes[rest], alpha, s[rest], bias)
        scores[~rest] = X[~rest] @ W.T + b
    return scores


def exact_fit(X, codes, alpha, bias=True):
    """(W, b) of a problem of full rank in exact rational arithmetic: the normal equations by elimination."""
    n, D = X.shape
    rows = [[Fraction(float(v)) for v in x] for x in X]
    targets = [[Fraction(float(v)) for v in t] for t in codes]
    if bias:
        mean = [sum(column) / n for column in zip(*rows)]
        level = [sum(column) / n for column in zip(*targets)]
        rows = [[v - m for v, m in zip(x, mean)] for x in rows]
        targets = [[v - m for v, m in zip(t, level)] for t in targets]
    lam = Fraction(float(alpha)) * n
    A = [[sum(x[i] * x[j] for x in rows) + (lam if i == j else 0) for j in range(D)] for i in range(D)]
    B = [[sum(x[i] * t[k] for x, t in zip(rows, targets)) for k in range(codes.shape[1])] for i in range(D)]
    W = list(zip(*solve_exactly(A, B)))
    if not bias:
        return np.array(W, dtype=float), np.zeros(len(W))
    b = [c - sum(w * m for w, m in zip(row, mean)) for c, row in zip(level, W)]
    return np.array(W, dtype=float), np.array(b, dtype=float)


def solve_exactly(A, B):
    """A^-1 B by Gauss-Jordan elimination of fractions."""
    n = len(A)
    M = [list(a) + list(b) for a, b in zip(A, B)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if M[r][i] != 0)
        M[i], M[pivot] = M[pivot], M[i]
        M[i] = [v / M[i][i] for v in M[i]]
        for r in range(n):
            if r != i and M[r][i] != 0:
                M[r] = [v - M[r][i] * u for v, u in zip(M[r], M[i])]
    return [row[n:] for row in M]
