"""Hard-negative mining: each exemplar is solved against the negatives that matter, until no other one does.

A negative outside of an exemplar's cache has no loss, and so no influence, if its score is at most -1. All exemplars are
scored against all negatives by one product of matrices a round; those above -1 + VIOLATION that are not in the cache are
violators, the hardest of them join it. An exemplar is done when it has none: its minimum is then that against all negatives.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtri

from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices
from nearline.solvers.exemplars._one import Minimum, minimum

VIOLATION = (
    1e-5  # of the margin: the squares of these, which are left out, are below any rounding of the risk
)
FIRST = 128  # negatives, about, that an exemplar begins with
ALL = 512  # negatives that are all taken at once
ROOM = 256  # violators at least that may join in a round; else as many as the cache has
TILE = 4096  # rows of a product
TOGETHER = 16  # exemplars of a task
MOST_ROUNDS = 200


@dataclass(frozen=True)
class Exemplars:
    """One score function w_e.x + b_e for each exemplar, and how good each is."""

    W: Array  # (E, D)
    b: Array  # (E,)
    risks: Array  # (E,) P at the delivered w, b against all negatives
    gaps: Array  # (E,) P - D, certified
    supports: list[Array]  # rows of negatives that hold each boundary
    rounds: int


@dataclass(frozen=True)
class Problem:
    """What each exemplar is to be told from: rows of other classes and, where folds are given, of other folds."""

    X: Array  # (n, D)
    codes: Array  # (n,)
    folds: Array  # (n,)
    rows: Array  # (E,) the exemplars
    own_folds: Array  # (E,) rows of this fold are no negatives of it; -1: there are no such rows

    def allowed(self, part: slice, exemplars: Array) -> Array:
        """(rows of the part, exemplars): who is a negative of whom."""
        others = self.codes[part, None] != self.codes[self.rows[exemplars]]
        return np.asarray(others & (self.folds[part, None] != self.own_folds[exemplars]))

    def counts(self) -> Array:
        """(E,) negatives of each exemplar."""
        n_classes, n_folds = int(self.codes.max()) + 1, int(self.folds.max(initial=0)) + 1
        there = np.zeros((n_classes, n_folds + 1), dtype=np.int64)
        np.add.at(there, (self.codes, self.folds), 1)
        same_class, same_fold = there.sum(axis=1), there.sum(axis=0)
        own = self.codes[self.rows]
        both = there[own, self.own_folds]  # the last column, of fold -1, is empty
        return np.asarray(len(self.X) - same_class[own] - same_fold[self.own_folds] + both)


@dataclass(frozen=True)
class Above:
    """Pairs of a row and an exemplar whose score is above a bound."""

    rows: Array
    exemplars: Array  # places among those that were scored
    scores: Array

    def of(self, n: int) -> list[tuple[Array, Array]]:
        """(rows, scores) of each of n exemplars."""
        order = np.argsort(self.exemplars, kind="stable")
        ends = np.cumsum(np.bincount(self.exemplars, minlength=n))[:-1]
        return list(zip(np.split(self.rows[order], ends), np.split(self.scores[order], ends)))


def fit_exemplars(
    X: Array,
    codes: Array,
    folds: Array,
    rows: Array,
    own_folds: Array,
    alpha: float | str,
    positive_weight: float,
) -> Exemplars:
    """Solve all exemplars. P has the weight ``positive_weight`` for the exemplar, 1 for each negative, divided by their sum.

    ``alpha``: a number, or "1/n" for one divided by that sum.
    """
    problem = Problem(X, codes, folds, rows, own_folds)
    miner = _Miner(problem, alpha, positive_weight)
    miner.begin()
    waiting, rounds = np.arange(len(rows)), 0
    while len(waiting) and rounds < MOST_ROUNDS:
        miner.solve(waiting)
        waiting, rounds = miner.mine(waiting), rounds + 1
    return miner.found(rounds)


class _Miner:
    def __init__(self, problem: Problem, alpha: float | str, positive_weight: float) -> None:
        self.problem, self.positive = problem, positive_weight
        E = len(problem.rows)
        self.totals = problem.counts() + positive_weight
        self.alphas = 1.0 / self.totals if isinstance(alpha, str) else np.full(E, float(alpha))
        self.center = problem.X.mean(axis=0, dtype=np.float64)
        self.caches: list[Array] = [np.empty(0, dtype=np.int64)] * E
        self.minima: list[Minimum | None] = [None] * E
        self.W = np.zeros((E, problem.X.shape[1]), dtype=problem.X.dtype)
        self.b = np.zeros(E, dtype=problem.X.dtype)
        self.outside = np.zeros(E)  # squared slack of rows that are not in the caches

    def begin(self) -> None:
        """All negatives where they are few; else those that stand out along the discriminant of exemplar and mean.

        w = (covariance of all rows)^-1 (exemplar - mean), one factorization for all exemplars, is the answer if all
        negatives had a loss, so that the rows far out along it are hard.
        """
        problem, E = self.problem, len(self.problem.rows)
        if len(problem.X) <= ALL:
            everyone = problem.allowed(slice(None), np.arange(E))
            self.caches = [np.flatnonzero(everyone[:, e]) for e in range(E)]
            return
        covariance = _covariance(problem.X, self.center)
        covariance[np.diag_indices_from(covariance)] += 1e-3 * np.trace(covariance) / len(covariance) + 1e-300
        directions = cho_solve(cho_factor(covariance), (problem.X[problem.rows] - self.center).T).T
        spread = np.sqrt(np.maximum(np.einsum("ej,ej->e", directions @ covariance, directions), 1e-300))
        W = (directions / spread[:, None]).astype(problem.X.dtype)
        b = -(W.astype(np.float64) @ self.center) + ndtri(FIRST / len(problem.X))
        for e, (rows, scores) in enumerate(self._above(W, b.astype(W.dtype), np.arange(E), 0.0).of(E)):
            self.caches[e] = np.sort(rows[np.argsort(-scores, kind="stable")[:ALL]])

    def solve(self, waiting: Array) -> None:
        """The minimum of each exemplar against its cache."""

        def task(some: Array) -> list[Minimum]:
            return [self._minimum(int(e)) for e in some]

        parts = [waiting[part] for part in slices(len(waiting), TOGETHER)]
        size = sum(len(self.caches[e]) for e in waiting)
        for some, found in zip(parts, map_tiles(task, parts, work=20.0 * size * self.W.shape[1])):
            for e, one in zip(some.tolist(), found, strict=True):
                self.minima[e] = one
                self.W[e], self.b[e] = one.w, one.b - one.w @ self.center

    def _minimum(self, e: int) -> Minimum:
        last = self.minima[e]
        costs = np.ones(1 + len(self.caches[e]))
        costs[0] = self.positive
        start = None if last is None else (last.w, last.b)
        return minimum(self._rows(e), costs / self.totals[e], float(self.alphas[e]), start)

    def _rows(self, e: int) -> Array:
        """The exemplar and the rows of its cache, less the mean of all."""
        numbers = np.concatenate([self.problem.rows[e : e + 1], self.caches[e]])
        return np.asarray(self.problem.X[numbers] - self.center)

    def mine(self, waiting: Array) -> Array:
        """Let violators join the caches; who had any is to be solved again."""
        again = []
        pairs = self._above(self.W[waiting], self.b[waiting], waiting, -1.0).of(len(waiting))
        for e, (rows, scores) in zip(waiting.tolist(), pairs, strict=True):
            strange = ~np.isin(rows, self.caches[e])
            rows, slack = rows[strange], 1.0 + scores[strange].astype(np.float64)
            self.outside[e] = float(slack @ slack)
            violators = slack > VIOLATION
            if violators.any():
                order = np.argsort(-slack[violators], kind="stable")[: max(ROOM, len(self.caches[e]))]
                self.caches[e] = np.sort(np.concatenate([self.caches[e], rows[violators][order]]))
                again.append(e)
        return np.array(again, dtype=np.int64)

    def _above(self, W: Array, b: Array, exemplars: Array, bound: float) -> Above:
        """Negatives with a score above a bound, by products of tiles."""
        problem = self.problem

        def task(part: slice) -> tuple[Array, Array, Array]:
            scores = problem.X[part] @ W.T + b
            rows, places = np.nonzero((scores > bound) & problem.allowed(part, exemplars))
            return rows + part.start, places, scores[rows, places]

        parts = slices(len(problem.X), TILE)
        work = 2.0 * problem.X.size * len(W)
        return Above(*(np.concatenate(part) for part in zip(*map_tiles(task, parts, work=work))))

    def found(self, rounds: int) -> Exemplars:
        """What is delivered, with the gap of exactly these numbers."""
        E = len(self.problem.rows)
        risks, duals, supports = np.empty(E), np.empty(E), []
        for e in range(E):
            Z, one = self._rows(e), self.minima[e]
            assert one is not None
            w = self.W[e].astype(np.float64)
            scores = Z @ w + (float(self.b[e]) + w @ self.center)
            slack = np.maximum(1.0 + np.concatenate([-scores[:1], scores[1:]]), 0.0)
            loss = self.positive * slack[0] ** 2 + slack[1:] @ slack[1:] + self.outside[e]
            risks[e] = 0.5 * self.alphas[e] * float(w @ w) + loss / self.totals[e]
            duals[e] = one.dual
            supports.append(self.caches[e][one.beta[1:] != 0])
        return Exemplars(self.W, self.b, risks, np.maximum(risks - duals, 0.0), supports, rounds)


def _covariance(X: Array, center: Array) -> Array:
    """(D, D), of all rows, by tiles."""

    def task(part: slice) -> Array:
        Z = X[part] - center.astype(X.dtype)
        return (Z.T @ Z).astype(np.float64)

    parts = map_tiles(task, slices(len(X), TILE), work=2.0 * X.size * X.shape[1])
    return np.asarray(sum(parts) / len(X))
