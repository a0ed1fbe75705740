"""Slow, obvious probes, written from the papers."""

import numpy as np
from sklearn.linear_model import LogisticRegression


def unit(rows):
    rows = np.asarray(rows, dtype=np.float64)
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


def neighbor_label(X, codes, q, k, T, n_classes):
    """The k largest cosines vote with exp(cosine / T). Only for rows without ties."""
    cosines = [float(x @ q) for x in X]
    nearest = sorted(range(len(X)), key=lambda i: -cosines[i])[:k]
    votes = [0.0] * n_classes
    for i in nearest:
        votes[codes[i]] += 1.0 if np.isinf(T) else np.exp(cosines[i] / T)
    leading = [c for c in range(n_classes) if votes[c] > max(votes) * (1 - 1e-12)]
    return next(codes[i] for i in nearest if codes[i] in leading)


def neighbor_labels(X, codes, Q, k, T, n_classes):
    X, Q = unit(X), unit(Q)
    return np.array([neighbor_label(X, codes, q, k, T, n_classes) for q in Q])


def left_out_accuracy(X, codes, k, T, n_classes):
    X = unit(X)
    found = []
    for i, x in enumerate(X):
        others = np.arange(len(X)) != i
        found.append(neighbor_label(X[others], codes[others], x, k, T, n_classes) == codes[i])
    return float(np.mean(found))


def logistic_labels(X, codes, Q, C):
    model = LogisticRegression(C=C, tol=1e-10, max_iter=20_000)
    return model.fit(np.asarray(X, dtype=np.float64), codes).predict(np.asarray(Q, dtype=np.float64))


def best_strength(X, codes, strengths, folds):
    """The strength of the best mean accuracy on the rows that each fold leaves out; among equals the most penalty.

    A fold has the penalty that all rows have, alpha = 1 / (C n), not their C.
    """
    means = []
    for C in sorted(strengths):
        rights = []
        for train, test in folds:
            own = C * len(X) / len(train)
            rights.append(np.mean(logistic_labels(X[train], codes[train], X[test], own) == codes[test]))
        means.append(np.mean(rights))
    best = max(range(len(means)), key=lambda i: (round(means[i], 12), -i))
    return sorted(strengths)[best], means[best]


def ridge_labels(X, codes, Q, strength, n_classes, bias_feature=100.0):
    """Standardized rows with one more feature that is constant; the normal equations of -1 and +1."""
    X, Q = np.asarray(X, dtype=np.float64), np.asarray(Q, dtype=np.float64)
    mean, scale = X.mean(axis=0), X.std(axis=0) + 1e-5
    A, B = (np.column_stack([(rows - mean) / scale, np.full(len(rows), bias_feature)]) for rows in (X, Q))
    signs = -np.ones((len(X), n_classes))
    signs[np.arange(len(X)), codes] = 1.0
    W = np.linalg.solve(A.T @ A + strength * np.eye(A.shape[1]), A.T @ signs)
    return np.argmax(B @ W, axis=1)


def drawn(codes, shots, random_state, repeat):
    """Row numbers of a draw: of each class the first of a permutation."""
    rng = np.random.default_rng([random_state, repeat])
    rows = []
    for c in range(int(codes.max()) + 1):
        rows += rng.permutation([i for i, code in enumerate(codes) if code == c])[:shots].tolist()
    return np.array(sorted(rows))


def peak(scores, first):
    """The sweep of CLIP's appendix: points far apart, then ever halfway to the neighbors of the best of all tried."""
    tried = list(range(0, len(scores), first))
    while first > 1:
        first //= 2
        best = next(i for i in sorted(tried) if scores[i] == max(scores[j] for j in tried))
        tried += [i for i in (best - first, best + first) if 0 <= i < len(scores)]
    return next(i for i in sorted(tried) if scores[i] == max(scores[j] for j in tried))
