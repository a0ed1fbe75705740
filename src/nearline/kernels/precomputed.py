"""Precomputed: a Gram matrix that is there already."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import slices
from nearline.kernels._base import Kernel, vectors

ROWS = 512  # of a matrix that are compared with its columns at a time


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Items are rows of a Gram matrix: k(x, x') of each item with the training items, in their order.

    Models are fitted to the square matrix of the training items and predict from a matrix (m, n_training).

    Examples
    --------
    >>> from nearline.kernels import Precomputed
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]]).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    takes = "gram"

    def items(self, raw: Any) -> Any:
        return vectors(raw)

    def among(self, items: Any) -> Array:
        K = symmetric(items)
        if implausible(K):
            warnings.warn(
                "This matrix is no Gram matrix: k(x, x')^2 exceeds k(x, x) k(x', x') somewhere, so that no features have "
                "these inner products. Certificates do not hold; nearline.is_psd shows a witness.",
                stacklevel=4,
            )
        return K

    def between(self, A: Any, B: Any) -> Array:
        raise ValueError("A precomputed kernel knows no pairs but those of its matrix.")

    def diagonal(self, items: Any) -> Array:
        if items.shape[0] != items.shape[1]:
            raise ValueError("Of these rows a precomputed Gram matrix does not have k(x, x).")
        return np.diagonal(items).astype(np.float64)


def symmetric(items: Any) -> Array:
    """A copy of a matrix, if it is square and symmetric."""
    if items.shape[0] != items.shape[1]:
        raise ValueError(f"A Gram matrix is square, found one of shape {items.shape}.")
    check_symmetric(items)
    return np.array(items)


def check_symmetric(K: Array, tol: float = 1e-4) -> None:
    """Refuse a square matrix whose entries differ from those across the diagonal by more than ``tol`` of the largest."""
    parts = slices(len(K), ROWS)
    worst = max((float(np.abs(K[rows] - K[:, rows].T).max(initial=0.0)) for rows in parts), default=0.0)
    if worst > tol * max((float(np.abs(K[rows]).max(initial=0.0)) for rows in parts), default=0.0):
        raise ValueError(f"A Gram matrix is symmetric, found entries that differ by {worst:.3g}.")


def implausible(K: Array) -> bool:
    """Whether k(x, x')^2 exceeds k(x, x) k(x', x') somewhere, so that the matrix has a negative eigenvalue."""
    square = np.diagonal(K).astype(np.float64)
    return bool(
        square.min(initial=0.0) < 0 or (np.square(K) > 1.001 * np.outer(square, square) + 1e-300).any()
    )
