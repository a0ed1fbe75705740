"""Every regularizer in REGULARIZERS."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from sklearn.datasets import load_iris
from sklearn.linear_model import MultiTaskLasso

from conftest import tiny_problem
from nearline import GroupL1, LogisticRegression, Risk, load, minimize, path, path_scores, save
from nearline.losses import LOSSES
from nearline.regularizers import REGULARIZERS, ElasticNet
from oracle_group import group_penalty, least_by_groups, shortened

ALL = [*REGULARIZERS.values(), ElasticNet(0.2), ElasticNet(0.9)]
W = np.random.default_rng(0).normal(size=(2, 5))


def test_values_are_the_definitions():
    assert REGULARIZERS["none"].value(W) == 0.0
    assert REGULARIZERS["l2"].value(W) == pytest.approx(0.5 * (W**2).sum())
    assert REGULARIZERS["l1"].value(W) == pytest.approx(np.abs(W).sum())
    assert ElasticNet(0.3).value(W) == pytest.approx(0.3 * np.abs(W).sum() + 0.35 * (W**2).sum())
    assert REGULARIZERS["group-l1"].value(W) == pytest.approx(group_penalty(W))


@pytest.mark.parametrize("regularizer", ALL, ids=str)
def test_prox_minimizes_its_definition(regularizer):
    nearest = regularizer.prox(W, 0.7)

    def distance(flat):
        V = flat.reshape(W.shape)
        return 0.5 * ((V - W) ** 2).sum() + 0.7 * regularizer.value(V)

    found = scipy_minimize(distance, W.ravel(), method="Powell", options={"xtol": 1e-9, "ftol": 1e-14}).x
    np.testing.assert_allclose(nearest, found.reshape(W.shape), atol=1e-4)
    assert distance(nearest.ravel()) <= distance(found) + 1e-12


@pytest.mark.parametrize("regularizer", ALL, ids=str)
def test_prox_takes_a_step_for_each_feature(regularizer):
    assert regularizer.by_feature
    steps = np.array([0.1, 0.7, 1.0, 3.0, 0.0])
    together = regularizer.prox(W, steps)
    for j, step in enumerate(steps):
        alone = regularizer.prox(W[:, [j]], float(step))
        np.testing.assert_allclose(together[:, [j]], alone, atol=1e-14)


def test_prox_of_groups_is_the_plain_one():
    np.testing.assert_allclose(GroupL1().prox(W, 0.9), shortened(W, 0.9), atol=1e-14)
    assert (GroupL1().prox(W, 0.9) == 0).any()


def test_l1_prox_gives_exact_zeros():
    assert (REGULARIZERS["l1"].prox(np.array([0.5, -0.5, 0.0]), 0.5) == 0.0).all()


@pytest.mark.parametrize("regularizer", ALL, ids=str)
def test_conjugate_satisfies_fenchel_young(regularizer):
    """R(W) + R*(V) >= V.W, with equality at V = a sub-gradient at W: (W_0 - W) / t where W is the prox of W_0."""
    at = regularizer.prox(W, 0.3)
    V = (W - at) / 0.3
    V = V * min(regularizer.into_domain(V), 1.0)
    assert regularizer.value(at) + regularizer.conjugate(V) == pytest.approx((V * at).sum())
    other = np.random.default_rng(1).uniform(-3, 3, W.shape)
    other *= regularizer.into_domain(other)
    assert np.isfinite(regularizer.conjugate(other))
    assert regularizer.value(W) + regularizer.conjugate(other) >= (other * W).sum() - 1e-12


@pytest.mark.parametrize("regularizer", ALL, ids=str)
def test_the_largest_alpha_is_where_weights_begin(regularizer):
    X, targets = tiny_problem(3)
    null = Risk(X, targets, loss="softmax", regularizer=regularizer, alpha=0.0).null_point.gradient.W
    largest = regularizer.largest_alpha(null)
    if largest is None:
        assert regularizer.smooth
        return
    for share, some in ((1.001, False), (0.99, True)):
        risk = Risk(X, targets, loss="softmax", regularizer=regularizer, alpha=share * largest)
        assert minimize(risk, tol=1e-9).params.W.any() == some


def test_elastic_net_refuses_a_bad_mix():
    with pytest.raises(ValueError, match="0 <= rho <= 1"):
        ElasticNet(1.5)


# -- group L1 ---------------------------------------------------------------------------------------------


def test_groups_of_one_column_are_l1():
    X, targets = tiny_problem(2)
    group, plain = (minimize(Risk(X, targets, regularizer=name, alpha=0.05)) for name in ("group-l1", "l1"))
    assert group.solver == plain.solver == "coordinate-descent"
    np.testing.assert_array_equal(group.params.flat, plain.params.flat)


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.005])
def test_squared_loss_under_groups_is_the_multi_task_lasso(alpha):
    X, targets = tiny_problem(3, d=6)
    found = minimize(Risk(X, targets, loss="squared", regularizer="group-l1", alpha=alpha), tol=1e-10)
    peer = MultiTaskLasso(alpha=alpha, tol=1e-12, max_iter=100_000).fit(X, np.eye(3)[targets])
    np.testing.assert_allclose(found.params.W, peer.coef_, atol=1e-5)
    np.testing.assert_array_equal((found.params.W != 0).any(axis=0), (peer.coef_ != 0).any(axis=0))
    assert found.gap <= 1e-10


@pytest.mark.parametrize("loss", ["softmax", "sparsemax", "logistic"])
def test_groups_against_slow_proximal_gradients(loss):
    X, targets = tiny_problem(3, d=6)
    least, slow = least_by_groups(LOSSES[loss], X, targets, 3, 0.05)
    found = minimize(Risk(X, targets, loss=loss, regularizer=GroupL1(), alpha=0.05), tol=1e-9)
    assert found.value == pytest.approx(least, rel=1e-8)
    np.testing.assert_allclose(found.params.W, slow, atol=1e-3)
    kept = (found.params.W != 0).any(axis=0)
    assert 0 < kept.sum() < 6
    np.testing.assert_array_equal((found.params.W != 0).all(axis=0), kept)  # in or out for all classes


def test_a_hinge_under_groups_is_certified():
    X, targets = tiny_problem(3)
    risk = Risk(X, targets, loss="crammer-singer", regularizer="group-l1", alpha=0.05)
    found = minimize(risk, tol=1e-3)
    assert (found.solver, found.converged) == ("smoothing", True)
    assert minimize(risk, "sgd", tol=2e-2).value >= found.value * (1 - found.gap)


def test_a_path_over_groups_and_its_folds():
    X, y = load_iris(return_X_y=True)
    sizes = [
        int((s.params.W != 0).any(axis=0).sum())
        for _, s in path(X, y, loss="softmax", regularizer="group-l1", n_alphas=5)
    ]
    assert sizes[0] == 0
    assert sizes[-1] >= 3
    scores = path_scores(LogisticRegression(regularizer="group-l1"), X, y, alphas=[1e-1, 1e-2, 1e-3], folds=3)
    assert scores.mean.max() > 0.9
    assert np.all(scores.gaps <= 1e-4)


def test_a_model_file_keeps_the_group_penalty(tmp_path):
    X, y = load_iris(return_X_y=True)
    for given in ("group-l1", GroupL1()):
        model = LogisticRegression(alpha=0.1, regularizer=given).fit(X, y)
        file = tmp_path / f"{type(given).__name__}.nearline"
        save(model, file)
        again = load(file)
        assert again.regularizer == given
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
