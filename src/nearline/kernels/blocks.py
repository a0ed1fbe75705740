"""Kernel values of many items with those that a machine holds, some at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import steps
from nearline.kernels._base import Kernel

BLOCK = 1 << 24  # entries of kernel values at a time


def blocks(kernel: Kernel, items: Any, held: Any, rows: Array) -> Iterator[tuple[slice, Array]]:
    """k(x, x_i) of checked items with those held; ``rows`` are their numbers among the training items.

    Of a precomputed kernel no items are held: it has these columns of its matrix.
    """
    n, m = len(items) if isinstance(items, list) else items.shape[0], max(1, len(rows))
    size = max(1, BLOCK // m)
    for start in steps(range(0, n, size)):
        part = items[start : start + size]
        if kernel.takes == "gram":
            yield slice(start, start + size), np.asarray(part[:, rows])
        elif len(rows):
            yield slice(start, start + size), kernel.between(part, held)
        else:
            yield slice(start, start + size), np.zeros((part.shape[0], 0))
