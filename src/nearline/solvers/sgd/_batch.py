"""Many steps of SGD in a row: in the compiled core where it knows the loss, else in NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, Design, is_sparse
from nearline.losses import Loss
from nearline.solvers.sgd._progress import DescentProgress, Duals
from nearline.solvers.sgd._pull import Pull
from nearline.solvers.sgd._steps import take_step


@dataclass(frozen=True)
class Batch:
    """Rows to go through in an order, and all that the steps over them need."""

    X: Design
    targets: Array
    weights: Array
    loss: Loss
    pull: Pull
    bias: bool
    order: Array
    back_product: Callable[[Array], Array] | None = None  # G -> G^T X, where it is fast

    @property
    def n_numbers(self) -> int:
        """How many numbers X stores."""
        return int(self.X.nnz if is_sparse(self.X) else self.X.size)

    def safe_eta(self, n_outputs: int) -> float:
        """1 / (steepness max |x|^2 + that of the penalty): below it no step overshoots."""
        square = _core.largest_square_norm(rows_of(self.X)) + float(self.bias)
        bends = self.loss.own.steepness * square + self.pull.steepness((n_outputs, self.X.shape[1]))
        return float(1.0 / max(bends, 1e-300))

    def run(
        self, progress: DescentProgress, size: int, etas: Array, shares: Array, duals: Duals | None
    ) -> None:
        """All steps, ``size`` rows each; in the compiled core if it knows the loss, else in NumPy."""
        labels, name = self.targets.ndim == 1, self.loss.compiled
        if name is None or self.pull.other is not None or not (labels or self.loss.own.distributions):
            self._run_numpy(progress, size, etas, shares, duals)
            return
        K = progress.params.n_outputs
        if self.back_product is not None and len(shares) > 0 and is_sparse(self.X) and progress.owed is None:
            progress.owed, progress.back_product = np.zeros((len(self.weights), K)), self.back_product
        C = np.empty((0, 0)) if progress.owed is None else progress.owed
        _core.sgd(
            rows_of(self.X),
            name,
            self.targets if labels else np.empty(0, np.int32),
            np.empty((0, 0)) if labels else self.targets,
            self.weights,
            np.ascontiguousarray(self.order, dtype=np.int64),
            size,
            etas,
            shares,
            self.pull.l1,
            self.pull.l2,
            self.bias,
            progress.params.W,
            progress.params.b,
            progress.total.W,
            progress.total.b,
            C,
            np.empty((0, 0)) if duals is None else duals.sums,
            np.empty(0) if duals is None else duals.shares,
        )

    def _run_numpy(
        self, progress: DescentProgress, size: int, etas: Array, shares: Array, duals: Duals | None
    ) -> None:
        params = progress.params
        for step, eta in enumerate(etas):
            rows = self.order[step * size : (step + 1) * size]
            params, gradients = take_step(
                params,
                self.X[rows],
                self.targets[rows],
                self.weights[rows],
                self.loss,
                eta,
                self.pull,
                self.bias,
            )
            share = shares[step] if len(shares) else 1.0
            if len(shares):
                progress.total.flat[...] += share * params.flat
            if duals is not None:
                np.add.at(duals.sums, rows, share * gradients)
                np.add.at(duals.shares, rows, share)
        progress.params.flat[...] = params.flat


def rows_of(X: Design) -> Any:
    """X as the core's loops over single rows take it."""
    if not is_sparse(X):
        return X
    indices, indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64, copy=False)
    return X.data, indices, indptr, X.shape[1]
