"""Kernel: an inner product k(x, x') = phi(x) . phi(x') that is computed without phi."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, admitted, contiguous, is_sparse
from nearline._records.inheritance import concrete_parents, forget_derived, redefined
from nearline._records.parameters import Parametrized
from nearline.kernels.distances import induced_squares

VALUES = ("among", "between", "diagonal")  # what a kernel is
DERIVED = ("squared_distances", "light")  # what its author derived from that


@dataclass(frozen=True)
class Kernel(Parametrized, ABC):
    """An inner product of items: vectors, strings or trees.

    ``kernel(A)`` is the Gram matrix of a collection, ``kernel(A, B)`` the matrix of all pairs of two. Kernels can be
    added and multiplied (also by numbers >= 0): what comes out is a kernel again.
    """

    takes: ClassVar[str] = (
        "vectors"  # what items are: "vectors", "strings", "trees"; "any" where a part decides
    )

    positive: ClassVar[bool] = (
        False  # whether all Gram matrices are positive semi-definite; a class says it of itself
    )

    @property
    def known_positive(self) -> bool:
        """Whether it is proven that no Gram matrix has a negative eigenvalue, of all kernels that this one is made of."""
        parts = (getattr(self, field.name) for field in fields(self))
        own = bool(vars(type(self)).get("positive", False))
        return own and all(part.known_positive for part in parts if isinstance(part, Kernel))

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = [name for name in VALUES if redefined(cls, name)]
        parents = [base for base in concrete_parents(cls) if issubclass(base, Kernel)]
        if own and len(own) < len(VALUES) and parents:
            raise TypeError(
                f"{cls.__name__} has its own {' and '.join(own)}, but inherits the rest of another kernel: define "
                f"{', '.join(VALUES[:-1])} and {VALUES[-1]} together."
            )
        forget_derived(cls, VALUES, DERIVED)

    def items(self, raw: Any) -> Any:
        """A collection as this kernel computes with it: rows of numbers, or a 1-D object array. Checked; idempotent."""
        return vectors(raw)

    def fitted(self, items: Any, weights: Array | None = None) -> "Kernel":
        """This kernel with numbers where a rule stands for them, such as gamma="scale"; from training items."""
        return self

    def light(self, items: Any) -> Any:
        """Checked items in float32 where that leaves the Gram matrix as good: half the memory, twice the speed."""
        return items

    @abstractmethod
    def among(self, items: Any) -> Array:
        """k(x, x') for all pairs of a checked collection (n, n), symmetric to the last bit."""

    @abstractmethod
    def between(self, A: Any, B: Any) -> Array:
        """k(a, b) for all pairs of two checked collections (n_A, n_B)."""

    @abstractmethod
    def diagonal(self, items: Any) -> Array:
        """k(x, x) for each of a checked collection (n,), float64."""

    def squared_distances(self, A: Any, B: Any) -> Array:
        """|phi(a) - phi(b)|^2 for all pairs of two checked collections, float64."""
        K = self.among(A) if A is B else self.between(A, B)
        return induced_squares(K, self.diagonal(A), self.diagonal(B))

    def __call__(self, A: Any, B: Any = None) -> Array:
        A = self.items(A)
        kernel = self.fitted(A)
        return kernel.among(A) if B is None else kernel.between(A, kernel.items(B))

    def __add__(self, other: "Kernel | float") -> "Kernel":
        from nearline.kernels.algebra import Constant, Sum

        return Sum(self, other if isinstance(other, Kernel) else Constant(float(other)))

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        from nearline.kernels.algebra import Constant, Product

        return Product(self, other if isinstance(other, Kernel) else Constant(float(other)))

    __radd__ = __add__
    __rmul__ = __mul__


def vectors(raw: Any) -> Any:
    """Rows of finite numbers: CSR as it is, other input as a C-contiguous array of float32 or float64."""
    if is_sparse(raw):
        X = admitted(raw)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        if not np.isfinite(X.data).all():
            raise ValueError("There are NaN or infinite values: fill or drop them first.")
        return X
    X = np.asarray(raw)
    if X.dtype not in (np.float32, np.float64):
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "This kernel takes rows of numbers: for strings take Spectrum or Subsequence, for trees SubsetTree."
            ) from error
    if X.ndim != 2:
        raise ValueError(f"Rows of numbers (n, features) are needed, found an array of shape {X.shape}.")
    if not np.isfinite(X).all():
        raise ValueError("There are NaN or infinite values: fill or drop them first.")
    return contiguous(X)
