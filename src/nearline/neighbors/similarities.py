"""Metrics that are built from a cosine or an inner product: large ones are near."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, is_sparse
from nearline.neighbors.choice import VANISHING_SQUARES
from nearline.neighbors.embeddings import Directions, Embedding, Lifted, square_lengths
from nearline.neighbors.metric import Metric


@dataclass(frozen=True)
class Cosine(Metric):
    """1 - x.q / (|x| |q|); of a zero row the cosine counts as 0, so that its distance from any row is 1.

    Distances are rounded to multiples of 2^-40 (above 2^13 features of 2^-53 times the next power of two), which is more
    than rounding can have done to them: proportional rows are at distance 0, and the units of a row do not matter.
    """

    name: ClassVar[str] = "cosine"
    core: ClassVar[_core.Metric | None] = _core.Metric.cosine
    similarity: ClassVar[bool] = True
    least_row: ClassVar[float] = 1e-70
    in_graph: ClassVar[bool] = True

    def rows(self, X: Any) -> Any:
        """Rows of very small or large values by a power of two each, so that no square under- or overflows."""
        sizes = _largest(X)
        strange = (sizes > 0) & ((sizes < 1e-100) | (sizes > 1e100))
        if not strange.any():
            return X
        powers = np.where(strange, -np.frexp(sizes)[1], 0)
        if is_sparse(X):
            X = X.copy()
            X.data = np.ldexp(X.data, np.repeat(powers, np.diff(X.indptr)))
            return X
        return np.ldexp(X, powers[:, np.newaxis])

    def similarities(self, distances: Array) -> Array:
        return 1.0 - distances

    def embedding(self, X: Array) -> Embedding | None:
        return Directions()

    def points(self, A: Array) -> Array:
        sizes = np.linalg.norm(A, axis=1, keepdims=True)
        return A / np.where(sizes > 0, sizes, 1.0).astype(np.float32)


@dataclass(frozen=True)
class InnerProduct(Metric):
    """-x.q: the largest inner products first. No metric: a row need not be its own nearest neighbor."""

    name: ClassVar[str] = "inner-product"
    aliases: ClassVar[tuple[str, ...]] = ("dot",)
    core: ClassVar[_core.Metric | None] = _core.Metric.inner_product
    similarity: ClassVar[bool] = True
    in_graph: ClassVar[bool] = True
    by_product: ClassVar[bool] = True

    def rows(self, X: Any) -> Any:
        values = X.data if is_sparse(X) else X
        if values.size and max(float(values.max()), -float(values.min())) > 1e150:
            raise ValueError(
                "Inner product needs rows whose squared lengths are finite, got values up to "
                f"{abs(values).max():.3g}: divide all rows by one number, which does not change their order."
            )
        return X

    def embedding(self, X: Array) -> Embedding | None:
        largest = max(
            float(square_lengths(X[i : i + 4096].astype(np.float64)).max()) for i in range(0, len(X), 4096)
        )
        return Lifted(largest * (1.0 + 1e-12))

    @property
    def vanishing(self) -> float:
        return VANISHING_SQUARES


def _largest(X: Any) -> Array:
    """The largest absolute value of each row."""
    if is_sparse(X):
        sizes = np.zeros(X.shape[0])
        np.maximum.at(sizes, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), abs(X.data))
        return sizes
    if X.dtype == np.uint8 or not X.shape[1]:
        return np.ones(len(X))
    return np.maximum(X.max(axis=1), -X.min(axis=1)).astype(np.float64)
