"""is_separable: can the classes be told apart by linear scores? With a proof either way.

Of two classes, row i gives a_i = y_i [x_i; 1]; of more, each (row i, other class c) gives the a_ic for which
a_ic . (W, b) = f_y(x_i) - f_c(x_i) (Kesler's construction). The linear program

    maximize sum_i u_i   subject to   sum_i (u_i + v_i) a_i = 0,   0 <= u_i <= 1,   v_i >= 0                    (P)

decides all three cases at once. Its multipliers w have a_i.w >= 1 where u_i + v_i = 0 and a_i.w = 0 elsewhere, where
u_i = 1. So if all u are 0, w separates; if all are 1, lambda = u + v > 0 with sum lambda_i a_i = 0 proves that nothing
does, not even a direction with a_i.w >= 0 for all and > 0 for some; else w is such a direction.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array, admitted, is_sparse
from nearline.losses import LOSSES
from nearline.risk import Risk
from nearline.scores import LinearScore
from nearline.solvers import Status, search_minimum
from nearline.solvers.kesler import LARGEST_BASIS, Kesler
from nearline.solvers.kesler import search as _search


@dataclass(frozen=True)
class Separability:
    """The verdict of :func:`is_separable` and what proves it. True in an ``if`` when the rows are separable.

    Attributes
    ----------
    verdict : 'separable', 'quasi-separable' or 'not separable'
    classes : (C,) labels.
    W, b : the separating scores, (1, D) and (1,) for two classes, else (C, D) and (C,); of quasi-separable rows the
        direction with y f(x) >= 0 for all rows and > 0 for some. None if there is none.
    multipliers : lambda >= 0 with sum 1 and sum_i lambda_i y_i [x_i; 1] = 0, (n,) for two classes. For more (n, C), 0
        at the own class, and with the own entry set to minus the sum of the others sum_i lambda_ic [x_i; 1] = 0 for
        every class c. None if separable; of quasi-separable rows they are on the rows that nothing can separate.
    margin : smallest geometric margin of W, b over the rows, not the largest possible; 0 if quasi-separable, else None.
    residual : how far the proof is from exact. Separable: 0 (all margins are positive). Quasi-separable: the most
        negative y f(x), relative to the size of its terms. Not separable: the largest entry of
        sum_i lambda_i y_i [x_i; 1], columns centered, relative to the size of its terms.
    """

    verdict: str
    classes: Array
    W: Array | None
    b: Array | None
    multipliers: Array | None
    margin: float | None
    residual: float

    def __bool__(self) -> bool:
        return self.verdict == "separable"

    @property
    def certificate(self) -> tuple[Array, Array] | Array:
        """(W, b) where there is a direction, lambda where there is none."""
        if self.W is not None and self.b is not None:
            return self.W, self.b
        assert self.multipliers is not None
        return self.multipliers


def is_separable(X: Any, y: Any) -> Separability:
    """Whether the classes of y are linearly separable in X: by a hyperplane, or for more than two jointly by argmax.

    Every verdict comes with a certificate that has been checked. Columns and rows are brought to a common scale first,
    which changes no verdict. Differences below 1e-9 of that scale are taken for 0.

    First comes a logistic regression without penalty, for a limited time: its iterates find a separation, and where
    it has a minimizer, that proves that there is none. It costs some tens of passes over the rows and Hessians of
    (C - 1)(D + 1) unknowns. What it leaves open, mostly quasi-separable rows, is decided by linear programs with as
    many equations and two unknowns for each row of a working set, which grows as far as needed. Thousands of rows and
    hundreds of columns take seconds, or minutes if it comes to the programs: it is for questions, not for use in a fit.

    Parameters
    ----------
    X : (n, D) array or sparse matrix.
    y : (n,) labels of any kind, at least two different ones.

    Returns
    -------
    Separability

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import is_separable
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> is_separable(X, ["a", "b", "b", "b"]).verdict
    'separable'
    >>> xor = is_separable(X, ["a", "a", "b", "b"])
    >>> xor.verdict, xor.multipliers.tolist()
    ('not separable', [0.25, 0.25, 0.25, 0.25])
    >>> is_separable([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]).verdict
    'quasi-separable'
    """
    X, classes, targets = _checked(X, y)
    problem = Kesler.of(X, targets, len(classes))
    w, chosen, multipliers = _try_logistic(problem) or _search(problem)
    if problem.margins(w).min() > problem.rounding:
        W, b = problem.parameters(w)
        margin = float(LinearScore(W, b, classes).margins(X, targets).min())
        return Separability("separable", classes, W, b, None, margin, max(0.0, -margin))
    overlapping = multipliers > 0.5
    chosen, multipliers = chosen[overlapping], multipliers[overlapping]
    multipliers = problem.polished(chosen, multipliers)
    spread, violation = problem.spread(chosen, multipliers)
    lambdas = spread[:, 0] if len(classes) == 2 else spread
    if not w.any():
        return Separability("not separable", classes, None, None, lambdas, None, violation)
    w = problem.orthogonal(w, chosen)
    W, b = problem.parameters(w)
    residual = max(0.0, -float(problem.margins(w).min()))
    return Separability("quasi-separable", classes, W, b, lambdas, 0.0, residual)


def _try_logistic(problem: Kesler) -> tuple[Array, Array, Array] | None:
    """The same as :func:`_search` from a fit that takes a fraction of its time, if it proves something."""
    w, multipliers = _logistic(problem)
    everything = problem.numbers()
    if problem.margins(w).min() > problem.rounding:
        return w, everything[:0], multipliers[:0]
    multipliers = multipliers * problem.size[everything // problem.n_columns]
    chosen = everything[multipliers > 1e-6 * multipliers.max()]
    multipliers = problem.polished(chosen, multipliers[multipliers > 1e-6 * multipliers.max()])
    proven = multipliers.min() > 0 and problem.spread(chosen, multipliers)[1] <= 1e-13
    if not proven or problem.outside_span(chosen, everything).any():
        return None
    return np.zeros_like(w), chosen, multipliers / multipliers.min()


def _logistic(problem: Kesler) -> tuple[Array, Array]:
    """Logistic regression without a penalty, for a while: w, and the lambda (of all rows) that it makes of w.

    The gradient is -sum_i sigma(-a_i.w) a_i (of more classes, -sum_ic p_c(x_i) a_ic), so that where it is 0 the
    lambda are a proof that nothing separates; and where something does the fit finds it, if not by too little.
    """
    loss = LOSSES["logistic" if problem.binary else "softmax"]
    rows = problem.Z[:, :-1]
    risk = Risk(rows, problem.targets, loss=loss, regularizer="none", alpha=0.0, n_classes=problem.n_classes)
    # Easy separations take a few cheap steps; for the rest second derivatives pay.
    first = search_minimum(risk, "lbfgs", tol=1e-11, max_iter=50)
    second = "newton" if problem.n_classes * problem.Z.shape[1] <= LARGEST_BASIS else "newton-cg"
    done = first.status in (Status.CONVERGED, Status.NO_MINIMIZER)
    params = (first if done else search_minimum(risk, second, first.params, tol=1e-11, max_iter=40)).params
    V = np.column_stack([params.W, params.b])
    w = (V if problem.binary else V[:-1] - V[-1]).ravel()
    gradient = loss.value_and_gradient(risk.passes.scores(params), problem.targets)[1]
    return w, np.abs(gradient).ravel()[problem.numbers()]


def _checked(X: Any, y: Any) -> tuple[Any, Array, Array]:
    """X as float64 array or CSR, classes, class numbers."""
    X = admitted(X).astype(np.float64) if is_sparse(X) else np.asarray(X, dtype=np.float64)
    y = np.asarray(y)
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != len(y) or not len(y):
        raise ValueError(
            f"is_separable takes X (n, D) and y (n,) with n >= 1, got shapes {X.shape} and {y.shape}: "
            "give one label for each row."
        )
    if not np.isfinite(X.data if is_sparse(X) else X).all():
        raise ValueError(
            "X has NaN or infinite values: drop or fill those rows, they are on no side of anything."
        )
    classes, targets = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"is_separable needs at least 2 classes, but y has 1 class: {classes.tolist()[0]!r}. "
            "There is nothing to separate; give rows of another class too."
        )
    return X, classes, targets
