"""Embedding losses: values as the formulas say, gradients as differences do, golden values, empty cases."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearline
import oracle_embedding as oracle
from nearline.losses import embedding
from nearline.losses.embedding import (
    EMBEDDING_LOSSES,
    NCA,
    AMSoftmax,
    Circle,
    LiftedStructured,
    NormFace,
    ProxyLoss,
    Triplet,
    as_embedding_loss,
)

GOLDEN = json.loads((Path(__file__).parent / "golden" / "embedding_losses.json").read_text())
LOSSES = [
    (NCA(), partial(oracle.nca)),
    (NCA(0.7, log=True), partial(oracle.nca, scale=0.7, log_form=True)),
    (NCA(3.0, log=True, normalize=True), partial(oracle.nca, scale=3.0, log_form=True, normalize=True)),
    *(
        (Triplet(m, mining, n, s), partial(oracle.triplet, margin=m, mining=mining, normalize=n, squared=s))
        for m, mining, n, s in [
            (0.5, "all", True, False),
            (1.0, "all", False, True),
            (0.5, "hard", True, False),
            (1.0, "hard", False, True),
            (0.5, "semi-hard", True, False),
            (1.0, "semi-hard", False, False),
        ]
    ),
    (LiftedStructured(), partial(oracle.lifted)),
    (LiftedStructured(2.0, normalize=True), partial(oracle.lifted, margin=2.0, normalize=True)),
    (Circle(5.0), partial(oracle.circle, gamma=5.0)),
    (Circle(30.0, 0.1), partial(oracle.circle, gamma=30.0, margin=0.1)),
    (NormFace(5.0), partial(oracle.margin_softmax, scale=5.0)),
    (AMSoftmax(8.0, 0.3), partial(oracle.margin_softmax, scale=8.0, margin=0.3)),
]


def batch(n=14, d=3, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(classes, size=n), rng.normal(size=(classes, d))


def further(loss, W):
    return (W,) if isinstance(loss, ProxyLoss) else ()


def differences(f, A, h=1e-6):
    out = np.zeros_like(A)
    for i in np.ndindex(A.shape):
        step = np.zeros_like(A)
        step[i] = h
        out[i] = (f(A + step) - f(A - step)) / (2 * h)
    return out


@pytest.mark.parametrize(("loss", "slow"), LOSSES, ids=[repr(loss)[:60] for loss, _ in LOSSES])
@pytest.mark.parametrize("seed", range(3))
def test_values_and_gradients(loss, slow, seed):
    Z, t, W = batch(seed=seed)
    more = further(loss, W)
    value, *gradients = loss.value_and_gradient(Z, t, *more)
    np.testing.assert_allclose(value, slow(Z, t, *more), rtol=1e-10)
    np.testing.assert_allclose(gradients[0], differences(lambda A: loss.value(A, t, *more), Z), atol=5e-8)
    if more:
        np.testing.assert_allclose(gradients[1], differences(lambda A: loss.value(Z, t, A), W), atol=5e-8)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda c: f"{c['loss']} {c['parameters']}")
def test_golden_values_of_pytorch_metric_learning(case):
    loss = getattr(embedding, case["loss"])(**case["parameters"])
    Z, W, t = (np.array(GOLDEN["batch"][name]) for name in ("Z", "W", "targets"))
    value, gradient, *of_proxies = loss.value_and_gradient(Z, t, *further(loss, W))
    np.testing.assert_allclose(value, case["value"], rtol=1e-9)
    np.testing.assert_allclose(gradient, case["gradient"], rtol=1e-6, atol=1e-9)
    if of_proxies:
        np.testing.assert_allclose(of_proxies[0], case["of_proxies"], rtol=1e-6, atol=1e-9)


def test_nca_is_that_of_scikit_learn():
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    rng = np.random.default_rng(0)
    X, t, A = rng.normal(size=(40, 5)), np.arange(40) % 3, rng.normal(size=(2, 5))
    theirs = NeighborhoodComponentsAnalysis()
    theirs.n_iter_ = 0
    value, gradient = theirs._loss_grad_lbfgs(A.ravel(), X, t[:, None] == t, -1.0)
    mine, of_rows = NCA().value_and_gradient(X @ A.T, t)
    np.testing.assert_allclose(40 * (1.0 - mine), -value, rtol=1e-10)
    np.testing.assert_allclose(40 * of_rows.T @ X, gradient.reshape(2, 5), rtol=1e-8)


@pytest.mark.parametrize(("loss", "slow"), LOSSES, ids=[repr(loss)[:60] for loss, _ in LOSSES])
def test_empty_cases(loss, slow):
    Z, t, W = batch()
    more = further(loss, W)
    nothing = loss.value_and_gradient(Z[:0], t[:0], *more)
    assert nothing[0] == 0.0
    assert nothing[1].shape == (0, 3)
    if not more:
        for targets in (np.zeros(14, int), np.arange(14)):  # one class; no two rows of a class
            value, gradient = loss.value_and_gradient(Z, targets)
            assert value == 0.0
            assert not gradient.any()
        assert loss.value_and_gradient(Z[:1], t[:1])[0] == 0.0
    for odd in (np.zeros_like(Z), np.ones_like(Z), np.where(t[:, None] == 1, 0.0, Z)):  # zeros, equal points
        value, gradient, *_ = loss.value_and_gradient(odd, t, *more)
        np.testing.assert_allclose(value, slow(odd, t, *more), rtol=1e-9)
        assert np.isfinite(gradient).all()
    value, gradient, *_ = loss.value_and_gradient(1e3 * Z, t, *more)  # far apart: nothing overflows
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 6))
def test_order_and_rotation_do_not_matter(seed, n, classes):
    rng = np.random.default_rng(seed)
    Z, t, W = rng.normal(size=(n, 3)), rng.integers(classes, size=n), rng.normal(size=(classes, 3))
    order, R = rng.permutation(n), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for loss in EMBEDDING_LOSSES.values():
        value, gradient, *_ = loss.value_and_gradient(Z, t, *further(loss, W))
        other, moved, *_ = loss.value_and_gradient(Z[order] @ R, t[order], *further(loss, W @ R))
        assert abs(value - other) <= 1e-9 * (1.0 + abs(value))
        np.testing.assert_allclose(moved, gradient[order] @ R, atol=1e-6 * (1.0 + abs(gradient).max()))


def test_many_rows_in_tiles_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    Z, t = rng.normal(size=(1500, 4)), rng.integers(7, size=1500)
    for loss in (NCA(), NCA(log=True)):
        value, gradient = loss.value_and_gradient(Z, t)
        with nearline.num_threads(1):
            one, same = loss.value_and_gradient(Z, t)
        assert value == one
        np.testing.assert_array_equal(gradient, same)
        E = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
        np.fill_diagonal(E, 0.0)
        p = (E * (t[:, None] == t)).sum(axis=1) / E.sum(axis=1)
        np.testing.assert_allclose(value, (-np.log(p) if loss.log else 1.0 - p).mean(), rtol=1e-10)
        single = loss.value_and_gradient(Z.astype(np.float32), t)
        assert single[1].dtype == np.float32
        np.testing.assert_allclose(single[1], gradient, atol=1e-4 * abs(gradient).max())


def test_log_of_a_chance_below_the_smallest_number():
    value, gradient = NCA(log=True).value_and_gradient([[0.0], [100.0], [1.0]], [0, 0, 1])
    np.testing.assert_allclose(value, (100.0**2 - 1.0 + 100.0**2 - 99.0**2) / 2, rtol=1e-12)
    assert gradient[0, 0] < 0 < gradient[1, 0]  # a step against it brings them together


def test_constant_weights_of_the_circle_loss_never_pull_negatives_together():
    S = np.array([[1.0, 0.9, -0.2], [0.9, 1.0, -0.2], [-0.2, -0.2, 1.0]])
    assert Circle(5.0).of_cosines(S, np.array([0, 0, 1]))[1][0, 2] < 0
    assert Circle(5.0, constant_weights=True).of_cosines(S, np.array([0, 0, 1]))[1][0, 2] > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NCA().value([[np.nan, 1.0]], [0]), "row 1 .counted from 1. has NaN"),
        (lambda: NCA().value([[1.0], [1.0, 2.0]], [0, 1]), "all as long"),
        (lambda: NCA().value([1.0, 2.0], [0, 1]), r"array \(n, d\), got shape"),
        (lambda: NCA().value([[1.0], [2.0]], ["a", "b"]), "whole number for each of 2 rows"),
        (lambda: NormFace().value([[1.0]], [3], [[1.0]]), "numbers of the 1 proxies"),
        (lambda: NormFace().value([[1.0]], [0], [[1.0, 2.0]]), "as many numbers, got 1 and 2"),
        (lambda: NormFace(0.0), "scale must be a finite number above 0"),
        (lambda: Triplet(mining="soft"), "one of 'all', 'hard', 'semi-hard'"),
        (lambda: AMSoftmax(margin=np.inf), "margin must be a finite number"),
        (lambda: as_embedding_loss("hinge"), "Unknown embedding loss 'hinge': choose among 'nca'"),
    ],
)
def test_what_makes_no_sense(call, message):
    with pytest.raises(ValueError, match=message):
        call()
