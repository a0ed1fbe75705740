"""Sums, means and variances of each class, in blocks of rows whose results are added in order."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from nearline._arrays.design import Array, Design, is_sparse
from nearline._parallel.tiles import groups, map_tiles, steps


def row_blocks(shape: tuple[int, int], *, budget: int = 1 << 18) -> Iterator[slice]:
    """Slices of rows with about ``budget`` numbers each, so that temporaries stay in cache and copies stay small."""
    size = max(1, budget // max(1, shape[1]))
    return (slice(i, min(i + size, shape[0])) for i in range(0, shape[0], size))


def sum_blocks(
    of_block: Callable[[slice], Array],
    shape: tuple[int, int],
    *,
    budget: int = 1 << 18,
    operations: float = 4.0,
) -> Array:
    """Sum of an array over blocks of rows, in a few chains of additions that do not depend on the threads.

    ``operations`` is how many there are for each number in X, about.
    """

    def chain(blocks: Sequence[slice]) -> Array:
        return reduce(np.add, map(of_block, steps(blocks)))

    work = operations * shape[0] * shape[1]
    return reduce(np.add, map_tiles(chain, groups(list(row_blocks(shape, budget=budget)), 8), work=work))


def indicator(targets: Array, weights: Array, n_classes: int) -> Any:
    """Sparse (C, n) matrix with the weight of row i at [y_i, i]: times X it gives the sums per class."""
    order = np.argsort(targets, kind="stable")
    ends = np.cumsum(np.bincount(targets, minlength=n_classes))
    return sp.csr_matrix(
        (weights[order], order, np.concatenate([[0], ends])),
        shape=(n_classes, len(targets)),
        dtype=np.float64,
    )


def class_sums(
    X: Design,
    targets: Array,
    weights: Array,
    n_classes: int,
    counted: Callable[[Design], Design] = lambda rows: rows,
) -> Array:
    """sum over the rows of a class of s_i counted(x_i), (C, D) in float64; of a dense X some rows are counted at a time."""
    if is_sparse(X):
        X = counted(X)
        sums = np.zeros((n_classes, X.shape[1]))
        for cells, values, own in _stored(X, targets, weights, n_classes):
            sums += _count(cells, values if own is None else values * own, sums.shape)
        return sums

    def of_block(rows: slice) -> Array:
        block = counted(X[rows]).astype(np.float64, copy=False)
        return np.asarray(indicator(targets[rows], weights[rows], n_classes) @ block)

    return sum_blocks(of_block, X.shape)


def class_moments(X: Design, targets: Array, weights: Array, n_classes: int) -> tuple[Array, Array, Array]:
    """Weight (C,), mean (C, D) and sum of squared deviations from it (C, D) of each class, in two passes.

    The first mean is off by rounding: what is left over in the second pass corrects it and the squares about it.
    """
    count = np.bincount(targets, weights=weights, minlength=n_classes)
    safe = np.where(count > 0, count, 1.0)[:, None]
    mean = class_sums(X, targets, weights, n_classes) / safe
    if is_sparse(X):
        rest, squares = np.zeros_like(mean), np.zeros_like(mean)
        stored = np.zeros_like(mean)
        for cells, values, own in _stored(X, targets, weights, n_classes):
            deviation = values - mean.ravel()[cells]
            weighted = deviation if own is None else deviation * own
            rest += _count(cells, weighted, mean.shape)
            squares += _count(cells, weighted * deviation, mean.shape)
            stored += _count(cells, own, mean.shape)
        zeros = np.maximum(count[:, None] - stored, 0.0)
        rest -= zeros * mean
        squares += zeros * mean**2
    else:

        def of_block(rows: slice) -> Array:
            own = indicator(targets[rows], weights[rows], n_classes)
            deviation = X[rows].astype(np.float64)
            deviation -= mean[targets[rows]]
            first = own @ deviation
            return np.stack([first, own @ np.square(deviation, out=deviation)])

        rest, squares = sum_blocks(of_block, X.shape)
    return count, mean + rest / safe, np.maximum(squares - rest**2 / safe, 0.0)


def merged_moments(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    """Weights, means and squared deviations of two sets of rows together (exact, and safe far from the origin)."""
    (own, theta, scatter), (count, mean, more) = a, b
    total = own + count
    share = np.divide(count, total, out=np.zeros_like(count), where=total > 0)[:, None]
    shift = mean - theta
    return total, theta + shift * share, scatter + more + shift**2 * share * own[:, None]


def _stored(
    X: Any, targets: Array, weights: Array, n_classes: int
) -> Iterator[tuple[Array, Array, Array | None]]:
    """Stored values of a sparse X, in chunks: number of their cell (class, column), value, weight (None: all one)."""
    n, D = X.shape
    start_of_class = targets.astype(np.int64) * D
    plain = bool((weights == 1).all())
    # Counting a chunk goes through C x D cells, so a chunk should hold more values than that.
    step = max(1, max(1 << 22, n_classes * D) // max(1, X.nnz // max(1, n)))
    for start in range(0, n, step):
        stop = min(start + step, n)
        lengths = np.diff(X.indptr[start : stop + 1])
        chunk = slice(X.indptr[start], X.indptr[stop])
        cells = np.repeat(start_of_class[start:stop], lengths)
        cells += X.indices[chunk]
        own = None if plain else np.repeat(weights[start:stop], lengths)
        yield cells, X.data[chunk].astype(np.float64, copy=False), own


def _count(cells: Array, values: Array | None, shape: tuple[int, ...]) -> Array:
    return np.bincount(cells, weights=values, minlength=shape[0] * shape[1]).reshape(shape)
