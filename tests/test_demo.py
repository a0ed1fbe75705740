"""The demonstration on a cut of its data: every model is tuned, certified and ranked; the winner is tested once."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from nearline import demo


@pytest.fixture(scope="module")
def cut():
    X, y = load_digits(n_class=3, return_X_y=True)
    return "three digits", (X[:150] / 16.0).astype(np.float32), y[:150], None


def test_the_leaderboard_has_every_model_with_its_certificate(cut, capsys, tmp_path):
    rows = demo.run(cut)
    printed = capsys.readouterr().out
    tuned, plain = (dict(models()) for models in (demo.candidates, demo.without_alpha))
    assert {row.name for row in rows} == set(tuned) | set(plain) | set(demo.METRICS)
    means = [row.scores.mean() for row in rows]
    assert means == sorted(means, reverse=True)
    assert means[0] > 0.95
    for row in rows:
        assert len(row.scores) == 5
        assert row.name in printed
        assert row.solver in printed
        assert (row.gap is not None and row.gap <= 1e-4) == (row.name in tuned)
    assert f"winner by cross-validation: {rows[0].name}" in printed
    assert printed.count("tested once") == 1
    pytest.importorskip("matplotlib")
    assert demo.draw_tuning(rows, tmp_path).stat().st_size > 10_000


def test_wilson_interval():
    """Its ends are where the share is 1.96 standard errors away."""
    for share, n in [(0.9, 50), (0.5, 10), (1.0, 30)]:
        low, high = demo.wilson(share, n)
        for end in (low, high):
            assert abs(share - end) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / n), abs=1e-9)


def test_pictures_are_written(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("palmerpenguins")
    written = demo.draw(tmp_path)
    assert len(written) >= 2
    assert all(file.stat().st_size > 2_000 for file in written)
