"""Regularization paths: certified solutions from large alphas to small, each started at the last."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from nearline._arrays.design import Array, Design
from nearline._arrays.doors import door_of
from nearline._records.habits import translates_habits
from nearline._records.refused import ParameterError
from nearline.estimators.blocked import Found, labelled
from nearline.losses import Loss
from nearline.regularizers import Regularizer
from nearline.risk import BlockedRisk, Risk
from nearline.solvers import Solution, Solver, minimize


class Coefficients(NamedTuple):
    """A path as arrays, for pictures and tables."""

    alphas: Array  # (n_alphas,)
    W: Array  # (n_alphas, K, D)
    b: Array  # (n_alphas, K)


@translates_habits
def path(
    X: Design,
    y: Any,
    *,
    loss: Loss | str = "logistic",
    regularizer: Regularizer | str = "l2",
    alphas: Any = None,
    n_alphas: int = 100,
    ratio: float = 1e-3,
    weights: Array | None = None,
    solver: Solver | str = "auto",
    tol: float = 1e-4,
    bias: bool = True,
    relative_to: str = "risk",
) -> Iterator[tuple[float, Solution]]:
    """Solutions over a grid of alphas, from large to small: an iterator of (alpha, solution).

    Each fit starts at the last solution and has its own certificate, so it agrees with one made alone within the sum of
    the two gaps. All that does not depend on alpha is shared. What has been yielded stays valid if the rest is not
    asked for, or is interrupted.

    Parameters
    ----------
    X : (n, D) array or sparse matrix, or rows in blocks (Dask).
    y : (n,) labels of any kind (class number c is the c-th of ``np.unique(y)``), or (n, K) label distributions.
    loss, regularizer : names or objects.
    alphas : the grid; by default ``n_alphas`` values, evenly spaced in log alpha, from the largest to ``ratio`` times
        it. The largest is the smallest alpha at which all weights are zero (L1, elastic net, group L1); where there is
        none (L2), the mean squared distance of the rows to their mean.
    weights, solver, tol, bias, relative_to : as for :class:`nearline.Risk` and :func:`nearline.minimize`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import path
    >>> X, y = load_iris(return_X_y=True)
    >>> [(round(alpha, 4), int((s.params.W != 0).sum())) for alpha, s in path(X, y, regularizer="l1", n_alphas=4)]
    [(0.7653, 0), (0.0765, 4), (0.0077, 7), (0.0008, 9)]
    """
    given: dict[str, Any] = {"loss": loss, "regularizer": regularizer, "alpha": 1.0, "bias": bias}
    door = door_of(X)
    if door is None:
        risk = Risk(X, _targets(y), weights=weights, **given)
    else:
        found = Found("A path")
        blocks = labelled(found, door, X, y, weights)
        risk = BlockedRisk(blocks, n_classes=len(found.classes_), **given)
    grid = _grid(risk, n_alphas, ratio) if alphas is None else checked_alphas(alphas)
    return solutions(risk, grid, solver, tol, relative_to)


def coefficients(solutions: Iterable[tuple[float, Solution]]) -> Coefficients:
    """Weights and biases over alpha, stacked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import coefficients, path
    >>> coefficients(path(*load_iris(return_X_y=True), regularizer="l1", n_alphas=5)).W.shape
    (5, 3, 4)
    """
    pairs = list(solutions)
    if not pairs:
        raise ValueError("The path has no solutions: give one with at least one alpha, not yet used up.")
    alphas = np.array([alpha for alpha, _ in pairs])
    W, b = (np.stack([getattr(s.params, part) for _, s in pairs]) for part in ("W", "b"))
    return Coefficients(alphas, W, b)


def solutions(
    risk: Risk, grid: Iterable[float], solver: Solver | str, tol: float, relative_to: str
) -> Iterator[tuple[float, Solution]]:
    """(alpha, solution) along a grid, each from the last."""
    params = None
    _ = risk.null_point  # the same at every alpha, and shared by the risks below
    for alpha in grid:
        solution = minimize(risk.with_alpha(alpha), solver, params, tol=tol, relative_to=relative_to)
        params = solution.params
        yield float(alpha), solution


def _targets(y: Any) -> Array:
    """Class numbers of labels; label distributions as they are."""
    y = np.asarray(y)
    if y.ndim == 2:
        return y
    if y.ndim != 1:
        raise ValueError(
            f"y must be labels (n,) or label distributions (n, K), got an array of shape {y.shape}."
        )
    classes, targets = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"A path needs at least 2 classes, y has {len(classes)}: give rows of another class too."
        )
    return targets


def _grid(risk: Risk, n_alphas: int, ratio: float) -> Array:
    """Evenly spaced in log alpha, the largest first."""
    if n_alphas < 1 or not 0 < ratio < 1:
        raise ValueError(f"A path needs n_alphas >= 1 and 0 < ratio < 1, got {n_alphas!r} and {ratio!r}.")
    gradient = risk.null_point.gradient
    # The derivative in b is zero but for rounding, which an offset of the features would multiply.
    mean = risk.passes.column_moments[0]
    largest = risk.regularizer.largest_alpha(gradient.W - np.outer(gradient.b, mean) * risk.bias)
    if largest is None and not risk.elastic:
        raise ValueError(
            f"Penalty '{risk.regularizer.name}' does not say at which alpha all weights are 0: give alphas=, or define its "
            "largest_alpha."
        )
    if largest is None:
        largest = float((risk.passes.column_moments[1] ** 2).sum())
    if not np.isfinite(largest):
        raise ValueError(
            "X has values that are NaN, infinite or too large to square: drop, fill or scale them."
        )
    if not largest > 0:
        raise ValueError(
            "No feature says anything about the labels, so there is no path: give other features."
        )
    return np.asarray(largest * np.geomspace(1.0, ratio, n_alphas))


def checked_alphas(alphas: Any) -> Array:
    """A grid as given, from large to small."""
    grid = np.sort(np.atleast_1d(np.asarray(alphas, dtype=float)))[::-1]
    if grid.ndim != 1 or not len(grid) or not (np.isfinite(grid).all() and (grid >= 0).all()):
        raise ParameterError("alphas", alphas, "finite numbers >= 0, at least one")
    return grid
