"""Names and labels that would command a terminal, turn letters around or be formulas: shown as what they are."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("polars")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.attacks import terminal  # noqa: E402

from nearline._records.visible import HIDDEN, visible  # noqa: E402
from nearline.cli._cells import from_cell, to_cell  # noqa: E402
from nearline.cli._plot import sampled  # noqa: E402
from nearline.data import read  # noqa: E402
from nearline.plots import PICTURES  # noqa: E402
from nearline.report._html import h  # noqa: E402

ALL = "[red]\x1b]0;owned\x07\x9b31m\u202eabc\u2066\r\nnearline: fine $x$ \U000e0041"


def test_no_command_shows_what_a_terminal_would_obey(tmp_path):
    outcome = terminal.on_every_command(tmp_path, ALL.replace("\n", ""))
    assert not outcome.failures, outcome.failures
    assert outcome.survived >= 8


def test_names_stay_on_their_line(tmp_path):
    file = terminal.table(tmp_path, "a\nnearline: fine")
    _, said = terminal.called(
        ["try", str(file), "-t", "kind", *terminal.QUICK, "--out", str(tmp_path / "out")]
    )
    assert "\\nnearline: fine" in said
    assert not [line for line in said.splitlines() if line.startswith("nearline: fine")]


def test_the_report_and_the_bar(tmp_path):
    assert not terminal.on_the_report(tmp_path, ALL).failures
    assert not terminal.on_the_bar(tmp_path, ALL).failures
    assert h("text", "a\x9b\u202e\ud800", title="\x1b") == '<text title="\\x1b">a\\x9b\\u202e\\ud800</text>'


def test_pictures_name_things_as_they_are(tmp_path):
    sample = sampled(read(terminal.table(tmp_path, ALL), "kind"))
    assert not HIDDEN.search("".join([*sample.names, *sample.y.tolist(), sample.what]))
    assert PICTURES  # what is drawn of such a sample runs above: `nearline plot regions`


def test_formulas_stay_text_and_come_back(tmp_path):
    outcome = terminal.on_spreadsheets(tmp_path)
    assert not outcome.failures, outcome.failures
    assert [to_cell(one) for one in "+-@="] == [*"+-@="]  # a mark alone, as labels may be, calculates nothing
    for text in [*terminal.FORMULAS, "'", "''x", "-", "-inf", "+1e5", "1-1", ""]:
        assert from_cell(to_cell(text)) == text
    assert [to_cell(one) for one in (-1, -0.5, "-1", "+1e5", "-1,5", None)] == [
        -1,
        -0.5,
        "-1",
        "+1e5",
        "-1,5",
        None,
    ]


def test_raw_leaves_cells_alone_and_pipes_get_bytes(tmp_path):
    file = tmp_path / "f.csv"
    rows = [["size", "kind"], *([f"{i % 2}.5", ["=\u202e", "b"][i % 2]] for i in range(20))]
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    out = str(tmp_path / "out")
    assert terminal.called(["try", str(file), "-t", "kind", *terminal.QUICK, "--out", out])[0] == 0
    predict = ["predict", f"{out}/model.nearline", str(file)]
    assert "\n'=\u202e\n" in terminal.called(predict, screen=False)[1]
    assert "\n=\u202e\n" in terminal.called([*predict, "--raw"], screen=False)[1]
    assert "\n'=\\u202e\n" in terminal.called(predict, screen=True)[1]


def test_json_stays_json(tmp_path):
    import json

    file, out = terminal.table(tmp_path, "\x7f\x1b\u202e"), str(tmp_path / "out")
    command = ["try", str(file), "-t", "kind", *terminal.QUICK, "--json", "--out", out]
    assert json.loads(terminal.called(command)[1])["classes"] == ["\x7f\x1b\u202e0", "\x7f\x1b\u202e1"]


@pytest.mark.parametrize("text", ["café", "שלום", "👩\u200d👧", "می\u200cخواهم", "a\\x1b"])
def test_words_stay_as_they_are(text):
    assert visible(text) == text


def test_who_stops_reading_loses_no_files(tmp_path):
    """As `nearline try ... | head -1`: the pipe is closed before anything is printed."""
    data = tmp_path / "t.csv"
    data.write_text("a,kind\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(40)))
    command = [
        "try",
        "t.csv",
        "--target",
        "kind",
        "--preset",
        "quick",
        "--include",
        "majority",
        "--out",
        "out",
    ]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "nearline.cli", *command], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "model.nearline").exists()
