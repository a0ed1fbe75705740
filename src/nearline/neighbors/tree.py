"""Tree: exact search in low dimension on SciPy's k-d tree, with the answers of exact search bit for bit."""

from typing import ClassVar

import numpy as np
from scipy.spatial import cKDTree

from nearline import _core
from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._parallel.tiles import steps
from nearline.neighbors.backend import Backend
from nearline.neighbors.embeddings import Mapped
from nearline.neighbors.exact import Dense
from nearline.neighbors.lists import Found, Ragged
from nearline.neighbors.metrics import METRIC_TYPES, Metric
from nearline.neighbors.wanted import Wanted, measured

BLOCK = 2048  # queries that are looked at together: nobody can stop it meanwhile
MORE = 4  # candidates beyond k to begin with: the next distance must be larger for a list to be complete
LONGER = 4  # times as many where these do not do: ties are mostly many
MOST = 512  # candidates beyond which exact search is faster than a longer list from the tree
TINY, LEAST = 1e-320, -640.0  # least last distance whose logarithm is taken, of its power (1e-278 itself)
MARGIN = 1e-9  # relative; what rounding does to the tree's distances is far less (about 1e-14)


class Tree(Backend):
    """Dense rows in a k-d tree.

    The tree proposes k and a few more candidates, which are measured again in the documented order of summation. A list
    is complete when the k-th distance is less than the tree's last one by more than rounding could do; otherwise (ties,
    rows of the query's own group) more candidates are asked for, and in the end exact search.
    """

    algorithm: ClassVar[str] = "tree"

    def __init__(self, X: Array, metric: Metric, memory: int) -> None:
        if not metric.in_tree:
            served = ", ".join(repr(kind.name) for kind in METRIC_TYPES if kind.in_tree)
            raise ValueError(
                f"There is no tree for metric {metric.name!r}, only for {served}: take "
                "algorithm='exact' or 'auto'."
            )
        if X.shape[1] == 0:
            raise ValueError(
                "A tree needs at least one feature, got rows without any: take algorithm='exact'."
            )
        if metric.maps and not len(metric.map):
            raise ValueError("A Mahalanobis matrix of zeros has no tree: take algorithm='exact'.")
        self.metric, self.memory = metric, memory
        self._X = X
        self._mapped = Mapped(metric.map) if metric.maps else None
        self._mean = X.mean(axis=0, dtype=np.float64) if self._mapped else np.zeros(X.shape[1])
        points, lost = self._points(X)
        self._lost = float(lost.max(initial=0.0))
        self._tree = cKDTree(points, leafsize=16, compact_nodes=True, balanced_tree=False)
        self._p = metric.power

    @once
    def _dense(self) -> Dense:
        """For the few lists that the tree does not complete."""
        return Dense(self._X, self.metric, self.memory)

    def _points(self, A: Array) -> tuple[Array, Array]:
        """Rows as the tree measures them, and how far from their true places they may be."""
        if self._mapped is None:
            return A, np.zeros(len(A))
        A = A.astype(np.float64)
        lost = self._mapped.lost(A, self._mean)
        return self._mapped(A, self._mean)[0], lost

    def find(self, Q: Array, wanted: Wanted) -> Found:
        q = np.ascontiguousarray(Q, dtype=np.float64)
        if not wanted.lists:
            self._dense.expect(len(q))
            return self._dense.find(q, wanted)
        size = max(16, min(BLOCK, int(self.memory // (24 * (wanted.k + MORE) * (q.shape[1] + 4)))))
        parts = [
            self._block(q[b : b + size], wanted.of(slice(b, b + size)))
            for b in steps(range(0, max(len(q), 1), size))
        ]
        return parts[0] if len(parts) == 1 else Found.join(parts)

    def _block(self, q: Array, wanted: Wanted) -> Found:
        k = wanted.k
        lists, open_, c = _Lists.empty(len(q), k), np.arange(len(q)), k + MORE
        while len(open_) and c <= min(max(MOST, 2 * k), len(self._X) - 1):
            distances, indices, last = self._candidates(q[open_], c)
            if wanted.grouped:
                distances[wanted.own[open_, None] == wanted.others[indices]] = np.inf
            distances, indices = _ordered(distances, indices)
            complete = distances[:, k - 1] < last * (1.0 - MARGIN)
            lists.write(open_[complete], distances[complete], indices[complete])
            open_, c = open_[~complete], LONGER * c
        if len(open_):
            self._dense.expect(len(open_))
            left = self._dense.find(q[open_], wanted.of(open_))
            lists.overwrite(open_, left)
        return lists.found()

    def _candidates(self, q: Array, c: int) -> tuple[Array, Array, Array]:
        """(m, c) distances and rows, and (m,) a distance below which no other row is, but for rounding."""
        points, lost = self._points(q)
        found = self._tree.query(points, k=c, p=self._p, workers=_core.thread_limit())
        t, indices = (np.asarray(part).reshape(len(q), c) for part in found)
        last: Array = t[:, -1].copy()
        # Distances overflowed: the tree leaves such rows out. Powers vanished: it cannot tell them apart.
        short = ~np.isfinite(last)
        if 1.0 < self._p < np.inf:
            short |= self._p * np.log(np.maximum(last, TINY)) < LEAST
        indices[short] = 0
        queries = np.repeat(np.arange(len(q)), c)
        distances = measured(self.metric, self._X, q, indices.ravel(), queries).reshape(indices.shape)
        last = np.maximum(last - lost - self._lost, 0.0)
        distances[short], last[short] = np.inf, 0.0
        return distances, indices.astype(np.int64), self.metric.of_power(last)


class _Lists:
    """Complete lists and their ties, written some queries at a time."""

    def __init__(self, distances: Array, indices: Array, counts: Array) -> None:
        self.distances, self.indices, self.counts = distances, indices, counts
        self._owners: list[Array] = []
        self._ties: list[Array] = []

    @classmethod
    def empty(cls, m: int, k: int) -> "_Lists":
        return cls(np.empty((m, k)), np.empty((m, k), dtype=np.int64), np.full(m, k, dtype=np.int64))

    def write(self, at: Array, distances: Array, indices: Array) -> None:
        k = self.distances.shape[1]
        self.distances[at], self.indices[at] = distances[:, :k], indices[:, :k]
        rows, columns = np.nonzero(distances[:, k:] == distances[:, k - 1 : k])
        if len(rows):
            self._owners.append(at[rows])
            self._ties.append(indices[rows, k + columns])

    def overwrite(self, at: Array, found: Found) -> None:
        lists = found.lists(self.distances.shape[1])
        self.distances[at], self.indices[at], self.counts[at] = lists.distances, lists.indices, found.counts
        self._owners.append(np.repeat(at, found.ties.counts))
        self._ties.append(found.ties.values)

    def found(self) -> Found:
        m, k = self.distances.shape
        starts, ties = np.zeros(m + 1, dtype=np.int64), np.empty(0, dtype=np.int64)
        if self._owners:
            owners, ties = np.concatenate(self._owners), np.concatenate(self._ties)
            if len(self._owners) > 1:  # each part is in order
                ties = ties[np.argsort(owners, kind="stable")]
            np.cumsum(np.bincount(owners, minlength=m), out=starts[1:])
        there = slice(None) if (self.counts == k).all() else np.arange(k) < self.counts[:, None]
        return Found(
            self.counts, self.distances[there].ravel(), self.indices[there].ravel(), Ragged(starts, ties)
        )


def _ordered(distances: Array, indices: Array) -> tuple[Array, Array]:
    """By (distance, index); most lists come so from the tree."""
    wrong = np.flatnonzero(~(distances[:, 1:] > distances[:, :-1]).all(axis=1))
    if len(wrong):
        order = np.lexsort((indices[wrong], distances[wrong]), axis=-1)
        distances[wrong] = np.take_along_axis(distances[wrong], order, axis=1)
        indices[wrong] = np.take_along_axis(indices[wrong], order, axis=1)
    return distances, indices
