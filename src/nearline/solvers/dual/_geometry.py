"""In which coordinates, and how far from where it stands, dual coordinate descent looks for the next point.

The dual is solved not for the risk F but for F + |theta - center|_H^2 / 2, theta = (W, b), with a center that follows
the solution (the proximal point method, accelerated). One mechanism serves three ends: H bounds a bias that has no
penalty, it tames small alpha, and as a share of the features' own second moments it makes all directions of dense data
alike, where plain coordinate descent would crawl along the narrow ones.

With M = alpha I + H_W = L L^T the sweeps see rows L^-1 (x - mean) and weights T = L^T W, for which

    T = pull(T of the center) - (1/S) sum_i s_i u_i L^-1 (x_i - mean)
    b = b of the center - (1/(mu S)) sum_i s_i u_i
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline import _core
from nearline._arrays.design import Array

core: Any = _core


@dataclass(frozen=True, kw_only=True)
class Geometry(ABC):
    """Rows for the sweeps, and the map between their weights T and the W, b of the risk."""

    rows: tuple[Array, ...]  # as the core takes them
    squares: Array  # squared length of each row
    order: Array | None  # original number of each row, if they were moved
    block: int  # rows that stay together when their order is shuffled
    step: float  # T moves by step * s u x
    bias_step: float  # b moves by bias_step * s u; 0 without a bias
    mu: float  # H of the bias
    mean: Array  # what the rows are relative to, (D,)
    proximal: bool  # whether H acts on the weights

    @property
    def weight_type(self) -> np.dtype[Any]:
        """Dense float32 rows meet float32 weights, all others float64."""
        return np.dtype(self.rows[0].dtype if len(self.rows) == 1 else np.float64)

    @abstractmethod
    def to_weights(self, T: Array) -> Array:
        """W (K, D) of T."""

    @abstractmethod
    def from_weights(self, W: Array) -> Array:
        """T of W."""

    @abstractmethod
    def from_dual_weights(self, V: Array) -> Array:
        """The share of T that the duals account for, from V = -(1/(alpha S)) sum_i s_i u_i (x_i - mean)^T."""

    @abstractmethod
    def pull(self, shift: Array) -> Array:
        """Change of T when its center moves by ``shift`` and the duals stay."""

    @abstractmethod
    def outer_gap(self, T: Array) -> Array:
        """|H T|^2 / (2 alpha) for each class: what a distance T from the center adds to the duality gap."""

    def sweep(self, loss: str, storage: Array, **job: Any) -> None:
        """Sweeps of coordinate descent, which change the arrays of the job and the weights in ``storage``."""
        run = core.dense_dual_sweeps if len(self.rows) == 1 else core.sparse_dual_sweeps
        run(*self.rows, loss, storage, **job)

    def arrange(self, values: Array) -> Array:
        """Values of the rows (first axis), in the order of the sweeps."""
        return values if self.order is None else values[self.order]

    def restore(self, values: Array) -> Array:
        """Values in the order of the sweeps, back in that of the rows."""
        if self.order is None:
            return values.copy()
        out = np.empty_like(values)
        out[self.order] = values
        return out


@dataclass(frozen=True, kw_only=True)
class Scaled(Geometry):
    """H_W = kappa I: rows stay as they are, sparse ones packed with frequent features first."""

    ranks: Array | None
    alpha: float
    kappa: float

    def to_weights(self, T: Array) -> Array:
        return np.asarray(T, dtype=np.float64) if self.ranks is None else T[:, self.ranks]

    def from_weights(self, W: Array) -> Array:
        if self.ranks is None:
            return W.astype(self.weight_type)
        T = np.empty_like(W)
        T[:, self.ranks] = W
        return T

    def from_dual_weights(self, V: Array) -> Array:
        return self.from_weights(V * (self.alpha / (self.alpha + self.kappa)))

    def pull(self, shift: Array) -> Array:
        return shift * (self.kappa / (self.alpha + self.kappa))

    def outer_gap(self, T: Array) -> Array:
        return np.asarray(0.5 * self.kappa**2 / self.alpha * np.einsum("kd,kd->k", T, T))


@dataclass(frozen=True, kw_only=True)
class Whitened(Geometry):
    """H_W = (second moments of the features) / tau: dense rows in coordinates where they are nearly white."""

    alpha: float
    factor: Array  # L
    inverse: Array  # L^-1

    def to_weights(self, T: Array) -> Array:
        return np.asarray(T.astype(np.float64) @ self.inverse)

    def from_weights(self, W: Array) -> Array:
        return np.asarray(W @ self.factor).astype(self.weight_type)

    def from_dual_weights(self, V: Array) -> Array:
        return np.asarray(self.alpha * V @ self.inverse.T).astype(self.weight_type)

    def pull(self, shift: Array) -> Array:
        # L^-1 H L^-T = I - alpha L^-1 L^-T
        return np.asarray(shift - self.alpha * (shift @ self.inverse) @ self.inverse.T)

    def outer_gap(self, T: Array) -> Array:
        # H L^-T T = (L L^T - alpha I) L^-T T
        moved = T.astype(np.float64)
        HT = moved @ self.factor.T - self.alpha * (moved @ self.inverse)
        return np.asarray(0.5 / self.alpha * np.einsum("kd,kd->k", HT, HT))
