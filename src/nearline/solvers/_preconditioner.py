"""An approximate inverse of the Hessian that is cheap to make and to apply.

In centered coordinates the Hessian of the data loss is the mean over rows of C (x) x x^T, with C the K x K curvature of
the row's loss in its scores. Along the leading principal axes of the features, which carry most of it, it is formed
as a matrix that couples axes and classes, from rows drawn by their curvature (a few thousand do: as the model gets
sure of most rows, few are left that bend the risk). Along all other axes it is taken as mean(C) (x) variance of the
axis, which one K x K eigendecomposition inverts. The penalty is exact in both.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.risk.passes.curvature import RowCurvature
from nearline.risk.passes.standard import standardized_rows
from nearline.solvers._axes import PrincipalAxes
from nearline.solvers._conditioning import Coordinates
from nearline.solvers._sampling import representative_rows

DAMPING = (
    2e-3  # share added to the diagonal of the leading block: it comes from a sample and from an earlier point
)
ROWS_PER_UNKNOWN = 4
SMALL = 256  # side of a block that costs next to nothing
TILE = 1024  # rows that one product takes


def leading_size(risk: Risk, axes: PrincipalAxes) -> int:
    """How many axes r are leading: so many that the block costs about as much as a few passes over X.

    With a number of rows proportional to K r it takes K^3 r^3 operations where the loss couples the classes, else
    K^2 r^3 (a pass takes K times the entries of X).
    """
    K = risk.n_outputs
    entries = float(risk.X.nnz if risk.sparse else risk.n_rows * risk.n_features)
    size = (4.0 * entries / (K * K if risk.loss.joint else K)) ** (1.0 / 3.0)
    return int(min(max(size - 1.0, SMALL / K, 8.0), 1024.0, axes.vectors.shape[1]))


@dataclass(frozen=True)
class Preconditioner:
    """gradient -> approximate Hessian^-1 gradient, symmetric and positive definite, in the given coordinates."""

    axes: PrincipalAxes
    bias: bool
    n_leading: int
    blocks: list[Any]  # Cholesky factors of the leading block: one for all classes, or one for each
    classes: Array  # (K, K) eigenvectors of mean(C)
    other: Array  # (K, q - n_leading) Hessian along the other axes, in those eigenvectors
    rest: Array  # (K,) the same for a direction at right angles to all axes

    def __call__(self, gradient: Params) -> Params:
        result = gradient.like(np.zeros_like(gradient.flat))
        V = self.axes.vectors
        along = (gradient.W.astype(V.dtype) @ V).astype(np.float64)
        r = self.n_leading
        solution = np.empty_like(along)
        solution[:, :r], result.b[:] = self._solve_leading(along[:, :r], gradient.b)
        solution[:, r:] = self.classes @ ((self.classes.T @ along[:, r:]) / self.other)
        if not self.axes.complete:
            inverse = (self.classes / self.rest) @ self.classes.T
            result.W[...] = inverse @ gradient.W
            solution -= inverse @ along
        result.W[...] += solution.astype(V.dtype) @ V.T
        return result

    def _solve_leading(self, along: Array, b: Array) -> tuple[Array, Array]:
        from scipy.linalg import cho_solve

        right = np.hstack([along, b[:, None]]) if self.bias else along
        if right.size == 0:
            return along, b
        groups = right.reshape(len(self.blocks), -1)
        solved = [cho_solve(block, group, check_finite=False) for block, group in zip(self.blocks, groups)]
        solution = np.concatenate(solved).reshape(right.shape)
        return (solution[:, :-1], solution[:, -1]) if self.bias else (solution, np.zeros_like(b))


def precondition(
    risk: Risk, point: Point, coordinates: Coordinates, axes: PrincipalAxes, n_leading: int
) -> Preconditioner:
    """The preconditioner for the curvature at a point.

    With ``n_leading=0`` it is very cheap, and exact where all rows have the same curvature, as they have at W = 0.
    """
    # Each class needs its own rows, and gets about a K-th of those that are drawn.
    n_rows = max(ROWS_PER_UNKNOWN * (n_leading + 1) * risk.n_outputs, 1000)
    rows, curvature = _sample(risk, point, n_rows)
    V, scale = (
        axes.vectors,
        risk.l2 / coordinates.unit[:, None] ** 2,
    )  # V^T scale V: the penalty along the axes
    Z = _leading_features(risk, coordinates, V[:, :n_leading], rows)
    penalty = np.zeros((Z.shape[1], Z.shape[1]))
    penalty[:n_leading, :n_leading] = V[:, :n_leading].T.astype(np.float64) @ (scale * V[:, :n_leading])
    blocks = _leading_blocks(Z, curvature)
    factors = map_tiles(
        lambda block: _factor(block, penalty), blocks, work=sum(len(b) ** 3 for b in blocks) / 3
    )
    sizes, classes = np.linalg.eigh(_mean_curvature(curvature))
    sizes = np.maximum(sizes, 0.0)[:, None]
    other = sizes * axes.variances[n_leading:] + (scale * V[:, n_leading:] ** 2).sum(axis=0)
    rest = sizes[:, 0] * axes.rest + float(scale.mean())
    # Directions that nothing bends are left nearly alone, not blown up.
    floor = 1e-9 * max(float(sizes.max()) * float(axes.variances.max(initial=0.0)), 1e-300)
    return Preconditioner(
        axes, risk.bias, n_leading, factors, classes, np.maximum(other, floor), np.maximum(rest, floor)
    )


def row_mass(risk: Risk, point: Point) -> Array:
    """How much each row bends the risk: the trace of its curvature, times its weight, (n,)."""
    return np.asarray(risk.passes.row_curvature(point.scores, slice(None)).diagonal.sum(axis=1))


def _sample(risk: Risk, point: Point, n_wanted: int) -> tuple[Array, RowCurvature]:
    """Rows that stand for all in the Hessian, and their curvature scaled to do so."""
    mass = row_mass(risk, point)
    # Rows without curvature now may have some soon: a few of them are drawn too.
    mass += (0.02 * float(mass.mean()) or 1.0) * risk.weights / risk.weights.mean()
    rows, shares = representative_rows(mass, n_wanted)
    curvature = risk.passes.row_curvature(np.ascontiguousarray(point.scores[rows]), rows)
    # A column that no row bends here (losses with flat parts) is taken for that of the squared loss: any scale serves.
    flat = ~curvature.diagonal.any(axis=0)
    if flat.any():
        curvature.diagonal[:, flat] = risk.weights[rows, None]
    return rows, curvature.scaled(shares / (mass[rows] * risk.total_weight))


def _leading_features(risk: Risk, coordinates: Coordinates, V: Array, rows: Array) -> Array:
    """Rows in the leading axes, and a constant for the bias: (m, r + 1), float32 as a sample needs no more."""
    n_leading = V.shape[1]
    Z = np.full((len(rows), n_leading + risk.bias), 1.0 / coordinates.unit_b, dtype=np.float32)

    def project(tile: slice) -> None:
        some = standardized_rows(risk.X, rows[tile], coordinates.mean, coordinates.unit)
        Z[tile, :n_leading] = some @ V

    if n_leading:
        map_tiles(project, slices(len(rows), TILE), work=2.0 * len(rows) * V.size)
    return Z


def _leading_blocks(Z: Array, curvature: RowCurvature) -> list[Array]:
    """sum_i C_i (x) z_i z_i^T as matrices: one for each class where classes are separate, else one for all."""
    K, P = curvature.diagonal.shape[1], Z.shape[1]

    def of_class(c: int) -> Array:
        root = np.sqrt(np.maximum(curvature.diagonal[:, c, None], 0.0)).astype(Z.dtype) * Z
        return np.asarray(root.T @ root)

    own = map_tiles(of_class, range(K), work=float(len(Z)) * K * P * P)
    if not curvature.couples:
        return own
    H = np.zeros((K, P, K, P), dtype=Z.dtype)
    tiles = slices(len(Z), TILE)
    for part in map_tiles(
        lambda tile: _coupling(Z[tile], curvature, tile), tiles, work=len(Z) * (K * P) ** 2.0
    ):
        H += part
    for c in range(K):
        H[c, :, c] = own[c]
    return [H.reshape(K * P, K * P)]


def _coupling(Z: Array, curvature: RowCurvature, tile: slice) -> Array:
    """What the rows of one tile add off the diagonal of the block, (K, P, K, P)."""
    K, P = curvature.diagonal.shape[1], Z.shape[1]
    if curvature.factor is not None:
        spread = (curvature.factor[tile, :, None].astype(Z.dtype) * Z[:, None, :]).reshape(len(Z), K * P)
        return -(spread.T @ spread).reshape(K, P, K, P)
    assert curvature.full is not None
    full = curvature.full[tile].astype(Z.dtype)
    products = [(full[:, :, d, None] * Z[:, None, :]).reshape(len(Z), K * P).T @ Z for d in range(K)]
    return np.stack(products, axis=1).reshape(K, P, K, P)


def _mean_curvature(curvature: RowCurvature) -> Array:
    """mean(C), (K, K)."""
    mean = np.diag(curvature.diagonal.sum(axis=0))
    if curvature.factor is not None:
        outer = curvature.factor.T @ curvature.factor
        return np.asarray(mean - outer + np.diag(np.diag(outer)))
    return mean if curvature.full is None else np.asarray(curvature.full.sum(axis=0))


def _factor(block: Array, penalty: Array) -> Any:
    """Cholesky factor of a damped block of the Hessian."""
    from scipy.linalg import LinAlgError, cho_factor

    copies = len(block) // max(len(penalty), 1)
    if copies == 0:  # neither axes nor a bias
        return None
    H = block.astype(np.float64) + np.kron(np.eye(copies), penalty)
    diagonal = np.diag(H).copy()
    diagonal = np.maximum(diagonal, 1e-9 * max(float(diagonal.max()), 1e-300))
    damping = DAMPING
    while True:
        np.fill_diagonal(H, diagonal + damping * diagonal.mean())
        try:
            return cho_factor(H, lower=True, check_finite=False)
        except LinAlgError:  # rounding of a float32 sum: damp until it is positive definite
            damping *= 10.0
