"""Openings of test rows, counted over sessions in a file."""

import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.datasets import make_classification

from nearline import TryThemAll
from nearline.cli._run import run
from nearline.selection.openings import Openings, check_record, record_opening


def contest(**options):
    X, y = make_classification(120, 4, random_state=0)
    return TryThemAll("quick", include=["nearest centroid", "naive Bayes"], progress="silent", **options).fit(
        X, y
    )


def test_openings_are_counted_over_sessions(tmp_path):
    """Two sessions, each with a new object, on the same rows; then another model; then other rows."""
    file = tmp_path / "openings.json"
    first, again = contest().open_test(record=file), contest().open_test(record=str(file))
    assert (first.openings, first.models) == (1, 1)
    assert (again.openings, again.models) == (2, 1)
    assert "opened 2 times, for the same model" in str(again)
    other = contest(exclude=["nearest centroid"]).open_test(record=file)
    assert other.openings == 3
    assert other.models in (1, 2)  # 2 unless naive Bayes had won before
    elsewhere = contest(random_state=5).open_test(record=file)
    assert elsewhere.openings == 1
    assert len(json.loads(file.read_text())["tests"]) == 2
    assert contest().open_test().openings == 1  # without the file nothing is known


def test_sessions_at_the_same_time_count_each_other(tmp_path):
    file = tmp_path / "openings.json"
    models = [f"model {i % 3}" for i in range(20)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # beside this process
        elsewhere = pool.map(partial(record_opening, file, "rows"), models[:10])
        for model in models[10:]:
            record_opening(file, "rows", model)
        list(elsewhere)
    assert record_opening(file, "rows", "model 0") == Openings(21, 3)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tests": {"a": 1}}', '{"tests": {"a": {"openings": 0, "models": []}}}']
)
def test_other_files_are_refused_before_the_work(tmp_path, text):
    file = tmp_path / "notes.json"
    file.write_text(text)
    fitted = contest()
    with pytest.raises(ValueError, match="is not a record of openings"):
        fitted.open_test(record=file)
    assert fitted.openings_ == 0
    assert file.read_text() == text
    with pytest.raises(ValueError, match="there is no folder"):
        check_record(tmp_path / "nowhere" / "openings.json")


def test_the_command_line_counts_too(tmp_path, capsys):
    X, y = make_classification(120, 4, random_state=0)
    data, file = tmp_path / "data.csv", tmp_path / "openings.json"
    lines = [
        "a,b,c,d,y",
        *(
            ",".join(map(str, [*row, ["no", "yes"][label]]))
            for row, label in zip(np.round(X, 6), y, strict=True)
        ),
    ]
    data.write_text("\n".join(lines))
    command = [
        "try",
        str(data),
        "--target",
        "y",
        "--preset",
        "quick",
        "--include",
        "nearest centroid",
        "--quiet",
        "--force",
    ]
    for _ in range(2):
        assert run([*command, "--out", str(tmp_path / "out"), "--openings", str(file)]) == 0
    assert "opened 2 times, for the same model" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "result.json").read_text())["test"]["openings"] == 2
    assert run([*command, "--out", str(tmp_path / "out"), "--openings", str(tmp_path / "no" / "x.json")]) == 2
