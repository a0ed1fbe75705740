"""The passes in NumPy: for any loss and any targets, and the reference that the compiled ones are tested against."""

from typing import final

import numpy as np

from nearline._arrays.design import Array, back_product, is_sparse, product
from nearline._arrays.once import once
from nearline.losses import signs
from nearline.risk.params import Params
from nearline.risk.passes._base import Passes
from nearline.risk.passes._bias import BiasSums
from nearline.risk.passes.curvature import RowCurvature, row_blocks


class NumpyPasses(Passes):
    """Every sweep by the loss's own methods on arrays of all rows; products with X are up to those who inherit."""

    def total_loss(self, scores: Array) -> float:
        values = self.loss.value(scores.astype(np.float64, copy=False), self.targets)
        return float(self.weights @ values)

    def value_and_gradient(self, params: Params) -> tuple[Array, float, Array, Array]:
        scores = self.scores(params)
        return (scores, *self.gradient_from_scores(scores))

    def gradient_from_scores(self, scores: Array) -> tuple[float, Array, Array]:
        values, G = self.loss.value_and_gradient(scores.astype(np.float64, copy=False), self.targets)
        G = G * self.weights[:, None]
        return float(self.weights @ values), self.back_product(G), G.sum(axis=0)

    def value_and_slope(
        self, scores: Array, direction_scores: Array, step: float = 0.0
    ) -> tuple[float, float]:
        moved = scores.astype(np.float64, copy=False) + step * direction_scores
        values, G = self.loss.value_and_gradient(moved, self.targets)
        return float(self.weights @ values), float(self.weights @ (G * direction_scores).sum(axis=1))

    def smallest_margin(self, scores: Array) -> float:
        scores = scores[self.weights > 0]
        targets = self.targets[self.weights > 0]
        if not self.loss.joint:
            return float((signs(targets, self.n_outputs) * scores).min())
        own = scores[np.arange(len(scores)), targets]
        others = scores.copy()
        others[np.arange(len(scores)), targets] = -np.inf
        return float((own - others.max(axis=1)).min())

    def hessian_product(self, scores: Array, direction: Params) -> tuple[Array, Array]:
        V = self.scores(direction).astype(np.float64, copy=False)
        H = self.loss.curvature_product(scores.astype(np.float64, copy=False), self.targets, V)
        assert H is not None, f"{self.loss.name} has no curvature"
        H = H * self.weights[:, None]
        return self.back_product(H), H.sum(axis=0)

    def row_curvature(self, scores: Array, rows: slice | Array) -> RowCurvature:
        curvature = self.loss.curvature(scores.astype(np.float64, copy=False), self.targets[rows])
        assert curvature is not None, f"{self.loss.name} has no curvature"
        return RowCurvature.of(curvature, self.weights[rows])

    @once
    def column_moments(self) -> tuple[Array, Array]:
        total = self.weights.sum()
        mean = np.asarray(self.weights @ self.X, dtype=np.float64).ravel() / total
        square = np.zeros_like(mean)
        for rows in row_blocks(*self.X.shape):
            block = self.X[rows].toarray() if is_sparse(self.X) else self.X[rows]
            square += self.weights[rows] @ (block - mean) ** 2
        return mean, np.sqrt(square / total)

    def bias_sums(self, scores: Array, b: Array) -> BiasSums:
        moved = scores.astype(np.float64, copy=False) + b
        values, G = self.loss.value_and_gradient(moved, self.targets)
        curvature = self.loss.curvature(moved, self.targets)
        if curvature is not None and curvature.ndim == 2:
            curvature = np.diag(self.weights @ curvature)
        elif curvature is not None:
            curvature = np.einsum("i,ijk->jk", self.weights, curvature)
        return BiasSums(float(self.weights @ values), self.weights @ G, curvature)


@final
class GenericPasses(NumpyPasses):
    """Products with X in its own precision."""

    def scores(self, params: Params) -> Array:
        return product(self.X, params.W) + params.b.astype(self.X.dtype)

    def back_product(self, G: Array) -> Array:
        return back_product(self.X, G)
