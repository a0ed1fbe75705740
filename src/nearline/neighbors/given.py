"""Distances that the core does not measure: given as a matrix, or by a Python function."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline.neighbors.metric import Metric


@dataclass(frozen=True)
class PrecomputedDistances(Metric):
    """Distances given as a matrix: (n, n) between rows to fit, (m, n) from queries to rows to search."""

    name: ClassVar[str] = "precomputed"
    core: ClassVar[_core.Metric | None] = None
    given: ClassVar[bool] = True


@dataclass(frozen=True)
class Function(Metric):
    """A Python function of two rows. Each pair costs a call, about a microsecond and more: for a few thousand rows."""

    name: ClassVar[str] = "function"
    core: ClassVar[_core.Metric | None] = None
    function: Callable[[Array, Array], float]

    def distances(self, Q: Array, X: Array) -> Array:
        pairs = [[self.function(q, x) for x in X] for q in Q]
        return np.array(pairs, dtype=np.float64).reshape(len(Q), len(X))
