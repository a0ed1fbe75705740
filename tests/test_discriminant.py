"""Linear discriminant analysis and nearest centroid against formulas, loops and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as PeerLDA
from sklearn.neighbors import NearestCentroid as PeerCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearline
from nearline import GaussianNB, LinearDiscriminantAnalysis, NearestCentroid
from oracle_generative import discriminant_scores, shared_covariance

IRIS = load_iris(return_X_y=True)


@parametrize_with_checks([LinearDiscriminantAnalysis(shrinkage="auto"), NearestCentroid("l1")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def centered(scores):
    return scores - scores.mean(axis=1, keepdims=True)


# -- linear discriminant analysis -----------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_gaussian_classes(n_classes):
    """E10: the logistic form comes out of log p(c) + log N(x; mu_c, Sigma)."""
    X, y = IRIS
    X, y = X[y < n_classes], y[y < n_classes]
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    expected = np.array([discriminant_scores(X, y, weights, x) for x in X])
    model = LinearDiscriminantAnalysis().fit(X, y, weights)
    scores = model.decision_function(X)
    if n_classes == 2:
        np.testing.assert_allclose(scores, expected[:, 1] - expected[:, 0], atol=1e-8)
    else:
        np.testing.assert_allclose(centered(scores), centered(expected), atol=1e-8)
    e = np.exp(expected - expected.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), e / e.sum(axis=1, keepdims=True), atol=1e-9)


def test_equal_to_scikit_learn():
    X, y = IRIS
    model = LinearDiscriminantAnalysis().fit(X, y)
    for solver in ("lsqr", "eigen"):
        peer = PeerLDA(solver=solver).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-9)
    priors = np.array([0.6, 0.3, 0.1])
    other = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    moved = model.decision_function(X) + np.log(priors) - np.log(1 / 3)
    np.testing.assert_allclose(other.decision_function(X), moved, atol=1e-9)


@pytest.mark.parametrize("wide", [False, True])
def test_shrinkage(wide):
    """A share of the diagonal: in units of the within-class deviations it is scikit-learn's, 1 is naive Bayes."""
    rng = np.random.default_rng(0)
    d = 40 if wide else 6
    y = np.append(np.arange(18) % 3, [0, 0, 0])
    X = rng.normal(size=(21, d)) @ np.diag(10.0 ** rng.uniform(-2, 2, d)) + rng.normal(size=d)
    X += y[:, None] * X.std(axis=0)
    _, sigma = shared_covariance(X, y, np.ones(21))
    unit = np.sqrt(sigma.diagonal())
    model = LinearDiscriminantAnalysis(shrinkage=0.3).fit(X, y)
    peer = PeerLDA(solver="lsqr", shrinkage=0.3).fit(X / unit, y)
    np.testing.assert_allclose(
        model.predict_log_proba(X), peer.predict_log_proba(X / unit), rtol=1e-7, atol=1e-7
    )
    naive = GaussianNB(shared_variance=True, smoothing=0).fit(X, y)
    full = LinearDiscriminantAnalysis(shrinkage=1).fit(X, y)
    np.testing.assert_allclose(full.predict_log_proba(X), naive.predict_log_proba(X), rtol=1e-7, atol=1e-7)
    auto = LinearDiscriminantAnalysis(shrinkage="auto").fit(X, y)
    peer = PeerLDA(solver="lsqr", shrinkage="auto").fit(X, y)
    np.testing.assert_allclose(auto.predict_log_proba(X), peer.predict_log_proba(X), rtol=1e-6, atol=1e-6)
    for c in range(3):
        Z = X[y == c] - X[y == c].mean(axis=0)
        expected = ledoit_wolf_shrinkage(Z / Z.std(axis=0), assume_centered=True)
        assert auto.shrinkage_[c] == pytest.approx(expected, rel=1e-9)
    weighted = LinearDiscriminantAnalysis(shrinkage="auto").fit(X, y, np.full(21, 2))
    repeated = LinearDiscriminantAnalysis(shrinkage="auto").fit(np.vstack([X, X]), np.append(y, y))
    np.testing.assert_allclose(weighted.shrinkage_, repeated.shrinkage_, rtol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-8)


def test_columns_without_news_change_nothing():
    """Constant columns get weight 0; collinear ones share it; units and offsets do not matter."""
    X, y = IRIS
    expected = LinearDiscriminantAnalysis().fit(X, y).predict_log_proba(X)
    same = np.column_stack([np.full(150, 0.1), X, X[:, 0], X[:, 1] - 2 * X[:, 2] + 3, np.zeros(150)])
    model = LinearDiscriminantAnalysis().fit(same, y)
    np.testing.assert_allclose(model.predict_log_proba(same), expected, rtol=1e-6, atol=1e-6)
    assert (model.coef_[:, [0, 7]] == 0).all()
    np.testing.assert_allclose(model.coef_[:, 1], model.coef_[:, 5], rtol=1e-6, atol=1e-9)
    units, offset = 10.0 ** np.array([-9, -3, 4, 9]), np.array([1e3, 1e-3, 0, 1e6])
    moved = X * units + offset * units
    other = LinearDiscriminantAnalysis().fit(moved, y)
    np.testing.assert_allclose(other.predict_log_proba(moved), expected, rtol=1e-5, atol=1e-5)


def test_classes_without_spread_are_told_apart():
    """Directions in which no class varies but the classes differ count with the mean variance of the columns."""
    for X, y in [
        (np.array([[0.0], [1.0]]), [0, 1]),
        (np.array([[0.0, 5.0], [0.0, 5.0], [3.0, 5.0], [3.0, 5.0]]), [0, 0, 1, 1]),
        (np.eye(5), list("abcde")),
    ]:
        for shrinkage in (None, 0.5, "auto"):
            model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
            assert model.predict(X).tolist() == list(y)
            assert np.isfinite(model.coef_).all()


def test_a_class_that_is_not_shrunk_among_more_columns_than_rows():
    """Ledoit-Wolf gives gamma = 0 to two points and to one; the weights equal the repeated rows' none the less."""
    X = np.array(
        [[0.0] * 6, [0.0] * 6, [1.0] * 6, [1.0, 2.0, 0.0, 3.0, 1.0, 2.0], [0.0, 1.0, 5.0, 2.0, 1.0, 0.0]]
    )
    for y in ([0, 1, 0, 1, 1], [0, 1, 0, 2, 2]):
        weights = np.array([2, 1, 2, 1, 3])
        rows = np.repeat(np.arange(5), weights)
        for shrinkage in ("auto", 0.1, 1e-9):
            model = LinearDiscriminantAnalysis(shrinkage=shrinkage)
            weighted, repeated = clone(model).fit(X, y, weights), clone(model).fit(X[rows], np.array(y)[rows])
            f, g = weighted.decision_function(X), repeated.decision_function(X)
            np.testing.assert_allclose(f, g, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(g).max()))


def test_fewer_rows_than_columns():
    """The inverse on what the rows span within classes, the stand-in elsewhere; the same from either side of n = D."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 30)), np.arange(12) % 3
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    means, sigma = shared_covariance(X, y, np.ones(12))
    inverse = np.linalg.pinv(sigma, rcond=1e-10)
    onto_null = np.eye(30) - sigma @ inverse
    W = means @ (inverse + onto_null / (sigma.trace() / 30))
    b = -0.5 * (W * means).sum(axis=1)
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(
        centered(model.decision_function(X)), centered(X @ W.T + b), rtol=1e-6, atol=1e-6
    )
    tall = LinearDiscriminantAnalysis().fit(np.vstack([X] * 3), np.tile(y, 3))
    np.testing.assert_allclose(tall.coef_, model.coef_, rtol=1e-6, atol=1e-6)


@given(st.data())
@settings(max_examples=40)
def test_integer_weights_equal_repeated_rows(data):
    """E12: for any rows, with duplicates, constant columns and classes of one row."""
    n, d = data.draw(st.integers(3, 9)), data.draw(st.integers(1, 4))
    cells = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    X = np.array(data.draw(st.lists(cells, min_size=n, max_size=n)), dtype=float)
    y = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    y[:2] = [False, True]
    rows = np.repeat(np.arange(n), weights)
    for model in (
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(shrinkage=0.2),
        LinearDiscriminantAnalysis(shrinkage="auto"),
        NearestCentroid(),
        NearestCentroid("l1"),
    ):
        weighted, repeated = clone(model).fit(X, y, weights), clone(model).fit(X[rows], y[rows])
        f, g = weighted.decision_function(X), repeated.decision_function(X)
        np.testing.assert_allclose(f, g, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(g).max()))


def test_float32_and_digits():
    """E12: float32 kept; pixels that are constant, or constant in some classes, do no harm."""
    X, y = load_digits(return_X_y=True)
    single = LinearDiscriminantAnalysis().fit(X.astype(np.float32), y)
    double = LinearDiscriminantAnalysis().fit(X, y)
    assert single.coef_.dtype == single.decision_function(X.astype(np.float32)).dtype == np.float32
    assert (single.predict(X.astype(np.float32)) == double.predict(X)).mean() > 0.999
    assert double.score(X, y) == pytest.approx(PeerLDA(solver="svd").fit(X, y).score(X, y), abs=0.003)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(shrinkage="auto"),
        GaussianNB(),
        NearestCentroid(),
    ],
)
def test_models_do_not_depend_on_the_number_of_threads(model):
    rng = np.random.default_rng(0)
    y = np.arange(6000) % 3
    X = rng.normal(size=(6000, 120)) + 0.1 * y[:, None]
    scores = []
    before = nearline.get_num_threads()
    try:
        for n_threads in (1, 2, 3):
            nearline.set_num_threads(n_threads)
            scores.append(clone(model).fit(X, y).decision_function(X))
    finally:
        nearline.set_num_threads(before)
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


@pytest.mark.parametrize("shrinkage", [-0.1, 1.5, "best", True])
def test_bad_shrinkage_is_refused(shrinkage):
    with pytest.raises(ValueError, match="shrinkage must be None, 'auto' or a number from 0 to 1, got"):
        LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(*IRIS)


# -- nearest centroid -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("metric", "peer_metric"), [("l2", "euclidean"), ("l1", "manhattan")])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_nearest_centroid_equals_scikit_learn(n_classes, metric, peer_metric, dtype, sparse):
    X, y = IRIS
    X, y = X[y < n_classes].astype(dtype), y[y < n_classes]
    X[np.abs(X) < 1.5] = 0
    given_X = csr_matrix(X) if sparse else X
    model = NearestCentroid(metric).fit(given_X, y)
    peer = PeerCentroid(metric=peer_metric).fit(X, y)
    np.testing.assert_allclose(model.centroids_, peer.centroids_, rtol=1e-6)
    assert (model.predict(given_X) == peer.predict(X)).all()
    assert model.decision_function(given_X).dtype == dtype
    power = 2 if metric == "l2" else 1
    distances = np.linalg.norm(X[:, None] - model.centroids_, ord=power, axis=2) ** power
    if n_classes == 2:
        expected = distances[:, 0] - distances[:, 1]
        np.testing.assert_allclose(model.decision_function(given_X), expected, atol=2e-5)
    else:
        scores = model.decision_function(given_X).astype(float)
        np.testing.assert_allclose(centered(scores), centered(-distances), atol=2e-5)


def test_nearest_centroid_is_linear():
    """E10: w_c = 2 mu_c, b_c = -|mu_c|^2 up to what all classes share."""
    X, y = IRIS
    model = NearestCentroid().fit(X, y)
    mu = model.centroids_
    np.testing.assert_allclose(model.coef_ - model.coef_[0], 2 * (mu - mu[0]), atol=1e-12)
    length = (mu**2).sum(axis=1)
    np.testing.assert_allclose(model.intercept_ - model.intercept_[0], length[0] - length, atol=1e-10)
    assert not hasattr(NearestCentroid("l1").fit(X, y), "coef_")
    far = NearestCentroid().fit(X + 1e9, y)
    assert (far.predict(X + 1e9) == model.predict(X)).all()
    with pytest.raises(ValueError, match=r"metric must be 'l2' \(means\) or 'l1' \(medians\), got 'cosine'"):
        NearestCentroid("cosine").fit(X, y)
