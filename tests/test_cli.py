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
from nearline.cli._run import run
from nearline.selection.contest import Contest

FAST = ["--preset", "quick", "--include", "majority,nearest centroid,k-NN, L2", "--quiet"]

LEFT = ("leaderboard.csv", "result.json", "journal.jsonl")  # by every contest


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
    written = {*LEFT, "report.html", "model.nearline"}
    assert {file.name for file in made.iterdir()} == written
    assert "</html>" in (made / "report.html").read_text()
    result = json.loads((made / "result.json").read_text())
    assert result["test"]["rows"] == 69
    assert result["target"] == "species"
    interval = result["test"]["intervals"]["accuracy"]
    low, high = interval["low"], interval["high"]
    assert (interval["confidence"], interval["method"], interval["reason"]) == (0.95, "Wilson t", None)
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
        run([*base, "--groups", "island", "--folds", "2", "--test", "none", "--out", str(tmp_path / "a")])
        == 0
    )
    assert run([*base, "--time", "year", "--out", str(tmp_path / "b")]) == 0
    assert run([*base, "--test", penguins, "--out", str(tmp_path / "c")]) == 0
    assert "test rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["try", "DATA", "--target", "speceis"], 1, "Did you mean 'species'?"),
        (["try", "DATA"], 2, "Which column holds the labels? Give --target, one of: species"),
        (["try", "nothing.csv"], 1, "There is no file nothing.csv"),
        (
            ["try", "DATA", "-t", "species", "--include", "forest"],
            2,
            "--include: no family is called 'forest'",
        ),
        (["try", "DATA", "-t", "species", "--groups", "herd"], 1, "There is no column 'herd'"),
        (["try", "DATA", "-t", "species", "--groups", "island", "--time", "year"], 2, "exclude each other"),
        (["try", "DATA", "-t", "species", "--out", "FULL"], 1, "has files already"),
        (["bogus"], 2, "No such command"),
        (["try", "DATA", "--holds", "3"], 2, "No such option"),
        (["predict", "DATA", "DATA"], 1, "model file"),
        (["try", "DATA", "-t", "species", "--test", "1.5"], 2, "a share between 0 and 1"),
        (["try", "DATA", "-t", "species", "--test", "no.csv"], 2, "there is no file no.csv"),
        (["try", "DATA", "-t", "species", "--drop", "beak"], 1, "There is no column 'beak' to drop"),
        (["try", "DATA", "-t", "species", "--read", "comma"], 2, "--read takes format=..."),
        (["try", "DATA", "-t", "species", "--read", "header=maybe"], 2, "cannot be 'maybe'"),
        (["try", "DATA", "-t", "species", "--out", "DATA"], 1, "is a file, and results need a folder"),
        (["predict", "MODEL", "DATA", "--out", "labels.doc"], 2, "the ending says the format"),
        (["predict", "MODEL", "nothing.csv"], 1, "There is no file nothing.csv"),
        (["predict", "MODEL", "nothing.csv", "--out", "no/labels.csv"], 1, "There is no file nothing.csv"),
        (["predict", "MODEL", "DATA", "--out", "no/labels.csv"], 2, "since there is no folder"),
        (["predict", "no.nearline", "DATA"], 1, "give the path of one that nearline try wrote"),
        (["inspect", "DATA"], 1, "Give a file that nearline try wrote (model.nearline)"),
        (["explain", "MODEL", "DATA", "--row", "0"], 2, "counted from 1"),
        (
            ["explain", "MODEL", "DATA", "--row", "345"],
            1,
            "has 344 rows, counted from 1, and --row 345 is none of them",
        ),
        (["plot", "regoins"], 2, "Did you mean 'regions'?"),
        (["plot", "losses", "DATA", "-t", "species"], 1, "leave the data out"),
        (["plot", "templates", "DATA", "-t", "species"], 1, "no images"),
        (["plot", "losses", "--out", "losses.doc"], 2, "the ending says the format"),
        (
            ["sweep", "DATA", "-t", "species", "--out", "k.doc"],
            2,
            "k.doc ends with none of .png, .svg, .pdf, .jpg",
        ),
        (
            ["sweep", "DATA", "-t", "species", "--ks", "few"],
            2,
            "--ks must be a whole number >= 1, got 'few'.",
        ),
        (["path", "DATA", "-t", "species", "--loss", "huber"], 2, "Unknown --loss 'huber'"),
        # these are refused before data are read
        (["try", "nothing.csv", "--preset", "fast"], 2, "Unknown --preset 'fast'"),
        (["try", "nothing.csv", "--scoring", "beauty"], 2, "Unknown --scoring 'beauty'"),
        (["try", "nothing.csv", "--exclude", "forest"], 2, "--exclude: no family is called 'forest'"),
        (
            ["try", "nothing.csv", "--include", "majority", "--exclude", "majority"],
            2,
            "--exclude leaves out every family",
        ),
        (
            ["try", "nothing.csv", "--folds", "1"],
            2,
            "--folds must be a whole number >= 2, or 'leave-one-out', got '1'.",
        ),
        (
            ["try", "nothing.csv", "--folds", "loo"],
            2,
            "--folds must be a whole number >= 2, or 'leave-one-out', got 'loo'.",
        ),
        # numbers in the words of the house, and words that are one of a few
        (
            ["transfer", "a", "b", "--payload", "c", "--k", "1e9"],
            2,
            "--k must be a whole number >= 1, got '1e9'.",
        ),
        (["probe", "a", "b", "--repeats", "0"], 2, "--repeats must be a whole number >= 1, got '0'."),
        (["probe", "a", "b", "--protocol", ","], 2, "--protocol needs a name."),
        (
            ["explain", "a", "b", "--row", "1", "--row", "x"],
            2,
            "--row must be a whole number >= 1 (rows are counted from 1), got 'x'.",
        ),
        (["plot", "regions", "--k", "0"], 2, "--k must be a whole number >= 1, got '0'."),
        (["plot", "regions", "--alpha", "few"], 2, "--alpha must be a number, got 'few'."),
        (["plot", "descent", "--steps", "100000000"], 1, "--steps must be a whole number >= 1 and <= 10000"),
        (["plot", "regions", "--model", "svm", "--proba"], 1, "leave --proba out, or take another --model."),
        (["try", "nothing.csv", "--time-limit", "soon"], 2, "must be a number of seconds > 0, got 'soon'."),
        (
            ["try", "nothing.csv", "--random-state", "4294967296"],
            2,
            ">= 0 and <= 4294967295, got '4294967296'.",
        ),
        (["try", "nothing.csv", "--threshold", "2"], 2, "'auto' or 'tune' or 'costs' or 'none', got '2'."),
        (["try", "nothing.csv", "--choose", "last"], 2, "--choose must be 'best' or 'one-se', got 'last'."),
        (["try", "nothing.csv", "--calibrate", "no"], 2, "--calibrate must be 'none' or 'auto'"),
        (["try", "nothing.csv", "--refit", "no"], 2, "--refit must be 'train' or 'all', got 'no'."),
        (
            ["try", "DATA", "-t", "sex", "--threshold", "costs"],
            1,
            "where there are no costs, got 'costs': give --costs.",
        ),
        (["try", "DATA", "-t", "species", "--threshold", "tune"], 1, "choose by --scoring balanced-accuracy"),
        (["try", "DATA", "-t", "sex", "--costs", "male:female=1e308"], 1, "finite numbers of at most 1e+100"),
        (
            ["try", "DATA", "-t", "sex", "--costs", "male:female=2,male:female=3"],
            2,
            "--costs names male:female more than once: give one cost.",
        ),
        (
            ["try", "DATA", "-t", "sex", "--class-weight", "male=2,male=3"],
            2,
            "--class-weight names 'male' more than once: give one weight.",
        ),
        (["try", "nothing.csv", "--jobs", "0"], 2, "--jobs must be a whole number >= 1"),
        (["try", "nothing.csv", "--time-limit", "0"], 2, "--time-limit must be a number of seconds > 0"),
        (["sweep", "nothing.csv", "--metric", "l9"], 2, "Unknown --metric 'l9'"),
        (["sweep", "nothing.csv", "--weights", "heavy"], 2, "Unknown --weights 'heavy'"),
        (
            ["sweep", "nothing.csv", "--folds", "1"],
            2,
            "--folds must be a whole number >= 2, or 'leave-one-out', got '1'.",
        ),
        (
            ["sweep", "nothing.csv", "--folds", "loo"],
            2,
            "--folds must be a whole number >= 2, or 'leave-one-out', got 'loo'.",
        ),
        (["path", "nothing.csv", "--regularizer", "l3"], 2, "Unknown --regularizer 'l3'"),
        (["path", "nothing.csv", "--alphas", "-1"], 2, "--alphas must be finite numbers >= 0"),
        (
            ["path", "nothing.csv", "--folds", "1"],
            2,
            "--folds must be a whole number >= 2, or 'leave-one-out', got '1'.",
        ),
        (
            ["path", "nothing.csv", "--folds", "loo"],
            2,
            "--folds must be a whole number >= 2, or 'leave-one-out', got 'loo'.",
        ),
        (["try", "DATA", "-t", "species", "--out", "DATA/sub"], 1, "cannot be written"),
        # times that cannot be put in order
        (["try", "DATA", "-t", "species", "--time", "island"], 2, "convert the column to ISO dates"),
        (["try", "DATA", "-t", "species", "--time", "body_mass_g"], 1, "2 rows without a time"),
        # words of the command line
        (["try", "DATA", "-t", "species", "--test", "0.001"], 1, "or --test none"),
        (["try", "DATA", "-t", "species", "--groups", "island", *FAST], 1, "take fewer folds (--folds 2)"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(
    arguments, code, said, penguins, made, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    places = {"DATA": penguins, "FULL": str(made), "MODEL": str(made / "model.nearline")}
    given = [places.get(one, one.replace("DATA/", f"{penguins}/")) for one in arguments]
    assert run(given) == code
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert not list(tmp_path.iterdir())


def test_no_terminal_no_colors(penguins, tmp_path):
    # even if every line of progress were due at once
    code = "import nearline.selection.progress as p; p.QUIET = 0; from nearline.cli import main; main()"
    loud = [option for option in FAST if option != "--quiet"]
    command = [sys.executable, "-c", code, "try", penguins, "-t", "species", *loud]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "o")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""


def test_version(capsys):
    from nearline import __version__

    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"nearline {__version__}\n"


def test_debug_shows_where(penguins):
    with pytest.raises(ValueError, match="Did you mean"):
        run(["try", penguins, "-t", "speceis", "--debug"])


def test_help_fits_a_screen_and_imports_little():
    code = (
        "import sys; from nearline.cli._run import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) <= 24
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "..." not in done.stdout.replace("[ARGS]...", "").replace("ROC, ...", "")
    heavy = {"numpy", "sklearn", "scipy", "polars", "matplotlib", "rich"}
    assert not heavy & set(done.stderr.split())  # what makes starting slow


def test_every_command_has_an_example(capsys):
    from nearline.cli._app import app

    names = [command.name or command.callback.__name__ for command in app.registered_commands]
    assert {
        "try",
        "predict",
        "explain",
        "evaluate",
        "inspect",
        "sweep",
        "path",
        "plot",
        "fact",
        "demo",
    } <= set(names)
    for name in names:
        assert run([name, "--help"]) == 0
        assert f"Example:  nearline {name} " in capsys.readouterr().out


def test_interrupted_keeps_what_had_finished(penguins, tmp_path, capsys, monkeypatch):
    from nearline.selection.contest import Contest

    attempt, tried = Contest._attempt, []

    def stopped(self, unit, *rest):
        tried.append(unit)
        if len(tried) == 3:
            raise KeyboardInterrupt
        attempt(self, unit, *rest)

    monkeypatch.setattr(Contest, "_attempt", stopped)
    out = tmp_path / "out"
    assert run(["try", penguins, "-t", "species", "--preset", "quick", "-q", "--out", str(out)]) == 130
    assert "interrupted: what had finished is shown" in capsys.readouterr().out
    result = json.loads((out / "result.json").read_text())
    assert result["interrupted"]
    assert result["candidates"] > 0
    assert load(out / "model.nearline").classes_.tolist() == result["classes"]


def test_interrupted_before_anything_finished(penguins, tmp_path, capsys, monkeypatch):
    from nearline.selection.contest import Contest

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Contest, "_attempt", stopped)
    out = tmp_path / "out"
    assert run(["try", penguins, "-t", "species", "--preset", "quick", "-q", "--out", str(out)]) == 130
    assert capsys.readouterr().err == "nearline: stopped.\n"
    assert not list(tmp_path.iterdir())


def test_force_writes_over_what_is_there(penguins, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("an older one")
    (out / "mine.txt").write_text("kept")
    arguments = ["try", penguins, "-t", "species", *FAST, "--out", str(out)]
    assert run(arguments) == 1
    assert {file.name for file in out.iterdir()} == {"report.html", "mine.txt"}
    assert run([*arguments, "--force"]) == 0
    assert (out / "mine.txt").read_text() == "kept"
    assert (out / "report.html").read_text() != "an older one"


def test_a_report_that_fails_loses_nothing(penguins, tmp_path, capsys, monkeypatch):
    import nearline.report

    def fails(*_, **__):
        raise RuntimeError("no paper")

    monkeypatch.setattr(nearline.report, "write_report", fails)
    out = tmp_path / "out"
    assert run(["try", penguins, "-t", "species", *FAST, "--out", str(out)]) == 0
    assert "no report was written (RuntimeError: no paper)" in capsys.readouterr().out
    assert {file.name for file in out.iterdir()} == {*LEFT, "model.nearline"}


def test_groups_and_time_are_no_features_of_the_model(penguins, tmp_path):
    out = tmp_path / "out"
    arguments = [
        "try",
        penguins,
        "-t",
        "species",
        *FAST,
        "--time",
        "year",
        "--drop",
        "sex",
        "--out",
        str(out),
    ]
    assert run(arguments) == 0
    assert {"year", "sex"} & set(json.loads((out / "result.json").read_text())["columns"]) == set()
    assert run(["predict", str(out / "model.nearline"), penguins, "--out", str(tmp_path / "l.csv")]) == 0


def test_names_of_families_may_have_commas(penguins, tmp_path):
    out = tmp_path / "out"
    arguments = ["try", penguins, "-t", "species", "--preset", "quick", "-q", "--out", str(out)]
    assert run([*arguments, "--include", "k-NN, L2,nearest centroid"]) == 0
    with (out / "leaderboard.csv").open() as file:
        assert {line["family"] for line in csv.DictReader(file)} == {"k-NN, L2", "nearest centroid"}


def test_many_classes_keep_the_model_file_small(penguins, tmp_path, monkeypatch, capsys):
    from nearline.cli import _output

    monkeypatch.setattr(_output, "MOST_ROWS", 10)
    out = tmp_path / "out"
    family = ["--preset", "quick", "--include", "k-NN, L2", "-q"]
    assert run(["try", penguins, "-t", "species", *family, "--out", str(out)]) == 0
    assert "more than 10 training rows" in capsys.readouterr().out
    result, facts = json.loads((out / "result.json").read_text()), inspect(out / "model.nearline").facts
    assert np.sum(result["test"]["confusion"]) == 69
    assert "confusion" not in facts["test"]
    assert len(result["training_rows"]) == 275
    assert facts["training_rows"] is None
    assert run(["explain", str(out / "model.nearline"), penguins, "--row", "1"]) == 0
    assert "bill_length_mm" not in capsys.readouterr().out  # no row is shown for another


def test_a_model_that_cannot_be_saved_loses_nothing_else(penguins, tmp_path, monkeypatch, capsys):
    from nearline.cli import _output

    def fails(*_, **__):
        raise RuntimeError("too large.")

    monkeypatch.setattr(_output, "save", fails)
    out = tmp_path / "out"
    assert run(["try", penguins, "-t", "species", *FAST, "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert "nearest centroid" in said.out
    assert "95% interval" in said.out
    assert "predict with" not in said.out
    assert said.err == "nearline: The model was not saved, all else was: too large.\n"
    assert {file.name for file in out.iterdir()} == {*LEFT, "report.html"}


def dated(path, written):
    """Rows whose dates, as they are written, are not in the order of the file."""
    days = [(7 * i) % 40 for i in range(40)]
    lines = [f"{i % 5},{written(day)},{'xy'[i % 2]}" for i, day in enumerate(days)]
    path.write_text("\n".join(["a,when,kind", *lines]) + "\n")
    return [str(path), "-t", "kind", "--time", "when", *FAST]


def test_time_is_the_order_of_dates(tmp_path, capsys):
    from datetime import date, timedelta

    iso = dated(tmp_path / "iso.csv", lambda day: date(2024, 1, 1) + timedelta(day))
    assert run(["try", *iso, "--out", str(tmp_path / "a")]) == 0
    said = "in order of when: from 2024-01-01 to 2024-02-09; the test begins at 2024-02-02"
    assert said in capsys.readouterr().out
    zones = dated(tmp_path / "zones.csv", lambda day: f"2024-01-01T{day // 2:02}:30:00+0{day % 2}:00")
    assert run(["try", *zones, "--out", str(tmp_path / "b")]) == 0
    slashed = dated(tmp_path / "slashed.csv", lambda day: f"{1 + day % 28}/{1 + day // 28}/2024")
    assert run(["try", *slashed, "--out", str(tmp_path / "d")]) == 0
    assert "from 2024-01-01 to 2024-02-12; the test" in capsys.readouterr().out
    other = dated(tmp_path / "other.csv", lambda day: f"day {day} of 2024")
    assert run(["try", *other, "--out", str(tmp_path / "c")]) == 2
    assert "convert the column to ISO dates (YYYY-MM-DD)" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_a_folder_in_which_nothing_can_be_written(penguins, tmp_path, capsys, monkeypatch):
    from nearline.cli import _output

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_output.tempfile, "TemporaryFile", full)
    out = tmp_path / "deep" / "out"
    assert run(["try", penguins, "-t", "species", *FAST, "--out", str(out)]) == 1
    assert capsys.readouterr().err.startswith(f"nearline: {out} cannot be written (No space left on device)")
    assert not list(tmp_path.iterdir())


def test_the_time_limit_is_said(penguins, tmp_path, capsys, monkeypatch):
    from nearline.selection.budget import Budget

    def over(self, seconds):  # of which the first family is exempt
        self.candidates.seconds = 0.0

    monkeypatch.setattr(Budget, "reserve", over)
    out = tmp_path / "out"
    limit = ["--time-limit", "1000", "--exclude", "majority", "--out", str(out)]
    assert run(["try", penguins, "-t", "species", *FAST, *limit]) == 0
    assert "the time limit ended the contest: 1 of 2 families finished\n" in capsys.readouterr().out
    assert json.loads((out / "result.json").read_text())["time_limit_reached"] is True


def test_findings_count_rows_as_the_file_does(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [f"{a:.6f},{b:.6f},{'xy'[i % 2]}" for i, (a, b) in enumerate(rng.normal(size=(60, 2)))]
    rows[59] = rows[49]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,kind", *rows]) + "\n")
    arguments = ["try", str(tmp_path / "rows.csv"), "-t", "kind", *FAST, "--test", "none", "--out"]
    assert run([*arguments, str(tmp_path / "out")]) == 0
    assert "rows 50 (line 51), 60 (line 61): 2 of 60 rows" in capsys.readouterr().out


def test_a_time_limit_that_leaves_no_time_is_no_success(penguins, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    command = ["try", penguins, "-t", "species", "--out", str(out), "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr("nearline.selection.budget.PATIENCE", 0.0)
        assert run([*command, "--time-limit", "1e-9"]) == 3
        assert "No candidate could be finished on all folds" in capsys.readouterr().err
        patch.setattr("nearline.selection.budget.PATIENCE", 1e6)  # of which the majority takes all
        patch.setattr(Contest, "_has_result", lambda self: any(unit.finished() for unit in self.units))
        assert run([*command, "--time-limit", "1e-9"]) == 3
        assert "too short for any model that looks at the rows" in capsys.readouterr().err
    assert not out.exists()
    assert run([*command, "--include", "majority", "--time-limit", "1000"]) == 0  # it was asked for


@pytest.mark.parametrize(
    ("command", "options", "last"),
    [
        (["try"], [], "--force to write over"),
        (["sweep"], ["--out", "no/k.png"], "since there is no folder"),
        (["path"], ["--out", "no/alpha.png"], "since there is no folder"),
        (["plot", "regions"], [], "--force to write over"),
    ],
)
def test_what_is_wrong_with_the_data_comes_first(
    penguins, tmp_path, capsys, monkeypatch, command, options, last
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nearline-out").mkdir()
    for name in ("nearline-out/x", "regions.png"):
        (tmp_path / name).write_text("there")
    assert run([*command, "missing.csv", "-t", "species", *options]) == 1
    assert "missing.csv" in capsys.readouterr().err
    assert run([*command, penguins, "-t", "speceis", *options]) == 1
    assert "Did you mean 'species'" in capsys.readouterr().err
    assert run([*command, penguins, "-t", "species", *options]) == 1
    assert last in capsys.readouterr().err


def test_nothing_asked_is_help(capsys):
    assert run([]) == 0
    alone = capsys.readouterr()
    assert run(["--help"]) == 0
    assert alone == capsys.readouterr()
    assert alone.out.startswith("Usage: nearline")
    assert "\n  try " in alone.out


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        ("try", "--cv", "--folds"),
        ("try", "--metric", "--scoring"),
        ("try", "--seed", "--random-state"),
        ("sweep", "--metrics", "--metric"),
        ("path", "--penalty", "--regularizer"),
        ("path", "--alpha", "--alphas"),
        ("sweep", "--k", "--ks"),
        ("sweep", "--n-neighbors", "--ks"),
    ],
)
def test_options_with_old_names_are_refused_with_the_new_one(command, old, new, capsys):
    assert run([command, "nothing.csv", old, "5"]) == 2
    assert f"{old} is called {new} now." in capsys.readouterr().err


def test_an_option_that_a_command_has_not_is_not_called_another(capsys):
    assert run(["try", "nothing.csv", "--penalty", "l1"]) == 2
    assert "No such option: --penalty" in capsys.readouterr().err
