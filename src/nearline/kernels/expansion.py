"""Expansion: f_c(x) = sum_i A_ic k(x_i, x) + b_c, the score function of every kernel machine (SPEC G5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline.arrays import Array
from nearline.kept import Anything, Instance, Numbers, kept
from nearline.kernels._base import Kernel
from nearline.kernels._held import check_items
from nearline.kernels.precomputed import Precomputed
from nearline.scores import decisive
from nearline.tiles import steps

BLOCK = 1 << 24  # entries of kernel values at a time


@kept(
    kernel=Instance(Kernel),
    items=Anything(),
    rows=Numbers(("m",), "whole numbers", least=0),
    A=Numbers(("m", "Q")),
    b=Numbers(("Q",)),
    links=lambda expansion: check_items(expansion.kernel, expansion.items, len(expansion.rows)),
)
@dataclass(frozen=True, eq=False)
class Expansion:
    """Items with coefficients that are not all zero, their numbers among the training items, and the biases."""

    kernel: Kernel
    items: Any  # (m,) of them, or nothing for a precomputed kernel
    rows: Array  # (m,)
    A: Array  # (m, P)
    b: Array  # (P,)

    @classmethod
    def of(cls, kernel: Kernel, items: Any, A: Array, b: Array) -> "Expansion":
        """Of coefficients (n, P) for all training items: those that count are kept."""
        rows = np.flatnonzero((A != 0).any(axis=1))
        kept = None if isinstance(kernel, Precomputed) else items[rows]
        return cls(kernel, kept, rows, np.ascontiguousarray(A[rows]), np.asarray(b, dtype=np.float64))

    def scores(self, items: Any) -> Array:
        """(q, P) for checked items."""
        parts = [
            K.astype(np.float64, copy=False) @ self.A + self.b for _, K in values(self.kernel, items, self)
        ]
        if not parts:
            return np.zeros((0, self.A.shape[1]))
        return decisive(np.concatenate(parts).astype(np.float64, copy=False), everywhere=True)


def values(kernel: Kernel, items: Any, support: Expansion) -> Iterator[tuple[slice, Array]]:
    """k(x, x_i) of some items at a time with those of the expansion."""
    n, m = len(items) if isinstance(items, list) else items.shape[0], max(1, len(support.rows))
    size = max(1, BLOCK // m)
    for start in steps(range(0, n, size)):
        part = items[start : start + size]
        if isinstance(kernel, Precomputed):
            yield slice(start, start + size), np.asarray(part[:, support.rows])
        elif len(support.rows):
            yield slice(start, start + size), kernel.between(part, support.items)
        else:
            yield slice(start, start + size), np.zeros((part.shape[0], 0))
