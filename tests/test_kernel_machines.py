"""Kernel machines against LIBSVM, scikit-learn and slow obvious code."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_circles
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process import GaussianProcessClassifier as PeerProcess
from sklearn.gaussian_process.kernels import RBF as PeerRBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearline
from nearline import (
    GaussianProcessClassifier,
    KernelLeastSquares,
    KernelLogisticRegression,
    KernelNeighborsClassifier,
    KernelPerceptron,
    KernelSVM,
    LeastSquaresClassifier,
    LinearSVM,
    LogisticRegression,
    Nystroem,
    Perceptron,
    RandomFourierFeatures,
)
from nearline.kernels import RBF, Linear, Normalized, Polynomial, Precomputed
from nearline.solvers.smo import Problem, certificates, smo

MACHINES = [
    KernelSVM(),
    KernelSVM(multiclass="one-vs-rest"),
    KernelLeastSquares(),
    KernelLogisticRegression(),
    KernelPerceptron(),
    KernelPerceptron(averaged=True),
    KernelNeighborsClassifier(ties="order"),
    GaussianProcessClassifier(),
    Nystroem(n_components=20),
    RandomFourierFeatures(n_components=20),
]
CLASSIFIERS = MACHINES[:8]


def expected(machine):
    if not isinstance(machine, (KernelSVM, KernelLogisticRegression)):
        return {}
    reason = "solutions agree to tol, not to the last digits: see test_weights_are_repetitions"
    return dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        reason,
    )


VARIANTS = [
    KernelSVM(multiclass="one-vs-rest"),
    KernelPerceptron(averaged=True),
]


@parametrize_with_checks(VARIANTS, expected_failed_checks=expected)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


# -- KernelSVM ------------------------------------------------------------------------------------------------


def primal_of_pairs(model, X, y, C):
    """Risk / alpha of each pair's problem, from the scores alone."""
    F = model.two_class_scores(X)
    K = model.kernel_(X)
    values = []
    for p, (i, j) in enumerate(model.pairs_):
        rows = (y == i) | (y == j)
        beta = np.zeros(len(y))
        beta[model.support_] = model.dual_coef_[:, p]
        signs = np.where(y[rows] == j, 1.0, -1.0)
        values.append(0.5 * beta @ K @ beta + C * np.maximum(0, 1 - signs * F[rows, p]).sum())
    return np.array(values)


def primal_of_peer(peer, X, y, C, gamma):
    """The same for scikit-learn's SVC: dual_coef_ row r of class c is its pair with the (r + (r >= c))-th class."""
    n_classes = len(peer.classes_)
    starts = np.concatenate([[0], np.cumsum(peer.n_support_)])
    K = rbf_kernel(X, peer.support_vectors_, gamma=gamma)
    K_ss = rbf_kernel(peer.support_vectors_, gamma=gamma)
    values = []
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        coef = np.zeros(len(peer.support_))
        coef[starts[i] : starts[i + 1]] = peer.dual_coef_[j - 1, starts[i] : starts[i + 1]]
        coef[starts[j] : starts[j + 1]] = peer.dual_coef_[i, starts[j] : starts[j + 1]]
        rows = (y == i) | (y == j)
        f = K[rows] @ coef + peer.intercept_[p]
        signs = np.where(y[rows] == i, 1.0, -1.0)
        values.append(0.5 * coef @ K_ss @ coef + C * np.maximum(0, 1 - signs * f).sum())
    return np.array(values)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_svm_agrees_with_libsvm(wine, C):
    X, y = wine
    gamma = 1.0 / (X.shape[1] * X.var())
    model = KernelSVM(RBF(gamma), alpha=1 / (len(y) * C), tol=1e-6).fit(X, y)
    peer = SVC(C=C, gamma=gamma, tol=1e-6, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(-model.two_class_scores(X), peer.decision_function(X), atol=2e-4)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    ours, theirs = primal_of_pairs(model, X, y, C), primal_of_peer(peer, X, y, C, gamma)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    assert (ours <= theirs * (1 + 2e-5)).all()
    assert 0 <= model.gap_ < 1e-5


def test_svm_with_weights_agrees_with_libsvm(wine):
    X, y = wine
    weights = np.random.default_rng(0).uniform(0, 3, len(y))
    model = KernelSVM(RBF(0.1), alpha=1 / weights.sum(), tol=1e-6).fit(X, y, weights)
    peer = SVC(C=1.0, gamma=0.1, tol=1e-6, decision_function_shape="ovo").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(-model.two_class_scores(X), peer.decision_function(X), atol=5e-4)


@pytest.mark.parametrize(
    "machine",
    [KernelSVM(tol=1e-7), KernelSVM(tol=1e-7, multiclass="one-vs-rest"), KernelLogisticRegression(tol=1e-9)],
)
def test_weights_are_repetitions(wine, machine):
    X, y = wine
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = clone(machine).fit(X, y, times)
    repeated = clone(machine).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.expansion_.scores(X), repeated.expansion_.scores(X), atol=2e-4)


def test_one_vs_rest_is_each_class_alone(wine):
    X, y = wine
    model = KernelSVM(RBF(0.1), alpha=1e-3, multiclass="one-vs-rest", tol=1e-6).fit(X, y)
    for c in range(3):
        peer = SVC(C=1 / (len(y) * 1e-3), gamma=0.1, tol=1e-6).fit(X, y == c)
        np.testing.assert_allclose(model.decision_function(X)[:, c], peer.decision_function(X), atol=5e-4)


def test_linear_kernel_is_the_linear_machine(wine):
    X, y = wine
    y = y == 1
    kernel = KernelSVM("linear", alpha=1e-2, tol=1e-7).fit(X, y)
    linear = LinearSVM(alpha=1e-2, loss="hinge", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-3)


def test_support_vectors_alone_predict(wine):
    X, y = wine
    model = KernelSVM(alpha=1e-3).fit(X, y)
    assert len(model.support_) < len(y)
    assert model.expansion_.items.shape == (len(model.support_), X.shape[1])
    again = KernelSVM(model.kernel_, alpha=1e-3 * len(y) / len(model.support_)).fit(
        X[model.support_], y[model.support_]
    )
    np.testing.assert_allclose(again.two_class_scores(X), model.two_class_scores(X), atol=0.05)


def test_by_parts_equals_the_whole(wine, monkeypatch):
    """Where the Gram matrix does not fit, working sets reach the same machine."""
    monkeypatch.setattr("nearline.solvers.smo.WORKING_SET", 16)
    X, y = wine
    whole = KernelSVM(RBF(0.05), alpha=1e-4, tol=1e-5).fit(X, y)
    parts = KernelSVM(RBF(0.05), alpha=1e-4, tol=1e-5, memory=20_000).fit(X, y)
    np.testing.assert_allclose(parts.two_class_scores(X), whole.two_class_scores(X), atol=1e-3)
    assert parts.gap_ < 1e-5


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(2, 60), st.sampled_from([1e-6, 1e-3, 1.0, 1e3]), st.booleans())
def test_smo_is_certified(seed, n, C, single):
    """Ties, duplicates, singular matrices, any C: the dual is below the primal, and they meet."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, 2)).astype(float)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[0], y[1] = 1.0, -1.0
    K = (X @ X.T + (X @ X.T) ** 2).astype(np.float32 if single else np.float64)
    weights = C * rng.integers(0, 3, n)
    weights[:2] = C
    results = []
    for shrinking in (False, True):
        problem = Problem.new(np.arange(n), y, weights)
        ((violation, _),) = smo(K, [problem], tol=1e-5, shrinking=shrinking)
        assert violation <= 1e-5
        proof = certificates([problem])[0]
        scale = max(proof.null, 1e-12)
        assert -1e-9 * scale <= proof.primal - proof.dual <= 1e-3 * scale
        assert (problem.y * problem.beta >= 0).all()
        assert (np.abs(problem.beta) <= weights * (1 + 1e-12)).all()
        assert abs(problem.beta.sum()) <= 1e-9 * max(1.0, np.abs(problem.beta).sum())
        np.testing.assert_allclose(
            problem.F, K @ problem.beta - y, atol=1e-4 * max(1, np.abs(K).max() * C * n)
        )
        results.append(proof.dual)
    assert abs(results[0] - results[1]) <= 1e-3 * scale


def test_threads_do_not_matter():
    X, y = load_digits(return_X_y=True)
    models = []
    for threads in (1, 2):
        with nearline.num_threads(threads):
            models.append(KernelSVM(alpha=1e-4).fit(X, y))
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    np.testing.assert_array_equal(models[0].intercept_, models[1].intercept_)


def test_warm_start_along_alpha(wine):
    X, y = wine
    K = RBF(0.1)(X)
    signs = np.where(y == 1, 1.0, -1.0)
    warm = Problem.new(np.arange(len(y)), signs, np.full(len(y), 0.1))
    smo(K, [warm], tol=1e-6)
    warm = warm.scaled(10.0)
    np.testing.assert_allclose(warm.F, K @ warm.beta - signs, atol=1e-9)
    smo(K, [warm], tol=1e-6)
    cold = Problem.new(np.arange(len(y)), signs, np.full(len(y), 1.0))
    smo(K, [cold], tol=1e-6)
    assert certificates([warm])[0].primal == pytest.approx(certificates([cold])[0].primal, rel=1e-5)


def test_svm_says_what_is_wrong(wine):
    X, y = wine
    with pytest.raises(ValueError, match="alpha must be > 0"):
        KernelSVM(alpha=0.0).fit(X, y)
    with pytest.raises(ValueError, match="kernel must be one of"):
        KernelSVM("gauss").fit(X, y)
    with pytest.raises(ValueError, match="multiclass must be"):
        KernelSVM(multiclass="ovo").fit(X, y)
    with pytest.raises(ValueError, match="square"):
        KernelSVM("precomputed").fit(X, y)
    with pytest.warns(nearline.ConvergenceWarning, match="raise max_iter"):
        KernelSVM(alpha=1e-6, max_iter=3).fit(X, y)


# -- the other machines ---------------------------------------------------------------------------------------


def test_least_squares_is_kernel_ridge(wine):
    X, y = wine
    y = y == 0
    model = KernelLeastSquares(RBF(0.1), alpha=0.01).fit(X, y)
    K, n, t = rbf_kernel(X, gamma=0.1), len(y), np.where(y, 1.0, -1.0)
    # (K + n alpha) a + b = t, sum a = 0
    system = np.block([[K + n * 0.01 * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(t, 0.0))
    np.testing.assert_allclose(model.dual_coef_[:, 0], solution[:-1], atol=1e-8)
    np.testing.assert_allclose(model.intercept_, solution[-1:], atol=1e-8)
    linear = LeastSquaresClassifier(alpha=0.01).fit(X, y)
    kernel = KernelLeastSquares("linear", alpha=0.01).fit(X, y)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", [True, False])
def test_least_squares_leave_one_out_is_the_refit(weighted, bias):
    X, y = load_iris(return_X_y=True)
    X, y = X[::6], y[::6]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    alphas = [1e-4, 1e-1]
    model = KernelLeastSquares(RBF(0.3), alpha=alphas, fit_intercept=bias).fit(X, y, weights)
    for i in range(0, len(y), 4):
        rest = np.arange(len(y)) != i
        alone = KernelLeastSquares(RBF(0.3), alpha=model.alpha_, fit_intercept=bias).fit(
            X[rest], y[rest], weights[rest]
        )
        np.testing.assert_allclose(alone.decision_function(X[[i]])[0], model.loo_scores_[i], atol=1e-6)
    assert set(alphas) == set(model.alphas_)
    accuracy = KernelLeastSquares(RBF(0.3), alpha=alphas, scoring="accuracy").fit(X, y)
    assert 0.8 < accuracy.loo_score_.max() <= 1.0


def test_logistic_is_the_linear_one_in_feature_space(wine):
    X, y = wine
    for target in (y, y == 1):
        kernel = KernelLogisticRegression("linear", alpha=0.01, tol=1e-8).fit(X, target)
        linear = LogisticRegression(alpha=0.01, tol=1e-8).fit(X, target)
        np.testing.assert_allclose(kernel.predict_proba(X), linear.predict_proba(X), atol=1e-4)
    full = KernelLogisticRegression(RBF(0.1), alpha=1e-3, tol=1e-7).fit(X, y)
    assert full.gap_ <= 1e-7
    assert full.residual_ < 1e-9
    A = full.dual_coef_
    assert A.shape == (len(full.expansion_.rows), 3)
    low = KernelLogisticRegression(RBF(0.1), alpha=1e-3, rank=60, tol=1e-7).fit(X, y)
    assert 0 < low.residual_ < 0.3
    assert np.abs(low.predict_proba(X) - full.predict_proba(X)).mean() < 0.05


def test_process_mode_is_bias_free_logistic_regression(wine):
    """At alpha = 1/n."""
    X, y = wine
    y = y == 1
    process = GaussianProcessClassifier(RBF(0.1)).fit(X, y)
    logistic = KernelLogisticRegression(RBF(0.1), alpha=1 / len(y), fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(process.latent(X)[0][:, 0], logistic.decision_function(X), atol=1e-4)


def test_process_agrees_with_scikit_learn(wine):
    X, y = wine
    y = y == 1
    process = GaussianProcessClassifier(RBF(0.5 / 4.0)).fit(X, y)
    peer = PeerProcess(1.0 * PeerRBF(2.0), optimizer=None).fit(X, y)
    assert process.log_marginal_likelihood_[0] == pytest.approx(peer.log_marginal_likelihood_value_, rel=1e-6)
    np.testing.assert_allclose(process.predict_proba(X), peer.predict_proba(X), atol=2e-3)
    several = GaussianProcessClassifier(RBF(0.125)).fit(*load_iris(return_X_y=True))
    np.testing.assert_allclose(several.predict_proba(load_iris().data[:5]).sum(axis=1), 1.0)


def test_perceptron_counts_mistakes(wine):
    X, y = wine
    model = KernelPerceptron(Polynomial(2, 1.0), max_iter=500).fit(X, y)
    assert model.mistakes_[-1] == 0
    np.testing.assert_array_equal(model.predict(X), y)
    assert np.array_equal(model.dual_coef_, np.round(model.dual_coef_))
    averaged = KernelPerceptron("linear", averaged=True, max_iter=50).fit(X, y)
    assert np.mean(averaged.predict(X) == y) > 0.95
    linear = Perceptron(max_iter=50).fit(X, y)
    assert np.mean(linear.predict(X) == averaged.predict(X)) > 0.95


def test_neighbors_by_induced_distance(wine):
    """The Gaussian kernel's distance grows with the plain one, so neighbors and votes are the same."""
    X, y = wine
    plain = nearline.KNeighborsClassifier(7).fit(X[::2], y[::2])
    kernel = KernelNeighborsClassifier(7, kernel=RBF(0.01)).fit(X[::2], y[::2])
    np.testing.assert_array_equal(kernel.predict(X[1::2]), plain.predict(X[1::2]))
    np.testing.assert_allclose(kernel.predict_proba(X[1::2]), plain.predict_proba(X[1::2]))
    items = kernel.kernel_.items(X[:4])
    K = kernel.kernel_(X[:4], X[::2])
    np.testing.assert_allclose(kernel.distances(items), np.sqrt(2 - 2 * K), atol=1e-7)
    with pytest.raises(ValueError, match="metric='precomputed'"):
        KernelNeighborsClassifier(kernel="precomputed").fit(K[:, :4], [0, 1, 0, 1])


# -- what all have in common ----------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_exclusive_or_is_solved(machine):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    model = clone(machine).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.9
    assert np.mean(LogisticRegression().fit(X, y).predict(X) == y) < 0.75


@pytest.mark.parametrize("machine", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_sparse_rows_give_the_same(machine, wine):
    X, y = wine
    X = np.where(np.abs(X) > 1, X, 0.0)
    kernel = RBF(0.05)
    dense, sparse = (clone(machine).set_params(kernel=kernel).fit(A, y) for A in (X, csr_matrix(X)))
    np.testing.assert_array_equal(sparse.predict(csr_matrix(X)), dense.predict(X))


@pytest.mark.parametrize(
    "machine", [KernelSVM(), KernelLeastSquares(), KernelLogisticRegression(), KernelPerceptron()]
)
def test_precomputed_in_cross_validation(machine, wine):
    X, y = wine
    kernel = RBF(0.05)
    K = kernel(X)
    own = clone(machine).set_params(kernel="precomputed")
    alike = clone(machine).set_params(kernel=kernel)
    np.testing.assert_allclose(
        cross_val_score(own, K, y, cv=3), cross_val_score(alike, X, y, cv=3), atol=0.02
    )
    assert own.__sklearn_tags__().input_tags.pairwise


def test_in_pipeline_and_grid_search():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), KernelSVM())
    search = GridSearchCV(
        pipeline, {"kernelsvm__alpha": [1e-4, 1e-2], "kernelsvm__kernel": [RBF(0.1), Linear()]}
    )
    assert search.fit(X, y).best_score_ > 0.94


def test_calibrated_by_cross_fitting(wine):
    X, y = wine
    model = nearline.CalibratedClassifier(KernelSVM()).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert np.mean(P.argmax(axis=1) == y) > 0.95


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_huge_offsets_cost_nothing(offset, wine):
    X, y = wine
    near = KernelSVM(RBF(0.1), alpha=1e-3).fit(X, y)
    far = KernelSVM(RBF(0.1), alpha=1e-3).fit(X + offset, y)
    np.testing.assert_allclose(far.two_class_scores(X + offset), near.two_class_scores(X), atol=5e-3)


# -- maps -----------------------------------------------------------------------------------------------------


def test_maps_approach_the_kernel(wine):
    X, y = wine
    K = RBF(0.05)(X)
    errors = []
    for rank in (10, 40, 178):
        features = Nystroem(RBF(0.05), rank).fit(X)
        Z = features.transform(X)
        errors.append(np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K))
        assert features.error_ == pytest.approx(errors[-1], abs=1e-8)
        assert features.residual_ == pytest.approx(1 - (Z * Z).sum() / K.trace(), abs=1e-6)
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-6
    fourier = [RandomFourierFeatures(0.05, m).fit(X).error_ for m in (50, 5000)]
    assert fourier[1] < 0.3 * fourier[0]
    accuracy = make_pipeline(Nystroem(RBF(0.05), 100), LogisticRegression()).fit(X, y).score(X, y)
    assert accuracy > 0.95


def test_duplicates_are_no_landmarks_twice():
    X = np.repeat(np.random.default_rng(0).standard_normal((5, 3)), 20, axis=0)
    features = Nystroem(RBF(1.0), 50).fit(X)
    assert features.n_components_ == 5
    assert features.error_ < 1e-6


def test_circle_by_degree_two():
    """The map (x1^2, sqrt2 x1 x2, x2^2) has the kernel (x.x')^2, and makes circles flat."""
    X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    phi = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    np.testing.assert_allclose(phi @ phi.T, Polynomial(2, 0.0)(X), atol=1e-12)
    kernel = KernelSVM(Polynomial(2, 0.0), alpha=1e-3, tol=1e-6).fit(X, y)
    linear = KernelSVM("linear", alpha=1e-3, tol=1e-6).fit(phi, y)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(phi), atol=1e-3)
    assert kernel.score(X, y) == 1.0


def test_normalized_kernel_in_a_machine(wine):
    X, y = wine
    model = KernelSVM(Normalized(Polynomial(2)), alpha=1e-3).fit(X, y)
    assert model.score(X, y) > 0.95
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelSVM(Precomputed(), alpha=1e-3).fit(model.kernel_(X), y).score(model.kernel_(X), y) > 0.95


# -- the same solver for linear machines ----------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-2, 1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_few_rows_alike_under_a_small_alpha(loss, alpha):
    """Where sweeps over the dual get stuck, the choice of solvers goes on to one that does not."""
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("acgt"), 57)) for _ in range(96)]
    X = TfidfVectorizer(analyzer="char", ngram_range=(1, 5)).fit_transform(texts)
    model = LinearSVM(alpha=alpha, loss=loss).fit(X, rng.integers(0, 2, 96))
    assert model.gap_ <= model.tol


def test_linear_smo_is_the_kernel_machine(wine):
    X, y = wine
    risk = nearline.Risk(X, y, loss="hinge", alpha=1e-3)
    solution = nearline.minimize(risk, "smo", tol=1e-7)
    assert solution.gap <= 1e-7
    kernel = KernelSVM("linear", alpha=1e-3, multiclass="one-vs-rest", tol=1e-8).fit(X, y)
    scores = X @ solution.params.W.T + solution.params.b
    np.testing.assert_allclose(kernel.decision_function(X), scores, atol=1e-3)
