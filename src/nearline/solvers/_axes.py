"""Principal axes of the features: the directions in which scores, and so the curvature of the risk, vary most."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices
from nearline.risk import Risk
from nearline.risk.passes import Passes
from nearline.risk.passes.standard import standardized_rows
from nearline.solvers._conditioning import Coordinates
from nearline.solvers._sampling import representative_rows

LARGEST_GRAM = 1024  # side of the largest matrix that is worth an eigendecomposition
TILE = 1024  # rows of X that one product takes


@dataclass(frozen=True)
class PrincipalAxes:
    """Orthonormal axes of x = (x_i - mean) / unit and the variance along each, from large to small.

    ``rest`` is the mean variance along a direction at right angles to all of them (0 if there is none).
    """

    vectors: Array  # (D, q)
    variances: Array  # (q,)
    rest: float

    @property
    def complete(self) -> bool:
        """Whether the axes span all features."""
        return bool(self.vectors.shape[0] == self.vectors.shape[1])


# Axes of plain units depend on the data alone: a path of alphas shares them.
_shared: WeakKeyDictionary[Passes, PrincipalAxes] = WeakKeyDictionary()


def principal_axes(risk: Risk, coordinates: Coordinates) -> PrincipalAxes:
    """The axes in the given coordinates, from as many rows as it takes to know them well."""
    if not coordinates.plain:
        return _axes(risk, coordinates)
    if risk.passes not in _shared:
        _shared[risk.passes] = _axes(risk, coordinates)
    return _shared[risk.passes]


def _axes(risk: Risk, coordinates: Coordinates) -> PrincipalAxes:
    D = risk.n_features
    if D <= LARGEST_GRAM:
        rows, shares = representative_rows(risk.weights, max(16 * D, 2 * LARGEST_GRAM))
        vectors, variances = _from_features(risk, coordinates, rows, shares)
        return PrincipalAxes(vectors, variances, 0.0)
    rows, shares = representative_rows(risk.weights, LARGEST_GRAM)
    vectors, variances = _from_rows(risk, coordinates, rows, shares)
    if len(rows) < np.count_nonzero(risk.weights):
        # A sample of fewer rows than features explains too much of itself: only its first axes are to be trusted.
        vectors, variances = vectors[:, : LARGEST_GRAM // 4], variances[: LARGEST_GRAM // 4]
    mean, deviation = risk.passes.column_moments
    total = float((((mean - coordinates.mean) ** 2 + deviation**2) / coordinates.unit**2).sum())
    rest = max(total - float(variances.sum()), 0.0) / max(D - len(variances), 1)
    return PrincipalAxes(vectors, variances, rest)


def _from_features(risk: Risk, coordinates: Coordinates, rows: Array, shares: Array) -> tuple[Array, Array]:
    """Eigenvectors of the (D, D) matrix of second moments."""
    roots = np.sqrt(shares / shares.sum())

    def gram(tile: slice) -> Array:
        Z = standardized_rows(risk.X, rows[tile], coordinates.mean, coordinates.unit)
        Z *= roots[tile, None].astype(Z.dtype)
        return np.asarray(Z.T @ Z)

    moments = np.zeros((risk.n_features, risk.n_features))
    for part in map_tiles(gram, slices(len(rows), TILE), work=len(rows) * risk.n_features**2):
        moments += part
    variances, vectors = np.linalg.eigh(moments)
    order = np.ascontiguousarray(vectors[:, ::-1], dtype=risk.X.dtype)
    return order, np.maximum(variances[::-1], 0.0)


def _from_rows(risk: Risk, coordinates: Coordinates, rows: Array, shares: Array) -> tuple[Array, Array]:
    """The same from the (m, m) matrix of inner products of m rows, where features are many."""
    Z = standardized_rows(risk.X, rows, coordinates.mean, coordinates.unit)
    Z *= np.sqrt(shares / shares.sum())[:, None].astype(Z.dtype)
    variances, U = np.linalg.eigh((Z @ Z.T).astype(np.float64))
    kept = variances > 1e-6 * max(float(variances[-1]), np.finfo(float).tiny)
    variances, U = variances[kept][::-1], U[:, kept][:, ::-1]
    return np.asarray(Z.T @ (U / np.sqrt(variances)).astype(Z.dtype)), variances
