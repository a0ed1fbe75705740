"""Pairs: many classes by one two-class problem for each pair: votes, ties, coupled probabilities."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nearline._arrays.design import Array


@dataclass(frozen=True)
class Pairs:
    """The pairs of classes i < j in order; F (n, pairs) has their scores, >= 0 for j."""

    n_classes: int

    @property
    def numbers(self) -> Array:
        """(pairs, 2)."""
        return np.array(list(combinations(range(self.n_classes), 2)))

    def _of(self, place: int) -> Array:
        """(pairs, C): which class is the first or second of which pair."""
        return np.eye(self.n_classes)[self.numbers[:, place]]

    @property
    def signs(self) -> Array:
        """(C, pairs): 1 where a class is the second of a pair, -1 where it is the first."""
        return (self._of(1) - self._of(0)).T

    def votes(self, F: Array) -> Array:
        """Number of pairs that speak for each class (n, C)."""
        second = (F >= 0).astype(np.float64)
        return np.rint(second @ self._of(1) + (1.0 - second) @ self._of(0)).astype(np.intp)

    def sums(self, F: Array) -> Array:
        """The sum of a class's scores over its pairs (n, C); very large ones are as good as 1e100, and can be added."""
        return np.asarray(np.clip(F, -1e100, 1e100) @ self.signs.T)

    def choose(self, F: Array) -> Array:
        """Class numbers: most votes, ties by sums, then in class order."""
        votes = self.votes(F)
        first = votes == votes.max(axis=1, keepdims=True)
        return np.asarray(np.where(first, self.sums(F), -np.inf).argmax(axis=1))

    def scores(self, F: Array) -> Array:
        """votes + s / (3 (|s| + 1)) with s the sums: the largest wins."""
        sums = self.sums(F)
        return np.asarray(self.votes(F) + sums / (3.0 * (np.abs(sums) + 1.0)))

    def coupled(self, p: Array) -> Array:
        """Class probabilities (n, C) that fit those of the pairs best: p[:, k] = P(j | i or j) for pair k = (i, j).

        The minimum of sum over i != j of (r_ji p_i - r_ij p_j)^2 subject to sum p = 1 solves a linear system of C + 1
        unknowns, one for each row (Wu, Lin and Weng 2004, their second method).
        """
        n, n_classes = len(p), self.n_classes
        r = np.zeros((n, n_classes, n_classes))
        for (i, j), second in zip(self.numbers, p.T, strict=True):
            r[:, j, i], r[:, i, j] = second, 1.0 - second
        system = np.ones((n, n_classes + 1, n_classes + 1))
        system[:, -1, -1] = 0.0
        system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
        diagonal = np.arange(n_classes)
        system[:, diagonal, diagonal] = (r**2).sum(axis=1)
        right = np.zeros((n_classes + 1, 1))
        right[-1] = 1.0
        solution = np.linalg.solve(system, np.broadcast_to(right, (n, n_classes + 1, 1)))[:, :-1, 0]
        return normalized(np.maximum(solution, 0.0))


def normalized(scores: Array) -> Array:
    """Rows divided by their sum; all alike where that is 0."""
    total = scores.sum(axis=1, keepdims=True)
    alike = np.full_like(scores, 1.0 / scores.shape[1])
    return np.divide(scores, total, out=alike, where=total > 0)
