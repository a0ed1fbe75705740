"""The interior-point method: the least risk whatever alpha, scale, shape and weights, by its certificate and LIBSVM's."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC

import nearline
from conftest import tiny_problem
from nearline import LinearSVM, Risk, minimize
from nearline.solvers import preference
from nearline.solvers._refusals import BY_SLACK
from nearline.solvers.interior_point import TILE

ALPHAS = [1.0, 1e-3, 1e-6, 1e-10]


def solved(risk, tol=1e-6):
    solution = minimize(risk, "interior-point", tol=tol)
    assert solution.converged, solution
    assert solution.gap <= tol
    return solution


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("loss", BY_SLACK)
@pytest.mark.parametrize("bias", [True, False])
def test_every_loss_reaches_its_least_risk(loss, bias, alpha):
    X, targets = tiny_problem(3)
    solved(Risk(X, targets, loss=loss, alpha=alpha, bias=bias))


@pytest.mark.parametrize("alpha", [1e-1, 1e-4])
def test_two_classes_are_those_of_libsvm(alpha):
    X, targets = tiny_problem(2, n=80)
    risk = Risk(X, targets, loss="hinge", alpha=alpha)
    solution = solved(risk, 1e-8)
    peer = SVC(kernel="linear", C=1.0 / (len(X) * alpha), tol=1e-8).fit(X, targets)
    np.testing.assert_allclose(solution.params.W, peer.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(solution.params.b, peer.intercept_, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("loss", BY_SLACK)
@pytest.mark.parametrize("change", ["offset", "scales", "wide", "constant", "twins"])
def test_rows_of_any_shape(loss, change):
    X, targets = tiny_problem(3)
    rng = np.random.default_rng(0)
    rows = {
        "offset": X + 1e6,
        "scales": X * 10.0 ** np.array([-6, -2, 2, 6]),
        "wide": np.hstack([X, rng.normal(size=(len(X), 100))]),
        "constant": np.hstack([X, np.full((len(X), 2), 7.0)]),
        "twins": np.hstack([X, X]),
    }[change]
    for alpha in (1e-2, 1e-7):
        solved(Risk(rows, targets, loss=loss, alpha=alpha), 1e-5)


@pytest.mark.parametrize("loss", BY_SLACK)
def test_sparse_rows_are_the_same_rows(loss):
    X, targets = tiny_problem(3)
    dense = solved(Risk(X, targets, loss=loss, alpha=1e-3))
    sparse = solved(Risk(csr_matrix(X), targets, loss=loss, alpha=1e-3))
    np.testing.assert_allclose(sparse.params.flat, dense.params.flat, atol=1e-6)


@pytest.mark.parametrize("loss", BY_SLACK)
@pytest.mark.parametrize(
    "seed", [*range(6), 110, 15982]
)  # the last two: columns that are done long before others
def test_whole_weights_are_repeated_rows(loss, seed):
    rng = np.random.default_rng(seed)
    n, D = int(rng.integers(4, 20)), int(rng.integers(1, 6))
    X = rng.integers(-2, 3, size=(n, D)).astype(float)
    targets = np.arange(n) % 3
    weights = rng.integers(0, 4, size=n).astype(float)
    weights[:3] = 1.0
    alpha = 10.0 ** rng.integers(-7, 1)
    weighted = solved(Risk(X, targets, loss=loss, alpha=alpha, weights=weights), 1e-5)
    repeated = np.repeat(np.arange(n), weights.astype(int))
    again = solved(Risk(X[repeated], targets[repeated], loss=loss, alpha=alpha), 1e-5)
    np.testing.assert_allclose(weighted.value, again.value, rtol=1e-4)


def test_the_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(TILE + 5000, 12))
    risk = Risk(X, (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int), loss="hinge", alpha=1e-6)
    found = []
    for n_threads in (1, 2):
        with nearline.num_threads(n_threads):
            found.append(solved(risk, 1e-4).params.flat)
    np.testing.assert_array_equal(*found)


def test_a_small_alpha_is_no_trouble():
    """Digits, where sweeps over the dual were stuck at a gap of 7e-3."""
    X, y = load_digits(return_X_y=True)
    model = LinearSVM(1e-6, "hinge").fit(X, y)
    assert model.gap_ <= 1e-4
    assert model.solver_ == "interior-point"


def test_support_is_exact():
    """Multipliers inside are positive; delivered ones are 0 for rows beyond their margin."""
    X, y = tiny_problem(2, n=200)
    for alpha in (1e-1, 1e-4):
        solution = solved(Risk(X, y, loss="hinge", alpha=alpha), 1e-8)
        margins = (2 * y - 1) * (X @ solution.params.W[0] + solution.params.b[0])
        a = np.abs(solution.duals[:, 0])
        assert (a[margins > 1 + 1e-4] == 0).all()
        assert (a[margins < 1 - 1e-4] == 1).all()
        assert 0 < (a > 0).sum() < len(a)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_support_vectors_are_those_of_libsvm(C):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    peer = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(
        LinearSVM(1.0 / (C * len(X)), "hinge").fit(X, y).support_, np.sort(peer.support_)
    )


def test_large_alphas_and_coarse_gaps_are_left_to_sweeps():
    X, y = tiny_problem(2)
    assert preference(Risk(X, y, loss="hinge", alpha=1.0))[0].name == "dual-coordinate-descent"
    small = Risk(X, y, loss="hinge", alpha=1e-3)
    assert preference(small)[0].name == "interior-point"
    assert "interior-point" not in [solver.name for solver in preference(small, "null")]


@pytest.mark.parametrize(
    ("loss", "regularizer", "alpha", "sentence"),
    [
        ("logistic", "l2", 1.0, "serves 'hinge'"),
        ("hinge", "l1", 1.0, "pure L2"),
        ("hinge", "l2", 0.0, "alpha > 0"),
    ],
)
def test_what_it_refuses(loss, regularizer, alpha, sentence):
    X, y = tiny_problem(2)
    with pytest.raises(ValueError, match=sentence):
        minimize(Risk(X, y, loss=loss, regularizer=regularizer, alpha=alpha), "interior-point")


def test_too_much_work_is_refused():
    X = np.zeros((3000, 3000), dtype=np.float32)
    X[0] = 1.0
    with pytest.raises(ValueError, match="multiplications an iteration"):
        minimize(Risk(X, np.arange(3000) % 2, loss="hinge"), "interior-point")


def test_rows_whose_squares_overflow_get_a_sentence():
    X, y = load_iris(return_X_y=True)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="squares overflow: scale the features"):
        minimize(Risk(X * 1e200, y, loss="hinge"), "interior-point")
