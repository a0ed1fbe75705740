"""Hinge losses without a penalty or with L1, as linear programs with their own proof."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, load_wine

from conftest import tiny_problem
from nearline import LinearClassifier, Risk, minimize, num_threads
from nearline.losses import one_hot, signs
from nearline.solvers.linear_program import LARGEST

LOSSES = ["hinge", "weston-watkins", "crammer-singer"]
X, y = load_iris(return_X_y=True)


def least(X, y, loss, weights, bias=True):
    """The least mean loss, by a program that is written row by row."""
    n, D, K = *X.shape, 3
    n_w, cost, rows, right = K * (D + 1), np.zeros(K * (D + 1)), [], []
    code = one_hot(y, K)
    Z = np.hstack([X, np.full((n, 1), float(bias))])
    slots = 0
    for i in range(n):
        for c in range(K):
            if loss == "hinge":
                direction = signs(y, K)[i, c] * np.outer(np.eye(K)[c], Z[i])
            elif c == y[i]:
                continue
            else:
                direction = np.outer(code[i] - np.eye(K)[c], Z[i])
            own = i if loss == "crammer-singer" else slots
            rows.append((direction.ravel(), own, i))
            right.append(-1.0)
            slots += 1
    n_slots = n if loss == "crammer-singer" else slots
    A = np.zeros((len(rows), n_w + n_slots))
    cost = np.zeros(n_w + n_slots)
    for k, (direction, slot, i) in enumerate(rows):
        A[k, :n_w], A[k, n_w + slot], cost[n_w + slot] = -direction, -1.0, weights[i] / weights.sum()
    bounds = [(None, None)] * n_w + [(0, None)] * n_slots
    return linprog(cost, A_ub=A, b_ub=right, bounds=bounds).fun


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_without_a_penalty(loss, bias):
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    some = slice(None, None, 3)
    risk = Risk(X[some], y[some], loss=loss, alpha=0.0, weights=weights[some], bias=bias)
    solution = minimize(risk)
    assert (solution.solver, solution.status.name, solution.gap) == ("linear-program", "CONVERGED", None)
    assert solution.gradient_test <= 1e-10
    assert solution.value == pytest.approx(
        least(X[some], y[some], loss, weights[some], bias), rel=1e-7, abs=1e-9
    )
    assert bias or not solution.params.b.any()


@pytest.mark.parametrize("loss", LOSSES)
def test_separable_rows_have_no_loss(loss):
    solution = minimize(Risk(*load_wine(return_X_y=True), loss=loss, regularizer="none", alpha=1.0))
    assert solution.converged
    assert solution.value <= 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_l1_by_name_is_certified_to_rounding(loss):
    risk = Risk(csr_matrix(X), y, loss=loss, regularizer="l1", alpha=0.01)
    exact, other = minimize(risk, "linear-program"), minimize(risk, "smoothing", tol=1e-6)
    assert exact.gap <= 1e-11
    assert exact.value <= other.value <= exact.value * (1.0 + 1e-4)
    assert (exact.params.W == 0).any()


def test_the_estimator_and_same_bits_on_any_number_of_threads():
    fits = []
    for n in (1, 2):
        with num_threads(n):
            fits.append(LinearClassifier(loss="hinge", alpha=0.0).fit(X, y).coef_)
    np.testing.assert_array_equal(*fits)


def test_what_it_does_not_serve():
    rows, targets = tiny_problem(2)
    for change, match in (
        ({"loss": "logistic", "alpha": 0.0}, "serves 'hinge'.*'lbfgs'"),
        ({"loss": "hinge", "alpha": 0.1}, "no penalty but L1.*'dual-coordinate-descent'"),
        ({"loss": "hinge", "alpha": 0.1, "regularizer": "elastic-net"}, "no penalty but L1.*'smoothing'"),
    ):
        with pytest.raises(ValueError, match=match):
            minimize(Risk(rows, targets, **change), "linear-program")
    wide = csr_matrix((LARGEST, 2))
    large = Risk(wide, np.arange(LARGEST) % 2, loss="hinge", alpha=0.0)
    with pytest.raises(ValueError, match=r"numbers in its constraints.*alpha > 0"):
        minimize(large, "linear-program")
