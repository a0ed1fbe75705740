"""Images where nothing is said of features: HOG and color histograms are tried beside pixels, and pixels by few families."""

import numpy as np
import pytest

from nearline import TryThemAll, load, save
from nearline.representations.features.choice import have_usual_features, usual_representations


def stripes(n=60, side=16, channels=3):
    """Upright or lying stripes of any color and phase: gradients tell them apart, pixels hardly do."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    waves = np.sin(np.arange(side) * 1.5 + rng.uniform(0, 6, (n, 1)))
    lying = np.broadcast_to(waves[:, :, None], (n, side, side))
    images = np.where((y == 1)[:, None, None], lying, lying.transpose(0, 2, 1))
    colors = rng.uniform(40, 120, (n, 1, 1, channels))
    return (128 + images[..., None] * colors).astype(np.uint8), y


@pytest.fixture(scope="module")
def contest():
    few = ["nearest centroid", "k-NN, L2", "logistic, L2"]
    return TryThemAll(include=few, folds=3, progress="silent", beside=None).fit(*stripes())


def test_features_are_tried_beside_pixels(contest):
    tried = {entry.representation for entry in contest.leaderboard_}
    assert tried == {"hog+histogram", "hog+histogram, standardized", "pixels"}
    assert contest.chosen_.representation != "pixels"
    assert contest.leaderboard_.mean(contest.best_) > 0.9


def test_pixels_are_for_families_that_are_quick_on_many_columns(contest):
    on_pixels = {entry.family for entry in contest.leaderboard_ if entry.representation == "pixels"}
    assert on_pixels == {"nearest centroid", "k-NN, L2"}


def test_the_model_takes_images_and_is_kept(contest, tmp_path):
    X, y = stripes()
    assert (contest.predict(X) == y).mean() > 0.9
    save(contest.model_, tmp_path / "m")
    flat = X.reshape(len(X), -1)
    np.testing.assert_array_equal(load(tmp_path / "m").predict(flat), contest.predict(X))


@pytest.mark.parametrize(
    ("X", "shape", "preset"),
    [
        (np.zeros((2, 256), np.uint8), (16, 16), "quick"),
        (np.zeros((2, 64), np.uint8), (8, 8), "default"),
        (np.zeros((2, 256)), (16, 16), "default"),  # numbers that may be anything
        (np.zeros((2, 256), np.uint8), (256,), "default"),
        (np.zeros((2, 1280), np.uint8), (16, 16, 5), "default"),
        (["a", "b"], (), "default"),
    ],
)
def test_other_rows_are_represented_as_before(X, shape, preset):
    assert not have_usual_features(X, shape, preset)
    assert usual_representations(X, shape, preset) is None


def test_pixels_alone_are_for_all_families_where_they_are_asked_for():
    contest = TryThemAll("quick", include="logistic, L2", features="pixels", folds=3, progress="silent")
    assert contest.fit(*stripes(30)).chosen_.family == "logistic, L2"
