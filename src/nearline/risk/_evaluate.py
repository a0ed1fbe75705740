"""A loss over rows, whatever its scores come from."""

from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np

from nearline._arrays.blocks import Block
from nearline._arrays.design import Array
from nearline._arrays.doors import door_of
from nearline._arrays.targets import checked_targets, row_weights
from nearline._records.habits import named
from nearline.losses import LOSSES, Loss, check_loss


def evaluate(loss: Loss | str, scores: Array, targets: Array, weights: Array | None = None) -> float:
    """Weighted mean of a loss over rows: zero-one gives the error rate, ties counted as mistakes.

    Parameters
    ----------
    loss : name or Loss.
    scores : (n,) or (n, 1) for two classes, else (n, K); rows in blocks (Dask) stay where they are.
    targets : (n,) class numbers 0 .. C-1 (two classes also -1 and +1, or False and True), or label distributions (n, K).
    weights : (n,) weights of the rows, all alike if None.

    Examples
    --------
    >>> from nearline import evaluate
    >>> evaluate("zero-one", [[2.0, 1.0, 0.0], [0.0, 1.0, 3.0], [1.0, 2.0, 0.0]], [0, 2, 0])
    0.3333333333333333
    """
    if callable(getattr(loss, "fit", None)):
        kind = type(loss).__name__
        raise ValueError(
            f"evaluate takes a loss, scores and targets, and got the model {kind}: evaluate('zero-one', "
            "model.decision_function(X), targets) is the mean loss of its scores, model.score(X, y) its accuracy, and "
            "cross_validate(model, X, y) its accuracy on rows left out."
        )
    loss = named(loss, LOSSES, Loss, "loss")
    door = door_of(scores)
    if door is not None:
        columns: Any = scores if scores.ndim == 2 else scores[:, None]
        found = door.blocks(columns, targets, weights, dtypes=(np.float64,)).total(_Losses(loss), add)
        if not found[1] > 0:
            raise ValueError("Every weight is 0: give at least one row a positive weight.")
        return float(found[0] / found[1])
    return _mean_loss(loss, scores, targets, weights)


@dataclass(frozen=True)
class _Losses:
    """Sum of a loss over the rows of a block, and their weight."""

    loss: Loss

    def __call__(self, block: Block) -> Array:
        weight = float(block.weights.sum())
        if not weight > 0:
            return np.zeros(2)
        return np.array([weight * _mean_loss(self.loss, block.X, block.targets, block.weights), weight])


def _mean_loss(loss: Loss, scores: Array, targets: Array, weights: Array | None) -> float:
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores[:, None] if scores.ndim == 1 else scores
    if scores.ndim != 2 or np.isnan(scores).any() or (loss.joint and scores.shape[1] < 2):
        columns = "one for each class" if loss.joint else "one for two classes, else one for each class"
        raise ValueError(
            f"Loss '{loss.name}' takes numbers as scores, (n, K) with {columns}, got an array of shape {scores.shape}"
            f"{' with NaN' if np.isnan(scores).any() else ''}."
        )
    targets = checked_targets(targets, loss.label_count(scores.shape[1]))
    if len(scores) != len(targets):
        raise ValueError(
            f"There are {len(scores)} rows of scores but {len(targets)} targets: give one for each row."
        )
    check_loss(loss, targets, scores.shape[1])
    return float(np.average(loss.value(scores, targets), weights=row_weights(weights, len(scores))))
