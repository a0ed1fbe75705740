"""What solver 'sgd' does with a row or a batch of rows: the step (SPEC D15), and many of them in a row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline import _core
from nearline.arrays import Array, Design, as_design, is_sparse
from nearline.kept import Instance, OneOf, OrNone, Real, Whole, kept, require
from nearline.losses import LOSSES, Loss
from nearline.params import Params
from nearline.regularizers import REGULARIZERS, Regularizer
from nearline.risk import named
from nearline.targets import checked_targets

# Largest second derivative of a loss along its scores, 1 if not listed: the inverse is the largest step that is safe
# for rows of norm 1. Losses with kinks have none; theirs are the values with which tiny problems were solved soonest.
STEEPNESS: dict[str | None, float] = {
    "logistic": 0.25,
    "softmax": 0.5,
    "binary-sparsemax": 0.5,
    "squared-hinge": 2.0,
    "hinge": 0.25,
    "weston-watkins": 0.5,
    "crammer-singer": 0.5,
}


def sgd_step(
    params: Params,
    x: Any,
    y: Any,
    *,
    loss: Loss | str = "logistic",
    eta: float,
    alpha: float = 0.0,
    regularizer: Regularizer | str = "l2",
    weights: Any = None,
    bias: bool = True,
    l1_step: str = "proximal",
) -> Params:
    """One SGD step, as a pure function: what solver 'sgd' does with a row (or a batch of rows), to be looked at.

    With G and g the means over the batch of the loss's gradients in W and b (times the weights, if given)

        W_new = soft((1 - eta alpha l2) W - eta G, eta alpha l1),     b_new = b - eta g

    where soft(w, c) = sign(w) max(|w| - c, 0) gives exact zeros. ``l1_step="subgradient"`` is the textbook's
    W_new = (1 - eta alpha l2) W - eta G - eta alpha l1 sign(W) instead. The bias takes the data step only.

    Parameters
    ----------
    params : Params, left as it is.
    x : (D,) one row, or (B, D) a batch (sparse too).
    y : class number 0 .. C-1, or (B,) of them; of two classes also -1 and +1, or False and True.
    eta : step size.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import Params, sgd_step
    >>> sgd_step(Params.zeros(1, 2), [3.0, 4.0], +1, loss="hinge", eta=0.5).W  # margin 0 < 1: w += eta y x
    array([[1.5, 2. ]])
    """
    loss = named(loss, LOSSES, Loss, "loss")
    regularizer = named(regularizer, REGULARIZERS, Regularizer, "regularizer")
    l1, l2 = strengths(regularizer, alpha)
    check_eta(eta, l2)
    if l1_step not in ("proximal", "subgradient"):
        raise ValueError(f"l1_step must be 'proximal' or 'subgradient', got {l1_step!r}.")
    X = as_design(x if is_sparse(x) else np.atleast_2d(np.asarray(x, dtype=np.float64)))
    if X.shape[1] != params.n_features:
        raise ValueError(f"x has {X.shape[1]} features, but params have weights for {params.n_features}.")
    targets = checked_targets(np.atleast_1d(np.asarray(y)), loss.label_count(params.n_outputs))
    if len(targets) != X.shape[0]:
        raise ValueError(f"x has {X.shape[0]} rows but y {len(targets)} targets: give one for each row.")
    shares = np.ones(X.shape[0]) if weights is None else np.atleast_1d(np.asarray(weights, dtype=np.float64))
    return take_step(params, X, targets, shares, loss, eta, l1, l2, bias, l1_step)[0]


def take_step(
    params: Params,
    X: Design,
    targets: Array,
    weights: Array,
    loss: Loss,
    eta: float,
    l1: float,
    l2: float,
    bias: bool,
    l1_step: str = "proximal",
) -> tuple[Params, Array]:
    """The new parameters, and the gradients (B, K) that the rows gave."""
    scores = np.asarray(X @ params.W.T, dtype=np.float64) + params.b
    gradients = loss.value_and_gradient(scores, targets)[1]
    G = gradients * weights[:, None] / len(weights)
    new = params.copy()
    new.W[...] = (1.0 - eta * l2) * params.W - eta * np.asarray(X.T @ G).T
    if l1_step == "subgradient":
        new.W[...] -= eta * l1 * np.sign(params.W)
    elif l1 > 0:
        new.W[...] = np.sign(new.W) * np.maximum(np.abs(new.W) - eta * l1, 0.0)
    if bias:
        new.b[:] -= eta * G.sum(axis=0)
    return new, gradients


def strengths(regularizer: Regularizer, alpha: float) -> tuple[float, float]:
    """alpha l1 and alpha l2, which are all that the steps know of a penalty."""
    known = regularizer.elastic
    if known is None:
        raise ValueError(
            f"Steps of SGD serve penalties l1 |W|_1 + (l2/2) |W|^2 and '{regularizer.name}' is not one of them: minimize "
            "the risk by 'lbfgs' (which needs its gradient) or 'fista' (its prox)."
        )
    return alpha * known.l1, alpha * known.l2


def check_eta(eta: float, l2: float) -> None:
    if not (eta > 0 and np.isfinite(eta)):
        raise ValueError(f"eta (the step size) must be a finite number > 0, got {eta!r}.")
    if eta * l2 > 1:
        raise ValueError(
            f"eta = {eta:g} is too large for alpha: the weights would be multiplied by 1 - eta * alpha = "
            f"{1 - eta * l2:g} < 0. Take eta <= {1 / l2:g}."
        )


def _of_one_shape(progress: "Progress") -> None:
    shapes = {(one.n_outputs, one.n_features) for one in (progress.params, progress.total)}
    require(len(shapes) == 1, "The last weights of a descent and their sum are not of one shape")


@kept(
    params=Instance(Params),
    total=Instance(Params),
    total_share=Real(least=0.0),
    t=Whole(),
    since=Whole(),
    eta=OrNone(Real(above=0.0)),
    owed=OneOf((None,)),
    back_product=OneOf((None,)),
    links=_of_one_shape,
)
@dataclass
class Progress:
    """Where SGD stands between batches: last iterate, steps taken, running mean of the iterates."""

    params: Params
    total: Params  # sum over steps of share * iterate
    total_share: float = 0.0
    t: int = 0  # steps taken
    since: int = 0  # step after which the mean starts
    eta: float | None = None  # what the schedule starts from: the smallest that a batch asked for
    owed: Array | None = None  # C (n, K): total.W lacks C^T X
    back_product: Callable[[Array], Array] | None = None  # C -> C^T X

    def settle(self) -> None:
        """Add what is owed to the total: one product with X for all passes since the mean was last asked for."""
        if self.owed is not None and self.back_product is not None:
            self.total.W[...] += self.back_product(self.owed)
            self.owed = None

    @property
    def mean(self) -> Params:
        """Mean of the iterates, the late ones counting more."""
        self.settle()
        if self.total_share == 0:
            return self.params.copy()
        return self.params.like(self.total.flat / self.total_share)

    def restart_at_mean(self) -> None:
        """Go on from the mean, and forget what led there."""
        self.params.flat[...] = self.mean.flat
        self.total.flat[...] = 0.0
        self.total_share, self.since = 0.0, self.t


@dataclass(frozen=True)
class Duals:
    """Sums of the gradients that each row gave, (n, K), and of their shares, (n,): the mean is a dual vector."""

    sums: Array
    shares: Array

    @classmethod
    def zeros(cls, n_rows: int, n_outputs: int) -> "Duals":
        return cls(np.zeros((n_rows, n_outputs)), np.zeros(n_rows))

    @property
    def mean(self) -> Array:
        return np.asarray(self.sums / np.where(self.shares > 0, self.shares, 1.0)[:, None])


@dataclass(frozen=True)
class Batch:
    """Rows to go through in an order, and all that the steps over them need."""

    X: Design
    targets: Array
    weights: Array
    loss: Loss
    l1: float
    l2: float
    bias: bool
    order: Array
    back_product: Callable[[Array], Array] | None = None  # G -> G^T X, where it is fast

    @property
    def n_numbers(self) -> int:
        """How many numbers X stores."""
        return int(self.X.nnz if is_sparse(self.X) else self.X.size)

    def safe_eta(self) -> float:
        """1 / (steepness max |x|^2 + l2): below it no step overshoots."""
        square = _core.largest_square_norm(rows_of(self.X)) + float(self.bias)
        return float(1.0 / max(STEEPNESS.get(self.loss.compiled, 1.0) * square + self.l2, 1e-300))

    def run(self, progress: Progress, size: int, etas: Array, shares: Array, duals: Duals | None) -> None:
        """All steps, ``size`` rows each; in the compiled core if it knows the loss, else in NumPy."""
        labels, name = self.targets.ndim == 1, self.loss.compiled
        if name is None or not (labels or name in ("softmax", "sparsemax", "squared")):
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
            self.l1,
            self.l2,
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
        self, progress: Progress, size: int, etas: Array, shares: Array, duals: Duals | None
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
                self.l1,
                self.l2,
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
