"""MetricLearner and Learned: neighbors get better where they can, learned inside the training rows, never worse by choice."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier as TheirNeighbors
from sklearn.preprocessing import StandardScaler

import nearline
from nearline import (
    EMBEDDING_LOSSES,
    Index,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Learned,
    MetricLearner,
    sweep,
)
from nearline.losses.embedding import NCA, Triplet
from nearline.neighbors.learning.batches import balanced, parts
from nearline.neighbors.learning.blends import beside, blended, mean_square
from nearline.neighbors.learning.descent import SAMPLE, Problem
from nearline.neighbors.learning.held_out import is_better, wrong_votes
from nearline.neighbors.learning.maps import HiddenMap, LinearMap
from nearline.neighbors.learning.starts import discriminant, principal


def xor(n=600, noise=10, seed=0):
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2 + noise))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_xor_among_noise():
    X, y = xor(1000)
    models = KNeighborsClassifier(), KNeighborsClassifier(metric=Learned("nca"))
    plain, learned = (model.fit(X[:400], y[:400]).score(X[400:], y[400:]) for model in models)
    assert plain < 0.75
    assert learned >= 0.85


def test_noise_is_left_plain():
    """Where there is nothing to learn, the plain distance is taken."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 6)), np.arange(150) % 2
    assert KNeighborsClassifier(metric=Learned("nca")).fit(X, y).index_.metric.name == "l2"
    learned = KNeighborsClassifier(metric=Learned("nca", compare=False)).fit(X, y)
    assert learned.index_.metric.name == "learned"


def test_the_metric_is_the_transformer():
    X, y = xor(200, 6)
    metric = Learned("nca", dim=4, random_state=1).fit(X, y)
    learner = MetricLearner("nca", dim=4, random_state=1).fit(X, y)
    np.testing.assert_allclose(metric.map, learner.components_, rtol=1e-12)
    Z = learner.transform(X)
    np.testing.assert_allclose(Z, (X - learner.mean_) @ learner.components_.T, rtol=1e-7, atol=1e-9)
    found = Index(X, metric).search(X[:20], 5)
    np.testing.assert_array_equal(found.indices, Index(Z).search(Z[:20], 5).indices)
    assert learner.held_out_errors_.min() < learner.plain_error_
    assert learner.better_
    assert len(learner.objective_path_) == learner.held_out_errors_.argmin()


@pytest.mark.parametrize("loss", EMBEDDING_LOSSES)
@pytest.mark.parametrize("hidden", [0, 3])
def test_every_loss_falls(loss, hidden):
    X, y = xor(200, 4)
    learner = MetricLearner(loss, dim=3, hidden=hidden, rounds=3, start="pca").fit(X, y)
    assert learner.objective_path_[-1] < learner.objective_path_[0] + 1e-9
    Z = learner.transform(X)
    assert Z.shape == (200, 3)
    if EMBEDDING_LOSSES[loss].on_sphere:
        np.testing.assert_allclose((Z**2).sum(axis=1), 1.0)
    assert learner.transform(X.astype(np.float32)).dtype == np.float32


def test_hidden_units_bend_what_no_linear_map_can():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (np.hypot(*X.T) // 0.4 % 2).astype(int)
    learner = MetricLearner("nca", hidden=30, weight_decay=1e-5, rounds=12, start="pca").fit(X, y)
    linear = MetricLearner("nca", weight_decay=1e-5, rounds=12, start="pca").fit(X, y)
    assert learner.objective_path_[-1] < 0.8 * linear.objective_path_[-1]


@pytest.mark.parametrize("map", [LinearMap(2, 4), HiddenMap(2, 4, 3)])
def test_gradients_of_maps(map):
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(30, 4)), np.arange(30) % 3
    problem = Problem(X, t, NCA(), map, 0.1)
    at = rng.normal(size=map.size)
    gradient = problem.at(at, slice(None), map.size)[1]

    def value(p):
        Z = map.forward(p, X)[0]
        weights = map.weights(p)
        return NCA().value(Z, t) + 0.1 * weights @ weights

    slow = [(value(at + e) - value(at - e)) / 2e-6 for e in 1e-6 * np.eye(map.size)]
    np.testing.assert_allclose(gradient, slow, atol=2e-5)  # the gradient is that of float32


@pytest.mark.parametrize(
    "model", [MetricLearner(dim=3), MetricLearner("triplet", 3), MetricLearner(hidden=2, dim=3)]
)
def test_the_same_bits_on_any_number_of_threads(model):
    X, y = xor(160, 3)
    many = clone(model).fit(X, y)
    with nearline.num_threads(1):
        one = clone(model).fit(X, y)
    np.testing.assert_array_equal(many._parameters, one._parameters)
    np.testing.assert_array_equal(many.transform(X), one.transform(X))


def test_many_rows_are_learned_from_samples():
    X, y = xor(SAMPLE + 700, 2)
    model = KNeighborsClassifier(metric=Learned("nca", start="pca")).fit(X[::2], y[::2])
    large = MetricLearner(start="pca", rounds=2, random_state=3).fit(X, y)
    assert len(large.objective_path_) == 2
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_partial_fit():
    X, y = xor(900, 4)
    learner = MetricLearner("nca", dim=6, start="pca")
    for i in range(15):
        part = slice(100 * (i % 6), 100 * (i % 6) + 300)
        learner.partial_fit(X[part], y[part], classes=["other", "same"])
    assert len(learner.objective_path_) == 15
    assert learner.objective_path_[-5:].mean() < 0.8 * learner.objective_path_[0]
    with pytest.raises(ValueError, match="labels that the first call did not name: \\['third'\\]"):
        learner.partial_fit(X[:3], ["same", "other", "third"])
    proxies = MetricLearner("normface", dim=2).partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    assert proxies.proxies_.shape == (2, 2)


def test_a_sweep_learns_in_each_fold():
    X, y = xor(150, 2)
    folds = np.arange(150) % 3
    metric = Learned("nca", start="pca")
    alone = [
        KNeighborsClassifier(5, metric=metric)
        .fit(X[folds != f], y[folds != f])
        .score(X[folds == f], y[folds == f])
        for f in range(3)
    ]
    np.testing.assert_array_equal(sweep(X, y, [5], metrics=[metric], folds=folds).scores[0, 0, 0], alone)
    X, y = xor(450, 2)
    with pytest.raises(ValueError, match="learned from"):
        sweep(X, y, [5], metrics=[metric.fit(X, y)], folds=np.arange(450) % 3)


def test_files(tmp_path):
    X, y = xor(120, 2)
    for model in (
        KNeighborsClassifier(metric=Learned(NCA(log=True), dim=3)),
        MetricLearner(Triplet(), dim=2, hidden=2),
    ):
        model.fit(X, y)
        nearline.save(model, tmp_path / "model.nearline")
        loaded = nearline.load(tmp_path / "model.nearline")
        assert repr(loaded) == repr(model)
        act = "predict_proba" if isinstance(model, KNeighborsClassifier) else "transform"
        np.testing.assert_array_equal(getattr(loaded, act)(X), getattr(model, act)(X))
    index = Index(X, Learned("nca", dim=3).fit(X, y))
    index.save(tmp_path / "index.npz")
    np.testing.assert_array_equal(
        Index.load(tmp_path / "index.npz").search(X, 3).indices, index.search(X, 3).indices
    )


def test_starts():
    X, y = wine()
    A = principal(X, 13)
    np.testing.assert_allclose(A @ A.T, np.eye(13), atol=1e-10)
    np.testing.assert_allclose(np.abs(principal(X, 2)), np.abs(np.linalg.svd(X)[2][:2]), atol=1e-8)
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    theirs = LinearDiscriminantAnalysis(solver="eigen", shrinkage=1e-3).fit(X, y).transform(X)
    ours = X @ discriminant(X, y, 2).T
    assert np.abs(np.corrcoef(ours.T, theirs.T)[:2, 2:]).max(axis=1).min() > 0.99
    assert discriminant(X, y, 13).shape == (13, 13)
    few = principal(X[:5], 8)
    np.testing.assert_allclose(few @ few.T, np.eye(8), atol=1e-8)


def test_held_out_votes_are_those_of_scikit_learn():
    X, y = wine()
    right = []
    for k in (1, 3, 5, 9):
        shares = TheirNeighbors(k).fit(X[::2], y[::2]).predict_proba(X[1::2])
        chances = np.exp(2.0 * np.sqrt(k) * shares)
        right.append(chances[np.arange(len(shares)), y[1::2]] / chances.sum(axis=1))
    np.testing.assert_allclose(
        wrong_votes(X[::2], y[::2], X[1::2], y[1::2]), 1.0 - np.mean(right, axis=0), rtol=1e-9
    )
    assert wrong_votes(X[:2], y[:2], X[2:5], y[2:5]).shape == (3,)  # fewer rows than neighbors that vote
    some, none = np.ones(10), np.zeros(10)
    assert is_better(some, none)
    assert not is_better(none, some)
    assert not is_better(some[:1], none[:1])


def test_a_blend_is_both_distances():
    """Squared distances of the map are those of its parts, by shares; fewer rows than columns or more."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    X /= np.sqrt(mean_square(X))
    for d in (2, 6, 9):
        A = rng.normal(size=(d, 6))
        Z = X @ A.T
        size = mean_square(Z)
        B = blended(A, size, 0.8)
        assert B.shape == (6, 6)
        mixed = 0.8 / size * ((Z - Z[0]) ** 2).sum(axis=1) + 0.2 * ((X - X[0]) ** 2).sum(axis=1)
        np.testing.assert_allclose((((X - X[0]) @ B.T) ** 2).sum(axis=1), mixed, rtol=1e-9, atol=1e-12)
        both = beside(Z, X, size, 0.8)
        np.testing.assert_allclose(((both - both[0]) ** 2).sum(axis=1), mixed, rtol=1e-9, atol=1e-12)
        assert blended(A, size, 1.0) is A


def test_noise_is_rarely_learned():
    learned = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n, D, C = [(60, 5, 2), (150, 6, 2), (90, 8, 3)][seed % 3]
        learned.append(Learned("nca").fit(rng.normal(size=(n, D)), np.arange(n) % C).name == "learned")
    assert sum(learned) <= 2


def test_batches_are_balanced():
    codes = np.repeat([0, 1, 2], [500, 40, 10])
    rows = balanced(codes, 90, np.random.default_rng(0))
    assert np.bincount(codes[rows]).tolist() == [40, 40, 10]
    of_parts = parts(codes, 4, np.random.default_rng(0))
    for c, n in enumerate([500, 40, 10]):
        assert np.ptp(np.bincount(of_parts[codes == c], minlength=4)) <= 1, n


def test_progress_is_printed(capsys):
    X, y = xor(100, 2)
    MetricLearner(rounds=1, progress=True).fit(X, y)
    assert "round 1: objective" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: Learned("circle"), "looks at directions.*MetricLearner"),
        (lambda X, y: Learned("nca", dim=0), "dim must be None or a whole number"),
        (lambda X, y: Learned("nca", start="random"), "start must be one of 'auto', 'pca', 'lda'"),
        (lambda X, y: Learned("nca", weight_decay=-1.0), "weight_decay must be"),
        (lambda X, y: Learned("nca", dim=7).fit(X, y), "dim is 7, but the rows have 6 features"),
        (lambda X, y: Learned("nca").fit(X, np.zeros(30)), "at least 2 classes, but y has 1 class"),
        (lambda X, y: Learned("nca").fit(X, np.arange(30)), "each of the 30 classes has one row"),
        (lambda X, y: Index(X, Learned("nca")), "there are no labels"),
        (lambda X, y: KNeighborsRegressor(metric=Learned("nca")).fit(X, X[:, 0]), "there are no labels"),
        (lambda X, y: MetricLearner(hidden=-1).fit(X, y), "hidden must be a whole number"),
        (lambda X, y: MetricLearner("hinge").fit(X, y), "Unknown embedding loss 'hinge'"),
        (lambda X, y: MetricLearner().fit(X * np.nan, y), "NaN"),
    ],
)
def test_what_makes_no_sense(make, message):
    X, y = xor(30, 4)
    with pytest.raises(ValueError, match=message):
        make(X, y)


def test_wide_rows_are_learned_in_the_space_that_they_span():
    """Few rows of many features: the map looks at directions that rows have, and measures as one learned there."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 400)), np.arange(60) % 3
    X[:, :3] += 4.0 * np.eye(3)[y]
    learner = MetricLearner("nca", dim=4, rounds=2).fit(X, y)
    A = learner.transform(np.eye(400)) - learner.transform(np.zeros((1, 400)))  # (400, 4)
    Q = np.linalg.qr((X - X.mean(axis=0)).T)[0]
    np.testing.assert_allclose(A, Q @ (Q.T @ A), atol=1e-3 * np.abs(A).max())
    from sklearn.decomposition import PCA

    rotated = PCA(59).fit_transform(X)
    other = MetricLearner("nca", dim=4, rounds=2).fit(rotated, y).transform(rotated)
    near = [np.argsort(((Z[:, None] - Z) ** 2).sum(2), axis=1)[:, 1] for Z in (learner.transform(X), other)]
    assert (y[near[0]] == y).mean() >= (y[near[1]] == y).mean() - 0.1
