"""LIBSVM, JSON lines, Parquet and NumPy files: their variants, and what is wrong with them in a sentence."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix, issparse, save_npz

from nearline.data import DataError, Schema, batches, read

NUMBERS = np.array([[0, 1.5], [2, 0], [0, 0], [1, 3]])
TEXTS = ["one fish, two fish", "red fish", "old cat new cat", "a cat sat there"]
ANIMALS = ["fish", "fish", "cat", "cat"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1 1:2\nyes 1:2\n", "Line 2 .*'yes'"),
        ("1 1:2\n1 2:x\n", "Line 2 .*'x'"),
        ("1 2:1 1:2\n", "do not grow"),
        ("1 1:2 1:3\n", "do not grow"),
        ("1 1:nan\n", "not finite"),
        ("1,2 1:3\n", "'1,2'"),
        ("1 |f 1:2\n1 |f 1:3\n", "Vowpal Wabbit"),
        ("# nothing\n", "no rows"),
    ],
)
def test_bad_libsvm(lines, message, tmp_path):
    (tmp_path / "file.svm").write_text(lines)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "file.svm")


def test_libsvm_widths(tmp_path):
    (tmp_path / "train").write_text("# a comment\n1 qid:1 1:5 3:1 # end\n\n-1 qid:1 2:1\n")
    (tmp_path / "test").write_text("1 1:5 7:1\n-1 2:1\n")
    (tmp_path / "zero").write_text("1 0:5 2:1\n-1 1:1\n")
    train = read(tmp_path / "train")
    assert train.X.toarray().tolist() == [[5, 0, 1], [0, 1, 0]]
    assert read(tmp_path / "zero").X.toarray().tolist() == [[5, 0, 1], [0, 1, 0]]
    test = read(tmp_path / "test", like=train)
    assert test.X.toarray().tolist() == [[5, 0, 0], [0, 1, 0]]
    assert "beyond the known 3" in str(test)
    assert [part.X.shape for part in batches(tmp_path / "test", 1)] == [(1, 7), (1, 7)]
    assert [part.X.shape for part in batches(tmp_path / "test", 1, like=train)] == [(1, 3), (1, 3)]
    with pytest.raises(DataError, match="feature 0"):
        read(tmp_path / "zero", like=train)


def test_libsvm_without_polars(tmp_path, monkeypatch):
    def missing():
        raise ImportError("Reading tables needs polars: pip install 'nearline[tables]'")

    path = tmp_path / "file"
    path.write_text("+1 2:1.5\n-1 1:2\n-1\n+1 1:1 2:3\n")
    monkeypatch.setattr("nearline.data.libsvm.polars", missing)
    assert read(path).X.toarray().tolist() == NUMBERS.tolist()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"a": 1}\n{"a": \n', "Line 2"),
        ('{"a": 1}\n[1, 2]\n', "no object"),
        ('{"a": 1}\n3\n', "no object"),
        ('{"a": {"b": 1}}\n', "no column left"),
    ],
)
def test_bad_json(lines, message, tmp_path):
    (tmp_path / "file.jsonl").write_text(lines)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "file.jsonl")


def test_json(tmp_path):
    rows = [{"e": [1.0, 2.0], "s": {"z": 1}, "n": i, "m": "x" if i else 1, "y": True} for i in range(3)]
    file = tmp_path / "file.json"
    for text in ("\n".join(map(json.dumps, rows)), json.dumps(rows), json.dumps(rows, indent=1)):
        file.write_text(text)
        table = read(file, "y")
        assert table.X.columns == ["e_1", "e_2", "n", "m"]
        assert table.X["e_2"].to_list() == [2, 2, 2]
        assert "'s' was left out" in str(table)
        assert read(file, "y", columns=["e"]).X.columns == ["e_1", "e_2"]
    file.write_text('{"a": 1, "b": 2}\n{"a": 3}\n')
    assert [part.X.rows() for part in batches(file, 1)] == [[(1, 2)], [(3, None)]]


def test_parquet_types(tmp_path):
    frame = pl.DataFrame(
        {
            "c": pl.Series(["u", "v", None], dtype=pl.Categorical),
            "d": pl.Series(["1.5", "2", None]).cast(pl.Decimal(10, 2)),
            "t": pl.Series(["2024-01-01", "2024-01-02", None]).str.to_date(),
            "b": [b"1", b"2", b"3"],
            "f": [1.0, float("nan"), 3.0],
            "y": [1, None, 2],
        }
    )
    frame.write_parquet(tmp_path / "f.parquet")
    table = read(tmp_path / "f.parquet", "y")
    assert [(c.name, c.type) for c in table.description.columns] == [
        ("c", "string"),
        ("d", "number"),
        ("t", "date"),
        ("f", "number"),
    ]
    assert (table.y.tolist(), table.description.unlabeled) == ([1, 2], 1)
    again = read(tmp_path / "f.parquet", like=Schema({"d": "string", "c": "number"}))
    assert [str(dtype) for dtype in again.X.dtypes] == ["String", "Float64"]


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ({"a": NUMBERS, "b": NUMBERS}, {}, "no array called 'X'"),
        ({"X": NUMBERS, "y": np.arange(4)}, {"target": "z"}, "no array 'z'.*Did you mean|no array 'z'"),
        (
            {"X": NUMBERS, "labels_all": np.arange(3)},
            {"target": "labels_all"},
            "one label a row|no array called",
        ),
        ({"X": np.array([1, None], dtype=object)}, {}, "Python objects"),
        ({"X": np.arange(3)}, {}, r"\(n, D\)"),
        ({"X": np.zeros((0, 3))}, {}, "at least one"),
        ({"X": NUMBERS.astype(complex)}, {}, "complex"),
    ],
)
def test_bad_arrays(arrays, options, message, tmp_path):
    np.savez(tmp_path / "file.npz", **arrays)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "file.npz", **options)


def test_arrays(tmp_path):
    file = tmp_path / "file.npz"
    np.savez(file, X_train=NUMBERS, y_train=np.arange(4) % 2, X_test=NUMBERS[:2], y_test=np.array([1.0, 1.0]))
    assert len(read(file)) == 4
    assert read(file, "y_test").y.tolist() == [1, 1]
    assert read(file, columns="X_test", target="y_test").X.shape == (2, 2)
    assert "not used: 'X_test', 'y_test'" in str(read(file))
    save_npz(file, csr_matrix(NUMBERS))
    assert issparse(read(file, labels=ANIMALS).X)
    np.savez(file, X=np.array(TEXTS), y=np.array(ANIMALS))
    assert read(file).X == TEXTS
    np.save(tmp_path / "file.npy", np.arange(24.0).reshape(4, 2, 3))
    table = read(tmp_path / "file.npy", labels=["a", "b", None, "a"])
    assert (table.X.shape, table.description.shape, table.description.unlabeled) == ((3, 6), (2, 3), 1)
    np.save(tmp_path / "file.npy", np.column_stack([NUMBERS, [1, 2, 1, 2]]))
    table = read(tmp_path / "file.npy", "last")
    assert (table.y.tolist(), table.X.tolist()) == ([1, 2, 1, 2], NUMBERS.tolist())
    with pytest.raises(DataError, match=r"3 labels and .* 4 rows"):
        read(tmp_path / "file.npy", labels=["a", "b", "c"])
