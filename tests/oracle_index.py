"""Nearest neighbors by brute force, in the documented order of summation: slow and obvious, right to the last bit."""

import math

import numpy as np

from nearline.neighbors.metrics import Metric, PrecomputedDistances


def _power(a, b):
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.inf


power = np.frompyfunc(_power, 2, 1)


def total(terms, join=np.add):
    """Feature j goes to sum number j mod 16; then sums l and l + 8, l + 4, l + 2, l + 1 are joined."""
    sums = [np.zeros(terms.shape[:-1]) for _ in range(16)]
    for j in range(terms.shape[-1]):
        sums[j % 16] = join(sums[j % 16], terms[..., j])
    for half in (8, 4, 2, 1):
        sums = [join(sums[l], sums[l + half]) for l in range(half)]
    return sums[0]


def lengths(A):
    return np.sqrt(total(A * A))


def root_of_powers(e, exponent):
    """Where the sum of powers is out of range, in units of the largest difference."""

    def root(e):
        sums = total(power(e, exponent).astype(np.float64))
        return sums, power(sums, 1.0 / exponent).astype(np.float64)

    sums, plain = root(e)
    unit = total(e, np.maximum)
    scalable = ~((sums >= 1e-280) & (sums <= 1e280)) & (unit > 0) & (unit < np.inf)
    _, scaled = root(e / np.where(scalable, unit, 1.0)[..., None])
    return np.where((sums >= 1e-280) & (sums <= 1e280), plain, np.where(scalable, unit * scaled, unit))


def distances(metric: Metric, X, Q):
    """(m, n) float64."""
    if isinstance(metric, PrecomputedDistances):
        return np.asarray(Q, dtype=np.float64)
    X, Q = (np.asarray(metric.rows(A)).astype(np.float64) for A in (X, Q))
    x, q = X[None], Q[:, None]
    name = metric.name
    with np.errstate(over="ignore", under="ignore"):
        if name in ("l2", "squared-l2"):
            e = x - q
            squares = total(e * e)
            if name == "squared-l2":
                return squares
            unit = total(np.abs(e), np.maximum)
            plain = (squares >= 1e-280) & (squares <= 1e280)
            scaled = e / np.where(plain | ~((unit > 0) & (unit < np.inf)), 1.0, unit)[..., None]
            scaled = np.where((unit > 0) & (unit < np.inf), unit * np.sqrt(total(scaled * scaled)), unit)
            return np.where(plain, np.sqrt(squares), scaled)
        if name == "l1":
            return total(np.abs(x - q))
        if name == "l-infinity":
            return total(np.abs(x - q), np.maximum)
        if name == "lq":
            return root_of_powers(np.abs(x - q), metric.exponent)
        if name == "inner-product":
            return 0.0 - total(x * q)
        if name == "cosine":
            sizes = lengths(X)[None] * lengths(Q)[:, None]
            cosines = total(x * q) / np.where(sizes > 0, sizes, 1.0)
            grid = 2.0 ** max(-40, -53 + int(np.ceil(np.log2(max(X.shape[1], 1)))))
            return np.where(sizes > 0, np.clip(np.rint((1.0 - cosines) / grid) * grid, 0.0, 2.0), 1.0)
        if name == "mahalanobis":
            e = x - q
            return np.sqrt(total(np.stack([total(e * a) ** 2 for a in metric.map], axis=-1)))
        if name == "hamming":
            return (x != q).sum(axis=-1) / X.shape[1]
        if name == "jaccard":
            either, both = ((x != 0) | (q != 0)).sum(axis=-1), ((x != 0) & (q != 0)).sum(axis=-1)
            return np.where(either == 0, 0.0, (either - both) / np.maximum(either, 1))
    raise NotImplementedError(name)


def search(D, k, own=None, others=None):
    """Of each query: distances and rows of its list by (distance, index), and the rows beyond it at the k-th distance."""
    predictions = []
    for i, d in enumerate(D):
        rows = [j for j in range(len(d)) if own is None or others[j] != own[i]]
        rows.sort(key=lambda j: (d[j], j))
        inside, beyond = rows[:k], rows[k:]
        ties = sorted(j for j in beyond if d[j] == d[inside[-1]])
        predictions.append((d[inside], np.array(inside, dtype=int), np.array(ties, dtype=int)))
    return predictions


def radius(D, limit):
    """Of each query: distances and rows within the limit, by (distance, index)."""
    predictions = []
    for d in D:
        rows = sorted(np.flatnonzero(d <= limit), key=lambda j: (d[j], j))
        predictions.append((d[rows], np.array(rows, dtype=int)))
    return predictions


def assert_same(neighbors, predictions, k):
    """A search's lists and ties equal the oracle's, bit for bit."""
    assert neighbors.distances.shape == neighbors.indices.shape == (len(predictions), k)
    for i, (d, rows, ties) in enumerate(predictions):
        c = len(rows)
        np.testing.assert_array_equal(neighbors.indices[i, :c], rows)
        np.testing.assert_array_equal(neighbors.distances[i, :c], d)
        assert (neighbors.indices[i, c:] == -1).all()
        assert (neighbors.distances[i, c:] == np.inf).all()
        np.testing.assert_array_equal(neighbors.boundary[i], ties)
