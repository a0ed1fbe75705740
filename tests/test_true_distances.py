"""Distances that rounding must not decide: of any scale, far from the origin, of proportional rows."""

import numpy as np
import pytest
from scipy import sparse

import oracle_index as oracle
from nearline import Index, KNeighborsClassifier, KNeighborsRegressor, Mahalanobis, Temperature
from nearline.neighbors.metrics import METRICS


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_l2_of_any_scale(scale, make):
    """Squares that overflow or vanish leave distances as they are: lists, votes and all."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), np.arange(200) % 3
    plain, scaled = (
        Index(make(rows), algorithm="exact").search(rows[:20] * 1.01, 4) for rows in (X, X * scale)
    )
    np.testing.assert_array_equal(scaled.indices, plain.indices)
    np.testing.assert_allclose(scaled.distances / scale, plain.distances, rtol=1e-12)
    votes = [
        KNeighborsClassifier(5, weights="distance").fit(make(rows), y).predict_proba(make(rows[:20] * 1.01))
        for rows in (X, X * scale)
    ]
    np.testing.assert_allclose(votes[1], votes[0], rtol=1e-9)


def test_means_of_targets_that_overflow_when_added():
    X, y = np.arange(12.0)[:, None], np.full(12, 1.5e308)
    assert KNeighborsRegressor(3).fit(X, y).predict([[4.2]]) == pytest.approx(1.5e308)
    assert KNeighborsRegressor(3).fit(X, -y).explain([[4.2]]).predictions == pytest.approx(-1.5e308)


@pytest.mark.parametrize("temperature", [1e-300, 1e-9, 1e300])
def test_softmax_of_any_temperature(temperature):
    X, y = np.random.default_rng(0).standard_normal((50, 2)), np.arange(50) % 2
    for metric in ("l2", "cosine", "inner-product"):
        model = KNeighborsClassifier(5, weights=Temperature(temperature), metric=metric).fit(X, y)
        shares = model.predict_proba(1.01 * X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def covariances(D, rng, condition=1.0):
    A = rng.standard_normal((D, D)) * np.geomspace(1.0, condition, D)
    return A @ A.T


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12])
@pytest.mark.parametrize("D", [2, 5, 30, 60])
def test_mahalanobis_far_from_the_origin(D, offset):
    """Lists are those of differences, whatever the offset; exact values make it the same rows."""
    rng = np.random.default_rng(D)
    X = rng.integers(-500, 500, size=(400, D)) / 8.0
    metric = Mahalanobis(covariances(D, rng))
    plain = Index(X, metric).search(X[:40], 6)
    e = X[:40, None] - X
    truth = np.sqrt(np.einsum("qnj,jl,qnl->qn", e, metric.matrix, e))
    np.testing.assert_allclose(plain.distances, np.sort(truth)[:, :6], rtol=1e-9, atol=1e-9)
    for algorithm in ("exact", "tree"):
        far = Index(X + offset, metric, algorithm=algorithm).search(X[:40] + offset, 6)
        np.testing.assert_array_equal(far.indices, plain.indices)
        np.testing.assert_array_equal(far.distances, plain.distances)


@pytest.mark.parametrize("condition", [1e-9, 1e-4, 1e4])
@pytest.mark.parametrize("D", [3, 40])
def test_mahalanobis_of_any_condition_is_brute_force(D, condition):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, D)) @ np.diag(np.geomspace(1, 1 / condition, D))
    metric = Mahalanobis(covariances(D, rng, condition))
    want = oracle.search(oracle.distances(metric, X, X[:9]), 5)
    for algorithm in ("exact", "tree"):
        oracle.assert_same(Index(X, metric, algorithm=algorithm).search(X[:9], 5), want, 5)


def test_mahalanobis_of_low_rank():
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((300, 6)), rng.standard_normal((2, 6))
    metric = Mahalanobis(A.T @ A)
    found = Index(X, metric).search(X[:5], 4)
    truth = np.linalg.norm((X[:5, None] - X) @ A.T, axis=-1)
    np.testing.assert_allclose(found.distances, np.sort(truth)[:, :4], atol=1e-6)
    nothing = Index(X, Mahalanobis(np.zeros((6, 6)))).search(X[:5], 4)
    assert (nothing.distances == 0).all()


def proportional(rng, n, D):
    """Rows, and the same ones in other units."""
    X = rng.standard_normal((n, D))
    return X, X * rng.choice([0.1, 1 / 3, 0.7, 3.0, 1e-9, 1e9], size=(n, 1))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("D", [2, 3, 17, 300, 10_000])
def test_proportional_rows_are_at_cosine_distance_zero(D, make):
    X, Q = proportional(np.random.default_rng(D), 12, D)
    found = Index(make(X), "cosine").search(make(Q), 1)
    assert (found.distances == 0).all()
    np.testing.assert_array_equal(found.indices[:, 0], np.arange(12))


def test_one_two_three():
    X = np.array([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    found = Index(X, "cosine").search([[1.0, 2.0, 3.0]], 1)
    assert found.distances[0, 0] == 0.0
    assert found.indices[0].tolist() == [0]
    assert found.boundary[0].tolist() == [1]
    model = KNeighborsClassifier(3, metric="cosine", weights="distance").fit(X, ["a", "b", "c"])
    for unit in (1.0, 0.1, 1 / 3, 7e5):
        np.testing.assert_array_equal(model.predict_proba(unit * X[1:2]), [[0.5, 0.5, 0.0]])
        assert model.explain(unit * X[1:2]).rows(0)[0]["distance"] == 0.0


def test_units_change_no_cosine_distance():
    """Same bits for rows in other units, but for angles at the middle between two points of the grid."""
    rng = np.random.default_rng(0)
    X, other = proportional(rng, 300, 8)
    Q = rng.standard_normal((50, 8))
    a, b = (Index(rows, "cosine").search(Q, 300) for rows in (X, other))
    same = (np.sort(a.indices) == np.sort(b.indices)).all() and (a.distances == b.distances).mean()
    assert same > 0.995
    np.testing.assert_allclose(a.distances, b.distances, rtol=0, atol=2.0**-40)


@pytest.mark.parametrize("D", [4, 60])
def test_cosine_is_brute_force_on_the_grid_however_it_is_stored(D):
    rng = np.random.default_rng(3)
    base = rng.standard_normal((40, D)).astype(np.float32) * (rng.random((40, D)) < 0.6)
    X = np.repeat(base, 10, axis=0) * rng.choice(np.float32([0.5, 1.0, 3.0]), size=(400, 1))
    want = oracle.search(oracle.distances(METRICS["cosine"], X, X[:30]), 7)
    for rows in (X, X.astype(np.float64), sparse.csr_array(X), sparse.csr_array(X.astype(np.float64))):
        oracle.assert_same(Index(rows, "cosine").search(X[:30], 7), want, 7)


def test_cosine_of_the_graph_is_on_the_grid():
    pytest.importorskip("faiss")
    from nearline.neighbors.approximate import Approximate

    X, Q = proportional(np.random.default_rng(0), 400, 6)
    found = Index(X, "cosine", algorithm=Approximate(0.9)).search(Q[:20], 1)
    assert (found.distances == 0).all()
