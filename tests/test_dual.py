"""Dual coordinate descent against quadratic programs, LIBSVM and LIBLINEAR."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, hstack
from scipy.sparse import random as random_sparse

from conftest import tiny_problem
from nearline import Risk, _core, minimize
from nearline.losses import LOSSES
from nearline.solvers import DualCoordinateDescent
from nearline.solvers.dual import Scaled, Whitened, choose_geometry
from oracle_dual import null_minimum, svm_minimum

NAME = "dual-coordinate-descent"
SERVED = ["hinge", "squared-hinge", "logistic", "crammer-singer", "weston-watkins"]
SVMS = ["hinge", "squared-hinge", "crammer-singer", "weston-watkins"]


def fit(X, targets, loss, *, tol=1e-7, **options):
    """A converged solution and its risk."""
    risk = Risk(X, targets, loss=loss, **options)
    solution = minimize(risk, NAME, tol=tol)
    assert solution.converged, (loss, options, solution.status, solution.gap)
    assert solution.gap <= tol
    return solution, risk


def wide_text(n=150, d=3000, n_classes=3, seed=0):
    """Sparse rows with many more features than rows, as of text."""
    rng = np.random.default_rng(seed)
    common, rare = rng.random((n, 5)), random_sparse(n, d - 5, density=0.01, random_state=rng)
    return csr_matrix(hstack([common, rare])), rng.integers(0, n_classes, n).astype(np.int32)


# -- the right minimum ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", SVMS)
def test_equals_a_quadratic_program(loss, n_classes, bias):
    """B5, B6, B9, B10: the least risk, with weights and a free bias."""
    X, targets = tiny_problem(n_classes, n=12, d=2)
    weights = 1.0 + np.arange(12) % 3
    for alpha in (0.01, 1.0):
        solution, risk = fit(X, targets, loss, alpha=alpha, bias=bias, weights=weights)
        least = svm_minimum(loss, X, targets, risk.n_outputs, alpha, bias, weights)
        assert solution.value == pytest.approx(least, rel=2e-6)


def test_equals_libsvm_with_its_free_bias():
    """E4: SVC(kernel="linear") has the same free bias, C = 1 / (n alpha)."""
    from sklearn.svm import SVC

    X, targets = tiny_problem(2, n=80)
    for alpha in (1e-3, 0.1):
        solution, risk = fit(X, targets, "hinge", alpha=alpha, tol=1e-9)
        peer = SVC(kernel="linear", C=1.0 / (80 * alpha), tol=1e-9).fit(X, targets)
        params = risk.zeros()
        params.W[:], params.b[:] = peer.coef_, peer.intercept_
        assert solution.value == pytest.approx(risk.value(params), rel=1e-6)
        np.testing.assert_allclose(solution.params.W, peer.coef_, atol=1e-3)


@pytest.mark.parametrize("storage", ["dense", "sparse", "text"])
@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("hinge", {"loss": "hinge"}),
        ("squared-hinge", {"loss": "squared_hinge"}),
        ("crammer-singer", {"multi_class": "crammer_singer"}),
    ],
)
def test_equals_liblinear_without_bias(loss, options, storage):
    """D10, E7: LinearSVC is LIBLINEAR; its penalized bias is left out."""
    from sklearn.svm import LinearSVC

    X, targets = wide_text() if storage == "text" else tiny_problem(3, n=90, sparse=storage == "sparse")
    n, alpha = len(targets), 0.01
    solution, risk = fit(X, targets, loss, alpha=alpha, bias=False)
    peer = LinearSVC(C=1.0 / (n * alpha), fit_intercept=False, tol=1e-8, max_iter=200_000, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LIBLINEAR may stop at its limit: only its objective is compared
        peer.fit(X, targets)
    params = risk.zeros()
    params.W[:] = peer.coef_
    assert solution.value <= risk.value(params) * (1 + 1e-6)
    assert solution.value == pytest.approx(risk.value(params), rel=1e-4)


@pytest.mark.parametrize("bias", [False, True])
def test_logistic_equals_newton(bias):
    for X, targets in (tiny_problem(3), wide_text()):
        solution, risk = fit(X, targets, "logistic", alpha=0.01, bias=bias, tol=1e-9)
        other = minimize(risk, "lbfgs", tol=1e-9)
        assert solution.value == pytest.approx(other.value, rel=1e-8)
        np.testing.assert_allclose(solution.params.W, other.params.W, atol=2e-3)


def test_hard_margin_is_the_limit_of_small_alpha():
    """E4: on separable data a small alpha gives the largest margin, 1 / |w|; here 1 by symmetry."""
    X = np.array([[1.0, 0.0], [2.0, 3.0], [-1.0, 0.0], [-4.0, 1.0]])
    solution, _ = fit(X, np.array([1, 1, 0, 0]), "hinge", alpha=1e-4)
    np.testing.assert_allclose(solution.params.W, [[1.0, 0.0]], atol=1e-2)
    np.testing.assert_allclose(solution.params.b, [0.0], atol=1e-2)
    support = np.flatnonzero(np.abs(solution.duals).sum(axis=1) > 1e-6)
    np.testing.assert_array_equal(support, [0, 2])


@pytest.mark.parametrize("loss", ["crammer-singer", "weston-watkins"])
def test_two_classes_are_the_hinge_at_half_alpha(loss):
    """E7: with two classes W_1 = -W_0, so both machines are the binary SVM."""
    X, targets = tiny_problem(2)
    joint, _ = fit(X, targets, loss, alpha=0.1)
    single, _ = fit(X, targets, "hinge", alpha=0.05)
    assert joint.value == pytest.approx(single.value, rel=1e-6)
    np.testing.assert_allclose(joint.params.W[1] - joint.params.W[0], single.params.W[0], atol=1e-3)


# -- certificates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-5, 1e-2, 1e3])
@pytest.mark.parametrize("loss", SERVED)
def test_certified_for_tiny_and_huge_alpha(loss, alpha):
    """Law 4: the duals given are in the domain, balanced, and prove the gap."""
    for n_classes in (2, 3):
        X, targets = tiny_problem(n_classes)
        solution, risk = fit(X, targets, loss, alpha=alpha, tol=1e-6)
        point = risk.at(solution.params)
        assert risk.gap(point, solution.duals) == pytest.approx(solution.gap, abs=1e-9)
        balanced = risk.loss.balance(solution.duals, risk.targets, risk.weights)
        np.testing.assert_allclose(risk.weights @ balanced, 0.0, atol=1e-9)
        assert np.isfinite(risk.loss.conjugate(balanced, risk.targets)).all()


@pytest.mark.parametrize("loss", ["hinge", "crammer-singer", "weston-watkins"])
def test_null_bias_solves_the_linear_program(loss):
    """Law 4: P(W = 0, best b), the unit of every gap."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        weights = rng.exponential(size=rng.integers(3, 7)) ** rng.choice([0.3, 1.0, 3.0])
        weights[0] *= rng.integers(0, 2)
        K = len(weights)
        b = LOSSES[loss].null_bias(weights, K)
        value = weights @ LOSSES[loss].value(np.tile(b, (K, 1)), np.arange(K))
        assert value == pytest.approx(null_minimum(loss, weights), rel=1e-8)


def test_null_bias_of_one_column():
    for p, q in ((1.0, 3.0), (3.0, 1.0), (2.0, 2.0), (0.0, 1.0)):
        b = LOSSES["hinge"].null_bias(np.array([q, p]), 1)
        assert p * max(0, 1 - b[0]) + q * max(0, 1 + b[0]) == 2 * min(p, q)


# -- the same problem in other clothes ------------------------------------------------------------------------


@pytest.mark.parametrize("loss", SERVED)
def test_weights_equal_repeated_rows(loss):
    """Law 3."""
    X, targets = tiny_problem(3, n=20)
    times = np.arange(20) % 3
    weighted, _ = fit(X, targets, loss, alpha=0.05, weights=times, n_classes=3)
    repeated, _ = fit(np.repeat(X, times, axis=0), np.repeat(targets, times), loss, alpha=0.05, n_classes=3)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-6)
    np.testing.assert_allclose(weighted.params.W, repeated.params.W, atol=3e-3)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("loss", SERVED)
def test_dense_equals_sparse_and_float32_float64(loss, bias):
    """Law 6; text is packed, small tables are whitened in both forms."""
    for X, targets in (tiny_problem(3, sparse=True), wide_text()):
        values = []
        for matrix in (X, X.toarray(), X.astype(np.float32), X.toarray().astype(np.float32)):
            tol = 1e-4 if matrix.dtype == np.float32 else 1e-6
            solution, risk = fit(matrix, targets, loss, alpha=0.02, bias=bias, tol=tol)
            values.append(solution.value)
        assert max(values) - min(values) <= 1.1e-4 * risk.null_value


@pytest.mark.parametrize("loss", SERVED)
def test_the_number_of_threads_does_not_matter(loss):
    X, targets = wide_text(n=400, n_classes=5)
    before, found = _core.thread_limit(), []
    try:
        for limit in (1, 2, 3):
            _core.set_thread_limit(limit)
            found.append(fit(X, targets, loss, alpha=1e-3, tol=1e-4)[0].params.flat)
    finally:
        _core.set_thread_limit(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_the_seed_decides_the_order_only():
    X, targets = wide_text()
    risk = Risk(X, targets, loss="hinge", alpha=0.01)
    first, again, other = (
        minimize(risk, DualCoordinateDescent(random_state=seed), tol=1e-7).params.flat for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    np.testing.assert_allclose(first, other, atol=2e-2)


def test_rows_sorted_by_class_do_no_harm():
    X, targets = wide_text()
    order = np.argsort(targets, kind="stable")
    plain, _ = fit(X, targets, "hinge", alpha=0.01)
    ordered, _ = fit(X[order], targets[order], "hinge", alpha=0.01)
    assert plain.value == pytest.approx(ordered.value, rel=1e-6)


@pytest.mark.parametrize("loss", SERVED)
def test_warm_start(loss):
    """A solution is recognized where the loss is smooth, and a near one is never a worse place to start from."""
    X, targets = tiny_problem(3)
    first, risk = fit(X, targets, loss, alpha=0.05, tol=1e-10)
    again = minimize(risk, NAME, start=first.params, tol=1e-6)
    assert again.converged
    assert again.n_iter <= (0 if risk.loss.smooth else 10)
    near = minimize(risk.with_alpha(0.04), NAME, start=first.params, tol=1e-6)
    assert near.converged


# -- geometry -------------------------------------------------------------------------------------------------


def test_geometry_follows_the_data():
    """Dense data at small alpha are whitened; text, and alpha that is large for the data, are swept as they are."""
    X, targets = tiny_problem(2)
    text, labels = wide_text()
    assert isinstance(choose_geometry(Risk(X, targets, loss="hinge", alpha=1e-4), 0), Whitened)
    assert isinstance(choose_geometry(Risk(X, targets, loss="hinge", alpha=10.0), 0), Scaled)
    assert isinstance(choose_geometry(Risk(text, labels, loss="hinge", alpha=1e-4), 0), Scaled)


@pytest.mark.parametrize(
    "make", [lambda: tiny_problem(2)[0], lambda: wide_text(3100)[0]], ids=["dense", "text"]
)
def test_maps_of_the_geometry(make):
    """T <-> W, and the pull and gap of a distance, against H written out."""
    X = make()
    risk = Risk(X, np.arange(X.shape[0]) % 2, loss="hinge", alpha=1e-4)
    geometry = choose_geometry(risk, 0)
    assert geometry.proximal
    W = np.random.default_rng(0).normal(size=(1, X.shape[1]))
    T = geometry.from_weights(W)
    np.testing.assert_allclose(geometry.to_weights(T), W, rtol=1e-9, atol=1e-9)
    # M W = H W + alpha W: what the center and the duals account for add up to T.
    np.testing.assert_allclose(geometry.pull(T) + geometry.from_dual_weights(W), T, rtol=1e-8, atol=1e-8)
    identity = np.eye(X.shape[1])
    H = (
        geometry.kappa * identity
        if isinstance(geometry, Scaled)
        else geometry.factor @ geometry.factor.T - risk.l2 * identity
    )
    np.testing.assert_allclose(geometry.outer_gap(T), [0.5 / risk.l2 * float(((W @ H) ** 2).sum())])


def test_sparse_rows_that_hardly_meet_have_no_center():
    """Fewer rows than features at a small alpha: few sweeps, where a center would keep the duals from their ends."""
    X, targets = wide_text()
    risk = Risk(X, targets % 2, loss="hinge", alpha=1.0 / X.shape[0])
    assert not choose_geometry(risk, 0).proximal
    ages = []
    solution = minimize(risk, NAME, tol=1e-5, callback=lambda n, state: ages.append(int(state.ages[0])))
    assert solution.converged
    assert ages[-1] < 300


def test_ill_conditioned_dense_data_take_few_sweeps():
    """Features of very different variance at a small alpha: the sweeps that plain coordinate descent needs are many."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 20)) * np.logspace(0, -3, 20)) @ np.linalg.qr(rng.normal(size=(20, 20)))[
        0
    ] + 3.0
    targets = (X @ rng.normal(size=20) + 0.3 * rng.normal(size=300) > 0).astype(np.int32)
    targets[:2] = 0, 1
    ages = []
    risk = Risk(X, targets, loss="hinge", alpha=1e-5)
    solution = minimize(risk, NAME, tol=1e-4, callback=lambda n, state: ages.append(int(state.ages[0])))
    assert solution.converged
    assert ages[-1] < 2000


# -- hard cases -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", SERVED)
def test_odd_rows_and_columns(loss, sparse):
    """Zero rows, zero weights, equal rows with different labels, constant columns, a class without rows."""
    X, targets = tiny_problem(3, n=30, d=5)
    X[3:6] = 0.0
    X[10:13] = X[9]
    X[:, 3] = 2.0
    X[:, 4] = 0.0
    weights = np.ones(30)
    weights[::4] = 0.0
    for bias in (False, True):
        matrix = csr_matrix(X) if sparse else X
        fit(matrix, targets, loss, alpha=0.02, bias=bias, weights=weights, n_classes=5, tol=1e-6)


@pytest.mark.parametrize("loss", SERVED)
def test_rows_of_one_class_only(loss):
    """One-vs-rest columns that see one label only: the loss can be 0 there."""
    X, _ = tiny_problem(2)
    risk = Risk(X, np.zeros(40, dtype=int), loss=loss, alpha=0.1, bias=False, n_classes=3)
    assert minimize(risk, NAME, tol=1e-6).converged


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 25),
    d=st.integers(1, 6),
    n_classes=st.integers(2, 4),
    log_alpha=st.floats(-4, 2),
    loss=st.sampled_from(SERVED),
    sparse=st.booleans(),
    bias=st.booleans(),
)
@example(
    seed=5, n=10, d=5, n_classes=4, log_alpha=0.1875, loss="hinge", sparse=False, bias=False
)  # a column whose rows all rest
def test_any_small_problem_is_certified(seed, n, d, n_classes, log_alpha, loss, sparse, bias):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1) + rng.normal()
    X[rng.random((n, d)) < 0.3] = 0.0
    targets = rng.integers(0, n_classes, n)
    targets[: min(n, 2)] = range(min(n, 2))
    matrix = csr_matrix(X) if sparse else X
    fit(matrix, targets, loss, alpha=10.0**log_alpha, bias=bias, n_classes=n_classes, tol=1e-4)


def test_precision_that_cannot_be_had_is_said():
    X, targets = wide_text()
    risk = Risk(X.astype(np.float32), targets, loss="hinge", alpha=0.01)
    solution = minimize(risk, NAME, tol=1e-15)
    assert solution.status.name == "PRECISION"
    assert solution.gap < 1e-4


@pytest.mark.parametrize("regularizer", ["l1", "elastic-net"])
def test_refuses_other_penalties(regularizer):
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match=r"pure L2.*'coordinate-descent', 'fista' or 'sgd'"):
        minimize(Risk(X, targets, loss="logistic", regularizer=regularizer), NAME)


def test_refuses_other_losses_and_no_penalty():
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match=r"serves .*'hinge'.*not 'softmax'.*'lbfgs'"):
        minimize(Risk(X, targets, loss="softmax"), NAME)
    with pytest.raises(ValueError, match="alpha > 0"):
        minimize(Risk(X, targets, loss="logistic", alpha=0.0), NAME)


def test_weston_watkins_with_a_row_of_zeros():
    """The step of a row is a root between two kinks: Newton's method must not jump from one to the other for ever."""
    risk = Risk(
        np.array([[0.0], [-1.05]]),
        np.array([0, 3]),
        loss="weston-watkins",
        alpha=1.0,
        bias=False,
        n_classes=4,
    )
    solution = minimize(risk, "dual-coordinate-descent")
    assert solution.gap <= 1e-4
