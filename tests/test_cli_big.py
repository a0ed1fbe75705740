"""Data larger than memory on the command line: read in pieces or held by workers, with the files of any contest."""

import json

import numpy as np
import pytest

pytest.importorskip("polars")
pytest.importorskip("typer")
pytest.importorskip("pyarrow")

import polars as pl

from nearline import load
from nearline.cli._big import memory_of
from nearline.cli._errors import UsageError
from nearline.cli._run import run

N = 1200
FAST = [
    "--preset",
    "quick",
    "--include",
    "majority,nearest centroid,least squares",
    "--folds",
    "2",
    "--quiet",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """One table as a Parquet file, a folder of them, and CSV; some rows have no label, a category is rare."""
    folder = tmp_path_factory.mktemp("big")
    rng = np.random.default_rng(0)
    X, color = rng.normal(size=(N, 3)), rng.choice(["red", "blue"], N)
    color[-1] = "violet"  # in one piece alone
    y = np.where(X[:, 0] + (color == "red") + 0.5 * rng.normal(size=N) > 0.5, "yes", "no").astype(object)
    y[::50] = None
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "color": color, "y": y.tolist()})
    table.write_parquet(folder / "big.parquet", row_group_size=250)
    table.write_csv(folder / "big.csv")
    (folder / "parts").mkdir()
    for number, begin in enumerate((0, 700, 900)):
        table[begin : (700, 900, N)[number]].write_parquet(folder / "parts" / f"{number}.parquet")
    return folder


def tried(data, name, out, *options):
    """The result of a contest whose memory is too small for the data."""
    code = run(["try", str(data / name), "-t", "y", "--memory", "10kB", "--out", str(out), *FAST, *options])
    assert code == 0
    return json.loads((out / "result.json").read_text())


def test_the_same_contest_whatever_the_file(data, tmp_path, capsys):
    results = [tried(data, name, tmp_path / name) for name in ("big.parquet", "parts", "big.csv")]
    said = capsys.readouterr().out
    assert "in memory a contest needs about" in said
    assert "it is read again, piece by piece, for each pass" in said
    for found in results:
        assert found["rows"] == N - N // 50
        assert found["rows_in_file"] == N
        assert found["model"] == results[0]["model"]
        assert found["test"]["rows"] == results[0]["test"]["rows"]
        assert found["test"]["scores"] == results[0]["test"]["scores"]
        np.testing.assert_allclose(
            found["cross_validation"]["accuracy"], results[0]["cross_validation"]["accuracy"], atol=0.01
        )
        assert found["report"]["data"]["training_rows"] + found["test"]["rows"] == found["rows"]
    written = {file.name for file in (tmp_path / "big.csv").iterdir()}
    assert written == {"report.html", "model.nearline", "leaderboard.csv", "result.json"}
    assert {file.name for file in tmp_path.iterdir()} == {"big.parquet", "parts", "big.csv"}  # no scratch


def test_workers_hold_the_pieces(data, tmp_path, capsys):
    found = tried(data, "parts", tmp_path / "out", "--workers", "1", "--memory", "2GB")
    said = capsys.readouterr().out
    assert "1 worker on this machine; dashboard: http" in said
    assert found["test"]["rows"] > 200


def test_neighbors_that_win_are_kept_with_their_rows(data, tmp_path):
    out = tmp_path / "out"
    options = ["--memory", "10kB", "--preset", "quick", "--include", "k-NN, L2", "--folds", "2", "--quiet"]
    assert run(["try", str(data / "big.parquet"), "-t", "y", "--out", str(out), *options]) == 0
    model = load(out / "model.nearline")
    assert model.steps[-1][1].n_samples_fit_ > 900
    result = json.loads((out / "result.json").read_text())
    assert len(result["training_rows"]) == model.steps[-1][1].n_samples_fit_
    assert run(["explain", str(out / "model.nearline"), str(data / "big.parquet"), "--row", "1"]) == 0


def test_predictions_of_a_folder_go_on_where_they_ended(data, tmp_path, capsys):
    tried(data, "parts", tmp_path / "out", "--include", "logistic")
    model, answers = tmp_path / "out" / "model.nearline", tmp_path / "answers"
    command = ["predict", str(model), str(data / "parts"), "--proba", "--out", str(answers)]
    assert run(command) == 0
    files = sorted(file for file in answers.iterdir() if file.suffix == ".parquet")
    assert [file.name for file in files] == ["0.parquet", "1.parquet", "2.parquet"]
    whole = pl.concat([pl.read_parquet(file) for file in files])
    assert len(whole) == N
    assert whole.columns == ["label", "probability of no", "probability of yes"]
    single = tmp_path / "all.csv"
    assert run(["predict", str(model), str(data / "big.parquet"), "--out", str(single)]) == 0
    assert pl.read_csv(single)["label"].to_list() == whole["label"].to_list()
    files[1].unlink()
    before = files[0].stat().st_mtime_ns
    capsys.readouterr()
    assert run(command) == 0
    assert "2 files" in capsys.readouterr().err
    assert files[0].stat().st_mtime_ns == before
    assert len(pl.read_parquet(files[1])) == 200
    assert run([*command[:3], "--out", str(answers)]) == 1  # without probabilities: other predictions
    assert "predictions of another model, or with other options" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--groups", "color"], "--groups needs all rows at hand"),
        (["--time-limit", "5"], "--time-limit needs all rows at hand"),
        (["--bins", "3"], "--bins needs all rows at hand"),
        (["--nested"], "--nested needs all rows at hand"),
        (["--folds", "leave-one-out"], "--folds leave-one-out needs all rows"),
        (["--workers", "0"], "--workers must be a whole number >= 1"),
        (["--workers", "1", "--dask", "tcp://x:1"], "give one of them"),
        (["--memory", "much"], "a size such as 500MB"),
    ],
)
def test_what_pieces_cannot_do_is_said(data, tmp_path, capsys, options, sentence):
    where = str(data / "big.parquet")
    code = run(["try", where, "-t", "y", "--memory", "10kB", "--out", str(tmp_path / "out"), *options])
    assert code == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_is_not_there(data, tmp_path, capsys):
    code = run(
        ["try", str(data / "parts"), "-t", "y", "--dask", "tcp://127.0.0.1:9", "--out", str(tmp_path / "out")]
    )
    assert code == 1
    assert "no Dask scheduler at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_small_files_stay_in_memory(data, tmp_path, capsys):
    assert run(["try", str(data / "big.parquet"), "-t", "y", "--out", str(tmp_path / "out"), *FAST]) == 0
    assert "piece by piece" not in capsys.readouterr().out
    assert run(["try", str(data / "parts"), "-t", "y", "--out", str(tmp_path / "o2"), *FAST]) == 0
    assert "Parquet folder, files 3" in capsys.readouterr().out


def test_sizes():
    assert [memory_of(text) for text in ("2GB", "500 mb", "1.5g", "4096", "1KiB")] == [
        2e9,
        5e8,
        1.5e9,
        4096,
        1e3,
    ]
    with pytest.raises(UsageError):
        memory_of("0")
