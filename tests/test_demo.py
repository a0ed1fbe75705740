"""The demonstration on a cut of its data: every family is tried, the winner is tested once, pictures are written."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from nearline import demo


@pytest.fixture(scope="module")
def cut():
    X, y = load_digits(n_class=3, return_X_y=True)
    return "three digits", (X[:150] / 16.0).astype(np.float32), y[:150]


def test_the_contest_is_printed_and_drawn(cut, capsys, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    contest, result = demo.run(cut, preset="quick", progress="silent", folds=3)
    printed = capsys.readouterr().out
    assert all(entry.family in printed for entry in contest.leaderboard_.best_of_families())
    assert "95% interval" in printed
    assert contest.openings_ == 1
    assert result.scores["accuracy"] > 0.9
    written = demo.draw(tmp_path, contest, result, cut)
    assert {"leaderboard.png", "over-k.png", "confusion.png"} <= {file.name for file in written}
    assert all(file.stat().st_size > 5_000 for file in written)


def test_pictures_of_the_mathematics(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("palmerpenguins")
    matplotlib.use("Agg")
    written = demo.draw_mathematics(tmp_path)
    assert len(written) == 3
    assert all(file.stat().st_size > 2_000 for file in written)
