"""Losses of the margin z = y f(x), y in {-1, +1}. With K > 1 columns each is one-vs-rest."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Real, kept
from nearline.losses._base import Loss, one_hot, signs
from nearline.losses._formulas import mean_sign, sides, sigmoid, within, xlogx
from nearline.losses._special import Slack, Special


@dataclass(frozen=True)
class MarginLoss(Loss):
    """loss(f, y) = phi(y f), added over the columns. A dual is u = y a with a = phi'(z) <= 0."""

    @classmethod
    def _derived(cls) -> tuple[str, ...]:
        return (*super()._derived(), "d2phi", "phi_conjugate", "positive_probability")

    @abstractmethod
    def phi(self, z: Array) -> Array:
        """The loss as a function of the margin."""

    @abstractmethod
    def dphi(self, z: Array) -> Array:
        """A (sub)derivative of phi."""

    def d2phi(self, z: Array) -> Array | None:
        """The (generalized) second derivative of phi."""
        return None

    def phi_conjugate(self, a: Array) -> Array | None:
        """phi*(a) = sup_z a z - phi(z)."""
        return None

    def positive_probability(self, f: Array) -> Array | None:
        """P(y = +1) as a function of the score, where the loss defines one."""
        return None

    def value(self, scores: Array, targets: Array) -> Array:
        y = signs(targets, scores.shape[1])
        return np.asarray(self.phi(y * scores).sum(axis=1))

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        y = signs(targets, scores.shape[1])
        z = y * scores
        return self.phi(z).sum(axis=1), y * self.dphi(z)

    def curvature(self, scores: Array, targets: Array) -> Array | None:
        return self.d2phi(signs(targets, scores.shape[1]) * scores)

    def conjugate(self, duals: Array, targets: Array) -> Array | None:
        values = self.phi_conjugate(signs(targets, duals.shape[1]) * duals)
        return None if values is None else values.sum(axis=1)

    def masses(self, duals: Array, targets: Array, weights: Array) -> Array | None:
        """(2, K): sum of -s u over the rows of the class, and of s u over all others."""
        positive, negative = _sides(duals, targets)
        return np.stack([weights @ positive, weights @ negative])

    def balanced_by(self, duals: Array, targets: Array, masses: Array) -> Array | None:
        """Scale the heavier side of each column down: 0 is in the domain of phi*, so it stays inside."""
        positive, negative = _sides(duals, targets)
        mass_positive, mass_negative = masses
        lighter = np.minimum(mass_positive, mass_negative)
        scale_positive = np.divide(
            lighter, mass_positive, out=np.zeros_like(lighter), where=mass_positive > 0
        )
        scale_negative = np.divide(
            lighter, mass_negative, out=np.zeros_like(lighter), where=mass_negative > 0
        )
        return np.asarray(scale_negative * negative - scale_positive * positive)

    def probabilities(self, scores: Array) -> Array | None:
        p = self.positive_probability(scores)
        if p is None:
            return None
        if scores.shape[1] == 1:
            return np.hstack([1.0 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / scores.shape[1])


@dataclass(frozen=True)
class ZeroOne(MarginLoss):
    """[z <= 0]; of more classes [f_y <= the largest other score]. Ties are mistakes (though predict decides them)."""

    name: ClassVar[str] = "zero-one"
    smooth: ClassVar[bool] = False
    refusal: ClassVar[str | None] = (
        "the zero-one loss is piecewise constant and its minimization NP-hard: "
        "minimize a surrogate ('logistic', 'hinge', ...) and evaluate this one"
    )

    def phi(self, z: Array) -> Array:
        return (z <= 0).astype(float)

    def dphi(self, z: Array) -> Array:
        return np.zeros_like(z)

    def value(self, scores: Array, targets: Array) -> Array:
        """A row is one mistake, whatever the number of its columns."""
        if scores.shape[1] == 1:
            return super().value(scores, targets)
        own = one_hot(targets, scores.shape[1]) > 0
        best, other = (np.where(rows, scores, -np.inf).max(axis=1) for rows in (own, ~own))
        return (best <= other).astype(float)

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        return self.value(scores, targets), np.zeros_like(scores)


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """B3: log(1 + exp(-z)), slope -sigma(-z)."""

    name: ClassVar[str] = "logistic"
    special: ClassVar[Special] = Special(core="logistic", dual_step=True, endless=True, steepness=0.25)

    def phi(self, z: Array) -> Array:
        return np.logaddexp(0.0, -z)

    def dphi(self, z: Array) -> Array:
        return -sigmoid(-z)

    def d2phi(self, z: Array) -> Array:
        return sigmoid(z) * sigmoid(-z)

    def phi_conjugate(self, a: Array) -> Array:
        return xlogx(-a) + xlogx(1.0 + a)

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array | None:
        """The log-odds of the class; None if it has all or nothing, where there is no finite one."""
        positive, negative = sides(class_weights, n_outputs)
        if not (positive > 0).all() or not (negative > 0).all():
            return None
        return np.asarray(np.log(positive) - np.log(negative))

    def positive_probability(self, f: Array) -> Array:
        return sigmoid(f)

    def probabilities(self, scores: Array) -> Array:
        return np.asarray(np.exp(self.log_probabilities(scores)))

    def log_probabilities(self, scores: Array) -> Array:
        if scores.shape[1] == 1:
            return -np.logaddexp(0.0, np.hstack([scores, -scores]))
        logarithms = -np.logaddexp(0.0, -scores)  # of each class against the rest, on its own
        return np.asarray(logarithms - np.logaddexp.reduce(logarithms, axis=1, keepdims=True))


@dataclass(frozen=True)
class PerceptronLoss(MarginLoss):
    """B4: max(0, -z)."""

    name: ClassVar[str] = "perceptron"
    smooth: ClassVar[bool] = False
    refusal: ClassVar[str | None] = (
        "w = 0 minimizes the perceptron loss, whatever the data: "
        "use the perceptron rule (nearline.Perceptron), which only needs mistakes to end"
    )

    def phi(self, z: Array) -> Array:
        return np.maximum(0.0, -z)

    def dphi(self, z: Array) -> Array:
        return -(z < 0).astype(float)

    def phi_conjugate(self, a: Array) -> Array:
        return within(a, -1.0, 0.0, np.zeros_like(a))


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """B5: max(0, 1 - z); the sub-gradient at z = 1 is taken as 0."""

    name: ClassVar[str] = "hinge"
    smooth: ClassVar[bool] = False
    special: ClassVar[Special] = Special(core="hinge", dual_step=True, slack=Slack.COLUMN, steepness=0.25)

    def phi(self, z: Array) -> Array:
        return np.maximum(0.0, 1.0 - z)

    def dphi(self, z: Array) -> Array:
        return -(z < 1).astype(float)

    def phi_conjugate(self, a: Array) -> Array:
        return within(a, -1.0, 0.0, a)

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array:
        """p max(0, 1 - b) + q max(0, 1 + b) is least at b = 1 where p > q, at -1 where p < q, and flat between."""
        positive, negative = sides(class_weights, n_outputs)
        return np.sign(positive - negative)

    def smoothed(self, stretch: float) -> "SmoothedHinge":
        return SmoothedHinge(stretch)


@kept(stretch=Real(above=0.0))
@dataclass(frozen=True)
class SmoothedHinge(MarginLoss):
    """max over a in [-1, 0] of a (z - 1) - (stretch/2) a^2: the hinge but for a parabola between 1 - stretch and 1."""

    name: ClassVar[str] = "smoothed-hinge"
    stretch: float = 1.0

    def phi(self, z: Array) -> Array:
        slack = np.maximum(1.0 - z, 0.0)
        return np.where(slack < self.stretch, slack**2 / (2.0 * self.stretch), slack - 0.5 * self.stretch)

    def dphi(self, z: Array) -> Array:
        return -np.clip((1.0 - z) / self.stretch, 0.0, 1.0)

    def d2phi(self, z: Array) -> Array:
        return ((z < 1.0) & (z > 1.0 - self.stretch)) / self.stretch

    def phi_conjugate(self, a: Array) -> Array:
        return within(a, -1.0, 0.0, a + 0.5 * self.stretch * a * a)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """B6: max(0, 1 - z)^2."""

    name: ClassVar[str] = "squared-hinge"
    special: ClassVar[Special] = Special(core="squared-hinge", dual_step=True, steepness=2.0)

    def phi(self, z: Array) -> Array:
        return np.maximum(0.0, 1.0 - z) ** 2

    def dphi(self, z: Array) -> Array:
        return -2.0 * np.maximum(0.0, 1.0 - z)

    def d2phi(self, z: Array) -> Array:
        return 2.0 * (z < 1)

    def phi_conjugate(self, a: Array) -> Array:
        return within(a, -np.inf, 0.0, a + a * a / 4.0)

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array:
        return mean_sign(class_weights, n_outputs)


@dataclass(frozen=True)
class BinarySparsemax(MarginLoss):
    """B7, classification Huber: 0 for z >= 1, (1 - z)^2 / 4 for -1 < z < 1, -z for z <= -1."""

    name: ClassVar[str] = "binary-sparsemax"
    special: ClassVar[Special] = Special(core="binary-sparsemax", steepness=0.5)

    def phi(self, z: Array) -> Array:
        inner = np.clip(z, -1.0, 1.0)
        return (1.0 - inner) ** 2 / 4.0 + np.maximum(0.0, -1.0 - z)

    def dphi(self, z: Array) -> Array:
        return -np.clip((1.0 - z) / 2.0, 0.0, 1.0)

    def d2phi(self, z: Array) -> Array:
        return 0.5 * (np.abs(z) < 1)

    def phi_conjugate(self, a: Array) -> Array:
        return within(a, -1.0, 0.0, a + a * a)

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array:
        return mean_sign(class_weights, n_outputs)

    def positive_probability(self, f: Array) -> Array:
        return np.clip((1.0 + f) / 2.0, 0.0, 1.0)


def _sides(duals: Array, targets: Array) -> tuple[Array, Array]:
    """-u of the rows of the column's class, and u of all others; 0 elsewhere."""
    y = signs(targets, duals.shape[1])
    return np.where(y > 0, -duals, 0.0), np.where(y < 0, duals, 0.0)
