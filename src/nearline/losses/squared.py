"""Squared: the loss of least squares, for two classes and for more."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.losses._base import Loss, one_hot, signs
from nearline.losses._formulas import mean_sign
from nearline.losses._special import Special


@dataclass(frozen=True)
class Squared(Loss):
    """B2: (1/2) |f - t|^2 with t = y in {-1, +1} for two classes and 1-of-K targets for more."""

    name: ClassVar[str] = "squared"
    special: ClassVar[Special] = Special(core="squared", distributions=True, least_squares=True)

    def codes(self, targets: Array, n_outputs: int) -> Array:
        """The numbers that the scores are fitted to, (n, K)."""
        if targets.ndim == 2:
            return targets
        return signs(targets, 1) if n_outputs == 1 else one_hot(targets, n_outputs)

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        residual = scores - self.codes(targets, scores.shape[1])
        return 0.5 * (residual**2).sum(axis=1), residual

    def mean_squared_error(self, scores: Array, targets: Array) -> float:
        """(f - t)^2, averaged over rows: twice the mean loss."""
        return float(2.0 * self.value(scores, targets).mean())

    def curvature(self, scores: Array, targets: Array) -> Array:
        return np.ones_like(scores)

    def conjugate(self, duals: Array, targets: Array) -> Array:
        return np.asarray((0.5 * duals**2 + duals * self.codes(targets, duals.shape[1])).sum(axis=1))

    def masses(self, duals: Array, targets: Array, weights: Array) -> Array:
        """(K + 1,): sum of s u, and of s."""
        return np.append(weights @ duals, weights.sum())

    def balanced_by(self, duals: Array, targets: Array, masses: Array) -> Array:
        return np.asarray(duals - masses[:-1] / masses[-1])

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array:
        """The mean of the codes."""
        one = n_outputs == 1
        return mean_sign(class_weights, 1) if one else np.asarray(class_weights / class_weights.sum())
