"""What every embedding loss offers: value and gradient on a batch of embedded rows with their classes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.parameters import Parametrized
from nearline._records.refused import ParameterError
from nearline.losses.embedding._geometry import unit_rows


@dataclass(frozen=True)
class EmbeddingLoss(Parametrized, ABC):
    """How badly embedded rows Z (n, d) of some classes are placed: near to whom they should be, far from others.

    Unlike a :class:`nearline.Loss` it is no sum over rows: it looks at pairs, triplets, or at rows and proxies (one point a
    class that is learned too). A batch that has nothing to look at, such as one with a single class, has the value 0 and
    a gradient of zeros.
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = True  # whether it has a continuous gradient, so that L-BFGS serves it

    @property
    def on_sphere(self) -> bool:
        """Whether it looks at directions only."""
        return False

    def seen(self, Z: Array) -> Array:
        """Rows as the loss sees them: of length 1, if it looks at directions only."""
        return unit_rows(Z)[0] if self.on_sphere else Z

    def proxies(self, Z: Array, targets: Array, n_classes: int) -> Array:
        """Where proxies start, (C, d); (0, d) where the loss has none."""
        return np.empty((0, Z.shape[1]), dtype=Z.dtype)

    @abstractmethod
    def at(self, Z: Array, targets: Array, proxies: Array) -> tuple[float, Array, Array]:
        """Value, gradient with respect to Z, and to the proxies, for rows and class numbers that have been checked."""


@dataclass(frozen=True)
class PairLoss(EmbeddingLoss):
    """An embedding loss of the batch alone."""

    def value_and_gradient(self, Z: Any, targets: Any) -> tuple[float, Array]:
        """Value, and gradient (n, d), for embedded rows Z (n, d) and their classes, whole numbers (n,)."""
        Z, targets = checked(Z, targets)
        return self.at(Z, targets, Z[:0])[:2]

    def value(self, Z: Any, targets: Any) -> float:
        return self.value_and_gradient(Z, targets)[0]


@dataclass(frozen=True)
class ProxyLoss(EmbeddingLoss):
    """An embedding loss of rows and proxies W (C, d)."""

    def value_and_gradient(self, Z: Any, targets: Any, W: Any) -> tuple[float, Array, Array]:
        """Value, gradient with respect to Z (n, d), and to W (C, d); targets are numbers 0 .. C-1 of rows of W."""
        Z, targets = checked(Z, targets)
        W, _ = checked(W, np.arange(len(W)), "Proxies W")
        if W.shape[1] != Z.shape[1]:
            raise ValueError(
                f"Rows and proxies must have as many numbers, got {Z.shape[1]} and {W.shape[1]}."
            )
        if len(targets) and not (targets.min() >= 0 and targets.max() < len(W)):
            raise ValueError(
                f"targets must be numbers of the {len(W)} proxies, 0 to {len(W) - 1}, got {targets.min()} to {targets.max()}."
            )
        return self.at(Z, targets, W.astype(Z.dtype, copy=False))

    def value(self, Z: Any, targets: Any, W: Any) -> float:
        return self.value_and_gradient(Z, targets, W)[0]

    def proxies(self, Z: Array, targets: Array, n_classes: int) -> Array:
        """The means of the classes."""
        sums = np.zeros((n_classes, Z.shape[1]), dtype=Z.dtype)
        np.add.at(sums, targets, Z)
        return sums / np.maximum(np.bincount(targets, minlength=n_classes), 1)[:, None].astype(Z.dtype)


def checked(Z: Any, targets: Any, name: str = "Embeddings") -> tuple[Array, Array]:
    """Embedded rows as float32 or float64, and their classes as whole numbers; what they cannot be is refused."""
    try:
        Z = np.asarray(Z)
        Z = Z if Z.dtype in (np.float32, np.float64) else Z.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be rows of numbers, all as long: {error}") from error
    if Z.ndim != 2:
        raise ValueError(f"{name} must be an array (n, d), got shape {Z.shape}.")
    if not np.isfinite(Z).all():
        rows = np.flatnonzero(~np.isfinite(Z).all(axis=1))
        raise ValueError(
            f"{name} must be finite, but row {rows[0] + 1} (counted from 1) has NaN or infinite numbers."
        )
    targets = np.asarray(targets)
    if targets.shape != (len(Z),) or targets.dtype.kind not in "iu":
        raise ValueError(
            f"targets must be a whole number for each of {len(Z)} rows, got {targets.dtype} of shape {targets.shape}: "
            "np.unique(labels, return_inverse=True)[1] makes them."
        )
    return Z, targets


def check_positive(**values: float) -> None:
    """Refuse a parameter that is not a finite number > 0."""
    for name, value in values.items():
        if not (np.isscalar(value) and np.isfinite(value) and value > 0):  # type: ignore[operator]
            raise ParameterError(name, value, "a finite number above 0")


def check_finite(**values: float) -> None:
    """Refuse a parameter that is not a finite number."""
    for name, value in values.items():
        if not (np.isscalar(value) and np.isfinite(value)):
            raise ParameterError(name, value, "a finite number")
