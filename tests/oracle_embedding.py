"""Slow, obvious reference for the embedding losses: loops over rows, pairs and triplets, straight from the formulas."""

from math import exp, log, sqrt

import numpy as np


def unit(z):
    length = sqrt(sum(float(x) ** 2 for x in z))
    return np.array([x / length if length else 0.0 for x in z])


def rows_of(Z, normalize):
    return [unit(z) if normalize else np.asarray(z, dtype=float) for z in Z]


def distance(a, b, squared=False):
    square = sum((float(x) - float(y)) ** 2 for x, y in zip(a, b))
    return square if squared else sqrt(square)


def mean(terms):
    return sum(terms) / len(terms) if terms else 0.0


def others(t, i, same):
    return [j for j in range(len(t)) if j != i and (t[j] == t[i]) == same]


def nca(Z, t, scale=1.0, log_form=False, normalize=False):
    rows, terms = rows_of(Z, normalize), []
    for i in range(len(rows)):
        mine = others(t, i, True)
        if mine and len(set(t)) > 1:
            e = {j: exp(-scale * distance(rows[i], rows[j], True)) for j in range(len(rows)) if j != i}
            p = sum(e[j] for j in mine) / sum(e.values())
            terms.append(-log(p) if log_form else 1.0 - p)
    return mean(terms)


def triplet(Z, t, margin=0.2, mining="semi-hard", normalize=True, squared=False):
    rows, terms = rows_of(Z, normalize), []
    for a in range(len(rows)):
        d = [distance(rows[a], row, squared) for row in rows]
        near, far = [d[p] for p in others(t, a, True)], [d[n] for n in others(t, a, False)]
        if mining == "hard":
            chosen = [(max(near), min(far))] if near and far else []
        else:
            chosen = [(p, n) for p in near for n in far]
        if mining == "semi-hard":
            chosen = [(p, n) for p, n in chosen if p < n < p + margin]
        terms += [max(0.0, margin + p - n) for p, n in chosen]
    return mean(terms)


def lifted(Z, t, margin=1.0, normalize=False):
    rows, terms = rows_of(Z, normalize), []
    for i in range(len(rows)):
        for j in others(t, i, True):
            negatives = [distance(rows[i], rows[k]) for k in others(t, i, False)]
            negatives += [distance(rows[j], rows[k]) for k in others(t, j, False)]
            if not negatives:
                terms.append(0.0)
                continue
            J = distance(rows[i], rows[j]) + log(sum(exp(margin - d) for d in negatives))
            terms.append(max(0.0, J) ** 2 / 2.0)
    return mean(terms)


def circle(Z, t, gamma=80.0, margin=0.4):
    rows, terms = rows_of(Z, True), []
    for i in range(len(rows)):
        p = [float(rows[i] @ rows[j]) for j in others(t, i, True)]
        n = [float(rows[i] @ rows[j]) for j in others(t, i, False)]
        if p and n:
            of_n = sum(exp(gamma * max(0.0, s + margin) * (s - margin)) for s in n)
            of_p = sum(exp(-gamma * max(0.0, 1.0 + margin - s) * (s - (1.0 - margin))) for s in p)
            terms.append(log(1.0 + of_n * of_p))
    return mean(terms)


def margin_softmax(Z, t, W, scale, margin=0.0):
    terms, proxies = [], rows_of(W, True)
    for z, own in zip(rows_of(Z, True), t):
        logits = [scale * (float(z @ w) - margin * (c == own)) for c, w in enumerate(proxies)]
        terms.append(log(sum(exp(x - logits[own]) for x in logits)))
    return mean(terms)
