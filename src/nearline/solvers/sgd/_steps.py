"""What solver 'sgd' does with a row or a batch of rows: the step."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array, Design, as_design, is_sparse
from nearline._arrays.targets import checked_targets
from nearline._records.habits import named
from nearline._records.refused import ParameterError
from nearline.losses import LOSSES, Loss
from nearline.regularizers import REGULARIZERS, Regularizer
from nearline.risk.params import Params
from nearline.solvers.sgd._pull import Pull


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
    W_new = (1 - eta alpha l2) W - eta G - eta alpha l1 sign(W) instead. The bias takes the data step only. Of any other
    penalty R it is W_new = prox(W - eta G, eta alpha R), or W - eta (G + alpha R'(W)) where R has no prox.

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
    pull = Pull.of(regularizer, alpha, params.n_outputs)
    check_eta(eta, pull.l2)
    if l1_step not in ("proximal", "subgradient"):
        raise ParameterError("l1_step", l1_step, "'proximal' or 'subgradient'")
    X = as_design(x if is_sparse(x) else np.atleast_2d(np.asarray(x, dtype=np.float64)))
    if X.shape[1] != params.n_features:
        raise ValueError(f"x has {X.shape[1]} features, but params have weights for {params.n_features}.")
    targets = checked_targets(np.atleast_1d(np.asarray(y)), loss.label_count(params.n_outputs))
    if len(targets) != X.shape[0]:
        raise ValueError(f"x has {X.shape[0]} rows but y {len(targets)} targets: give one for each row.")
    shares = np.ones(X.shape[0]) if weights is None else np.atleast_1d(np.asarray(weights, dtype=np.float64))
    return take_step(params, X, targets, shares, loss, eta, pull, bias, l1_step)[0]


def take_step(
    params: Params,
    X: Design,
    targets: Array,
    weights: Array,
    loss: Loss,
    eta: float,
    pull: Pull,
    bias: bool,
    l1_step: str = "proximal",
) -> tuple[Params, Array]:
    """The new parameters, and the gradients (B, K) that the rows gave."""
    scores = np.asarray(X @ params.W.T, dtype=np.float64) + params.b
    gradients = loss.value_and_gradient(scores, targets)[1]
    G = gradients * weights[:, None] / len(weights)
    new = params.copy()
    new.W[...] = pull.moved(params.W, np.asarray(X.T @ G).T, eta, l1_step)
    if bias:
        new.b[:] -= eta * G.sum(axis=0)
    return new, gradients


def check_eta(eta: float, l2: float) -> None:
    if not (eta > 0 and np.isfinite(eta)):
        raise ValueError(f"eta (the step size) must be a finite number > 0, got {eta!r}.")
    if eta * l2 > 1:
        raise ValueError(
            f"eta = {eta:g} is too large for alpha: the weights would be multiplied by 1 - eta * alpha = "
            f"{1 - eta * l2:g} < 0. Take eta <= {1 / l2:g}."
        )
