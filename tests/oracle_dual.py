"""Slow references for SVMs: the primal as a quadratic program with slack variables, and W = 0 as a linear program."""

import numpy as np
from scipy.optimize import linprog, minimize


def slack_rows(loss, targets, K):
    """(row, slack number, class with plus sign or None, class with minus sign) for each 'slack >= 1 - margin'."""
    rows, n_slacks = [], 0
    for i, y in enumerate(targets):
        if loss in ("hinge", "squared-hinge"):
            for c in range(K):
                positive = y == 1 if K == 1 else y == c
                rows.append((i, n_slacks, *((c, None) if positive else (None, c))))
                n_slacks += 1
        else:
            for c in range(K):
                if c == y:
                    continue
                rows.append((i, n_slacks, y, c))
                n_slacks += loss == "weston-watkins"
            n_slacks += loss == "crammer-singer"
    return rows, n_slacks


def svm_minimum(loss, X, targets, K, alpha, bias=True, weights=None):
    """Least risk of an SVM, by sequential quadratic programming on (W, b, slacks)."""
    X = np.asarray(X, dtype=float)
    n, D = X.shape
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    rows, n_slacks = slack_rows(loss, targets, K)
    size = K * (D + 1) + n_slacks
    A, cost = np.zeros((len(rows), size)), np.zeros(n_slacks)
    for r, (i, slack, plus, minus) in enumerate(rows):
        for c, sign in ((plus, 1.0), (minus, -1.0)):
            if c is not None:
                A[r, c * D : (c + 1) * D] = sign * X[i]
                A[r, K * D + c] = sign * bias
        A[r, K * (D + 1) + slack] = 1.0
        cost[slack] = weights[i] / weights.sum()
    power = 2 if loss == "squared-hinge" else 1

    def value(v):
        return 0.5 * alpha * v[: K * D] @ v[: K * D] + cost @ v[K * (D + 1) :] ** power

    def gradient(v):
        g = np.zeros(size)
        g[: K * D] = alpha * v[: K * D]
        g[K * (D + 1) :] = cost * power * v[K * (D + 1) :] ** (power - 1)
        return g

    start = np.zeros(size)
    start[K * (D + 1) :] = 1.0
    solution = minimize(
        value,
        start,
        jac=gradient,
        method="SLSQP",
        bounds=[(None, None)] * (K * (D + 1)) + [(0, None)] * n_slacks,
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1.0, "jac": lambda v: A},
        options={"maxiter": 2000, "ftol": 1e-13},
    )
    assert solution.success, solution.message
    return float(solution.fun)


def null_minimum(loss, class_weights):
    """Least summed loss at W = 0, a linear program in b and the slacks of one row a class."""
    K = len(class_weights)
    rows, n_slacks = slack_rows(loss, range(K), K)
    A, cost = np.zeros((len(rows), K + n_slacks)), np.zeros(K + n_slacks)
    for r, (i, slack, plus, minus) in enumerate(rows):
        for c, sign in ((plus, -1.0), (minus, 1.0)):
            if c is not None:
                A[r, c] = sign
        A[r, K + slack] = -1.0
        cost[K + slack] = class_weights[i]
    solution = linprog(
        cost, A_ub=A, b_ub=-np.ones(len(rows)), bounds=[(None, None)] * K + [(0, None)] * n_slacks
    )
    return float(solution.fun)
