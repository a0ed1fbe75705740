"""Scores as sums of terms: of features, of training rows, of two-class problems."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array, Design, is_sparse
from nearline._records.explanation import Contributions, Terms
from nearline.scores import KernelScore

TOGETHER = 64  # rows whose kernel values are computed together


def contributions(
    codes: Array, scores: Array, classes: Array, *, of: str, bias: Array, terms: Terms
) -> Contributions:
    """Of rows with these labels (numbers of classes) and scores (m, C); the bias is (C,) or (m, C)."""
    full = np.broadcast_to(bias, (len(codes), len(classes)))
    return Contributions(classes[codes], classes[runners_up(codes, scores)], classes, of, full, terms)


def runners_up(codes: Array, scores: Array) -> Array:
    """The class of the largest score (m, C) but for the own class."""
    rest = scores.astype(np.float64)
    rest[np.arange(len(codes)), codes] = -np.inf
    second = rest.argmax(axis=1) if len(codes) else codes
    # Where no other class can win, the first of them is as good a runner-up as any.
    return np.where(second == codes, (codes == 0).astype(second.dtype), second)


def by_class(F: Array) -> Array:
    """Scores (m, C) of scores that for two classes are one: half for the second, half against the first."""
    return np.hstack([-0.5 * F, 0.5 * F]) if F.shape[1] == 1 else F


@dataclass(frozen=True)
class OfFeatures:
    """Terms of features: of those that a sparse row has, or of all."""

    X: Design
    term: Callable[[Array, Array], Array]  # (values (q,), their features (q,)) -> (C, q)
    zeros: bool = False  # whether features that are 0 add something

    def __getitem__(self, i: int) -> tuple[Array, Array]:
        row: Any = self.X[[i]]
        if is_sparse(row) and not self.zeros:
            numbers, values = row.indices, row.data
        else:
            values = (row.toarray() if is_sparse(row) else row)[0]
            numbers = np.arange(len(values))
        return numbers, self.term(values.astype(np.float64), numbers)


def linear(W: Array) -> Callable[[Array, Array], Array]:
    """w_cj x_j less its mean over the classes, W (P, D)."""
    W = W.astype(np.float64)
    W = np.vstack([-0.5 * W, 0.5 * W]) if len(W) == 1 else W - W.mean(axis=0)
    return lambda values, numbers: W[:, numbers] * values


def log_densities(mean: Array, variance: Array) -> Callable[[Array, Array], Array]:
    """log N(x_j; mean_cj, variance_cj) less its mean over the classes."""

    def term(values: Array, numbers: Array) -> Array:
        v = variance[:, numbers]
        logs = -0.5 * (np.log(2 * np.pi * v) + (values - mean[:, numbers]) ** 2 / v)
        return np.asarray(logs - logs.mean(axis=0))

    return term


def absolute(centers: Array) -> Callable[[Array, Array], Array]:
    """-|x_j - center_cj| less its mean over the classes."""

    def term(values: Array, numbers: Array) -> Array:
        near = -np.abs(values - centers[:, numbers])
        return np.asarray(near - near.mean(axis=0))

    return term


@dataclass(frozen=True)
class OfProblems:
    """Terms of two-class problems: each adds its score, or vote, to the classes that it is about."""

    values: Array  # (m, P)
    signs: Array  # (C, P): what one of a problem's is worth to a class

    def __getitem__(self, i: int) -> tuple[Array, Array]:
        return np.arange(self.values.shape[1]), self.signs * self.values[i]


class OfTrainingRows:
    """Terms A_jp k(x_j, x) of the training rows of an expansion; ``worth(i)`` (C, P) is what a problem is to a class."""

    def __init__(self, expansion: KernelScore, items: Any, worth: Callable[[int], Array]) -> None:
        self.expansion, self.items, self.worth = expansion, items, worth
        self._first, self._block = 0, np.empty((0, len(expansion.rows)))

    def __getitem__(self, i: int) -> tuple[Array, Array]:
        if not self._first <= i < self._first + len(self._block):
            self._first = i - i % TOGETHER
            part = self.items[self._first : self._first + TOGETHER]
            parts = [K for _, K in self.expansion.values(part)]
            self._block = np.concatenate(parts).astype(np.float64)
        k = self._block[i - self._first]
        return self.expansion.rows, self.worth(i) @ (self.expansion.A * k[:, None]).T


def expanded(
    expansion: KernelScore,
    items: Any,
    scores: Array,
    labels: Array,
    classes: Array,
    pairs: Array | None = None,
) -> Contributions:
    """Contributions of an expansion whose columns are the classes, or pairs of them: then the pair of label and runner-up."""
    codes = np.searchsorted(classes, labels)
    n_classes, P = len(classes), expansion.A.shape[1]
    others = runners_up(codes, scores)

    def worth(i: int) -> Array:
        if P == 1:
            return np.array([[-0.5], [0.5]])
        if pairs is None:
            return np.eye(n_classes)
        signs = np.zeros((n_classes, P))
        problem = int(
            np.flatnonzero((np.sort(pairs, axis=1) == sorted((codes[i], others[i]))).all(axis=1))[0]
        )
        signs[pairs[problem], problem] = -0.5, 0.5
        return signs

    bias = np.array([worth(i) @ expansion.b for i in range(len(codes))]).reshape(len(codes), n_classes)
    terms = OfTrainingRows(expansion, items, worth)
    return contributions(codes, scores, classes, of="training rows", bias=bias, terms=terms)
