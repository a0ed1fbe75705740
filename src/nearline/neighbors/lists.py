"""Neighbors: what a search gives. Lists ordered by (distance, index), and who ties with the last of each."""

from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array

ALL_TIES = 2**62  # as the most ties that are kept of a list


@dataclass(frozen=True)
class Ragged:
    """Lists of different lengths, one after the other: list i is values[starts[i]:starts[i + 1]]."""

    starts: Array  # (m + 1,)
    values: Array

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> Array:
        m = len(self)
        if not -m <= i < m:
            raise IndexError(f"list {i} was asked for, but there are {m} lists.")
        i = i % m  # from the end, if negative
        return np.asarray(self.values[self.starts[i] : self.starts[i + 1]])

    @property
    def counts(self) -> Array:
        """(m,) lengths of the lists."""
        return np.diff(self.starts)

    @property
    def rows(self) -> Array:
        """The number of the list that each value is in."""
        return np.repeat(np.arange(len(self)), self.counts)

    def take(self, rows: Array) -> "Ragged":
        """Some of the lists."""
        counts = self.counts[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        shift = np.repeat(self.starts[:-1][rows] - starts[:-1], counts)
        return Ragged(starts, self.values[np.arange(starts[-1]) + shift])


@dataclass(frozen=True)
class Neighbors:
    """Lists of neighbors ordered by (distance, index), and who ties with the last one of each list.

    Where a query has fewer than k neighbors (others are of its own group) the list ends with index -1 at distance inf.
    """

    distances: Array  # (m, k) float64
    indices: Array  # (m, k) int64
    boundary: Ragged  # rows beyond the list that are as far as its last one

    def __len__(self) -> int:
        return len(self.distances)

    @property
    def k(self) -> int:
        return int(self.distances.shape[1])

    def first(self, k: int) -> "Neighbors":
        """The lists for a smaller k; who ties at rank k is found among the ranks that follow, and beyond the list."""
        if k == self.k:
            return self
        last = self.distances[:, k - 1]
        follow = self.distances[:, k:] == last[:, None]
        follow &= self.indices[:, k:] >= 0
        whole = (self.distances[:, -1] == last) & (self.indices[:, -1] >= 0)
        inside, outside = follow.sum(axis=1), self.boundary.counts * whole
        starts = np.concatenate([[0], np.cumsum(inside + outside)])
        values = np.empty(int(starts[-1]), dtype=np.int64)
        if len(values):
            # Of each list first the ranks that follow, then those beyond it, both in the order of their index.
            before = np.cumsum(inside) - inside
            values[np.arange(inside.sum()) + np.repeat(starts[:-1] - before, inside)] = self.indices[:, k:][
                follow
            ]
            beyond = self.boundary.take(np.flatnonzero(outside))
            first = (starts[:-1] + inside)[outside > 0] - beyond.starts[:-1]
            values[np.arange(len(beyond.values)) + np.repeat(first, beyond.counts)] = beyond.values
        return Neighbors(self.distances[:, :k], self.indices[:, :k], Ragged(starts, values))

    @classmethod
    def join(cls, parts: "list[Neighbors]", k: int) -> "Neighbors":
        """The lists of several searches, one after the other."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(
                np.empty((0, k)),
                np.empty((0, k), np.int64),
                Ragged(np.zeros(1, np.int64), np.empty(0, np.int64)),
            )
        counts = np.concatenate([part.boundary.counts for part in parts])
        ties = Ragged(
            np.concatenate([[0], np.cumsum(counts)]), np.concatenate([part.boundary.values for part in parts])
        )
        return cls(
            np.concatenate([part.distances for part in parts]),
            np.concatenate([part.indices for part in parts]),
            ties,
        )

    def part(self, rows: slice) -> "Neighbors":
        """Some lists that follow each other, without a copy."""
        starts = self.boundary.starts[rows.start : rows.stop + 1]
        ties = Ragged(starts - starts[0], self.boundary.values[starts[0] : starts[-1]])
        return Neighbors(self.distances[rows], self.indices[rows], ties)

    def take(self, rows: Array) -> "Neighbors":
        """The lists of some queries."""
        return Neighbors(self.distances[rows], self.indices[rows], self.boundary.take(rows))


@dataclass(frozen=True)
class Found:
    """Lists of any length, as the core gives them."""

    counts: Array  # (m,)
    distances: Array  # all lists, one after the other
    indices: Array
    ties: Ragged

    @classmethod
    def join(cls, parts: "list[Found]") -> "Found":
        """The lists of the parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        counts, distances, indices = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("counts", "distances", "indices")
        )
        starts = np.concatenate([[0], np.cumsum(np.concatenate([part.ties.counts for part in parts]))])
        return cls(
            counts, distances, indices, Ragged(starts, np.concatenate([part.ties.values for part in parts]))
        )

    def take(self, rows: Array) -> "Found":
        """The lists of some queries."""
        starts = np.concatenate([[0], np.cumsum(self.counts)])
        distances, indices = (
            Ragged(starts, part).take(rows).values for part in (self.distances, self.indices)
        )
        return Found(self.counts[rows], distances, indices, self.ties.take(rows))

    def lists(self, k: int) -> Neighbors:
        """As tables of k columns."""
        m = len(self.counts)
        if (self.counts == k).all():
            return Neighbors(self.distances.reshape(m, k), self.indices.reshape(m, k), self.ties)
        distances, indices = np.full((m, k), np.inf), np.full((m, k), -1, dtype=np.int64)
        there = np.arange(k) < self.counts[:, None]
        distances[there], indices[there] = self.distances, self.indices
        return Neighbors(distances, indices, self.ties)
