"""Votes of neighbors: counted, ties between classes broken by a stated rule, class order last."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.habits import named
from nearline._records.kept import Numbers, OneOf, OrNone, Whole, kept, require
from nearline.neighbors.ballots import ROUNDING, Ballots, Boundary, as_boundary, ballots
from nearline.neighbors.index import Index
from nearline.neighbors.lists import Neighbors
from nearline.neighbors.metric import Metric
from nearline.neighbors.weights import VoteWeights, as_weights

CELLS = 2**22  # votes counted at a time, so that many classes do not fill the memory


def _of_classes(electorate: "Electorate") -> None:
    weights = electorate.multiplicities
    fits = electorate.codes.max(initial=0) < electorate.n_classes
    fits = fits and (weights is None or weights.sum() < np.inf)
    require(fits, "The votes of neighbors do not fit the classes")


@kept(
    codes=Numbers(("n",), "whole numbers", least=0),
    n_classes=Whole(1),
    multiplicities=OrNone(Numbers(("n",), above=0.0)),
    sizes=OneOf((None,)),
    links=_of_classes,
)
@dataclass(frozen=True)
class Electorate:
    """Who may vote: the class of each row, its weight as a multiplicity, and how large classes are."""

    codes: Array  # (n,) class numbers
    n_classes: int
    multiplicities: Array | None = None  # (n,), None: 1 each
    sizes: Array | None = None  # (C,), or (m, C) where queries have seen different rows


@dataclass(frozen=True)
class Ties(ABC):
    """Which class wins where several have the most votes. What is still equal is decided by class order."""

    name: ClassVar[str]

    @abstractmethod
    def order(self, cast: Ballots, electorate: Electorate, queries: Array) -> Array | None:
        """(m, C): the smallest wins among the classes with most votes. None: vote again with one neighbor less."""


@dataclass(frozen=True)
class Nearest(Ties):
    """The class that has the nearest neighbor."""

    name: ClassVar[str] = "nearest"

    def order(self, cast: Ballots, electorate: Electorate, queries: Array) -> Array | None:
        rows, neighbors, distances, votes = cast.entries()
        nearest = np.full((len(cast), electorate.n_classes), np.inf)
        real = votes > 0
        np.minimum.at(nearest, (rows[real], electorate.codes[neighbors[real]]), distances[real])
        return nearest


@dataclass(frozen=True)
class TotalDistance(Ties):
    """The class whose voters have the smallest total distance."""

    name: ClassVar[str] = "distance"

    def order(self, cast: Ballots, electorate: Electorate, queries: Array) -> Array | None:
        rows, neighbors, distances, portions = cast.entries(weighted=False)
        C = electorate.n_classes
        real = portions > 0
        cells = rows[real] * C + electorate.codes[neighbors[real]]
        sums = np.bincount(cells, portions[real] * distances[real], minlength=len(cast) * C)
        return sums.reshape(len(cast), C)


@dataclass(frozen=True)
class Prior(Ties):
    """The class with the most training rows."""

    name: ClassVar[str] = "prior"

    def order(self, cast: Ballots, electorate: Electorate, queries: Array) -> Array | None:
        sizes = electorate.sizes
        if sizes is None:
            sizes = np.bincount(electorate.codes, electorate.multiplicities, minlength=electorate.n_classes)
        return -(sizes[queries] if sizes.ndim == 2 else np.tile(sizes, (len(cast), 1)))


@dataclass(frozen=True)
class ReduceK(Ties):
    """The decision for k - 1 neighbors, and so on."""

    name: ClassVar[str] = "reduce-k"

    def order(self, cast: Ballots, electorate: Electorate, queries: Array) -> Array | None:
        return None


@dataclass(frozen=True)
class ClassOrder(Ties):
    """The class that comes first, as in scikit-learn."""

    name: ClassVar[str] = "order"

    def order(self, cast: Ballots, electorate: Electorate, queries: Array) -> Array | None:
        return np.zeros((len(cast), electorate.n_classes))


TIES: dict[str, Ties] = {
    rule.name: rule for rule in (Nearest(), TotalDistance(), Prior(), ReduceK(), ClassOrder())
}


@dataclass(frozen=True)
class Decision:
    """What a vote ends with."""

    winners: Array  # (m,) class numbers
    shares: Array  # (m, C) shares of the vote, each row's sum is 1
    boundary_ties: Array  # (m,) whether more rows were at the k-th distance than fit
    vote_ties: Array  # (m,) whether several classes had the most votes

    @classmethod
    def joined(cls, parts: "list[tuple[Any, Decision]]", m: int) -> "Decision":
        """Decisions for some queries at a time, put back in their order."""
        names = ("winners", "shares", "boundary_ties", "vote_ties")
        arrays = []
        for name in names:
            whole: Array | None = None
            for rows, part in parts:
                values = getattr(part, name)
                whole = np.empty((m, *values.shape[1:]), values.dtype) if whole is None else whole
                whole[rows] = values
            arrays.append(whole)
        return cls(*arrays)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Vote:
    """How k neighbors decide: vote weights, the rule for ties at the k-th distance, the rule for ties of votes."""

    k: int
    weights: VoteWeights
    boundary: Boundary
    ties: Ties
    metric: Metric

    @classmethod
    def of(cls, k: int, weights: Any, boundary: Any, ties: Any, metric: Metric) -> "Vote":
        """From the names that users give."""
        return cls(k, as_weights(weights), as_boundary(boundary), as_ties(ties), metric)

    def cast(self, neighbors: Neighbors, multiplicities: Array | None = None) -> Ballots:
        """The votes; the lists may be longer than k."""
        if multiplicities is None and neighbors.k > self.k:
            neighbors = neighbors.first(self.k)
        return ballots(neighbors, self.k, self.weights, self.boundary, self.metric, multiplicities)

    def decide(self, neighbors: Neighbors, electorate: Electorate, queries: Array | None = None) -> Decision:
        """Winners of the votes. ``queries``: their numbers, where class sizes differ between them."""
        queries = np.arange(len(neighbors)) if queries is None else queries
        size = max(1, CELLS // electorate.n_classes)
        if len(neighbors) > size:
            parts = [np.arange(a, min(a + size, len(neighbors))) for a in range(0, len(neighbors), size)]
            return Decision.joined(
                [(rows, self.decide(neighbors.take(rows), electorate, queries[rows])) for rows in parts],
                len(neighbors),
            )
        cast = self.cast(neighbors, electorate.multiplicities)
        votes = cast.count(electorate.codes, electorate.n_classes)
        winners = votes.argmax(axis=1)
        most = np.take_along_axis(votes, winners[:, None], axis=1)
        leading = votes >= most * (1.0 - ROUNDING)
        tied = np.count_nonzero(leading, axis=1) > 1
        rows = np.flatnonzero(tied)
        if len(rows):
            winners[rows] = self._break(neighbors.take(rows), electorate, queries[rows], leading[rows])
        return Decision(winners, votes / votes.sum(axis=1, keepdims=True), cast.tied, tied)

    def _break(self, neighbors: Neighbors, electorate: Electorate, queries: Array, leading: Array) -> Array:
        order = self.ties.order(self.cast(neighbors, electorate.multiplicities), electorate, queries)
        if order is None:
            if self.k == 1:
                return leading.argmax(axis=1)
            return replace(self, k=self.k - 1).decide(neighbors, electorate, queries).winners
        order = np.where(leading, order, np.nan)
        best = np.nanmin(order, axis=1, keepdims=True)
        slack = ROUNDING * np.where(np.isfinite(best), np.abs(best), 0.0)
        return np.asarray((order <= best + slack).argmax(axis=1))


def voters(
    index: Index, queries: Any, vote: Vote, multiplicities: Array | None = None
) -> Iterator[tuple[Array, Neighbors]]:
    """(numbers of queries, their lists) with lists long enough to fill k places, some queries at a time."""
    m, k, ties = queries.shape[0], vote.k, not vote.boundary.in_order
    if multiplicities is None:
        for part, found in index.search_blocks(queries, k, ties=ties):
            yield np.arange(part.start, part.stop), found
        return
    total = float(multiplicities.sum())
    if k > total * (1.0 + ROUNDING):
        raise ValueError(
            f"k = {k} neighbors were asked for, but the sample weights of all rows add up to {total:g}: take a smaller k, "
            "or larger weights (they count how often a row is there)."
        )
    # Some more than it takes at the mean weight; heavy rows fill k earlier, but k ranks are cheap.
    likely = max(k, math.ceil(1.3 * k * len(multiplicities) / total))
    width, waiting = min(likely, index.n_rows), np.arange(m)
    while len(waiting):
        short = []
        for part, found in index.search_blocks(queries[waiting], width, ties=ties):
            filled = np.where(found.indices >= 0, multiplicities[found.indices], 0.0).sum(axis=1)
            enough = (filled >= k * (1.0 - ROUNDING)) | (width == index.n_rows)
            numbers = waiting[part]
            yield numbers[enough], found if enough.all() else found.take(np.flatnonzero(enough))
            short.append(numbers[~enough])
        waiting, width = np.concatenate(short), min(2 * width, index.n_rows)


def as_ties(ties: Any) -> Ties:
    """A rule for ties of votes by name."""
    return named(ties, TIES, Ties, "ties")
