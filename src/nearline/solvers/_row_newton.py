"""Newton's method on a Gram matrix of rows, by the rows that bend the risk alone.

The quadratic model at scores f, with first and second derivatives g and h of the mean loss in each row's score, is at its
minimum for W = sum_i a_i x_i and a bias b with

    l2 a + h (K a + b - f) + g = 0,    sum_i a_i = 0 where a bias is free.

Rows with h = 0 have a = -g / l2. For the others a = sqrt(h) c, where

    (l2 I + sqrt(h) K sqrt(h)) c = sqrt(h) (f - g / h - b - K a of rows with h = 0):

a system of as many unknowns as rows that bend the risk. Of losses with an end these get fewer.
"""

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.solvers._line_search import wolfe
from nearline.solvers._state import State
from nearline.solvers.block_newton import BlockNewton


def row_newton_step(risk: Risk, gram: Array, state: State) -> State:
    """One step for rows with these inner products, l2 > 0, a smooth loss of separate columns."""
    point = state.point
    target = _target(risk, gram, point)
    line = risk.along(point, point.params.like(target.flat - point.params.flat))
    t = wolfe(line)
    if t == 0.0:  # no row bends the risk here, or rounding is all that is left
        return BlockNewton().step(risk, state)
    state.point = line.at(t)
    return state


def _target(risk: Risk, gram: Array, point: Point) -> Params:
    """The minimum of the quadratic model."""
    scores = np.asarray(point.scores, dtype=np.float64)
    _, gradients = risk.loss.value_and_gradient(scores, risk.targets)
    curvatures = risk.loss.curvature(scores, risk.targets)
    assert curvatures is not None  # refused
    share = risk.weights[:, None] / risk.total_weight
    columns = zip(scores.T, (share * gradients).T, (share * curvatures).T, point.params.b, strict=True)
    solved = [_column(gram, risk.l2, risk.bias, *column) for column in columns]
    return Params.of(np.stack([a for a, _ in solved]) @ risk.X, np.array([b for _, b in solved]))


def _column(K: Array, l2: float, bias: bool, f: Array, g: Array, h: Array, b: float) -> tuple[Array, float]:
    """Coefficients and bias of one column; ``b`` is kept where no row bends."""
    from scipy.linalg import cho_factor, cho_solve

    bent = np.flatnonzero(h > 0)
    a = np.where(h > 0, 0.0, -g / l2)
    if not len(bent):
        return a, b
    goal = f[bent] - g[bent] / h[bent]
    if a.any():
        goal -= K[bent] @ a
    root = np.sqrt(h[bent])
    system = K[np.ix_(bent, bent)] * root[:, None] * root
    system[np.diag_indices_from(system)] += l2
    right = root[:, None] * np.stack([goal, np.ones(len(bent))], axis=1)[:, : 1 + bias]
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    solved = root[:, None] * cho_solve(factor, right, check_finite=False)
    if not bias:
        a[bent] = solved[:, 0]
        return a, 0.0
    b = float((solved[:, 0].sum() + a.sum()) / solved[:, 1].sum())
    a[bent] = solved[:, 0] - b * solved[:, 1]
    return a, b
