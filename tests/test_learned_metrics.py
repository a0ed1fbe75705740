"""Metrics that learn do so from the training rows of each fold; one that has seen the tested rows is refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import nearline
from nearline import (
    Index,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Mahalanobis,
    NeighborsTransfer,
    cross_validate,
    sweep,
)
from nearline.neighbors.mapped import fingerprints
from nearline.selection.families import Fold
from nearline.selection.families.neighbors import NearestNeighbors


def noise(n=120, D=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, D)), rng.integers(2, size=n)


def inverse_covariance(X, y, shrinkage=1e-6):
    Z = np.vstack([X[y == c] - X[y == c].mean(axis=0) for c in np.unique(y)])
    S = Z.T @ Z / (len(X) - len(np.unique(y)))
    return np.linalg.inv((1 - shrinkage) * S + shrinkage * np.trace(S) / len(S) * np.eye(len(S)))


def test_the_matrix_is_the_inverse_covariance():
    X, y = load_wine(return_X_y=True)
    model = KNeighborsClassifier(metric=Mahalanobis("within")).fit(X, y)
    np.testing.assert_allclose(model.index_.metric.matrix, inverse_covariance(X, y), rtol=1e-6)
    total = Index(X, Mahalanobis("total", 0.1)).metric
    np.testing.assert_allclose(total.matrix, inverse_covariance(X, np.zeros(len(y)), 0.1), rtol=1e-6)
    np.testing.assert_array_equal(Mahalanobis.learn(X, y).matrix, model.index_.metric.matrix)
    assert model.metric == Mahalanobis("within")  # the parameter stays what it was


def test_weights_are_repetitions():
    X, y = load_wine(return_X_y=True)
    weights = np.arange(len(y)) % 3
    metric = Mahalanobis("within")
    weighted = KNeighborsClassifier(metric=metric).fit(X, y, weights)
    repeated = KNeighborsClassifier(metric=metric).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.index_.metric.matrix, repeated.index_.metric.matrix, rtol=1e-8)


def test_far_rows_have_the_same_covariance():
    X, y = noise(D=3)
    X = np.round(X * 64) / 64
    near, far = (Mahalanobis("within").fit(rows, y).matrix for rows in (X, X + 2.0**40))
    np.testing.assert_allclose(far, near, rtol=1e-9)


def test_noise_scores_as_noise():
    """A mean over several tables: the matrix of all rows, given as if it were known, scores far above chance."""
    leaky, honest = [], []
    for seed in range(12):
        X, y = noise(60, 40, seed)[0], np.arange(60) % 2
        seen = Mahalanobis(Mahalanobis.learn(X, y).matrix)
        both = sweep(X, y, [5], metrics=[seen, Mahalanobis("within")]).mean[:, 0, 0]
        leaky.append(both[0])
        honest.append(both[1])
    assert np.mean(leaky) > 0.65
    assert 0.42 < np.mean(honest) < 0.58


def test_a_sweep_is_what_each_fold_alone_is():
    X, y = noise()
    alone = [
        KNeighborsClassifier(5, metric=Mahalanobis("within")).fit(X[a], y[a]).score(X[~a], y[~a])
        for a in folds_of(y)
    ]
    given = sweep(X, y, [5], metrics=[Mahalanobis("within")], folds=folds_numbers(y))
    np.testing.assert_array_equal(given.scores[0, 0, 0], alone)


def folds_numbers(y):
    return np.arange(len(y)) % 4


def folds_of(y):
    return [folds_numbers(y) != f for f in range(4)]


@pytest.mark.parametrize("part", [slice(None), slice(None, None, -1), slice(0, 30)])
def test_a_metric_that_has_seen_the_rows_is_refused(part):
    """In whatever order, and of some of the rows only."""
    X, y = noise()
    leaky = Mahalanobis.learn(X[part], y[part])
    model = KNeighborsClassifier(5, metric=leaky)
    with pytest.raises(ValueError, match=r"learned from .* rows.*Mahalanobis\('within'\).*metric\.matrix"):
        sweep(X, y, [5], metrics=["l2", leaky])
    with pytest.raises(ValueError, match="learned from"):
        sweep(X, y, [5], metrics=[leaky], folds=KFold(3))
    with pytest.raises(ValueError, match="learned from"):
        cross_val_score(model, X, y, error_score="raise")
    with pytest.raises(ValueError, match="learned from"):
        cross_validate(model, X, y)
    fold = Fold(X[::2], y[::2], None, X[1::2], np.arange(2))
    with pytest.raises(ValueError, match="learned from"):
        list(NearestNeighbors("own", leaky).outcomes(fold, [{"n_neighbors": 3, "weights": "uniform"}]))


def test_what_is_no_leak_is_served():
    X, y = noise()
    learned = Mahalanobis.learn(X[:80], y[:80])
    model = KNeighborsClassifier(5, metric=learned).fit(X[:80], y[:80])
    assert len(model.predict(X)) == len(X)  # new rows, and the model's own
    other = KNeighborsClassifier(5, metric=learned).fit(X[80:100], y[80:100])
    assert len(other.predict(X[100:])) == 20
    sweep(X[80:], y[80:], [3], metrics=[learned])
    on_purpose = Mahalanobis(learned.matrix)
    sweep(X, y, [3], metrics=[on_purpose])


def test_fingerprints_are_of_values():
    X = np.random.default_rng(0).integers(0, 4, size=(500, 6))
    prints = fingerprints(X.astype(float))
    for rows in (X.astype(np.float32), X.astype(np.uint8), csr_array(X.astype(float))):
        np.testing.assert_array_equal(fingerprints(rows), prints)
    np.testing.assert_array_equal(fingerprints(X[::-1]), prints[::-1])
    assert len(np.unique(prints)) == len(np.unique(X, axis=0))
    assert fingerprints(np.array([[0.0, 1.0]])) == fingerprints(np.array([[-0.0, 1.0]]))
    assert fingerprints(np.array([[0.0, 1.0]])) != fingerprints(np.array([[1.0, 0.0]]))


def test_families_learn_in_each_fold():
    X, y = noise()
    fold = Fold(X[::2], y[::2], None, X[1::2], np.arange(2))
    family = NearestNeighbors("k-NN, Mahalanobis", Mahalanobis("within"))
    grid = [{"n_neighbors": 3, "weights": "uniform", "metric": family.metric}]
    predictions = next(iter(family.outcomes(fold, grid))).predictions
    alone = KNeighborsClassifier(3, metric=Mahalanobis("within")).fit(X[::2], y[::2])
    np.testing.assert_array_equal(predictions.labels, alone.predict(X[1::2]))


def test_scikit_learn_takes_unfitted_metrics():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(metric=Mahalanobis("within")))
    again = clone(model)
    assert again[-1].metric == Mahalanobis("within")
    grid = {"kneighborsclassifier__metric__shrinkage": [1e-6, 0.5]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert isinstance(search.best_estimator_[-1].index_.metric.matrix, np.ndarray)
    assert "Mahalanobis" in estimator_html_repr(model)
    assert "within" in repr(model)


def test_without_labels_within_is_refused():
    X, y = noise(40, 3)
    for fit in (
        lambda: Index(X, Mahalanobis("within")),
        lambda: KNeighborsRegressor(metric=Mahalanobis("within")).fit(X, X[:, 0]),
        lambda: NeighborsTransfer(metric=Mahalanobis("within")).fit(X, list(y)),
        lambda: sweep(X, X[:, 0], [3], metrics=[Mahalanobis("within")], scoring="r2"),
    ):
        with pytest.raises(ValueError, match=r"no labels: take Mahalanobis\('total'\)"):
            fit()
    assert KNeighborsRegressor(metric=Mahalanobis("total")).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mahalanobis("inside"), "one of 'within', 'total', got 'inside'"),
        (lambda: Mahalanobis("within", 0.0), "shrinkage must be above 0"),
        (lambda: Mahalanobis(np.eye(2), 0.1), "a matrix is taken as it is"),
    ],
)
def test_what_makes_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_files_hold_the_fitted_metric(tmp_path):
    X, y = load_wine(return_X_y=True)
    model = KNeighborsClassifier(metric=Mahalanobis("within")).fit(X, y)
    nearline.save(model, tmp_path / "model.nearline")
    loaded = nearline.load(tmp_path / "model.nearline")
    assert loaded.metric == Mahalanobis("within")
    np.testing.assert_array_equal(loaded.index_.metric.matrix, model.index_.metric.matrix)
    np.testing.assert_array_equal(loaded.predict_proba(X[:20]), model.predict_proba(X[:20]))
    leaky = KNeighborsClassifier(metric=Mahalanobis.learn(X, y)).fit(X[::2], y[::2])
    nearline.save(leaky, tmp_path / "leaky.nearline")
    with pytest.raises(ValueError, match="learned from"):
        nearline.load(tmp_path / "leaky.nearline").predict(X[1::2])


def test_rows_rounded_to_float32_are_the_same_rows():
    X, y = noise(60, 5)
    rounded, learned = X.astype(np.float32), Mahalanobis.learn(X, y)
    with pytest.raises(ValueError, match="learned from 10 of these 10 rows"):
        KNeighborsClassifier(metric=learned).fit(rounded[:50], y[:50]).predict(rounded[50:])
    for rows in (X, rounded):  # what the model has seen in one precision, it has seen in the other
        assert len(KNeighborsClassifier(metric=learned).fit(rows, y).predict(rounded)) == 60
