"""What a new user reads in the first hour: one line for many columns, what is wrong with the data, plain plurals."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("polars")

import nearline
from nearline._records.words import at_the_command_line, many, worded
from nearline.cli._reading import model_schema
from nearline.cli._run import run
from nearline.data import DataError, read
from nearline.selection.checks import check

FAST = ["--preset", "quick", "--include", "majority,nearest centroid", "--quiet"]


def pixels(n=120, wide=60):
    """Images of which half of the columns tell the class."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, wide))
    X[:, ::2] += 50.0 * y[:, None]
    return X, y


def test_many_columns_have_one_finding():
    X, y = pixels()
    (found,) = (one for one in check(X, y) if one.name == "column-determines-target")
    assert found.subject == "column 1, column 3, column 5, column 7, column 9 and 25 more"
    assert found.columns.numbers == tuple(range(0, 60, 2))
    assert found.leave_out
    assert found.message.startswith("30 columns, each by itself. Of column 1: ")
    assert found.facts()["columns"][1] == "column 3"
    few = [one.subject for one in check(X[:, :4], y)]
    assert few == ["column 1", "column 3"]


def test_arrays_have_no_columns_to_drop_and_tables_have(tmp_path, capsys):
    X, y = pixels()
    np.savez(tmp_path / "images.npz", X=X.reshape(120, 6, 10), y=y)
    assert run(["try", str(tmp_path / "images.npz"), *FAST, "--out", str(tmp_path / "a")]) == 0
    said = capsys.readouterr().out
    assert said.count("Leave the column out") == 1
    assert "--drop" not in said
    names = [f"p{j}" for j in range(8)]
    rows = [",".join([*names, "kind"]), *(",".join(map(str, [*row[:8], c])) for row, c in zip(X, y))]
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n")
    assert run(["try", str(tmp_path / "table.csv"), "-t", "kind", *FAST, "--out", str(tmp_path / "b")]) == 0
    assert "to try again without: --drop p0,p2,p4,p6\n" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["try", "sweep", "path"])
def test_too_few_rows_are_the_fault_of_the_data(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text("a,b,kind\n1,2,x\n2,1,y\n3,4,y\n")
    assert run([command, "few.csv", "-t", "kind"]) == 1
    said = capsys.readouterr().err
    assert "only" in said or "is no row" in said
    assert "give more rows" in said
    assert "--folds must" not in said


def test_sentences_are_made_in_the_words_of_the_reader():
    assert worded("folds=2", "--folds 2") == "folds=2"
    with at_the_command_line():
        assert worded("folds=2", "--folds 2") == "--folds 2"
    assert (many(1, "row"), many(0, "row"), many(2, "class", "classes")) == ("1 row", "0 rows", "2 classes")


def test_nobody_compares_or_rewrites_sentences():
    """Findings, skips and errors carry data: no code looks into what they say."""
    reads = re.compile(
        r"\.(message|remedy|reason|said)\b\s*(==|!=|\.startswith|\.endswith|\.find|\.replace|\.partition|\.split)"
        r"|\bin str\((error|warning)|str\((error|warning)\)\.(lower|startswith|replace)|re\.\w+\([^)]*str\(error"
    )
    root = Path(nearline.__file__).parent
    found = [
        f"{file.relative_to(root)}:{number}"
        for part in ("cli", "data", "report", "representations", "selection")
        for file in sorted((root / part).rglob("*.py"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if reads.search(line)
    ]
    assert found == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_a_full_disk_behind_standard_output_is_said():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "nearline.cli", "plot", "--list"],
            stdout=full,
            stderr=-1,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == (
        "nearline: What was to be printed cannot be written (No space left on device): free some space, or send it "
        "elsewhere.\n"
    )


def test_a_damaged_archive_has_one_remedy(tmp_path):
    path = tmp_path / "matrix.npz"
    np.savez(
        path, format=np.array(b"csr"), shape=np.array([2, 2]), data=np.ones(2),
        indices=np.array([0, 7]), indptr=np.array([0, 1, 2]),
    )  # fmt: skip
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path} holds a damaged sparse matrix: entry 2 has the column index 7, and there are 2 columns, with indices "
        "from 0. Save it again with scipy.sparse.save_npz."
    )


def test_all_columns_are_named_those_in_doubt_first(tmp_path, capsys):
    names = [f"column{'abcdefghij'[j % 10]}{'xyzw'[j // 10]}" for j in range(40)]
    rows = np.random.default_rng(0).integers(0, 5, (40, 40)).tolist()
    for i, row in enumerate(rows):
        row[35] = i  # numbers the rows
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    assert run(["try", str(tmp_path / "wide.csv")]) == 2
    said = capsys.readouterr().err
    assert f"one of: {names[35]}, {names[0]}, " in said
    assert all(name in said for name in names)
    assert "more" not in said


def test_edges_of_bins_are_kept_in_the_model_file(tmp_path, capsys):
    """Further files are cut at the edges of the first one, not at their own quantiles."""
    for name, shift in (("first.csv", 0), ("later.csv", 30)):
        lines = [f"{i},{(7 * i) % 5},{i + shift + 0.5}" for i in range(90)]
        (tmp_path / name).write_text("\n".join(["a,b,price", *lines]) + "\n")
    out = tmp_path / "out"
    given = ["try", str(tmp_path / "first.csv"), "-t", "price", "--bins", "3", *FAST, "--test", "none"]
    assert run([*given, "--out", str(out)]) == 0
    model = out / "model.nearline"
    edges = nearline.inspect(model).facts["bins"]
    assert model_schema(model).bins == tuple(edges)
    assert edges == pytest.approx([30.1667, 59.8333], abs=1e-3)
    capsys.readouterr()
    assert run(["evaluate", str(model), str(tmp_path / "later.csv")]) == 0
    said = capsys.readouterr()
    assert "edges 30.1667, 59.8333" in said.out + said.err
