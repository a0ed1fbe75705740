"""BlockedIndex: rows in blocks that are searched where they are; the lists are merged by rank."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final
from uuid import uuid4

import numpy as np

from nearline._arrays.blocks import Block, Blocks
from nearline._arrays.design import Array
from nearline.neighbors.index import MEMORY, Index
from nearline.neighbors.lists import Neighbors, Ragged
from nearline.neighbors.metrics import Metric, as_metric
from nearline.neighbors.wanted import as_rows, check_k

LAST = np.iinfo(np.int64).max


@final
class BlockedIndex:
    """As :class:`nearline.Index`, of rows in blocks: the k nearest of all rows, and who ties with the last of them.

    Each block is searched exactly, by its own index, which it keeps. A row that is among the k nearest of all is among
    those of its block, and one that ties with the k-th of all is in its block's list or ties with the last of it; so
    that merging the lists by (distance, number of the row) is exact, whatever the blocks.
    """

    def __init__(self, blocks: Blocks, metric: Any = "l2", *, algorithm: Any = "auto") -> None:
        self.metric: Metric = as_metric(metric)
        if self.metric.given or self.metric.learns:
            why = "is a table of distances" if self.metric.given else "is decided by all rows"
            raise ValueError(
                f"Metric '{self.metric.name}' {why}, and the rows are in blocks: give a metric of two rows, such as 'l2', or "
                "one that has learned already."
            )
        self.blocks, self.n_rows = blocks, blocks.n_rows
        self._task = partial(_search, name=uuid4().hex, metric=self.metric, algorithm=algorithm)

    def search(self, queries: Any, k: int, *, groups: Any = None, ties: bool = True) -> Neighbors:
        """The k nearest rows of each query. ``groups`` are for rows at hand."""
        return Neighbors.join(
            [found for _, found in self.search_blocks(queries, k, groups=groups, ties=ties)], k
        )

    def search_blocks(
        self, queries: Any, k: int, *, groups: Any = None, ties: bool = True
    ) -> Iterator[tuple[slice, Neighbors]]:
        """The same, some queries at a time."""
        if groups is not None:
            raise ValueError(
                "Rows in blocks are not searched by groups: give queries that are not among the rows."
            )
        k, Q = check_k(k, self.n_rows), as_rows(queries, "queries")
        if Q.shape[1] != self.blocks.n_features:
            raise ValueError(
                f"The rows of the index have {self.blocks.n_features} features, but the queries {Q.shape[1]}."
            )
        size = max(256, MEMORY // (64 * k + 8 * Q.shape[1]))
        for begin in range(0, Q.shape[0], size):
            part = slice(begin, min(begin + size, Q.shape[0]))
            yield part, self.blocks.total(partial(self._task, Q=Q[part], k=k, ties=ties), merged)


def _search(
    block: Block, *, name: str, metric: Metric, algorithm: Any, Q: Any, k: int, ties: bool
) -> Neighbors:
    """The nearest rows of a block, with their numbers among all rows; short lists end with -1 at distance inf."""
    index: Index = block.tools.get(name, lambda: Index(block.X, metric, algorithm=algorithm))
    own = min(k, block.n_rows)
    found = index.search(Q, own, ties=ties)
    distances, indices = np.full((len(found), k), np.inf), np.full((len(found), k), -1, dtype=np.int64)
    distances[:, :own], indices[:, :own] = found.distances, found.indices + block.first
    return Neighbors(distances, indices, Ragged(found.boundary.starts, found.boundary.values + block.first))


def merged(a: Neighbors, b: Neighbors) -> Neighbors:
    """The k nearest of two sets of rows, in order of (distance, number), and who ties with the last one."""
    k = a.k
    distances = np.concatenate([a.distances, b.distances], axis=1)
    indices = np.concatenate([a.indices, b.indices], axis=1)
    order = np.lexsort((np.where(indices < 0, LAST, indices), distances), axis=1)
    distances, indices = (
        np.take_along_axis(distances, order, axis=1),
        np.take_along_axis(indices, order, axis=1),
    )
    last = distances[:, k - 1]
    beyond = (distances[:, k:] == last[:, None]) & (indices[:, k:] >= 0)
    rows, values = [np.nonzero(beyond)[0]], [indices[:, k:][beyond]]
    for part in (a, b):
        tied = (part.distances[:, -1] == last) & (part.indices[:, -1] >= 0)
        ties = part.boundary.take(np.flatnonzero(tied))
        rows.append(np.flatnonzero(tied)[ties.rows])
        values.append(ties.values)
    return Neighbors(
        distances[:, :k], indices[:, :k], _lists(np.concatenate(rows), np.concatenate(values), len(a))
    )


def _lists(rows: Array, values: Array, m: int) -> Ragged:
    """Values as the lists of their rows, each in order."""
    order = np.lexsort((values, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=m))])
    return Ragged(starts, values[order])


@dataclass(frozen=True)
class Weighed:
    """A block without the rows of weight 0, its first row numbered among those of positive weight."""

    starts: dict[int, int]

    def __call__(self, block: Block) -> Block:
        used = np.flatnonzero(block.weights > 0)
        return Block(block.X[used], block.targets[used], block.weights[used], self.starts[block.first])
