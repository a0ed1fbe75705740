"""The passes that certificates are computed with: all sums in float64, whatever the precision of X."""

from typing import final

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.once import once
from nearline._parallel.tiles import map_tiles, slices
from nearline.risk.params import Params
from nearline.risk.passes._base import Passes
from nearline.risk.passes._bias import BiasSums
from nearline.risk.passes.generic import NumpyPasses

TILE = 1 << 18  # numbers of X that are held in float64 at a time


@final
class ExactPasses(NumpyPasses):
    """Rows become float64 a tile at a time; X is never copied as a whole."""

    def __init__(self, passes: Passes) -> None:
        super().__init__(passes.X, passes.targets, passes.weights, passes.loss, passes.n_outputs)
        self._passes = passes
        # What is computed from scores alone may be compiled: float64 scores are summed in float64.
        nothing = np.zeros((len(self.targets), 0))
        self._losses = type(passes)(nothing, self.targets, self.weights, self.loss, self.n_outputs)

    def scores(self, params: Params) -> Array:
        parts = map_tiles(
            lambda rows: np.asarray(self.X[rows].astype(np.float64) @ params.W.T),
            self._tiles,
            work=self._work,
        )
        return np.concatenate(parts) + params.b

    def back_product(self, G: Array) -> Array:
        total = np.zeros((G.shape[1], self.X.shape[1]))
        # (X^T G)^T: sparse rows are transposed for free.
        for part in map_tiles(
            lambda rows: np.asarray(self.X[rows].astype(np.float64).T @ G[rows]).T,
            self._tiles,
            work=self._work,
        ):
            total += part
        return total

    def total_loss(self, scores: Array) -> float:
        return self._losses.total_loss(scores)

    def bias_sums(self, scores: Array, b: Array) -> BiasSums:
        return self._losses.bias_sums(scores, b)

    def best_null_bias(self) -> Array:
        return self._passes.best_null_bias()

    @once
    def column_moments(self) -> tuple[Array, Array]:
        return self._passes.column_moments

    @once
    def _tiles(self) -> list[slice]:
        return slices(len(self.targets), max(1, TILE * len(self.targets) // max(1, self._n_numbers)))

    @property
    def _n_numbers(self) -> int:
        return int(self.X.nnz if is_sparse(self.X) else self.X.size)

    @property
    def _work(self) -> float:
        return 2.0 * self._n_numbers * self.n_outputs
