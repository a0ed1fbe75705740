"""Losses of a score vector f = (f_1, ..., f_K) and a class y: softmax, sparsemax, and what such losses share."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.losses._base import Loss, one_hot
from nearline.losses._formulas import log_softmax, softmax, sparsemax, xlogx
from nearline.losses._special import Special

ROUNDING = 1e-9  # what a sum of a row's duals may be off by, per class


@dataclass(frozen=True)
class SimplexLoss(Loss):
    """Losses of the form max over p in the simplex of p.f - Omega(p, y), less the target's score: u = p - q."""

    joint: ClassVar[bool] = True

    def masses(self, duals: Array, targets: Array, weights: Array) -> Array:
        """(2, K): what each class got, sum_i s_i p_i, and what it is due, sum_i s_i q_i."""
        q = one_hot(targets, duals.shape[1])
        return np.stack([weights @ (duals + q), weights @ q])

    def balanced_by(self, duals: Array, targets: Array, masses: Array) -> Array:
        """Move surplus mass between the classes, row by row, so that sum_i s_i p_i = sum_i s_i q_i.

        Classes that got too much are scaled down in every row; what a row loses goes to the classes that got too
        little, in proportion to what they lack. Rows stay in the simplex.
        """
        q = one_hot(targets, duals.shape[1])
        p = duals + q
        got, due = masses
        surplus, lack = np.maximum(got - due, 0.0), np.maximum(due - got, 0.0)
        if not lack.sum() > 0:
            return duals
        keep = np.where(surplus > 0, due / np.where(got > 0, got, 1.0), 1.0)
        freed = (p * (1.0 - keep)).sum(axis=1, keepdims=True)
        return np.asarray(p * keep + freed * (lack / lack.sum()) - q)


@dataclass(frozen=True)
class Softmax(SimplexLoss):
    """B11, cross-entropy: -f_y + log sum_c exp f_c, gradient P - e_y."""

    name: ClassVar[str] = "softmax"
    special: ClassVar[Special] = Special(core="softmax", distributions=True, endless=True, steepness=0.5)

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        q = one_hot(targets, scores.shape[1])
        shifted = scores - scores.max(axis=1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=1, keepdims=True)
        return np.log(total[:, 0]) - (shifted * q).sum(axis=1), e / total - q

    def curvature(self, scores: Array, targets: Array) -> Array:
        p = softmax(scores)
        return np.einsum("ij,jk->ijk", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None, :]

    def shares(self, scores: Array, targets: Array) -> Array:
        return softmax(scores)

    def curvature_product(self, scores: Array, targets: Array, direction: Array) -> Array:
        p = softmax(scores)
        return np.asarray(p * (direction - (p * direction).sum(axis=1, keepdims=True)))

    def conjugate(self, duals: Array, targets: Array) -> Array:
        p = duals + one_hot(targets, duals.shape[1])
        return np.where(in_simplex(p), xlogx(np.maximum(p, 0.0)).sum(axis=1), np.inf)

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array | None:
        """Logarithms of the classes' weights, about their mean; None if a class has none."""
        if not (class_weights > 0).all():
            return None
        logarithms = np.log(class_weights)
        return np.asarray(logarithms - logarithms.mean())

    def probabilities(self, scores: Array) -> Array:
        return softmax(scores)

    def log_probabilities(self, scores: Array) -> Array:
        return log_softmax(scores)


@dataclass(frozen=True)
class Sparsemax(SimplexLoss):
    """B12: max_p p.f - |p|^2/2, less q.f - |q|^2/2; gradient sparsemax(f) - q. Targets may be label sets."""

    name: ClassVar[str] = "sparsemax"
    special: ClassVar[Special] = Special(core="sparsemax", distributions=True)

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        q = one_hot(targets, scores.shape[1])
        p = sparsemax(scores)
        # (p - q).f is taken relative to f's maximum, which changes nothing as both sum to one.
        shifted = scores - scores.max(axis=1, keepdims=True)
        value = ((p - q) * shifted).sum(axis=1) - 0.5 * (p * p).sum(axis=1) + 0.5 * (q * q).sum(axis=1)
        return np.maximum(value, 0.0), p - q

    def curvature(self, scores: Array, targets: Array) -> Array:
        support = (sparsemax(scores) > 0).astype(float)
        size = support.sum(axis=1)[:, None, None]
        outer = support[:, :, None] * support[:, None, :]
        return np.einsum("ij,jk->ijk", support, np.eye(scores.shape[1])) - outer / size

    def shares(self, scores: Array, targets: Array) -> Array:
        return np.asarray(sparsemax(scores) > 0, dtype=np.float64)

    def curvature_product(self, scores: Array, targets: Array, direction: Array) -> Array:
        support = sparsemax(scores) > 0
        inside = np.where(support, direction, 0.0)
        mean = inside.sum(axis=1, keepdims=True) / support.sum(axis=1, keepdims=True)
        return np.where(support, direction - mean, 0.0)

    def conjugate(self, duals: Array, targets: Array) -> Array:
        q = one_hot(targets, duals.shape[1])
        p = duals + q
        return np.where(in_simplex(p), 0.5 * (p * p).sum(axis=1) - 0.5 * (q * q).sum(axis=1), np.inf)

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array:
        """The classes' shares, about their mean: sparsemax leaves a point of the simplex where it is."""
        return np.asarray(class_weights / class_weights.sum() - 1.0 / n_outputs)

    def probabilities(self, scores: Array) -> Array:
        return sparsemax(scores)


def in_simplex(p: Array) -> Array:
    """Which rows are probability vectors (sums up to rounding)."""
    return np.asarray((p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= ROUNDING * p.shape[1]))
