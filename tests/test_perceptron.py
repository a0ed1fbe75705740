"""The perceptron rule and its estimator."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import oracle_sgd
from conftest import tiny_problem
from nearline import (
    ConvergenceWarning,
    DecayingStep,
    KernelPerceptron,
    LinearClassifier,
    Params,
    Perceptron,
    Risk,
    minimize,
    num_threads,
)
from nearline.losses import LOSSES
from nearline.solvers import PerceptronRule
from nearline.solvers.perceptron import MULTICLASS, no_longer_helps, perceptron_rule

# A weight scales a correction and no more.
REPEATED = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "a repeated row is corrected again only if it is still mistaken",
)


@pytest.mark.filterwarnings("ignore::nearline.solvers.ConvergenceWarning")
@parametrize_with_checks(
    [
        Perceptron(),
        Perceptron("one-vs-rest", averaged=True, max_iter=20, random_state=0),
        Perceptron("argmax", averaged=True),
    ],
    expected_failed_checks=lambda model: REPEATED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_a_fit_says_how_it_went():
    """D13: the rule is the solver; it minimizes no risk, so there is no gap, and the bound is its certificate."""
    X, y = load_iris(return_X_y=True)
    model = Perceptron().fit(X[:100], y[:100])
    assert (model.solver_, model.gap_, model.converged_) == ("perceptron", None, True)
    assert model.n_iter_ >= 1
    assert model.mistakes_ <= model.bound_
    assert Perceptron().partial_fit(X, y, classes=[0, 1, 2]).solver_ == "perceptron"


# -- worked examples --------------------------------------------------------------------------------------


def test_two_points():
    """E3: 0 -> (2, 2) -> (0, 3), then no mistakes."""
    X, y = np.array([[2.0, 2.0], [2.0, -1.0]]), np.array([1, 0])
    states = [perceptron_rule(X[:1], y[:1], bias=False, max_iter=1).params]
    states.append(perceptron_rule(X[1:], y[1:], bias=False, max_iter=1, start=states[0]).params)
    np.testing.assert_array_equal(states[0].W, [[2.0, 2.0]])
    np.testing.assert_array_equal(states[1].W, [[0.0, 3.0]])
    result = perceptron_rule(X, y, bias=False)
    np.testing.assert_array_equal(result.params.W, [[0.0, 3.0]])
    assert (result.mistakes, result.n_iter, result.converged) == (2, 2, True)
    # w = (0, 3): margins 2 and 1, R^2 = 8.
    assert result.radius == pytest.approx(np.sqrt(8))
    assert result.margins == pytest.approx([1.0])
    assert result.bound == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("multiclass", "gains"), [("joint", [1, -1, 0]), ("argmax", [1, -1, 0]), ("one-vs-rest", [0, -1, -1])]
)
def test_cat_dog_ship(multiclass, gains):
    """E6: scores cat 65.1, dog 101.4, ship 24.9 of a cat; joint leaves the ship, independent rules leave the cat."""
    x = np.array([[1.0, 2.0]])
    start = Params.of(np.array([[65.1, 0.0], [101.4, 0.0], [24.9, 0.0]]), np.zeros(3))
    after = perceptron_rule(x, [0], multiclass=multiclass, bias=False, max_iter=1, start=start).params
    np.testing.assert_allclose(after.W - start.W, np.outer(gains, x[0]), atol=1e-12)


def test_joint_corrects_for_each_violating_class():
    """B8: two classes above the own one lower both and raise the own twice; argmax takes the worst only."""
    start = Params.of(np.array([[1.0], [2.0], [3.0]]), np.zeros(3))
    joint = perceptron_rule([[1.0]], [0], max_iter=1, start=start)
    np.testing.assert_array_equal(joint.params.W[:, 0], [3.0, 1.0, 2.0])
    np.testing.assert_array_equal(joint.params.b, [2.0, -1.0, -1.0])
    assert joint.mistakes == 2
    worst = perceptron_rule([[1.0]], [0], multiclass="argmax", max_iter=1, start=start)
    np.testing.assert_array_equal(worst.params.W[:, 0], [2.0, 2.0, 2.0])
    assert worst.mistakes == 1


# -- against plain loops ----------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 6),
    multiclass=st.sampled_from(MULTICLASS),
    bias=st.booleans(),
    weighted=st.booleans(),
)
def test_equals_the_plain_loop(seed, n_classes, multiclass, bias, weighted):
    """D9: integers stay exact, so dense, CSR, float32 and the slow loop agree to the last bit."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(25, 5)) * (rng.random((25, 5)) < 0.6)
    targets = rng.integers(0, n_classes, 25)
    weights = rng.integers(0, 3, 25).astype(float) if weighted else np.ones(25)
    W, b, sum_W, sum_b, mistakes, cycles, converged = oracle_sgd.perceptron(
        X, targets, n_classes, multiclass, weights, bias, 6
    )
    for design in (X.astype(float), X.astype(np.float32), csr_matrix(X.astype(float))):
        result = perceptron_rule(
            design, targets, n_classes=n_classes, multiclass=multiclass, weights=weights, bias=bias,
            averaged=True, max_iter=6,
        )  # fmt: skip
        np.testing.assert_array_equal(result.params.W, W)
        np.testing.assert_array_equal(result.params.b, b)
        assert (result.mistakes, result.n_iter, result.converged) == (mistakes, cycles, converged)
        if n_classes == 2 or multiclass != "one-vs-rest":  # there a column stops when it is done
            np.testing.assert_array_equal(result.total.W, sum_W)
            np.testing.assert_array_equal(result.total.b, sum_b)


@pytest.mark.parametrize("sparse", [False, True])
def test_bits_do_not_depend_on_threads(sparse):
    X, targets = tiny_problem(7, n=2000, d=30, sparse=sparse)
    predictions = set()
    for threads in (1, 2, 3):
        with num_threads(threads):
            result = perceptron_rule(
                X, targets, multiclass="one-vs-rest", averaged=True, random_state=3, max_iter=4
            )
            predictions.add(result.params.flat.tobytes() + result.mean.flat.tobytes())
    assert len(predictions) == 1


# -- the bound --------------------------------------------------------------------------------------------


def separable(seed, n_classes, *, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4 * n, d))
    scores = X @ rng.normal(size=(n_classes, d)).T
    ordered = np.sort(scores, axis=1)
    clear = np.argsort(ordered[:, -2] - ordered[:, -1])[:n]
    return X[clear], scores[clear].argmax(axis=1)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 4),
    multiclass=st.sampled_from(["joint", "argmax"]),
    weighted=st.booleans(),
)
def test_bound_is_reported_and_holds(seed, n_classes, multiclass, weighted):
    """D9: (R / gamma)^2, with the factor of the multi-class rule and of the weights."""
    X, targets = separable(seed, n_classes)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(X)) if weighted else None
    result = perceptron_rule(
        X, targets, n_classes=n_classes, multiclass=multiclass, weights=weights, max_iter=100_000
    )
    assert result.converged
    assert result.mistakes <= result.bound
    norm = np.sqrt((result.params.flat**2).sum())
    scores = X @ result.params.W.T + result.params.b
    if n_classes == 2:
        gamma = (np.where(targets == 1, 1, -1) * scores[:, 0]).min() / norm
    else:
        rows = np.arange(len(X))
        rivals = scores.copy()
        rivals[rows, targets] = -np.inf
        gamma = (scores[rows, targets] - rivals.max(axis=1)).min() / norm
    assert result.margins[0] == pytest.approx(gamma, rel=1e-9)
    assert result.radius == pytest.approx(np.sqrt((X**2).sum(axis=1).max() + 1))


def test_bound_of_one_vs_rest_and_where_there_is_none():
    rng = np.random.default_rng(0)
    targets = np.repeat([0, 1, 2], 20)
    X = 8.0 * np.eye(3)[targets] + rng.normal(size=(60, 3))
    result = perceptron_rule(X, targets, multiclass="one-vs-rest")
    assert result.converged
    assert result.margins.shape == (3,)
    assert result.mistakes <= result.bound
    again = perceptron_rule(X, targets, multiclass="one-vs-rest", start=result.params)
    assert (again.mistakes, again.n_iter) == (0, 1)
    assert 0 <= again.bound < result.bound
    xor = perceptron_rule([[0.0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], max_iter=50)
    assert (xor.converged, xor.bound, xor.n_iter) == (False, None, 50)


def somewhere(seed, n_classes, d=3):
    """Weights and biases to start from."""
    rng = np.random.default_rng(seed + 1)
    K = 1 if n_classes == 2 else n_classes
    return Params.of(3.0 * rng.normal(size=(K, d)), 3.0 * rng.normal(size=K))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 4),
    multiclass=st.sampled_from(MULTICLASS),
    bias=st.booleans(),
    first=st.sampled_from([0.1, 1.0, 3.0]),
    decay=st.sampled_from([0.0, 0.3]),
    started=st.booleans(),
)
def test_steps_and_starts_equal_the_plain_loop(seed, n_classes, multiclass, bias, first, decay, started):
    """D9: corrections times eta / (1 + decay t) in cycle t, from anywhere."""
    X, targets = separable(seed, n_classes, n=20)
    start, step = somewhere(seed, n_classes) if started else None, DecayingStep(first, decay)
    W, b, sum_W, sum_b, mistakes, cycles, converged = oracle_sgd.perceptron(
        X, targets, n_classes, multiclass, np.ones(20), bias, 7, start, lambda t: first / (1 + decay * t)
    )
    result = perceptron_rule(
        X, targets, n_classes=n_classes, multiclass=multiclass, bias=bias, averaged=True, max_iter=7, start=start,
        step_size=step if decay else first,
    )  # fmt: skip
    assert (result.mistakes, result.n_iter, result.converged) == (mistakes, cycles, converged)
    np.testing.assert_allclose(result.params.W, W, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(result.params.b, b, rtol=1e-9, atol=1e-9)
    if multiclass != "one-vs-rest" or n_classes == 2:  # whose columns end one by one
        np.testing.assert_allclose(result.total.W, sum_W, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(result.total.b, sum_b, rtol=1e-9, atol=1e-9)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 4),
    multiclass=st.sampled_from(MULTICLASS),
    first=st.sampled_from([0.05, 1.0, 20.0]),
    decay=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
)
def test_bound_holds_for_any_start_and_step(seed, n_classes, multiclass, first, decay, weighted):
    X, targets = separable(seed, n_classes)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(X)) if weighted else None
    start = somewhere(seed, n_classes)
    result = perceptron_rule(
        X, targets, n_classes=n_classes, multiclass=multiclass, weights=weights, max_iter=3000, start=start,
        step_size=DecayingStep(first, decay),
    )  # fmt: skip
    assert (result.bound is None) == (not result.converged)
    assert result.bound is None or result.mistakes <= result.bound


def test_from_zero_a_step_size_scales_the_weights():
    X, targets = separable(5, 2)
    one, half = Perceptron().fit(X, targets), Perceptron(step_size=0.5).fit(X, targets)
    np.testing.assert_array_equal(half.coef_, 0.5 * one.coef_)
    assert (half.mistakes_, half.bound_) == (one.mistakes_, pytest.approx(one.bound_))


def test_the_estimator_takes_a_start():
    X, targets = separable(5, 2)
    start = Params.of(np.array([[5.0, -5.0, 5.0]]), np.zeros(1))
    model = Perceptron(step_size=DecayingStep(1.0, 0.1)).fit(X, targets, start=start)
    plain = perceptron_rule(X, targets, start=start, step_size=DecayingStep(1.0, 0.1))
    np.testing.assert_array_equal(model.coef_, plain.params.W)
    assert model.mistakes_ <= model.bound_
    with pytest.raises(
        ValueError, match=r"start must be Params with weights of shape \(1, 3\), got .*Params.of"
    ):
        model.fit(X, targets, start=Params.zeros(1, 2))
    with pytest.raises(ValueError, match="step_size must be a finite number > 0, or DecayingStep"):
        Perceptron(step_size=-1.0).fit(X, targets)
    with pytest.raises(ValueError, match="decay of a DecayingStep must be a finite number >= 0, got -1"):
        DecayingStep(1.0, -1)


def test_weights_scale_the_corrections():
    """Weights times a constant change nothing but the scale; weight 2 is a row twice in a row, while it is mistaken."""
    X, targets = separable(3, 2)
    one, three = (perceptron_rule(X, targets, weights=np.full(len(X), s)) for s in (1.0, 3.0))
    np.testing.assert_allclose(three.params.flat, 3.0 * one.params.flat, rtol=1e-12)
    assert one.mistakes == three.mistakes
    start = Params.of(np.array([[-10.0]]), np.zeros(1))  # one correction does not mend it
    twice = perceptron_rule([[1.0], [1.0]], [1, 1], max_iter=1, start=start)
    weighted = perceptron_rule([[1.0]], [1], weights=[2.0], max_iter=1, start=start)
    np.testing.assert_array_equal(twice.params.flat, weighted.params.flat)


# -- by name ----------------------------------------------------------------------------------------------


def test_by_name_for_its_own_losses():
    X, targets = separable(0, 2)
    solution = minimize(Risk(X, targets, loss="perceptron", alpha=0.0), "perceptron")
    expected = perceptron_rule(X, targets)
    assert solution.converged
    assert solution.n_iter in (expected.n_iter - 1, expected.n_iter)  # the last cycle only looks
    np.testing.assert_array_equal(solution.params.flat, expected.params.flat)
    X, targets = separable(1, 3)
    joint = minimize(Risk(X, targets, loss="multiclass-perceptron", alpha=0.0), "perceptron", max_iter=50_000)
    assert joint.converged
    model = LinearClassifier("perceptron", alpha=0.0, solver="perceptron").fit(*separable(2, 2))
    assert model.solver_ == "perceptron"


def test_refuses_all_other_losses():
    X, targets = tiny_problem(2)
    for name, loss in LOSSES.items():
        reason = PerceptronRule().refuses(Risk(X, targets, loss=name, alpha=0.0))
        if name in ("perceptron", "multiclass-perceptron"):
            assert reason is None
        else:
            assert f"'{name}'" in reason
            assert "'sgd'" in reason or loss.refusal is not None
    with pytest.raises(ValueError, match=r"takes no penalty \(set alpha=0\)"):
        minimize(Risk(X, targets, loss="perceptron", alpha=0.1), "perceptron")


# -- the estimator ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("multiclass", MULTICLASS)
def test_estimator_on_iris_and_digits(multiclass):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = Perceptron(multiclass, averaged=True, max_iter=100, random_state=0).fit(X, names)
    # No line tells versicolor from the two others, so rules of their own do worse than a joint one.
    assert model.score(X, names) > (0.6 if multiclass == "one-vs-rest" else 0.9)
    assert model.coef_.shape == (3, 4)
    X, y = load_digits(return_X_y=True)
    model = Perceptron(multiclass, random_state=0, averaged=True, max_iter=30).fit(X / 16, y)
    assert model.score(X / 16, y) > 0.95


def test_estimator_says_when_it_did_not_end():
    X, y = [[0.0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="never ends if the rows are not separable"):
        model = Perceptron(averaged=False, max_iter=10).fit(X, y)
    assert (model.converged_, model.bound_, model.n_iter_) == (False, None, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron(max_iter=10).fit(X, y)


def test_float32_is_kept_and_warm_start_goes_on():
    X, targets = separable(0, 2)
    model = Perceptron(warm_start=True).fit(X.astype(np.float32), targets)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.converged_
    assert model.mistakes_ <= model.bound_
    first = model.coef_.copy()
    model.fit(X.astype(np.float32), targets)
    assert (model.mistakes_, model.n_iter_) == (0, 1)
    assert model.bound_ >= 0
    np.testing.assert_array_equal(model.coef_, first)


@pytest.mark.parametrize("averaged", [False, True])
def test_partial_fit_is_one_cycle_in_parts(averaged):
    """E12."""
    X, targets = tiny_problem(3)
    whole = Perceptron(averaged=averaged).partial_fit(X, targets, classes=[0, 1, 2])
    parts = Perceptron(averaged=averaged)
    for rows in (slice(0, 13), slice(13, None)):
        parts.partial_fit(X[rows], targets[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-12)
    assert parts.mistakes_ == whole.mistakes_


def test_bad_input():
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match="multiclass must be one of 'joint'"):
        Perceptron("pairs").fit(X, targets)
    with pytest.raises(ValueError, match="max_iter must be a whole number"):
        perceptron_rule(X, targets, max_iter=-1)
    with pytest.raises(ValueError, match="one for each row"):
        perceptron_rule(X, targets[:-1])
    with pytest.raises(ValueError, match="start has weights for 3 features"):
        perceptron_rule(X, targets, start=Params.zeros(1, 3))
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        Perceptron().partial_fit(X, targets)
    with pytest.raises(ValueError, match="not in classes"):
        Perceptron().partial_fit(X, targets + 5, classes=[0, 1])
    with pytest.raises(ValueError, match="'balanced' needs all rows"):
        Perceptron(class_weight="balanced").partial_fit(X, targets, classes=[0, 1])


# -- rows that are not separable --------------------------------------------------------------------------


def noisy(n=4000, d=20, n_classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + 2.0 * rng.normal(size=(n, n_classes))
    return X, scores.argmax(axis=1)


def counted(X, targets, n_iter, **settings):
    """Mistakes of each cycle, by running ever longer."""
    totals = [
        0,
        *(perceptron_rule(X, targets, max_iter=t, **settings).mistakes for t in range(1, n_iter + 1)),
    ]
    return np.diff(totals).tolist()


@pytest.mark.parametrize("multiclass", ["joint", "argmax"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_cycles_end_once_they_no_longer_help(n_classes, multiclass, monkeypatch):
    """The stated rule, to the cycle; and the mean is the answer, on any number of threads."""
    monkeypatch.setattr("nearline.solvers._perceptron.CHEAP", 1)
    X, y = noisy(400, n_classes=n_classes)
    model = Perceptron(multiclass, random_state=1).fit(X, y)
    assert not model.converged_
    assert 10 <= model.n_iter_ < 200
    mistakes = counted(X, y, model.n_iter_, multiclass=multiclass, random_state=1)
    ended = [no_longer_helps(mistakes[:t], 10) for t in range(1, len(mistakes) + 1)]
    assert ended == [False] * (len(ended) - 1) + [True]
    mean = perceptron_rule(
        X, y, multiclass=multiclass, random_state=1, averaged=True, max_iter=model.n_iter_
    ).mean
    np.testing.assert_array_equal(model.coef_, mean.W)
    last = Perceptron(multiclass, averaged=False, random_state=1)
    with pytest.warns(ConvergenceWarning, match="not separable"):
        last.fit(X, y)
    assert model.score(X, y) > last.score(X, y)


def test_columns_of_one_vs_rest_end_by_themselves(monkeypatch):
    """Each column ends as if it were alone, and those that separate keep their last weights."""
    monkeypatch.setattr("nearline.solvers._perceptron.CHEAP", 1)
    X, y = noisy(400, n_classes=3)
    X = np.hstack([X, 100.0 * (y == 0)[:, None]])  # class 0 is easy
    fits = []
    for threads in (1, 3):
        with num_threads(threads):
            fits.append(Perceptron("one-vs-rest", random_state=1).fit(X, y))
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    for c in range(3):
        alone = Perceptron(random_state=1).fit(X, y == c)
        np.testing.assert_array_equal(fits[0].coef_[c], alone.coef_[0])
        assert alone.converged_ == (c == 0)


def test_separable_rows_keep_the_last_weights():
    X, y = separable(1, 3)
    model = Perceptron().fit(X, y)
    assert model.converged_
    np.testing.assert_array_equal(model.coef_, perceptron_rule(X, y).params.W)
    np.testing.assert_array_equal(model.coef_, Perceptron(averaged=False).fit(X, y).coef_)


def test_small_problems_are_given_the_time_to_end():
    """Rows with a margin of 1e-3 take hundreds of cycles, which cost nothing."""
    X = np.array([[1.0, 1.0], [1.0, 1.001], [-1.0, 1.0], [-3.0, -3.0]])
    result = perceptron_rule(X, [1, 0, 0, 1], max_iter=10_000, while_it_helps=True)
    assert result.converged
    assert result.n_iter > 100


def test_the_kernel_perceptron_ends_by_the_same_rule(monkeypatch):
    monkeypatch.setattr("nearline.solvers._perceptron.CHEAP", 1)
    X, y = noisy(150, 3)
    model = KernelPerceptron("linear", max_iter=300).fit(X, y)
    assert 10 <= model.n_iter_ < 300
    assert no_longer_helps(model.mistakes_, 10)
    assert not any(no_longer_helps(model.mistakes_[:t], 10) for t in range(1, model.n_iter_))
    assert model.score(X, y) >= KernelPerceptron("linear", averaged=False, max_iter=300).fit(X, y).score(X, y)
