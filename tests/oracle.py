"""Slow, obvious reference code: one row and one class at a time, straight from the formulas."""

import itertools
import math

import numpy as np


def loss_of_row(name, f, y):
    """The loss of one row of scores f (list) and a class number y, by its definition."""
    K = len(f)
    margin_losses = {
        "zero-one": lambda z: 1.0 if z <= 0 else 0.0,
        "logistic": lambda z: math.log1p(math.exp(-z)) if z > 0 else -z + math.log1p(math.exp(z)),
        "perceptron": lambda z: max(0.0, -z),
        "hinge": lambda z: max(0.0, 1.0 - z),
        "squared-hinge": lambda z: max(0.0, 1.0 - z) ** 2,
        "binary-sparsemax": lambda z: 0.0 if z >= 1 else (-z if z <= -1 else (1.0 - z) ** 2 / 4.0),
    }
    if name == "zero-one" and K > 1:
        return 1.0 if f[y] <= max(f[c] for c in range(K) if c != y) else 0.0
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


def risk(name, X, targets, W, b, alpha, l1, l2, weights=None, group=0.0):
    """alpha R(W) + weighted mean loss, row by row (R1)."""
    X = np.asarray(X.todense()) if hasattr(X, "todense") else np.asarray(X)
    weights = np.ones(len(X)) if weights is None else weights
    total = sum(
        s * loss_of_row(name, [float(w @ x) + float(c) for w, c in zip(W, b)], int(y))
        for x, y, s in zip(X.astype(float), targets, weights)
    )
    penalty = l1 * float(np.abs(W).sum()) + 0.5 * l2 * float((W**2).sum())
    penalty += group * sum(math.sqrt(sum(w * w for w in feature)) for feature in W.T)
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


def spectrum(s, t, n):
    """Products of the numbers of times that each n-gram occurs."""
    grams = [[tuple(x[i : i + n]) for i in range(len(x) - n + 1)] for x in (s, t)]
    return float(sum(grams[0].count(u) * grams[1].count(u) for u in set(grams[0])))


def subsequence(s, t, length, decay):
    """Each choice of places in s and in t that spells the same: decay to the power of how far both reach (Lodhi 2002)."""
    total = 0.0
    for i in itertools.combinations(range(len(s)), length):
        for j in itertools.combinations(range(len(t)), length):
            if all(s[a] == t[b] for a, b in zip(i, j)):
                total += decay ** (i[-1] - i[0] + 1 + j[-1] - j[0] + 1)
    return total


# Trees are (label, child, ...) here, a leaf is (label,).


def nodes(tree):
    """The tree and all below it."""
    return [tree, *(node for child in tree[1:] for node in nodes(child))]


def subset_fragments(tree):
    """All fragments with their root here: each child is cut off, or goes on with a fragment of its own (Collins 2002).

    Given as (fragment, number of productions in it).
    """
    label, *children = tree
    choices = []
    for child in children:
        cut = [((child[0],), 0)]
        choices.append(cut + (subset_fragments(child) if len(child) > 1 else []))
    return [
        ((label, *(part for part, _ in choice)), 1 + sum(size for _, size in choice))
        for choice in itertools.product(*choices)
    ]


def subset_tree(s, t, decay, leaves=False):
    """decay to the power of the productions, for each pair of equal fragments."""

    def all_of(tree):
        inner = [fragment for node in nodes(tree) if len(node) > 1 for fragment in subset_fragments(node)]
        return inner + [((node[0], "leaf"), 1) for node in nodes(tree) if len(node) == 1 and leaves]

    return sum(decay**size for fragment, size in all_of(s) for other, _ in all_of(t) if fragment == other)


def complete_subtree(s, t, decay, leaves=False):
    """decay to the power of the inner nodes, for each pair of equal complete subtrees."""
    size = {node: sum(len(below) > 1 for below in nodes(node)) or 1 for node in nodes(s)}
    return sum(decay ** size[a] for a in nodes(s) for b in nodes(t) if a == b and (leaves or len(a) > 1))


def partial_tree(s, t, decay, mu, terminal):
    """By enumeration of all choices of as many children of both nodes (Moschitti 2006)."""

    def common(a, b):
        if a[0] != b[0]:
            return 0.0
        total = decay**2 * (terminal if len(a) == len(b) == 1 else 1.0)
        for size in range(1, min(len(a), len(b))):
            for i in itertools.combinations(range(1, len(a)), size):
                for j in itertools.combinations(range(1, len(b)), size):
                    gaps = (i[-1] - i[0] + 1 - size) + (j[-1] - j[0] + 1 - size)
                    total += decay**gaps * math.prod(common(a[p], b[q]) for p, q in zip(i, j))
        return mu * total

    return sum(common(a, b) for a in nodes(s) for b in nodes(t))
