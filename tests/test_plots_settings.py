"""Every picture takes what a slide says, by call and on the command line."""

import numpy as np
import pytest

pytest.importorskip("matplotlib").use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from nearline import plots  # noqa: E402
from nearline.plots import PICTURES  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def first(drawn):
    return np.ravel(np.asarray(drawn, dtype=object))[0]


def labels(ax):
    return [line.get_label() for line in ax.get_lines()]


def test_every_picture_takes_something_and_every_setting_has_an_option():
    pytest.importorskip("typer")
    from nearline.cli._drawn import plot
    from nearline.cli._plot import SETTINGS

    assert [name for name, picture in PICTURES.items() if not picture.takes] == []
    taken = {setting for picture in PICTURES.values() for setting in picture.takes}
    assert taken == set(SETTINGS)
    assert taken <= set(plot.__annotations__)


def test_formulas_with_other_numbers():
    assert labels(PICTURES["losses"](losses=["hinge"], natural=True)) == ["hinge: max(0, 1 - z)"]
    assert "natural" in PICTURES["losses"](natural=True).get_title()
    assert "σ(3 t)" in labels(PICTURES["sigmoid"](scales=[3.0]))
    assert labels(PICTURES["unit-balls"](qs=[1.0, 3.0])) == ["q = 1", "q = 3"]
    assert first(PICTURES["simplex"](scores=[2.0, 1.0, 0.0])).get_title() == "softmax: (0.67, 0.24, 0.09)"
    drawn = PICTURES["embedding-losses"](losses=["triplet:0.5", "normface:3", "normface:5"])
    assert [ax.get_title() for ax in drawn] == ["Triplet, margin 0.5", "NormFace"]
    assert labels(drawn[1]) == ["scale 3", "scale 5"]
    with pytest.raises(ValueError, match="at least one"):
        plots.plot_embedding_losses([])


def test_rows_with_other_numbers():
    assert "metric = lq:3" in PICTURES["regions"](metric="lq:3").get_title()
    assert "kernel = rbf:5" in PICTURES["regions"](kernel="rbf:5").get_title()
    titles = [ax.get_title() for ax in PICTURES["metrics"](metrics=["lq:3", "cosine"], k=3)]
    assert titles == ["3-NN, lq:3", "3-NN, cosine"]
    assert [ax.get_title() for ax in PICTURES["neighbors-over-k"](ks=[7])] == ["K = 7"]
    assert "5 lines" in PICTURES["separators"](starts=5, random_state=3).get_title()
    assert "fold 3" in [tick.get_text() for tick in PICTURES["folds"](folds=3).get_yticklabels()]
    assert "Polynomial" in PICTURES["gram"](kernel="polynomial:2").get_title()
    assert first(PICTURES["kernel-margins"](kernels=["rbf:2"])).get_title().startswith("rbf:2")
    with pytest.raises(ValueError, match="counted from 1 to 1000"):
        PICTURES["query"](row=1001)


def test_fits_with_other_numbers():
    assert "newton" in labels(PICTURES["objective"](solvers=["newton"], steps=5, loss="softmax", alpha=0.1))
    plane, _ = PICTURES["descent"](solvers=["newton"], start=[1.0, 2.0], steps=4, loss="squared-hinge")
    assert [float(line.get_xdata()[0]) for line in plane.get_lines()] == [1.0, 1.0]
    assert len(first(PICTURES["newton"](start=[-1.0], steps=2)).get_legend().get_texts()) == 2
    assert "elastic-net:0.3" in PICTURES["coefficients"](loss="hinge", regularizer="elastic-net:0.3",
                                                          alphas=[0.1, 0.01]).get_title()  # fmt: skip
    assert len(PICTURES["weights"](model="lda", top=3)[0].patches) == 3
    with pytest.raises(ValueError, match="no weights to draw"):
        PICTURES["weights"](model="knn")
    with pytest.raises(ValueError, match="not a matter of ks"):
        PICTURES["capacity"](model="logistic", ks=[1, 2])
    assert "alpha" in PICTURES["capacity"](alphas=[1.0, 0.1]).get_xlabel()


def test_contests_with_other_families():
    names = [tick.get_text() for tick in PICTURES["leaderboard"](include=["k-NN"], folds=3).get_yticklabels()]
    assert all("k-NN" in name for name in names)
    assert PICTURES["candidates"](include=["logistic, L2"]).get_xlabel() == "alpha"
    PICTURES["reliability"](include=["perceptron"])  # which has no probabilities: calibrated


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["folds", "--folds", "one"], "--folds must be a whole number"),
        (["sweep", "--ks", "1,x"], "--ks must be whole numbers"),
        (["unit-balls", "--qs", "a"], "--qs must be numbers"),
        (["losses", "--losses", ","], "--losses needs a name"),
        (["separators", "--starts", "0"], "--starts must be a whole number >= 1"),
        (["path-scores", "--loss", "hnge"], "Did you mean 'hinge'"),
        (["newton", "--steps", "0"], "steps must be a whole number"),
        (["gram", "--kernel", "rfb"], "'rbf:0.1'"),
    ],
)
def test_options_that_cannot_be_are_said(arguments, sentence, tmp_path, capsys):
    pytest.importorskip("typer")
    pytest.importorskip("polars")
    from nearline.cli._run import run

    assert run(["plot", *arguments, "--out", str(tmp_path / "p.png")]) != 0
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_list_says_what_a_picture_takes(capsys):
    pytest.importorskip("typer")
    from nearline.cli._run import run

    assert run(["plot", "separators", "--list"]) == 0
    assert "--starts, --random-state" in capsys.readouterr().out
