"""Every loss, penalty, solver, precision and storage: a solution that says converged is within tol of the least risk."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from scipy.sparse import csr_matrix

from conftest import tiny_problem
from nearline import LOSSES, REGULARIZERS, SOLVERS, Risk, minimize
from oracle import risk as risk_by_loops
from oracle_dual import svm_minimum
from oracle_group import least_by_groups

STRENGTHS = {  # of |W|_1, |W|^2 / 2 and the sum of |W_j| over features
    "l2": {"l1": 0.0, "l2": 1.0},
    "l1": {"l1": 1.0, "l2": 0.0},
    "elastic-net": {"l1": 0.5, "l2": 0.5},
    "group-l1": {"l1": 0.0, "l2": 0.0, "group": 1.0},
}
ALPHA = {"l2": 1e-3, "l1": 1e-2, "elastic-net": 1e-2, "group-l1": 1e-2}  # without a penalty there is no gap
TOL = {"sgd": 1e-1, "gradient-descent": 1e-2, "fista": 1e-3}
BY_PROX = {"smoothing": 1e-1, "sgd": 3e-1}  # under penalties that no compiled loop knows


def least(risk):
    """The least risk, without a certificate of nearline: by scipy on W = P - Q with P, Q >= 0; SVMs as quadratic programs.

    A loss with kinks under an L1 penalty has no such reference here (tests/test_linear_program.py has one): None.
    """
    X, K = (risk.X.toarray() if risk.sparse else risk.X).astype(np.float64), risk.n_outputs
    if not risk.loss.smooth:
        return svm_minimum(risk.loss.name, X, risk.targets, K, risk.alpha) if risk.l1 == 0 < risk.l2 else None
    if not risk.elastic:
        return least_by_groups(risk.loss, X, risk.targets, K, risk.alpha)[0]
    n, size = len(X), K * X.shape[1]

    def value(v):
        W, b = (v[:size] - v[size : 2 * size]).reshape(K, -1), v[2 * size :]
        losses, G = risk.loss.value_and_gradient(X @ W.T + b, risk.targets)
        g_W = (G.T @ X / n + risk.l2 * W).ravel()
        penalty = risk.l1 * v[: 2 * size].sum() + 0.5 * risk.l2 * (W**2).sum()
        return losses.mean() + penalty, np.concatenate([g_W + risk.l1, risk.l1 - g_W, G.mean(axis=0)])

    bounds = [(0.0, None)] * (2 * size) + [(None, None)] * K
    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 50}
    return scipy_minimize(
        value, np.zeros(2 * size + K), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).fun


@pytest.mark.parametrize("regularizer", [name for name in REGULARIZERS if name != "none"])
@pytest.mark.parametrize("loss", [name for name in LOSSES if LOSSES[name].refusal is None])
def test_converged_means_within_tol_of_the_least_risk(loss, regularizer):
    """P - P* <= tol P, P by loops in float64 over the parameters as they were delivered."""
    n_classes, alpha, proven = 3 if LOSSES[loss].joint else 2, ALPHA[regularizer], 0
    exact, targets = tiny_problem(n_classes, dtype=np.float32, n=30, d=3)  # the same rows in both precisions
    best = least(Risk(exact.astype(np.float64), targets, loss=loss, regularizer=regularizer, alpha=alpha))
    for dtype in (np.float32, np.float64):
        rows = exact.astype(dtype)
        for X in (rows, csr_matrix(rows)):
            risk = Risk(X, targets, loss=loss, regularizer=regularizer, alpha=alpha)
            for solver in SOLVERS.values():
                if solver.refuses(risk) is None:
                    proven += check(risk, rows.astype(np.float64), solver, best)
    assert proven or (not LOSSES[loss].smooth and regularizer != "l2")


def check(risk, rows, solver, best):
    """The risk of what is delivered, by loops, against the least; whether there was something to compare with."""
    tol = (TOL if risk.elastic else TOL | BY_PROX).get(solver.name, 1e-5)
    solution = minimize(risk, solver, tol=tol)
    W, b = solution.params.W, solution.params.b
    penalty = STRENGTHS[risk.regularizer.name]
    own = risk_by_loops(risk.loss.name, rows, risk.targets, W, b, risk.alpha, **penalty)
    assert own == pytest.approx(solution.value, rel=1e-9)
    np.testing.assert_array_equal(solution.params.flat, solution.params.flat.astype(risk.X.dtype))
    if not solution.converged or solution.gap is None or best is None:
        return False
    # The reference is no less than the least risk; 1e-8 is for its own rounding.
    assert own - best <= (min(tol, solution.gap) + 1e-8) * own, solver.name
    return True
