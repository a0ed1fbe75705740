"""Kernel machines at the ends: scales, precision, wrong input."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import nearline
from nearline import (
    GaussianProcessClassifier,
    KernelClassifier,
    KernelLeastSquares,
    KernelLogisticRegression,
    KernelNeighborsClassifier,
    KernelPerceptron,
    KernelRisk,
    KernelSVM,
    Nystroem,
    TryThemAll,
    kernel_scores,
    minimize,
)
from nearline.estimators.gaussian_process import mean_sigmoid, sigmoid
from nearline.kernels import RBF, Centered, Kernel, Linear, Normalized, Polynomial, Precomputed, Spectrum, psd
from nearline.representations.kernels import Subsequences, gram_of
from nearline.selection.families import Fold
from nearline.selection.families.kernel_neighbors import KernelNeighbors


@pytest.fixture(scope="module")
def crossed():
    X = np.random.default_rng(0).normal(size=(200, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("scale", [1e-100, 1e-25, 1e-22, 1.0, 1e20, 1e100])
def test_units_do_not_matter(crossed, scale):
    X, y = crossed
    plain = KernelSVM(alpha=1 / 2000).fit(X, y)
    scaled = KernelSVM(alpha=1 / 2000).fit(X * scale, y)
    np.testing.assert_allclose(scaled.decision_function(X * scale), plain.decision_function(X), atol=1e-2)
    result = kernel_scores(KernelSVM(), X * scale, y, ["rbf"], [1e-3])
    assert result.mean.max() == pytest.approx(
        kernel_scores(KernelSVM(), X, y, ["rbf"], [1e-3]).mean.max(), abs=0.02
    )


@pytest.mark.parametrize("scale", [1e-10, 1e-6, 1.0, 1e6])
def test_small_kernels_converge(scale):
    X = np.random.default_rng(1).normal(size=(200, 3))
    y = np.sign(X[:, 0] + 0.3 * np.random.default_rng(2).normal(size=200))
    model = KernelSVM(Linear(), alpha=scale**2 / 200).fit(X * scale, y)
    assert model.gap_ <= model.tol
    assert model.n_iter_ < 5000


def test_the_gap_is_that_of_the_kernel_at_a_large_C():
    rng = np.random.default_rng(0)
    n, C, gamma = 200, 1e5, 1e-5
    X = rng.normal(size=(n, 2))
    y = np.sign(X[:, 0] * X[:, 1])
    y[rng.random(n) < 0.2] *= -1
    model = KernelSVM(RBF(gamma), alpha=1 / (n * C)).fit(X, y)
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[:, 0]
    f = K @ beta
    primal = min(0.5 * beta @ f + C * np.maximum(0, 1 - y * (f + b)).sum() for b in y - f)
    dual = y @ beta - 0.5 * beta @ f
    null = 2 * C * min((y > 0).sum(), (y < 0).sum())
    assert (primal - dual) / null <= 2 * model.gap_ + 1e-9
    np.testing.assert_allclose(model.decision_function(X), f + model.intercept_[0], atol=1e-4)


def test_equal_rows_are_equal_in_float32():
    X = np.random.default_rng(0).random((100, 2)).astype(np.float32)
    X[50:] = X[:50]
    np.testing.assert_allclose(RBF(1e6)(X)[np.arange(50), np.arange(50, 100)], 1.0, atol=1e-6)


def test_overflow_is_said(crossed):
    X, y = crossed
    with pytest.raises(ValueError, match="overflow"):
        KernelSVM(RBF(1.0)).fit(X * 1e160, y)
    for machine in (KernelLeastSquares(Linear()), KernelSVM(Linear())):
        with pytest.raises(ValueError, match="overflow"), np.errstate(all="ignore"):
            machine.fit((X * 1e25).astype(np.float32), y)


def test_scores_of_a_given_matrix(crossed):
    X, y = crossed
    K = RBF(1.0)(X)
    given = kernel_scores(KernelSVM(), K, y, ["precomputed"], [1e-2])
    np.testing.assert_allclose(
        given.scores, kernel_scores(KernelSVM(), X, y, [RBF(1.0)], [1e-2]).scores, atol=0.03
    )
    with pytest.raises(ValueError, match="200 rows and y 50 labels"):
        kernel_scores(KernelSVM(), X, y[:50], ["rbf"], [1e-2])
    with pytest.raises(ValueError, match="'class_weight' is set"):
        kernel_scores(KernelSVM(class_weight="balanced"), X, y, ["rbf"], [1e-2])


def test_what_was_fitted_stays(crossed):
    X = crossed[0]
    y = np.arange(200) % 4
    model = KernelSVM().fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(multiclass="one-vs-rest").predict(X), before)
    assert model.fit(X, y).pairs_ is None
    ridge = KernelLeastSquares(alpha=[1e-3, 1e-2]).fit(X, y).set_params(alpha=0.1).fit(X, y)
    assert not [name for name in ("alphas_", "loo_score_", "loo_scores_") if name in vars(ridge)]
    assert Centered(Linear()).fitted(X[:9]) != Centered(Linear()).fitted(X[9:])


def test_frames_of_strings():
    frame = pd.DataFrame({"text": ["abc", "xyz"] * 3})
    model = KernelSVM(Spectrum(2)).fit(frame, [0, 1] * 3)
    assert model.predict(pd.DataFrame({"text": ["abd", "xy", "abc"]})).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="one column"):
        model.predict(pd.DataFrame({"a": ["x"], "b": ["y"]}))
    with pytest.raises(ValueError, match="no order"):
        model.predict({"abc", "xyz"})


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        (KernelSVM(max_iter=0), "max_iter must be a whole number >= 1"),
        (KernelSVM(max_iter=-1), "max_iter must be"),
        (KernelSVM(tol=float("nan")), "tol must be a number > 0"),
        (KernelSVM(tol=0.0), "tol must be"),
        (KernelSVM(memory="1GB"), "memory must be"),
    ],
)
def test_limits_are_checked(machine, sentence, crossed):
    with pytest.raises(ValueError, match=sentence):
        machine.fit(*crossed)


def test_matrices_that_are_no_gram_matrices(crossed):
    A = np.random.default_rng(2).normal(size=(60, 60))
    # No features, so no risk and no certificate either.
    for machine in (KernelLogisticRegression, KernelSVM, KernelLeastSquares, KernelClassifier):
        with pytest.raises(ValueError, match=r"no Gram matrix.*smallest eigenvalue is -"):
            machine("precomputed").fit(A + A.T, crossed[1][:60])
    with pytest.warns(UserWarning, match="no Gram matrix"):
        KernelPerceptron("precomputed").fit(A + A.T, crossed[1][:60])
    for make in (
        lambda: 2.0 * Precomputed(),
        lambda: Normalized(Precomputed()),
        lambda: Precomputed() + Precomputed(),
    ):
        with pytest.raises(ValueError, match="as a matrix"):
            make()


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(x . x' - 1): its 2 x 2 minors do not always show that it is no inner product."""

    def among(self, items):
        return self.between(items, items)

    def between(self, A, B):
        return np.tanh(A @ B.T - 1.0)

    def diagonal(self, items):
        return np.tanh(np.square(items).sum(axis=1) - 1.0)


@dataclass(frozen=True)
class Negative(Kernel):
    """- a . b"""

    def among(self, items):
        return -(items @ items.T)

    def between(self, A, B):
        return -(A @ B.T)

    def diagonal(self, items):
        return -(items * items).sum(axis=1)


@dataclass(frozen=True)
class Thin(Kernel):
    """1 where |x - x'| < 1: a diagonal of ones, entries of at most one, and yet no inner product."""

    def among(self, items):
        return self.between(items, items)

    def between(self, A, B):
        return (np.abs(A - B.T) < 1.0).astype(float)

    def diagonal(self, items):
        return np.ones(len(items))


@pytest.mark.parametrize("kernel", [Sigmoid(), Thin(), 2.0 * Thin() + RBF(1.0)], ids=repr)
@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
def test_indefinite_kernels_of_ones_own_are_refused(kernel, loss, crossed, monkeypatch):
    X, y = crossed[0][:, :1], crossed[1]
    for factored in (psd.FACTORED, 10):
        monkeypatch.setattr(psd, "FACTORED", factored)
        with pytest.raises(ValueError, match=r"no Gram matrix.*smallest eigenvalue is -"):
            minimize(KernelRisk(kernel, X, y, loss=loss))
        if loss == "hinge":
            with pytest.raises(ValueError, match=r"no Gram matrix.*smallest eigenvalue is -"):
                KernelSVM("precomputed").fit(kernel(X), y)


@pytest.mark.parametrize("factored", [10, 1000])
def test_gram_matrices_are_not_called_indefinite(crossed, factored, monkeypatch):
    monkeypatch.setattr(psd, "FACTORED", factored)
    X = crossed[0]
    for kernel in (RBF(0.1), RBF(100.0), Linear(), Polynomial(5), Centered(RBF(1.0))):
        K = kernel(X)
        assert not psd.is_indefinite(K)
        assert not psd.is_indefinite(K.astype(np.float32))
    assert not psd.is_indefinite(np.zeros((20, 20)))
    for scale in (1e-200, 1e200):
        assert not psd.is_indefinite(scale * RBF(1.0)(X))
        assert psd.is_indefinite(scale * Thin()(X[:, :1]))


def test_only_a_class_that_says_so_itself_is_known_to_be_positive():
    @dataclass(frozen=True)
    class Own(RBF):
        pass

    assert RBF().known_positive
    assert (RBF() + 2.0 * Normalized(Linear())).known_positive
    assert not Own().known_positive
    assert not (RBF() * Own()).known_positive
    assert not Precomputed().known_positive


def test_a_class_without_weight_is_refused_for_strings_too():
    texts, y = ["abc", "abd", "xyz", "xyy"], np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="at least 2 classes with positive"):
        KernelSVM(Spectrum(2)).fit(texts, y, [1, 1, 0, 0])


@pytest.mark.parametrize("deviation", [0.1, 1.9, 2.1, 10.0, 1000.0])
def test_mean_of_the_sigmoid(deviation):
    mean = np.array([-3.0, 0.0, 0.5, 20.0])
    z = np.linspace(-12, 12, 200_001)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    exact = [(sigmoid(m + deviation * z) * density).sum() for m in mean]
    np.testing.assert_allclose(mean_sigmoid(mean, np.full(4, deviation)), exact, atol=2e-4)


def test_processes_of_several_classes_on_a_matrix(crossed):
    X = crossed[0]
    K = RBF(1.0)(X)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    assert GaussianProcessClassifier("precomputed").fit(K, y).score(K, y) > 0.9


def test_by_parts_keeps_its_limits(crossed):
    X, y = crossed
    with pytest.warns(nearline.ConvergenceWarning):
        model = KernelSVM(alpha=1e-8, memory=2000, max_iter=300).fit(X, y)
    assert model.n_iter_ <= 300


def test_neighbors_in_a_contest_are_those_of_the_model():
    """Strings shorter than a subsequence have no features: k(x, x) = 0."""
    rng = np.random.default_rng(0)
    short = ["".join(rng.choice(list("ab"), 2)) for _ in range(30)]
    long = ["".join(rng.choice(list("cdefgh"), 8)) for _ in range(30)]
    texts, y = np.array([*short, *long], dtype=object), np.repeat([0, 1], 30)
    K = gram_of(Subsequences.kernel, list(texts))
    train = np.arange(60) % 3 > 0
    fold = Fold(
        K[np.ix_(train, train)],
        y[train],
        None,
        K[np.ix_(~train, train)],
        np.arange(2),
        True,
        np.diagonal(K)[~train],
    )
    (outcome,) = KernelNeighbors().outcomes(fold, [{"n_neighbors": 3, "weights": "uniform"}])
    model = KernelNeighborsClassifier(3, kernel=Subsequences.kernel).fit(texts[train], y[train])
    np.testing.assert_array_equal(outcome.predictions.labels, model.predict(texts[~train]))


def test_a_gram_matrix_has_no_time(monkeypatch):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("acgt"), 40)) for _ in range(60)]
    assert 0.0 < Subsequences().seconds(texts) < Subsequences().seconds(texts * 10)
    monkeypatch.setattr(Subsequences, "seconds", lambda self, X: 2e6)
    contest = TryThemAll(include=["majority", "kernel SVM"], time_limit=1e6, progress="silent")
    contest.fit(texts, np.arange(60) % 2)
    (skipped,) = [one for one in contest.leaderboard_.skipped if one.representation == Subsequences.name]
    assert skipped.reason.startswith("its Gram matrix would take about 2000000 s, more than the ")
    assert skipped.reason.endswith(" s that the time limit leaves")


def test_maps_have_names(crossed):
    X = crossed[0]
    frame = Nystroem(n_components=5).set_output(transform="pandas").fit(X).transform(X)
    assert frame.columns.tolist() == [f"nystroem{i}" for i in range(5)]


def test_neighbors_have_no_negative_squared_distances():
    """Among items of an indefinite kernel there are no distances to vote by."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = KernelNeighborsClassifier(3, kernel=Negative()).fit(X, np.arange(30) % 2)
    with pytest.raises(ValueError, match=r"the squared distance -.*not positive semi-definite"):
        model.predict(X)


def test_a_posterior_that_rounding_hides_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"values up to .*lost in rounding: scale the features"):
        GaussianProcessClassifier(Polynomial(20)).fit(X, y)
