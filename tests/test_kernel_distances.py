"""Distances behind kernels, where |a|^2 + |b|^2 - 2 a.b would lose them: far clusters, sentinels, near rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from nearline import (
    GaussianProcessClassifier,
    KernelLeastSquares,
    KernelNeighborsClassifier,
    KernelSVM,
    Nystroem,
    RandomFourierFeatures,
)
from nearline.kernels import RBF, Centered, Linear, Polynomial, is_psd
from nearline.kernels.distances import careful_squares, doubtful_exponents, pair_squares
from nearline.kernels.vector import median_gamma, scale_gamma


def far_clusters(n=120, distance=1e8, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return X + np.where(np.arange(n) % 2 == 0, distance, -distance)[:, None], y


def with_sentinel(n=100, d=3, seed=1):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[7, 1] = 1e9
    return X


def gaussian(A, B, gamma):
    return np.exp(-gamma * cdist(A, B, "sqeuclidean"))


ROWS = {
    "far clusters": far_clusters()[0],
    "sentinel": with_sentinel(),
    "sentinel first": with_sentinel()[::-1][-8:],
    "offset": with_sentinel()[10:] + 1e10,
    "outliers of all sizes": np.random.default_rng(2).standard_cauchy((150, 4)) ** 3,
}


@pytest.mark.parametrize("gamma", [1e-3, 0.5, 100.0])
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "csr"])
def test_entries_are_right_however_far_rows_are(name, gamma, make):
    X = ROWS[name]
    K, truth = RBF(gamma)(make(X)), gaussian(X, X, gamma)
    np.testing.assert_allclose(K, truth, rtol=0, atol=2e-9)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diagonal(K), 1.0)
    assert is_psd(K)
    between = RBF(gamma).between(make(X[::3]), make(X))
    np.testing.assert_allclose(between, truth[::3], rtol=0, atol=2e-9)


def test_float32_rows_far_apart():
    X = (far_clusters(distance=1e4)[0]).astype(np.float32)
    np.testing.assert_allclose(
        RBF(0.5)(X), gaussian(X.astype(float), X.astype(float), 0.5), rtol=0, atol=1e-6
    )


def test_machines_learn_far_clusters():
    X, y = far_clusters()
    truth = gaussian(X, X, 2.0)
    model = KernelSVM(RBF(2.0), alpha=1e-5).fit(X, y)
    assert model.score(X, y) > 0.97
    scores = truth[:, model.support_] @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores[:, 0], rtol=1e-6, atol=1e-6)
    rows = KernelSVM(RBF(2.0), alpha=1e-5, memory=50_000).fit(X, y)  # computed when they are needed
    np.testing.assert_array_equal(rows.predict(X), model.predict(X))
    ridge = KernelLeastSquares(RBF(2.0), alpha=1e-3).fit(X, y)
    assert ridge.score(X, y) > 0.97
    assert GaussianProcessClassifier(RBF(2.0)).fit(X, y).score(X, y) > 0.9
    assert Nystroem(RBF(2.0), n_components=len(X)).fit(X).error_ < 1e-6


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", ROWS)
def test_rules_for_gamma(name, make):
    X = ROWS[name]
    squares = cdist(X, X, "sqeuclidean")[np.triu_indices(len(X), 1)]
    assert median_gamma(make(X)) == pytest.approx(1.0 / np.median(squares[squares > 0]), rel=1e-6)
    assert scale_gamma(make(X)) == pytest.approx(1.0 / (X.shape[1] * X.var()), rel=1e-6)


def test_equal_rows_are_no_pairs_of_the_median():
    X = np.repeat(np.random.default_rng(0).normal(size=(7, 30)), 20, axis=0) + 0.1
    squares = cdist(X[::20], X[::20], "sqeuclidean")[np.triu_indices(7, 1)]
    assert median_gamma(X) == pytest.approx(1.0 / np.median(squares), rel=1e-9)


def test_gamma_of_constant_values_is_one():
    assert scale_gamma(np.full((20, 3), 0.1)) == 1.0
    assert scale_gamma(np.full((20, 3), 1e12)) == 1.0


def test_random_features_of_float32_rows_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32) + np.float32(1e5)
    single, double = (RandomFourierFeatures(1.0, n_components=64).fit(rows) for rows in (X, X.astype(float)))
    np.testing.assert_allclose(single.transform(X), double.transform(X.astype(float)), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_units_of_far_rows_do_not_matter(scale):
    X = far_clusters()[0]
    np.testing.assert_allclose(
        RBF(0.5 / scale**2)(X * scale), gaussian(X, X, 0.5), rtol=0, atol=2e-6
    )  # X * scale rounds


def test_few_pairs_are_measured_again(monkeypatch):
    """One far value costs direct differences of its own row at most, not of all pairs."""
    import nearline.kernels.distances as module

    measured = []

    def counted(A, B, i, j):
        measured.append(len(i))
        return pair_squares(A, B, i, j)

    monkeypatch.setattr(module, "pair_squares", counted)
    X = with_sentinel(300)
    list(careful_squares(X, X, 0.5, doubtful_exponents))
    assert sum(measured) < 600


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), RBF(0.5) + Linear(), Centered(Linear())], ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_distances_that_kernels_induce(kernel, offset):
    """Of rows that are nearly the same, too."""
    X = np.random.default_rng(0).normal(size=(40, 3)) + offset
    X[20:] = X[:20] + 1e-5
    squares = cdist(X, X, "sqeuclidean")
    gaussians = -2.0 * np.expm1(-0.5 * squares)
    truth = {"RBF": gaussians, "Sum": squares + gaussians}.get(type(kernel).__name__, squares)
    found = kernel.fitted(X).squared_distances(X, X)
    np.testing.assert_allclose(found, truth, rtol=1e-6, atol=0)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_centered_kernels_far_from_the_origin(offset):
    rows = np.round(np.random.default_rng(0).normal(size=(60, 3)) * 64) / 64
    weights = np.arange(60) % 4 + 0.5
    shift = np.average(rows, axis=0, weights=weights)
    kernel = Centered(Linear()).fitted(rows + offset, weights)
    K = kernel.among(rows + offset)
    np.testing.assert_allclose(K, (rows - shift) @ (rows - shift).T, atol=1e-9)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel.between(rows[:7] + offset, rows + offset), K[:7], atol=1e-9)
    np.testing.assert_allclose(kernel.diagonal(rows + offset), np.diagonal(K), atol=1e-9)
    y = (rows[:, 0] + rows[:, 1] > 0).astype(int)
    model = KernelSVM(Centered(Linear()), alpha=1e-3).fit(rows + offset, y)
    assert model.score(rows + offset, y) > 0.95


def test_neighbors_of_a_kernel_tell_near_rows_apart():
    X = np.array([[0.0], [1e-9], [3e-9], [1.0]])
    model = KernelNeighborsClassifier(1, kernel=RBF(1.0)).fit(X, list("abcd"))
    assert model.predict([[0.4e-9], [0.6e-9], [2.5e-9]]).tolist() == list("abc")


def test_equal_items_are_at_zero():
    X = np.random.default_rng(0).normal(size=(50, 20)) * 7.3
    for dtype in (np.float64, np.float32):
        items = X.astype(dtype)
        assert (np.diagonal(Polynomial(3).squared_distances(items, items)) == 0).all()
