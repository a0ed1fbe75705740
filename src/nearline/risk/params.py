"""Params: the weights W (K, D) and biases b (K,) of a linear score, views of one flat float64 vector."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nearline._arrays.design import Array, contiguous
from nearline._records.kept import Numbers, Whole, kept, require


def _whole(params: "Params") -> None:
    size = params.n_outputs * (params.n_features + 1)
    require(
        len(params.flat) == size, f"There are {len(params.flat)} weights and biases, but {size} are needed"
    )


@kept(flat=Numbers(("F",), "float64", wild=True), n_outputs=Whole(1), n_features=Whole(0), links=_whole)
@dataclass(frozen=True)
class Params:
    """Weights and biases of f(x) = W x + b. Solvers of vectors use ``flat``, all else ``W`` and ``b``."""

    flat: Array
    n_outputs: int
    n_features: int

    def __post_init__(self) -> None:
        given: Any = self.flat
        if not isinstance(given, np.ndarray):
            object.__setattr__(self, "flat", np.ravel(np.asarray(given, dtype=np.float64)))
            _whole(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """What comes over a network may lie anywhere in memory."""
        self.__dict__.update(state, flat=contiguous(state["flat"]))

    @classmethod
    def zeros(cls, n_outputs: int, n_features: int) -> Self:
        return cls(np.zeros(n_outputs * (n_features + 1)), n_outputs, n_features)

    @classmethod
    def of(cls, W: Any, b: Any) -> Self:
        """Params with copies of W (K, D) and b (K,), arrays or lists; a vector and a number are those of one output.

        Examples
        --------
        >>> from nearline import Params
        >>> Params.of([[1.0, 2.0]], [0.5]).flat.tolist(), Params.of([1, 2], 0.5).W.shape
        ([1.0, 2.0, 0.5], (1, 2))
        """
        W, b = np.atleast_2d(np.asarray(W, dtype=np.float64)), np.ravel(np.asarray(b, dtype=np.float64))
        if W.ndim != 2 or len(b) != len(W):
            raise ValueError(
                f"Weights are (K, D) and biases (K,), got the shapes {W.shape} and {b.shape}: give one bias for each output."
            )
        return cls(np.concatenate([np.ravel(W), b]), *W.shape)

    @property
    def W(self) -> Array:
        return self.flat[: self.n_outputs * self.n_features].reshape(self.n_outputs, self.n_features)

    @property
    def b(self) -> Array:
        return self.flat[self.n_outputs * self.n_features :]

    def like(self, flat: Array) -> Self:
        """Params of the same shape with other numbers."""
        return type(self)(flat, self.n_outputs, self.n_features)

    def copy(self) -> Self:
        return self.like(self.flat.copy())
