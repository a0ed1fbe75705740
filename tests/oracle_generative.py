"""Slow, obvious references for naive Bayes, discriminant analysis, reductions and separability: loops and formulas."""

import math
from itertools import combinations

import numpy as np


def class_rows(X, y, weights, label):
    return [(row, w) for row, target, w in zip(X.tolist(), y, weights) if target == label]


def multinomial_scores(X, y, weights, x, smoothing):
    """log p(c) + sum_j x_j log theta_cj for one x, classes in order."""
    scores = []
    for label in sorted(set(y)):
        rows = class_rows(X, y, weights, label)
        counts = [sum(w * row[j] for row, w in rows) for j in range(len(x))]
        total = sum(counts) + smoothing * len(x)
        score = math.log(sum(w for _, w in rows) / sum(weights))
        scores.append(score + sum(x[j] * math.log((counts[j] + smoothing) / total) for j in range(len(x))))
    return scores


def bernoulli_scores(X, y, weights, x, smoothing, threshold):
    scores = []
    for label in sorted(set(y)):
        rows = class_rows(X, y, weights, label)
        size = sum(w for _, w in rows)
        score = math.log(size / sum(weights))
        for j in range(len(x)):
            theta = (sum(w for row, w in rows if row[j] > threshold) + smoothing) / (size + 2 * smoothing)
            score += math.log(theta) if x[j] > threshold else math.log1p(-theta)
        scores.append(score)
    return scores


def weighted_variance(values, weights):
    total = sum(weights)
    mean = sum(w * v for v, w in zip(values, weights)) / total
    return mean, sum(w * (v - mean) ** 2 for v, w in zip(values, weights)) / total


def gaussian_scores(X, y, weights, x, smoothing, shared):
    labels = sorted(set(y))
    pooled = []
    for j in range(len(x)):
        inside = [
            (sum(w for _, w in class_rows(X, y, weights, label)), class_rows(X, y, weights, label))
            for label in labels
        ]
        pooled.append(
            sum(
                size * weighted_variance([r[j] for r, _ in rows], [w for _, w in rows])[1]
                for size, rows in inside
            )
            / sum(weights)
        )
    scores, largest = [], max(weighted_variance(column, weights)[1] for column in X.T.tolist())
    for label in labels:
        rows = class_rows(X, y, weights, label)
        score = math.log(sum(w for _, w in rows) / sum(weights))
        for j in range(len(x)):
            mean, variance = weighted_variance([row[j] for row, _ in rows], [w for _, w in rows])
            variance = (pooled[j] if shared else variance) + smoothing * largest
            score -= 0.5 * (math.log(2 * math.pi * variance) + (x[j] - mean) ** 2 / variance)
        scores.append(score)
    return scores


def shared_covariance(X, y, weights):
    """Class means and the covariance of maximum likelihood about them."""
    labels = sorted(set(y))
    means = {
        label: sum(w * x for x, t, w in zip(X, y, weights) if t == label)
        / sum(w for t, w in zip(y, weights) if t == label)
        for label in labels
    }
    sigma = sum(w * np.outer(x - means[t], x - means[t]) for x, t, w in zip(X, y, weights)) / sum(weights)
    return np.array([means[label] for label in labels]), sigma


def discriminant_scores(X, y, weights, x):
    """log p(c) + log of the Gaussian density, with the covariance inverted."""
    means, sigma = shared_covariance(X, y, weights)
    inverse = np.linalg.inv(sigma)
    priors = [sum(w for t, w in zip(y, weights) if t == label) / sum(weights) for label in sorted(set(y))]
    constant = -0.5 * np.linalg.slogdet(2 * np.pi * sigma)[1]
    return [math.log(p) + constant - 0.5 * (x - m) @ inverse @ (x - m) for p, m in zip(priors, means)]


def separability(points, signs):
    """The verdict for rows in the plane with integer coordinates and y = +-1, in whole numbers only.

    The cone of all (w, b) with y (w.x + b) >= 0 is spanned, beside directions that are 0 on all rows, by vectors that
    are orthogonal to the rows that bound it. A sum of all that lie in the cone is positive where anything can be.
    """
    rows = [[int(s) * int(v) for v in (*p, 1)] for p, s in zip(points, signs)]
    normals = [cross(a, b) for a, b in combinations(rows, 2)]
    candidates = rows + normals + [cross(n, a) for n in normals for a in rows]
    inside = [v for c in candidates for v in (c, [-t for t in c]) if all(dot(row, v) >= 0 for row in rows)]
    total = [sum(v[k] for v in inside) for k in range(3)]
    positive = [dot(row, total) > 0 for row in rows]
    return "separable" if all(positive) else "quasi-separable" if any(positive) else "not separable"


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))
