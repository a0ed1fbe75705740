"""Penalties of groups of weights: in or out together."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.regularizers._base import Regularizer
from nearline.regularizers.elastic import L1, Elastic


@dataclass(frozen=True)
class GroupL1(Regularizer):
    """C6: sum over features j of |W_j|_2, W_j the feature's weights for all classes: it is in or out for all at once.

    With one column of scores (two classes) it is L1. The conjugate is 0 where |V_j|_2 <= 1 for all j, else infinite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import GroupL1, LogisticRegression
    >>> model = LogisticRegression(alpha=0.1, regularizer=GroupL1()).fit(*load_iris(return_X_y=True))
    >>> (model.coef_ != 0).all(axis=0).tolist(), (model.coef_ == 0).all(axis=0).tolist()
    ([False, False, True, False], [True, True, False, True])
    """

    name: ClassVar[str] = "group-l1"
    by_feature: ClassVar[bool] = True

    def as_elastic(self, n_outputs: int) -> Elastic | None:
        return L1() if n_outputs == 1 and self._is(GroupL1) else None

    def value(self, W: Array) -> float:
        return float(np.sqrt((W * W).sum(axis=0)).sum())

    def prox(self, W: Array, step: Any) -> Array:
        """Each feature's weights shortened by its step, to 0 where they are no longer than that."""
        lengths = np.sqrt((W * W).sum(axis=0))
        kept = np.maximum(lengths - step, 0.0)
        return np.asarray(W * np.divide(kept, lengths, out=np.zeros_like(kept), where=lengths > 0))

    def conjugate(self, V: Array) -> float:
        return 0.0 if _longest(V) <= 1.0 else np.inf

    def into_domain(self, V: Array) -> float:
        # A hair less than 1 / max |V_j|, so that rounding cannot leave the domain.
        longest = _longest(V)
        return min(1.0, (1.0 - 1e-13) / longest) if longest > 0 else 1.0

    def largest_alpha(self, gradient: Array) -> float:
        return _longest(gradient)


def _longest(V: Array) -> float:
    """max_j |V_j|_2."""
    return float(np.sqrt((V * V).sum(axis=0)).max(initial=0.0))
