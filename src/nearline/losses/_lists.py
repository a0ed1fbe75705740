"""Losses take lists: what is no array yet becomes one before a formula sees it."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.targets import checked_targets

if TYPE_CHECKING:
    from nearline.losses._base import Loss

OF_ROWS = ("value", "value_and_gradient", "curvature", "shares", "conjugate")  # of scores and targets
OF_SCORES = ("probabilities", "log_probabilities")
OF_MARGINS = ("phi", "dphi", "d2phi", "phi_conjugate", "positive_probability")  # any shape


def take_lists(cls: type) -> None:
    """The methods that a class defines itself take lists and vectors too; arrays (n, K) pass as they are."""
    for names, taking in ((OF_ROWS, _of_rows), (OF_SCORES, _of_scores), (OF_MARGINS, _of_margins)):
        for name in names:
            method = cls.__dict__.get(name)
            if method is not None and not getattr(method, "__isabstractmethod__", False):
                setattr(cls, name, taking(method))


def numbers(given: Any, what: str = "scores") -> Array:
    """Numbers as an array of floats; float32 stays float32."""
    if is_sparse(given):
        raise ValueError(f"{what} must be an array, got a sparse matrix: give its toarray().")
    try:
        array = np.asarray(given)
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be numbers, in rows of one length; got {given!r}.") from None


def _table(loss: "Loss", given: Any) -> Array:
    """Scores (n, K): a vector is one row of a joint loss, and a column of others."""
    scores = numbers(given)
    if scores.ndim > 2:
        raise ValueError(f"Scores must be rows by columns (n, K), got an array of shape {scores.shape}.")
    if scores.ndim == 2:
        return scores
    return np.atleast_1d(scores)[None] if loss.joint else np.atleast_1d(scores)[:, None]


def _of_rows(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def taking(self: "Loss", scores: Any, targets: Any) -> Any:
        arrays = isinstance(scores, np.ndarray) and isinstance(targets, np.ndarray)
        if arrays and scores.ndim == 2 and scores.dtype.kind == "f":
            return method(self, scores, targets)
        given, own = np.asarray(targets), _table(self, scores)
        if given.ndim == 0 and not self.joint and np.ndim(scores) == 1:
            own = own.T  # one target: the scores are those of one row
        checked = checked_targets(np.atleast_1d(given), self.label_count(own.shape[1]))
        if len(own) != len(checked):
            raise ValueError(
                f"There are {len(own)} rows of scores but {len(checked)} targets: give one for each row."
            )
        return method(self, own, checked)

    return taking


def _of_scores(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def taking(self: "Loss", scores: Any) -> Any:
        return method(self, _table(self, scores))

    return taking


def _of_margins(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def taking(self: "Loss", margins: Any) -> Any:
        return method(self, numbers(margins, "margins"))

    return taking
