"""What a step of SGD does for the penalty."""

from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline.regularizers import Regularizer

LOOKS = 20  # power iterations towards the largest curvature of a penalty


@dataclass(frozen=True)
class Pull:
    """l1 |W|_1 + (l2/2) |W|^2, or alpha times a penalty of another kind."""

    l1: float
    l2: float
    other: Regularizer | None = None
    alpha: float = 0.0

    @classmethod
    def of(cls, regularizer: Regularizer, alpha: float, n_outputs: int) -> "Pull":
        known = regularizer.as_elastic(n_outputs)
        if known is not None:
            return cls(alpha * known.l1, alpha * known.l2)
        reason = refusal(regularizer) if alpha else None
        if reason is not None:
            raise ValueError(reason)
        return cls(0.0, 0.0, regularizer, alpha) if alpha else cls(0.0, 0.0)

    @property
    def kinks(self) -> bool:
        """Whether weights may be exactly 0."""
        return self.l1 > 0 if self.other is None else not self.other.smooth

    def moved(self, W: Array, G: Array, eta: float, l1_step: str) -> Array:
        """W after a step of size eta along -G and the penalty."""
        if self.other is not None:
            return self._moved_by_other(W, G, eta, l1_step)
        new = (1.0 - eta * self.l2) * W - eta * G
        if l1_step == "subgradient":
            new -= eta * self.l1 * np.sign(W)
        elif self.l1 > 0:
            new = np.sign(new) * np.maximum(np.abs(new) - eta * self.l1, 0.0)
        return new

    def _moved_by_other(self, W: Array, G: Array, eta: float, l1_step: str) -> Array:
        assert self.other is not None
        if l1_step == "subgradient":
            raise ValueError(
                f"l1_step='subgradient' is for an L1 penalty, got '{self.other.name}': leave it 'proximal'."
            )
        nearest = self.other.prox(W - eta * G, eta * self.alpha)
        if nearest is not None:
            return nearest
        slope = self.other.gradient(W)
        assert slope is not None  # else it was refused
        return np.asarray(W - eta * (G + self.alpha * slope))

    def steepness(self, shape: tuple[int, int]) -> float:
        """Largest curvature of the penalty that steps along its gradient meet, as far as it shows near W = 0."""
        if self.other is None or self.other.knows("prox"):
            return self.l2
        W, size, h = np.random.default_rng(0).normal(size=shape), 0.0, 1e-4
        start = self.other.gradient(np.zeros(shape))
        for _ in range(LOOKS):
            W *= h / max(float(np.linalg.norm(W)), 1e-300)
            there = self.other.gradient(W)
            assert start is not None
            assert there is not None
            W = there - start
            size = float(np.linalg.norm(W)) / h
        return self.alpha * size


def refusal(regularizer: Regularizer) -> str | None:
    """Why steps cannot serve a penalty."""
    if regularizer.knows("gradient") or regularizer.knows("prox"):
        return None
    return (
        f"Steps of SGD need the gradient or the prox of a penalty and '{regularizer.name}' defines neither: define one, "
        "or take a penalty of nearline.REGULARIZERS."
    )
