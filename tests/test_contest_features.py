"""Several kinds of features in one contest: in Python and on the command line, to the model file and back."""

from importlib.util import find_spec

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("polars")

import nearline
from nearline import TryThemAll
from nearline.cli._run import run as run_cli
from nearline.representations.features import ImageFeatures, WordVectors
from nearline.representations.features.choice import chosen_features, extractor_named
from nearline.representations.features.extracted import AsImages
from test_features import network_of_images

QUICK = {"include": ["k-NN, L2", "nearest centroid"], "progress": "silent"}


def stripes(n=60, side=16, seed=0):
    """Images of stripes that stand or lie, at any place and brightness: gradients tell them apart, pixels hardly."""
    rng = np.random.default_rng(seed)
    wave = 100 * np.sin(2 * np.pi * (np.arange(side) / 4 + rng.uniform(0, 1, (n, 1)))) + rng.uniform(
        100, 150, (n, 1)
    )
    X = np.repeat(wave[:, :, None], side, axis=2)
    y = np.arange(n) % 2
    X[y == 1] = X[y == 1].transpose(0, 2, 1)
    return np.clip(X + rng.normal(0, 5, X.shape), 0, 255).astype(np.uint8), y


def test_features_are_representations_of_one_contest(tmp_path):
    X, y = stripes()
    contest = TryThemAll("quick", features="pixels,hog", **QUICK).fit(X, y)
    assert {entry.representation for entry in contest.leaderboard_} == {"pixels", "hog"}
    assert contest.best_.representation == "hog"
    assert contest.open_test().scores["accuracy"] > 0.9
    nearline.save(contest.model_, tmp_path / "model.nearline")
    assert "AsImages > ImageFeatures" in nearline.inspect(tmp_path / "model.nearline").kind
    np.testing.assert_array_equal(nearline.load(tmp_path / "model.nearline").predict(X), contest.predict(X))


def test_scores_are_those_of_the_chain_fitted_in_each_fold():
    """Features are taken once for all folds, scales inside each: the chain fitted by itself says the same."""
    X, y = stripes(40)
    contest = TryThemAll(
        "default", features=["hog"], test=None, include="k-NN, L2", folds=3, progress="silent"
    ).fit(X, y)
    assert {"hog", "hog, standardized"} == {entry.representation for entry in contest.leaderboard_}
    for entry in list(contest.leaderboard_)[::7]:
        for f, (train, test) in enumerate(contest._folds):
            model = contest.estimator(entry).fit(X[train], y[train])
            assert model.score(X[test], y[test]) == pytest.approx(entry.scores["accuracy"][f])


def test_presets_add_scales():
    X = stripes(4)[0].reshape(4, -1)
    names = {
        preset: [one.name for one in chosen_features(X, ["hog"], (16, 16), preset)]
        for preset in ("quick", "thorough")
    }
    assert names == {"quick": ["hog"], "thorough": ["hog", "hog, standardized", "hog, unit-length"]}


def test_nested_contests_see_images_too():
    X, y = stripes(40)
    contest = TryThemAll(
        "quick", features="hog", test=None, split=nearline.Split(nested=True, folds=2), **QUICK
    ).fit(X, y)
    assert len(contest.nested_["accuracy"]) == 2


def test_numbers_from_zero_to_one_are_images_too():
    X, _ = stripes(5)
    whole = AsImages([16, 16]).fit(X)
    parts = AsImages([16, 16]).fit(X / 255.0)
    np.testing.assert_array_equal(whole.transform(X), parts.transform(X / 255.0))
    with pytest.raises(ValueError, match="go from 0 to"):
        parts.transform(X.astype(float))
    with pytest.raises(ValueError, match="no images of shape"):
        AsImages([3, 5]).fit(X)
    with pytest.raises(ValueError, match="from -1 to"):
        AsImages([16, 16]).fit(X.astype(float) - 1 - X.min())


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        ("pixls", r"Unknown features 'pixls'.*Did you mean 'pixels'\?"),
        ([], "at least one"),
        ([3], "names of features or extractors"),
        ("word-vectors", "word-vectors is for texts"),
        (["hog", "hog"], "name each once"),
        ("net.onnx:size=3", r"net.onnx:shift=127.5:scale=127.5"),
        ("net.onnx", "cannot be read"),
    ],
)
def test_what_is_refused(features, sentence):
    X, y = stripes(20)
    with pytest.raises(ValueError, match=sentence):
        TryThemAll("quick", features=features, **QUICK).fit(X, y)


def test_features_of_images_are_refused_for_other_rows():
    with pytest.raises(
        ValueError, match="features of rows of numbers, as the rows are, got 'hog': hog is for images"
    ):
        TryThemAll("quick", features="hog", **QUICK).fit(np.eye(20), np.arange(20) % 2)
    with pytest.raises(ValueError, match="features of texts"):
        TryThemAll("quick", features="hog", **QUICK).fit(["a text", "or two"] * 10, np.arange(20) % 2)


def test_settings_of_a_network_follow_its_file():
    network = extractor_named("a/b.onnx:shift=127:scale=128")
    assert (network.path, network.shift, network.scale) == ("a/b.onnx", 127.0, 128.0)


def test_representations_can_be_chosen_by_name():
    X = np.random.default_rng(0).normal(size=(40, 3))
    contest = TryThemAll("quick", features="as-is", **QUICK).fit(X, X[:, 0] > 0)
    assert {entry.representation for entry in contest.leaderboard_} == {"as-is"}


@pytest.mark.skipif(find_spec("wordllama") is None, reason="needs wordllama: pip install 'nearline[words]'")
def test_texts_by_words_and_word_vectors(tmp_path):
    texts = [f"the {a} {b}" for a in ("cat", "kitten", "dog", "puppy") for b in ("sleeps", "eats", "runs")]
    texts += [
        f"{a} {b} today" for a in ("shares", "stocks", "bonds", "prices") for b in ("fell", "rose", "sank")
    ]
    y = np.repeat(["pets", "money"], 12)
    contest = TryThemAll("quick", features=["words", WordVectors()], test=None, **QUICK).fit(texts, y)
    assert {entry.representation for entry in contest.leaderboard_} == {"words", "word-vectors"}
    model = contest.estimator(next(e for e in contest.leaderboard_ if e.representation == "word-vectors"))
    nearline.save(model.fit(texts, y), tmp_path / "m.nearline")
    assert nearline.load(tmp_path / "m.nearline").predict(["the hamster rests"]).tolist() == ["pets"]


@pytest.fixture
def photos(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    X, y = stripes(24, 40)
    for i, (image, label) in enumerate(zip(X, y)):
        folder = tmp_path / "photos" / ("lying", "standing")[label]
        folder.mkdir(parents=True, exist_ok=True)
        pillow.fromarray(np.repeat(image[..., None], 3, axis=-1)).save(folder / f"{i:02}.png")
    return tmp_path / "photos"


def run(capsys, *arguments):
    code = run_cli([str(one) for one in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_line(photos, tmp_path, capsys):
    out = tmp_path / "out"
    code, said, err = run(
        capsys, "try", photos, "--features", "pixels,hog", "--preset", "quick", "--include", "nearest centroid",
        "--folds", "2", "--out", out,
    )  # fmt: skip
    assert code == 0, err
    assert "the best by data, accuracy:" in said
    assert "no report" not in err + said
    code, said, err = run(capsys, "predict", out / "model.nearline", photos, "--explain")
    assert code == 0, err
    assert said.count("standing/") == 12
    code, said, _ = run(capsys, "inspect", out / "model.nearline")
    assert code == 0
    assert '"checksum": "images-' in said


@pytest.mark.skipif(
    find_spec("onnxruntime") is None, reason="needs onnxruntime: pip install 'nearline[onnx]'"
)
def test_a_network_on_the_command_line(photos, tmp_path, capsys, monkeypatch):
    """With a tiny network that is generated: through the contest, the model file, and a machine that lacks something."""
    network, out = network_of_images(tmp_path / "means.onnx"), tmp_path / "out"
    code, _, err = run(
        capsys, "try", photos, "--features", f"{network}:scale=255", "--preset", "quick", "--include",
        "nearest centroid", "--folds", "2", "--out", out, "--feature-cache", tmp_path / "cache",
    )  # fmt: skip
    assert code == 0, err
    assert len(list((tmp_path / "cache").rglob("*.npy"))) >= 19
    assert run(capsys, "predict", out / "model.nearline", photos)[0] == 0
    network_of_images(tmp_path / "means.onnx", 9)
    code, _, err = run(capsys, "predict", out / "model.nearline", photos)
    assert code == 1
    assert "is not the one it was fitted with" in err
    (tmp_path / "means.onnx").unlink()
    code, _, err = run(capsys, "predict", out / "model.nearline", photos)
    assert code == 1
    assert "cannot be read" in err


def test_a_machine_without_the_extra_says_what_to_install(photos, tmp_path, capsys, monkeypatch):
    from nearline.representations.features import convnet

    monkeypatch.setattr(convnet, "find_spec", lambda name: None)
    code, _, err = run(capsys, "try", photos, "--features", "hog,convnet", "--out", tmp_path / "out")
    assert code == 1
    assert "pip install 'nearline[convnet]'" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--feature-cache", "x"], "give --features too"),
        (["--features", ","], "at least one name"),
        (["--features", "hog", "--read", "features=hog"], "leave it out"),
        (["--features", "hog", "--read", "size=4"], "at least 8 pixels"),
    ],
)
def test_options_that_do_not_go_together(photos, tmp_path, capsys, options, sentence):
    code, _, err = run(capsys, "try", photos, "--out", tmp_path / "out", *options)
    assert code == 2
    assert sentence in err


def test_sizes_below_eight_are_refused():
    with pytest.raises(ValueError, match=">= 8"):
        ImageFeatures("hog", size=3).fit(stripes(2)[0])
