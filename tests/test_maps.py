"""softmax, sparsemax, sigmoid, one_hot, losses, Params and risks take vectors, lists and matrices alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import nearline
from nearline import LOSSES, LogisticRegression, Params, Risk, evaluate, one_hot, sigmoid, softmax, sparsemax

SCORES = st.lists(st.floats(-50, 50), min_size=1, max_size=7)


def projection(f):
    """Slow: every support is tried; the nearest point of the simplex is that of the least distance."""
    best, n = None, len(f)
    for mask in range(1, 2**n):
        inside = np.array([mask >> j & 1 for j in range(n)], dtype=bool)
        p = np.zeros(n)
        p[inside] = f[inside] - (f[inside].sum() - 1.0) / inside.sum()
        if (p >= -1e-12).all() and (best is None or ((p - f) ** 2).sum() < ((best - f) ** 2).sum()):
            best = p
    return best


@given(SCORES)
def test_maps_are_the_formulas(f):
    np.testing.assert_allclose(softmax(f), special.softmax(f), rtol=1e-12)
    np.testing.assert_allclose(sigmoid(f), special.expit(f), rtol=1e-12)
    np.testing.assert_allclose(sparsemax(f), projection(np.array(f)), atol=1e-9)
    np.testing.assert_array_equal(softmax([f, f])[1], softmax(f))
    np.testing.assert_array_equal(sparsemax(np.array([f, f]))[1], sparsemax(f))


def test_one_hot():
    np.testing.assert_array_equal(one_hot([2, 0, 1]), np.eye(3)[[2, 0, 1]])
    np.testing.assert_array_equal(one_hot(1, 4), [0, 1, 0, 0])
    np.testing.assert_array_equal(one_hot([5]), np.eye(6)[[5]])
    np.testing.assert_array_equal(one_hot([True, False]), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(one_hot([[0.2, 0.8]]), [[0.2, 0.8]])


def test_float32_stays_float32():
    f = np.zeros((2, 3), dtype=np.float32)
    assert softmax(f).dtype == sparsemax(f).dtype == sigmoid(f).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: softmax([]), r"takes one row of scores \(K,\) or several"),
        (lambda: softmax(3.0), "takes one row"),
        (lambda: softmax([np.nan, 1.0]), "NaN or infinity"),
        (lambda: sparsemax([[1.0], [1.0, 2.0]]), "rows of one length"),
        (lambda: sigmoid(["a"]), "must be numbers"),
        (lambda: one_hot(["a"]), "class numbers"),
        (lambda: one_hot([3], 3), "0 .. 2"),
        (lambda: LOSSES["hinge"].value([1.0, 2.0], ["a", "b"]), "class numbers"),
        (lambda: LOSSES["softmax"].value([1.0, 2.0], [0, 1]), "1 rows of scores but 2 targets"),
        (lambda: LOSSES["hinge"].value(np.zeros((1, 1, 1)), [0]), r"\(n, K\)"),
        (lambda: LOSSES["hinge"].phi("z"), "margins must be numbers"),
        (lambda: Params.of([[1.0, 2.0]], [1.0, 2.0]), "one bias for each output"),
        (lambda: Params([1.0, 2.0], 1, 2), "3 are needed"),
        (lambda: evaluate(LogisticRegression(), [[1.0]], [1]), r"evaluate takes a loss, scores and targets"),
    ],
)
def test_what_is_wrong_is_said(call, said):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize("name", list(LOSSES))
def test_losses_take_lists(name):
    loss, rng = LOSSES[name], np.random.default_rng(0)
    columns = (3,) if loss.joint else (1, 3)
    for K in columns:
        f, y = rng.normal(size=(5, K)), rng.integers(0, max(K, 2), 5)
        value, slopes = loss.value_and_gradient(f, y)
        listed = loss.value_and_gradient(f.tolist(), y.tolist())
        np.testing.assert_array_equal(listed[0], value)
        np.testing.assert_array_equal(listed[1], slopes)
        np.testing.assert_array_equal(loss.value(f[0].tolist(), int(y[0])), value[:1])
        if K == 1:
            np.testing.assert_array_equal(loss.value(f[:, 0].tolist(), (2 * y - 1).tolist()), value)
        p = loss.probabilities(f)
        if p is not None:
            np.testing.assert_array_equal(loss.probabilities(f.tolist()), p)


def test_parts_of_margin_losses_take_lists():
    hinge = LOSSES["hinge"]
    np.testing.assert_array_equal(hinge.phi([-1, 1, 2]), [2, 0, 0])
    np.testing.assert_array_equal(hinge.dphi([0.0, 1.0]), [-1, 0])  # at z = 1 no step
    np.testing.assert_array_equal(LOSSES["perceptron"].dphi([-1.0, 0.0]), [-1, 0])


def test_risks_are_taken_at_parameters_points_and_vectors():
    risk = Risk([[0.0], [1.0], [3.0]], [0, 0, 1], alpha=0.1)
    params = Params.of([0.5], -1)
    flat = params.flat.tolist()
    assert Params(flat, 1, 1).flat.dtype == np.float64
    values = {risk.value(params), risk.value(risk.at(params)), risk.value(flat), risk.at(params).value}
    assert len(values) == 1
    for where in (risk.at(params), risk.scored(params), params.flat):
        np.testing.assert_array_equal(risk.hessian(where), risk.hessian(params))
    h = 1e-5
    slopes = [risk.at(params.like(params.flat + s * h * e)).gradient.flat for e in np.eye(2) for s in (1, -1)]
    numeric = np.array([slopes[0] - slopes[1], slopes[2] - slopes[3]]) / (2 * h)
    np.testing.assert_allclose(risk.hessian(params), numeric, atol=1e-8)
    for wrong, said in (("a", "got 'a'"), ([1.0], "2 are needed"), (Params.of([1, 2], 0), r"of \(1, 2\)")):
        with pytest.raises(ValueError, match=said):
            risk.value(wrong)


def test_the_maps_have_one_home():
    from nearline import losses

    assert all(getattr(losses, name) is getattr(nearline, name) for name in ("softmax", "one_hot", "sigmoid"))
