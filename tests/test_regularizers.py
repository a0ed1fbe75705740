"""SPEC C1-C4: every regularizer in REGULARIZERS."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from nearline.regularizers import REGULARIZERS, ElasticNet

ALL = list(REGULARIZERS.values())
W = np.random.default_rng(0).normal(size=(2, 5))


def test_values_are_the_definitions():
    assert REGULARIZERS["none"].value(W) == 0.0
    assert REGULARIZERS["l2"].value(W) == pytest.approx(0.5 * (W**2).sum())
    assert REGULARIZERS["l1"].value(W) == pytest.approx(np.abs(W).sum())
    assert ElasticNet(0.3).value(W) == pytest.approx(0.3 * np.abs(W).sum() + 0.35 * (W**2).sum())


@pytest.mark.parametrize("regularizer", ALL, ids=lambda r: r.name)
def test_prox_minimizes_its_definition(regularizer):
    for w in (-2.0, -0.3, 0.0, 0.1, 1.7):
        best = minimize_scalar(lambda v, w=w: 0.5 * (v - w) ** 2 + 0.7 * regularizer.value(np.array([[v]]))).x
        assert regularizer.prox(np.array([[w]]), 0.7)[0, 0] == pytest.approx(best, abs=1e-6)


def test_l1_prox_gives_exact_zeros():
    assert (REGULARIZERS["l1"].prox(np.array([0.5, -0.5, 0.0]), 0.5) == 0.0).all()


@pytest.mark.parametrize("regularizer", ALL, ids=lambda r: r.name)
def test_conjugate_satisfies_fenchel_young(regularizer):
    """R(W) + R*(V) >= V.W, with equality at V = a sub-gradient at W."""
    V = regularizer.gradient(W) + regularizer.l1 * np.sign(W)
    assert regularizer.value(W) + regularizer.conjugate(V) == pytest.approx((V * W).sum())
    other = np.random.default_rng(1).uniform(-3, 3, W.shape)
    other *= regularizer.into_domain(other)
    assert np.isfinite(regularizer.conjugate(other))
    assert regularizer.value(W) + regularizer.conjugate(other) >= (other * W).sum() - 1e-12


def test_elastic_net_refuses_a_bad_mix():
    with pytest.raises(ValueError, match="0 <= rho <= 1"):
        ElasticNet(1.5)
