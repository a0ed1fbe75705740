"""Which geometry the sweeps of dual coordinate descent are made in."""

from typing import Any

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices
from nearline.risk import Risk
from nearline.solvers.dual._geometry import Geometry, Scaled, Whitened

core: Any = _core
CURVATURE = (
    6.0  # mean curvature of a row's dual problem that H is first chosen for, where alpha alone gives more
)
BIAS_REACH = 100.0  # largest first 1 / H of the bias: easy sweeps, few turns
LARGEST_MOMENTS = 2500  # features up to which their second moments are factored
BLOCK = 32  # rows of packed sparse data that are swept together
TILE = 2048  # rows of dense data that one product with BLAS takes


def choose_geometry(risk: Risk, random_state: int, reach: float = 1.0) -> Geometry:
    """Whitened where the data are dense, or nearly so, and alpha is small for them; else scaled.

    The larger ``reach``, the weaker H: fewer and harder turns.
    """
    n_used = max(int(np.count_nonzero(risk.weights)), 1)
    packed = _packed(risk, random_state, n_used, reach) if risk.sparse else None
    squares = _squares((risk.X,), risk.n_rows) if packed is None else packed.squares
    curvature = float(squares.mean()) / (risk.l2 * n_used)
    if curvature > 1.0 and risk.n_features <= min(LARGEST_MOMENTS, 4 * n_used) and _fit_for_dense(risk):
        X = risk.X.toarray() if risk.sparse else risk.X
        whitened = _whitened(risk, X, n_used, min(CURVATURE, 0.2 * curvature), reach)
        if whitened is not None:
            return whitened
    if packed is not None:
        return packed
    scale = _scale(risk, squares, n_used, reach)
    return Scaled(rows=(risk.X,), squares=squares, order=None, block=1, ranks=None, **scale)


def _fit_for_dense(risk: Risk) -> bool:
    """Whether the rows may as well be written out in full."""
    size = risk.n_rows * risk.n_features
    return not risk.sparse or size <= 1 << 21 or risk.X.nnz >= 0.2 * size


def _squares(rows: tuple[Array, ...], n_rows: int) -> Array:
    out = np.empty(n_rows)
    (core.dense_squares if len(rows) == 1 else core.sparse_squares)(*rows, out)
    return out


def _scale(risk: Risk, squares: Array, n_used: int, reach: float) -> dict[str, Any]:
    """kappa that brings the rows' curvature down to what sweeps are good at; none where alpha is enough.

    And none where sparse rows are fewer than features: they hardly meet, a sweep moves each of them nearly to its end
    whatever their curvature, and a center would only hold them back. There the bias may go as far as the root of how
    far scores can be apart, |x|^2 / alpha: of 50 problems with texts it took the fewest sweeps on nearly all.
    """
    curvature = float(squares.mean()) / (risk.l2 * n_used)
    target = reach * CURVATURE
    apart = risk.sparse and risk.n_rows <= risk.n_features
    kappa = risk.l2 * (curvature / target - 1.0) if curvature > 2.0 * target and not apart else 0.0
    spread = curvature * n_used
    bias_reach = reach * (min(1.5 * spread**0.5, n_used) if apart else _bias_reach(spread, n_used))
    return {
        "alpha": risk.l2,
        "kappa": kappa,
        "step": 1.0 / ((risk.l2 + kappa) * risk.total_weight),
        "bias_step": bias_reach / risk.total_weight if risk.bias else 0.0,
        "mu": 1.0 / bias_reach,
        "mean": np.zeros(risk.n_features),
        "proximal": kappa > 0,
    }


def _bias_reach(spread: float, n_used: int) -> float:
    """1 / H of the bias. Scores differ by |x|^2 / alpha at most: with a large alpha b is to be found as finely."""
    return max(min(BIAS_REACH, 0.5 * n_used, 10.0 * spread), 1e-9)


def _packed(risk: Risk, random_state: int, n_used: int, reach: float) -> Scaled:
    X = risk.X
    order = np.random.default_rng(random_state).permutation(risk.n_rows)
    rows = (np.empty(risk.n_rows + 1, np.int64), np.empty(X.nnz, np.int32), np.empty(X.nnz, X.dtype))
    ranks = np.empty(risk.n_features, np.int32)
    core.pack_rows(X.indptr.astype(X.indices.dtype, copy=False), X.indices, X.data, order, *rows, ranks)
    squares = _squares(rows, risk.n_rows)
    return Scaled(
        rows=rows,
        squares=squares,
        order=order,
        block=BLOCK,
        ranks=ranks,
        **_scale(risk, squares, n_used, reach),
    )


def _whitened(risk: Risk, X: Array, n_used: int, target: float, reach: float) -> Whitened | None:
    """The geometry of the second moments in which rows have mean curvature ``target``; None if it has no factor."""
    D, mean = risk.n_features, _mean(risk)
    moments = _moments(risk, X, mean)
    # Any H serves as long as it is used throughout: rounding must only not make it indefinite.
    moments[np.arange(D), np.arange(D)] += (
        30.0 * np.finfo(risk.X.dtype).eps * max(float(np.trace(moments)), 1e-300)
    )
    tau = target * n_used / D
    for _ in range(4):
        pair = _factor(risk.l2 * np.eye(D) + moments / tau)
        if pair is None:
            return None
        factor, inverse = pair
        curvature = (D - risk.l2 * float(np.vdot(inverse, inverse))) * tau / n_used
        if 0.7 * target <= curvature <= 1.4 * target or not curvature > 0:
            break
        tau *= target / curvature
    if reach != 1.0:
        tau *= reach
        pair = _factor(risk.l2 * np.eye(D) + moments / tau)
        if pair is None:
            return None
        factor, inverse = pair
    rows = (_transformed(X, mean, inverse),)
    bias_reach = reach * _bias_reach(np.inf, n_used)
    return Whitened(
        rows=rows,
        squares=_squares(rows, risk.n_rows),
        order=None,
        block=1,
        step=1.0 / risk.total_weight,
        bias_step=bias_reach / risk.total_weight if risk.bias else 0.0,
        mu=1.0 / bias_reach,
        mean=mean,
        proximal=True,
        alpha=risk.l2,
        factor=factor,
        inverse=inverse,
    )


def _mean(risk: Risk) -> Array:
    return risk.passes.column_moments[0] if risk.bias else np.zeros(risk.n_features)


def _moments(risk: Risk, X: Array, mean: Array) -> Array:
    """(1/S) sum_i s_i (x_i - mean)(x_i - mean)^T, in X's precision within a tile of rows, float64 across."""

    def part(rows: slice) -> Array:
        Z = X[rows] - mean.astype(X.dtype)
        Z *= np.sqrt(risk.weights[rows] / risk.total_weight).astype(Z.dtype)[:, None]
        return np.asarray(Z.T @ Z)

    work = 2.0 * risk.n_rows * risk.n_features**2
    total = np.zeros((risk.n_features, risk.n_features))
    for moments in map_tiles(part, slices(risk.n_rows, TILE), work=work):
        total += moments
    return total


def _transformed(X: Array, mean: Array, inverse: Array) -> Array:
    """Rows L^-1 (x - mean)."""
    out = np.empty_like(X)
    right, center = inverse.T.astype(out.dtype), mean.astype(out.dtype)

    def part(rows: slice) -> None:
        np.matmul(X[rows] - center, right, out=out[rows])

    map_tiles(part, slices(len(X), TILE), work=2.0 * len(X) * X.shape[1] ** 2)
    return out


def _factor(M: Array) -> tuple[Array, Array] | None:
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    try:
        factor = cholesky(M, lower=True)
    except LinAlgError:
        return None
    return factor, solve_triangular(factor, np.eye(len(M)), lower=True)
