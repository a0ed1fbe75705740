"""Labels mean the same in evaluate, Risk, sgd_step and perceptron_rule, or are refused with a sentence."""

import numpy as np
import pytest

from nearline import SGD, Params, Risk, evaluate, perceptron_rule, sgd_step
from nearline._arrays.targets import checked_targets, row_weights

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
TWO = (X[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(int)
THREE = np.arange(40) % 3


def predictions(labels, n_classes):
    """What each of the four makes of the labels."""
    K = 1 if n_classes == 2 else n_classes
    params = Params.of(np.arange(3.0 * K).reshape(K, 3) - 2.0, np.linspace(-1.0, 1.0, K))
    scores = X @ params.W.T + params.b
    progress = SGD().begin(params)
    return [
        evaluate("zero-one", scores, labels),
        evaluate("logistic", scores, labels),
        Risk(X, labels, loss="logistic").at(params).value,
        sgd_step(params, X, labels, eta=0.1).flat,
        SGD().partial_fit(progress, X, labels).flat,
        perceptron_rule(X, labels, max_iter=3, bias=False).params.flat,
    ]


@pytest.mark.parametrize(
    "labels", [2 * TWO - 1, TWO == 1, TWO.astype(float), 2.0 * TWO - 1.0, TWO.astype(np.uint8), TWO.tolist()]
)
def test_two_classes_in_any_accepted_form_are_the_same(labels):
    for got, wanted in zip(predictions(labels, 2), predictions(TWO, 2), strict=True):
        np.testing.assert_array_equal(got, wanted)


CALLS = {
    "evaluate": lambda labels, K: evaluate("hinge", np.zeros((40, K)), labels),
    "risk": lambda labels, K: Risk(X, labels, loss="logistic"),
    "sgd_step": lambda labels, K: sgd_step(Params.zeros(K, 3), X, labels, eta=0.1),
    "partial_fit": lambda labels, K: SGD().partial_fit(SGD().begin(Params.zeros(K, 3)), X, labels),
    "perceptron_rule": lambda labels, K: perceptron_rule(X, labels, max_iter=1),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("labels", "K"),
    [
        (TWO + 1, 1),
        (THREE + 1, 3),
        (THREE - 1, 3),
        (3 * TWO, 1),
        (np.array(["no", "yes"])[TWO], 1),
        (TWO + 0.5, 1),
        (np.where(TWO == 1, 1.0, np.nan), 1),
        (-2 * TWO, 1),
        (np.full(40, 10**9), 1),
    ],
    ids=["1-2", "1-2-3", "-1-0-1", "0-3", "strings", "halves", "nan", "-2-0", "huge"],
)
def test_all_else_is_refused_with_the_way_out(call, labels, K):
    with pytest.raises(ValueError, match=r"np\.unique\(y, return_inverse=True\)\[1\]"):
        CALLS[call](labels, K)


def test_gaps_are_legal_where_the_number_of_classes_is_known():
    assert Risk(X, 2 * TWO, loss="softmax", n_classes=3).n_outputs == 3
    assert perceptron_rule(X, 2 * TWO, n_classes=3, max_iter=1).params.n_outputs == 3
    assert evaluate("softmax", np.zeros((40, 3)), 2 * TWO) == pytest.approx(np.log(3))
    assert Risk(X, np.ones(40, int), n_classes=2).n_classes == 2
    with pytest.raises(ValueError, match="All 40 targets are of one class"):
        Risk(X, np.ones(40, int))
    with pytest.raises(ValueError, match=r"False and True are two classes, but there are 3"):
        checked_targets(TWO == 1, 3)


def test_the_zero_one_loss_of_several_classes_is_the_error_rate():
    scores = rng.normal(size=(500, 4))
    labels = rng.integers(0, 4, 500)
    wrong = scores.argmax(axis=1) != labels
    assert evaluate("zero-one", scores, labels) == wrong.mean()
    weights = rng.integers(1, 5, 500).astype(float)
    assert evaluate("zero-one", scores, labels, weights) == pytest.approx(np.average(wrong, weights=weights))
    assert evaluate("zero-one", np.zeros((3, 4)), [0, 1, 2]) == 1.0  # ties are mistakes
    assert evaluate("zero-one", np.eye(3), np.eye(3)) == 0.0
    risk = Risk(X, THREE, loss="zero-one", alpha=0.0)
    params = Params.of(rng.normal(size=(3, 3)), np.zeros(3))
    assert risk.at(params).value == ((X @ params.W.T).argmax(axis=1) != THREE).mean()


@pytest.mark.parametrize(
    "weights", [[1.0, np.nan], [1.0, np.inf], [1.0, -1.0], [0.0, 0.0], [1.0], [[1.0, 1.0]]]
)
def test_weights_are_checked_as_a_risk_checks_them(weights):
    with pytest.raises(ValueError, match="weight"):
        evaluate("hinge", [1.0, 2.0], [0, 1], weights)
    with pytest.raises(ValueError, match="weight"):
        Risk(X[:2], [0, 1], weights=weights)
    with pytest.raises(ValueError, match="weight"):
        row_weights(weights, 2)


def test_scores_that_are_no_scores_are_refused():
    for loss, scores in (
        ("softmax", [0.5, 0.2]),
        ("zero-one", [0.5, np.nan]),
        ("hinge", np.zeros((2, 1, 1))),
    ):
        with pytest.raises(ValueError, match=f"'{loss}' takes numbers as scores"):
            evaluate(loss, scores, [0, 1])
    with pytest.raises(ValueError, match="2 columns, but there are 3 classes"):
        evaluate("softmax", np.zeros((2, 3)), np.eye(2))


def test_the_advice_about_labels_names_what_the_caller_has_and_works():
    scores = np.zeros((3, 1))
    with pytest.raises(ValueError, match="encode labels") as caught:
        evaluate("hinge", scores, np.array([1, 2, 2]))
    assert "n_classes" not in str(caught.value)  # evaluate has no such parameter
    y = np.array([1, 2, 2])
    advice = str(caught.value).split("targets = ")[1].removesuffix(".")
    assert advice == "np.unique(y, return_inverse=True)[1]"
    assert evaluate("hinge", scores, np.unique(y, return_inverse=True)[1]) == 1.0
