"""In which coordinates, and how far from where it stands, dual coordinate descent looks for the next point.

The dual is solved not for the risk F but for F + (1/2) |theta - center|_H^2, theta = (W, b), with a center that follows the
solution (the proximal point method, accelerated). H serves three ends with one mechanism: it bounds a bias that has no
penalty, it tames small alpha, and, as a share of the features' own second moments, it makes all directions of dense
data alike, where plain coordinate descent would crawl along the narrow ones.

With M = alpha I + H_W = L L^T the sweeps see rows L^-1 (x - mean) and weights T = L^T W, for which

    T = T_center-part - (1/S) sum_i s_i u_i L^-1 (x_i - mean),      b = b_center - (1/(mu S)) sum_i s_i u_i.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nearline import _core
from nearline.arrays import Array
from nearline.risk import Risk

core: Any = _core

CURVATURE = 6.0  # mean curvature A of a row's dual problem above which the geometry steps in
LARGEST_MOMENTS = 2500  # features up to which their second moments are factored
BLOCK = 32  # rows of packed sparse data that are swept together


@dataclass(frozen=True)
class Geometry(ABC):
    """Rows for the sweeps, and the map between their weights T and the W, b of the risk."""

    rows: tuple[Array, ...]  # as the core takes them
    order: Array | None  # original number of each row
    block: int
    step: float  # T moves by step * s u x
    bias_step: float  # b moves by bias_step * s u; 0 without a bias
    mean: Array | None  # subtracted from the rows (D,)
    weight_type: Any
    proximal: bool  # whether H acts on the weights
    mu: float  # H of the bias

    @abstractmethod
    def to_weights(self, T: Array) -> Array:
        """W (K, D) of T."""

    @abstractmethod
    def from_weights(self, W: Array) -> Array:
        """T of W."""

    @abstractmethod
    def pull(self, shift: Array) -> Array:
        """Change of T when its center moves by ``shift`` and the duals stay."""

    @abstractmethod
    def distances(self, T: Array, alpha: float) -> tuple[Array, Array]:
        """|T|_H^2 / 2 and |H T|^2 / (2 alpha) for each class."""

    @cached_property
    def squares(self) -> Array:
        """Squared length of each row."""
        out = np.empty(len(self.rows[0]) - (len(self.rows) == 3))
        core.dual_squares(*self.rows, out)
        return out

    def arrange(self, values: Array) -> Array:
        """Values of the rows, in the order of the sweeps."""
        return values if self.order is None else np.ascontiguousarray(values[self.order])

    def restore(self, values: Array) -> Array:
        """Values in the order of the sweeps, back in that of the rows."""
        if self.order is None:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out


@dataclass(frozen=True)
class Scaled(Geometry):
    """H_W = kappa I: the rows stay as they are (sparse ones packed, frequent features first)."""

    ranks: Array | None = None
    kappa: float = 0.0
    share: float = 0.0  # kappa / (alpha + kappa)

    def to_weights(self, T: Array) -> Array:
        return np.asarray(T, dtype=np.float64) if self.ranks is None else T[:, self.ranks]

    def from_weights(self, W: Array) -> Array:
        if self.ranks is None:
            return W.astype(self.weight_type)
        T = np.empty_like(W)
        T[:, self.ranks] = W
        return T

    def pull(self, shift: Array) -> Array:
        return self.share * shift

    def distances(self, T: Array, alpha: float) -> tuple[Array, Array]:
        square = np.einsum("kd,kd->k", T, T)
        return 0.5 * self.kappa * square, 0.5 * self.kappa**2 / alpha * square


@dataclass(frozen=True)
class Whitened(Geometry):
    """H_W = (second moments of the features) / tau: dense rows in coordinates where they are nearly white."""

    factor: Array | None = None  # L
    inverse: Array | None = None  # L^-1
    alpha: float = 0.0

    def to_weights(self, T: Array) -> Array:
        return np.asarray(T.astype(np.float64) @ self.inverse)

    def from_weights(self, W: Array) -> Array:
        return np.asarray(W @ self.factor).astype(self.weight_type)

    def pull(self, shift: Array) -> Array:
        # L^-1 H L^-T = I - alpha L^-1 L^-T
        return np.asarray(shift - self.alpha * (shift @ self.inverse) @ np.transpose(self.inverse))

    def distances(self, T: Array, alpha: float) -> tuple[Array, Array]:
        T = T.astype(np.float64)
        W = T @ self.inverse
        HW = T @ np.transpose(self.factor) - alpha * W
        return 0.5 * np.einsum("kd,kd->k", W, HW), 0.5 / alpha * np.einsum("kd,kd->k", HW, HW)


def choose_geometry(risk: Risk, seed: int) -> Geometry:
    """The geometry for a risk: whitened if the data are dense and alpha is small for them, else scaled."""
    squares = _mean_square(risk)
    rows_used = max(int(np.count_nonzero(risk.weights)), 1)
    curvature = squares / (risk.l2 * rows_used)
    if not risk.sparse and curvature > 1.0 and risk.n_features <= min(LARGEST_MOMENTS, 4 * rows_used):
        return _whitened(risk, rows_used)
    return _scaled(risk, seed, curvature, rows_used)


def _mean_square(risk: Risk) -> float:
    values = risk.X.data if risk.sparse else np.ravel(risk.X)
    return float(np.vdot(values, values)) / risk.n_rows


def _scaled(risk: Risk, seed: int, curvature: float, rows_used: int) -> Scaled:
    S = risk.total_weight
    kappa = risk.l2 * max(curvature / CURVATURE - 1.0, 0.0)
    if kappa < risk.l2:
        kappa = 0.0
    strength = risk.l2 + kappa
    tau = rows_used * min(max(curvature * risk.l2 / strength, 0.5), CURVATURE)
    shared: dict[str, Any] = {
        "step": 1.0 / (strength * S),
        "bias_step": tau / S if risk.bias else 0.0,
        "mean": None,
        "proximal": kappa > 0,
        "mu": 1.0 / tau,
        "kappa": kappa,
        "share": kappa / strength,
    }
    if not risk.sparse:
        return Scaled((risk.X,), None, 1, weight_type=risk.X.dtype, **shared)
    X = risk.X
    order = np.random.default_rng(seed).permutation(risk.n_rows)
    rows = (
        np.empty(risk.n_rows + 1, np.int64),
        np.empty(X.nnz, np.int32),
        np.empty(X.nnz, X.dtype),
    )
    ranks = np.empty(risk.n_features, np.int32)
    core.dual_pack(X.indptr, X.indices, X.data, order, *rows, ranks)
    return Scaled(rows, order, BLOCK, weight_type=np.float64, ranks=ranks, **shared)


def _whitened(risk: Risk, rows_used: int) -> Whitened:
    X, S, D = risk.X, risk.total_weight, risk.n_features
    mean = risk.weights @ X / S if risk.bias else np.zeros(D)
    weighted = X * (risk.weights / S).astype(X.dtype)[:, None]
    moments = np.asarray(weighted.T @ X, dtype=np.float64) - np.outer(mean, mean)
    # Rounding of the moments must not make H indefinite; any H serves as long as it is used throughout.
    moments[np.arange(D), np.arange(D)] += 30 * np.finfo(X.dtype).eps * max(np.trace(moments), 1e-300)
    tau = CURVATURE * rows_used / D
    for _ in range(4):
        factor, inverse = _factor(risk.l2 * np.eye(D) + moments / tau)
        curvature = (D - risk.l2 * float(np.vdot(inverse, inverse))) * tau / rows_used
        if 0.7 * CURVATURE <= curvature <= 1.4 * CURVATURE:
            break
        tau = min(tau * CURVATURE / curvature, CURVATURE * rows_used)
    white = X @ inverse.T.astype(X.dtype)
    white -= (mean @ inverse.T).astype(X.dtype)
    return Whitened(
        (white,),
        None,
        1,
        step=1.0 / S,
        bias_step=tau / S if risk.bias else 0.0,
        mean=mean,
        weight_type=X.dtype,
        proximal=True,
        mu=1.0 / tau,
        factor=factor,
        inverse=inverse,
        alpha=risk.l2,
    )


def _factor(M: Array) -> tuple[Array, Array]:
    from scipy.linalg import cholesky, solve_triangular

    factor = cholesky(M, lower=True)
    return factor, solve_triangular(factor, np.eye(len(M)), lower=True)
