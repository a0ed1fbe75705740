"""Kernels of vectors: linear, polynomial, Gaussian."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, is_sparse, overflowing
from nearline._parallel.tiles import product_by_tiles, slices, steps
from nearline._records.kept import AnyOf, OneOf, Real, Whole, kept
from nearline._records.refused import ParameterError
from nearline.kernels._base import Kernel, vectors
from nearline.kernels.distances import (
    careful_squares,
    doubtful_exponents,
    doubtful_squares,
    products,
    spread_out,
    squared_norms,
)

BLOCK = 1 << 18  # numbers of rows that are looked at together


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, x') = x . x'.

    Examples
    --------
    >>> from nearline.kernels import Linear
    >>> Linear()([[1.0, 2.0], [0.0, 1.0]]).tolist()
    [[5.0, 2.0], [2.0, 1.0]]
    """

    positive: ClassVar[bool] = True

    def among(self, items: Any) -> Array:
        return mirrored(lower_products(items))

    def between(self, A: Any, B: Any) -> Array:
        return products(A, B)

    def diagonal(self, items: Any) -> Array:
        return squared_norms(items)

    def squared_distances(self, A: Any, B: Any) -> Array:
        """|a - b|^2, by differences where products would lose it."""
        return np.concatenate([squares for _, squares in careful_squares(A, B, 1.0, doubtful_squares)])


@kept(degree=Whole(1, 1000), offset=Real(least=0.0))
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

    positive: ClassVar[bool] = True

    degree: int = 3
    offset: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.degree, (int, np.integer)) and self.degree >= 1):
            raise ParameterError("degree", self.degree, "a whole number >= 1")
        if not 0 <= self.offset < np.inf:
            raise ParameterError("offset", self.offset, "a number >= 0", "below 0 this is no inner product")

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


@kept(gamma=AnyOf((OneOf(("scale", "median")), Real(above=0.0))))
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

    positive: ClassVar[bool] = True

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        named = isinstance(self.gamma, str)
        if self.gamma not in ("scale", "median") if named else not 0 < float(self.gamma) < np.inf:
            raise ParameterError("gamma", self.gamma, "a number > 0, 'scale' or 'median'")

    def fitted(self, items: Any, weights: Array | None = None) -> Self:
        if not isinstance(self.gamma, str):
            return self
        items = vectors(items)
        gamma = scale_gamma(items, weights) if self.gamma == "scale" else median_gamma(items)
        return replace(self, gamma=gamma)

    def among(self, items: Any) -> Array:
        X = self._scaled(items, items)
        norms = squared_norms(X)
        if spread_out(norms, norms, X):
            return self._directly(items, items, symmetric=True)
        K = lower_products(X)
        _core.gaussian_among(K, norms, 1.0)
        return K.astype(items.dtype, copy=False)

    def between(self, A: Any, B: Any) -> Array:
        if A.shape[1] != B.shape[1]:
            raise ValueError(f"Rows of {A.shape[1]} and of {B.shape[1]} features have no distance.")
        A_scaled, B_scaled = self._scaled(A, B), self._scaled(B, B if not is_sparse(A) else A)
        a, b = squared_norms(A_scaled), squared_norms(B_scaled)
        if spread_out(a, b, A_scaled, B_scaled):
            return self._directly(A, B)
        K = products(A_scaled, B_scaled)
        _core.gaussian_between(K, a, b, 1.0)
        return K.astype(A.dtype, copy=False)

    def _directly(self, A: Any, B: Any, *, symmetric: bool = False) -> Array:
        """The same of rows that lie far apart for the width of the kernel: see :mod:`nearline.kernels.distances`."""
        K = np.empty((A.shape[0], B.shape[0]), dtype=A.dtype)
        for rows, squares in careful_squares(A, B, self._gamma, doubtful_exponents, symmetric=symmetric):
            K[rows, : squares.shape[1]] = np.exp(-squares)
        if symmetric:
            np.fill_diagonal(mirrored(K), 1.0)
        return K

    def squared_distances(self, A: Any, B: Any) -> Array:
        """2 (1 - k(a, b)), to the last digits also where rows are near each other."""
        D = np.empty((A.shape[0], B.shape[0]))
        for rows, squares in careful_squares(A, B, self._gamma, doubtful_squares):
            D[rows] = -2.0 * np.expm1(-squares)
        return D

    def _scaled(self, X: Any, like: Any) -> Any:
        """Rows less a mean, times sqrt(gamma), in float64 unless float32 will do: exponents are then plain distances."""
        X = X if X.dtype == np.float64 or self.allows_single(X) else X.astype(np.float64)
        if not (is_sparse(X) or is_sparse(like)):
            # Distances stay, and what rounds away in |x|^2 + |x'|^2 - 2 x . x' gets small.
            X = X - like.mean(axis=0, dtype=np.float64).astype(X.dtype)
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
    """1 / (features x variance of all values); 1 where they are all the same."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    n_features, total = X.shape[1], float(weights.sum()) * X.shape[1]
    mean = float(weights @ np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()) / total
    rest, squares = _deviations(X, mean)
    variance = float(weights @ squares) / total - (float(weights @ rest) / total) ** 2
    values = X.data if is_sparse(X) else X
    largest = float(np.abs(values).max(initial=0.0))
    if not np.isfinite(variance):
        raise ValueError(overflowing(largest))
    rounding = 4.0 * 2.0**-52 * largest
    return 1.0 / (n_features * variance) if variance > rounding**2 else 1.0


def _deviations(X: Any, mean: float) -> tuple[Array, Array]:
    """Sums of x - mean, and of their squares, over the features of each row."""
    if not is_sparse(X):
        sums, squares = np.empty((2, X.shape[0]))
        for part in steps(slices(X.shape[0], max(1, BLOCK // max(1, X.shape[1])))):  # no copy of all rows
            Z = X[part].astype(np.float64) - mean
            sums[part], squares[part] = Z.sum(axis=1), squared_norms(Z)
        return sums, squares
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    Z, zeros = X.data.astype(np.float64) - mean, X.shape[1] - np.diff(X.indptr)
    sums = np.bincount(rows, Z, minlength=X.shape[0]) - zeros * mean
    return sums, np.bincount(rows, Z * Z, minlength=X.shape[0]) + zeros * mean**2


def median_gamma(X: Any, most: int = 1000) -> float:
    """1 / (median of |x - x'|^2 over pairs of different rows)."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], most)).astype(int))
    X = X[rows]
    blocks = careful_squares(X, X, 1.0, doubtful_squares)
    squares = np.concatenate([part for _, part in blocks])[np.triu_indices(len(rows), 1)]
    return 1.0 / float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0


def lower_products(X: Any, rows: int = 1024) -> Array:
    """x . x' on and below the diagonal; what is above is not defined.

    Block by block: half of a product, at the speed of whole ones (BLAS's own routine for it is in SciPy, whose second
    pool of threads would stand in the way of NumPy's).
    """
    if is_sparse(X):
        return products(X, X)
    n = len(X)
    K = np.empty((n, n), dtype=X.dtype)
    for start in steps(range(0, n, rows)):
        end = min(start + rows, n)
        product_by_tiles(X[start:end], X[:end].T, out=K[start:end, :end])
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
