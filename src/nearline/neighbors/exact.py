"""Exact search of dense rows: packed behind lower bounds, or measured one and all."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._parallel.tiles import slices, steps
from nearline.neighbors.backend import Backend
from nearline.neighbors.bounds import Bounds, Vectors
from nearline.neighbors.choice import choose_bounds, effort
from nearline.neighbors.lists import Found
from nearline.neighbors.metric import Metric
from nearline.neighbors.wanted import NO_FLAGS, NO_ROWS, Wanted, begin, finish, sizes_of

CHUNK = 128  # rows that a box excludes together
BLOCK = 64  # queries that are looked at together
PAIRS = 2e9  # coordinates of pairs that a thread looks at in one call: nobody can stop it meanwhile
LITTLE, ADDED = (
    1e5,
    16,
)  # coordinates of pairs, and how many a pair adds, that are measured before a filter has begun
LARGEST = 1e16  # values that the filter can do with
NEARBY = 8  # places of the tree among which a near row is looked for
LOOKED_AT = 16  # of how many rows at most
LOOKED_AT_NUMBERS = 2**16  # numbers of all these rows: more of them than a first few tell nothing new
CACHED = 2**15  # numbers that are looked at twice while they are in the cache
MOVED = 0.05  # how far rounding may move rows, in distances to a near row: beyond it would exclude too little
TREE_COORDINATES = 32  # among which the tree looks for the one to split by


@dataclass(frozen=True)
class Filter:
    """Bounds of rows of an index, packed for the core: in an order in which neighbors stand together."""

    bounds: Bounds
    norm: _core.Norm
    chunk: int
    panels: Array
    starts: Array
    boxes: Array  # (2, chunks, >= r): least and largest coordinates
    squares: Array
    errors: Array
    more: Array
    more_errors: Array
    order: Array

    @classmethod
    def of(cls, X: Array, bounds: Bounds, first: int = 0) -> "Filter":
        """Rows X are those from number ``first`` on."""
        vectors = bounds.of(X)
        n, r, panel = len(X), bounds.r, _core.panel_rows()
        chunk = CHUNK if r <= 512 else CHUNK // 2
        order = np.empty(n, dtype=np.int64)
        _core.tree_order(vectors.v, min(r, TREE_COORDINATES), chunk, order)
        size, n_chunks = -(-n // panel) * panel, -(-n // chunk)
        boxes = np.empty((2, n_chunks, vectors.v.shape[1]), dtype=np.float32)
        norm = bounds.norm
        if norm == _core.Norm.squares and _core.rounds() and _may_round(vectors, order):
            norm = _core.Norm.rounded
        words = size * _core.panel_words(norm, r)
        panels, starts = (np.empty(length, dtype=np.float32) for length in (words, size))
        squares, errors = (np.empty(n_chunks * times, dtype=np.float32) for times in (1, 2))
        packed = panels, starts, boxes[0], boxes[1], squares, errors
        _core.pack_rows_of_filter(norm, vectors.v, vectors.squares, vectors.errors, order, r, chunk, *packed)
        more, more_errors = vectors.more[order], _rounded_up(vectors.more_errors[order])
        return cls(
            bounds, norm, chunk, panels, starts, boxes, squares, errors, more, more_errors, order + first
        )


@dataclass(frozen=True)
class Probes:
    """What the core needs of some queries, and the order in which to look at them."""

    vectors: Vectors
    blocks: Array
    bases: Array
    scale: float
    relative: float  # rounding that a distance may carry, relative to it

    @classmethod
    def of(cls, Q: Array, bounds: Bounds) -> "Probes":
        """Of queries in float64."""
        bounds = bounds.of_queries()
        vectors = bounds.of(Q)
        blocks = np.empty(len(Q), dtype=np.int64)
        _core.tree_order(vectors.v, min(bounds.r, TREE_COORDINATES), BLOCK, blocks)
        return cls(vectors, blocks, bounds.bases(Q), bounds.scale, (Q.shape[1] + 64.0) * 2.0**-52)

    def lots(self, size: int) -> "list[tuple[Array, Probes]]":
        """Numbers of at most ``size`` queries that stand together, and their probes."""
        numbers = [self.blocks[part] for part in slices(len(self.blocks), size)]
        return [(lot, replace(self, vectors=self.vectors.take(lot), blocks=np.arange(len(lot)), bases=self.bases[lot]))
                for lot in numbers]  # fmt: skip


def scan(
    search: _core.Search, rows: Array, sizes: Array, others: Array, kept: Filter, probes: Probes
) -> None:
    """Look at rows behind their filter."""
    search.scan(
        rows,
        sizes,
        others,
        probes.blocks,
        norm=kept.norm,
        r=kept.bounds.r,
        r2=kept.bounds.r2,
        chunk=kept.chunk,
        panels=kept.panels,
        starts=kept.starts,
        low=kept.boxes[0],
        high=kept.boxes[1],
        squares=kept.squares,
        errors=kept.errors,
        more=kept.more,
        more_errors=kept.more_errors,
        order=kept.order,
        v=probes.vectors.v,
        q_squares=probes.vectors.squares,
        q_errors=probes.vectors.errors,
        q_more=probes.vectors.more,
        q_more_errors=probes.vectors.more_errors,
        bases=probes.bases,
        scale=probes.scale,
        relative=probes.relative,
    )


def _may_round(vectors: Vectors, order: Array) -> bool:
    """Whether rounding to bfloat16 moves rows little against how far neighbors are apart, by what stands near in the tree.

    It decides speed: limits are wider by all that rounding did.
    """
    most = max(2, min(LOOKED_AT, LOOKED_AT_NUMBERS // (NEARBY * max(vectors.v.shape[1], 1))))
    places = np.linspace(0, max(len(order) - NEARBY - 1, 0), min(len(order), most)).astype(np.intp)
    places = np.minimum(places[:, None] + np.arange(NEARBY + 1), len(order) - 1)
    rows = vectors.v[order[places]].astype(np.float64)
    apart = np.square(rows[:, 1:] - rows[:, :1]).sum(axis=2)
    apart[places[:, 1:] == places[:, :1]] = np.inf
    near = float(np.sqrt(np.median(apart.min(axis=1, initial=np.inf))))
    size = float(np.sqrt(np.median(vectors.squares)))
    return size * 2.0**-9 <= MOVED * near


def _rounded_up(values: Array) -> Array:
    """float32, never below the value."""
    single = values.astype(np.float32)
    return np.where(single < values, np.nextafter(single, np.float32(np.inf)), single).astype(np.float32)


@dataclass(frozen=True)
class Plan:
    """How rows are searched: each is measured, or those that a filter leaves, of all rows or of one slab after the other."""

    bounds: Bounds | None = None  # None: every row is measured
    slabs: tuple[slice, ...] = ()
    filter: Filter | None = None  # where it fits: else it is made for each slab

    @classmethod
    def of(cls, X: Array, bounds: Bounds | None, memory: int) -> "Plan":
        if bounds is None:
            return cls()
        width = 4 * (bounds.r + 4 + bounds.r2) * 2
        slabs = tuple(slices(len(X), max(4096, int(memory // width))))
        return cls(bounds, slabs, Filter.of(X, bounds) if len(slabs) == 1 else None)


class Dense(Backend):
    """Dense rows behind a filter, or without one where it would not pay.

    The filter is made when it is known how many queries there are, and made anew, once, when it turns out that they are
    so many that shorter bounds pay. It decides speed, never answers.
    """

    algorithm: ClassVar[str] = "exact"

    def __init__(self, X: Array, metric: Metric, memory: int) -> None:
        self.metric = metric
        self._scale = float(np.linalg.norm(metric.map)) if metric.map.size else 1.0  # of rows in the filter
        self.rows = as_bytes(X, metric)
        self.sizes = sizes_of(metric, self.rows)
        pays = self._within_range(self.rows) and not self._vanishes(self.rows)
        self._X, self._memory, self._pays = X, memory, pays
        self._asked = self._effort = 0
        self.plan = Plan()

    def expect(self, n_queries: int) -> None:
        self._asked += n_queries
        n, D = self._X.shape
        more = effort(n, D, self._asked) if self._pays else 0
        if more > self._effort:
            bounds = choose_bounds(self._X, self.metric, more == 2)
            self.plan, self._effort = Plan.of(self._X, bounds, self._memory), more

    def _within_range(self, X: Array) -> bool:
        """Whether squares of the rows do not overflow the float32 of the filter, nor, for lengths, vanish in float64."""
        if X.dtype == np.uint8 or X.size == 0:
            return True
        if self._scale * _largest(X) >= LARGEST:
            return False
        if not self.metric.least_row:
            return True
        size = np.max(np.abs(X), axis=1)
        return not bool(((size > 0) & (size < self.metric.least_row)).any())

    def _vanishes(self, X: Array) -> bool:
        """Whether the filter could exclude nothing (it would still be right), as all values are too small."""
        if X.dtype == np.uint8 or X.size == 0 or not self.metric.vanishing:
            return False
        return self._scale * _largest(X) < self.metric.vanishing

    @property
    def rebuilds(self) -> bool:
        """Whether each search makes bounds again, as those of all rows do not fit into memory."""
        return len(self.plan.slabs) > 1

    def find(self, Q: Array, wanted: Wanted) -> Found:
        q, plan = np.ascontiguousarray(Q, dtype=np.float64), self.plan
        little = len(q) * len(self.rows) * (q.shape[1] + ADDED) <= LITTLE
        if plan.bounds is None or little or not self._within_range(q):
            parts = slices(len(q), at_a_time(self.rows.shape[0], self.rows.shape[1]))
            return Found.join(
                [self._measured(q[part], wanted.of(part)) for part in steps(parts or [slice(0)])]
            )
        probes = Probes.of(q, plan.bounds)
        if len(q) <= (size := at_a_time(len(self._X), plan.bounds.r + 8)):
            return self._filtered(plan, [q], [wanted], [probes])[0]
        lots = probes.lots(size)
        found = self._filtered(
            plan, [q[lot] for lot, _ in lots], [wanted.of(lot) for lot, _ in lots], [of for _, of in lots]
        )
        return Found.join(found).take(np.argsort(probes.blocks))

    def _measured(self, q: Array, wanted: Wanted) -> Found:
        """One and all."""
        search = begin(self.metric, wanted, q, *self._bytes(q))
        search.scan_all(self.rows, self.sizes, wanted.others)
        return finish(search, len(q))

    def _filtered(
        self, plan: Plan, queries: list[Array], wanted: list[Wanted], probes: list[Probes]
    ) -> list[Found]:
        """Of each lot of queries what the filter leaves over."""
        assert plan.bounds is not None
        searches = [begin(self.metric, w, q, *self._bytes(q)) for q, w in zip(queries, wanted, strict=True)]
        for slab in plan.slabs:
            kept = plan.filter or Filter.of(self._X[slab], plan.bounds, slab.start)
            for search, w, of in steps(list(zip(searches, wanted, probes, strict=True))):
                scan(search, self.rows, self.sizes, w.others, kept, of)
        return [finish(search, len(q)) for search, q in zip(searches, queries, strict=True)]

    def _bytes(self, q: Array) -> tuple[Array, Array]:
        """Queries as bytes where rows are, and which of them can be."""
        if self.rows.dtype != np.uint8:
            return NO_ROWS, NO_FLAGS
        tiles = [_bytes_of(q[tile]) for tile in slices(len(q), 256) or [slice(0)]]
        bytes_, whole = (np.concatenate(part) for part in zip(*tiles, strict=True))
        return bytes_, whole


def at_a_time(n_rows: int, width: int) -> int:
    """How many queries one call of the core is given: so many that it takes a few tenths of a second, or a block a thread."""
    blocks = PAIRS / (BLOCK * max(1, n_rows) * max(1, width))
    return BLOCK * _core.thread_limit() * max(1, int(blocks))


def _largest(X: Array) -> float:
    """The largest magnitude."""
    tiles = slices(len(X), max(1, CACHED // X.shape[1]))
    return max(max(float(X[tile].max()), -float(X[tile].min())) for tile in tiles)


def as_bytes(X: Array, metric: Metric) -> Array:
    """Rows of whole numbers from 0 to 255 as bytes: a fourth to an eighth of the memory, and the same distances."""
    if X.dtype == np.uint8 or not metric.whole or X.size == 0:
        return X
    if not _bytes_of(X[:: max(len(X) // 16, 1)])[1].all():
        return X
    out = np.empty(X.shape, dtype=np.uint8)
    for tile in slices(len(X), 256):
        part, whole = _bytes_of(X[tile])
        if not whole.all():
            return X
        out[tile] = part
    return out


def _bytes_of(Q: Array) -> tuple[Array, Array]:
    """Rows as bytes, and which of them are whole numbers from 0 to 255; the others' bytes mean nothing."""
    with np.errstate(invalid="ignore"):
        out = Q.astype(np.uint8)
    return out, (out == Q).all(axis=1).astype(np.uint8)
