"""Kernels of vectors: linear, polynomial, Gaussian (SPEC G1, G7)."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from nearline import _core
from nearline.arrays import Array, is_sparse
from nearline.kernels._base import Kernel


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, x') = x . x'.

    Examples
    --------
    >>> from nearline.kernels import Linear
    >>> Linear()([[1.0, 2.0], [0.0, 1.0]]).tolist()
    [[5.0, 2.0], [2.0, 1.0]]
    """

    def among(self, items: Any) -> Array:
        return mirrored(lower_products(items))

    def between(self, A: Any, B: Any) -> Array:
        return products(A, B)

    def diagonal(self, items: Any) -> Array:
        return squared_norms(items)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, x') = (x . x' + offset)^degree, an inner product of all monomials up to that degree.

    With offset 0 only those of that degree: the kernel of degree 2 of the plane is that of the map
    (x_1^2, sqrt(2) x_1 x_2, x_2^2).

    Parameters
    ----------
    degree : 1, 2, ...
    offset : a number >= 0 (below 0 it would be no kernel).

    Examples
    --------
    >>> from nearline.kernels import Polynomial
    >>> Polynomial(degree=2, offset=0.0)([[1.0, 2.0]], [[3.0, 1.0]]).tolist()
    [[25.0]]
    """

    degree: int = 3
    offset: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.degree, (int, np.integer)) and self.degree >= 1):
            raise ValueError(f"degree must be a whole number >= 1, got {self.degree!r}.")
        if not 0 <= self.offset < np.inf:
            raise ValueError(
                f"offset must be a number >= 0, got {self.offset!r}: below 0 this is no inner product."
            )

    def among(self, items: Any) -> Array:
        return self._power(mirrored(lower_products(items)))

    def between(self, A: Any, B: Any) -> Array:
        return self._power(products(A, B))

    def diagonal(self, items: Any) -> Array:
        return self._power(squared_norms(items))

    def _power(self, K: Array) -> Array:
        K += K.dtype.type(self.offset)
        if self.degree > 1:
            base = K.copy()
            for _ in range(self.degree - 1):
                K *= base
        return K


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, x') = exp(-gamma |x - x'|^2), gamma = 1 / (2 sigma^2): the Gaussian kernel.

    Parameters
    ----------
    gamma : a number > 0, or a rule that training rows decide: "scale" is 1 / (features x variance of all values), as
        in scikit-learn; "median" is 1 / (the median of |x - x'|^2 over pairs of at most 1,000 rows, evenly spread).

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(3).tolist()
    [[1.0, 0.135], [0.135, 1.0]]
    >>> RBF("median").fitted(np.array([[0.0], [2.0]]))
    RBF(gamma=0.25)
    """

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        named = isinstance(self.gamma, str)
        if self.gamma not in ("scale", "median") if named else not 0 < float(self.gamma) < np.inf:
            raise ValueError(f"gamma must be a number > 0, 'scale' or 'median', got {self.gamma!r}.")

    def fitted(self, items: Any, weights: Array | None = None) -> Self:
        if not isinstance(self.gamma, str):
            return self
        gamma = scale_gamma(items, weights) if self.gamma == "scale" else median_gamma(items)
        return replace(self, gamma=gamma)

    def among(self, items: Any) -> Array:
        X = self._scaled(items, items)
        K = lower_products(X)
        _core.gaussian_among(K, squared_norms(X), 1.0)
        return K.astype(items.dtype, copy=False)

    def between(self, A: Any, B: Any) -> Array:
        if A.shape[1] != B.shape[1]:
            raise ValueError(f"Rows of {A.shape[1]} and of {B.shape[1]} features have no distance.")
        A_scaled, B_scaled = self._scaled(A, B), self._scaled(B, B if not is_sparse(A) else A)
        K = products(A_scaled, B_scaled)
        _core.gaussian_between(K, squared_norms(A_scaled), squared_norms(B_scaled), 1.0)
        return K.astype(A.dtype, copy=False)

    def _scaled(self, X: Any, like: Any) -> Any:
        """Rows less a mean, times sqrt(gamma), in float64 unless float32 will do: exponents are then plain distances."""
        X = X if X.dtype == np.float64 or self.allows_single(X) else X.astype(np.float64)
        X = X if is_sparse(X) or is_sparse(like) else centered(X, like)
        X = X * X.dtype.type(np.sqrt(self._gamma))
        if not np.isfinite(squared_norms(X)).all():
            raise ValueError(
                "Distances between these rows overflow: scale the features, or take a smaller gamma."
            )
        return X

    def diagonal(self, items: Any) -> Array:
        return np.ones(items.shape[0])

    def light(self, items: Any) -> Any:
        single = not is_sparse(items) and items.dtype == np.float64 and self.allows_single(items)
        return items.astype(np.float32) if single else items

    def allows_single(self, items: Any) -> bool:
        """Whether float32 products leave the exponents within 1e-5: |x|^2 rounds to 2^-24 of itself, a few times."""
        values = items.data if is_sparse(items) else items
        largest = float(np.abs(values).max(initial=0.0))
        if not (1e-30 < largest < 1e30 or largest == 0.0):  # near the ends of float32's range
            return False
        worst = squared_norms(items).max(initial=0.0)
        return bool(self._gamma * worst * 2.0**-22 < 1e-5)

    @property
    def _gamma(self) -> float:
        if isinstance(self.gamma, str):
            raise ValueError(f"gamma={self.gamma!r} is decided by training rows: call fitted(X) first.")
        return float(self.gamma)


def scale_gamma(X: Any, weights: Array | None = None) -> float:
    """1 / (features x variance of all values)."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    total = float(weights.sum()) * X.shape[1]
    near = 0.0 if is_sparse(X) or not X.size else float(X.flat[0])
    Y = X if is_sparse(X) else X - X.dtype.type(near)  # an offset would eat up the digits
    mean = float(weights @ np.asarray(Y.sum(axis=1)).ravel()) / total
    variance = float(weights @ squared_norms(Y)) / total - mean**2
    return 1.0 / (X.shape[1] * variance) if variance > 1e-14 * mean**2 else 1.0


def median_gamma(X: Any, most: int = 1000) -> float:
    """1 / (median of |x - x'|^2 over pairs of different rows)."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], most)).astype(int))
    X = centered(X[rows], X[rows])
    norms = squared_norms(X)
    squares = norms[:, None] + norms - 2.0 * products(X, X).astype(np.float64)
    squares = squares[np.triu_indices(len(rows), 1)]
    middle = float(np.median(squares[squares > 0])) if (squares > 0).any() else 0.0
    return 1.0 / middle if middle > 0 else 1.0


def centered(X: Any, like: Any) -> Any:
    """Rows less the mean of others: distances stay, and what rounds away in |x|^2 + |x'|^2 - 2 x . x' gets small."""
    return X if is_sparse(X) else X - like.mean(axis=0, dtype=np.float64).astype(X.dtype)


def squared_norms(X: Any) -> Array:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def products(A: Any, B: Any) -> Array:
    """a . b for all pairs, as a C-contiguous array."""
    if is_sparse(A) or is_sparse(B):
        K = A @ B.T
        return np.ascontiguousarray(K.toarray() if is_sparse(K) else K)
    return np.ascontiguousarray(A @ B.T)


def lower_products(X: Any, rows: int = 1024) -> Array:
    """x . x' on and below the diagonal; what is above is not defined.

    Block by block: half of a product, at the speed of whole ones (BLAS's own routine for it is in SciPy, whose second
    pool of threads would stand in the way of NumPy's).
    """
    if is_sparse(X):
        return products(X, X)
    n = len(X)
    K = np.empty((n, n), dtype=X.dtype)
    for start in range(0, n, rows):
        end = min(start + rows, n)
        np.matmul(X[start:end], X[:end].T, out=K[start:end, :end])
    return K


def mirrored(K: Array, rows: int = 256) -> Array:
    """The lower half written to the upper one, in place."""
    for start in range(0, len(K), rows):
        end = min(start + rows, len(K))
        K[:start, start:end] = K[start:end, :start].T
        corner = K[start:end, start:end]
        upper = np.triu_indices(end - start, 1)
        corner[upper] = corner.T[upper]
    return K
