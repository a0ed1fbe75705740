"""What `gap_` says is true of what is delivered: P - D <= tol P, in float64, for the parameters that the user gets."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from conftest import tiny_problem
from nearline import (
    KernelLeastSquares,
    KernelLogisticRegression,
    KernelSVM,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    Risk,
    minimize,
    path,
)
from nearline.solvers import SGD, ConvergenceWarning, GradientDescent
from nearline.solvers._certifier import with_searched_bias
from oracle import risk as risk_by_loops


def two_species():
    X, y = load_iris(return_X_y=True)
    return X[:100], y[:100]


def hard_margin(X, y):
    """argmin |w|^2 / 2 with y (w x + b) >= 1, by sequential quadratic programming."""
    sign = np.where(y == y.max(), 1.0, -1.0)
    A = sign[:, None] * np.column_stack([X, np.ones(len(X))])
    found = scipy_minimize(
        lambda v: 0.5 * v[:-1] @ v[:-1],
        np.zeros(X.shape[1] + 1),
        jac=lambda v: np.append(v[:-1], 0.0),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1.0, "jac": lambda v: A},
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    assert found.success
    return found.x[:-1], int((A @ found.x < 1.0 + 1e-6).sum())


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "crammer-singer", "weston-watkins"])
def test_svms_come_nearer_to_the_hard_margin_as_alpha_falls(loss):
    """On separable rows: the margin and the weights of the hard margin, and its support vectors, at every small alpha."""
    X, y = two_species()
    w, n_support = hard_margin(X, y)
    margin = 1.0 / np.linalg.norm(w)
    for alpha in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
        model = LinearSVM(alpha, loss).fit(X, y)
        # The squared hinge lets go of its slack at the rate of alpha; tol bounds the rest: |w - w*|^2 <= 2 tol P / alpha.
        far = (40.0 * alpha if loss == "squared-hinge" else 0.0) + 0.02
        assert np.linalg.norm(model.coef_[0] - w) <= far * np.linalg.norm(w), alpha
        assert margin * (1.0 - far) <= model.margin_ <= margin * (1.0 + 1e-4), alpha
        if alpha <= 1e-4:
            assert len(model.support_) == n_support, alpha


@pytest.mark.parametrize("loss", ["hinge", "logistic", "softmax"])
def test_weights_are_bounded_by_the_gap(loss):
    """|W - W*|^2 <= 2 (P - D) / alpha for an L2 penalty."""
    X, y = two_species()
    for alpha in (1e-2, 1e-5):
        risk = Risk(X, y, loss=loss, alpha=alpha)
        best = minimize(risk, tol=1e-9).params.W
        for tol in (1e-1, 1e-3):
            solution = minimize(risk, tol=tol)
            off = np.linalg.norm(solution.params.W - best)
            assert off <= np.sqrt(2.0 * solution.gap * solution.value / alpha) * 1.001


def test_the_coarse_scale_has_a_name():
    X, y = two_species()
    risk = Risk(X, y, loss="hinge", alpha=1e-6)
    coarse, fine = (minimize(risk, tol=1e-2, relative_to=scale) for scale in ("null", "risk"))
    for solution in (coarse, fine):
        assert solution.converged
        assert solution.gap <= 1e-2
    assert fine.gap * fine.value < 1e-2 * coarse.gap * risk.null_value
    solution = next(iter(path(X, y, loss="hinge", alphas=[1e-6], tol=1e-2)))[1]
    assert (solution.value - fine.value) / solution.value <= 1e-2
    with pytest.raises(ValueError, match="relative_to must be 'risk'"):
        minimize(risk, relative_to="P")


def test_a_risk_of_zero_has_no_gap():
    """One class only: a bias of 1 has no hinge loss, and no weights are needed."""
    for alpha in (1e-3, 1e3):
        solution = minimize(Risk(np.eye(3), np.ones(3, dtype=int), loss="hinge", alpha=alpha, n_classes=2))
        assert (solution.converged, solution.value, solution.gap) == (True, 0.0, 0.0)


# -- float32 ---------------------------------------------------------------------------------------------------

MODELS = [
    ("hinge", "l2"), ("logistic", "l2"), ("binary-sparsemax", "l2"), ("squared-hinge", "l2"), ("squared", "l2"),
    ("softmax", "l2"), ("crammer-singer", "l2"), ("logistic", "l1"), ("softmax", "elastic-net"), ("hinge", "l1"),
]  # fmt: skip


@pytest.mark.parametrize("offset", [0.0, 30.0, 1e5])
@pytest.mark.parametrize(("loss", "regularizer"), MODELS)
def test_float32_models_are_certified_as_they_are_delivered(loss, regularizer, offset):
    """The risk of coef_ and intercept_, computed in float64 by the test, is within gap_ of the least one."""
    X, y = load_iris(return_X_y=True)
    X = (StandardScaler().fit_transform(X) + offset).astype(np.float32)
    model = LinearClassifier(
        loss, regularizer, 1e-4, multiclass="auto" if loss == "softmax" else "one-vs-rest"
    )
    if loss == "crammer-singer":
        model.set_params(multiclass="joint")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    rows = X.astype(np.float64)
    # Rows about their mean are an equal problem, without the rounding of large offsets.
    centered = Risk(rows - rows.mean(axis=0), y, loss=model.loss_, regularizer=regularizer, alpha=1e-4)
    best = minimize(centered, tol=1e-7).value  # no less than the least risk
    W, b = model.coef_.astype(np.float64), model.intercept_.astype(np.float64)
    penalty = centered.regularizer
    own = risk_by_loops(model.loss_.name, rows, y, W, b, 1e-4, penalty.l1, penalty.l2)
    assert own == pytest.approx(model.solution_.value, rel=1e-9)
    assert (own - best) / own <= model.gap_ + 1e-9
    assert model.gap_ > 0
    assert model.solution_.converged == (model.gap_ <= 1e-4)
    if offset == 0.0:
        assert model.solution_.converged


def test_solutions_in_float32_are_float32_numbers():
    X, targets = tiny_problem(3, dtype=np.float32)
    for loss in ("softmax", "hinge"):
        params = minimize(Risk(X, targets, loss=loss, alpha=1e-3)).params
        np.testing.assert_array_equal(params.flat, params.flat.astype(np.float32))


def test_weights_that_float32_cannot_hold_are_said():
    X, y = load_iris(return_X_y=True)
    X = (StandardScaler().fit_transform(X) + 1e5).astype(np.float32)
    model = LinearSVM(1e-4, "hinge")
    with pytest.warns(ConvergenceWarning, match=r"float32 are too coarse .*center the features"):
        model.fit(X, y)
    assert model.solution_.status.name == "LIMITED_PRECISION"
    assert model.gap_ > 1e-4


def test_a_hard_margin_in_float32_is_certified_as_it_is_delivered():
    X, y = two_species()
    model = LinearSVM(hard_margin=True, tol=1e-3).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    assert 0 < model.gap_ <= 1e-3
    w, n_support = hard_margin(X.astype(np.float32).astype(np.float64), y)
    assert np.linalg.norm(model.coef_[0] - w) <= 0.02 * np.linalg.norm(w)  # |w - w*|^2 <= 2 (P - D) / alpha
    assert len(model.support_) == n_support


# -- how fits end ----------------------------------------------------------------------------------------------


def test_auto_goes_on_with_solvers_that_come_farther():
    """Gradients in float32 end before the tolerance; others do not."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    solution = minimize(Risk(X, y, loss="squared-hinge", alpha=1e-10))
    assert solution.converged, solution.status


def test_remedies_name_what_the_caller_has():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"max_iter \(solver=nearline.solvers.SGD\(max_iter=\d+\)\)"):
        LogisticRegression(1e-6, solver=SGD(max_iter=2)).fit(X, y)
    risk = Risk(X, y, loss="softmax", alpha=1e-3)
    assert minimize(risk, max_iter=1).remedy() == "raise max_iter or tol"
    for dtype, advised in ((np.float32, True), (np.float64, False)):
        solution = minimize(Risk(X.astype(dtype), y, loss="softmax", alpha=1e-3), "lbfgs", tol=1e-25)
        assert solution.status.name in ("PRECISION", "LIMITED_PRECISION")
        assert ("float64" in solution.remedy()) == advised


def test_numbers_that_are_not_finite_are_a_status_of_their_own():
    X, targets = tiny_problem(2)
    risk = Risk(1e3 * X, targets, loss="squared-hinge", alpha=1e-3)
    with np.errstate(all="ignore"):
        solution = minimize(risk, GradientDescent(step_size=1e6, max_iter=1000))
    assert solution.status.name == "NOT_FINITE"
    assert solution.gap is None
    assert np.isfinite(solution.value)
    assert "scale the features" in solution.remedy()


def test_sparse_and_dense_float32_agree():
    X, targets = tiny_problem(3, dtype=np.float32)
    for loss in ("softmax", "hinge", "weston-watkins"):
        found = [minimize(Risk(A, targets, loss=loss, alpha=1e-3), tol=1e-5) for A in (X, csr_matrix(X))]
        assert all(solution.converged for solution in found)
        assert abs(found[0].value - found[1].value) <= 1e-5 * found[0].value


# -- kernel machines -------------------------------------------------------------------------------------------


def hinge_gap_of_pair(K, y, C, beta, b):
    """(P - D) / P of one two-class machine, by the definitions."""
    f = K @ beta + b
    square = beta @ K @ beta
    primal = 0.5 * square + C * np.maximum(0.0, 1.0 - y * f).sum()
    assert (y * beta >= -1e-12).all()
    assert (y * beta <= C + 1e-12).all()
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    return (primal - (y @ beta - 0.5 * square)) / primal


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
def test_kernel_svms_are_certified_relative_to_their_risk(kernel, dtype):
    """Every pair of classes, at any C: P - D <= tol P for the coefficients that are delivered; gap_ is the worst."""
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(dtype)
    for alpha in (1e-2, 1e-5):
        model = KernelSVM(kernel, alpha, tol=1e-4).fit(X, y)
        A = np.zeros((len(X), 3))
        A[model.support_] = model.dual_coef_
        rows, worst = X.astype(np.float64), 0.0
        for p, (i, j) in enumerate(model.pairs_):
            both = np.flatnonzero((y == i) | (y == j))
            K = model.kernel_.between(rows[both], rows[both])
            sign = np.where(y[both] == j, 1.0, -1.0)
            gap = hinge_gap_of_pair(K, sign, 1.0 / (len(X) * alpha), A[both, p], model.intercept_[p])
            worst = max(worst, abs(gap))
        assert model.gap_ <= 1e-4
        assert worst == pytest.approx(model.gap_, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_smooth_kernel_machines_are_certified_by_their_coefficients(dtype):
    """With a linear kernel they are the linear models, whose least risk is known."""
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(dtype)
    rows = X.astype(np.float64)
    for model, loss, tol in (
        (KernelLogisticRegression, "softmax", 1e-4),
        (KernelLeastSquares, "squared", 1e-6),
    ):
        machine = model("linear", alpha=1e-3).fit(X, y)
        A = np.zeros((len(X), 3))
        A[machine.expansion_.rows] = machine.dual_coef_
        risk = Risk(rows, y, loss=loss, alpha=1e-3)
        best = minimize(risk, tol=1e-9).value
        own = risk_by_loops(loss, rows, y, A.T @ rows, machine.intercept_, 1e-3, 0.0, 1.0)
        assert -1e-9 <= (own - best) / own <= machine.gap_ + 1e-9
        assert machine.gap_ <= tol


@pytest.mark.parametrize("loss", ["hinge", "crammer-singer", "weston-watkins"])
def test_svms_of_features_of_any_scale_are_certified(loss):
    """Columns from 1e-6 to 1e6, almost no penalty: Newton's coordinates look at them all alike."""
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X) * np.logspace(-6, 6, 4)
    solution = minimize(Risk(X, y, loss=loss, alpha=1e-10), "smoothing")
    assert solution.converged, (solution.status, solution.gap)


def test_the_bias_is_chosen_anew_where_the_loss_has_kinks():
    """Rounding W moves the best b: that of the rounded W is found, by one column's convex risk after another."""
    X, y = load_iris(return_X_y=True)
    for loss in ("hinge", "crammer-singer"):
        risk = Risk(X, y, loss=loss, alpha=1e-3)
        solution = minimize(risk, tol=1e-6)
        moved = solution.params.copy()
        moved.b[0] += 0.3
        found = with_searched_bias(risk, risk.scored(moved))
        assert found.value <= solution.value * (1 + 1e-4)
        assert found.value == pytest.approx(risk.value(found.params), rel=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_support_of_equal_rows(sparse):
    """Of equal rows the hinge needs as few as it can; the squared hinge needs each one inside the margin, equal or not."""
    X, y = tiny_problem(2, n=60)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    rows = csr_matrix(X) if sparse else X
    squared = LinearSVM(0.05, "squared-hinge", tol=1e-10).fit(rows, y)
    margins = np.where(y == squared.classes_[1], 1.0, -1.0) * squared.decision_function(rows)
    sure = np.abs(margins - 1.0) > 1e-4
    inside = np.isin(np.arange(len(y)), squared.support_)
    np.testing.assert_array_equal(inside[sure], margins[sure] < 1.0)
    hinge = LinearSVM(0.05, "hinge", tol=1e-10).fit(rows, y)
    once = minimize(Risk(rows[::3], y[::3], loss="hinge", alpha=0.05), tol=1e-10)
    shares = 3.0 * np.abs(once.duals[:, 0])
    found = np.isin(np.arange(len(y)), hinge.support_).reshape(-1, 3).sum(axis=1)
    np.testing.assert_array_equal(found, np.ceil(shares - 1e-4))
