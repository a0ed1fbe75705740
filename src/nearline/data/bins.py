"""Classes out of a quantity: which numbers are one, and bins of it with stated edges."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.targets import quantity_in
from nearline._records.words import worded
from nearline.data.base import DataError


def binned(
    y: Array, bins: int | Sequence[float] | None, path: Path
) -> tuple[Array, tuple[float, ...] | None, list[str]]:
    """Labels '1: below 10', '2: 10 to 20', ..., the edges, and what to tell; of a number of bins, edges are quantiles."""
    if bins is None:
        return y, None, []
    if y.dtype.kind not in "iuf":
        raise DataError(
            f"{worded('bins=', '--bins')} makes classes of numbers, and the labels of {path} are none",
            "leave it out",
        )
    if isinstance(bins, int):
        if bins < 2:
            raise DataError(f"{worded('bins=', '--bins')} must be at least 2, got {bins}.")
        inner = np.quantile(y, np.arange(1, bins) / bins)
        edges = tuple(float(edge) for edge in np.unique(inner) if edge > y.min())
        how = "quantiles of all labels of the file, those of rows to be locked away for the test too"
    else:
        edges, how = tuple(float(edge) for edge in bins), "as given"
        if not edges or list(edges) != sorted(set(edges)):
            raise DataError(f"The edges of bins must be different numbers that grow, got {list(edges)}.")
    names = np.array(
        [
            f"1: below {edges[0]:g}",
            *(f"{k}: {low:g} to {high:g}" for k, (low, high) in enumerate(pairwise(edges), 2)),
            f"{len(edges) + 1}: {edges[-1]:g} and above",
        ]
        if edges
        else ["1: all"]
    )
    told = [f"labels were put into {len(names)} bins with edges {', '.join(f'{e:g}' for e in edges)} ({how})"]
    return names[np.searchsorted(np.array(edges), y, side="right")], edges, told


def refuse_quantity(y: Array, target: str | None, others: str) -> None:
    """Refuse labels that are a quantity, with the choices."""
    distinct = quantity_in(y)
    if distinct is None:
        return
    raise DataError(
        f"{target or 'The target'} has {distinct:,} different numbers in {len(y):,} rows: a quantity, not classes. Give "
        f"--bins 4 to make four classes of about equal size out of it, --classes if each number is a class all the same, or "
        f"--target another column, one of: {others}.",
        columns=[target] if target else [],
    )
