"""The risk against its definition, its derivatives, and the duality gap."""

import numpy as np
import pytest

import oracle
from conftest import tiny_problem
from nearline import ElasticNet, Params, Risk, evaluate, minimize
from nearline.losses import LOSSES
from nearline.regularizers import REGULARIZERS

FITTABLE = [name for name, loss in LOSSES.items() if loss.refusal is None]


def random_params(risk, seed=1):
    rng = np.random.default_rng(seed)
    params = risk.zeros()
    params.flat[:] = rng.normal(size=params.flat.shape)
    if not risk.bias:
        params.b[:] = 0.0
    return params


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", list(LOSSES))
def test_value_is_the_definition(name, n_classes, sparse):
    X, targets = tiny_problem(n_classes, sparse=sparse)
    weights = np.random.default_rng(0).uniform(0, 2, len(targets))
    regularizer = ElasticNet(0.3)
    risk = Risk(X, targets, loss=name, regularizer=regularizer, alpha=0.2, weights=weights)
    params = random_params(risk)
    expected = oracle.risk(name, X, targets, params.W, params.b, 0.2, 0.3, 0.7, weights)
    point = risk.at(params)
    assert point.value == pytest.approx(expected, rel=1e-10)
    assert risk.value(params) == pytest.approx(expected, rel=1e-10)
    assert point.data_loss + point.penalty == point.value
    assert point.penalty == pytest.approx(0.2 * regularizer.value(params.W))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", FITTABLE)
def test_gradient_is_the_derivative(name, n_classes, bias):
    X, targets = tiny_problem(n_classes)
    risk = Risk(X, targets, loss=name, alpha=0.1, bias=bias)
    params = random_params(risk)
    numeric = oracle.numeric_gradient(lambda flat: risk.value(params.like(flat)), params.flat)
    if not bias:
        params.like(numeric).b[:] = 0.0
    np.testing.assert_allclose(risk.at(params).gradient.flat, numeric, atol=2e-6)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", [n for n in FITTABLE if LOSSES[n].smooth])
def test_hessian_product_and_matrix(name, n_classes, bias):
    """A3: Hessian-vector products agree with differences of gradients and with the full matrix."""
    X, targets = tiny_problem(n_classes)
    risk = Risk(X, targets, loss=name, alpha=0.1, bias=bias)
    params, direction = random_params(risk, 1), random_params(risk, 2)
    step = 1e-6
    up = risk.at(params.like(params.flat + step * direction.flat)).gradient.flat
    down = risk.at(params.like(params.flat - step * direction.flat)).gradient.flat
    point = risk.at(params)
    product = risk.hessian_product(point, direction).flat
    np.testing.assert_allclose(product, (up - down) / (2 * step), atol=1e-5)
    np.testing.assert_allclose(risk.hessian(point) @ direction.flat, product, atol=1e-10)


@pytest.mark.parametrize("name", [n for n in FITTABLE if LOSSES[n].smooth])
def test_line_equals_the_risk(name):
    X, targets = tiny_problem(3)
    risk = Risk(X, targets, loss=name, alpha=0.1)
    line = risk.along(risk.at(random_params(risk, 1)), random_params(risk, 2))
    for t in (0.0, 0.3, 2.0):
        value, slope = line.value_and_slope(t)
        assert value == pytest.approx(risk.value(line.params(t)))
        assert slope == pytest.approx(risk.at(line.params(t)).gradient.flat @ line.direction.flat)
        assert line.at(t).value == pytest.approx(value)


@pytest.mark.parametrize("name", FITTABLE)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_integer_weights_equal_repeated_rows(name, n_classes):
    """Law 3."""
    X, targets = tiny_problem(n_classes)
    counts = np.random.default_rng(0).integers(0, 4, len(targets))
    weighted = Risk(X, targets, loss=name, alpha=0.1, weights=counts, n_classes=n_classes)
    repeated = Risk(
        X.repeat(counts, axis=0), targets.repeat(counts), loss=name, alpha=0.1, n_classes=n_classes
    )
    params = random_params(weighted)
    assert weighted.value(params) == pytest.approx(repeated.value(params))
    np.testing.assert_allclose(
        weighted.at(params).gradient.flat, repeated.at(params).gradient.flat, atol=1e-12
    )
    assert weighted.null_value == pytest.approx(repeated.null_value)


def test_bias_equals_a_constant_feature_without_penalty():
    """A2, law 2: with alpha = 0 the bias is the weight of an appended 1; with alpha > 0 only it is free of charge."""
    X, targets = tiny_problem(2)
    appended = np.hstack([X, np.ones((len(X), 1))])
    with_bias = minimize(Risk(X, targets, alpha=0.0), tol=1e-9)
    with_ones = minimize(Risk(appended, targets, alpha=0.0, bias=False), tol=1e-9)
    np.testing.assert_allclose(
        np.append(with_bias.params.W, with_bias.params.b), with_ones.params.W[0], atol=1e-5
    )
    heavy = minimize(Risk(X, targets == 0, alpha=1e6), tol=1e-12)
    share = (targets == 0).mean()
    np.testing.assert_allclose(heavy.params.b, np.log(share / (1 - share)), atol=1e-4)


@pytest.mark.parametrize("regularizer", ["l2", "l1", "elastic-net"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", FITTABLE)
def test_dual_values_never_exceed_primal_values(name, n_classes, regularizer):
    """Law 4, weak duality: any duals, made feasible, give a lower bound on the risk everywhere."""
    X, targets = tiny_problem(n_classes)
    risk = Risk(X, targets, loss=name, regularizer=regularizer, alpha=0.1, n_classes=n_classes)
    lowest = min(risk.value(random_params(risk, seed)) for seed in range(5))
    for seed in range(5):
        scores = risk.at(random_params(risk, seed)).scores
        duals = risk.loss.value_and_gradient(scores, risk.targets)[1]
        assert risk.dual_value(duals) <= lowest + 1e-9
        assert risk.dual_value(duals) <= risk.null_value + 1e-9


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", FITTABLE)
def test_null_value_is_the_best_bias(name, n_classes):
    X, targets = tiny_problem(n_classes, n=37)
    targets = np.minimum(targets, np.arange(37) % 2 + 1) if n_classes > 2 else targets
    risk = Risk(X, targets, loss=name, alpha=0.1, n_classes=n_classes)
    rng = np.random.default_rng(0)
    params = risk.null_point.params
    for _ in range(200):
        other = params.copy()
        other.b[:] += rng.normal(scale=rng.choice([0.01, 0.3, 2.0]), size=other.b.shape)
        assert risk.value(other) >= risk.null_value - 1e-9
    assert not params.W.any()


def test_gap_is_small_only_near_the_minimizer():
    X, targets = tiny_problem(3)
    risk = Risk(X, targets, loss="softmax", alpha=0.1)
    solution = minimize(risk, tol=1e-10)
    assert risk.gap(risk.at(solution.params)) <= 1e-10
    moved = solution.params.copy()
    moved.W[0, 0] += 0.1
    point = risk.at(moved)
    assert risk.gap(point) * point.value >= point.value - solution.value > 1e-5


@pytest.mark.parametrize("name", ["zero-one", "squared", "logistic", "hinge"])
def test_any_loss_can_be_evaluated(name):
    """A4: error rate, squared loss and every surrogate on data, for a given model."""
    scores, targets = np.array([0.5, -1.0, 2.0, 0.0]), np.array([1, 1, 0, 1])
    expected = np.mean([oracle.loss_of_row(name, [f], y) for f, y in zip(scores, targets)])
    assert evaluate(name, scores, targets) == pytest.approx(expected)
    doubled = evaluate(name, scores, targets, weights=[2, 1, 1, 1])
    assert doubled == pytest.approx(evaluate(name, np.append(scores, 0.5), np.append(targets, 1)))


def test_bad_input_is_refused_with_a_remedy():
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match="one target for each row"):
        Risk(X, targets[:-1])
    with pytest.raises(ValueError, match="one weight for each row"):
        Risk(X, targets, weights=np.ones(3))
    with pytest.raises(ValueError, match="alpha must be a finite number"):
        Risk(X, targets, alpha=-1.0)
    with pytest.raises(ValueError, match="X is empty"):
        Risk(X[:0], targets[:0])
    with pytest.raises(ValueError, match="tol must be > 0"):
        minimize(Risk(X, targets), tol=0.0)
    with pytest.raises(ValueError, match="Unknown solver 'adam'"):
        minimize(Risk(X, targets), "adam")


def test_one_class_is_refused():
    X = np.ones((12, 2))
    for loss in ("hinge", "logistic", "squared", "softmax"):
        for targets in (np.zeros(12, dtype=int), np.ones(12, dtype=int)):
            with pytest.raises(ValueError, match=r"All 12 targets are of one class.*give rows of another"):
                Risk(X, targets, loss=loss)
    Risk(X, np.zeros(12, dtype=int), loss="hinge", n_classes=2)  # meant


def test_params_are_views_of_one_vector():
    params = Params.of(np.arange(6.0).reshape(2, 3), np.array([7.0, 8.0]))
    params.W[1, 2] = -1.0
    params.b[0] = -2.0
    assert params.flat.tolist() == [0, 1, 2, 3, 4, -1, -2, 8]


def test_regularizer_names_are_known():
    assert set(REGULARIZERS) >= {"none", "l2", "l1", "elastic-net", "group-l1"}
    assert all(regularizer.name == name for name, regularizer in REGULARIZERS.items())
