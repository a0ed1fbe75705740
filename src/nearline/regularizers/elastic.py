"""The family R(W) = l1 |W|_1 + (l2/2) |W|^2: none, L2, L1 and elastic net."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Real, kept
from nearline.regularizers._base import Regularizer


@dataclass(frozen=True)
class Elastic(Regularizer):
    """R(W) = l1 |W|_1 + (l2/2) |W|^2; the named ones below fix l1 and l2.

    As a prior, alpha R(W) is minus the log density of W, up to a constant: L2 a Gaussian, L1 a Laplace distribution.
    """

    by_feature: ClassVar[bool] = True

    def as_elastic(self, n_outputs: int) -> "Elastic | None":
        return self if self._is(Elastic) else None

    @property
    def l1(self) -> float:
        """Strength of |W|_1."""
        return 0.0

    @property
    def l2(self) -> float:
        """Strength of |W|^2 / 2."""
        return 0.0

    @property
    def smooth(self) -> bool:
        """Whether R has a gradient everywhere."""
        return self.l1 == 0

    def value(self, W: Array) -> float:
        """R(W)."""
        value = 0.5 * self.l2 * float(np.vdot(W, W)) if self.l2 else 0.0
        return value + self.l1 * float(np.abs(W).sum()) if self.l1 else value

    def gradient(self, W: Array) -> Array:
        """Gradient of the smooth part, l2 W; the l1 part is met by :meth:`prox`."""
        return self.l2 * W

    def curvature_product(self, W: Array, V: Array) -> Array:
        """l2 V, of the smooth part."""
        return self.l2 * V

    def prox(self, W: Array, step: Any) -> Array:
        """argmin_V |V - W|^2 / 2 + step R(V): soft-threshold, then shrink."""
        thresholded = np.sign(W) * np.maximum(np.abs(W) - step * self.l1, 0.0)
        return np.asarray(thresholded / (1.0 + step * self.l2))

    def conjugate(self, V: Array) -> float:
        """R*(V) = sup_W V.W - R(W); infinite where R grows too slowly."""
        excess = np.maximum(np.abs(V) - self.l1, 0.0)
        if self.l2 == 0:
            return 0.0 if not excess.any() else np.inf
        return float(np.vdot(excess, excess)) / (2.0 * self.l2)

    def into_domain(self, V: Array) -> float:
        """Largest factor t <= 1 with R*(t V) finite."""
        if self.l2 > 0 or not V.any():
            return 1.0
        # A hair less than l1 / max|V|, so that rounding cannot leave the domain.
        return min(1.0, self.l1 / float(np.abs(V).max()) * (1.0 - 1e-15))

    def largest_alpha(self, gradient: Array) -> float | None:
        """Smallest alpha at which W = 0 is the solution, given the data gradient at W = 0 and the best bias."""
        if self.l1 == 0:
            return None
        return float(np.abs(gradient).max()) / self.l1


@dataclass(frozen=True)
class Zero(Elastic):
    """C1: no penalty."""

    name: ClassVar[str] = "none"


@dataclass(frozen=True)
class L2(Elastic):
    """C2: |W|^2 / 2 (weight decay; a Gaussian prior)."""

    name: ClassVar[str] = "l2"

    @property
    def l2(self) -> float:
        return 1.0


@dataclass(frozen=True)
class L1(Elastic):
    """C3: |W|_1 (sparsity; a Laplace prior)."""

    name: ClassVar[str] = "l1"

    @property
    def l1(self) -> float:
        return 1.0


@kept(rho=Real(0.0, 1.0))
@dataclass(frozen=True)
class ElasticNet(Elastic):
    """C4: rho |W|_1 + (1 - rho)/2 |W|^2."""

    name: ClassVar[str] = "elastic-net"
    rho: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.rho <= 1.0:
            raise ValueError(f"ElasticNet needs 0 <= rho <= 1 (1 is L1, 0 is L2), got rho={self.rho!r}.")

    @property
    def l1(self) -> float:
        return self.rho

    @property
    def l2(self) -> float:
        return 1.0 - self.rho
