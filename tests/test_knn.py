"""Estimators of neighbors against scikit-learn's, and what they say beyond it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier as Peer
from sklearn.neighbors import KNeighborsRegressor as PeerRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearline import (
    Consensus,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Lq,
    Mahalanobis,
    NeighborsTransfer,
    Temperature,
)

IRIS = load_iris(return_X_y=True)
DIGITS = load_digits(return_X_y=True)


def continuous(n=300, d=6, seed=0):
    """Rows without ties of distances."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(3, d))[y], y


@pytest.mark.parametrize("k", [1, 4, 15])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "minkowski", "chebyshev", "cosine", "sqeuclidean"]
)
def test_for_scikit_learn_changing_the_import_is_enough(metric, weights, k):
    """F1, F4: without ties of distances; tied votes by class order."""
    X, y = continuous()
    labels = np.array(["x", "y", "z"])[y]
    peer = Peer(k, weights=weights, metric=metric, algorithm="brute").fit(X[:200], labels[:200])
    model = KNeighborsClassifier(k, weights=weights, metric=metric, ties="order").fit(X[:200], labels[:200])
    np.testing.assert_allclose(
        model.predict_proba(X[200:]), peer.predict_proba(X[200:]), rtol=1e-6, atol=1e-9
    )
    assert model.predict(X[200:]).tolist() == peer.predict(X[200:]).tolist()
    assert model.score(X[200:], labels[200:]) == peer.score(X[200:], labels[200:])
    for mine, theirs in zip(model.kneighbors(X[200:]), peer.kneighbors(X[200:])):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(
        model.kneighbors(n_neighbors=3, return_distance=False),
        peer.kneighbors(n_neighbors=3, return_distance=False),
    )


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_the_list_and_class_order_are_scikit_learns_rules(weights):
    """F2: on whole numbers, where lists of peers are in order of index too."""
    X = np.random.default_rng(1).integers(0, 4, size=(300, 3)).astype(float)
    y = np.arange(300) % 3
    distances = cdist(X[200:], X[:200])
    order = np.argsort(distances, axis=1, kind="stable")[:, :5]
    near = np.take_along_axis(distances, order, axis=1)
    zero = (near == 0).any(axis=1)
    votes = np.ones_like(near) if weights == "uniform" else 1.0 / np.where(near > 0, near, 1.0)
    if weights == "distance":
        votes[zero] = near[zero] == 0
    expected = [np.bincount(y[o], v, minlength=3).round(9).argmax() for o, v in zip(order, votes)]
    model = KNeighborsClassifier(5, weights=weights, boundary="list", ties="order").fit(X[:200], y[:200])
    np.testing.assert_array_equal(model.predict(X[200:]), expected)


@pytest.mark.parametrize("outputs", [None, 1, 3])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_regression_equals_scikit_learn(weights, outputs):
    """F5: one and several targets, of the shape they came in."""
    X, _ = continuous()
    y = np.random.default_rng(2).normal(size=300 if outputs is None else (300, outputs))
    peer = PeerRegressor(7, weights=weights).fit(X[:200], y[:200])
    model = KNeighborsRegressor(7, weights=weights).fit(X[:200], y[:200])
    assert model.predict(X[200:]).shape == peer.predict(X[200:]).shape
    np.testing.assert_allclose(model.predict(X[200:]), peer.predict(X[200:]), rtol=1e-9)
    assert model.score(X[200:], y[200:]) == pytest.approx(peer.score(X[200:], y[200:]))


def test_label_sets():
    """F5: of 0/1 targets the mean is the share of each label."""
    model = KNeighborsRegressor(2).fit([[0.0], [1.0], [5.0]], [[1, 0], [1, 1], [0, 1]])
    assert model.predict([[0.2]]).tolist() == [[1.0, 0.5]]


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_are_kept_as_they_are(dtype, sparse):
    X, y = DIGITS
    X = X.astype(dtype)
    X = csr_matrix(X) if sparse else X
    model = KNeighborsClassifier(3).fit(X[:1000], y[:1000])
    plain = KNeighborsClassifier(3).fit(DIGITS[0][:1000], y[:1000])
    np.testing.assert_array_equal(model.predict_proba(X[1000:]), plain.predict_proba(DIGITS[0][1000:]))
    if not sparse:
        assert model.index_.X.dtype == dtype
    np.testing.assert_array_equal(model.predict(DIGITS[0][1000:]), plain.predict(DIGITS[0][1000:]))


@pytest.mark.parametrize("weighted", [False, True])
def test_distances_may_be_given(weighted):
    """F3: metric="precomputed", in cross-validation too; rows of weight 0 are left out of it."""
    X, y = continuous(120)
    s = np.arange(120) % 3 if weighted else np.ones(120)
    D = cdist(X, X)
    given = KNeighborsClassifier(5, metric="precomputed").fit(D, y, sample_weight=s)
    plain = KNeighborsClassifier(5).fit(X, y, sample_weight=s)
    np.testing.assert_array_equal(given.predict(D), plain.predict(X))
    np.testing.assert_array_equal(
        given.kneighbors(return_distance=False), plain.kneighbors(return_distance=False)
    )
    assert given.__sklearn_tags__().input_tags.pairwise
    assert not plain.__sklearn_tags__().input_tags.pairwise
    if not weighted:
        np.testing.assert_array_equal(
            cross_val_score(given, D, y, cv=4), cross_val_score(KNeighborsClassifier(5), X, y, cv=4)
        )


def test_own_neighbors_are_others():
    """kneighbors() without rows: nobody is a neighbor of itself, but its double is."""
    X, y = [[0.0], [0.0], [1.0], [5.0]], [0, 0, 1, 1]
    model = KNeighborsClassifier(2).fit(X, y)
    distances, indices = model.kneighbors()
    assert indices.tolist() == [[1, 2], [0, 2], [0, 1], [2, 0]]
    assert distances.tolist() == [[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [4.0, 5.0]]
    with pytest.raises(ValueError, match=r"k = 4 .* only 3 rows"):
        model.kneighbors(n_neighbors=4)
    light = KNeighborsClassifier(2).fit(X, y, sample_weight=[1, 0, 1, 1])
    assert light.kneighbors(return_distance=False).tolist() == [[2, 3], [0, 2], [0, 3], [2, 0]]


def test_explanation():
    """F6: neighbors, distances, votes and labels; who tied."""
    X, y = [[0.0], [1.0], [-1.0], [9.0]], np.array(["a", "b", "c", "c"])
    explained = KNeighborsClassifier(2).fit(X, y).explain([[0.0], [8.0]])
    assert explained.predictions.tolist() == ["a", "c"]
    assert explained.rows(0) == [
        {"index": 0, "label": "a", "distance": 0.0, "vote": 1.0},
        {"index": 1, "label": "b", "distance": 1.0, "vote": 0.5},
        {"index": 2, "label": "c", "distance": 1.0, "vote": 0.5},
    ]
    assert explained.indices[1].tolist() == [3, 1]
    assert explained.boundary_ties.tolist() == [True, False]
    assert explained.vote_ties.tolist() == [False, True]
    assert (explained.boundary_tie_share, explained.vote_tie_share, len(explained)) == (0.5, 0.5, 2)
    means = KNeighborsRegressor(2).fit(X, [0.0, 1.0, 2.0, 3.0]).explain([[0.0]])
    assert means.predictions.tolist() == [0.75]
    assert means.labels[0].tolist() == [0.0, 1.0, 2.0]
    assert means.boundary_tie_share == 1.0


@pytest.mark.parametrize("weights", ["uniform", "distance", Temperature(0.3)])
def test_an_explanation_adds_up(weights):
    """F6: the votes of the neighbors, added up by label, are the probabilities; also where weights are below 1."""
    X, y = continuous()
    s = np.random.default_rng(0).uniform(0.0, 2.0, 300) * (np.arange(300) % 5 > 0)
    model = KNeighborsClassifier(4, weights=weights).fit(X, y, sample_weight=s)
    explained, shares = model.explain(X[:20]), model.predict_proba(X[:20])
    np.testing.assert_array_equal(explained.predictions, model.predict(X[:20]))
    for i in range(20):
        totals = np.bincount(explained.labels[i], explained.votes[i], minlength=3)
        np.testing.assert_allclose(totals / totals.sum(), shares[i])
        assert (s[explained.indices[i]] > 0).all()
        np.testing.assert_array_equal(explained.labels[i], y[explained.indices[i]])
        np.testing.assert_allclose(
            explained.distances[i], np.linalg.norm(X[explained.indices[i]] - X[i], axis=1), atol=1e-12
        )


def test_one_class_and_all_rows():
    """k = n is the majority; one class has every vote."""
    X, y = [[0.0], [1.0], [2.0]], np.array(["b", "a", "b"])
    assert KNeighborsClassifier(3).fit(X, y).predict([[1.0], [1e9]]).tolist() == ["b", "b"]
    only = KNeighborsClassifier(2).fit(X, ["z"] * 3)
    assert only.predict([[7.0]]).tolist() == ["z"]
    assert only.predict_proba([[7.0]]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    "metric", [Lq(3), Mahalanobis(np.diag([1.0, 2.0, 3.0, 4.0])), lambda a, b: abs(a - b).sum()]
)
def test_metrics_as_objects(metric):
    """F3."""
    X, y = IRIS
    model = clone(KNeighborsClassifier(5, metric=metric)).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_pipelines_searches_and_pickles():
    X, y = IRIS
    pipe = make_pipeline(StandardScaler(), KNeighborsClassifier())
    grid = {
        "kneighborsclassifier__n_neighbors": [1, 5],
        "kneighborsclassifier__weights": ["uniform", Temperature(1.0)],
    }
    assert GridSearchCV(pipe, grid, cv=3).fit(X, y).best_score_ > 0.9
    model = KNeighborsClassifier(3).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    table = pd.DataFrame(X, columns=list("abcd"))
    assert KNeighborsClassifier().fit(table, y).feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (0, "at least 1, got 0"),
        (-1, "at least 1"),
        (2.5, "whole number, got 2.5"),
        (True, "whole number"),
        ("3", "whole"),
    ],
)
def test_what_is_no_number_of_neighbors(k, message):
    with pytest.raises(ValueError, match=message):
        KNeighborsClassifier(k).fit(*IRIS)


def test_what_is_wrong_is_said():
    X, y = IRIS
    with pytest.raises(ValueError, match=r"k = 151 .* only 150 rows"):
        KNeighborsClassifier(151).fit(X, y).predict(X)
    with pytest.raises(ValueError, match=r"Unknown metric 'taxi'.*'l1'"):
        KNeighborsClassifier(metric="taxi").fit(X, y)
    with pytest.raises(ValueError, match=r"Every sample weight is 0|at least one non-zero"):
        KNeighborsClassifier().fit(X, y, sample_weight=np.zeros(150))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        KNeighborsClassifier().fit(X, y, sample_weight=-np.ones(150))
    with pytest.raises(ValueError, match="consensus must be None or a Consensus"):
        NeighborsTransfer(consensus="captions").fit(X, y)
    with pytest.raises(ValueError, match="150 rows, but there are payloads for 149"):
        NeighborsTransfer().fit(X, y[1:])
    with pytest.raises(ValueError, match="subset >= 1"):
        Consensus(subset=0)
