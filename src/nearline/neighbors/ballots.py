"""Ballots: who votes and with how much of a vote, where several rows tie at the k-th distance (SPEC F2)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline.arrays import Array
from nearline.neighbors.lists import Neighbors
from nearline.neighbors.metrics import Metric
from nearline.neighbors.weights import VoteWeights

ROUNDING = 1e-12  # sums of weights that differ by less, relatively, are the same


@dataclass(frozen=True)
class Boundary(ABC):
    """What rows at the k-th distance get where more of them are there than fit.

    ``portions`` are in units that keep counts of votes whole numbers, so that equal votes are equal to the last bit.
    """

    name: ClassVar[str]
    in_order: ClassVar[bool] = False  # whether the list is filled in order of index, whoever ties

    @abstractmethod
    def portions(self, k: int, nearer: Array, tied: Array) -> tuple[Array, Array, Array]:
        """(portion of a strictly nearer row, portion of a tied row, unit), for each query."""


@dataclass(frozen=True)
class Share(Boundary):
    """With m rows strictly nearer and t rows at the k-th distance, each of the t has (k - m) / t of a vote."""

    name: ClassVar[str] = "share"

    def portions(self, k: int, nearer: Array, tied: Array) -> tuple[Array, Array, Array]:
        return tied, k - nearer, tied


@dataclass(frozen=True)
class InList(Boundary):
    """Exactly the k rows of the list vote: among equals those that come first in X."""

    name: ClassVar[str] = "list"
    in_order: ClassVar[bool] = True

    def portions(self, k: int, nearer: Array, tied: Array) -> tuple[Array, Array, Array]:
        one = np.ones(len(nearer))
        return one, np.zeros(len(nearer)), one


@dataclass(frozen=True)
class All(Boundary):
    """All rows at the k-th distance vote."""

    name: ClassVar[str] = "all"

    def portions(self, k: int, nearer: Array, tied: Array) -> tuple[Array, Array, Array]:
        one = np.ones(len(nearer))
        return one, one, one


@dataclass(frozen=True)
class Drop(Boundary):
    """None of them votes, unless nothing is nearer: then all do."""

    name: ClassVar[str] = "drop"

    def portions(self, k: int, nearer: Array, tied: Array) -> tuple[Array, Array, Array]:
        one = np.ones(len(nearer))
        return one, np.where(nearer > 0, 0.0, 1.0), one


BOUNDARIES: dict[str, Boundary] = {rule.name: rule for rule in (Share(), InList(), All(), Drop())}


@dataclass(frozen=True)
class Ballots:
    """The votes of some queries' neighbors, in units of ``unit`` of each query."""

    neighbors: Neighbors
    portions: Array  # (m, K): how much of each row of the list counts
    beyond: Array  # one for each row beyond the lists
    votes: Array  # (m, K): portions times vote weights
    beyond_votes: Array
    unit: Array  # (m,)
    tied: Array  # (m,) whether more rows are at the k-th distance than fit

    def __len__(self) -> int:
        return len(self.votes)

    def entries(self, *, weighted: bool = True) -> tuple[Array, Array, Array, Array]:
        """Query, row, distance and vote (or portion) of every voter; each query's in the order of distance."""
        found, extra = self.neighbors, self.neighbors.boundary
        votes, beyond = (self.votes, self.beyond_votes) if weighted else (self.portions, self.beyond)
        queries = np.repeat(np.arange(len(self)), found.k)
        flat = queries, found.indices.ravel(), found.distances.ravel(), votes.ravel()
        if not len(extra.values):
            return flat
        rows = extra.rows
        more = rows, extra.values, found.distances[rows, -1], beyond
        return tuple(np.concatenate(pair) for pair in zip(flat, more))  # type: ignore[return-value]

    def count(self, codes: Array, n_classes: int) -> Array:
        """(m, C): the votes of each class, in units of ``unit``."""
        queries, rows, _, votes = self.entries()
        cells = queries * n_classes + codes[rows]
        return np.bincount(cells, votes, minlength=len(self) * n_classes).reshape(len(self), n_classes)

    def mean(self, targets: Array) -> Array:
        """(m, outputs): the mean of the voters' targets (n, outputs), by their votes."""
        queries, rows, _, votes = self.entries()
        total = np.bincount(queries, votes, minlength=len(self))
        sums = [np.bincount(queries, votes * column[rows], minlength=len(self)) for column in targets.T]
        return np.column_stack(sums) / total[:, None]


def ballots(
    neighbors: Neighbors,
    k: int,
    weights: VoteWeights,
    boundary: Boundary,
    metric: Metric,
    multiplicities: Array | None = None,
) -> Ballots:
    """Who votes among the nearest rows that fill k; a row fills as many places as its multiplicity says.

    Without multiplicities the lists are to have k ranks; with them, as many as it takes to fill k (all rows, if none do).
    """
    if multiplicities is None:
        portions, beyond, unit, tied = _plain(neighbors, k, boundary)
    else:
        portions, beyond, unit, tied = _weighted(neighbors, k, boundary, multiplicities)
    values = weights.values(neighbors.distances, metric)
    votes = np.where(portions > 0, portions * values, 0.0)
    rows = neighbors.boundary.rows
    beyond_votes = beyond * values[rows, -1]
    silent = np.asarray(~votes.any(axis=1))
    if silent.any():  # far away, where the votes of a function have become 0: all alike
        votes[silent] = portions[silent]
        beyond_votes = np.where(silent[rows], beyond, beyond_votes)
    return Ballots(neighbors, portions, beyond, votes, beyond_votes, unit, tied)


def _plain(found: Neighbors, k: int, boundary: Boundary) -> tuple[Array, Array, Array, Array]:
    counts = found.boundary.counts
    tied = counts > 0
    portions, unit, beyond = (found.indices >= 0).astype(np.float64), np.ones(len(found)), np.empty(0)
    if tied.any():
        at = found.distances[tied] == found.distances[tied, -1:]
        inside = at.sum(axis=1)
        inner, outer, unit[tied] = boundary.portions(k, k - inside, inside + counts[tied])
        beyond = np.repeat(outer, counts[tied]).astype(np.float64)
        if not boundary.in_order:
            portions[tied] = np.where(at, outer[:, None], inner[:, None])
    return portions, beyond, unit, tied


def _weighted(found: Neighbors, k: int, boundary: Boundary, s: Array) -> tuple[Array, Array, Array, Array]:
    D, extra = found.distances, found.boundary
    S = np.where(found.indices >= 0, s[found.indices], 0.0)
    filled = np.cumsum(S, axis=1)
    rank = np.minimum((filled < k * (1.0 - ROUNDING)).sum(axis=1), found.k - 1)
    critical = np.take_along_axis(D, rank[:, None], axis=1)
    inside, at = critical > D, critical == D
    # Rows beyond the list tie with its last one, which counts only if it is at the critical distance.
    more = s[extra.values] * at[extra.rows, -1]
    nearer = (S * inside).sum(axis=1)
    total = (S * at).sum(axis=1) + np.bincount(extra.rows, more, minlength=len(found))
    tied = total > (k - nearer) * (1.0 + ROUNDING)
    inner, outer, unit = np.ones(len(found)), np.ones(len(found)), np.ones(len(found))
    inner[tied], outer[tied], unit[tied] = boundary.portions(k, nearer[tied], total[tied])
    if boundary.in_order:
        return np.clip(k - (filled - S), 0.0, S), 0.0 * more, unit, tied
    return S * (inside * inner[:, None] + at * outer[:, None]), more * outer[extra.rows], unit, tied


def as_boundary(boundary: Any) -> Boundary:
    """A boundary rule by name."""
    if isinstance(boundary, Boundary):
        return boundary
    if isinstance(boundary, str) and boundary in BOUNDARIES:
        return BOUNDARIES[boundary]
    raise ValueError(f"Unknown boundary {boundary!r}: choose among {', '.join(map(repr, BOUNDARIES))}.")
