"""Maps of the field for anyone: sigmoid, softmax, sparsemax and the 1-of-K coding of vectors, lists and matrices."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.targets import checked_targets
from nearline.losses import _base, _formulas
from nearline.losses._base import numbers


def sigmoid(scores: Any) -> Array:
    """1 / (1 + exp(-t)) of each number, without overflow.

    Examples
    --------
    >>> from nearline import sigmoid
    >>> sigmoid([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    given = numbers(scores)
    return _formulas.sigmoid(given).astype(given.dtype, copy=False)


def softmax(scores: Any) -> Array:
    """exp(f_c) / sum_d exp(f_d): probabilities of one row of scores (K,), or of each row of a matrix (n, K).

    Examples
    --------
    >>> from nearline import softmax
    >>> softmax([2.0, 1.0, 0.0]).round(3).tolist()
    [0.665, 0.245, 0.09]
    """
    return _formulas.softmax(_rows_of_scores(scores, "softmax"))


def sparsemax(scores: Any) -> Array:
    """The nearest point of the probability simplex to one row of scores (K,), or to each row of a matrix (n, K).

    Examples
    --------
    >>> from nearline import sparsemax
    >>> sparsemax([[2.0, 1.0, 0.0], [0.5, 0.4, 0.0]]).round(3).tolist()
    [[1.0, 0.0, 0.0], [0.533, 0.433, 0.033]]
    """
    given = _rows_of_scores(scores, "sparsemax")
    return _formulas.sparsemax(given).astype(given.dtype, copy=False)


def one_hot(targets: Any, n_classes: int | None = None) -> Array:
    """1-of-K coding: 1 in the column of the class, else 0. A class number becomes (K,), n of them (n, K).

    ``n_classes``: the largest class number plus one, if it is not given. Label distributions (n, K) are given back as they
    are.

    Examples
    --------
    >>> from nearline import one_hot
    >>> one_hot([2, 0]).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    >>> one_hot(1, 3).tolist()
    [0.0, 1.0, 0.0]
    """
    given = np.asarray(targets)
    if n_classes is None and given.dtype.kind in "iu" and given.ndim < 2 and given.size and given.min() >= 0:
        n_classes = int(given.max()) + 1
    checked = checked_targets(np.atleast_1d(given), n_classes)
    if n_classes is None:
        n_classes = int(checked.max(initial=0)) + 1
    coded = _base.one_hot(checked, n_classes)
    return coded if given.ndim else coded[0]


def _rows_of_scores(given: Any, name: str) -> Array:
    scores = numbers(given)
    if scores.ndim not in (1, 2) or scores.shape[-1] == 0:
        raise ValueError(f"{name} takes one row of scores (K,) or several (n, K), got shape {scores.shape}.")
    if not np.isfinite(scores.max(axis=-1)).all():
        raise ValueError(f"{name} needs a largest score in each row, got NaN or infinity.")
    return scores
