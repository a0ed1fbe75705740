"""Slow, obvious similarities of captions: lists of words, loops, counters."""

from collections import Counter
from math import exp, log, sqrt


def grams(text, n):
    words = text.lower().split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def common(a, b):
    return sum(min(count, b[gram]) for gram, count in a.items())


def f1(one, other, longest=4):
    lengths = [len(text.split()) for text in (one, other)]
    if min(lengths) == 0:
        return float(lengths[0] == lengths[1])
    n_most = min(longest, *lengths)
    total = 0.0
    for n in range(1, n_most + 1):
        a, b = grams(one, n), grams(other, n)
        total += 2 * common(a, b) / (sum(a.values()) + sum(b.values()))
    return total / n_most


def bleu(candidate, reference, longest=4):
    c, r = len(candidate.split()), len(reference.split())
    if min(c, r) == 0:
        return float(c == r)
    product = 1.0
    for n in range(1, longest + 1):
        a, b = grams(candidate, n), grams(reference, n)
        more = 0 if n == 1 else 1
        product *= (common(a, b) + more) / (sum(a.values()) + more)
    return min(1.0, exp(1 - r / c)) * product ** (1 / longest)


def cider(one, other, texts, items, longest=4):
    lengths = [len(text.split()) for text in (one, other)]
    if min(lengths) == 0:
        return float(lengths[0] == lengths[1])
    everyone = sorted(set(items))
    total, n_most = 0.0, min(longest, *lengths)
    for n in range(1, n_most + 1):
        has = {
            item: set().union(*(grams(t, n) for t, i in zip(texts, items) if i == item)) for item in everyone
        }
        weigh = lambda gram: log((len(everyone) + 1) / sum(gram in has[item] for item in everyone))  # noqa: B023, E731
        a, b = ({g: c * weigh(g) for g, c in grams(text, n).items()} for text in (one, other))
        size = sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
        total += sum(v * b.get(g, 0.0) for g, v in a.items()) / size if size else 0.0
    return total / n_most
