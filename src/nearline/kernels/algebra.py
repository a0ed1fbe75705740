"""Kernels made of kernels: sums, products, multiples, normalized and centered ones."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Anything, Instance, Numbers, OrNone, Real, kept, require
from nearline.kernels._base import Kernel
from nearline.kernels.held import check_items
from nearline.kernels.vector import mirrored


@kept(value=Real(least=0.0))
@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, x') = value, for whatever items there are: the kernel of a bias, or a factor."""

    positive: ClassVar[bool] = True

    value: float = 1.0
    takes = "any"

    def __post_init__(self) -> None:
        if not 0 <= self.value < np.inf:
            raise ValueError(
                f"A kernel can be multiplied by, or have added, numbers >= 0, got {self.value!r}."
            )

    def items(self, raw: Any) -> Any:
        return raw

    def among(self, items: Any) -> Array:
        return np.full((_count(items), _count(items)), self.value)

    def between(self, A: Any, B: Any) -> Array:
        return np.full((_count(A), _count(B)), self.value)

    def diagonal(self, items: Any) -> Array:
        return np.full(_count(items), self.value)

    def squared_distances(self, A: Any, B: Any) -> Array:
        return np.zeros((_count(A), _count(B)))


@kept(first=Instance(Kernel), second=Instance(Kernel))
@dataclass(frozen=True)
class _Pair(Kernel):
    """Two kernels of the same items."""

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        _refuse_matrices(self.first, self.second)
        kinds = {self.first.takes, self.second.takes} - {"any"}
        if len(kinds) > 1:
            raise ValueError(
                f"Kernels of {' and '.join(sorted(kinds))} cannot be combined: they take different items."
            )

    @property
    def takes(self) -> str:  # type: ignore[override]
        return self.second.takes if self.first.takes == "any" else self.first.takes

    def items(self, raw: Any) -> Any:
        return self.second.items(self.first.items(raw))

    def fitted(self, items: Any, weights: Array | None = None) -> Self:
        first, second = (part.fitted(items, weights) for part in (self.first, self.second))
        return replace(self, first=first, second=second)


@dataclass(frozen=True)
class Sum(_Pair):
    """k + k': features of both, side by side."""

    positive: ClassVar[bool] = True

    def among(self, items: Any) -> Array:
        return self.first.among(items) + self.second.among(items)

    def between(self, A: Any, B: Any) -> Array:
        return self.first.between(A, B) + self.second.between(A, B)

    def diagonal(self, items: Any) -> Array:
        return self.first.diagonal(items) + self.second.diagonal(items)

    def squared_distances(self, A: Any, B: Any) -> Array:
        return self.first.squared_distances(A, B) + self.second.squared_distances(A, B)


@dataclass(frozen=True)
class Product(_Pair):
    """k k': all products of a feature of one and a feature of the other."""

    positive: ClassVar[bool] = True

    def among(self, items: Any) -> Array:
        return self.first.among(items) * self.second.among(items)

    def between(self, A: Any, B: Any) -> Array:
        return self.first.between(A, B) * self.second.between(A, B)

    def diagonal(self, items: Any) -> Array:
        return self.first.diagonal(items) * self.second.diagonal(items)


@kept(kernel=Instance(Kernel))
@dataclass(frozen=True)
class _Wrapped(Kernel):
    """A kernel changed."""

    kernel: Kernel

    def __post_init__(self) -> None:
        _refuse_matrices(self.kernel)

    @property
    def takes(self) -> str:  # type: ignore[override]
        return self.kernel.takes

    def items(self, raw: Any) -> Any:
        return self.kernel.items(raw)

    def fitted(self, items: Any, weights: Array | None = None) -> Self:
        return replace(self, kernel=self.kernel.fitted(items, weights))


@dataclass(frozen=True)
class Normalized(_Wrapped):
    """k(x, x') / sqrt(k(x, x) k(x', x')): the cosine in the space of features; 0 for items that have no feature.

    Examples
    --------
    >>> from nearline.kernels import Linear, Normalized
    >>> Normalized(Linear())([[3.0, 0.0], [1.0, 1.0]]).round(3).tolist()
    [[1.0, 0.707], [0.707, 1.0]]
    """

    positive: ClassVar[bool] = True

    def among(self, items: Any) -> Array:
        length = np.sqrt(self.kernel.diagonal(items))
        K = _divided(self.kernel.among(items), length, length)
        np.fill_diagonal(K, (length > 0).astype(K.dtype))
        return K

    def between(self, A: Any, B: Any) -> Array:
        a, b = (np.sqrt(self.kernel.diagonal(items)) for items in (A, B))
        return _divided(self.kernel.between(A, B), a, b)

    def diagonal(self, items: Any) -> Array:
        return (self.kernel.diagonal(items) > 0).astype(np.float64)


def _of_training_items(kernel: "Centered") -> None:
    parts = (kernel.training, kernel.shares, kernel.spreads)
    some = [part for part in parts if part is not None]
    require(len(some) in (0, len(parts)), "A centered kernel lacks some of what it was fitted to")
    if kernel.shares is not None:
        check_items(kernel.kernel, kernel.training, len(kernel.shares))


@kept(
    training=Anything(),
    shares=OrNone(Numbers(("n",), least=0.0)),
    spread=Real(),
    spreads=OrNone(Numbers(("n",))),
    links=_of_training_items,
)
@dataclass(frozen=True, eq=False)
class Centered(_Wrapped):
    """k of features less their mean over the training items: K - 1K - K1 + 1K1 on these.

    It is computed from squared distances d^2, which a mean does not change,

        k(x, x') = -(d^2(x, x') - s(x) - s(x') + m) / 2,   s(x) = the mean of d^2(x, x_i),   m = the mean of s(x_i),

    so that items far from the origin lose no digits where their distances do not.

    Examples
    --------
    >>> from nearline.kernels import Centered, Linear
    >>> Centered(Linear())([[1.0], [3.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    positive: ClassVar[bool] = True

    training: Any = field(default=None, repr=False)  # items
    shares: Array | None = field(default=None, repr=False)  # weights of the items, of sum 1
    spread: float = field(default=0.0, repr=False)  # m
    spreads: Array | None = field(default=None, repr=False)  # s of the training items

    __eq__ = object.__eq__  # what was fitted to other items is another kernel
    __hash__ = object.__hash__

    def fitted(self, items: Any, weights: Array | None = None) -> Self:
        kernel = self.kernel.fitted(items, weights)
        shares = np.full(_count(items), 1.0) if weights is None else weights
        shares = shares / shares.sum()
        spreads = kernel.squared_distances(items, items) @ shares
        spread = float(spreads @ shares)
        return replace(self, kernel=kernel, training=items, shares=shares, spread=spread, spreads=spreads)

    def among(self, items: Any) -> Array:
        s = self._spreads(items)
        squares = mirrored(self.kernel.squared_distances(items, items))
        return -0.5 * (squares - (s[:, None] + s) + self.spread)

    def between(self, A: Any, B: Any) -> Array:
        s = self._spreads(A)[:, None] + self._spreads(B)
        return -0.5 * (self.kernel.squared_distances(A, B) - s + self.spread)

    def diagonal(self, items: Any) -> Array:
        return self._spreads(items) - 0.5 * self.spread

    def squared_distances(self, A: Any, B: Any) -> Array:
        """Those of the kernel itself."""
        return self.kernel.squared_distances(A, B)

    def _spreads(self, items: Any) -> Array:
        if self.spreads is None:
            raise ValueError("Centered needs training items to take the mean of: call fitted(items) first.")
        if items is self.training:
            return self.spreads
        return np.asarray(self.kernel.squared_distances(items, self.training) @ self.shares)


def _refuse_matrices(*kernels: Kernel) -> None:
    if any(kernel.takes == "gram" for kernel in kernels):
        raise ValueError(
            "A precomputed matrix is changed as a matrix: add, multiply or normalize it, then give it."
        )


def _divided(K: Array, a: Array, b: Array) -> Array:
    """K_ij / (a_i b_j), 0 where a length is 0. The product is taken first: it does not depend on the order of i and j."""
    lengths = np.outer(a, b)
    return np.divide(K, lengths, out=np.zeros(K.shape), where=lengths > 0).astype(
        K.dtype if K.dtype.kind == "f" else np.float64, copy=False
    )


def _count(items: Any) -> int:
    return int(items.shape[0]) if hasattr(items, "shape") else len(items)
