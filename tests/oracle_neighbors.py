"""Slow, obvious reference code for votes of neighbors: fractions, repeated rows, loops."""

from fractions import Fraction

import numpy as np


def distance(a, b, metric):
    difference = np.abs(np.asarray(a, dtype=float) - np.asarray(b, dtype=float))
    return {"l1": difference.sum(), "l2": np.sqrt((difference**2).sum()), "l-infinity": difference.max()}[
        metric
    ]


def voters(X, q, k, metric, boundary):
    """(row, distance, portion of a vote) of everybody who votes."""
    d = [distance(x, q, metric) for x in X]
    order = sorted(range(len(X)), key=lambda i: (d[i], i))
    kth = d[order[k - 1]]
    nearer, tied = [i for i in order if d[i] < kth], [i for i in order if d[i] == kth]
    left = k - len(nearer)
    if boundary == "list":
        return [(i, d[i], Fraction(1)) for i in order[:k]], len(tied) > left
    part = {
        "share": Fraction(left, len(tied)),
        "all": Fraction(1),
        "drop": Fraction(1 if len(tied) == left or not nearer else 0),
    }[boundary]
    chosen = [(i, d[i], Fraction(1)) for i in nearer] + [(i, d[i], part) for i in tied if part]
    return chosen, len(tied) > left


def votes(chosen, weights, temperature=1.0):
    """How much each voter counts."""
    zeros = any(d == 0 for _, d, _ in chosen)
    value = {
        "uniform": lambda d: Fraction(1),
        "distance": lambda d: float(d == 0) if zeros else 1.0 / d,
        "softmax": lambda d: np.exp(-d / temperature),
    }[weights]
    return [part * value(d) if weights == "uniform" else float(part) * value(d) for _, d, part in chosen]


def class_votes(X, y, q, k, metric="l2", weights="uniform", boundary="share"):
    chosen, _ = voters(X, q, k, metric, boundary)
    totals = {}
    for (i, _, _), vote in zip(chosen, votes(chosen, weights)):
        totals[y[i]] = totals.get(y[i], 0) + vote
    return totals


def predict(X, y, q, k, metric="l2", weights="uniform", boundary="share", ties="nearest"):
    """The label; ties of votes by the rule, then class order."""
    totals = class_votes(X, y, q, k, metric, weights, boundary)
    most = max(totals.values())
    # Fractions are exact; other votes are equal where they differ by rounding alone.
    leading = sorted(c for c, v in totals.items() if v == most or v > float(most) * (1 - 1e-12))
    if len(leading) == 1:
        return leading[0]
    chosen, _ = voters(X, q, k, metric, boundary)
    if ties == "reduce-k":
        return leading[0] if k == 1 else predict(X, y, q, k - 1, metric, weights, boundary, ties)
    of = {
        "nearest": lambda c: min(d for i, d, _ in chosen if y[i] == c),
        "distance": lambda c: round(sum(float(part) * d for i, d, part in chosen if y[i] == c), 9),
        "prior": lambda c: -list(y).count(c),
        "order": lambda c: 0,
    }[ties]
    return min(leading, key=lambda c: (of(c), c))


def mean(X, y, q, k, metric="l2", weights="uniform", boundary="share"):
    """Mean of targets, by votes."""
    chosen, _ = voters(X, q, k, metric, boundary)
    v = [float(vote) for vote in votes(chosen, weights)]
    return sum(vote * np.asarray(y[i], dtype=float) for (i, _, _), vote in zip(chosen, v)) / sum(v)
