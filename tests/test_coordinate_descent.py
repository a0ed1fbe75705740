"""Coordinate descent and FISTA for L1 and elastic net, certified."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import nearline
from conftest import tiny_problem
from nearline import ElasticNet, Params, Risk, minimize
from nearline.losses import LOSSES, Logistic
from oracle_l1 import lasso, proximal_gradient, slow_risk, violation

SMOOTH = ["logistic", "squared", "squared-hinge", "binary-sparsemax", "softmax", "sparsemax"]
SOLVERS = ["coordinate-descent", "fista"]


def largest_alpha(risk):
    return risk.regularizer.largest_alpha(risk.null_point.gradient.W)


def data_gradient(risk, params):
    point = risk.at(params)
    return point.gradient.W - risk.l2 * params.W, point.gradient.b


def assert_optimal(risk, solution, *, slack):
    """C3: the conditions of optimality, in units of the largest gradient at W = 0."""
    G_W, G_b = data_gradient(risk, solution.params)
    unit = np.abs(risk.null_point.gradient.W).max()
    assert violation(G_W, G_b, solution.params.W, risk.l1, risk.l2) <= slack * unit


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_agrees_with_slow_proximal_gradients(loss, solver):
    X, targets = tiny_problem(2, n=12, d=3)
    weights = np.arange(12) % 3 + 0.5
    for regularizer in ("l1", "elastic-net"):
        risk = Risk(X, targets, loss=loss, regularizer=regularizer, alpha=0.08, weights=weights)
        solution = minimize(risk, solver, tol=1e-8)
        assert solution.converged
        assert solution.gap <= 1e-8

        def slow(params, steps, risk=risk):
            W, b = proximal_gradient(
                loss, X, targets, params.W, params.b, risk.l1, risk.l2, steps=steps, weights=weights
            )
            R = risk.regularizer
            return W, b, slow_risk(loss, X, targets, W, b, risk.alpha, R.l1, R.l2, weights)

        # The reference, from zero, stays above; from the solution it does not move.
        assert solution.value <= slow(risk.zeros(), 15)[2] + 1e-7
        W, b, value = slow(solution.params, 1)
        assert value == pytest.approx(solution.value, abs=1e-7)
        np.testing.assert_allclose(W, solution.params.W, atol=1e-5)
        np.testing.assert_allclose(b, solution.params.b, atol=1e-5)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_optimality_exact_zeros_and_storage(loss, n_classes):
    """D11: dense and CSR, float64 and float32 agree; zeros are exact; the conditions of optimality hold."""
    X, targets = tiny_problem(n_classes, n=80, d=12, seed=1)
    for regularizer in ("l1", "elastic-net"):
        reference = Risk(X, targets, loss=loss, regularizer=regularizer)
        alpha = 0.2 * largest_alpha(reference)
        values = []
        for sparse, dtype in [
            (False, np.float64),
            (True, np.float64),
            (False, np.float32),
            (True, np.float32),
        ]:
            A = csr_matrix(X.astype(dtype)) if sparse else X.astype(dtype)
            risk = Risk(A, targets, loss=loss, regularizer=regularizer, alpha=alpha)
            tol = 1e-8 if dtype == np.float64 else 1e-4
            solution = minimize(risk, "coordinate-descent", tol=tol)
            assert solution.converged
            assert solution.gap <= tol
            assert (solution.params.W == 0).any()
            if dtype == np.float64:
                assert_optimal(risk, solution, slack=1e-3)
            values.append(solution.value / risk.null_value)
        assert abs(values[0] - values[1]) <= 2e-8
        assert max(values) - min(values) <= 2e-4


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
@pytest.mark.parametrize("solver", SOLVERS)
def test_lasso_by_slow_coordinate_descent(solver, tol):
    """C3, C4: squared loss against a loop over coordinates, weights, support and objective."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8)) + 3.0
    t = X[:, 0] - 2 * X[:, 3] + rng.normal(size=60)
    weights = rng.integers(1, 4, size=60).astype(float)
    for regularizer in ("l1", ElasticNet(0.7)):
        risk = Risk(
            X, t[:, None], loss="squared", regularizer=regularizer, alpha=0.3, weights=weights, n_classes=2
        )
        w, b = lasso(X, t, risk.l1, risk.l2, sweeps=500, weights=weights)
        solution = minimize(risk, solver, tol=tol)
        best = risk.value(Params.of(w[None], np.array([b])))
        assert solution.gap <= tol
        assert -1e-12 <= (solution.value - best) / risk.null_value <= tol
        if tol == 1e-8:
            np.testing.assert_allclose(solution.params.W[0], w, atol=1e-3)
            assert ((solution.params.W[0] == 0) == (w == 0)).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_agrees_with_liblinear_and_saga(sparse):
    """D11: L1 logistic regression against scikit-learn's LIBLINEAR (no intercept: it would penalize it) and SAGA."""
    from sklearn.linear_model import LogisticRegression

    X, targets = tiny_problem(2, n=150, d=20, seed=3, sparse=sparse)
    alpha = 0.02
    for solver, bias in [("liblinear", False), ("saga", True)]:
        risk = Risk(X, targets, regularizer="l1", alpha=alpha, bias=bias)
        peer = LogisticRegression(
            l1_ratio=1.0, C=1 / (150 * alpha), solver=solver, fit_intercept=bias, tol=1e-7, max_iter=20_000
        ).fit(X, targets)
        b = peer.intercept_ if bias else np.zeros(1)
        theirs = Params.of(peer.coef_, b)
        ours = minimize(risk, "coordinate-descent", tol=1e-9)
        assert abs(ours.value - risk.value(theirs)) <= 1e-6
        np.testing.assert_allclose(ours.params.W, theirs.W, atol=1e-2)
        clear = np.abs(theirs.W) > 1e-3
        assert (ours.params.W[clear] != 0).all()


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("solver", SOLVERS)
def test_at_the_largest_alpha_all_weights_are_zero(loss, solver):
    """C3: W = 0 exactly from the largest useful alpha on, not below it."""
    for sparse in (False, True):
        X, targets = tiny_problem(3, n=60, d=6, sparse=sparse)
        for regularizer in ("l1", "elastic-net"):
            risk = Risk(X, targets, loss=loss, regularizer=regularizer)
            top = largest_alpha(risk)
            for factor in (1.0 + 1e-9, 2.0):
                solution = minimize(risk.with_alpha(factor * top), solver, tol=1e-8)
                assert solution.converged
                assert not solution.params.W.any()
            assert minimize(risk.with_alpha(0.9 * top), solver, tol=1e-8).params.W.any()


def awkward():
    rng = np.random.default_rng(5)
    n, d = 90, 10
    targets = np.arange(n) % 2
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(2, d))[targets]
    constant = X.copy()
    constant[:, 2], constant[:, 3] = 7.0, 0.0
    duplicates = X.copy()
    duplicates[:, 5], duplicates[:, 6], duplicates[:, 7] = X[:, 4], -X[:, 4], 2 * X[:, 4]
    yield "constant columns", constant, targets
    yield "duplicate columns", duplicates, targets
    yield "offsets of 1e6", X + 1e6, targets
    yield "scales", X * 10.0 ** np.linspace(-6, 6, d), targets
    yield "more features than rows", rng.normal(size=(20, 60)), targets[:20]


@pytest.mark.parametrize("loss", ["logistic", "squared", "squared-hinge", "softmax"])
@pytest.mark.parametrize("case", list(awkward()), ids=lambda case: case[0])
def test_awkward_features(case, loss):
    """D11: offsets, scales, constant and equal columns neither stop the descent nor cost its certificate."""
    name, X, targets = case
    values = []
    for A in (X, csr_matrix(X)):
        risk = Risk(A, targets, loss=loss, regularizer="l1")
        risk = risk.with_alpha(0.05 * largest_alpha(risk))
        # Scores of 1e6-sized features have no more than ten digits.
        tol = 1e-6 if name == "offsets of 1e6" else 1e-8
        solution = minimize(risk, "coordinate-descent", tol=tol)
        assert solution.converged, solution
        assert solution.n_iter <= 60
        values.append(solution.value / risk.null_value)
        if name == "constant columns":
            assert not solution.params.W[:, 2:4].any()
    assert abs(values[0] - values[1]) <= 2 * tol


@pytest.mark.parametrize("name", ["scales", "offsets of 1e6", "constant columns"])
def test_fista_is_conditioned(name):
    """D11: the metric makes features of any scale and offset look alike, exactly."""
    _, X, targets = next(case for case in awkward() if case[0] == name)
    risk = Risk(X, targets, regularizer="l1")
    risk = risk.with_alpha(0.1 * largest_alpha(risk))
    first, second = (minimize(risk, solver, tol=1e-6) for solver in SOLVERS)
    assert second.converged
    assert second.n_iter <= 2000
    assert abs(first.value - second.value) <= 2e-6 * risk.null_value


def test_one_row_and_empty_columns():
    """D11: a single row (one class: the bias alone explains it) and CSR columns without entries."""
    row = Risk(np.ones((1, 3)), np.array([1]), loss="squared", regularizer="l1", alpha=0.1, n_classes=2)
    assert not minimize(row, "coordinate-descent", tol=1e-8).params.W.any()
    X, targets = tiny_problem(2, n=60, d=5)
    wide = np.zeros((60, 9))
    wide[:, [1, 3, 4, 6, 8]] = X
    solutions = [
        minimize(Risk(A, targets, regularizer="l1", alpha=0.02), "coordinate-descent", tol=1e-9)
        for A in (csr_matrix(X), csr_matrix(wide))
    ]
    assert abs(solutions[0].value - solutions[1].value) <= 1e-8
    assert not solutions[1].params.W[:, [0, 2, 5, 7]].any()


@pytest.mark.parametrize("loss", SMOOTH)
def test_without_bias_and_with_l2_alone(loss):
    """C2: L2 is served too, and equals L-BFGS; the bias stays out where it is not wanted."""
    X, targets = tiny_problem(3, n=60, d=5)
    for regularizer in ("l1", "l2"):
        risk = Risk(X, targets, loss=loss, regularizer=regularizer, alpha=0.03, bias=False)
        solution = minimize(risk, "coordinate-descent", tol=1e-8)
        assert solution.converged
        assert not solution.params.b.any()
    other = minimize(risk, "lbfgs", tol=1e-8)
    np.testing.assert_allclose(solution.params.W, other.params.W, atol=1e-3)


def test_many_features_joint_and_separate_on_both_storages():
    """D11: working sets grow until the certificate holds (more weights than the first set has)."""
    rng = np.random.default_rng(2)
    X = csr_matrix(rng.random((150, 700)) * (rng.random((150, 700)) < 0.1))
    targets = rng.integers(0, 3, 150)
    for loss in ("logistic", "softmax"):
        values = []
        for A in (X, X.toarray()):
            risk = Risk(A, targets, loss=loss, regularizer="l1", alpha=2e-4)
            solution = minimize(risk, "coordinate-descent", tol=1e-7)
            assert solution.gap <= 1e-7
            values.append(solution.value)
        assert abs(values[0] - values[1]) <= 2e-7 * risk.null_value


def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((3000, 400)) * (rng.random((3000, 400)) < 0.1))
    targets = rng.integers(0, 3, 3000)
    limit = nearline._core.thread_limit()
    for A in (X, X.toarray()[:, :60]):
        for loss in ("logistic", "softmax"):
            found = []
            for threads in (1, 2, 3):
                nearline._core.set_thread_limit(threads)
                risk = Risk(A, targets, loss=loss, regularizer="l1", alpha=1e-3)
                found.append(minimize(risk, "coordinate-descent", tol=1e-3).params.flat)
            nearline._core.set_thread_limit(limit)
            assert (found[0] == found[1]).all()
            assert (found[0] == found[2]).all()


class Plain(Logistic):
    """Logistic loss as a user might write it: value and gradient alone."""

    name = "plain"
    core = None

    def curvature(self, scores, targets):
        return None


class Curved(Logistic):
    """... and with second derivatives."""

    name = "curved"
    core = None


class Bare(Plain):
    """... and without a conjugate: there is no gap, the smallest subgradient decides."""

    name = "bare"

    def conjugate(self, duals, targets):
        return None


def test_losses_written_in_python():
    """FISTA serves a loss that has a gradient, coordinate descent one that has curvature; the other says so."""
    X, targets = tiny_problem(2)
    expected = minimize(Risk(X, targets, regularizer="l1", alpha=0.02), "coordinate-descent", tol=1e-9).value
    plain, curved, bare = (
        Risk(X, targets, loss=loss, regularizer="l1", alpha=0.02) for loss in (Plain(), Curved(), Bare())
    )
    with pytest.raises(ValueError, match=r"second derivatives.*use 'fista'"):
        minimize(plain, "coordinate-descent")
    assert minimize(plain, "fista", tol=1e-8).value == pytest.approx(expected, abs=1e-7)
    assert minimize(curved, "coordinate-descent", tol=1e-8).value == pytest.approx(expected, abs=1e-7)
    solution = minimize(bare, "fista", tol=1e-6)
    assert solution.converged
    assert solution.gap is None
    assert solution.value == pytest.approx(expected, abs=1e-5)


def test_refusals_name_a_way_out():
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match=r"needs a penalty.*'lbfgs'"):
        minimize(Risk(X, targets, alpha=0.0), "coordinate-descent")
    for solver in SOLVERS:
        with pytest.raises(ValueError, match="needs a smooth loss"):
            minimize(Risk(X, targets, loss="hinge", regularizer="l1"), solver)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 25),
    d=st.integers(1, 12),
    loss=st.sampled_from(SMOOTH),
    exponent=st.floats(-3, 0.5),
    sparse=st.booleans(),
    bias=st.booleans(),
)
def test_any_small_problem_is_certified(seed, n, d, loss, exponent, sparse, bias):
    """Law 4: whatever the data, the fit ends with a gap below tol, and no better point is found by FISTA."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, size=d), 1)
    targets = np.append([0, 1], rng.integers(0, 2, n - 2))
    weights = np.append([1.0, 1.0], rng.integers(0, 3, n - 2)).astype(float)
    risk = Risk(
        csr_matrix(X) if sparse else X,
        targets,
        loss=LOSSES[loss],
        regularizer="l1",
        alpha=10.0**exponent,
        weights=weights,
        bias=bias,
    )
    solution = minimize(risk, "coordinate-descent", tol=1e-6)
    assert solution.converged, solution
    other = minimize(risk, "fista", tol=1e-4, max_iter=3000)
    assert solution.value <= other.value + 1.1e-6 * risk.null_value
