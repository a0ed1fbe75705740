"""Similarities and distances of all pairs of a batch, and the way back from their derivatives to the rows."""

import numpy as np

from nearline._arrays.design import Array


def unit_rows(Z: Array) -> tuple[Array, Array]:
    """u = z / |z|, and |z| as a column; a row of zeros stays one, and its length counts as infinite: nothing moves it."""
    lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z))[:, None]
    lengths = np.where(lengths > 0, lengths, np.inf).astype(Z.dtype)
    return Z / lengths, lengths


def through_unit_rows(G: Array, U: Array, lengths: Array) -> Array:
    """Gradient with respect to z of a function whose gradient with respect to u = z / |z| is G: (G - (G . u) u) / |z|."""
    return np.asarray((G - np.einsum("ij,ij->i", G, U)[:, None] * U) / lengths)


def from_cosines(G: Array, U: Array) -> Array:
    """Gradient with respect to U, where that with respect to U U^T is G: (G + G^T) U."""
    return np.asarray((G + G.T) @ U)


def squared_distances(Z: Array) -> Array:
    """|z_i - z_j|^2 (n, n); exactly 0 where rounding leaves no digit of it, as for equal rows."""
    Z = Z - Z.mean(axis=0) if len(Z) else Z
    squares = np.einsum("ij,ij->i", Z, Z)
    sums = squares[:, None] + squares
    D = sums - 2.0 * (Z @ Z.T)
    D[8.0 * np.finfo(Z.dtype).eps * sums >= D] = 0.0
    return np.asarray(D)


def from_squared(G: Array, Z: Array) -> Array:
    """Gradient with respect to Z, where that with respect to the squared distances is G: 2 sum_j (G + G^T)_ij (z_i - z_j)."""
    H = G + G.T
    return np.asarray(2.0 * (H.sum(axis=1)[:, None] * Z - H @ Z))


def from_distances(G: Array, D: Array, Z: Array) -> Array:
    """The same for distances: equal rows, whose distance has no gradient, are not moved from one another."""
    return from_squared(np.divide(G, 2.0 * D, out=np.zeros_like(D), where=D > 0), Z)


def pairs(targets: Array) -> tuple[Array, Array]:
    """(n, n): which rows are of one class, but not the same row; and which are of two classes."""
    same = targets[:, None] == targets
    different = ~same
    np.fill_diagonal(same, False)
    return same, different
