"""Batches and parts of the rows in which every class has its share."""

from collections.abc import Iterator

import numpy as np

from nearline._arrays.design import Array


def balanced(codes: Array, size: int, rng: np.random.Generator) -> Array:
    """Numbers of about ``size`` rows, as many of each class as there are, up to an equal share; in order of class."""
    members = [rng.permutation(np.flatnonzero(codes == c)) for c in np.unique(codes)]
    members.sort(key=len)
    chosen, left = [], size
    for place, rows in enumerate(members):
        share = max(2, left // (len(members) - place))
        chosen.append(rows[:share])
        left -= min(share, len(rows))
    return np.sort(np.concatenate(chosen))


def epoch(codes: Array, size: int, rng: np.random.Generator) -> Iterator[Array]:
    """As many class-balanced batches as cover the rows once, if all classes are as large."""
    for _ in range(max(1, -(-len(codes) // size))):
        yield balanced(codes, size, rng)


def parts(codes: Array, n_parts: int, rng: np.random.Generator) -> Array:
    """The part (0 .. n_parts-1) of each row, rows of a class dealt out in turn."""
    out = np.empty(len(codes), dtype=np.intp)
    dealt = 0
    for c in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == c))
        out[rows] = (dealt + np.arange(len(rows))) % n_parts
        dealt += len(rows)
    return out
