"""Fewer rows than features: the same minimizer, found in the space that the rows span."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearline import Risk, minimize
from nearline.losses import LOSSES
from nearline.solvers import RowSpace, choose

SMOOTH = [name for name, loss in LOSSES.items() if loss.smooth and loss.refusal is None]
rng = np.random.default_rng(0)


def wide(n_classes, n=30, d=200):
    targets = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) + 0.3 * rng.normal(size=(n_classes, d))[targets], targets


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_minimizer_is_that_of_all_features(loss, n_classes, bias):
    X, targets = wide(n_classes)
    weights = rng.uniform(0.0, 2.0, len(X))
    risk = Risk(X, targets, loss=loss, alpha=0.1, weights=weights, bias=bias)
    found, known = minimize(risk, "row-space", tol=1e-8), minimize(risk, "lbfgs", tol=1e-8)
    assert found.converged
    assert found.gap <= 1e-8
    np.testing.assert_allclose(found.params.W, known.params.W, atol=2e-3 * np.abs(known.params.W).max())


@pytest.mark.parametrize("change", ["equal rows", "some equal", "far", "float32", "one feature", "zeros"])
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "softmax"])
def test_rows_of_any_rank(loss, change):
    X, targets = wide(3)
    if change == "equal rows":
        X[:] = X[0]
    if change == "some equal":
        X[10:20] = X[0]
    if change == "far":
        X += 1e4
    if change == "float32":
        X = X.astype(np.float32)
    if change == "one feature":
        X[:, 1:] = 0.0
    if change == "zeros":
        X[:] = 0.0
    found = minimize(Risk(X, targets, loss=loss, alpha=1e-2), "row-space", tol=1e-5)
    assert found.converged
    assert found.gap <= 1e-5


def test_a_start_of_any_kind():
    """What rows do not see of a start is left out."""
    X, targets = wide(2)
    risk = Risk(X, targets, alpha=1e-2)
    start = risk.zeros()
    start.flat[:] = rng.normal(size=len(start.flat))
    found = minimize(risk, "row-space", start, tol=1e-7)
    assert found.value == pytest.approx(minimize(risk, "newton-cg", tol=1e-7).value, rel=1e-6)
    again = minimize(risk, "row-space", found.params, tol=1e-7)
    assert again.n_iter == 0


def test_it_is_chosen_and_refuses_the_rest():
    X, targets = wide(2, n=100, d=1000)
    assert type(choose(Risk(X, targets, loss="squared-hinge", alpha=1e-2), "auto")) is RowSpace
    refused = {
        "fewer than features": Risk(X.T.copy(), np.arange(1000) % 2, alpha=1e-2),
        "dense rows": Risk(csr_matrix(X), targets, alpha=1e-2),
        "built-in losses and L2": Risk(X, targets, alpha=0.0),
        "kinks": Risk(X, targets, loss="hinge", alpha=1e-2),
    }
    for reason, risk in refused.items():
        assert reason in RowSpace().refuses(risk)
