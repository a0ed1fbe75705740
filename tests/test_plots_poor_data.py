"""Every picture of poor data is a picture or a sentence, never nonsense."""

import warnings

import numpy as np
import pytest

pytest.importorskip("matplotlib").use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from nearline.plots import PICTURES, Sample  # noqa: E402

SLOW = ("leaderboard", "candidates", "confusion", "roc", "precision-recall", "reliability")  # contests: below


def sample(X, y, shape=()):
    X = np.asarray(X, dtype=float)
    few = X if X.shape[1] <= 2 else None
    return Sample(X, np.asarray(y), [f"x{j}" for j in range(X.shape[1])], shape=shape, columns=few)


def poor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    two, many = np.repeat(["a", "b"], 30), np.repeat(np.arange(30), 8)
    return {
        "one row": sample([[1.0, 2.0]], ["a"]),
        "two rows": sample([[1.0, 2.0], [2.0, 1.0]], ["a", "b"]),
        "one class": sample(X, np.repeat("a", 60)),
        "one feature": sample(X[:, :1] + (two == "b")[:, None], two),
        "30 classes": sample(rng.normal(size=(30, 2))[many] * 5 + rng.normal(size=(240, 2)), many),
        "constant columns": sample(np.ones((60, 2)), two),
        "one constant column": sample(np.column_stack([X[:, 0] + (two == "b"), np.ones(60)]), two),
        "small images": sample(rng.normal(size=(30, 4)), np.repeat(["a", "b"], 15), (2, 2)),
    }


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Few points of each plane: what is drawn is the same, sooner."""
    from nearline.plots import compare, densities, regions

    for module in (compare, densities):
        monkeypatch.setattr(module, "grid", lambda places, steps: regions.grid(places, 30))


def drawn_or_said(picture, given):
    """The sentence, or None if a picture was drawn whose numbers are all finite."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            axes = np.ravel(np.asarray(picture(given), dtype=object))
    except ValueError as error:
        said = str(error)
        return said if len(said) > 20 and said.endswith((".", ")")) else pytest.fail(f"no sentence: {said}")
    for ax in axes:
        low, high = ax.get_xlim()
        assert np.isfinite([low, high, *ax.get_ylim()]).all()
        assert low != high
        for image in ax.get_images():
            assert np.isfinite(np.asarray(image.get_array(), dtype=float)).all()
        assert not any("nan" in text.get_text().lower() for text in (*ax.texts, ax.title))
    return None


@pytest.mark.parametrize("kind", poor())
def test_every_picture_or_a_sentence(kind):
    given = poor()[kind]
    for name, picture in PICTURES.items():
        if picture.shipped is not None and name not in SLOW:
            said = drawn_or_said(picture, given)
            plt.close("all")
            if kind in ("one feature", "one constant column") and name in (
                "regions",
                "margins",
                "posteriors",
            ):
                assert said is None, f"{name}: {said}"


@pytest.mark.parametrize("name", SLOW)
def test_contests_of_one_row_or_class_say_why_not(name):
    for kind in ("one row", "two rows", "one class"):
        assert drawn_or_said(PICTURES[name], poor()[kind]) is not None


@pytest.mark.parametrize("name", SLOW)
def test_contests_of_poor_columns_are_drawn(name):
    for kind in ("one feature", "constant columns"):
        assert drawn_or_said(PICTURES[name], poor()[kind]) is None
        plt.close("all")
