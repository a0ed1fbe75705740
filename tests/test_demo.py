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
    report, model = demo.keep(tmp_path, "three digits", contest, result, {"shape": [8, 8]})
    assert "</html>" in report.read_text()
    assert model.exists()
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


def test_it_says_where_the_reports_are(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("palmerpenguins")
    whole, small = (
        demo.run,
        {"preset": "quick", "include": "nearest centroid", "folds": 3, "progress": "silent"},
    )
    monkeypatch.setattr(demo, "run", lambda data: whole(data, **small))
    monkeypatch.setattr(demo, "draw", lambda *_: [])
    monkeypatch.setattr(demo, "draw_mathematics", lambda *_: [])
    demo.main(["--out", str(tmp_path / "out")])
    said = capsys.readouterr().out
    for name in ("penguins", "digits"):
        report = tmp_path / "out" / f"{name}.html"
        assert report.exists()
        assert str(report) in said
    assert "done in" in said


def test_the_command_spares_files_and_logs(cut, tmp_path, capsys, monkeypatch):
    pytest.importorskip("typer")
    pytest.importorskip("polars")
    import nearline.selection.progress
    from nearline.cli._run import run

    (tmp_path / "mine.txt").write_text("kept")
    called = []
    monkeypatch.setattr(demo, "main", called.append)
    assert run(["demo", "--out", str(tmp_path)]) == 1
    assert "has files already" in capsys.readouterr().err
    assert not called
    assert run(["demo", "--out", str(tmp_path), "--force"]) == 0
    assert called == [["--out", str(tmp_path)]]
    monkeypatch.setattr(nearline.selection.progress, "QUIET", 0)
    demo.run(cut, preset="quick", include="nearest centroid", folds=3)
    assert capsys.readouterr().err == ""  # which is no terminal here
