"""Where the learning of a linear map starts: principal components, or discriminants."""

import numpy as np

from nearline._arrays.design import Array
from nearline.losses.embedding import NCA
from nearline.neighbors.learning.batches import balanced
from nearline.neighbors.learning.maps import Map

STARTS = ("auto", "pca", "lda")
SHRINKAGE = 1e-3
SAMPLE = 400  # rows that decide the scale


def first_map(map: Map, X: Array, codes: Array, start: str, rng: np.random.Generator) -> Array:
    """Parameters to begin with: half of what scales the loss best, as sharp neighborhoods have little left to learn."""
    A = principal(X, map.d) if start == "pca" else discriminant(X, codes, map.d)
    return map.started(0.5 * scaled(A, X, codes, rng), rng)


def row_space(X: Array, d: int) -> Array | None:
    """Orthonormal directions (r, D) that span the rows, where these are fewer than the features; None: nothing to gain.

    Distances are the same in these r coordinates, and the best map lies in them: elsewhere it costs and does nothing.
    """
    n, D = X.shape
    if 2 * n > D:
        return None
    squares, U = np.linalg.eigh((X @ X.T).astype(np.float64))
    kept = squares > 1e-6 * squares[-1]
    if not d <= kept.sum():
        return None
    V = U[:, kept].T @ X / np.sqrt(squares[kept])[:, None]
    return np.asarray(_signed(np.linalg.qr(V.T)[0].T)[::-1], dtype=np.float32)


def principal(X: Array, d: int) -> Array:
    """The d directions (d, D) of largest variance of centered rows; with d = D it measures as the plain distance."""
    if len(X) < X.shape[1]:
        _, _, V = np.linalg.svd(X.astype(np.float64), full_matrices=len(X) < d)
        return _signed(V[:d])
    _, V = np.linalg.eigh((X.T @ X).astype(np.float64))
    return _signed(V.T[::-1][:d])


def discriminant(X: Array, codes: Array, d: int) -> Array:
    """Directions (d, D) that tell the class means apart, in units of the spread within classes; then principal ones.

    There are at most C - 1 of the first kind; the others are those of largest variance that are left.
    """
    X = X.astype(np.float64)
    n_classes = int(codes.max()) + 1
    counts = np.bincount(codes, minlength=n_classes)
    means = np.zeros((n_classes, X.shape[1]))
    np.add.at(means, codes, X)
    means /= np.maximum(counts, 1)[:, None]
    W = X - means[codes]
    S = W.T @ W / len(X)
    scale = float(np.trace(S)) / len(S) or 1.0
    values, V = np.linalg.eigh((1.0 - SHRINKAGE) * S + SHRINKAGE * scale * np.eye(len(S)))
    whiten = V / np.sqrt(np.maximum(values, 1e-12 * values.max()))  # (D, D): rows times it have the spread 1
    spread = np.sqrt(counts / len(X))[:, None] * (means @ whiten)
    _, sizes, R = np.linalg.svd(spread, full_matrices=False)
    first = R[: min(d, n_classes - 1, int((sizes > 1e-9 * sizes.max()).sum()))] @ whiten.T
    if len(first) == d:
        return _signed(first)
    Q = np.linalg.qr(first.T)[0]
    rest = principal(X - (X @ Q) @ Q.T, d - len(first))
    within = np.sqrt(np.einsum("ij,jk,ik->i", rest, S, rest))
    return np.vstack([_signed(first), rest / np.maximum(within, 1e-3 * np.sqrt(scale))[:, None]])


def scaled(A: Array, X: Array, codes: Array, rng: np.random.Generator) -> Array:
    """The map times the power of 2 at which random neighbors, drawn as NCA does, are most often of the right class."""
    rows = balanced(codes, SAMPLE, rng)
    X, codes = X[rows], codes[rows]
    Z = (X @ A.T).astype(np.float64)
    size = np.sqrt(np.median(np.einsum("ij,ij->i", Z, Z))) or 1.0
    factors = 2.0 ** np.arange(-2.0, 6.0) / size
    losses = [NCA().at(factor * Z, codes, Z[:0])[0] for factor in factors]
    return np.asarray(factors[int(np.argmin(losses))] * A)


def _signed(V: Array) -> Array:
    """Each direction with its largest number positive: which of the two signs comes out of a library is chance."""
    largest = np.abs(V).argmax(axis=1)
    return np.asarray(V * np.where(V[np.arange(len(V)), largest] < 0, -1.0, 1.0)[:, None])
