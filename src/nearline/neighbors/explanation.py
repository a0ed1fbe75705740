"""Votes: the neighbors behind each prediction."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.explanation import Explanation
from nearline.neighbors.ballots import Ballots
from nearline.neighbors.lists import Ragged


@dataclass(frozen=True)
class Votes(Explanation):
    """Who voted for each prediction. ``indices[i]``, ``distances[i]``, ``votes[i]``, ``labels[i]`` are those of query i.

    Rows that tie at the k-th distance are among them, with the portion of a vote that the boundary rule gives them. Votes
    of weights other than uniform are relative to the nearest neighbor's, which is 1.
    """

    indices: Ragged  # rows of the training data, by distance
    distances: Ragged
    votes: Ragged
    labels: Ragged  # what the neighbors vote for
    boundary_ties: Array  # (m,) whether more rows were at the k-th distance than fit
    vote_ties: Array  # (m,) whether several classes had the most votes (of a regression: never)

    @property
    def boundary_tie_share(self) -> float:
        """Share of the decisions with a tie at the k-th distance."""
        return float(np.mean(self.boundary_ties))

    @property
    def vote_tie_share(self) -> float:
        """Share of the decisions with a tie between classes."""
        return float(np.mean(self.vote_ties))

    def rows(self, i: int) -> list[dict[str, Any]]:
        """The voters of query i as a table: index, label, distance, vote."""
        columns = (self.indices[i], self.labels[i], self.distances[i], self.votes[i])
        return [
            dict(zip(("index", "label", "distance", "vote"), row))
            for row in zip(*(column.tolist() for column in columns))
        ]


@dataclass(frozen=True)
class Voters:
    """Flat lists of voters of some queries: query, row, distance, vote."""

    queries: Array
    rows: Array
    distances: Array
    votes: Array

    @classmethod
    def of(cls, cast: Ballots, numbers: Array) -> "Voters":
        """Those who have a vote. ``numbers``: of the queries."""
        queries, rows, distances, votes = cast.entries()
        real = votes > 0
        queries = queries[real]
        return cls(numbers[queries], rows[real], distances[real], votes[real] / cast.unit[queries])

    @classmethod
    def joined(cls, parts: "list[Voters]") -> "Voters":
        """In the order of queries, each one's by (distance, row)."""
        flat = [
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("queries", "rows", "distances", "votes")
        ]
        order = np.lexsort((flat[1], flat[2], flat[0]))
        return cls(*(array[order] for array in flat))

    def lists(self, m: int) -> Any:
        """A function that makes lists, one for each of m queries, of values that the voters have."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.queries, minlength=m))])
        return lambda values: Ragged(starts, values)
