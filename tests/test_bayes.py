"""Naive Bayes against loops over rows, scikit-learn, and what must hold for weights and batches."""

import pickle

import numpy as np
import pytest
import sklearn.naive_bayes as peers
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearline import BernoulliNB, GaussianNB, MultinomialNB
from oracle_generative import bernoulli_scores, gaussian_scores, multinomial_scores

MODELS = [MultinomialNB(), BernoulliNB(), GaussianNB(), GaussianNB(shared_variance=True)]


def counts(n=60, d=7, n_classes=3, seed=0, lowest=0.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    rates = lowest + rng.gamma(1.0, 1.5, size=(n_classes, d))
    return rng.poisson(rates[y]).astype(float), y


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# The plain models are checked in test_estimators.
@parametrize_with_checks([GaussianNB(shared_variance=True), BernoulliNB(binarize=0.5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_scores_equal_the_formula(n_classes, sparse):
    """E10: one row at a time, by the definition."""
    X, y = counts(24, 4, n_classes)
    weights = np.random.default_rng(1).uniform(0.2, 2.0, len(y))
    given_X = csr_matrix(X) if sparse else X
    cases = [
        (MultinomialNB(smoothing=0.3), lambda x: multinomial_scores(X, y, weights, x, 0.3)),
        (BernoulliNB(smoothing=0.3, binarize=1.0), lambda x: bernoulli_scores(X, y, weights, x, 0.3, 1.0)),
        (GaussianNB(smoothing=1e-3), lambda x: gaussian_scores(X, y, weights, x, 1e-3, False)),
        (
            GaussianNB(smoothing=1e-3, shared_variance=True),
            lambda x: gaussian_scores(X, y, weights, x, 1e-3, True),
        ),
    ]
    for model, reference in cases:
        expected = np.array([reference(x) for x in X.tolist()])
        model.fit(given_X, y, weights)
        scores = model.decision_function(given_X)
        if n_classes == 2:
            assert scores.shape == (24,)
            np.testing.assert_allclose(scores, expected[:, 1] - expected[:, 0], atol=1e-9)
        else:
            np.testing.assert_allclose(
                scores - scores.mean(axis=1, keepdims=True),
                expected - expected.mean(axis=1, keepdims=True),
                atol=1e-9,
            )
        np.testing.assert_allclose(model.predict_proba(given_X), softmax(expected), atol=1e-10)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(given_X)), softmax(expected), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("model", "peer"),
    [
        (MultinomialNB(), peers.MultinomialNB()),
        (MultinomialNB(smoothing=0.01, priors="uniform"), peers.MultinomialNB(alpha=0.01, fit_prior=False)),
        (MultinomialNB(priors=[0.5, 0.2, 0.3]), peers.MultinomialNB(class_prior=[0.5, 0.2, 0.3])),
        (BernoulliNB(binarize=1.0), peers.BernoulliNB(binarize=1.0)),
        (GaussianNB(smoothing=0), peers.GaussianNB(var_smoothing=0)),
        (
            GaussianNB(smoothing=0, priors=[0.5, 0.2, 0.3]),
            peers.GaussianNB(var_smoothing=0, priors=[0.5, 0.2, 0.3]),
        ),
    ],
)
def test_equal_to_scikit_learn(model, peer, sparse, dtype):
    X, y = counts(300, 12, lowest=0.5)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    X = X.astype(dtype)
    given_X = csr_matrix(X) if sparse else X
    model, peer = clone(model).fit(given_X, y, weights), clone(peer).fit(X.astype(float), y, weights)
    atol = 1e-5 if dtype == np.float32 else 1e-7
    np.testing.assert_allclose(model.predict_proba(given_X), peer.predict_proba(X.astype(float)), atol=atol)
    assert (model.predict(given_X) == peer.predict(X.astype(float))).all()


@pytest.mark.parametrize(
    "model", [MultinomialNB(), BernoulliNB(binarize=1.0), GaussianNB(shared_variance=True)]
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_linear_models_expose_their_weights(model, n_classes):
    """E10: W, b exposed where the classifier is linear."""
    X, y = counts(40, 5, n_classes)
    model = clone(model).fit(X, y)
    Z = (X > 1.0).astype(float) if isinstance(model, BernoulliNB) else X
    assert model.coef_.shape == (1 if n_classes == 2 else n_classes, 5)
    scores = Z @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores[:, 0] if n_classes == 2 else scores)
    assert not hasattr(GaussianNB().fit(X, y), "coef_")


def test_float32_is_kept():
    X, y = counts()
    for model in (MultinomialNB(), BernoulliNB(), GaussianNB(shared_variance=True)):
        model.fit(X.astype(np.float32), y)
        assert model.coef_.dtype == model.intercept_.dtype == np.float32
        assert model.decision_function(X.astype(np.float32)).dtype == np.float32


@given(st.data())
@settings(max_examples=40)
def test_integer_weights_equal_repeated_rows(data):
    """E12: for any counts, with ties, duplicates, constant columns and classes of one row."""
    n, d = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 4))
    X = np.array(
        data.draw(st.lists(st.lists(st.integers(0, 3), min_size=d, max_size=d), min_size=n, max_size=n)),
        float,
    )
    y = np.array(data.draw(st.lists(st.sampled_from(["b", "a", "c"]), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    y[:2], weights[:2] = ["a", "b"], np.maximum(weights[:2], 1)
    rows = np.repeat(np.arange(n), weights)
    # Classes of one row have variance 0: at the default smoothing their scores are of size 1e9, and ties are rounding.
    for model in [*MODELS[:2], *(clone(m).set_params(smoothing=1e-3) for m in MODELS[2:])]:
        weighted = clone(model).fit(X, y, weights)
        repeated = clone(model).fit(X[rows], y[rows])
        kept = np.isin(weighted.classes_, repeated.classes_)
        np.testing.assert_allclose(weighted.predict_proba(X)[:, kept], repeated.predict_proba(X), atol=1e-7)
        assert not weighted.predict_proba(X)[:, ~kept].any()
        sparse = clone(model).fit(csr_matrix(X), y, weights)
        np.testing.assert_allclose(sparse.predict_proba(csr_matrix(X)), weighted.predict_proba(X), atol=1e-6)


@given(st.integers(0, 10_000), st.integers(2, 6))
@settings(max_examples=20)
def test_batches_give_the_fit_of_all_rows(seed, n_batches):
    """E12: partial_fit is exact, whatever the batches, also when they lack classes."""
    rng = np.random.default_rng(seed)
    X, y = counts(40, 5, 3, seed)
    X[:, 0] += 1e6  # far from the origin
    weights = rng.uniform(0, 2, 40)
    order = np.argsort(y, kind="stable") if seed % 2 else rng.permutation(40)
    for model in MODELS:
        whole, online = clone(model).fit(X, y, weights), clone(model)
        for rows in np.array_split(order, n_batches):
            online.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weights[rows])
        np.testing.assert_allclose(
            online.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-6, atol=1e-6
        )
        refitted = online.fit(X[:, 1:], y)  # fit forgets the batches
        np.testing.assert_array_equal(
            refitted.predict(X[:, 1:]), clone(model).fit(X[:, 1:], y).predict(X[:, 1:])
        )


def test_a_class_that_has_not_come_yet_is_never_predicted():
    X, y = counts(30, 4, 2)
    for model in MODELS:
        model = clone(model).partial_fit(X, y, classes=[0, 1, 2])
        P = model.predict_proba(X)
        assert np.isfinite(P).all()
        assert (P[:, 2] == 0).all()
        with pytest.raises(ValueError, match="label 7, which is not among the classes"):
            model.partial_fit(X, np.full(30, 7))


@pytest.mark.parametrize("labels", [[-1, 1], ["no", "yes"], [False, True], [2.0, 5.0]])
def test_labels_come_back_as_they_came(labels):
    """A1."""
    X, y = counts(40, 5, 2)
    labels = np.array(labels)
    for model in MODELS:
        model = clone(model).fit(X, labels[y])
        assert model.predict(X).dtype == labels.dtype
        positive = model.decision_function(X) >= 0
        assert (model.predict(X) == labels[positive.astype(int)]).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_negative_counts_are_refused_with_their_place(sparse):
    X, y = counts(10, 3, 2)
    X[7, 2] = -2.5
    with pytest.raises(ValueError, match=r"X\[7, 2\] = -2.5.*Give counts.*GaussianNB"):
        MultinomialNB().fit(csr_matrix(X) if sparse else X, y)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (MultinomialNB(smoothing=0), r"smoothing must be a number > 0, got 0.*try 1e-10"),
        (MultinomialNB(smoothing="one"), r"smoothing must be a number > 0, got 'one'"),
        (BernoulliNB(smoothing=-1), r"smoothing must be a number > 0, got -1"),
        (GaussianNB(smoothing=np.nan), r"smoothing must be a number >= 0, got nan"),
        (GaussianNB(priors="even"), r"priors must be 'empirical', 'uniform'"),
        (GaussianNB(priors=[0.5, 0.5]), r"priors has shape \(2,\), but there are 3 classes"),
        (MultinomialNB(priors=[0.5, 0.2, 0.2]), r"sum to 1.*divide them by their sum"),
        (BernoulliNB(binarize=None), r"takes zeros and ones, but X\[\d+, \d+\] = .*Set binarize"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(*counts())


def test_bernoulli_on_sparse_rows():
    """Stored zeros, entries given twice, and a threshold that would fill the matrix."""
    X, y = counts(30, 4, 2)
    rows, columns = np.nonzero(np.ones_like(X))
    half = np.concatenate([X.ravel() / 2, X.ravel() / 2])
    twice = coo_matrix((half, (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape)
    dense = BernoulliNB(binarize=1.0).fit(X, y)
    np.testing.assert_allclose(BernoulliNB(binarize=1.0).fit(twice, y).coef_, dense.coef_)
    with pytest.raises(ValueError, match=r"every zero of a sparse X a one.*dense X, or a threshold >= 0"):
        BernoulliNB(binarize=-1.0).fit(csr_matrix(X), y)


@pytest.mark.parametrize("load", [load_digits, load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("smoothing", [1e-9, 1e-3, 1.0])
def test_gaussian_is_the_usual_rule(load, smoothing):
    """A share of the largest variance: scikit-learn's model, on data with constant and with badly scaled columns."""
    X, y = load(return_X_y=True)
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    model = GaussianNB(smoothing=smoothing).fit(X[train], y[train])
    peer = peers.GaussianNB(var_smoothing=smoothing).fit(X[train], y[train])
    varies = X[train].std(axis=0) > 0
    assert model.epsilon_ == pytest.approx(peer.epsilon_, rel=1e-12)
    np.testing.assert_allclose(model.var_[:, varies], peer.var_[:, varies], rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(model.predict_proba(X[test]), peer.predict_proba(X[test]), atol=1e-5)
    np.testing.assert_array_equal(model.predict(X[test]), peer.predict(X[test]))
    sparse = GaussianNB(smoothing=smoothing).fit(csr_matrix(X[train]), y[train])
    assert sparse.epsilon_ == pytest.approx(peer.epsilon_, rel=1e-9)


def test_gaussian_in_parts_is_the_whole():
    """Smoothing is that of all rows seen, not of the last part."""
    X, y = load_digits(return_X_y=True)
    whole, parts = GaussianNB().fit(X, y), GaussianNB()
    for rows in np.array_split(np.arange(len(y)), 5):
        parts.partial_fit(X[rows], y[rows], classes=range(10))
    np.testing.assert_allclose(parts.var_, whole.var_, rtol=1e-9)


def test_gaussian_is_exact_far_from_the_origin_and_in_any_units():
    """Offsets of 1e9 deviations, and units for all features, change nothing but rounding of the data themselves."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.integers(-8, 8, size=(90, 4)) + 3.0 * y[:, None]
    for shared in (False, True):
        plain = GaussianNB(shared_variance=shared).fit(X, y)
        far = GaussianNB(shared_variance=shared).fit(X + 1e9, y)
        np.testing.assert_allclose(far.predict_log_proba(X + 1e9), plain.predict_log_proba(X), atol=1e-5)
        units = 1e-12
        other = GaussianNB(shared_variance=shared).fit(X * units, y)
        np.testing.assert_allclose(other.predict_log_proba(X * units), plain.predict_log_proba(X), atol=1e-6)


def test_gaussian_features_that_do_not_vary():
    """A constant feature says nothing; one that is constant within classes decides; without smoothing it is refused."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + y[:, None]
    constant = np.column_stack([X, np.full(40, 0.1)])
    for shared in (False, True):
        model = GaussianNB(shared_variance=shared)
        expected = clone(model).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(
            clone(model).fit(constant, y).predict_proba(constant), expected, atol=1e-12
        )
        apart = np.column_stack([X, 5.0 * y])
        assert (clone(model).fit(apart, y).predict(apart) == y).all()
        with pytest.raises(ValueError, match=r"column 2 of X is constant within a class.*smoothing > 0"):
            GaussianNB(smoothing=0, shared_variance=shared).fit(apart, y)
    assert (GaussianNB().fit(np.ones((4, 2)), [0, 1, 1, 1]).predict(np.ones((4, 2))) == 1).all()


def test_large_scores_stay_finite():
    X, y = counts(20, 5, 2)
    for model in MODELS:
        model = clone(model).fit(X, y)
        with np.errstate(all="raise", under="ignore"):
            P = model.predict_proba(X * 1e6)
        assert np.isfinite(P).all()
        np.testing.assert_allclose(P.sum(axis=1), 1.0)


def test_strongest_words_and_pickling():
    """E14 for text models."""
    X = np.array([[3, 0, 1], [2, 0, 1], [0, 4, 1]])
    model = MultinomialNB().fit(X, ["ball", "ball", "paint"])
    names = ["goal", "brush", "the"]
    assert model.strongest_features(1, names)["paint"][0][0] == "brush"
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
