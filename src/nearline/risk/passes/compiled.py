"""The passes in the compiled core: threads, one pass over X, no temporaries of X's size."""

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, Design, contiguous, is_sparse
from nearline._arrays.once import once
from nearline.losses import Loss
from nearline.risk._point import Point
from nearline.risk.params import Params
from nearline.risk.passes._base import NewtonStep, Passes
from nearline.risk.passes._bias import BiasSums
from nearline.risk.passes._csc import Csc
from nearline.risk.passes.curvature import RowCurvature
from nearline.risk.passes.generic import GenericPasses


def passes_for(X: Design, targets: Array, weights: Array, loss: Loss, n_outputs: int) -> Passes:
    """The fastest passes for this loss and these targets."""
    compiled = loss.compiled is not None and targets.ndim == 1
    return (CompiledPasses if compiled else GenericPasses)(X, targets, weights, loss, n_outputs)


@final
class CompiledPasses(Passes):
    """Every sweep for a built-in loss and class numbers as targets."""

    def __init__(self, X: Design, targets: Array, weights: Array, loss: Loss, n_outputs: int) -> None:
        super().__init__(X, targets, weights, loss, n_outputs)
        n_classes = loss.label_count(n_outputs)
        if len(targets) and not (targets.min() >= 0 and targets.max() < n_classes):
            raise ValueError(
                f"Targets must be class numbers 0 .. {n_classes - 1}, got {targets.min()} .. {targets.max()}: "
                "encode the labels."
            )
        assert loss.compiled is not None
        self._rows = (
            np.ascontiguousarray(targets, dtype=np.int32),
            np.ascontiguousarray(weights, dtype=np.float64),
            loss.compiled,
        )
        self._design: _Design = _SparseDesign(X, self.csc) if is_sparse(X) else _DenseDesign(X)

    def scores(self, params: Params) -> Array:
        scores = np.empty((self.X.shape[0], self.n_outputs), dtype=self.X.dtype)
        self._design.scores(params.W, params.b, scores)
        return scores

    def total_loss(self, scores: Array) -> float:
        return _core.value_and_slope(_table(scores), None, 0.0, *self._rows)[0]

    def value_and_gradient(self, params: Params) -> tuple[Array, float, Array, Array]:
        scores = np.empty((self.X.shape[0], self.n_outputs), dtype=self.X.dtype)
        G_W, G_b = np.empty(params.W.shape), np.empty(self.n_outputs)
        total = self._design.gradient(params.W, params.b, self._rows, scores, G_W, G_b)
        return scores, total, G_W, G_b

    def gradient_from_scores(self, scores: Array) -> tuple[float, Array, Array]:
        G_W, G_b = np.empty((self.n_outputs, self.X.shape[1])), np.empty(self.n_outputs)
        total = self._design.gradient_at(_table(scores), self._rows, G_W, G_b)
        return total, G_W, G_b

    def value_and_slope(
        self, scores: Array, direction_scores: Array, step: float = 0.0
    ) -> tuple[float, float]:
        return _core.value_and_slope(_table(scores), _table(direction_scores), step, *self._rows)

    def smallest_margin(self, scores: Array) -> float:
        return _core.smallest_margin(_table(scores), *self._rows)

    def back_product(self, G: Array) -> Array:
        G_W = np.empty((G.shape[1], self.X.shape[1]))
        self._design.back_product(_table(G), G_W)
        return G_W

    def hessian_product(self, scores: Array, direction: Params) -> tuple[Array, Array]:
        H_W, H_b = np.empty(direction.W.shape), np.empty(self.n_outputs)
        self._design.hessian_product(direction.W, direction.b, _table(scores), self._rows, H_W, H_b)
        return H_W, H_b

    def row_curvature(self, scores: Array, rows: slice | Array) -> RowCurvature:
        targets, weights, loss = self._rows
        some = np.ascontiguousarray(weights[rows])
        h = np.empty(scores.shape)
        _core.row_curvature(_table(scores), np.ascontiguousarray(targets[rows]), some, loss, h)
        if not self.loss.joint:
            return RowCurvature(h * some[:, None])
        # h_cc = q_c (sum of the other q): a sum, as a difference would lose what is small.
        others = h @ (1.0 - np.eye(self.n_outputs))
        return RowCurvature(h * others * some[:, None], factor=h * np.sqrt(some)[:, None])

    @property
    def steps_by_newton(self) -> bool:
        return not is_sparse(self.X) and self._has_curvature

    def newton_step(self, point: Point, bias: bool, l2: float, noise: float) -> NewtonStep:
        flat, scores = point.params.flat, np.empty_like(point.scores)
        direction, moved, gradient = np.empty_like(flat), np.empty_like(flat), np.empty_like(flat)
        mean = self.column_moments[0] if bias else None
        good, data_loss, penalty = _core.newton_step(
            self.X, mean, *self._rows, l2, noise, flat, point.scores, point.gradient.flat, point.value,
            direction, moved, scores, gradient,
        )  # fmt: skip
        like = point.params.like
        return NewtonStep(
            good, like(direction), Point(like(moved), scores, data_loss, penalty, like(gradient))
        )

    def _add_grams(self, X: Array, h: Array, out: Array) -> None:
        _core.add_weighted_grams(X, h, out)

    @once
    def column_moments(self) -> tuple[Array, Array]:
        mean, square = np.empty(self.X.shape[1]), np.empty(self.X.shape[1])
        self._design.moments(self._rows[1], mean, square)
        return mean, np.sqrt(square / self.weights.sum())

    def bias_sums(self, scores: Array, b: Array) -> BiasSums:
        gradient = np.empty(self.n_outputs)
        curvature = np.empty((self.n_outputs, self.n_outputs)) if self._has_curvature else None
        value = _core.bias_sums(_table(scores), b, *self._rows, gradient, curvature)
        return BiasSums(value, gradient, curvature)

    @once
    def _has_curvature(self) -> bool:
        return self.loss.curvature(np.zeros((1, self.n_outputs)), self.targets[:1]) is not None


Rows = tuple[Array, Array, str]  # targets, weights, name of the loss


class _Design(ABC):
    """X as the core wants it. All methods but the constructor write into the arrays they are given."""

    @abstractmethod
    def scores(self, W: Array, b: Array, scores: Array) -> None: ...

    @abstractmethod
    def gradient(self, W: Array, b: Array, rows: Rows, scores: Array, G_W: Array, G_b: Array) -> float: ...

    @abstractmethod
    def gradient_at(self, scores: Array, rows: Rows, G_W: Array, G_b: Array) -> float: ...

    @abstractmethod
    def back_product(self, G: Array, G_W: Array) -> None: ...

    @abstractmethod
    def hessian_product(
        self, W: Array, b: Array, scores: Array, rows: Rows, H_W: Array, H_b: Array
    ) -> None: ...

    @abstractmethod
    def moments(self, weights: Array, mean: Array, square: Array) -> None: ...


@final
class _DenseDesign(_Design):
    def __init__(self, X: Array) -> None:
        self._X = np.ascontiguousarray(X)

    def scores(self, W: Array, b: Array, scores: Array) -> None:
        _core.dense_scores(self._X, W, b, scores)

    def gradient(self, W: Array, b: Array, rows: Rows, scores: Array, G_W: Array, G_b: Array) -> float:
        return _core.dense_gradient(self._X, W, b, *rows, scores, G_W, G_b)

    def gradient_at(self, scores: Array, rows: Rows, G_W: Array, G_b: Array) -> float:
        return _core.dense_gradient_at(self._X, scores, *rows, G_W, G_b)

    def back_product(self, G: Array, G_W: Array) -> None:
        _core.dense_back_product(self._X, G, G_W)

    def hessian_product(self, W: Array, b: Array, scores: Array, rows: Rows, H_W: Array, H_b: Array) -> None:
        _core.dense_hessian_product(self._X, W, b, scores, *rows, H_W, H_b)

    def moments(self, weights: Array, mean: Array, square: Array) -> None:
        _core.dense_moments(self._X, weights, mean, square)


@final
class _SparseDesign(_Design):
    def __init__(self, X: Design, csc: Csc) -> None:
        self._csc = csc
        indptr = X.indptr.astype(X.indices.dtype, copy=False)
        self._csr = (X.data, X.indices, indptr)

    def scores(self, W: Array, b: Array, scores: Array) -> None:
        _core.sparse_scores(*self._csr, W, b, scores)

    def gradient(self, W: Array, b: Array, rows: Rows, scores: Array, G_W: Array, G_b: Array) -> float:
        return _core.sparse_gradient(*self._csr, *self._csc.arrays, W, b, *rows, scores, G_W, G_b)

    def gradient_at(self, scores: Array, rows: Rows, G_W: Array, G_b: Array) -> float:
        return _core.sparse_gradient_at(*self._csc.arrays, scores, *rows, G_W, G_b)

    def back_product(self, G: Array, G_W: Array) -> None:
        # Asked for now and then, by certificates: not worth a copy of X by columns.
        _core.sparse_scatter(*self._csr, G.astype(np.float64, copy=False), G_W)

    def hessian_product(self, W: Array, b: Array, scores: Array, rows: Rows, H_W: Array, H_b: Array) -> None:
        _core.sparse_hessian_product(*self._csr, *self._csc.arrays, W, b, scores, *rows, H_W, H_b)

    def moments(self, weights: Array, mean: Array, square: Array) -> None:
        _core.sparse_moments(*self._csc.arrays, weights, mean, square)


def _table(scores: Array) -> Array:
    """Scores as the core reads them: C-contiguous float32 or float64."""
    dtype = scores.dtype if scores.dtype in (np.float32, np.float64) else np.float64
    return contiguous(scores, dtype)
