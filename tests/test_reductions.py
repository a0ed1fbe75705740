"""One-vs-rest and one-vs-one against scikit-learn, their rules where votes are ambiguous, convex regions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import linear_kernel
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearline import (
    CalibratedClassifier,
    GaussianNB,
    KernelLogisticRegression,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    NearestCentroid,
    OneVsOne,
    OneVsRest,
    cross_validate,
    decide,
)

IRIS = load_iris(return_X_y=True)


@parametrize_with_checks(
    [
        OneVsRest(LinearDiscriminantAnalysis()),
        OneVsOne(LinearDiscriminantAnalysis()),
        OneVsOne(NearestCentroid()),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def by_hand(reduction, F):
    """The labels' numbers that the docstring's rule gives for a row of two-class scores."""
    if isinstance(reduction, OneVsRest):
        return int(np.argmax(F))
    n_classes = len(reduction.classes_)
    votes, sums = [0] * n_classes, [0.0] * n_classes
    for (i, j), f in zip(reduction.pairs_.tolist(), F):
        votes[j if f >= 0 else i] += 1
        sums[j] += f
        sums[i] -= f
    best = [c for c in range(n_classes) if votes[c] == max(votes)]
    return max(best, key=lambda c: (sums[c], -c))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("base", [LinearSVC(dual=False), RidgeClassifier(), MultinomialNB()])
def test_equal_to_scikit_learn(base, sparse, n_classes):
    X, y = IRIS
    X, y = X[y < n_classes], np.array(["a", "b", "c"])[y[y < n_classes]]
    X = csr_matrix(X) if sparse else X
    for ours, theirs in (
        (OneVsRest(base), OneVsRestClassifier(base)),
        (OneVsOne(base), OneVsOneClassifier(base)),
    ):
        ours.fit(X, y)
        theirs.fit(X, y)
        f, g = ours.decision_function(X), theirs.decision_function(X)
        assert f.shape == g.shape
        if n_classes == 2 and isinstance(ours, OneVsOne):
            # One score is enough for two classes: ours is it, theirs the votes and a fraction of it.
            f = (f > 0) + f / (3 * (np.abs(f) + 1))
        np.testing.assert_allclose(f, g, atol=1e-10)
        assert (ours.predict(X) == theirs.predict(X)).all()
        assert ours.predict(X).dtype == y.dtype
        if isinstance(ours, OneVsRest) and hasattr(base, "predict_proba"):
            np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


def test_reductions_keep_C():
    """One-vs-one at alpha is scikit-learn's at C = 1 / (n alpha), though its problems have fewer rows."""
    X, y = IRIS
    X, y = X[:130], y[:130]  # classes of unequal size
    C = 0.2
    peer = OneVsOneClassifier(Peer(C=C, tol=1e-10, max_iter=10_000)).fit(X, y)
    base = LogisticRegression(alpha=1 / (len(y) * C), tol=1e-11, solver="newton")
    model = OneVsOne(base).fit(X, y)
    for ours, theirs in zip(model.estimators_, peer.estimators_):
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    piped = OneVsOne(make_pipeline(StandardScaler(), base)).fit(X, y)
    assert [e[-1].alpha for e in piped.estimators_] == [e.alpha for e in model.estimators_]
    assert model.estimators_[0].alpha == pytest.approx(base.alpha * 130 / 100)
    assert model.estimators_[1].alpha == pytest.approx(base.alpha * 130 / 80)
    kept = OneVsOne(base, scale_alpha=False).fit(X, y)
    assert {e.alpha for e in kept.estimators_} == {base.alpha}
    weights = np.where(y == 0, 3.0, 1.0)
    weighted = OneVsOne(base).fit(X, y, weights)
    assert weighted.estimators_[0].alpha == pytest.approx(base.alpha * 230 / 200)
    # alpha of other libraries means other things (RidgeClassifier's is not divided by n): it is left alone.
    assert {e.alpha for e in OneVsOne(RidgeClassifier(alpha=2.0)).fit(X, y).estimators_} == {2.0}


def test_weights_are_passed_on():
    X, y = IRIS
    weights = np.random.default_rng(0).integers(1, 4, 150)
    rows = np.repeat(np.arange(150), weights)
    for reduction in (OneVsRest, OneVsOne):
        weighted = reduction(LinearDiscriminantAnalysis()).fit(X, y, weights)
        repeated = reduction(LinearDiscriminantAnalysis()).fit(X[rows], y[rows])
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)
        with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit takes none: repeat or drop rows"):
            reduction(KNeighborsClassifier()).fit(X, y, weights)
        with pytest.raises(ValueError, match=r"All rows of class 1 have weight 0"):
            reduction(LinearDiscriminantAnalysis()).fit(X, y, (y != 1).astype(float))


def test_methods_exist_exactly_where_the_estimator_has_them():
    for reduction in (OneVsRest, OneVsOne):
        assert hasattr(reduction(Peer()), "predict_proba")
        assert not hasattr(reduction(LinearSVC()), "predict_proba")
        assert hasattr(reduction(LinearSVC()), "decision_function")
        neighbors = reduction(KNeighborsClassifier())
        assert not hasattr(neighbors, "decision_function")
        assert neighbors.fit(*IRIS).score(*IRIS) > 0.9


@pytest.mark.parametrize("reference", ["a", "b", "c"])
def test_reference_class(reference):
    """E9: C - 1 classifiers; who is claimed by none is the reference's."""
    X, y = IRIS
    y = np.array(["a", "b", "c"])[y]
    model = OneVsRest(LogisticRegression(alpha=0.01), reference_class=reference).fit(X, y)
    assert len(model.estimators_) == 2
    full = OneVsRest(LogisticRegression(alpha=0.01)).fit(X, y)
    others = [c for c in range(3) if "abc"[c] != reference]
    F = full.decision_function(X)[:, others]
    claimed = (F >= 0).any(axis=1)
    expected = np.where(claimed, np.array(["a", "b", "c"])[others][F.argmax(axis=1)], reference)
    assert (model.predict(X) == expected).all()
    assert (model.decision_function(X)[:, "abc".index(reference)] == 0).all()
    np.testing.assert_array_equal(model.ambiguous(X), (F >= 0).sum(axis=1) > 1)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (model.classes_[P.argmax(axis=1)] == expected).all()
    odds = P / P[:, ["abc".index(reference)]]
    p = np.column_stack([full.estimators_[c].predict_proba(X)[:, 1] for c in others])
    np.testing.assert_allclose(odds[:, others], p / (1 - p), rtol=1e-6)
    with pytest.raises(ValueError, match=r"reference_class 'z' is not among the labels \['a', 'b', 'c'\]"):
        OneVsRest(Peer(), reference_class="z").fit(X, y)


def test_reference_class_of_two():
    X, y = IRIS
    X, y = X[:100], y[:100] == 1
    plain = OneVsRest(LogisticRegression(alpha=0.01)).fit(X, y)
    for reference in (False, True):
        model = OneVsRest(LogisticRegression(alpha=0.01), reference_class=reference).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-3)
        np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-4)
        assert (model.predict(X) == plain.predict(X)).all()


@given(st.integers(0, 10_000), st.integers(3, 5))
@settings(max_examples=25)
def test_the_stated_rule_decides(seed, n_classes):
    """Votes, then summed scores, then class order; integers make ties common."""
    rng = np.random.default_rng(seed)
    y = np.arange(4 * n_classes) % n_classes
    X = rng.integers(-2, 3, size=(len(y), 2)).astype(float)
    points = rng.integers(-3, 4, size=(40, 2)).astype(float)
    for reduction in (OneVsRest(NearestCentroid()), OneVsOne(NearestCentroid())):
        model = reduction.fit(X, y)
        F = np.column_stack([e.decision_function(points) for e in model.estimators_])
        assert model.predict(points).tolist() == [by_hand(model, f) for f in F]
        votes = model.votes(points)
        most = votes.max(axis=1, keepdims=True)
        alone = (votes == most).sum(axis=1) == 1
        np.testing.assert_array_equal(model.ambiguous(points), ~alone | (most[:, 0] == 0))
        clear = ~model.ambiguous(points)
        if isinstance(model, OneVsOne):
            assert (votes.sum(axis=1) == n_classes * (n_classes - 1) // 2).all()
        assert (model.predict(points)[clear] == votes[clear].argmax(axis=1)).all()


def test_ambiguous_regions_exist_and_can_be_seen():
    """E9: three classes around the origin leave a middle that no, or every, two-class machine claims alike."""
    angles = np.pi / 2 + 2 * np.pi * np.arange(3) / 3
    centers = np.column_stack([np.cos(angles), np.sin(angles)])
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = 3 * centers[y] + 0.3 * rng.normal(size=(300, 2))
    rest = OneVsRest(LogisticRegression(alpha=1e-3)).fit(X, y)
    regions = rest.regions((-6, 6), (-5, 5), resolution=61)
    assert regions.labels.shape == regions.ambiguous.shape == (61, 61)
    assert regions.x.shape == regions.y.shape == (61,)
    assert 0.02 < regions.ambiguous.mean() < 0.98
    i, j = 45, 12
    point = np.array([[regions.x[j], regions.y[i]]])
    assert regions.labels[i, j] == rest.predict(point)[0]
    assert regions.ambiguous[i, j] == rest.ambiguous(point)[0]
    # Two machines that both claim a far corner between their classes.
    far = -20 * centers
    assert rest.ambiguous(far).all()
    assert (rest.votes(far).sum(axis=1) != 1).all()
    # One-vs-one: boundaries that do not meet in a point leave a triangle where each class has one vote.
    turned = np.vstack([X, 1.5 * centers @ np.array([[0, 1], [-1, 0]])])
    one = OneVsOne(LogisticRegression(alpha=1e-4)).fit(turned, np.append(y, [0, 1, 2]))
    triangle = one.regions((-1, 1), (-1, 1), resolution=201)
    assert triangle.ambiguous.any()
    rows, columns = np.nonzero(triangle.ambiguous)
    inside = np.column_stack([triangle.x[columns], triangle.y[rows]])
    assert (one.votes(inside) == 1).all()


@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(1, 4))
@settings(max_examples=40)
def test_a_joint_machine_has_convex_regions(seed, n_classes, d):
    """E9: f_c >= f_k at both ends of a segment holds along it, so argmax W x + b has convex, connected regions."""
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(n_classes, d)), rng.normal(size=n_classes)
    ends = 3 * rng.normal(size=(60, 2, d))
    labels = [decide(ends[:, k] @ W.T + b, np.arange(n_classes)) for k in (0, 1)]
    same = labels[0] == labels[1]
    for t in np.linspace(0, 1, 11):
        between = (1 - t) * ends[:, 0] + t * ends[:, 1]
        assert (decide(between @ W.T + b, np.arange(n_classes)) == labels[0])[same].all()


@pytest.mark.parametrize(
    "model", [LinearDiscriminantAnalysis(), GaussianNB(shared_variance=True), NearestCentroid()]
)
def test_fitted_joint_machines_have_convex_regions(model):
    X, y = IRIS
    model.fit(X, y)
    rng = np.random.default_rng(0)
    ends = rng.uniform(X.min(axis=0) - 3, X.max(axis=0) + 3, size=(300, 2, 4))
    first, second = model.predict(ends[:, 0]), model.predict(ends[:, 1])
    for t in (0.2, 0.5, 0.9):
        middle = model.predict((1 - t) * ends[:, 0] + t * ends[:, 1])
        assert (middle == first)[first == second].all()


def test_pairwise_coupling():
    """Consistent pairs give their common distribution back; else the sum of squares is least."""
    from nearline.estimators.pairs import Pairs

    rng = np.random.default_rng(0)
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
    truth = rng.dirichlet(np.ones(4), size=20)
    consistent = np.column_stack([truth[:, j] / (truth[:, i] + truth[:, j]) for i, j in pairs])
    np.testing.assert_allclose(Pairs(4).coupled(consistent), truth, atol=1e-9)
    p = rng.uniform(0.1, 0.9, size=(20, 6))

    def cost(q):
        return sum((p[:, k] * q[:, i] - (1 - p[:, k]) * q[:, j]) ** 2 for k, (i, j) in enumerate(pairs))

    best = Pairs(4).coupled(p)
    for _ in range(50):
        other = np.clip(best + 0.05 * rng.normal(size=best.shape), 0, None)
        other /= other.sum(axis=1, keepdims=True)
        assert (cost(best) <= cost(other) + 1e-12).all()
    X, y = IRIS
    model = OneVsOne(LinearDiscriminantAnalysis()).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P.argmax(axis=1) == model.predict(X)).mean() > 0.98
    assert np.isfinite(OneVsOne(KNeighborsClassifier(1)).fit(X, y).predict_proba(X)).all()


def test_tables_and_texts_go_through_to_the_estimator():
    table = pd.DataFrame({"size": [1.0, 2.0, 5.0, 6.0, 9.0, 9.5], "color": list("rrggbb")})
    labels = ["s", "s", "m", "m", "l", "l"]
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["color"]), ("passthrough", ["size"])
    )
    texts = ["goal ball", "ball team", "brush paint", "paint frame", "code bug", "bug test"]
    for reduction in (OneVsRest, OneVsOne):
        model = reduction(make_pipeline(columns, Peer())).fit(table, labels)
        assert model.predict(table).tolist() == labels
        assert model.feature_names_in_.tolist() == ["size", "color"]
        words = reduction(make_pipeline(CountVectorizer(), MultinomialNB())).fit(texts, labels)
        assert words.predict(texts).tolist() == labels
        again = pickle.loads(pickle.dumps(clone(words).fit(texts, labels)))
        assert again.predict(texts).tolist() == labels


class Certain(NearestCentroid):
    """A two-class estimator whose scores are infinite."""

    def decision_function(self, X):
        return np.where(super().decision_function(X) > 0, np.inf, -np.inf)


def test_infinite_scores_can_be_added():
    X, y = IRIS
    for reduction in (OneVsRest(Certain()), OneVsOne(Certain())):
        model = reduction.fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.predict(X).shape == (150,)


@pytest.mark.parametrize("reduction", [OneVsRest, OneVsOne])
@pytest.mark.parametrize(
    "machine",
    [
        lambda kernel: KernelLogisticRegression(kernel, alpha=0.01, tol=1e-8),
        lambda kernel: SVC(kernel=kernel),
    ],
)
def test_gram_matrices(reduction, machine):
    """A problem of two classes has the rows and the columns of these two: the same as of the kernel's rows."""
    X, y = load_iris(return_X_y=True)
    K, K_new = linear_kernel(X[::2]), linear_kernel(X[1::2], X[::2])
    own = reduction(machine("precomputed")).fit(K, y[::2])
    plain = reduction(machine("linear")).fit(X[::2], y[::2])
    np.testing.assert_allclose(
        own.decision_function(K_new), plain.decision_function(X[1::2]), rtol=1e-3, atol=1e-3
    )
    assert (own.predict(K_new) == plain.predict(X[1::2])).all()
    if isinstance(machine("linear"), KernelLogisticRegression):
        np.testing.assert_allclose(own.predict_proba(K_new), plain.predict_proba(X[1::2]), atol=1e-4)
    whole = linear_kernel(X)
    ours = cross_validate(reduction(machine("precomputed")), whole, y, folds=3).scores["accuracy"]
    peers = cross_validate(reduction(machine("linear")), X, y, folds=3).scores["accuracy"]
    np.testing.assert_allclose(ours, peers)
    both = CalibratedClassifier(reduction(machine("precomputed")), folds=3).fit(K, y[::2])
    np.testing.assert_allclose(both.predict_proba(K_new).sum(axis=1), 1.0)


def test_log_probabilities_are_not_rounded():
    X, y = load_iris(return_X_y=True)
    far = 1e3 * X
    for model in (OneVsRest(LogisticRegression()), OneVsRest(LogisticRegression(), reference_class=0)):
        fitted = model.fit(X, y)
        L, P = fitted.predict_log_proba(far), fitted.predict_proba(far)
        assert np.isfinite(L).all()
        assert (P == 0).any()
        np.testing.assert_allclose(np.exp(L[P > 0]), P[P > 0], rtol=1e-6)
        np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), fitted.predict_proba(X), rtol=1e-9)
