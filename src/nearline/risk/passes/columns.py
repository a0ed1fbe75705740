"""X by columns: the steps of coordinate descent, which sequential loops in the core make.

A step minimizes a quadratic model of the risk over some of the weights. With a free bias the columns are shifted
towards their means first, which changes nothing but the bias: offsets of the features cost neither time nor digits.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, Design
from nearline.risk.params import Params
from nearline.risk.passes._csc import Csc
from nearline.risk.passes.curvature import row_blocks

LARGEST_GRAM = 1024  # moving weights for which forming the model's matrix is worth it
MANY_ROUNDS = 10  # of sweeps and polish at most, where they cost next to nothing
CHEAP = 1e6  # entries of X that cost next to nothing


@dataclass(frozen=True)
class QuadraticModel:
    """g.(V - W) + g_b.(c - b) + (1/2) sum_i v_i^T H_i v_i + l1 |V|_1 + (l2/2) |V|^2, v_i the change of row i's scores.

    H_i is diag(q_i) where score columns are separate, diag(q_i) - q_i q_i^T / sum(q_i) + damping where they are joint.
    """

    params: Params  # W and b
    gradient: Params  # g and g_b, of the mean data loss
    curvature: Array  # (K, n): q, weights of the rows included
    joint: bool
    damping: float
    l1: float
    l2: float
    bias: bool
    moving: list[Array]  # features of each score column that may move
    tol: float  # of the model's decrease
    max_rounds: int  # of sweeps and polish


@dataclass(frozen=True)
class ModelStep:
    """How far to go: the change of the parameters, and of the scores, (n, K)."""

    params: Params
    scores: Array


class Columns(ABC):
    """X by columns. ``mean``: of each feature, which columns may be shifted by."""

    @abstractmethod
    def minimize(self, model: QuadraticModel) -> ModelStep:
        """A step that brings the model close to its minimum."""


class _Descent:
    """The arrays of one descent in the core: the moving weights of all score columns, one after another."""

    def __init__(self, model: QuadraticModel, shift: Array, n_rows: int) -> None:
        sizes = [len(features) for features in model.moving]
        self.model, self.shift = model, shift
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.features = np.concatenate(model.moving).astype(np.int32)
        self.outputs = np.repeat(np.arange(len(sizes)), sizes)
        self.before = model.params.W[self.outputs, self.features]
        self.weights = self.before.copy()
        g, g_b = model.gradient.W, model.gradient.b
        # A shifted column is x_j - shift_j: its derivative is that of w_j less shift_j times that of the bias.
        self.gradient = g[self.outputs, self.features] - shift[self.features] * g_b[self.outputs]
        self.bias_gradient = np.ascontiguousarray(g_b)
        self.bias_step = np.zeros(len(sizes))
        self.score_step = np.zeros((len(sizes), n_rows))

    def run(self, kernel: Any, *X: Array, columns: Array, entries: float) -> ModelStep:
        """``entries``: of the moving columns; where they are few, the model is minimized well whatever it is worth."""
        model = self.model
        rounds = int(min(CHEAP / max(entries, 1.0), MANY_ROUNDS))
        thorough = rounds > model.max_rounds
        kernel(
            *X,
            set_starts=self.starts,
            columns=columns,
            gradient=self.gradient,
            bias_gradient=self.bias_gradient,
            weights=self.weights,
            bias_step=self.bias_step,
            score_step=self.score_step,
            curvature=model.curvature,
            joint=model.joint,
            damping=model.damping,
            l1=model.l1,
            l2=model.l2,
            bias=model.bias,
            tol=1e-2 * model.tol if thorough else model.tol,
            max_rounds=rounds if thorough else model.max_rounds,
        )
        return ModelStep(self.params_step(), np.ascontiguousarray(self.score_step.T))

    def params_step(self) -> Params:
        step = Params.zeros(*self.model.params.W.shape)
        change = self.weights - self.before
        step.W[self.outputs, self.features] = change
        taken_up = np.bincount(self.outputs, change * self.shift[self.features], minlength=len(step.b))
        step.b[:] = self.bias_step - taken_up
        return step


@final
class SparseColumns(Columns):
    """CSC beside CSR. Only columns without a zero are shifted: the others would not stay sparse, nor need they."""

    def __init__(self, X: Design, csc: Csc, mean: Array) -> None:
        self._csc = csc.arrays
        self._csr = X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64)
        full = np.diff(self._csc[2]) == X.shape[0]
        self._mean = np.where(full, mean, 0.0)
        self._spare: list[tuple[Array, Array]] = []  # memory that is not in use

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_spare": []}

    def minimize(self, model: QuadraticModel) -> ModelStep:
        shift = self._mean if model.bias else np.zeros_like(self._mean)
        descent = _Descent(model, shift, len(self._csr[2]) - 1)
        try:
            memory = self._spare.pop()
        except IndexError:
            size = len(self._csr[0]) + 64 if len(model.moving) == 1 else 0
            memory = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float32)
        sizes = np.diff(self._csc[2])[descent.features]
        step = descent.run(
            _core.descend_sparse,
            *self._csc,
            *self._csr,
            shift,
            *memory,
            columns=descent.features,
            entries=float(sizes.sum()),
        )
        self._spare.append(memory)
        return step


@final
class DenseColumns(Columns):
    """Row-major X. Few moving weights: by the model's matrix, formed once a step; many, or joint ones: by copies."""

    def __init__(self, X: Array, mean: Array) -> None:
        self._X, self._mean = X, mean
        self._gram: tuple[Array, Array, Array] | None = (
            None  # curvature, features and matrix of the last step
        )

    def minimize(self, model: QuadraticModel) -> ModelStep:
        shift = self._mean if model.bias else np.zeros_like(self._mean)
        descent = _Descent(model, shift, len(self._X))
        if not model.joint and max(map(len, model.moving)) <= LARGEST_GRAM:
            for c in range(len(model.moving)):
                self._by_gram(descent, c)
            return ModelStep(descent.params_step(), self._scores(descent))
        used, columns = np.unique(descent.features, return_inverse=True)
        entries = float(len(self._X) * len(columns))
        copy = self._copy(used, shift)
        return descent.run(_core.descend_dense, copy, columns=columns.astype(np.int32), entries=entries)

    def _copy(self, features: Array, shift: Array) -> Array:
        """The shifted columns, one after another, (p, n)."""
        X = self._X
        copy = np.empty((len(features), X.shape[0]), dtype=X.dtype)
        for rows in row_blocks(X.shape[0], len(features)):
            copy[:, rows] = (X[rows][:, features] - shift[features]).T
        return copy

    def _scores(self, descent: _Descent) -> Array:
        """The change of the scores, from shifted columns in float64: an offset would cost digits."""
        used = np.unique(descent.features)
        W = np.ascontiguousarray(descent.params_step().W[:, used])
        scores = np.empty((len(self._X), len(W)))
        for rows in row_blocks(len(scores), len(used)):
            block = np.ascontiguousarray(self._X[rows][:, used] - descent.shift[used], dtype=np.float64)
            _core.dense_scores(block, W, descent.bias_step, scores[rows])
        return scores

    def _by_gram(self, descent: _Descent, c: int) -> None:
        """Minimize over the weights of one score column; the bias follows in closed form."""
        model, own = descent.model, slice(descent.starts[c], descent.starts[c + 1])
        H = self._matrix(model.curvature[c], descent.features[own], descent.shift)
        mass = H[-1, -1] if model.bias else 0.0
        sums = H[:-1, -1] if mass > 0 else np.zeros(len(H) - 1)
        bias_step = -descent.bias_gradient[c] / mass if mass > 0 else 0.0
        G = np.ascontiguousarray(H[:-1, :-1] - (np.outer(sums, sums) / mass if mass > 0 else 0.0))
        gradient = descent.gradient[own] + bias_step * sums
        weights = descent.weights[own].copy()
        _core.descend_gram(G, gradient, weights, model.l1, model.l2, 1e-2 * model.tol, MANY_ROUNDS)
        if mass > 0:
            bias_step -= float(sums @ (weights - descent.weights[own])) / mass
        descent.weights[own], descent.bias_step[c] = weights, bias_step

    def _matrix(self, curvature: Array, features: Array, shift: Array) -> Array:
        """sum_i d_i [x_i - shift; 1] [x_i - shift; 1]^T of some features; kept, as d may never change."""
        last, X = self._gram, self._X
        same = last is not None and np.array_equal(last[0], curvature)
        if last is not None and same and np.isin(features, last[1]).all():
            place = np.append(np.searchsorted(last[1], features), len(last[1]))
            return np.asarray(last[2][np.ix_(place, place)])
        if same and X.shape[1] <= LARGEST_GRAM:
            features, asked = np.arange(X.shape[1]), features
        else:
            features, asked = np.sort(features), features
        H = np.zeros((len(features) + 1, len(features) + 1))
        for rows in row_blocks(X.shape[0], len(features)):
            block = np.ascontiguousarray(X[rows][:, features] - shift[features], dtype=X.dtype)
            part = np.zeros((1, *H.shape), dtype=X.dtype)
            _core.add_weighted_grams(block, curvature[rows, None], part)
            H += part[0]
        self._gram = curvature.copy(), features, H
        place = np.append(np.searchsorted(features, asked), len(features))
        return np.asarray(H[np.ix_(place, place)])
