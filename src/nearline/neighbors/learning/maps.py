"""Maps of rows to embedded rows, with derivatives: linear, or with one hidden layer. Parameters are one vector."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array


class Map(ABC):
    """Rows X (n, D) to rows Z (n, d), as the parameters say."""

    d: int
    D: int

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of parameters."""

    @abstractmethod
    def started(self, A: Array, rng: np.random.Generator) -> Array:
        """Parameters of a map that is about the linear one by A (d, D)."""

    @abstractmethod
    def forward(self, parameters: Array, X: Array) -> tuple[Array, Any]:
        """Z, and what the way back needs."""

    @abstractmethod
    def backward(self, parameters: Array, X: Array, G: Array, held: Any) -> Array:
        """Gradient with respect to the parameters, where that with respect to Z is G."""

    @abstractmethod
    def weights(self, parameters: Array) -> Array:
        """Those of the parameters that weight decay shrinks; a view."""


@dataclass(frozen=True)
class LinearMap(Map):
    """Z = X A^T."""

    d: int
    D: int

    @property
    def size(self) -> int:
        return self.d * self.D

    def matrix(self, parameters: Array) -> Array:
        """A (d, D)."""
        return parameters[: self.d * self.D].reshape(self.d, self.D)

    def started(self, A: Array, rng: np.random.Generator) -> Array:
        return A.ravel().astype(np.float64)

    def forward(self, parameters: Array, X: Array) -> tuple[Array, Any]:
        return X @ self.matrix(parameters).T, None

    def backward(self, parameters: Array, X: Array, G: Array, held: Any) -> Array:
        return np.asarray(G.T @ X).ravel()

    def weights(self, parameters: Array) -> Array:
        return parameters[: self.d * self.D]


@dataclass(frozen=True)
class HiddenMap(Map):
    """Z = X A^T + tanh(X B^T + b) C^T: the linear map, bent by h hidden units; with C = 0 it is linear."""

    d: int
    D: int
    h: int

    @property
    def size(self) -> int:
        return (self.d + self.h) * self.D + (self.d + 1) * self.h

    def parts(self, parameters: Array) -> tuple[Array, Array, Array, Array]:
        """A (d, D), B (h, D), C (d, h), b (h,)."""
        sizes = np.cumsum([self.d * self.D, self.h * self.D, self.d * self.h])
        A, B, C, b = np.split(parameters, sizes)
        return A.reshape(self.d, self.D), B.reshape(self.h, self.D), C.reshape(self.d, self.h), b[: self.h]

    def started(self, A: Array, rng: np.random.Generator) -> Array:
        """Hidden units look along random directions, rows having length 1 on average, and count little at first."""
        B = 2.0 * rng.standard_normal((self.h, self.D))
        C = 0.1 * np.sqrt(np.mean(A**2)) * rng.standard_normal((self.d, self.h))
        b = rng.uniform(-1.0, 1.0, self.h)
        return np.concatenate([part.ravel() for part in (A, B, C, b)]).astype(np.float64)

    def forward(self, parameters: Array, X: Array) -> tuple[Array, Any]:
        A, B, C, b = self.parts(parameters)
        H = np.tanh(X @ B.T + b)
        return X @ A.T + H @ C.T, H

    def backward(self, parameters: Array, X: Array, G: Array, held: Any) -> Array:
        _, _, C, _ = self.parts(parameters)
        slope = (G @ C) * (1.0 - held * held)
        parts = (G.T @ X, slope.T @ X, G.T @ held, slope.sum(axis=0))
        return np.concatenate([part.ravel() for part in parts])

    def weights(self, parameters: Array) -> Array:
        return parameters[: self.d * self.D + self.h * self.D + self.d * self.h]
