"""Files of other worlds: IDX as MNIST has it, labels that are words before texts, counts before a table."""

import gzip
import struct

import numpy as np
import pytest

pytest.importorskip("polars")

from nearline.data import DataError, batches, read


def idx(values, code=0x08):
    return struct.pack(f">HBB{values.ndim}I", 0, code, values.ndim, *values.shape) + values.tobytes()


@pytest.fixture
def images(tmp_path):
    X, y = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5), np.array([2, 0, 2], dtype=np.uint8)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(X)))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(y)))
    return tmp_path / "train-images-idx3-ubyte.gz", X, y


def test_images_and_the_labels_beside_them(images):
    path, X, y = images
    table = read(path)
    assert np.array_equal(table.X, X.reshape(3, 20))
    assert np.array_equal(table.y, y)
    assert table.description.shape == (4, 5)
    assert "labels are those of train-labels-idx1-ubyte.gz" in str(table)
    labels = path.with_name("train-labels-idx1-ubyte.gz").rename(path.with_name("other"))
    assert read(path).y is None
    assert np.array_equal(read(path, labels=labels).y, y)


def test_other_types_are_numbers_too(tmp_path):
    values = np.array([[1, -2], [300, 4]], dtype=">i4")
    (tmp_path / "rows").write_bytes(idx(values, 0x0C))
    assert read(tmp_path / "rows").X.tolist() == values.tolist()
    assert read(tmp_path / "rows").X.dtype.isnative


def test_what_does_not_fit_is_refused(images):
    path = images[0]
    with pytest.raises(DataError, match="as files of labels do: name the file of images"):
        read(path.with_name("train-labels-idx1-ubyte.gz"))
    whole = gzip.decompress(path.read_bytes())
    for data in (whole[:-1], whole + b"x", whole[:10], struct.pack(">HBB3I", 0, 8, 3, *[2**32 - 1] * 3)):
        path.with_name("damaged").write_bytes(data)
        with pytest.raises(DataError, match="is damaged: its head says shape"):
            read(path.with_name("damaged"))
    path.with_name("train-labels-idx1-ubyte.gz").write_bytes(idx(np.zeros(2, np.uint8)))
    table = read(path)
    assert table.y is None
    assert "2 labels for 3 rows" in str(table)


QUESTIONS = (
    "NUM:dist How far is it ?\nLOC:city Where , then ?\nNUM:date When was it , sir ?\nLOC:state Which one ?\n"
)


def test_labels_with_a_colon_before_the_text(tmp_path):
    (tmp_path / "questions.txt").write_text(QUESTIONS)
    table = read(tmp_path / "questions.txt")
    assert table.y.tolist() == ["NUM", "LOC", "NUM", "LOC"]
    assert table.X[0] == "How far is it ?"
    fine = read(tmp_path / "questions.txt", "fine")
    assert fine.y.tolist() == ["NUM:dist", "LOC:city", "NUM:date", "LOC:state"]
    assert [part.y.tolist() for part in batches(tmp_path / "questions.txt", 3)] == [
        ["NUM", "LOC", "NUM"],
        ["LOC"],
    ]
    (tmp_path / "one_lacks.txt").write_text(QUESTIONS * 5 + "And this ?\n")
    with pytest.raises(DataError, match=r"1 line of .* without a label.*line 21: 'And this"):
        read(tmp_path / "one_lacks.txt")


def test_labels_as_fasttext_has_them(tmp_path):
    (tmp_path / "train.txt").write_text("__label__spam Win a prize , now\n__label__ham See you , then\n" * 3)
    table = read(tmp_path / "train.txt")
    assert table.y.tolist() == ["spam", "ham"] * 3
    assert table.X[1] == "See you , then"


def test_counts_and_names_of_classes_before_a_table(tmp_path):
    """As scikit-learn has its own: rows, features, the names of the labels 0, 1, ..."""
    rows = "".join(f"{i}.5,{i % 3}.25,{i % 2}\n" for i in range(6))
    (tmp_path / "own.csv").write_text("6,2,setosa,virginica\n" + rows)
    table = read(tmp_path / "own.csv", "last")
    assert (len(table), table.X.columns, table.y.tolist()) == (6, ["column_1", "column_2"], [0, 1] * 3)
    assert "0 is setosa, 1 is virginica" in str(table)
    (tmp_path / "other.csv").write_text("7,2,setosa,virginica\n" + rows)  # not the number of rows
    assert "0 is setosa" not in str(read(tmp_path / "other.csv"))
