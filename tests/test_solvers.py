"""Every loss x regularizer x solver either refuses with a way out, or reaches its tolerance; all agree."""

import re

import numpy as np
import pytest

from conftest import tiny_problem
from nearline import Risk, minimize
from nearline.losses import LOSSES
from nearline.regularizers import REGULARIZERS
from nearline.solvers import SOLVERS

TOL = {"sgd": 2e-2, "gradient-descent": 1e-5}
BY_PROX = {"smoothing": 1e-2, "sgd": 1e-1}  # under penalties that no compiled loop knows
STORAGE = [(sparse, dtype) for sparse in (False, True) for dtype in (np.float64, np.float32)]


def solve_all(risk):
    """Solutions of every solver that serves the risk; the others must refuse usefully."""
    solutions = {}
    float32 = risk.X.dtype == np.float32
    for name, solver in SOLVERS.items():
        reason = solver.refuses(risk)
        if reason is not None:
            assert_useful_refusal(risk, name, reason)
            continue
        tol = (TOL if risk.elastic else TOL | BY_PROX).get(name, 1e-4 if float32 else 1e-6)
        solution = minimize(risk, name, tol=tol)
        assert solution.converged, (name, solution.status, solution.gap, solution.n_iter)
        assert solution.solver == name
        if not risk.unpenalized:
            assert solution.gap <= tol
        solutions[name] = solution
    return solutions


def assert_useful_refusal(risk, name, reason):
    """Law 9: the sentence says why, and names a solver that can."""
    with pytest.raises(ValueError, match=re.escape(reason[:40])):
        minimize(risk, name)
    if risk.loss.refusal is not None:
        assert risk.loss.refusal in reason
        return
    named = [other for other in SOLVERS if f"'{other}'" in reason and other != name]
    assert any(SOLVERS[other].refuses(risk) is None for other in named), (name, reason)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("regularizer", list(REGULARIZERS))
@pytest.mark.parametrize("loss", list(LOSSES))
def test_all_solvers_agree(loss, regularizer, n_classes):
    # With a penalty, tests/test_every_certificate.py has the other storages, against an outer reference.
    for sparse, dtype in STORAGE if regularizer == "none" else (STORAGE[0], STORAGE[3]):
        X, targets = tiny_problem(n_classes, sparse=sparse, dtype=dtype)
        alpha = 0.0 if regularizer == "none" else 0.05
        risk = Risk(X, targets, loss=loss, regularizer=regularizer, alpha=alpha, n_classes=n_classes)
        solutions = solve_all(risk)
        if not solutions:
            continue
        best = min(solutions.values(), key=lambda s: s.value)
        for name, solution in solutions.items():
            excess = (solution.value - best.value) / risk.null_value
            rounding = 1e-5 if dtype == np.float32 else 1e-9
            if risk.unpenalized:
                assert excess <= 10 * TOL.get(name, 1e-4), (name, excess)
            else:
                assert excess <= solution.gap + rounding, (name, excess)
        if regularizer == "l2" and dtype == np.float64:
            assert_same_minimizer(risk, solutions, best)


def assert_same_minimizer(risk, solutions, best):
    """With L2 the weights are unique: alpha/2 |W - W*|^2 <= P - P*, and so are the biases where the loss is smooth."""
    for name, solution in solutions.items():
        radius = np.sqrt(2.0 * (solution.gap + best.gap) * risk.null_value / risk.l2) + 1e-9
        assert np.linalg.norm(solution.params.W - best.params.W) <= 2.0 * radius, name
        if risk.loss.joint:
            assert abs(solution.params.b.sum()) <= 1e-9


@pytest.mark.parametrize("loss", [name for name, value in LOSSES.items() if value.refusal is None])
def test_auto_serves_every_loss_and_penalty(loss):
    X, targets = tiny_problem(3)
    for regularizer in (name for name in REGULARIZERS if name != "none"):
        solution = minimize(Risk(X, targets, loss=loss, regularizer=regularizer, alpha=0.05), tol=2e-2)
        assert solution.converged, (regularizer, solution)
        assert solution.solver in SOLVERS


@pytest.mark.parametrize("loss", ["zero-one", "perceptron", "multiclass-perceptron"])
def test_losses_that_are_not_to_be_minimized(loss):
    """B1, B4, B8: refused by every solver, with the reason."""
    X, targets = tiny_problem(2)
    for solver in ["auto", *SOLVERS]:
        with pytest.raises(ValueError, match="minimi"):
            minimize(Risk(X, targets, loss=loss), solver)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize(
    "solver", ["auto", "lbfgs", "newton", "irls", "newton-cg", "block-newton", "conjugate-gradient"]
)
def test_no_finite_minimizer_is_said(loss, solver):
    """D14: separated rows without a penalty end in a proof, not in huge weights."""
    X = np.array([[0.0, 1.0], [1.0, 0.5], [3.0, 1.0], [4.0, 0.0]])
    solution = minimize(Risk(X, np.array([0, 0, 1, 1]), loss=loss, alpha=0.0), solver)
    assert solution.status.name == "NO_MINIMIZER"
    assert "alpha > 0" in solution.status.value
    assert np.abs(solution.params.W).max() < 1e3


def test_newton_and_irls_take_the_same_steps():
    """D6: IRLS is the undamped Newton step, both with the same line search."""
    X, targets = tiny_problem(3)
    risk = Risk(X, targets, loss="softmax", alpha=0.01)
    newton, irls = (minimize(risk, name, tol=1e-12) for name in ("newton", "irls"))
    np.testing.assert_allclose(newton.trace, irls.trace, rtol=1e-9)


def test_irls_is_the_textbook_form_without_penalty():
    """D6: at alpha = 0 one undamped step is (Phi^T R Phi)^-1 Phi^T R z with z = Phi w - R^-1 (h - y)."""
    X, targets = tiny_problem(2)
    risk = Risk(X, targets, alpha=0.0)
    start = risk.at(risk.zeros())
    step = SOLVERS["irls"].direction(risk, SOLVERS["irls"].start(risk, risk.zeros(), 1e-4))
    Phi = np.hstack([X, np.ones((len(X), 1))])
    h = np.full(len(X), 0.5)
    R = h * (1 - h)
    z = Phi @ np.zeros(Phi.shape[1]) - (h - targets) / R
    expected = np.linalg.solve(Phi.T @ (R[:, None] * Phi), Phi.T @ (R * z))
    np.testing.assert_allclose(start.params.flat + step, expected, atol=1e-10)


def test_gradient_descent_with_a_fixed_step_is_the_plain_rule():
    """D2: W -= step * gradient."""
    from nearline.solvers import GradientDescent

    X, targets = tiny_problem(2)
    risk = Risk(X, targets, alpha=0.1)
    params = risk.zeros()
    for _ in range(3):
        params = params.like(params.flat - 0.1 * risk.at(params).gradient.flat)
    solution = minimize(risk, GradientDescent(step_size=0.1), tol=1e-12, max_iter=3)
    np.testing.assert_allclose(solution.params.flat, params.flat, rtol=1e-12)
    assert not solution.converged
    assert "max_iter" in solution.status.value


def test_two_class_softmax_is_logistic_at_half_alpha():
    """Softmax of two scores at alpha equals the binary model at alpha / 2."""
    X, targets = tiny_problem(2)
    joint = minimize(Risk(X, targets, loss="softmax", alpha=0.1), tol=1e-12)
    single = minimize(Risk(X, targets, loss="logistic", alpha=0.05), tol=1e-12)
    assert joint.value == pytest.approx(single.value, rel=1e-9)
    np.testing.assert_allclose(joint.params.W[1] - joint.params.W[0], single.params.W[0], atol=1e-5)


@pytest.mark.parametrize("loss", ["softmax", "logistic", "squared-hinge", "squared"])
def test_wild_scales_and_offsets_converge(loss):
    """Features of scales 1e-4 .. 1e4 and offsets of 1e5 do not break convergence, nor change the model."""
    X, targets = tiny_problem(3)
    scale, offset = np.array([1e-4, 1.0, 1e2, 1e4]), np.array([0.0, 1e2, -1e4, 1e5])
    wild = X * scale + offset
    risk = Risk(wild, targets, loss=loss, alpha=1e-3)
    solutions = {
        name: minimize(risk, name, tol=1e-5)
        for name in ("auto", "lbfgs", "newton-cg", "newton", "block-newton")
    }
    assert all(s.converged for s in solutions.values()), {n: (s.status, s.gap) for n, s in solutions.items()}
    values = [s.value for s in solutions.values()]
    assert max(values) - min(values) <= 2e-5 * risk.null_value


def test_warm_start_needs_no_iterations():
    X, targets = tiny_problem(3)
    risk = Risk(X, targets, loss="softmax", alpha=0.1)
    first = minimize(risk, tol=1e-8)
    again = minimize(risk, start=first.params, tol=1e-6)
    assert again.n_iter == 0
    assert again.gap <= 1e-6


def test_callback_sees_every_iteration():
    """D13: the recorded objective per iteration."""
    X, targets = tiny_problem(2)
    seen = []
    solution = minimize(
        Risk(X, targets, alpha=0.1), "lbfgs", callback=lambda n, state: seen.append(state.point.value)
    )
    assert len(solution.trace) == solution.n_iter + 1
    np.testing.assert_array_equal(solution.trace[1:], seen)
    assert (np.diff(solution.trace) <= 1e-12).all()
