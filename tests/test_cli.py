"""The command line: what a person types, what is printed and written, exit codes."""

import csv
import json
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("polars")

from nearline import inspect, load
from nearline.cli._app import run

FAST = ["--preset", "quick", "--include", "majority,nearest centroid,k-NN, L2", "--quiet"]


@pytest.fixture(scope="module")
def penguins():
    pytest.importorskip("palmerpenguins")
    return str(files("palmerpenguins").joinpath("data/penguins.csv"))


@pytest.fixture(scope="module")
def made(penguins, tmp_path_factory):
    out = tmp_path_factory.mktemp("cli") / "out"
    assert (
        run(["try", penguins, "--target", "species", "--preset", "quick", "--quiet", "--out", str(out)]) == 0
    )
    return out


def test_try_prints_and_writes(made, penguins, tmp_path, capsys):
    assert {file.name for file in made.iterdir()} == {"model.nearline", "leaderboard.csv", "result.json"}
    result = json.loads((made / "result.json").read_text())
    assert result["test"]["rows"] == 69
    assert result["target"] == "species"
    low, high = result["test"]["intervals"]["accuracy"]
    assert low <= result["test"]["scores"]["accuracy"] <= high
    with (made / "leaderboard.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == result["candidates"]
    assert inspect(made / "model.nearline").facts["fingerprint"] == result["fingerprint"]
    code = run(
        [
            "try",
            penguins,
            "-t",
            "species",
            "--include",
            "nearest centroid",
            "--preset",
            "quick",
            "--out",
            str(tmp_path),
        ]
    )
    said = capsys.readouterr().out
    assert code == 0
    assert "344 rows, 7 columns (CSV" in said
    assert "95% interval" in said
    assert "predict with: nearline predict" in said


def test_predict_keeps_the_order(made, penguins, tmp_path, capsys):
    target = tmp_path / "labels.csv"
    assert run(["predict", str(made / "model.nearline"), penguins, "--out", str(target)]) == 0
    with target.open() as file:
        labels = [line["label"] for line in csv.DictReader(file)]
    from nearline.data import read

    table = read(penguins, "species")
    assert labels == load(made / "model.nearline").predict(table.X).tolist()
    assert np.mean(np.array(labels) == table.y) > 0.9
    assert run(["predict", str(made / "model.nearline"), penguins]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "label"


def test_evaluate_and_inspect(made, penguins, capsys):
    assert run(["evaluate", str(made / "model.nearline"), penguins, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["rows"] == 344
    assert scores["scores"]["accuracy"] > 0.9
    assert run(["inspect", str(made / "model.nearline")]) == 0
    assert "target: species" in capsys.readouterr().out


def test_json_alone(penguins, tmp_path, capsys):
    arguments = [
        "try",
        penguins,
        "-t",
        "species",
        *FAST,
        "--json",
        "--test",
        "none",
        "--out",
        str(tmp_path / "o"),
    ]
    assert run(arguments) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["test"] is None


def test_groups_time_and_a_test_file(penguins, tmp_path, capsys):
    base = ["try", penguins, "-t", "species", *FAST]
    assert (
        run([*base, "--groups", "island", "--cv", "2", "--test", "none", "--out", str(tmp_path / "a")]) == 0
    )
    assert run([*base, "--time", "year", "--out", str(tmp_path / "b")]) == 0
    assert run([*base, "--test", penguins, "--out", str(tmp_path / "c")]) == 0
    assert "test rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["try", "DATA", "--target", "speceis"], 1, "Did you mean 'species'?"),
        (["try", "DATA"], 1, "Which column holds the labels? Give --target, one of: species"),
        (["try", "nothing.csv"], 1, "There is no file nothing.csv"),
        (["try", "DATA", "-t", "species", "--include", "forest"], 1, "no family is called 'forest'"),
        (["try", "DATA", "-t", "species", "--groups", "herd"], 1, "There is no column 'herd'"),
        (["try", "DATA", "-t", "species", "--out", "FULL"], 1, "has files already"),
        (["bogus"], 2, "No such command"),
        (["try", "DATA", "--folds", "3"], 2, "No such option"),
        (["predict", "DATA", "DATA"], 1, "model file"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(arguments, code, said, penguins, made, capsys):
    places = {"DATA": penguins, "FULL": str(made)}
    assert run([places.get(argument, argument) for argument in arguments]) == code
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_no_terminal_no_colors(penguins, tmp_path):
    command = [
        sys.executable,
        "-c",
        "from nearline.cli import main; main()",
        "try",
        penguins,
        "-t",
        "species",
        *FAST,
    ]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "o")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
