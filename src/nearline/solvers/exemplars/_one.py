"""One exemplar against a few negatives: the squared hinge by Newton's method, which ends at the exact minimum.

    P(w, b) = (alpha/2) |w|^2 + sum_i c_i max(0, 1 - y_i (w.z_i + b))^2,     y = +1 for the first row, -1 for the others

Where the rows with a loss are known (A), the minimum is that of a quadratic function: w = sum over A of beta_i z_i with

    (K + diag(alpha / (2 c))) beta + b = y,   sum beta = 0,   K_ij = z_i.z_j

and A is right if it is the set of rows that have a loss there. Signed duals beta give the bound
D = alpha (sum |beta| - |w|^2 / 2) - sum alpha^2 beta^2 / (4 c) <= min P.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from nearline._arrays.design import Array

MOST_STEPS, MOST_HALVINGS = 200, 40
SAME = 1e-15  # of P: less is gained by rounding


@dataclass(frozen=True)
class Minimum:
    """Where P is least."""

    w: Array  # (D,)
    b: float
    beta: Array  # (m,) signed duals
    dual: float  # D(beta)


def minimum(Z: Array, costs: Array, alpha: float, start: tuple[Array, float] | None = None) -> Minimum:
    """argmin P for rows Z (m, D), the exemplar first."""
    y = -np.ones(len(Z))
    y[0] = 1.0
    w, b = (np.zeros(Z.shape[1]), 0.0) if start is None else start
    slack, value = _at(Z, y, costs, alpha, w, b)
    active = slack > 0
    for _ in range(MOST_STEPS):
        active[0] = True
        aim_w, aim_b, beta = _quadratic(Z, y, costs, alpha, active)
        aim_slack, aim_value = _at(Z, y, costs, alpha, aim_w, aim_b)
        step = 1.0
        aim_active = aim_slack > 0
        aim_active[0] = True
        if (aim_active == active).all():
            return _found(Z, costs, alpha, aim_w, aim_b, beta)
        new_w, new_b, new_slack, new_value = aim_w, aim_b, aim_slack, aim_value
        while new_value > value and step > 0.5**MOST_HALVINGS:
            step *= 0.5
            new_w, new_b = w + step * (aim_w - w), b + step * (aim_b - b)
            new_slack, new_value = _at(Z, y, costs, alpha, new_w, new_b)
        if value - new_value <= SAME * value:
            break
        w, b, value, active = new_w, new_b, new_value, new_slack > 0
    return _found(Z, costs, alpha, aim_w, aim_b, np.where(y * beta > 0, beta, 0.0))


def _at(Z: Array, y: Array, costs: Array, alpha: float, w: Array, b: float) -> tuple[Array, float]:
    slack = np.maximum(1.0 - y * (Z @ w + b), 0.0)
    return slack, 0.5 * alpha * float(w @ w) + float(costs @ (slack * slack))


def _quadratic(Z: Array, y: Array, costs: Array, alpha: float, active: Array) -> tuple[Array, float, Array]:
    """The minimum if exactly the active rows had their squared slack as a loss: w, b and signed duals."""
    rows, weights, signs = Z[active], costs[active], y[active]
    beta = np.zeros(len(Z))
    if len(rows) <= Z.shape[1]:
        system = rows @ rows.T
        system[np.diag_indices_from(system)] += 0.5 * alpha / weights
        u, v = _solved(system, np.column_stack([signs, np.ones(len(rows))])).T
        b = float(u.sum() / v.sum())
        beta[active] = u - b * v
        return rows.T @ beta[active], b, beta
    mean = weights @ rows / weights.sum()
    centered = rows - mean
    system = (centered * (2.0 * weights)[:, None]).T @ centered
    system[np.diag_indices_from(system)] += alpha
    w = _solved(system, 2.0 * ((weights * signs) @ centered))
    b = float(weights @ signs / weights.sum() - mean @ w)
    beta[active] = 2.0 * weights * (signs - rows @ w - b) / alpha
    return w, b, beta


def _solved(system: Array, right: Array) -> Array:
    """Of a positive definite system, without the checks that would take longer than a small one."""
    _, found, failed = dposv(system, right, lower=True, overwrite_a=True)
    return np.asarray(np.linalg.lstsq(system, right)[0] if failed else found)


def _found(Z: Array, costs: Array, alpha: float, w: Array, b: float, beta: Array) -> Minimum:
    """The bound D holds for any beta of the right signs that adds up to 0, and the w of these beta."""
    beta = beta.copy()
    others = -beta[1:].sum()
    if others > 0:
        beta[1:] *= beta[0] / others  # they add up to 0 but for rounding
    own = Z.T @ beta
    bound = alpha * (np.abs(beta).sum() - 0.5 * float(own @ own)) - 0.25 * alpha**2 * float(
        (beta * beta / costs).sum()
    )
    return Minimum(w, b, beta, float(bound))
