"""One numbering of rows: data rows of the file from 1, with their line, in findings, the report, explain and errors."""

import csv
import json

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("polars")

from nearline.cli._run import run
from nearline.data import read, row_lines

NEAREST = ["--include", "k-NN, L2", "--preset", "quick", "--folds", "2", "--quiet"]


def rows_of(n=60):
    """Rows whose number can be read off: column 'number' counts them from 1. Of every tenth the label is missing."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        kind = "" if i % 10 == 3 else "xy"[int(rng.random() < 0.5)]
        cell = "two\nlines" if i % 7 == 0 else "one"
        rows.append([f"{rng.normal():.6f}", i + 1, cell, f"2024-01-{1 + (7 * i) % 28:02d}", kind])
    return rows


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    place = tmp_path_factory.mktemp("numbers") / "rows.csv"
    with place.open("w", newline="") as stream:
        stream.write("# made by hand\n")
        writer = csv.writer(stream)
        writer.writerow(["size", "number", "text", "day", "kind"])
        for i, row in enumerate(rows_of()):
            if i == 20:
                stream.write("\n")
            writer.writerow(row)
    return place


@pytest.mark.parametrize("order", [[], ["--time", "day"]])
def test_report_and_explain_name_the_rows_of_the_file(file, tmp_path, capsys, order):
    out, lines = tmp_path / "out", file.read_text().split("\n")
    command = ["try", str(file), "--target", "kind", "--columns", "size,number,day", *order, *NEAREST]
    assert run([*command, "--out", str(out)]) == 0, capsys.readouterr().err
    report = json.loads((out / "result.json").read_text())["report"]
    places = [
        *report["mistakes"]["rows"],
        *(near for one in report["mistakes"]["rows"] for near in one["neighbors"]),
    ]
    assert len(places) > 4
    for place in [*places, *report["looks_at"]["classes"]]:
        assert float(place["cells"]["number"]) == place["row"]
        assert lines[place["line"] - 1].split(",")[1] == str(place["row"])
    page = (out / "report.html").read_text()
    first = places[0]
    assert f"{first['row']} (line {first['line']})" in page
    capsys.readouterr()
    assert run(["explain", str(out / "model.nearline"), str(file), "--row", "30", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert lines[facts["line"] - 1].split(",")[1] == "30"
    for near in facts["neighbors"]:
        assert f"number {near['row']}," in f"{near['shown']},"
        assert lines[near["line"] - 1].split(",")[1] == str(near["row"])
    assert run(["explain", str(out / "model.nearline"), str(file), "--row", "30"]) == 0
    assert capsys.readouterr().out.startswith(f"row 30 (line {facts['line']}): ")


def test_findings_name_the_rows_of_the_file(tmp_path, capsys):
    rng = np.random.default_rng(1)
    rows = [",".join(f"{v:.3f}" for v in rng.normal(size=3)) for _ in range(80)]
    labels = ["xy"[i % 2] for i in range(80)]
    labels[5] = ""
    for i in (10, 11, 30, 31, 50, 51, 70, 71):
        rows[i], labels[i] = rows[i - i % 2], "x"
    file = tmp_path / "twins.csv"
    file.write_text("a,b,c,kind\n" + "".join(f"{row},{kind}\n" for row, kind in zip(rows, labels)))
    code = run(["try", str(file), "-t", "kind", *NEAREST, "--test", "none", "--out", str(tmp_path / "out")])
    assert code == 0
    said = [line for line in capsys.readouterr().out.splitlines() if "equal row" in line]
    assert said
    assert ": rows 31 (line 32), 32 (line 33), 51 (line 52), 52 (line 53): " in said[0]
    found = json.loads((tmp_path / "out" / "result.json").read_text())
    assert found["findings"] == found["report"]["findings"]


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.csv", 'a,b\n1,"x\ny"\n\n2,z\n', [2, 5]),
        ("b.csv", "sep=;\na;b\n1;2\n3;4\n", [3, 4]),
        ("c.jsonl", '{"a": 1}\n\n{"a": 2}\n', [1, 3]),
        ("d.json", '[{"a": 1},\n {"a": 2}]\n', []),
        ("e.svm", "# no row\n1 1:2\n\n-1 1:3\n", [2, 4]),
    ],
)
def test_lines_of_rows(tmp_path, name, text, lines):
    file = tmp_path / name
    file.write_text(text)
    assert list(row_lines(file)) == lines


def test_places_tell_which_rows_were_left_out(file):
    table = read(file, "kind")
    assert table.X["number"].to_list() == (table.places + 1).tolist()
    assert read(file).places is None
