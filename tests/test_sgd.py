"""The step, many steps, schedules, averages, certificates."""

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

import oracle_sgd
from conftest import tiny_problem
from nearline import SGD, Params, Risk, minimize, num_threads, sgd_step
from nearline.losses import LOSSES, Loss, signs
from nearline.regularizers import REGULARIZERS, ElasticNet

SERVED = [name for name, loss in LOSSES.items() if loss.refusal is None]
LOOPS = [name for name in SERVED if LOSSES[name].compiled is not None]


def columns(loss, n_classes):
    return n_classes if LOSSES[loss].joint or n_classes > 2 else 1


def repeated_steps(X, targets, weights, batch_size, etas, **settings):
    """Iterates of sgd_step over the rows in order."""
    dense = X.toarray() if hasattr(X, "toarray") else X
    params, iterates = settings.pop("params"), []
    for step, eta in enumerate(etas):
        rows = slice(step * batch_size, (step + 1) * batch_size)
        params = sgd_step(params, dense[rows], targets[rows], eta=eta, weights=weights[rows], **settings)
        iterates.append(params.flat)
    return np.array(iterates)


# -- one step ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [+1, -1])
@pytest.mark.parametrize("kind", ["squared", "logistic", "perceptron", "hinge"])
def test_step_is_the_table_two_classes(kind, y):
    """D15, row by row."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        w, x = rng.normal(size=(2, 3))
        step = sgd_step(Params.of(w[None], np.zeros(1)), x, y, loss=kind, eta=0.3, bias=False)
        np.testing.assert_allclose(step.W[0], oracle_sgd.table_step(kind, w, x, y, 0.3), rtol=1e-13)
        assert step.b[0] == 0.0


@pytest.mark.parametrize("kind", ["softmax", "multiclass-perceptron", "weston-watkins"])
def test_step_is_the_table_joint(kind):
    """D15: softmax, multi-class perceptron and SVM."""
    rng = np.random.default_rng(1)
    for y in (0, 1, 2):
        W, x = rng.normal(size=(3, 4)), rng.normal(size=4)
        step = sgd_step(Params.of(W, np.zeros(3)), x, y, loss=kind, eta=0.2, bias=False)
        np.testing.assert_allclose(step.W, oracle_sgd.table_step_joint(kind, W, x, y, 0.2), rtol=1e-12)


def test_step_penalties_and_bias():
    """D15: (1 - eta alpha) w, the proximal and the teaching L1 step; the bias takes the data step only."""
    W, x, eta, alpha = np.array([[0.5, -0.02, 0.0, 2.0]]), np.array([1.0, 0.0, 0.0, -1.0]), 0.1, 0.5
    params = Params.of(W, np.array([0.3]))
    data = (W @ x + 0.3 < 1) * x
    decayed = sgd_step(params, x, 1, loss="hinge", eta=eta, alpha=alpha)
    np.testing.assert_allclose(decayed.W[0], (1 - eta * alpha) * W[0] + eta * data)
    np.testing.assert_allclose(decayed.b, 0.3 + eta)
    teaching = sgd_step(
        params, x, 1, loss="hinge", eta=eta, alpha=alpha, regularizer="l1", l1_step="subgradient"
    )
    np.testing.assert_allclose(teaching.W[0], W[0] + eta * data - eta * alpha * np.sign(W[0]))
    proximal = sgd_step(params, x, 1, loss="hinge", eta=eta, alpha=alpha, regularizer="l1")
    moved = W[0] + eta * data
    np.testing.assert_allclose(proximal.W[0], np.sign(moved) * np.maximum(np.abs(moved) - eta * alpha, 0))
    assert proximal.W[0, 1] == 0.0
    np.testing.assert_array_equal(params.W, W)  # the step is pure


@pytest.mark.parametrize("loss", SERVED)
def test_batch_takes_the_mean_of_the_gradients(loss):
    """D4, D15."""
    X, targets = tiny_problem(3)
    start = Params.of(np.random.default_rng(0).normal(size=(3, 4)), np.ones(3))
    batch = sgd_step(start, X[:5], targets[:5], loss=loss, eta=0.2)
    moves = [sgd_step(start, X[i], targets[i], loss=loss, eta=0.2).flat - start.flat for i in range(5)]
    np.testing.assert_allclose(batch.flat, start.flat + np.mean(moves, axis=0), rtol=1e-12)


# -- many steps -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("regularizer", list(REGULARIZERS))
@pytest.mark.parametrize("loss", LOOPS)
def test_loop_equals_repeated_steps(loss, regularizer):
    """D15: the compiled loop (lazy decay, lazy thresholds, lazy sums) agrees with sgd_step, dense and CSR."""
    for n_classes in (2, 3):
        X, targets = tiny_problem(n_classes)
        weights = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
        K = columns(loss, n_classes)
        start = Params.of(np.random.default_rng(1).normal(size=(K, 4)), np.zeros(K))
        shared = {"loss": loss, "alpha": 0.2, "regularizer": regularizer, "weights": weights}
        for batch_size in (1, 7):
            sgd = SGD(schedule="decaying", eta=0.1, decay=0.01, batch_size=batch_size)
            t = np.arange(-(-len(X) // batch_size))
            iterates = repeated_steps(
                X, targets, weights, batch_size, 0.1 / (1 + 0.01 * t), params=start,
                loss=loss, alpha=0.2, regularizer=regularizer,
            )  # fmt: skip
            mean = np.average(iterates, axis=0, weights=t + 1.0)
            for design in (X, csr_matrix(X)):
                progress = sgd.begin(start)
                sgd.partial_fit(progress, design, targets, **shared)
                np.testing.assert_allclose(progress.params.flat, iterates[-1], rtol=1e-11, atol=1e-13)
                np.testing.assert_allclose(progress.mean.flat, mean, rtol=1e-11, atol=1e-13)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    alpha=st.sampled_from([0.0, 1e-3, 0.3, 2.0, 10.0]),
    rho=st.sampled_from([0.0, 0.3, 1.0]),
    K=st.integers(1, 9),
)
def test_lazy_sparse_equals_dense(seed, alpha, rho, K):
    """Waiting thresholds and one common scale change nothing, whatever the strength (eta alpha = 1 included)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.3)
    targets = rng.integers(0, max(K, 2), 30)
    predictions = []
    for design in (X, csr_matrix(X)):
        sgd = SGD(schedule="constant", eta=0.1)
        progress = sgd.begin(Params.of(np.linspace(-1, 1, 6 * K).reshape(K, 6), np.zeros(K)))
        for _ in range(3):
            sgd.partial_fit(progress, design, targets, loss="hinge", alpha=alpha, regularizer=ElasticNet(rho))
        predictions.append((progress.params.flat.copy(), progress.mean.flat))
    for dense, sparse in zip(*predictions):
        np.testing.assert_allclose(sparse, dense, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(predictions[0][0] == 0, predictions[1][0] == 0)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "softmax"])
def test_bits_do_not_depend_on_threads(loss, sparse):
    X, targets = tiny_problem(7, n=2000, d=30, sparse=sparse)
    predictions = []
    for threads in (1, 2, 3, 5):
        with num_threads(threads):
            sgd = SGD()
            progress = sgd.begin(Params.zeros(7, 30))
            sgd.partial_fit(progress, X, targets, loss=loss, alpha=1e-3, regularizer="elastic-net")
            predictions.append(progress.params.flat.tobytes())
    assert len(set(predictions)) == 1


def test_float32_rows_and_zero_weights():
    X, targets = tiny_problem(3, dtype=np.float32)
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    kept = weights > 0
    fixed = SGD(eta=0.1)
    a, b = fixed.begin(Params.zeros(3, 4)), fixed.begin(Params.zeros(3, 4))
    fixed.partial_fit(a, X, targets, weights=weights)
    fixed.partial_fit(b, X[kept], targets[kept])
    np.testing.assert_array_equal(a.params.flat, b.params.flat)
    assert a.t == b.t == kept.sum()


# -- a risk -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("regularizer", ["l2", "elastic-net"])
@pytest.mark.parametrize("loss", SERVED)
def test_converges_with_a_certificate(loss, regularizer):
    """D3, D13: the gap is reached and true, for smooth losses and for those with kinks."""
    for n_classes in (2, 3):
        X, targets = tiny_problem(n_classes)
        risk = Risk(X, targets, loss=loss, regularizer=regularizer, alpha=0.05, n_classes=n_classes)
        solution = minimize(risk, "sgd", tol=5e-3)
        assert solution.converged, (solution.gap, solution.n_iter)
        better = minimize(risk, SGD(random_state=1), tol=2e-3, max_iter=3000)
        assert solution.value - better.value <= solution.gap * risk.null_value + 1e-9
        assert solution.value == pytest.approx(risk.value(solution.params), rel=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared", "squared-hinge", "sparsemax"])
def test_reaches_the_objective_of_lbfgs(loss):
    X, targets = tiny_problem(3)
    risk = Risk(X, targets, loss=loss, alpha=0.02)
    exact = minimize(risk, "lbfgs", tol=1e-9).value
    for solver in (SGD(), SGD(batch_size=5), SGD(schedule="optimal"), SGD(averaged=False)):
        excess = minimize(risk, solver, tol=1e-2, max_iter=3000).value - exact
        assert -1e-9 <= excess <= 1e-2 * risk.null_value


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_l1_gives_exact_zeros(loss):
    """C3: useless features get weight exactly 0, averaged or not."""
    X, targets = tiny_problem(2)
    noise = 0.3 * np.random.default_rng(5).normal(size=(len(X), 6))
    risk = Risk(np.hstack([X, noise]), targets, loss=loss, regularizer="l1", alpha=0.2)
    for averaged in (True, False):
        solution = minimize(risk, SGD(averaged=averaged), tol=5e-2, max_iter=500)
        assert (solution.params.W == 0).sum() >= 3


def test_integer_weights_are_repeated_rows():
    """(R1): the same minimum; the paths differ, as a repeated row is visited more often."""
    X, targets = tiny_problem(2)
    counts = np.arange(len(X)) % 3
    tight = {"tol": 1e-3, "max_iter": 3000}
    weighted = minimize(Risk(X, targets, alpha=0.05, weights=counts), "sgd", **tight)
    repeated = minimize(
        Risk(np.repeat(X, counts, axis=0), np.repeat(targets, counts), alpha=0.05), "sgd", **tight
    )
    assert weighted.value == pytest.approx(repeated.value, abs=2e-3)


def test_unpenalized_kinks_pass_the_stated_gradient_test():
    X, targets = tiny_problem(2)
    risk = Risk(X, targets, loss="hinge", alpha=0.0)
    solution = minimize(risk, "sgd", tol=2e-2)
    assert solution.converged
    assert solution.gap is None
    assert solution.value <= min(minimize(risk, SGD(random_state=s), tol=5e-3).value for s in (1, 2)) + 0.05


def test_seed_and_order():
    X, targets = tiny_problem(2)
    risk = Risk(X, targets, alpha=0.01)
    runs = [minimize(risk, SGD(random_state=s), tol=1e-9, max_iter=3).params.flat for s in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()
    in_order = SGD(shuffle=False, schedule="constant", eta=0.05)
    progress = in_order.begin(Params.zeros(1, 4))
    for _ in range(2):
        in_order.partial_fit(progress, X, targets, alpha=0.01)
    solution = minimize(risk, in_order, tol=1e-9, max_iter=2)
    np.testing.assert_allclose(solution.params.W, progress.mean.W, rtol=1e-9)


def test_looks_are_spaced_and_the_last_pass_has_one():
    X, targets = tiny_problem(2)
    risk = Risk(X, targets, alpha=0.01)
    often, seldom = (minimize(risk, SGD(look_every=k), tol=1e-9, max_iter=7) for k in (1, 3))
    np.testing.assert_array_equal(seldom.params.flat, often.params.flat)
    assert seldom.gap == often.gap
    looked = np.array([0, 3, 6, 7])
    np.testing.assert_array_equal(seldom.trace[looked], often.trace[looked])
    np.testing.assert_array_equal(seldom.trace, often.trace[[0, 0, 0, 3, 3, 3, 6, 7]])


def test_sparse_rows_need_not_be_in_order():
    X, targets = tiny_problem(3, sparse=True)
    shuffled = X.copy()
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        shuffled.indices[row], shuffled.data[row] = X.indices[row][::-1], X.data[row][::-1]
    shuffled.has_sorted_indices = shuffled.has_canonical_format = False
    sgd = SGD()
    for regularizer in ("l2", "l1"):
        a, b = sgd.begin(Params.zeros(3, 4)), sgd.begin(Params.zeros(3, 4))
        sgd.partial_fit(a, X, targets, regularizer=regularizer)
        sgd.partial_fit(b, shuffled, targets, regularizer=regularizer)
        np.testing.assert_allclose(a.params.flat, b.params.flat, rtol=1e-12)


@dataclass(frozen=True)
class Cauchy(Loss):
    """A loss written in Python: log(1 + (1 - z)^2)."""

    name: ClassVar[str] = "cauchy"

    def value_and_gradient(self, scores, targets):
        y = signs(targets, scores.shape[1])
        r = 1 - y * scores
        return np.log1p(r**2).sum(axis=1), -y * 2 * r / (1 + r**2)


@pytest.mark.parametrize("sparse", [False, True])
def test_losses_written_in_python(sparse):
    X, targets = tiny_problem(2, sparse=sparse)
    risk = Risk(X, targets, loss=Cauchy(), alpha=0.1)
    exact = minimize(risk, "lbfgs", tol=1e-6).value
    assert minimize(risk, SGD(batch_size=4), tol=1e-2, max_iter=200).value == pytest.approx(exact, abs=5e-3)


def test_label_distributions():
    """B12: targets may be label sets."""
    X, targets = tiny_problem(3)
    Q = np.eye(3)[targets] * 0.5 + np.eye(3)[(targets + 1) % 3] * 0.5
    for loss in ("sparsemax", "softmax"):
        risk = Risk(X, Q, loss=loss, alpha=0.05)
        exact = minimize(risk, "lbfgs", tol=1e-8).value
        assert minimize(risk, "sgd", tol=1e-2).value == pytest.approx(exact, abs=1e-2 * risk.null_value)


# -- batches one after the other, and bad input -----------------------------------------------------------


def test_partial_fit_goes_on_where_it_was():
    """E12: two halves are one whole, for the iterate, the mean and the schedule."""
    X, targets = tiny_problem(3)
    sgd = SGD(eta=0.1)
    whole, halves = sgd.begin(Params.zeros(3, 4)), sgd.begin(Params.zeros(3, 4))
    sgd.partial_fit(whole, X, targets, loss="softmax", alpha=0.01)
    for rows in (slice(0, 17), slice(17, None)):
        answer = sgd.partial_fit(halves, X[rows], targets[rows], loss="softmax", alpha=0.01)
    np.testing.assert_allclose(halves.params.flat, whole.params.flat, rtol=1e-12)
    np.testing.assert_allclose(answer.flat, whole.mean.flat, rtol=1e-11)
    assert halves.t == whole.t == len(X)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"eta": 0.0}, "eta (the step size) must be a finite number > 0, got 0.0"),
        ({"eta": -1.0}, "must be a finite number > 0"),
        ({"schedule": "slow"}, "Unknown schedule 'slow': choose among 'auto', 'constant'"),
        ({"batch_size": 0}, "batch_size must be a whole number >= 1"),
        ({"look_every": 0}, "look_every must be a whole number >= 1"),
        ({"decay": -1.0}, "decay must be a finite number >= 0"),
    ],
)
def test_bad_settings(settings, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        SGD(**settings)


def test_bad_steps():
    X, targets = tiny_problem(2)
    start = Params.zeros(1, 4)
    with pytest.raises(ValueError, match="eta"):
        sgd_step(start, X[0], 1, eta=0.0)
    with pytest.raises(ValueError, match="too large for alpha"):
        sgd_step(start, X[0], 1, eta=3.0, alpha=1.0)
    with pytest.raises(ValueError, match="l1_step"):
        sgd_step(start, X[0], 1, eta=1.0, l1_step="other")
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="SGD diverged with eta"):
        minimize(
            Risk(X, targets, loss="squared", alpha=0.0), SGD(eta=100.0, schedule="constant"), max_iter=300
        )
    for loss in ("zero-one", "perceptron", "multiclass-perceptron"):
        with pytest.raises(ValueError, match="minimi"):
            minimize(Risk(X, targets, loss=loss), "sgd")


@pytest.mark.parametrize(
    ("loss", "regularizer", "least"),
    [
        ("softmax", "l1", 0.95),
        ("logistic", "l1", 0.95),
        ("softmax", "elastic-net", 0.9),
        ("hinge", "l1", 0.85),
    ],
)
def test_zeros_are_those_of_the_optimum(loss, regularizer, least):
    """Of the weights that are 0 at the optimum most are 0, few others are, and the risk is not the higher for it."""
    X, y = load_digits(return_X_y=True)
    risk = Risk(X[:600] / 16, y[:600], loss=loss, regularizer=regularizer, alpha=0.01)
    best = minimize(risk, tol=1e-6).params.W == 0
    callback_states = []
    found = minimize(risk, SGD(look_every=100), max_iter=100, callback=lambda n, s: callback_states.append(s))
    zeros = found.params.W == 0
    assert (zeros & best).sum() >= least * best.sum()
    assert (zeros & ~best).sum() <= 0.15 * (~best).sum()
    assert found.value <= risk.value(callback_states[-1].progress.mean)


def test_zeros_do_not_depend_on_the_form_of_x():
    X, y = load_digits(return_X_y=True)
    fits = [
        minimize(
            Risk(form(X[:200] / 16), y[:200], loss="softmax", regularizer="l1", alpha=0.01),
            SGD(),
            max_iter=16,
        )
        for form in (np.asarray, csr_matrix)
    ]
    np.testing.assert_array_equal(fits[0].params.W == 0, fits[1].params.W == 0)
    assert (fits[0].params.W == 0).mean() > 0.5
