"""Ballots: who votes and with how much of a vote, where several rows tie at the k-th distance."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.habits import named
from nearline.neighbors.lists import Neighbors
from nearline.neighbors.metric import Metric
from nearline.neighbors.weights import VoteWeights

ROUNDING = 1e-12  # sums of weights that differ by less, relatively, are the same


@dataclass(frozen=True)
class Boundary(ABC):
    """What rows at the k-th distance get where more of them are there than fit.

    ``portions`` are in units that keep counts of votes whole numbers, so that equal votes are equal to the last bit.
    """

    name: ClassVar[str]
    first_in_list: ClassVar[bool] = False  # whether the list is filled in order of index. Not inherited

    @property
    def in_order(self) -> bool:
        """Whether exactly the rows of the list vote, whoever ties with the last one."""
        return bool(vars(type(self)).get("first_in_list", False))

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
    first_in_list: ClassVar[bool] = True

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
        size, extra = len(self) * n_classes, self.neighbors.boundary
        firsts = np.arange(0, size, n_classes)
        cells, votes = (firsts[:, None] + codes[self.neighbors.indices]).ravel(), self.votes.ravel()
        if len(extra.values):
            # One sum in the order of distance: who of the tied rows is in the list must not change its rounding.
            beyond = np.repeat(firsts, extra.counts)
            beyond += codes[extra.values]
            cells, votes = np.concatenate([cells, beyond]), np.concatenate([votes, self.beyond_votes])
        return np.bincount(cells, votes, minlength=size).reshape(len(self), n_classes)

    def mean(self, targets: Array) -> Array:
        """(m, outputs): the mean of the voters' targets (n, outputs), by their votes."""
        queries, rows, _, votes = self.entries()
        total = np.bincount(queries, votes, minlength=len(self))
        with np.errstate(over="ignore"):
            sums = [np.bincount(queries, votes * column[rows], minlength=len(self)) for column in targets.T]
        means = np.column_stack(sums) / total[:, None]
        if not np.isfinite(means).all():  # the sums overflowed: the means do not
            shares = votes / total[queries]
            parts = [np.bincount(queries, shares * column[rows], minlength=len(self)) for column in targets.T]
            means = np.where(np.isfinite(means), means, np.column_stack(parts))
        return means


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
    if multiplicities is not None and weights.by_place:
        values = _by_place(neighbors, k, weights, boundary, metric, multiplicities)
    else:
        values = weights.values(neighbors.distances, metric)
    if np.isnan(values[portions > 0]).any():
        raise ValueError(
            "The weights function gave NaN for a neighbor at an infinite distance: divide X by its largest value."
        )
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


def _by_place(
    found: Neighbors, k: int, weights: VoteWeights, boundary: Boundary, metric: Metric, s: Array
) -> Array:
    """Votes (m, K) of rows whose multiplicities fill several of the k places, or a part of one.

    The weights see the distances of the k places, as if rows were there as often as they count, and the vote of a row is
    the mean over the places that it fills; beyond the k-th they have the vote of the last one.
    """
    S = np.where(found.indices >= 0, s[found.indices], 0.0)
    end = np.cumsum(S, axis=1)
    begin = end - S
    rank = np.stack([(end <= place + ROUNDING * k).sum(axis=1) for place in range(k)], axis=1)
    rank = np.minimum(rank, found.k - 1)
    values = weights.values(np.take_along_axis(found.distances, rank, axis=1), metric)
    totals = np.concatenate([np.zeros((len(found), 1)), np.cumsum(values, axis=1)], axis=1)
    last = values[:, -1:]

    def total(until: Array) -> Array:
        """Of the votes of all places before this one, which may be a part of a place."""
        whole = np.minimum(np.floor(until + ROUNDING * k), k).astype(np.int64)
        rest = np.maximum(until - whole, 0.0)
        own = np.where(whole < k, np.take_along_axis(values, np.minimum(whole, k - 1), axis=1), last)
        return np.take_along_axis(totals, whole, axis=1) + rest * own

    stop = np.clip(end, 0.0, np.maximum(k, begin)) if boundary.in_order else end
    filled = stop - begin
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (total(stop) - total(begin)) / filled
    return np.where(filled > 0, mean, last)


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
    return named(boundary, BOUNDARIES, Boundary, "boundary")
