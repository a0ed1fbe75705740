"""Facts that anyone can reproduce: the numbers are what theory says, and each has a picture."""

import dataclasses

import matplotlib
import numpy as np
import pytest

from nearline.facts import (
    FACTS,
    concentration,
    cover_hart,
    empirical_risk,
    equal_pixels,
    irrelevant_features,
    training_error,
    training_error_of,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FEW = {
    "training-error": {"n": 200},
    "cover-hart": {"sizes": (10, 100), "repetitions": 3, "n_test": 200},
    "concentration": {"dimensions": (1, 20), "n": 50},
    "irrelevant-features": {"added": (0, 5), "n": 100, "n_test": 100},
    "equal-pixels": {},
    "empirical-risk": {"sizes": (5, 50), "repetitions": 3},
}


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_is_frozen_and_has_a_picture(name, tmp_path):
    fact = FACTS[name](**FEW[name])
    with pytest.raises(dataclasses.FrozenInstanceError):
        fact.more = 1
    ax = fact.plot()
    figure = (ax if name != "equal-pixels" else ax[0]).figure
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
    ],
)
def test_arguments_get_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
