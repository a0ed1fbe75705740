"""Facts that anyone can reproduce: the numbers are what theory says, and each has a picture."""

import dataclasses
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.svm import SVC

from nearline import DecayingStep, Params, perceptron_rule
from nearline.facts import (
    FACTS,
    STEP_RULES,
    bayes_risk,
    choosing_on_test,
    concentration,
    cover_hart,
    empirical_risk,
    equal_pixels,
    generative_or_discriminative,
    irrelevant_features,
    loss_table,
    many_separators,
    perceptron_steps,
    posteriors,
    search_cost,
    separable,
    sgd_steps,
    svm_or_softmax,
    threshold,
    training_error,
    training_error_of,
)
from nearline.losses import LOSSES

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FEW = {
    "training-error": {"n": 200},
    "cover-hart": {"sizes": (10, 100), "repetitions": 3, "n_test": 200},
    "concentration": {"dimensions": (1, 20), "n": 50},
    "irrelevant-features": {"added": (0, 5), "n": 100, "n_test": 100},
    "equal-pixels": {},
    "empirical-risk": {"sizes": (5, 50), "repetitions": 3},
    "search-cost": {"sizes": (10, 30), "n_queries": 3, "repeat": 1},
    "bayes-risk": {"sizes": (10, 50), "repetitions": 2, "n_test": 50},
    "choosing-on-test": {"candidates": (1, 5), "repetitions": 2},
    "separable": {"steps": 30},
    "generative-or-discriminative": {"sizes": (10, 50), "repetitions": 2},
}


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_is_frozen_and_has_a_picture(name, tmp_path):
    fact = FACTS[name](**FEW.get(name, {}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        fact.more = 1
    assert str(fact).startswith(fact.says)
    assert all(len(row) == len(fact.table().columns) for row in fact.table().rows)
    figure = np.ravel(np.asarray(fact.plot(), dtype=object))[0].figure
    figure.savefig(tmp_path / "fact.png")
    assert (tmp_path / "fact.png").stat().st_size > 5000
    plt.close(figure)


def test_1_nn_has_no_training_error_and_cannot_be_chosen_by_it():
    fact = training_error(1000, noise=0.2)
    assert fact.training[0] == 0
    assert fact.conflicts == 0
    assert fact.test[0] > fact.test[-1]  # yet the training error is least there
    assert (fact.training[1:] > 0).all()


def test_unless_equal_rows_carry_different_labels():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    fact = training_error_of(X, [0, 1, 0, 1], X, [0, 1, 0, 1], ks=(1,))
    assert fact.conflicts == 0.5
    assert fact.training[0] == 0.25  # half a mistake on each of the two


def test_1_nn_comes_to_within_twice_the_bayes_risk():
    fact = cover_hart((30, 10_000), noise=0.1, repetitions=6)
    assert fact.limit == pytest.approx(0.18)
    assert fact.bayes < fact.risks[1] < 2 * fact.bayes < fact.risks[0]
    assert fact.risks[1] == pytest.approx(fact.limit, abs=0.012)


def test_distances_concentrate():
    fact = concentration((1, 10, 100, 1000), n=300)
    assert (np.diff(fact.contrast) < 0).all()
    assert (np.diff(fact.spread) < 0).all()
    # Of the D squares each has mean 1/6 and variance 7/180; a root halves the relative deviation.
    assert fact.spread[-1] == pytest.approx(0.5 * np.sqrt(7 / 180 / 1000) * 6, rel=0.15)


def test_irrelevant_features_hurt():
    fact = irrelevant_features((0, 10, 100, 1000))
    assert fact.bayes == pytest.approx(0.0668, abs=1e-4)
    assert (np.diff(fact.errors) > 0).all()
    assert fact.errors[0] == pytest.approx(fact.bayes, abs=0.03)
    assert fact.errors[-1] > 0.3


def test_boxed_shifted_and_tinted_images_are_equally_far():
    fact = equal_pixels()
    sizes = [fact.distances[name] for name in ("boxed", "shifted", "tinted")]
    assert sizes[0] > 1000
    np.testing.assert_allclose(sizes, sizes[0], rtol=1e-9)
    assert all(0 <= image.min() <= image.max() <= 255 for image in fact.images.values())


def test_an_image_that_no_change_takes_as_far_as_its_shift():
    image = np.zeros((8, 8, 3))
    image[:, ::2] = 255.0
    with pytest.raises(ValueError, match="take a smaller shift"):
        equal_pixels(image, shift=1)


def test_empirical_risk_converges_to_expected_risk():
    fact = empirical_risk((5, 100, 10_000), repetitions=30)
    gap = (fact.expected - fact.empirical).mean(axis=1)
    assert gap[0] > 0.05 > gap[1] > 0.005 > abs(gap[2])
    assert (fact.expected >= fact.bayes).all()
    assert fact.expected[-1].mean() == pytest.approx(fact.bayes, abs=2e-3)


# -- steps ------------------------------------------------------------------------------------------------


def test_perceptron_steps_are_the_worked_example():
    """D9: (0, 0) -> (2, 2) -> (0, 3), and two visits without a mistake."""
    fact = perceptron_steps()
    assert [step.after.W[0].tolist() for step in fact.steps] == [[2, 2], [0, 3], [0, 3], [0, 3]]
    assert [fact.margin(step) for step in fact.steps] == [0, -2, 6, 3]
    assert [step.moved for step in fact.steps] == [True, True, False, False]
    assert fact.ended


@pytest.mark.parametrize("step_size", [1.0, 0.25, DecayingStep(1.0, 0.5)])
@pytest.mark.parametrize("bias", [False, True])
def test_perceptron_steps_are_those_of_the_rule(step_size, bias):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] > 0, 1, -1)
    start = Params.of(rng.normal(size=(1, 3)), np.zeros(1))
    fact = perceptron_steps(X, y, step_size=step_size, bias=bias, start=start, max_iter=200)
    result = perceptron_rule(X, y, step_size=step_size, bias=bias, start=start, max_iter=200)
    np.testing.assert_allclose(fact.params.flat, result.params.flat, atol=1e-12)
    assert sum(step.moved for step in fact.steps) == result.mistakes
    assert (fact.ended, len(fact.steps)) == (result.converged, 12 * result.n_iter)


def gains(name, f, y):
    """What each w gains of eta x, written out: the table of rules."""
    z = (1 if y == 1 else -1) * f[0]
    sign = 1 if y == 1 else -1
    two = {
        "squared": sign - f[0],
        "logistic": sign / (1 + np.exp(z)),
        "perceptron": sign * (z < 0),
        "hinge": sign * (z < 1),
        "squared-hinge": sign * 2 * max(0, 1 - z),
    }
    if name in two:
        return [two[name]]
    others = [c for c in range(len(f)) if c != y]
    out = np.zeros(len(f))
    if name in ("softmax", "sparsemax"):
        p = np.exp(f) / np.exp(f).sum() if name == "softmax" else onto_simplex(f)
        return (np.arange(len(f)) == y) - p
    least = 0.0 if name == "multiclass-perceptron" else 1.0
    wrong = [c for c in others if least + f[c] > f[y]]
    if name == "crammer-singer" and wrong:
        wrong = [max(wrong, key=lambda c: f[c])]
    for c in wrong:
        out[c] -= 1
        out[y] += 1
    return out


def onto_simplex(f):
    """The nearest point of the simplex, by bisection on the threshold."""
    low, high = f.max() - 1.0, f.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(f - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(f - low, 0)


@pytest.mark.parametrize("name", STEP_RULES)
def test_sgd_steps_are_the_rules_of_the_table(name):
    """D3: w += eta times what the table says, from weights that are not 0."""
    rng = np.random.default_rng(1)
    several = LOSSES[name].joint
    X, y = rng.normal(size=(9, 2)), np.arange(9) % (3 if several else 2)
    start = Params.of(rng.normal(size=(3 if several else 1, 2)), rng.normal(size=3 if several else 1))
    fact = sgd_steps(name, X, y, eta=0.3, start=start, bias=True, passes=2)
    W, b = start.W.copy(), start.b.copy()
    for i, step in zip(np.tile(np.arange(9), 2), fact.steps, strict=True):
        f = W @ X[i] + b
        np.testing.assert_allclose(step.scores, f)
        gain = 0.3 * np.asarray(gains(name, f, y[i]), dtype=float)
        W, b = W + np.outer(gain, X[i]), b + gain
        np.testing.assert_allclose(step.after.W, W, atol=1e-9)
        np.testing.assert_allclose(step.after.b, b, atol=1e-9)
    assert name in str(fact)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0]], [1]),  # one row, one class
        ([[1.0], [-2.0]], [1, 0]),  # one feature
        ([[1.0, 1.0], [1.0, 1.0]], [0, 1]),  # equal rows
        (np.eye(30), np.arange(30)),  # many features
        (np.random.default_rng(0).normal(size=(30, 1)), np.arange(30)),  # many classes
    ],
)
def test_pictures_of_steps_on_strange_rows(X, y):
    two = max(y) < 2
    facts = [sgd_steps("softmax", X, y)] + ([perceptron_steps(X, y, max_iter=1)] if two else [])
    for fact in facts:
        figure = np.ravel(np.asarray(fact.plot(), dtype=object))[0].figure
        figure.canvas.draw()
        plt.close(figure)
        assert "step" in str(fact)


# -- what was chosen, and what was learned ----------------------------------------------------------------


def test_choosing_on_test_rows_is_optimistic():
    fact = choosing_on_test((1, 10, 300), n_test=50, repetitions=8)
    rng = np.random.default_rng(0)
    for m, expected in zip((1, 10, 300), fact.expected, strict=True):
        least = rng.binomial(50, 0.5, size=(4000, m)).min(axis=1) / 50
        assert expected == pytest.approx(least.mean(), abs=4e-3)
    assert (np.diff(fact.chosen.mean(axis=1)) < 0).all()
    assert fact.fresh.mean() == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(fact.chosen.mean(axis=1), fact.expected, atol=0.06)


def test_thresholds_are_those_of_the_two_methods():
    fact = threshold()
    for rows, lines in ((~fact.outlier, fact.lines[:2]), (np.ones(len(fact.x), bool), fact.lines[2:])):
        w, b = np.polyfit(fact.x[rows], 2.0 * fact.y[rows] - 1.0, 1)
        assert lines[0].threshold == pytest.approx(-b / w, rel=1e-3)
        peer = SkLogistic(C=1e8, tol=1e-10, max_iter=10_000).fit(fact.x[rows, None], fact.y[rows])
        assert lines[1].threshold == pytest.approx(-peer.intercept_[0] / peer.coef_[0, 0], rel=1e-3)
    squares, logistic = (fact.lines[i + 2].threshold - fact.lines[i].threshold for i in (0, 1))
    assert squares > 1.0 > 0.01 > abs(logistic)
    assert fact.lines[2].errors > 2 * fact.lines[0].errors


def test_posteriors_are_a_sigmoid():
    fact = posteriors((-0.5, 2.0), deviation=1.3, priors=(2.0, 6.0), n=20_000)
    x = np.linspace(-6, 8, 57)
    w, b = fact.models["the truth"]
    np.testing.assert_allclose(fact.posterior(x), 1 / (1 + np.exp(-(w * x + b))), rtol=1e-12)
    assert fact.priors == (0.25, 0.75)

    def wrong(x):
        joint = [p * norm.pdf(x, m, 1.3) for p, m in zip(fact.priors, fact.means, strict=True)]
        return joint[1] if w * x + b <= 0 else joint[0]

    assert fact.risk(w, b) == pytest.approx(quad(wrong, -12, 14, points=[-b / w], limit=200)[0], rel=1e-6)
    for fitted in fact.models.values():
        np.testing.assert_allclose(fitted, (w, b), atol=0.12)
        assert fact.risk(*fitted) == pytest.approx(fact.risk(w, b), abs=1e-3)


def test_separable_rows_have_no_minimizer():
    fact = separable(alphas=(0.0, 0.1), steps=800)
    free, held = fact.descents
    assert (free.minimizer, held.minimizer) == (False, True)
    assert free.margin > 0
    assert (np.diff(free.sizes) > 0).all()
    assert (np.diff(free.losses) < 0).all()
    assert held.sizes[-1] == pytest.approx(held.sizes[-100], rel=1e-9)
    # |w| grows as the logarithm of the steps: as much from 8 to 80 as from 80 to 800, nearly
    steps = [free.sizes[80] - free.sizes[8], free.sizes[800] - free.sizes[80]]
    assert steps[1] == pytest.approx(steps[0], rel=0.2)


def test_rows_that_are_not_separable_have_a_minimizer_and_quasi_separable_ones_none():
    mixed = separable([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"], alphas=(0.0,), steps=50)
    assert mixed.descents[0].minimizer is True
    assert "cannot be separated" in str(mixed)
    quasi = separable([[0.0], [0.0], [1.0], [-1.0]], [0, 1, 1, 0], alphas=(0.0,), steps=50)
    assert quasi.descents[0].minimizer is False
    assert "no margin < 0, one > 0" in str(quasi)


def test_many_separators_and_the_widest():
    fact = many_separators(n_starts=8)
    signs = np.where(fact.y == 1, 1, -1)
    for w, b, margin in zip(fact.W, fact.b, fact.margins, strict=True):
        assert np.linalg.norm(w) == pytest.approx(1)
        assert margin == pytest.approx((signs * (fact.X @ w + b)).min())
    assert (fact.margins > 0).all()
    assert (fact.margins < fact.margin).all()
    assert (fact.mistakes <= fact.bounds).all()
    peer = SVC(kernel="linear", C=1e6, tol=1e-8).fit(fact.X, fact.y)
    assert fact.margin == pytest.approx(1 / np.linalg.norm(peer.coef_), rel=1e-4)
    assert set(fact.support) == set(peer.support_)
    assert len(set(np.round(fact.W[:, 0], 6))) == 8
    ax = fact.plot()
    lines = [one for one in ax.collections if isinstance(one, matplotlib.contour.ContourSet)][:8]
    for one, w, b in zip(lines, fact.W, fact.b, strict=True):  # the picture has these very separators
        places = np.vstack([segment for level in one.allsegs for segment in level])
        np.testing.assert_allclose(places @ w + b, 0, atol=1e-6)
    plt.close(ax.figure)


@pytest.mark.parametrize("D", [1, 3])
def test_separators_of_other_dimensions_have_a_picture(D):
    X = np.vstack([np.eye(D) + 2.0, -np.eye(D) - 2.0])
    fact = many_separators(X, np.repeat(["yes", "no"], D), n_starts=3)
    figure = fact.plot().figure
    figure.canvas.draw()
    plt.close(figure)


def test_naive_bayes_is_faster_and_logistic_regression_better():
    fact = generative_or_discriminative((20, 2000), repetitions=8)
    naive, logistic = (risks.mean(axis=1) for risks in fact.risks.values())
    assert naive[0] < logistic[0]
    assert fact.bayes < logistic[1] < fact.naive_limit < naive[1]
    assert fact.crossing == 2000
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200_000) * 2 - 1
    first, second = rng.normal(size=(2, len(y), 10))
    second = 0.4 * first + np.sqrt(1 - 0.16) * second
    first = first + 0.35 * y[:, None]
    assert ((first.sum(axis=1) > 0) != (y > 0)).mean() == pytest.approx(fact.naive_limit, abs=3e-3)
    assert (((first - 0.4 * second).sum(axis=1) > 0) != (y > 0)).mean() == pytest.approx(fact.bayes, abs=3e-3)


def test_losses_of_the_same_scores():
    rng = np.random.default_rng(2)
    scores, y = 2.0 * rng.normal(size=(20, 4)), rng.integers(4, size=20)
    fact = loss_table(scores, y)
    for i, (f, c) in enumerate(zip(scores, y, strict=True)):
        rivals = np.delete(f, c)
        assert fact.losses["weston-watkins"][i] == pytest.approx(np.maximum(0, 1 + rivals - f[c]).sum())
        assert fact.losses["crammer-singer"][i] == pytest.approx(max(0, 1 + rivals.max() - f[c]))
        assert fact.losses["softmax"][i] == pytest.approx(np.log(np.exp(f).sum()) - f[c])
        p = onto_simplex(f)
        assert fact.losses["sparsemax"][i] == pytest.approx(
            (1 + f @ f - (f - p) @ (f - p)) / 2 - f[c], abs=1e-9
        )
        assert fact.probabilities["sparsemax"][i] == pytest.approx(p[c], abs=1e-9)
        assert fact.margins[i] == pytest.approx(f[c] - rivals.max())
    assert loss_table([1.0, 2.0], 1).losses["softmax"][0] == pytest.approx(np.log1p(np.exp(-1)))


def test_the_hinge_is_content_where_softmax_is_not():
    fact = svm_or_softmax()
    assert fact.losses["weston-watkins"][:2].tolist() == [0, 0]
    assert fact.losses["softmax"][0] > 1000 * fact.losses["softmax"][1] > 0


def test_risks_come_to_the_bayes_risk():
    fact = bayes_risk((10, 2000), repetitions=6)
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400_000)
    x = rng.normal(size=len(y)) + 2.0 * y - 1.0
    assert fact.bayes == pytest.approx(((x > 0) != y).mean(), abs=3e-3)
    eta = 1 / (1 + np.exp(-2.0 * x))
    assert fact.neighbor_limit == pytest.approx((2 * eta * (1 - eta)).mean(), abs=1e-3)
    last = {name: values.mean(axis=1)[-1] for name, values in fact.risks.items()}
    assert last["linear model, expected"] == pytest.approx(fact.bayes, abs=3e-3)
    assert last["linear model, empirical"] == pytest.approx(fact.bayes, abs=0.02)
    assert last["1-NN, empirical"] == 0
    assert last["1-NN, expected"] == pytest.approx(fact.neighbor_limit, abs=0.02)
    assert (fact.risks["linear model, expected"] >= fact.bayes - 1e-12).all()


def test_search_cost_has_times_for_all():
    """What it measures depends on the machine; that all find the same neighbor is checked inside."""
    fact = search_cost((40, 80), n_queries=4, repeat=1)
    assert all((seconds > 0).all() for seconds in fact.query.values())
    assert len(fact.table().rows) == 8


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: concentration(()), "dimensions is empty or a table"),
        (lambda: concentration((0, 2)), r"dimensions must be whole numbers >= 1, got \(0, 2\)"),
        (lambda: concentration(n=0), "n and n_queries must be whole numbers >= 1"),
        (lambda: cover_hart(noise=2.0), r"noise is a share of wrong labels, .* got 2\.0"),
        (lambda: cover_hart(repetitions=1), "repetitions must be whole numbers >= 2, got 1"),
        (lambda: training_error(noise=-0.1), "noise is a share"),
        (lambda: training_error(ks=(1.5,)), "ks must be whole numbers >= 1"),
        (
            lambda: training_error_of([[0.0], [1.0]], ["a", "b"], [[0.0]], [0], ks=(1,)),
            "y must have the label 0 or 1",
        ),
        (lambda: irrelevant_features((-1,)), "added must be whole numbers >= 0"),
        (lambda: empirical_risk(()), "sizes is empty"),
        (lambda: empirical_risk(separation=np.nan), "separation must be a finite number"),
        (lambda: equal_pixels(shift=0), "shift must be whole numbers >= 1"),
        (
            lambda: equal_pixels(np.zeros((16, 16))),
            r"image must be \(height, width, 3\), got shape \(16, 16\)",
        ),
        (lambda: equal_pixels(np.zeros((16, 16, 3))), "The image is the same after a shift"),
        (lambda: equal_pixels(np.full((16, 16, 3), 300.0)), "values from 0 to 255"),
        (lambda: perceptron_steps([[1.0]]), "X came without y"),
        (lambda: perceptron_steps([[1.0], [2.0]], [0]), "one label for each row"),
        (lambda: perceptron_steps([[np.nan]], [1]), "X has NaN or infinite values"),
        (lambda: perceptron_steps([[1.0]], [2]), "Targets must be class numbers 0 .. 1, got 2 .. 2"),
        (lambda: perceptron_steps(max_iter=0), "max_iter must be whole numbers >= 1"),
        (lambda: perceptron_steps(step_size=0), "step_size must be a finite number > 0"),
        (lambda: perceptron_steps(start=Params.zeros(1, 3)), r"start has weights of shape \(1, 3\)"),
        (lambda: sgd_steps("zero-one"), "no slope to step along"),
        (lambda: sgd_steps(passes=100_000), "too many to look at"),
        (lambda: sgd_steps(eta=-1), "eta .* must be a finite number > 0"),
        (lambda: search_cost((1,)), "sizes must be whole numbers >= 2"),
        (lambda: choosing_on_test(()), "candidates is empty"),
        (lambda: threshold(distance=np.inf), "distance must be a finite number"),
        (lambda: posteriors((1.0,)), "means must be two finite numbers"),
        (lambda: posteriors(priors=(0.0, 1.0)), "priors must be two finite numbers > 0"),
        (lambda: posteriors(deviation=0), "deviation must be a finite number > 0"),
        (lambda: separable([[0.0], [1.0]], [0, 0]), "about two classes, y has 1"),
        (lambda: separable(alphas=(-1.0,)), "alphas must be finite numbers >= 0"),
        (lambda: many_separators([[0.0], [1.0], [2.0]], [0, 1, 0]), "No hyperplane separates these rows"),
        (lambda: generative_or_discriminative(correlation=1.0), "correlation must be a number between"),
        (lambda: loss_table([[1.0], [2.0]], [0, 0]), "scores must be finite numbers"),
        (lambda: loss_table([[1.0, 2.0]], [0, 1]), "1 rows of scores and labels of shape"),
        (lambda: loss_table([[1.0, 2.0]], [2]), "Targets must be class numbers 0 .. 1"),
        (lambda: bayes_risk((2,)), "sizes must be whole numbers >= 4"),
    ],
)
def test_arguments_get_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_is_on_its_page(name):
    docs = Path(__file__).parents[1] / "docs"
    assert f"## {name}\n" in (docs / "facts.md").read_text(), "run python tools/make_facts.py"
    assert (docs / "img" / "facts" / f"{name}.png").exists()
