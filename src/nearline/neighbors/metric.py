"""Metric: how far apart two rows are, and what searches may know of it. Each says so for itself alone."""

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._records.parameters import Parametrized
from nearline.neighbors.bounds import Bounds
from nearline.neighbors.choice import by_principal
from nearline.neighbors.embeddings import Embedding

NO_MAP, NO_ROWS = np.empty((0, 0)), np.empty(0, dtype=np.uint64)


@dataclass(frozen=True)
class Metric(Parametrized, ABC):
    """A distance of two rows. It need not obey the triangle inequality: inner product and squared L2 do not.

    Either the compiled core measures it (``core``), or its own :meth:`distances` does; or distances are given with the
    queries. All else has a default that is right for any metric, if slow.

    A metric that learns from training rows is given unfitted; whoever holds training rows fits it to these alone.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()  # what others call it
    core: ClassVar[_core.Metric | None] = None  # what the compiled core measures. Not inherited
    given: ClassVar[bool] = False  # whether distances come with the queries
    on_sparse: ClassVar[bool] = True  # whether the core measures sparse rows as such, not made dense
    unit_as_cosine: ClassVar[bool] = False  # whether rows of unit length have the neighbors of the cosine
    similarity: ClassVar[bool] = False  # whether it is built from a cosine or an inner product
    straight: ClassVar[bool] = (
        False  # whether points as far from one row as from another are on a line: cells are polygons
    )
    in_plane: ClassVar[bool] = True  # whether it measures how far points of a plane are apart
    maps: ClassVar[bool] = False  # whether differences of rows are mapped by a matrix, `map`
    whole: ClassVar[bool] = False  # whether the core measures rows of whole numbers as bytes
    least_row: ClassVar[float] = 0.0  # least largest value of a row, not zero, that lower bounds can do with
    in_tree: ClassVar[bool] = False  # whether a k-d tree serves it: then it has a `power`
    rows_of_tree: ClassVar[int] = 1_000  # from which on a tree pays (python -m benchmarks tree)
    in_graph: ClassVar[bool] = False  # whether graphs of approximate search serve it
    by_product: ClassVar[bool] = False  # whether these link rows of large inner products, not near ones

    def tree_pays(self, n: int, n_features: int) -> bool:
        """Whether a tree is expected to beat exact search, build included (measured by python -m benchmarks tree).

        With 10,000 queries it is 1.5 to 12 times as fast for D = 1 to 3, about as fast for 4, and slower from 6 on.
        """
        return self.in_tree and n_features <= 3 and n >= self.rows_of_tree

    # -- what training rows decide ---------------------------------------------------------------------------

    @property
    def learns(self) -> bool:
        """Whether training rows are still to decide it."""
        return False

    @property
    def learned_from(self) -> Array:
        """Fingerprints of the rows that decided it."""
        return NO_ROWS

    def fit(self, X: Any, y: Any = None, weights: Array | None = None) -> "Metric":
        """The metric that training rows, with labels and weights where there are any, decide."""
        return self

    def plain(self) -> "Metric":
        """The same distance under a name of its own, where it has one."""
        return self

    # -- how it is measured ----------------------------------------------------------------------------------

    def distances(self, Q: Array, X: Array) -> Array:
        """(m, n) distances of queries and rows, where the core does not measure them."""
        raise NotImplementedError(f"{type(self).__name__} is not measured in Python.")

    @property
    def exponent(self) -> float:
        """q of Lq, for the core."""
        return 2.0

    @property
    def map(self) -> Array:
        """A (rank, D), of metrics that map differences of rows before they measure them."""
        return NO_MAP

    def rows(self, X: Any) -> Any:
        """Rows as they are to be measured; refuses those that cannot be."""
        return X

    def similarities(self, distances: Array) -> Array:
        """What grows as rows get more alike: the cosine or inner product, else minus the distance."""
        return -distances

    # -- how it is searched ----------------------------------------------------------------------------------

    def embedding(self, X: Array) -> Embedding | None:
        """Rows X as points whose squared distances tell how far apart they are; None: there are no such points."""
        return None

    def bounds(self, X: Array, sample: Array, look: bool) -> Bounds | None:
        """Lower bounds for rows X, chosen by a sample of them; None: every row is measured.

        ``look``: whether there are so many queries that a search for short bounds pays.
        """
        embedding = self.embedding(X)
        return None if embedding is None else by_principal(X, sample, embedding, look)

    @property
    def vanishing(self) -> float:
        """Where all values are below it, they vanish in the float32 of the bounds, which then exclude nothing."""
        return 0.0

    @property
    def power(self) -> float:
        """p of the Minkowski distance by which a k-d tree finds its neighbors."""
        return 2.0

    def of_power(self, distances: Array) -> Array:
        """The distances of Minkowski distances of the power."""
        return distances

    def points(self, A: Array) -> Array:
        """Rows (float32) as points that a graph links."""
        return A

    # -- what files keep of it -------------------------------------------------------------------------------

    def parts(self) -> dict[str, Any]:
        """Numbers and arrays beside its name that an index file has of it."""
        return {}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """From a file's numbers and arrays, which are checked."""
        return cls()
