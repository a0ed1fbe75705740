"""Hinge losses under L1 and elastic net, against linear programs and on features of any scale."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from conftest import tiny_problem
from nearline import LinearClassifier, Risk, minimize, num_threads, path
from nearline.losses import LOSSES, Hinge
from nearline.losses.margin import SmoothedHinge

HINGE = LOSSES["hinge"]
RAW = load_breast_cancer(return_X_y=True)  # features from 1e-3 to 4e3


class Kinked(Hinge):
    """A hinge of one's own, which nobody knows how to round off."""

    def phi(self, z):
        return np.maximum(0.0, 2.0 - z)

    def dphi(self, z):
        return -(z < 2).astype(float)


def least_l1_hinge(X, targets, alpha):
    """min alpha |w|_1 + mean slack as a linear program in (w+, w-, b, slack)."""
    n, d = X.shape
    y = 2.0 * targets - 1.0
    cost = np.concatenate([np.full(2 * d, alpha), [0.0], np.full(n, 1.0 / n)])
    rows = -np.hstack([y[:, None] * X, -y[:, None] * X, y[:, None], np.eye(n)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    return linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=bounds).fun


@pytest.mark.parametrize("alpha", [0.1, 0.01, 1e-3])
def test_it_reaches_the_optimum_of_the_linear_program(alpha):
    X, targets = tiny_problem(2, n=60, d=6)
    risk = Risk(X, targets, loss="hinge", regularizer="l1", alpha=alpha)
    solution = minimize(risk, tol=1e-6)
    assert (solution.solver, solution.converged) == ("smoothing", True)
    excess = (solution.value - least_l1_hinge(X, targets, alpha)) / risk.null_value
    assert -1e-9 <= excess <= solution.gap + 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("regularizer", ["l1", "elastic-net"])
def test_scales_do_not_matter(regularizer, dtype):
    X, y = RAW
    model = LinearClassifier(loss="hinge", regularizer=regularizer, alpha=1e-3).fit(X.astype(dtype), y)
    assert model.solver_ == "smoothing"
    assert model.gap_ <= 1e-4
    assert model.score(X.astype(dtype), y) > 0.95
    assert model.coef_.dtype == dtype
    assert len(model.objective_path_) == model.n_iter_ + 1


@pytest.mark.parametrize("alpha", [1e-6, 1e-7])
def test_it_goes_on_where_the_dual_gives_up(alpha):
    """With an L2 penalty too: 'auto' does not end at what the precision of one solver allows."""
    X, y = RAW
    solution = minimize(Risk(X, y, loss="hinge", alpha=alpha))
    assert solution.converged
    assert solution.gap <= 1e-4


def test_one_vs_rest_with_exact_zeros():
    X, y = load_wine(return_X_y=True)
    model = LinearClassifier(loss="hinge", regularizer="l1", alpha=1e-2).fit(X, y)
    assert model.gap_ <= 1e-4
    assert (model.coef_ == 0).any()
    assert model.score(X, y) > 0.95


def test_paths_start_where_the_last_fit_ended():
    X, y = RAW
    for _, solution in path(X, y, loss="hinge", regularizer="elastic-net", n_alphas=4):
        assert solution.gap <= 1e-4


def test_same_bits_on_any_number_of_threads():
    X, y = RAW
    fits = []
    for n in (1, 2):
        with num_threads(n):
            fits.append(LinearClassifier(loss="hinge", regularizer="l1", alpha=1e-3).fit(X, y).coef_)
    np.testing.assert_array_equal(*fits)


@pytest.mark.parametrize("stretch", [1.0, 0.1, 1e-3])
def test_the_rounded_hinge(stretch):
    """It is the hinge less at most half the stretch; slope and conjugate are those of its definition."""
    rounded, z = SmoothedHinge(stretch), np.linspace(-3.0, 3.0, 1201)
    excess = HINGE.phi(z) - rounded.phi(z)
    assert (excess >= -1e-12).all()
    assert (excess <= 0.5 * stretch + 1e-12).all()
    assert (np.diff(rounded.dphi(z)) >= 0).all()
    a = np.linspace(-1.0, 0.0, 2001)[:, None]
    defined = (a * (z - 1.0) - 0.5 * stretch * a * a).max(axis=0)
    np.testing.assert_allclose(rounded.phi(z), defined, atol=1e-6)
    slopes = rounded.dphi(z)
    np.testing.assert_allclose(rounded.phi(z) + rounded.phi_conjugate(slopes), slopes * z, atol=1e-9)
    assert np.isfinite(HINGE.phi_conjugate(slopes)).all()


@pytest.mark.parametrize(
    ("change", "able"),
    [
        ({"loss": "logistic"}, "'fista'"),
        ({"loss": Kinked()}, "'sgd'"),
        ({"loss": "hinge", "alpha": 0.0}, "'linear-program' or 'sgd'"),
    ],
)
def test_what_it_does_not_serve(change, able):
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match=f"Solver 'smoothing'.*{able}"):
        minimize(Risk(X, targets, **change), "smoothing")


# -- joint hinge losses -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stretch", [1.0, 0.05])
@pytest.mark.parametrize("name", ["crammer-singer", "weston-watkins"])
def test_the_rounded_joint_hinges(name, stretch):
    """Near the loss itself, with slopes, curvature and conjugate that belong together, and duals of the loss itself."""
    sharp, rng = LOSSES[name], np.random.default_rng(0)
    rounded = sharp.smoothed(stretch)
    scores, targets, h = 2.0 * rng.normal(size=(200, 4)), rng.integers(0, 4, 200), 1e-6
    value, u = rounded.value_and_gradient(scores, targets)
    assert (np.abs(value - sharp.value(scores, targets)) <= 0.5 * stretch * 3 + 1e-12).all()
    for c in range(4):
        e = h * np.eye(4)[c]
        up, down = (
            rounded.value_and_gradient(scores + e, targets),
            rounded.value_and_gradient(scores - e, targets),
        )
        np.testing.assert_allclose((up[0] - down[0]) / (2 * h), u[:, c], atol=1e-5)
        bent = (up[1] - down[1]) / (2 * h)
        known = rounded.curvature(scores, targets)[:, c]
        assert (
            np.isclose(bent, known, rtol=1e-3, atol=1e-3).all(axis=1).mean() > 0.99
        )  # but at kinks of the slope
    np.testing.assert_allclose(value + rounded.conjugate(u, targets), (u * scores).sum(axis=1), atol=1e-9)
    assert np.isfinite(sharp.conjugate(u, targets)).all()


@pytest.mark.parametrize("alpha", [0.1, 1e-3])
@pytest.mark.parametrize("regularizer", ["l1", "elastic-net"])
@pytest.mark.parametrize("loss", ["crammer-singer", "weston-watkins"])
def test_joint_hinges_reach_their_optimum(loss, regularizer, alpha):
    X, y = load_iris(return_X_y=True)
    risk = Risk(X, y, loss=loss, regularizer=regularizer, alpha=alpha)
    solution = minimize(risk, tol=1e-5)
    assert (solution.solver, solution.converged) == ("smoothing", True)
    if regularizer == "l1":
        best = minimize(risk, "linear-program")
        assert best.gap <= 1e-12
        assert -1e-9 <= (solution.value - best.value) / risk.null_value <= solution.gap + 1e-9


def test_joint_hinges_on_sparse_rows_of_words():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 120)
    words = rng.poisson(0.03, size=(120, 300)) + rng.poisson(0.3, size=(120, 300)) * (
        np.arange(300) % 40 == y[:, None]
    )
    for loss in ("crammer-singer", "weston-watkins"):
        model = LinearClassifier(loss=loss, multiclass="joint", regularizer="l1", alpha=0.01)
        model.fit(csr_matrix(words, dtype=float), y)
        assert model.gap_ <= 1e-4
        assert (model.coef_ == 0).mean() > 0.8
