"""KernelRisk: every loss in the space of a kernel's features, against explicit features and LIBSVM."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from nearline import (
    KERNELS,
    LOSSES,
    KernelClassifier,
    KernelLeastSquares,
    KernelRisk,
    KernelSVM,
    Params,
    Risk,
    load,
    minimize,
    save,
)
from nearline.kernels import RBF, Centered, Linear, Normalized, Polynomial, Spectrum, SubsetTree
from nearline.kernels.gram import Gram
from nearline.solvers import LBFGS, ConvergenceWarning
from nearline.solvers.kernel import KERNEL_SOLVERS, KernelNewton

MINIMIZED = [name for name, loss in LOSSES.items() if loss.refusal is None]
SMOOTH = [name for name in MINIMIZED if LOSSES[name].smooth]
WEIGHTS = np.random.default_rng(7).integers(0, 4, 40).astype(float)


def degree_two(X):
    """Features whose inner products are (x . x' + 1)^2."""
    n, D = X.shape
    pairs = [(i, j) for i in range(D) for j in range(i + 1, D)]
    crossed = [np.sqrt(2) * X[:, i] * X[:, j] for i, j in pairs]
    return np.column_stack([np.ones(n), np.sqrt(2) * X, X**2, *crossed])


FEATURES = {"linear": (Linear(), lambda X: X), "degree 2": (Polynomial(2, 1.0), degree_two)}


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.3 * np.random.default_rng(1).normal(size=40), [0.3, 1.5])
    return X, y


def pair(rows, loss, features, n_classes=3, alpha=1e-2, **parameters):
    """The risk by the kernel, and by explicit features."""
    X, y = rows
    kernel, explicit = FEATURES[features]
    y = y if n_classes == 3 else (y > 0).astype(int)
    parameters = {"loss": loss, "alpha": alpha, **parameters}
    return KernelRisk(kernel, X, y, **parameters), Risk(explicit(X), y, **parameters), explicit(X)


# -- value, gradient, lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("loss", MINIMIZED)
def test_points_are_those_of_explicit_features(rows, loss, features):
    kernel, linear, phi = pair(rows, loss, features, weights=WEIGHTS)
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(kernel.n_outputs, 40)) / 10, rng.normal(size=kernel.n_outputs)
    params, same = Params.of(A, b), Params.of(A @ phi, b)
    ours, theirs = kernel.at(params), linear.at(same)
    np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-9, atol=1e-9)
    assert ours.value == pytest.approx(theirs.value, rel=1e-10)
    assert kernel.value(params) == pytest.approx(theirs.value, rel=1e-10)
    # The gradient in the coefficients is that in W on the features of the items.
    np.testing.assert_allclose(ours.gradient.W, theirs.gradient.W @ phi.T, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ours.gradient.b, theirs.gradient.b, rtol=1e-8, atol=1e-10)
    duals = LOSSES[loss].value_and_gradient(ours.scores, kernel.targets)[1]
    assert kernel.dual_value(duals) == pytest.approx(linear.dual_value(duals), rel=1e-9)
    assert kernel.gap(ours, duals) == pytest.approx(linear.gap(theirs, duals), rel=1e-8)


@pytest.mark.parametrize("loss", SMOOTH)
def test_lines_and_curvature(rows, loss):
    kernel, linear, phi = pair(rows, loss, "degree 2", weights=WEIGHTS)
    rng = np.random.default_rng(4)
    A, D = (rng.normal(size=(kernel.n_outputs, 40)) / 10 for _ in range(2))
    b, d = (rng.normal(size=kernel.n_outputs) for _ in range(2))
    ours = kernel.along(kernel.at(Params.of(A, b)), Params.of(D, d))
    theirs = linear.along(linear.at(Params.of(A @ phi, b)), Params.of(D @ phi, d))
    for t in (0.0, 0.3, 2.0):
        assert ours.value(t) == pytest.approx(theirs.value(t), rel=1e-9)
        np.testing.assert_allclose(ours.value_and_slope(t), theirs.value_and_slope(t), rtol=1e-8)
    assert ours.slope() == pytest.approx(theirs.slope(), rel=1e-7)
    assert ours.at(0.3).value == pytest.approx(ours.scored(0.3).value, rel=1e-12)
    if LOSSES[loss].curvature(np.zeros((1, kernel.n_outputs)), kernel.targets[:1]) is not None:
        H = kernel.hessian_product(ours.point, ours.direction)
        other = linear.hessian_product(theirs.point, theirs.direction)
        np.testing.assert_allclose(H.W, other.W @ phi.T, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(H.b, other.b, rtol=1e-8, atol=1e-10)


# -- minima ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("loss", MINIMIZED)
def test_minima_are_those_of_explicit_features(rows, loss, features, n_classes, bias):
    kernel, linear, _ = pair(rows, loss, features, n_classes, bias=bias, weights=WEIGHTS)
    ours, theirs = minimize(kernel, tol=1e-7), minimize(linear, tol=1e-7)
    assert ours.converged
    assert ours.gap <= 1e-7
    assert ours.value == pytest.approx(theirs.value, rel=2e-7)
    # |W - W*|^2 <= 2 (P - D) / alpha for both, so that scores without the bias are as near.
    far = 2 * np.sqrt(2 * 1e-7 * ours.value / 1e-2) * np.sqrt(kernel.matrix.diagonal().max())
    f, g = kernel.scores(ours.params) - ours.params.b, linear.scores(theirs.params) - theirs.params.b
    assert np.abs(f - g).max() <= far


@pytest.mark.parametrize(
    "kernel", [RBF("scale"), Normalized(Polynomial(3)), Centered(RBF(0.5)), 0.5 * RBF(1.0) + Linear()]
)
@pytest.mark.parametrize("loss", MINIMIZED)
def test_every_loss_is_certified_with_every_kernel(rows, loss, kernel):
    X, y = rows
    risk = KernelRisk(kernel, X, y, loss=loss, alpha=1e-3)
    solution = minimize(risk, tol=1e-6)
    assert solution.converged
    assert solution.gap <= 1e-6
    # The value is that of the formula, written out.
    A, K = solution.params.W.T, risk.gram.kernel(X)
    F = K @ A + solution.params.b
    value = LOSSES[loss].value(F, y).mean() + 0.5e-3 * np.trace(A.T @ K @ A)
    assert value == pytest.approx(solution.value, rel=1e-6)
    # No step from there leads lower than the certificate allows.
    for seed in range(3):
        other = Params.of(A.T + 1e-3 * np.random.default_rng(seed).normal(size=A.T.shape), solution.params.b)
        assert risk.value(other) >= solution.value * (1 - 1.01e-6)


@pytest.mark.parametrize("loss", ["softmax", "sparsemax", "weston-watkins", "crammer-singer"])
def test_joint_losses_of_strings_and_trees(loss):
    texts, trees = ["abab", "abba", "xyxy", "yxxy", "mnmn", "nmmn"], ["(S a b)", "(S b a)", "(T (S a) b)"] * 2
    for kernel, items in ((Normalized(Spectrum(2)), texts), (SubsetTree(0.5), trees)):
        risk = KernelRisk(kernel, items, np.arange(6) % 3, loss=loss, alpha=1e-2)
        assert minimize(risk, tol=1e-6).gap <= 1e-6


@pytest.mark.parametrize(
    "solver",
    [
        "lbfgs",
        "newton",
        "newton-cg",
        "gradient-descent",
        "fista",
        "conjugate-gradient",
        LBFGS(),
        KernelNewton(),
    ],
    ids=str,
)
def test_any_solver_reaches_the_minimum(rows, solver):
    X, y = rows
    risk = KernelRisk(RBF(0.5), X, y, loss="logistic", alpha=1e-2)
    solution = minimize(risk, solver, tol=1e-6)
    assert solution.gap <= 1e-6
    assert solution.params.W.shape == (3, 40)
    assert solution.value == pytest.approx(minimize(risk, tol=1e-9).value, rel=1e-6)


@pytest.mark.parametrize("solver", ["smo", "dual-coordinate-descent", "interior-point"])
def test_any_solver_of_the_hinge(rows, solver):
    X, y = rows
    risk = KernelRisk(RBF(0.5), X, y, loss="hinge", alpha=1e-2)
    solution = minimize(risk, solver, tol=1e-5)
    assert solution.solver == solver
    assert solution.gap <= 1e-5
    assert solution.value == pytest.approx(minimize(risk, tol=1e-8).value, rel=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "squared"])
def test_newton_on_the_gram_matrix(rows, loss, n_classes, bias):
    kernel, _, _ = pair(rows, loss, "degree 2", n_classes, alpha=1e-4, bias=bias, weights=WEIGHTS)
    solution = minimize(kernel, "newton", tol=1e-9)
    assert solution.solver == "newton"
    assert solution.gap <= 1e-9
    assert solution.n_iter < 50
    assert solution.value == pytest.approx(minimize(kernel, "lbfgs", tol=1e-8).value, rel=1e-8)


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_hinge_is_that_of_libsvm(rows, C):
    X, y = rows
    y = (y > 0).astype(int)
    risk = KernelRisk(RBF(0.5), X, y, loss="hinge", alpha=1 / (40 * C), weights=None)
    solution = minimize(risk, tol=1e-7)
    peer = SVC(C=C, gamma=0.5, tol=1e-7).fit(X, y)
    A = np.zeros((1, 40))
    A[0, peer.support_] = peer.dual_coef_[0]
    assert solution.value <= risk.value(Params.of(A, peer.intercept_)) * (1 + 1e-6)
    np.testing.assert_allclose(risk.scores(solution.params)[:, 0], peer.decision_function(X), atol=2e-3)


# -- sharing, starts, paths -----------------------------------------------------------------------------------


def test_parts_are_risks_of_their_rows(rows):
    X, y = rows
    whole = KernelRisk(RBF(0.5), X, y, loss="hinge", alpha=1e-2, weights=WEIGHTS)
    at = np.flatnonzero(y < 2)
    part = whole.part(at, (y[at] == 1).astype(np.int32), alpha=2e-2)
    alone = KernelRisk(RBF(0.5), X[at], y[at] == 1, loss="hinge", alpha=2e-2, weights=WEIGHTS[at])
    ours, theirs = minimize(part, tol=1e-8), minimize(alone, tol=1e-8)
    assert ours.value == pytest.approx(theirs.value, rel=2e-8)
    assert ours.gap <= 1e-8
    np.testing.assert_array_equal(part.matrix, alone.matrix)
    assert part.shared is whole.gram
    assert part.n_rows == len(at)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "weston-watkins"])
def test_paths_start_at_the_last_solution(rows, loss):
    X, y = rows
    risk, params = KernelRisk(RBF(0.5), X, y, loss=loss, alpha=1.0), None
    for alpha in (1e-1, 1e-2, 1e-3):
        one = risk.with_alpha(alpha)
        warm, cold = minimize(one, start=params, tol=1e-6), minimize(one, tol=1e-6)
        assert warm.gap <= 1e-6
        assert warm.value == pytest.approx(cold.value, rel=2e-6)
        params = warm.params
    again = minimize(one, start=params, tol=1e-6)
    assert again.value == pytest.approx(warm.value, rel=1e-6)


def test_a_coarser_scale_and_few_iterations(rows):
    X, y = rows
    for loss in ("hinge", "logistic"):
        risk = KernelRisk(RBF(0.5), X, y, loss=loss, alpha=1e-6)
        assert minimize(risk, tol=1e-3, relative_to="null").gap <= 1e-3
        first = "lbfgs" if loss == "logistic" else "smo"
        seen: list[int] = []
        solution = minimize(
            risk, first, tol=1e-12, max_iter=1, callback=partial(lambda seen, n, _: seen.append(n), seen)
        )
        assert solution.n_iter == len(seen) == 1
        assert not solution.converged


def test_nearly_dependent_items_are_certified():
    """Features of a wide Gaussian differ in their last digits: coefficients come from the duals then."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for loss in ("logistic", "squared-hinge", "softmax", "weston-watkins"):
        solution = minimize(KernelRisk(RBF(1e-3), X, y, loss=loss, alpha=1e-9), tol=1e-4)
        assert solution.gap <= 1e-4, loss


def test_equal_items_share_their_features(rows):
    X, y = rows
    X = np.vstack([X, X])
    for loss in ("hinge", "softmax", "crammer-singer", "squared"):
        assert minimize(KernelRisk(Linear(), X, np.tile(y, 2), loss=loss, alpha=1e-3), tol=1e-6).gap <= 1e-6


# -- refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "softmax", "squared"])
def test_no_features_no_risk(rows, loss):
    A = np.random.default_rng(2).normal(size=(40, 40))
    with pytest.raises(ValueError, match="not positive semi-definite: its smallest eigenvalue is -"):
        minimize(KernelRisk("precomputed", A + A.T, rows[1], loss=loss))


def test_a_negative_eigenvalue_that_pairs_do_not_show(rows):
    """Correlations of -0.4 among all: each pair is fine, but together they cannot be."""
    K = np.full((40, 40), -0.4)
    np.fill_diagonal(K, 1.0)
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -14\.6"):
        minimize(KernelRisk("precomputed", K, rows[1], loss="softmax"))


def test_what_is_too_large_is_refused(rows):
    X, y = rows
    for loss in ("softmax", "crammer-singer", "squared", "logistic"):
        with pytest.raises(ValueError, match=r"Gram matrix of 40 items needs .* memory allows"):
            minimize(KernelRisk(RBF(0.5), X, y, loss=loss, memory=5000))
    # SMO computes rows when it needs them.
    whole = minimize(KernelRisk(RBF(0.5), X, y, loss="hinge", alpha=1e-2), tol=1e-6)
    parts = minimize(KernelRisk(RBF(0.5), X, y, loss="hinge", alpha=1e-2, memory=5000), "smo", tol=1e-6)
    assert parts.gap <= 1e-6
    assert parts.value == pytest.approx(whole.value, rel=2e-6)


@pytest.mark.parametrize(
    ("parameters", "solver", "sentence"),
    [
        ({"loss": "logistic", "alpha": 0.0}, "auto", "needs alpha > 0"),
        ({"loss": "hinge", "alpha": 0.0}, "smo", "needs alpha > 0"),
        ({"loss": "logistic"}, KERNEL_SOLVERS["smo"], "serves 'hinge', not 'logistic'"),
        ({"loss": "softmax"}, KernelNewton(), "couples its columns"),
        ({"loss": "hinge", "bias": False}, KERNEL_SOLVERS["smo"], "for the sake of a bias"),
        ({"loss": "logistic"}, KERNEL_SOLVERS["closed-form"], "solves the squared loss"),
        ({"loss": "hinge"}, "lbfgs", "needs a smooth loss"),
        ({"loss": "perceptron"}, "auto", "minimizes the perceptron loss"),
        ({"loss": "logistic"}, "no-such", "Unknown solver 'no-such'"),
    ],
)
def test_what_cannot_be_served_is_said(rows, parameters, solver, sentence):
    with pytest.raises(ValueError, match=sentence):
        minimize(KernelRisk("rbf", *rows, **parameters), solver)


def test_bad_input_is_said(rows):
    X, y = rows
    with pytest.raises(ValueError, match="40 rows but targets 39"):
        KernelRisk("rbf", X, y[:39])
    with pytest.raises(ValueError, match="kernel must be one of"):
        KernelRisk("gauss", X, y)
    with pytest.raises(ValueError, match="square"):
        minimize(KernelRisk("precomputed", X, y))
    with pytest.raises(ValueError, match="NaN or infinite"):
        KernelRisk("rbf", X * np.nan, y)
    with pytest.raises(ValueError, match="overflow"):
        minimize(KernelRisk("linear", X * 1e200, y))
    with pytest.raises(ValueError, match="start has weights of shape"):
        minimize(KernelRisk("rbf", X, y), start=Params.zeros(3, 3))


def test_least_squares_without_a_penalty(rows):
    X, y = rows
    solution = minimize(KernelRisk(Linear(), X, y, loss="squared", alpha=0.0))
    explicit = minimize(Risk(X, y, loss="squared", alpha=0.0))
    assert solution.gap is None
    assert solution.converged
    assert solution.value == pytest.approx(explicit.value, rel=1e-9)


def test_products_without_the_matrix(rows):
    gram = Gram(RBF(0.5), rows[0].astype(np.float32))
    A = np.random.default_rng(0).normal(size=(40, 2)) * (np.arange(40) % 3 == 0)[:, None]
    some = np.array([3, 0, 39, 7])
    by_blocks, rows_of_it = gram.times(A), gram.times(A, some)
    np.testing.assert_allclose(by_blocks, gram.whole @ A, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rows_of_it, by_blocks[some], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gram.times(A, some), by_blocks[some], rtol=1e-10, atol=1e-12)
    assert by_blocks.dtype == np.float64


# -- every listed kernel --------------------------------------------------------------------------------------

ITEMS = {
    "strings": ["abab", "abba", "xyxy", "yxxy", "mnmn", "nmmn", "aabb", "xxyy", "mmnn"],
    "trees": ["(S a b)", "(S b a)", "(T (S a) b)", "(T (S b) b)", "(U a (S b))", "(U b (S b))"],
    "gram": np.cov(np.random.default_rng(5).normal(size=(9, 30))),
}


@pytest.mark.parametrize("name", KERNELS)
def test_every_listed_kernel_is_served_and_kept(name, tmp_path):
    kernel = KERNELS[name]
    items = ITEMS.get(kernel.takes, np.random.default_rng(6).normal(size=(9, 3)))
    y = np.arange(len(items)) % 3
    for loss in ("softmax", "hinge", "crammer-singer", "squared"):
        model = KernelClassifier(name, loss=loss, alpha=1e-2, tol=1e-6).fit(items, y)
        assert model.gap_ <= 1e-6, loss
        save(model, tmp_path / "model.nearline")
        again = load(tmp_path / "model.nearline")
        np.testing.assert_array_equal(again.decision_function(items), model.decision_function(items))
        assert again.kernel_ == model.kernel_


def test_one_class_is_refused():
    X = np.random.default_rng(0).normal(size=(12, 2))
    for loss in ("hinge", "logistic", "squared"):
        with pytest.raises(ValueError, match=r"All 12 targets are of one class.*give items of another"):
            KernelRisk("rbf", X, np.zeros(12, dtype=int), loss=loss)
    KernelRisk("rbf", X, np.zeros(12, dtype=int), loss="hinge", n_classes=2)  # meant


# -- what no kernel is ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spoiled(RBF):
    """Values of a Gaussian kernel, some of which are changed."""

    how: str = "nan"

    def among(self, items):
        K = RBF(self.gamma).among(items)
        if self.how == "asymmetric":
            return np.tril(K) + 0.5 * np.triu(K, 1)
        K[3, 5] = K[5, 3] = float(self.how)
        return K

    def between(self, A, B):
        return RBF(self.gamma).between(A, B)

    def diagonal(self, items):
        return np.ones(items.shape[0])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("nan", "items 3 and 5 is nan"),
        ("inf", "items 3 and 5 is inf"),
        ("asymmetric", "A Gram matrix is symmetric"),
    ],
)
@pytest.mark.parametrize("machine", [KernelSVM, KernelLeastSquares])
def test_values_that_no_kernel_has_are_refused(rows, machine, how, message):
    with pytest.raises(ValueError, match=message):
        machine(kernel=Spoiled(0.5, how)).fit(*rows)


def test_a_lost_factorization_warns():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="badly conditioned"):
        KernelLeastSquares(kernel=Polynomial(8, 1.0)).fit(X, y)
