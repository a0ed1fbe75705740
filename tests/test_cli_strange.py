"""Whatever a file holds: no traceback, a sentence or two, the right exit code, nothing left half-written."""

import contextlib
import gzip
import io
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("polars")

from hypothesis import given, settings
from hypothesis import strategies as st

from nearline.cli._run import run

QUICK = ["--preset", "quick", "--include", "nearest centroid", "--folds", "2", "--quiet"]
ROWS = "a,b,kind\n" + "".join(f"{i % 7},{i % 5},{'xy'[i % 2]}\n" for i in range(40))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a small table."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "rows.csv").write_text(ROWS)
    code, _, said = called(["try", folder / "rows.csv", "-t", "kind", *QUICK, "--out", folder / "out"])
    assert code == 0, said
    return folder / "out" / "model.nearline"


def called(arguments):
    """Exit code, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(one) for one in arguments])
    return code, out.getvalue(), err.getvalue()


def check(arguments, folder, codes=(0, 1, 2)):
    """A command on a strange file keeps its manners."""
    before = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    code, out, err = called(arguments)
    assert code in codes, (arguments, code, err)
    assert "Traceback" not in out + err
    after = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    if code:
        assert after == before, "something was left behind"
        said = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert len(said) == 1, err
        assert said[0].startswith("nearline: ")
        assert "unexpectedly" not in said[0], said[0]
        assert len(re.findall(r"[.?!](?= [A-Z'\"]|$)", said[0])) <= 3, said[0]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")], "a temporary file is left"
    return code, out, err


def commands(file, model, folder):
    """Each command with the file in each of its places."""
    return [
        ["try", file, "-t", "kind", *QUICK, "--out", folder / "made"],
        ["try", file, "-t", "last", *QUICK, "--out", folder / "made2"],
        ["predict", model, file, "--out", folder / "labels.csv"],
        ["predict", file, file],
        ["evaluate", model, file],
        ["inspect", file],
        ["explain", model, file],
    ]


def objects():
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def packed(rows):
    buffer = io.BytesIO()
    np.savez(buffer, X=np.zeros(rows), y=np.zeros(rows))
    return buffer.getvalue()


STRANGE = {
    "empty.csv": b"",
    "spaces.csv": b"  \n\n \n",
    "nothing.txt": b"",
    "one-column.csv": b"kind\nx\ny\nx\ny\n",
    "one-value.csv": b"1",
    "header.csv": b"a,b,kind\n",
    "twice.csv": b"a,a,kind\n1,2,x\n3,4,y\n" * 3,
    "mixed.csv": "a,b,kind\n1,ä,x\n".encode() + "2,ö,y\n".encode("latin-1") + "3,ü,x\n".encode("utf-16"),
    "ragged.csv": b"a,b,kind\n1\n1,2,3,4,5\n,,\n",
    "quotes.csv": b'a,b,kind\n"1,2,x\n3,4,y\n5,6,x\n',
    "zeros.csv": b"\x00" * 400,
    "cut.csv.gz": gzip.compress(ROWS.encode() * 50)[:-20],
    "no.gz": b"\x1f\x8b" + b"nonsense",
    "objects.npy": objects(),
    "flat.npz": packed(3),
    "cut.npz": packed(300)[:-40],
    "cut.npy": b"\x93NUMPY\x01\x00",
    "no.parquet": b"PAR1 and no more",
    "no.jsonl": b'{"a": 1\n{"b"}\n',
    "list.json": b"[1, 2, 3]",
    "deep.json": b"[" * 2000,
    "no.svm": b"1 1:1 2:x\n-1 3\n",
    "one-class.csv": b"a,b,kind\n" + b"1,2,x\n" * 20,
    "one-row.csv": b"a,b,kind\n1,2,x\n",
    "lonely.csv": b"a,b,kind\n" + b"1,2,x\n2,3,x\n" * 10 + b"3,4,y\n",
    "infinite.csv": b"a,b,kind\n" + b"inf,2,x\n1,1e400,y\n" * 10,
    "all-missing.csv": b"a,b,kind\n" + b",,x\n,,y\n" * 10,
    "unlabeled.csv": b"a,b,kind\n" + b"1,2,\n" * 10,
    "words.nearline": b"NEARLINE" + b"\xff" * 100,
    "picture.csv": b"\x89PNG\r\n\x1a\n" + b"\x00" * 64,
}


@pytest.mark.parametrize("name", list(STRANGE))
def test_strange_files(name, model, tmp_path):
    file = tmp_path / name
    file.write_bytes(STRANGE[name])
    for arguments in commands(file, model, tmp_path):
        check(arguments, tmp_path)


@pytest.mark.parametrize("name", ["nothing", "empty", "deep", "hidden", "binary"])
def test_strange_folders(name, model, tmp_path):
    folder = tmp_path / "data"
    files = {"deep": "a/b/c.txt", "hidden": ".hidden/x.txt", "binary": "a/x.txt"}
    if name != "nothing":
        folder.mkdir()
    if name in files:
        (folder / files[name]).parent.mkdir(parents=True)
        (folder / files[name]).write_bytes(b"\x00\x01" * 50)
    for arguments in commands(folder, model, tmp_path):
        check(arguments, tmp_path, (1, 2))


def test_a_line_of_a_million_columns(model, tmp_path):
    file = tmp_path / "wide.csv"
    file.write_bytes(b",".join(b"%d" % i for i in range(1_000_000)) + b"\n")
    for arguments in commands(file, model, tmp_path):
        code, _, said = check(arguments, tmp_path, (1,))
        assert code == 1
        assert len(said) < 600


@settings(max_examples=25)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
        st.lists(st.lists(st.text("ab,;\t\"'1.-?", max_size=5), max_size=4), max_size=6).map(
            lambda rows: "\n".join(",".join(row) for row in rows).encode()
        ),
    ),
    st.sampled_from(
        ["", ".csv", ".tsv", ".txt", ".npy", ".npz", ".jsonl", ".parquet", ".svm", ".gz", ".nearline"]
    ),
)
def test_random_bytes(model, data, ending):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        file = folder / f"data{ending}"
        file.write_bytes(data)
        for arguments in commands(file, model, folder):
            check(arguments, folder)
