"""Every loss in LOSSES against its definition, its derivatives and its conjugate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from nearline.losses import (
    LOSSES,
    BinarySparsemax,
    Logistic,
    Softmax,
    Sparsemax,
    Special,
    Squared,
    signs,
    softmax,
    sparsemax,
)
from nearline.losses.margin import SmoothedHinge
from nearline.losses.multiclass_svm import SmoothedCrammerSinger, SmoothedWestonWatkins

ALL = list(LOSSES)
SMOOTH = [name for name, loss in LOSSES.items() if loss.smooth]
CONJUGATE = [name for name in ALL if name != "zero-one"]


def sample(name, n=40, scale=2.0, seed=0, columns=None):
    loss = LOSSES[name]
    K = columns or (4 if loss.joint else 1)
    rng = np.random.default_rng(seed)
    return loss, rng.normal(scale=scale, size=(n, K)), rng.integers(0, 2 if K == 1 else K, n)


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("name", ALL)
def test_value_is_the_definition(name, columns):
    loss, scores, targets = sample(name, columns=columns)
    expected = [oracle.loss_of_row(name, list(f), y) for f, y in zip(scores, targets)]
    np.testing.assert_allclose(loss.value(scores, targets), expected, atol=1e-12)
    np.testing.assert_allclose(loss.value_and_gradient(scores, targets)[0], expected, atol=1e-12)


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("name", ALL)
def test_gradient_is_the_derivative(name, columns):
    """Random scores are almost surely no kinks, so this holds for the non-smooth losses too."""
    loss, scores, targets = sample(name, columns=columns)
    numeric = oracle.numeric_gradient(lambda f: loss.value(f, targets).sum(), scores)
    np.testing.assert_allclose(loss.value_and_gradient(scores, targets)[1], numeric, atol=1e-6)


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("name", SMOOTH)
def test_curvature_is_the_second_derivative(name, columns):
    loss, scores, targets = sample(name, columns=columns)
    direction = np.random.default_rng(1).normal(size=scores.shape)
    step = 1e-6
    up = loss.value_and_gradient(scores + step * direction, targets)[1]
    down = loss.value_and_gradient(scores - step * direction, targets)[1]
    product = loss.curvature_product(scores, targets, direction)
    np.testing.assert_allclose(product, (up - down) / (2 * step), atol=1e-5)
    curvature = loss.curvature(scores, targets)
    dense = curvature * direction if curvature.ndim == 2 else np.einsum("ijk,ik->ij", curvature, direction)
    np.testing.assert_allclose(dense, product, atol=1e-12)


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("name", CONJUGATE)
def test_conjugate_satisfies_fenchel_young(name, columns):
    """loss(f) + loss*(u) >= u.f for all u, with equality at u = the gradient at f."""
    loss, scores, targets = sample(name, columns=columns)
    value, u = loss.value_and_gradient(scores, targets)
    conjugate = loss.conjugate(u, targets)
    np.testing.assert_allclose(value + conjugate, (u * scores).sum(axis=1), atol=1e-10)
    other = loss.value_and_gradient(np.random.default_rng(2).normal(size=scores.shape), targets)[1]
    assert np.all(value + loss.conjugate(other, targets) >= (other * scores).sum(axis=1) - 1e-10)
    if name != "squared":
        outside = np.full_like(scores, 7.0) if loss.joint else 7.0 * signs(targets, scores.shape[1])
        assert np.all(np.isinf(loss.conjugate(outside, targets)))


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("name", CONJUGATE)
def test_balance_is_feasible(name, columns):
    """The repaired duals sum to zero per column, stay in the domain, and change nothing when balanced already."""
    loss, scores, targets = sample(name, n=200, columns=columns)
    weights = np.random.default_rng(3).uniform(0, 3, len(scores))
    u = loss.value_and_gradient(scores, targets)[1]
    balanced = loss.balance(u, targets, weights)
    np.testing.assert_allclose(weights @ balanced, 0.0, atol=1e-10)
    assert np.all(np.isfinite(loss.conjugate(balanced, targets)))
    again = loss.balance(balanced, targets, weights)
    np.testing.assert_allclose(again, balanced, atol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_huge_scores_stay_finite(name):
    """B3: scores of +-1e4 and more never overflow, in float32 neither."""
    loss = LOSSES[name]
    K = 3 if loss.joint else 1
    for dtype in (np.float32, np.float64):
        scores = np.array([[1e4, -1e4, 0.0], [-1e4, 1e4, 1e4]], dtype=dtype)[:, :K].copy()
        value, gradient = loss.value_and_gradient(scores, np.array([0, 1]))
        assert np.isfinite(value).all()
        assert np.isfinite(gradient).all()


def test_boundary_rules_are_as_stated():
    """B1 counts z = 0 as a mistake; B5 takes the sub-gradient 0 at z = 1."""
    at = lambda z: (np.array([[z]]), np.array([1]))  # noqa: E731
    assert LOSSES["zero-one"].value(*at(0.0)) == [1.0]
    assert LOSSES["hinge"].value_and_gradient(*at(1.0))[1] == [[0.0]]
    assert LOSSES["hinge"].value_and_gradient(*at(0.999))[1] == [[-1.0]]


def test_squared_loss_reports_mean_squared_error():
    """B2: half the squared residual is minimized; (f - y)^2 is reported."""
    scores, targets = np.array([[0.5], [-2.0]]), np.array([1, 0])
    assert Squared().mean_squared_error(scores, targets) == pytest.approx((0.25 + 1.0) / 2)


def test_two_scores_are_a_sigmoid_of_their_difference():
    """B13 and B7: softmax and sparsemax of two scores are the two-class losses of the difference."""
    _, scores, targets = sample("softmax", columns=2)
    difference = scores[:, 1:] - scores[:, :1]
    np.testing.assert_allclose(softmax(scores), Logistic().probabilities(difference), atol=1e-14)
    np.testing.assert_allclose(
        Softmax().value(scores, targets), Logistic().value(difference, targets), atol=1e-12
    )
    np.testing.assert_allclose(sparsemax(scores), BinarySparsemax().probabilities(difference), atol=1e-12)
    np.testing.assert_allclose(
        Sparsemax().value(scores, targets), BinarySparsemax().value(difference, targets), atol=1e-12
    )


def test_cross_entropy_is_a_divergence():
    """B13: cross-entropy to a label distribution is KL divergence plus the distribution's entropy."""
    rng = np.random.default_rng(0)
    scores, q = rng.normal(size=(9, 4)), rng.dirichlet(np.ones(4), 9)
    p = softmax(scores)
    divergence = (q * np.log(q / p)).sum(axis=1)
    entropy = -(q * np.log(q)).sum(axis=1)
    np.testing.assert_allclose(Softmax().value(scores, q), divergence + entropy, atol=1e-12)


def test_label_sets_as_targets():
    """B12: sparsemax takes label distributions; the loss is 0 exactly where sparsemax(f) = q."""
    q = np.array([[0.5, 0.5, 0.0]])
    matching = np.array([[2.0, 2.0, -9.0]])
    assert Sparsemax().value(matching, q) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(Sparsemax().value_and_gradient(matching, q)[1], 0.0, atol=1e-12)
    assert Sparsemax().value(np.array([[3.0, 0.0, 0.0]]), q) > 0.5


@settings(max_examples=60)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8))
def test_sparsemax_is_the_simplex_projection(f):
    p = sparsemax(np.array([f]))[0]
    np.testing.assert_allclose(p, oracle.simplex_projection(f), atol=1e-9)
    assert p.sum() == pytest.approx(1.0)
    assert (p >= 0).all()


@pytest.mark.parametrize("name", ALL)
def test_probabilities_sum_to_one_where_they_exist(name):
    loss, scores, _ = sample(name, columns=None)
    p = loss.probabilities(scores)
    assert (p is not None) == (name in ("logistic", "binary-sparsemax", "softmax", "sparsemax"))
    if p is not None:
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert p.shape[1] == loss.label_count(scores.shape[1])


@settings(max_examples=40)
@given(st.integers(2, 6), st.integers(0, 2**31))
def test_pair_loss_balance_on_any_flow(K, seed):
    """Weston-Watkins duals of any shape become a circulation by scaling down only."""
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, K, 30)
    loss = LOSSES["weston-watkins"]
    u = loss.value_and_gradient(rng.normal(size=(30, K)), targets)[1]
    weights = rng.uniform(0.1, 2, 30)
    balanced = loss.balance(u, targets, weights)
    np.testing.assert_allclose(weights @ balanced, 0.0, atol=1e-8)
    assert np.isfinite(loss.conjugate(balanced, targets)).all()


@pytest.mark.parametrize("name", ["logistic", "softmax"])
def test_log_probabilities_stay_finite(name):
    """B3, B11: scores of +-1e4 have log probabilities, although the probabilities round to 0 and 1."""
    loss, extreme = LOSSES[name], np.array([[1e4, -1e4, 0.0], [-1e4, -2e4, -3e4], [0.1, -0.4, 2.0]])
    blocks = [extreme] if loss.joint else [extreme, extreme[:, :1]]
    for scores in blocks:
        logarithms = loss.log_probabilities(scores)
        assert np.isfinite(logarithms).all()
        np.testing.assert_allclose(np.exp(logarithms), loss.probabilities(scores), rtol=1e-12)
        np.testing.assert_allclose(np.exp(logarithms).sum(axis=1), 1.0)
        if scores.shape[1] > 1:
            assert (logarithms.argmax(axis=1) == scores.argmax(axis=1)).all()


@pytest.mark.parametrize("name", SMOOTH)
def test_no_loss_is_steeper_than_it_declares(name):
    """Largest second derivative along the scores, and scores near which it is reached."""
    loss, scores, targets = sample(name, n=400, scale=1.0)
    curvature = loss.curvature(scores, targets)
    steepest = curvature.max() if curvature.ndim == 2 else np.linalg.eigvalsh(curvature).max()
    assert 0.7 * loss.own.steepness <= steepest <= loss.own.steepness + 1e-12


@pytest.mark.parametrize("name", ALL)
def test_what_is_special_is_not_inherited(name):
    """Core, dual steps, programs, closed forms: for the very class alone, even where a subclass changes nothing."""
    loss = LOSSES[name]
    heir = type("Heir", (type(loss),), {})()
    assert heir.own == Special()
    assert heir.compiled is None
    assert type("Sure", (type(loss),), {"special": loss.own})().own is loss.own


STRETCHES = (0.1, 0.7, 2.5)
ROUNDED = [
    (rounded(stretch), kinked)
    for rounded, kinked in (
        (SmoothedHinge, "hinge"),
        (SmoothedCrammerSinger, "crammer-singer"),
        (SmoothedWestonWatkins, "weston-watkins"),
    )
    for stretch in STRETCHES
]


@pytest.mark.parametrize(("loss", "kinked"), ROUNDED, ids=lambda one: str(one))
def test_rounded_losses_hold_at_every_stretch(loss, kinked):
    """Gradient, curvature and conjugate belong to the value; the value is near the loss with kinks."""
    known, scores, targets = sample(kinked)
    value, u = loss.value_and_gradient(scores, targets)
    np.testing.assert_allclose(
        u, oracle.numeric_gradient(lambda f: loss.value(f, targets).sum(), scores), atol=1e-5
    )
    np.testing.assert_allclose(value + loss.conjugate(u, targets), (u * scores).sum(axis=1), atol=1e-9)
    direction = 1e-7 * np.random.default_rng(1).normal(size=scores.shape)
    change = loss.value_and_gradient(scores + direction, targets)[1] - u
    product = loss.curvature_product(scores, targets, direction)
    np.testing.assert_allclose(
        product, change, rtol=1e-3, atol=1e-9
    )  # of pairs it is a limit, right to 1e-4 (HUB)
    excess = np.abs(known.value(scores, targets) - value)
    assert np.all(excess <= 0.5 * loss.stretch * max(1, scores.shape[1] - 1) + 1e-12)
    assert np.all(np.isfinite(known.conjugate(u, targets)))  # its duals are valid for the other too
    assert np.all(np.isfinite(loss.conjugate(loss.balance(u, targets, np.ones(len(u))), targets)))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_null_bias_is_where_the_slope_is_zero(loss, n_classes):
    """P(W = 0, best b) in closed form, for classes of any weights."""
    rng = np.random.default_rng(0)
    n_outputs = n_classes if LOSSES[loss].joint or n_classes > 2 else 1
    for _ in range(20):
        weights = rng.exponential(size=n_classes) ** rng.choice([0.3, 1.0, 3.0])
        b = LOSSES[loss].null_bias(weights, n_outputs)
        slopes = LOSSES[loss].value_and_gradient(np.tile(b, (n_classes, 1)), np.arange(n_classes))[1]
        np.testing.assert_allclose(weights @ slopes, 0.0, atol=1e-12 * weights.sum())


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_a_class_without_weight_has_no_finite_null_bias(loss):
    assert LOSSES[loss].null_bias(np.array([0.0, 1.0, 2.0]), 3) is None
