"""Where a solver goes: iterates that are kept, fixed and decaying steps, and fits that go on beyond their tolerance."""

import numpy as np
import pytest

from conftest import tiny_problem
from nearline import SOLVERS, DecayingStep, GradientDescent, Params, Risk, load, minimize, save
from nearline.estimators import LogisticRegression
from nearline.kernels import RBF
from nearline.risk import KernelRisk
from nearline.solvers import Status


def logistic(alpha=0.05, n_classes=2):
    X, targets = tiny_problem(n_classes)
    return Risk(X, targets, loss="logistic" if n_classes == 2 else "softmax", alpha=alpha)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_keeps_its_iterates(name):
    """D2-D8: one for each value of the trace, at which the risk is that value."""
    kinked = SOLVERS[name].refuses(logistic()) is not None
    X, targets = tiny_problem(2)
    losses = ("logistic", "squared", "hinge") if kinked else ("logistic",)
    risks = (Risk(X[:rows], targets[:rows], loss=loss, alpha=alpha) for loss in losses for alpha in (0.05, 0.0)
             for rows in (len(X), 3))  # fmt: skip
    risk = next((risk for risk in risks if SOLVERS[name].refuses(risk) is None), None)
    if risk is None:
        pytest.skip("it is for other shapes")
    solution = minimize(risk, name, tol=1e-6, keep="iterates")
    assert len(solution.iterates) == len(solution.trace) == solution.n_iter + 1
    np.testing.assert_allclose(
        [risk.value(params) for params in solution.iterates], solution.trace, rtol=1e-9, atol=1e-12
    )
    assert minimize(risk, name, tol=1e-6).iterates is None


@pytest.mark.parametrize("step_size", [0.3, DecayingStep(0.5, 0.2)])
def test_fixed_and_decaying_steps_are_the_textbook_s(step_size):
    """D2: W -= eta_t gradient, without momentum."""
    risk = logistic()
    start = Params.of(np.full((1, risk.n_features), 0.5), np.array([-1.0]))
    found = minimize(risk, GradientDescent(step_size=step_size), start, max_iter=6, keep="iterates").iterates
    place = start.flat.copy()
    for t, params in enumerate(found):
        np.testing.assert_allclose(params.flat, place, rtol=1e-12)
        eta = 0.3 if step_size == 0.3 else 0.5 / (1 + 0.2 * t)
        place = place - eta * risk.at(Params(place, 1, risk.n_features)).gradient.flat


def test_the_separable_case_can_be_continued():
    """Weights grow and the loss falls as long as iterations go on; the status is the proof that nothing is at the end."""
    X, y = np.array([[-2.0, 1.0], [-1.0, -1.0], [1.0, 0.5], [2.0, -1.0]]), np.array([0, 0, 1, 1])
    risk = Risk(X, y, loss="logistic", alpha=0.0)
    stopped = minimize(risk, GradientDescent(step_size=1.0))
    assert (stopped.status, stopped.n_iter) == (Status.NO_MINIMIZER, 1)
    solver = GradientDescent(step_size=1.0)
    on = minimize(risk, solver, max_iter=500, until="max_iter", keep="iterates")
    assert (on.status, on.n_iter) == (Status.NO_MINIMIZER, 500)
    sizes = np.array([np.linalg.norm(params.W) for params in on.iterates])
    assert (np.diff(sizes) > 0).all()
    assert (np.diff(on.trace) < 0).all()
    penalized = minimize(risk.with_alpha(0.1), solver, max_iter=500, until="max_iter")
    assert (penalized.status, penalized.n_iter) == (Status.CONVERGED, 500)
    assert penalized.gap < 1e-12


def test_quasi_separable_rows_are_found_out_too():
    X, y = np.array([[0.0], [0.0], [1.0], [-1.0]]), np.array([0, 1, 1, 0])
    risk = Risk(X, y, loss="logistic", alpha=0.0)
    found = minimize(risk, GradientDescent(step_size=1.0), max_iter=50, until="max_iter")
    assert (found.status, found.n_iter) == (Status.NO_MINIMIZER, 50)


def test_going_on_ends_where_nothing_moves():
    found = minimize(logistic(), "newton", max_iter=100, until="max_iter")
    assert found.status is Status.CONVERGED or found.status is Status.PRECISION
    assert found.gap < 1e-9


@pytest.mark.parametrize("name", ["newton", "lbfgs"])  # on the Gram matrix, and in coordinates
def test_iterates_of_a_kernel_s_risk_are_coefficients(name):
    X, targets = tiny_problem(2)
    risk = KernelRisk(RBF(0.5), X, targets, loss="logistic", alpha=0.1)
    solution = minimize(risk, name, keep="iterates")
    values = [risk.value(params) for params in solution.iterates]
    np.testing.assert_allclose(values, solution.trace, rtol=1e-6)


def test_a_model_with_decaying_steps_can_be_saved(tmp_path):
    X, targets = tiny_problem(2)
    model = LogisticRegression(
        alpha=0.1, solver=GradientDescent(step_size=DecayingStep(1.0, 0.001)), tol=1e-2
    )
    model.fit(X, targets)
    save(model, tmp_path / "model.nearline")
    assert load(tmp_path / "model.nearline").solver == model.solver


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"keep": "all"}, "keep must be 'iterates' .* or None, got 'all'"),
        ({"until": "morning"}, "until must be 'tol' .* or 'max_iter' .*, got 'morning'"),
        ({"tol": 0}, "tol must be > 0"),
        ({"relative_to": "one"}, "relative_to must be 'risk'"),
    ],
)
def test_bad_input(asked, sentence):
    with pytest.raises(ValueError, match=sentence):
        minimize(logistic(), **asked)
    with pytest.raises(ValueError, match="step_size must be a finite number > 0, or DecayingStep"):
        GradientDescent(step_size=0.0)
