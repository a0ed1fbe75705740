"""Smooth risks of every kind and shape, by every solver that serves them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import nearline
from conftest import tiny_problem
from nearline import Params, Risk, minimize
from nearline.losses import LOSSES
from nearline.solvers import SOLVERS
from nearline.solvers._axes import principal_axes
from nearline.solvers._conditioning import Coordinates
from nearline.solvers._groups import Groups
from nearline.solvers._memory import Memory
from nearline.solvers._preconditioner import precondition
from nearline.solvers._sampling import representative_rows

SMOOTH = [name for name, loss in LOSSES.items() if loss.smooth and loss.refusal is None]
SECOND_ORDER = ["newton", "irls", "newton-cg", "block-newton", "preconditioned-lbfgs"]
FAST = ["lbfgs", "conjugate-gradient", *SECOND_ORDER]


def problem(shape, n_classes, seed):
    """A small problem of an awkward shape."""
    n, d = {"tall": (40, 3), "wide": (6, 20), "two rows": (2, 3)}.get(shape, (30, 4))
    rng = np.random.default_rng(seed)
    targets = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n_classes, d))[targets]
    if shape == "scales":
        X *= 10.0 ** rng.uniform(-3, 3, size=d)
    if shape == "offsets":
        X += 1e6 * rng.normal(size=d)
    if shape == "constant":
        X[:, 0] = 7.0
    if shape == "rank-deficient":
        X[:, -1] = X[:, 0] + X[:, 1]
    if shape == "separable":
        X += 9.0 * targets[:, None]
    return X, targets


SHAPES = ["tall", "wide", "two rows", "scales", "offsets", "constant", "rank-deficient", "separable"]


@settings(max_examples=40)
@given(
    loss=st.sampled_from(SMOOTH),
    shape=st.sampled_from(SHAPES),
    n_classes=st.sampled_from([2, 3, 5]),
    alpha=st.sampled_from([1e-6, 1e-3, 1.0]),
    bias=st.booleans(),
    seed=st.integers(0, 5),
)
def test_all_fast_solvers_agree_on_awkward_data(loss, shape, n_classes, alpha, bias, seed):
    """Law 4: each reaches its certified gap, and values differ by no more than the sum of the gaps."""
    X, targets = problem(shape, n_classes, seed)
    if shape == "offsets" and not bias:
        X -= X.mean(axis=0)  # without a bias a common offset is a huge feature, not a nuisance
    risk = Risk(X, targets, loss=loss, alpha=alpha, bias=bias, n_classes=n_classes)
    # Conjugate gradients may run out of iterations on ill-conditioned problems, and then say so.
    hard = alpha < 1e-3 or shape == "scales"
    served = [name for name in FAST if not hard or name != "conjugate-gradient"]
    solutions = {name: minimize(risk, name, tol=1e-5) for name in served}
    for name, solution in solutions.items():
        assert solution.converged, (name, solution.status, solution.gap, solution.n_iter)
    best = min(s.value for s in solutions.values())
    for name, solution in solutions.items():
        assert solution.value - best <= (solution.gap + 1e-9) * risk.null_value, name


@pytest.mark.parametrize("loss", SMOOTH)
def test_scales_from_1e_minus_6_to_1e6(loss):
    X, targets = tiny_problem(3, n=60)
    risk = Risk(X * np.array([1e-6, 1e-2, 1e2, 1e6]), targets, loss=loss, alpha=1e-3)
    for solver in ("auto", "lbfgs", "preconditioned-lbfgs", "newton"):
        solution = minimize(risk, solver, tol=1e-5)
        assert solution.converged, (solver, solution.status, solution.gap)


@pytest.mark.parametrize("loss", SMOOTH)
def test_gradient_descent_is_quick_on_ordinary_data(loss):
    X, targets = tiny_problem(3, n=200)
    solution = minimize(Risk(X, targets, loss=loss, alpha=1e-2), "gradient-descent", tol=1e-4)
    assert solution.converged
    assert solution.n_iter < 1000


@pytest.mark.parametrize("solver", FAST)
def test_unpenalized_risks_end_with_a_small_gradient_or_a_proof(solver):
    """D14: without a penalty a fit converges by its gradient, or says that there is no minimizer."""
    for shape in ("tall", "constant", "rank-deficient", "scales"):
        X, targets = problem(shape, 3, 0)
        rng = np.random.default_rng(1)
        targets = rng.permutation(targets)  # classes that overlap
        solution = minimize(Risk(X, targets, loss="softmax", alpha=0.0, n_classes=3), solver, tol=1e-5)
        assert solution.converged, (shape, solution.status)
        assert solution.gap is None
        assert solution.gradient_test <= 1e-5
    X, targets = problem("separable", 2, 0)
    assert minimize(Risk(X, targets, alpha=0.0), solver).status.name == "NO_MINIMIZER"


def test_many_classes():
    X, targets = tiny_problem(100, n=300, d=6)
    for loss in ("softmax", "squared-hinge"):
        risk = Risk(X, targets, loss=loss, alpha=1e-3)
        values = [
            minimize(risk, name, tol=1e-4).value for name in ("lbfgs", "preconditioned-lbfgs", "newton-cg")
        ]
        assert max(values) - min(values) <= 2e-4 * risk.null_value


@pytest.mark.parametrize("loss", ["softmax", "sparsemax", "logistic", "squared-hinge"])
@pytest.mark.parametrize("bias", [True, False])
def test_preconditioner_with_all_axes_inverts_the_hessian(loss, bias):
    """With every axis leading and every row drawn it is the damped Hessian's inverse: near the identity on H."""
    X, targets = tiny_problem(3, n=60)
    risk = Risk(X, targets, loss=loss, alpha=0.1, bias=bias)
    params = risk.zeros()
    params.W[...] = 0.1 * np.random.default_rng(0).normal(size=params.W.shape)
    point, coordinates = risk.at(params), Coordinates(risk, plain_if_tame=True)
    axes = principal_axes(risk, coordinates)
    inverse = precondition(risk, point, coordinates, axes, risk.n_features)
    rng = np.random.default_rng(1)
    for _ in range(3):
        z = params.like(rng.normal(size=params.flat.shape))
        z.b[:] = z.b - z.b.mean() if bias else 0.0
        Hz = coordinates.pull_back(risk.hessian_product(point, coordinates.to_params(z)))
        back = inverse(params.like(Hz))
        assert np.linalg.norm(back.flat - z.flat) <= 0.15 * np.linalg.norm(z.flat)


def test_preconditioner_is_symmetric_and_positive_definite():
    """L-BFGS needs it, for few and many leading axes, also where features outnumber rows."""
    for n, d in ((60, 5), (8, 30)):
        X, targets = tiny_problem(3, n=n, d=d)
        risk = Risk(X, targets, loss="softmax", alpha=1e-3)
        point, coordinates = risk.at(risk.zeros()), Coordinates(risk, plain_if_tame=True)
        axes = principal_axes(risk, coordinates)
        for n_leading in (0, 2):
            inverse = precondition(risk, point, coordinates, axes, n_leading)
            size = point.params.flat.size
            P = np.stack([inverse(point.params.like(row)).flat for row in np.eye(size)])
            np.testing.assert_allclose(P, P.T, rtol=1e-4, atol=1e-6 * np.abs(P).max())
            assert np.linalg.eigvalsh((P + P.T) / 2).min() > 0


def test_principal_axes_beyond_the_largest_gram():
    """More features than a Gram matrix is formed for: axes come from rows, the rest has a mean variance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1500)) * np.linspace(0.5, 2.0, 1500)
    risk = Risk(X, np.arange(40) % 2, alpha=1e-2)
    axes = principal_axes(risk, Coordinates(risk, plain_if_tame=True))
    assert axes.vectors.shape[1] <= 40
    assert not axes.complete
    np.testing.assert_allclose(axes.vectors.T @ axes.vectors, np.eye(axes.vectors.shape[1]), atol=1e-6)
    assert axes.variances.sum() == pytest.approx(X.var(axis=0).sum(), rel=1e-6)
    assert minimize(risk, "preconditioned-lbfgs", tol=1e-8).converged


def test_sparse_rows_of_few_features_are_preconditioned_too():
    X, targets = tiny_problem(3, n=100)
    dense, sparse = (
        minimize(Risk(Z, targets, loss="softmax", alpha=1e-3), "preconditioned-lbfgs", tol=1e-8)
        for Z in (X, csr_matrix(X))
    )
    np.testing.assert_allclose(dense.params.flat, sparse.params.flat, atol=1e-4)


def test_representative_rows_keep_sums_and_escape_patterns():
    """Drawn rows estimate sums of the mass without bias, whatever period the order of rows has."""
    mass = np.random.default_rng(0).exponential(size=10_000)
    rows, shares = representative_rows(mass, 1000)
    assert shares.sum() == pytest.approx(mass.sum())
    counts = np.bincount(rows % 10, minlength=10)
    assert counts.min() > 50
    few, own = representative_rows(np.array([1.0, 0.0, 2.0]), 5)
    np.testing.assert_array_equal(few, [0, 2])
    np.testing.assert_array_equal(own, [1.0, 2.0])


def test_memory_of_separate_columns_is_that_of_separate_problems():
    """One-vs-rest columns share nothing: the direction is that of an own L-BFGS for each."""
    rng = np.random.default_rng(0)
    together = Memory(Groups(3, 4, joint=False), 10)
    alone = [Memory(Groups(1, 4, joint=True), 10) for _ in range(3)]
    for _ in range(5):
        change = Params(rng.normal(size=15), 3, 4)
        turn = Params(change.flat * rng.uniform(0.5, 2.0, size=15), 3, 4)
        together.append(change.flat, turn.flat)
        for c, memory in enumerate(alone):
            memory.append(np.append(change.W[c], change.b[c]), np.append(turn.W[c], turn.b[c]))
    gradient = Params(rng.normal(size=15), 3, 4)
    direction = gradient.like(together.descent(gradient.flat))
    for c, memory in enumerate(alone):
        expected = memory.descent(np.append(gradient.W[c], gradient.b[c]))
        np.testing.assert_allclose(np.append(direction.W[c], direction.b[c]), expected, rtol=1e-10)


def test_certificates_hold_for_the_parameters_not_for_drifted_scores():
    """D13: value and gap of a float32 fit are those of its parameters, computed anew."""
    X, targets = tiny_problem(3, n=300, dtype=np.float32)
    risk = Risk(X, targets, loss="softmax", alpha=1e-4)
    solution = minimize(risk, "lbfgs", tol=1e-4)
    assert solution.value == pytest.approx(risk.value(solution.params), rel=1e-6)


def test_a_tolerance_beyond_precision_is_said_soon():
    X, targets = tiny_problem(3, n=100, dtype=np.float32)
    for solver in ("lbfgs", "preconditioned-lbfgs", "conjugate-gradient"):
        solution = minimize(Risk(1e4 * X, targets, loss="softmax", alpha=1e-6), solver, tol=1e-13)
        assert solution.status.name == "PRECISION"
        assert solution.n_iter < 1500
        assert "float64" in solution.remedy()


@pytest.mark.parametrize("loss", ["softmax", "squared-hinge"])
def test_results_do_not_depend_on_the_number_of_threads(loss):
    """Law 5: the same bits on one thread and on two."""
    X, targets = tiny_problem(4, n=4000, d=60, dtype=np.float32)
    risk = Risk(X, targets, loss=loss, alpha=1e-3)
    for solver in ("preconditioned-lbfgs", "lbfgs", "newton-cg"):
        flats = []
        for n in (1, 2):
            with nearline.num_threads(n):
                flats.append(minimize(risk, solver, tol=1e-5).params.flat)
        np.testing.assert_array_equal(*flats)


def test_preconditioning_saves_passes():
    """The point of it: far fewer iterations on correlated features."""
    rng = np.random.default_rng(0)
    targets = np.arange(2000) % 5
    X = (
        rng.normal(size=(2000, 40)) * np.geomspace(10, 0.05, 40) + 0.05 * rng.normal(size=(5, 40))[targets]
    ) @ rng.normal(size=(40, 40))
    risk = Risk(X, targets, loss="softmax", alpha=1e-2)
    plain, faster = (minimize(risk, name, tol=1e-5) for name in ("lbfgs", "preconditioned-lbfgs"))
    assert faster.n_iter * 3 < plain.n_iter
    assert SOLVERS["preconditioned-lbfgs"].refuses(risk) is None
