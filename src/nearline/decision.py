"""The decision rule: scores -> labels; and whether its regions are convex."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array


def decide(scores: Array, classes: Array) -> Array:
    """Labels of scores (n, K). One column: the second class where f >= 0; more: the largest score, ties to class order.

    >>> import numpy as np
    >>> decide(np.array([[-0.5], [0.0]]), np.array(["no", "yes"])).tolist()
    ['no', 'yes']
    """
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    winners: Any = (scores >= 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(classes[winners])


@dataclass(frozen=True)
class Convexity:
    """Whether what lies between two points of a region was called alike. True in an ``if`` where it always was."""

    n_pairs: int  # pairs of points that were called alike
    n_between: int  # points between them that were tried
    n_outside: int  # how many of these were called otherwise
    example: tuple[Array, Array, Array] | None  # two points called alike, and one between them that is not

    def __bool__(self) -> bool:
        return self.n_outside == 0


def convex_regions(predict: Any, X: Any, *, n_pairs: int = 10_000, random_state: int = 0) -> Convexity:
    """Try whether the decision regions of a classifier are convex, on random pairs of points around the rows X.

    The regions of a largest linear score are: they are cut out by the half-spaces f_c >= f_d. Those of votes, of neighbors
    or of kernels need not be. One pair proves that they are not; that none was found is no proof.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier, LogisticRegression, convex_regions
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(convex_regions(LogisticRegression().fit(X, y).predict, X))
    True
    >>> bool(convex_regions(KNeighborsClassifier(1).fit(X[:, :2], y).predict, X[:, :2]))
    False
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not len(X) or not np.isfinite(X).all():
        raise ValueError(
            f"X must be rows of finite numbers (n, D), around which points are drawn; got shape {X.shape}."
        )
    if not callable(predict):
        raise ValueError(f"predict must be a function of rows, such as model.predict; got {predict!r}.")
    rng = np.random.default_rng(random_state)
    low, high = X.min(axis=0), X.max(axis=0)
    pad = np.where(high > low, 0.25 * (high - low), 1.0)
    a, b = rng.uniform(low - pad, high + pad, size=(2, n_pairs, X.shape[1]))
    own, other = np.asarray(predict(a)), np.asarray(predict(b))
    alike = own == other
    a, b, own = a[alike], b[alike], own[alike]
    between = a + rng.uniform(size=(len(a), 1)) * (b - a)
    outside = np.flatnonzero(np.asarray(predict(between)) != own) if len(a) else np.empty(0, dtype=int)
    example = None if not len(outside) else (a[outside[0]], b[outside[0]], between[outside[0]])
    return Convexity(len(a), len(between), len(outside), example)
