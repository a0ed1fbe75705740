"""Reading data: every format round trip at once and in parts, labels, errors as sentences, random bytes."""

import bz2
import gzip
import lzma
import pickle
import zipfile

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.sparse import issparse

from nearline.data import FORMATS, DataError, Schema, Table, batches, read
from nearline.representations import kind_of

WEIGHTS = [1.5, 2.0, None, 4.0, 5.25, 6.0]
COLORS = ["red", "blue", "red", None, "blue", "red"]
FRUIT = ["apple", "pear", "apple", "apple", "pear", "pear"]
FRAME = pl.DataFrame({"weight": WEIGHTS, "color": COLORS, "fruit": FRUIT})
NUMBERS = np.array([[0, 1.5], [2, 0], [0, 0], [1, 3]])
TEXTS = ["one fish, two fish", 'red fish "blue" fish', "old cat new cat", "a cat sat there"]
ANIMALS = ["fish", "fish", "cat", "cat"]


def write_csv(folder):
    FRAME.write_csv(folder / "file.csv")
    return folder / "file.csv", {"target": "fruit"}


def write_parquet(folder):
    FRAME.write_parquet(folder / "file.parquet")
    return folder / "file.parquet", {"target": "fruit"}


def write_parquet_folder(folder):
    place = folder / "table"
    place.mkdir()
    FRAME[:2].write_parquet(place / "part-0.parquet")
    FRAME[2:].write_parquet(place / "part-1.parquet")
    return place, {"target": "fruit"}


def write_json(folder):
    FRAME.write_ndjson(folder / "file.jsonl")
    return folder / "file.jsonl", {"target": "fruit"}


def write_libsvm(folder):
    (folder / "file").write_text("+1 2:1.5\n-1 1:2\n-1\n+1 1:1 2:3\n")
    return folder / "file", {}


def write_npy(folder):
    np.save(folder / "file.npy", NUMBERS)
    (folder / "labels.txt").write_text("\n".join(ANIMALS) + "\n")
    return folder / "file.npy", {"labels": folder / "labels.txt"}


def write_npz(folder):
    np.savez(folder / "file.npz", X=NUMBERS, y=np.array(ANIMALS))
    return folder / "file.npz", {}


def write_text_folder(folder):
    for i, (text, animal) in enumerate(zip(TEXTS, ANIMALS)):
        (folder / "texts" / animal).mkdir(parents=True, exist_ok=True)
        (folder / "texts" / animal / f"{i}.txt").write_text(text)
    return folder / "texts", {}


def write_class_files(folder):
    (folder / "names").mkdir()
    for animal in ("fish", "cat"):
        texts = [text for text, label in zip(TEXTS, ANIMALS) if label == animal]
        (folder / "names" / f"{animal}.txt").write_text("\n".join(texts) + "\n\n")
    return folder / "names", {}


def write_lines(folder):
    (folder / "file.txt").write_text("".join(f"{a}\t{t}\n" for a, t in zip(ANIMALS, TEXTS)))
    return folder / "file.txt", {}


def write_fasta(folder):
    records = [">s1 label=fish\nACGT\nACG\n", ">s2 label=cat\nTTGA\n", ">s3 label=cat\nTTGC\n"]
    (folder / "file").write_text("".join(records))
    return folder / "file", {}


def write_trees(folder):
    (folder / "file").write_text("".join(f"{a}\t(S (NP {a}) (VP sat))\n" for a in ANIMALS))
    return folder / "file", {}


def write_kelp(folder):
    lines = (f"{a} |BT:grct| (S(NP({a}))) |ET| |BT:lct| (S({a})) |ET|\n" for a in ANIMALS)
    (folder / "file").write_text("".join(lines))
    return folder / "file", {}


def write_arff(folder):
    head = "@relation fish\n@attribute a numeric\n@attribute b {x,y}\n@attribute class {fish,cat}\n@data\n"
    (folder / "file").write_text(head + "".join(f"{i}.5,{'xy'[i % 2]},{a}\n" for i, a in enumerate(ANIMALS)))
    return folder / "file", {"target": "class"}


def write_orange(folder):
    rows = "".join(f"{i}.5\t{'xy'[i % 2]}\t{a}\n" for i, a in enumerate(ANIMALS))
    (folder / "file").write_text("a\tb\tkind\nc\td\td\n\t\tclass\n" + rows)
    return folder / "file", {"target": "kind"}


def write_images(folder):
    rng = np.random.default_rng(0)
    for i, animal in enumerate(ANIMALS):
        (folder / "images" / animal).mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 256, (40 + i, 32, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "images" / animal / f"{i}.png")
    return folder / "images", {}


def write_image(folder):
    write_images(folder)
    return next((folder / "images" / "fish").iterdir()), {"labels": ["fish"]}


def write_idx(tmp_path):
    for name, values in (
        ("train-images-idx3", np.arange(16.0)),
        ("train-labels-idx1", np.array([1, 0, 0, 1])),
    ):
        values = values.astype(np.uint8).reshape(4, -1) if name[6] == "i" else values.astype(np.uint8)
        head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, dtype=">u4").tobytes()
        (tmp_path / f"{name}-ubyte").write_bytes(head + values.tobytes())
    return tmp_path / "train-images-idx3-ubyte", {}


WRITERS = {
    "image": write_image,
    "CSV": write_csv,
    "Parquet": write_parquet,
    "Parquet folder": write_parquet_folder,
    "JSON lines": write_json,
    "LIBSVM": write_libsvm,
    "npy": write_npy,
    "npz": write_npz,
    "IDX": write_idx,
    "folder of texts": write_text_folder,
    "folder of class files": write_class_files,
    "lines of text": write_lines,
    "FASTA": write_fasta,
    "bracketed trees": write_trees,
    "KeLP": write_kelp,
    "ARFF": write_arff,
    "Orange": write_orange,
    "folder of images": write_images,
}
PARTS = ("CSV", "Parquet", "Parquet folder", "JSON lines", "LIBSVM", "npy", "lines of text", "ARFF", "Orange")
KIND = {
    "LIBSVM": "sparse",
    "npy": "numbers",
    "npz": "numbers",
    "IDX": "numbers",
    "folder of images": "numbers",
    "image": "numbers",
}
KIND |= dict.fromkeys(("CSV", "Parquet", "Parquet folder", "JSON lines", "ARFF", "Orange"), "table")


def rows_of(X):
    """Rows as plain lists."""
    if isinstance(X, pl.DataFrame):
        return X.rows()
    return X.toarray().tolist() if issparse(X) else list(X) if isinstance(X, list) else np.asarray(X).tolist()


@pytest.mark.parametrize("format", FORMATS, ids=lambda f: f.name)
def test_round_trip(format, tmp_path):
    path, options = WRITERS[format.name](tmp_path)
    table = read(path, **options)
    assert table.description.format == format.name
    assert kind_of(table.X) == KIND.get(format.name, "texts")
    assert len(table) == len(rows_of(table.X)) == len(table.y)
    assert dict(table.description.classes) == {
        a: int(np.sum(table.y == a)) for a in np.unique(table.y).tolist()
    }
    assert str(path) in str(table)
    assert format.name in str(table)
    assert rows_of(read(path, **options, format=format.name).X) == rows_of(table.X)


def test_values(tmp_path):
    for format in ("CSV", "Parquet", "JSON lines"):
        path, options = WRITERS[format](tmp_path)
        table = read(path, **options)
        assert table.X.equals(FRAME.drop("fruit"))
        assert table.y.tolist() == FRUIT
        assert [column.missing for column in table.description.columns] == [1, 1]
    table = read(write_libsvm(tmp_path)[0])
    assert table.X.toarray().tolist() == NUMBERS.tolist()
    assert table.y.tolist() == [1, -1, -1, 1]
    for format in ("lines of text", "folder of texts", "folder of class files"):
        folder = tmp_path / format
        folder.mkdir()
        table = read(WRITERS[format](folder)[0])
        assert sorted(zip(table.X, table.y.tolist())) == sorted(zip(TEXTS, ANIMALS))
    for writer in (write_npy, write_npz):
        path, options = writer(tmp_path)
        table = read(path, **options)
        assert (table.X.tolist(), table.y.tolist()) == (NUMBERS.tolist(), ANIMALS)


@pytest.mark.parametrize("rows", [1, 2, 4, 100])
@pytest.mark.parametrize("name", PARTS)
def test_parts_are_the_whole(name, rows, tmp_path):
    path, options = WRITERS[name](tmp_path)
    target = options.get("target")
    whole = read(path, target)
    parts = list(batches(path, rows, target=target, like=Schema(whole.schema.columns)))
    assert all(isinstance(part, Table) and len(part) <= rows for part in parts)
    assert [row for part in parts for row in rows_of(part.X)] == rows_of(whole.X)
    if whole.y is not None:
        assert np.concatenate([part.y for part in parts]).tolist() == whole.y.tolist()
    with pytest.raises(DataError, match="at least 1 row"):
        batches(path, 0)


@pytest.mark.parametrize("name", sorted(set(WRITERS) - set(PARTS)))
def test_no_parts(name, tmp_path):
    with pytest.raises(DataError, match="cannot be read in parts"):
        list(batches(WRITERS[name](tmp_path)[0], 2))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["CSV", "JSON lines", "LIBSVM", "lines of text"])
def test_packed(name, pack, tmp_path):
    path, options = WRITERS[name](tmp_path)
    ending = {gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz"}[pack]
    packed = path.with_name(path.name + ending)
    packed.write_bytes(pack(path.read_bytes()))
    assert rows_of(read(packed, **options).X) == rows_of(read(path, **options).X)
    assert sum(len(part) for part in batches(packed, 2)) == len(read(path, **options))
    if ending == ".gz":
        packed.write_bytes(pack(path.read_bytes())[:-9])
        with pytest.raises(DataError, match="damaged or incomplete"):
            read(packed, **options)


def test_zip(tmp_path):
    path, options = write_csv(tmp_path)
    for names, message in (
        (["a.csv"], None),
        (["a.csv", "b.csv"], "2 files"),
        (["[Content_Types].xml"], "Excel"),
    ):
        with zipfile.ZipFile(tmp_path / "file.csv.zip", "w") as archive:
            for name in names:
                archive.write(path, name)
        if message is None:
            assert read(tmp_path / "file.csv.zip", **options).X.equals(FRAME.drop("fruit"))
        else:
            with pytest.raises(DataError, match=message):
                read(tmp_path / "file.csv.zip")
    (tmp_path / "file.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd1234")
    with pytest.raises(DataError):
        read(tmp_path / "file.csv.zst")


# -- errors -------------------------------------------------------------------------------------------------------


def test_no_file(tmp_path, monkeypatch):
    (tmp_path / "fruit.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"no file .*friut.csv; .* has 'fruit.csv'"):
        read(tmp_path / "friut.csv")
    with pytest.raises(DataError, match="nor a folder"):
        read(tmp_path / "nowhere" / "fruit.csv")
    with pytest.raises(DataError, match="no sub-folders"):
        read(tmp_path)
    with pytest.raises(DataError, match="no format 'excel'"):
        read(tmp_path / "fruit.csv", format="excel")

    def refuse(*_, **__):
        raise PermissionError("no")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match="may not be read"):
        read(tmp_path / "fruit.csv")


@pytest.mark.parametrize(
    "ending", [".csv", ".txt", "", ".jsonl", ".npy", ".npz", ".parquet", ".svm", ".csv.gz"]
)
def test_empty(ending, tmp_path):
    file = tmp_path / f"file{ending}"
    file.write_bytes(b"")
    with pytest.raises(DataError, match="is empty"):
        read(file)


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n", b"%PDF-1.4", bytes(range(256)) * 4, b"SQLite format 3\x00"]
)
@pytest.mark.parametrize("ending", [".csv", ".txt", "", ".jsonl", ".npy", ".npz", ".parquet", ".svm"])
def test_garbage(ending, content, tmp_path):
    file = tmp_path / f"file{ending}"
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(file)
    assert "\n" not in str(caught.value)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.binary(max_size=60),
    st.sampled_from(["", ".csv", ".jsonl", ".svm", ".txt", ".npy", ".npz", ".parquet", ".gz"]),
)
@example(b"\xff\xfe", "")
@example(b"0 0:0", "")
@example(b"PK\x03\x04", ".npz")
@example(b"PK\x03\x04", ".npy")
@example(b"\x93NUMPY\x01\x00", ".npz")
@example(b"PK\x05\x06" + bytes(18), ".npz")
@example(b'{"a":[]}', ".jsonl")
@example(b'"', ".csv")
def test_random_bytes(tmp_path, content, ending):
    file = tmp_path / f"file{ending}"
    file.write_bytes(content)
    try:
        table = read(file)
    except DataError:
        return
    assert len(table) >= 1
    assert str(table)


# -- texts --------------------------------------------------------------------------------------------------------


def test_lines_of_text(tmp_path):
    file = tmp_path / "file.txt"
    file.write_text("\n".join(TEXTS))
    table = read(file)
    assert (table.X, table.y) == (TEXTS, None)
    (tmp_path / "labels.txt").write_text("\n".join(ANIMALS))
    assert read(file, labels=tmp_path / "labels.txt").y.tolist() == ANIMALS
    file.write_text("".join(f"{t}\t{a}\n" for a, t in zip(ANIMALS, TEXTS)))
    table = read(file)
    assert (table.X, table.y.tolist()) == (TEXTS, ANIMALS)
    file.write_bytes("ENTY:sport Où est Pelé ?\nDESC:def What is it ?\n".encode("latin-1"))
    table = read(file, "first", delimiter=":", format="lines of text")
    assert (table.y.tolist(), table.X[0]) == (["ENTY", "DESC"], "sport Où est Pelé ?")
    with pytest.raises(DataError, match="'first' or 'last'"):
        read(file, "label", format="lines of text")
    file.write_text("a\tfish swim in water\nb\tcats do not\nno label here\n")
    with pytest.raises(DataError, match="line 3"):
        read(file, "first", format="lines of text")


def test_text_folder(tmp_path):
    path, _ = write_text_folder(tmp_path)
    (path / "cat" / "bad.txt").write_bytes(bytes(range(256)))
    (path / ".hidden").mkdir()
    table = read(path)
    assert len(table) == 4
    assert "left out, as no texts: 1 file, 'cat/bad.txt'" in str(table)
    (tmp_path / "deep" / "train").mkdir(parents=True)
    path.rename(tmp_path / "deep" / "train" / "texts")
    with pytest.raises(DataError, match="folders and no files"):
        read(tmp_path / "deep")


def test_contest(tmp_path):
    """What is read goes straight into a contest."""
    from nearline import TryThemAll

    rng = np.random.default_rng(0)
    rows = [
        f"{rng.normal(i % 2):.3f},{'ab'[i % 2 if rng.random() < 0.8 else 0]},{'yes' if i % 2 else 'no'}"
        for i in range(80)
    ]
    file = tmp_path / "file.csv"
    file.write_text("x,c,y\n" + "\n".join(rows))
    table = read(file, "y")
    contest = TryThemAll(preset="quick", include=["logistic"], progress="silent").fit(table.X, table.y)
    predicted = [contest.predict(part.X) for part in batches(file, 30, like=table)]
    assert np.mean(np.concatenate(predicted) == table.y) > 0.6


def test_missing_package(monkeypatch, tmp_path):
    from nearline.data import base as _base

    def fail(name):
        raise ImportError(name)

    path, options = write_csv(tmp_path)
    monkeypatch.setattr(_base, "import_module", fail)
    with pytest.raises(ImportError, match=r"pip install 'nearline\[tables\]'"):
        read(path, **options)


def test_streams_are_closed(tmp_path):
    """An iterator that is given up leaves no file open (warnings are errors)."""
    path, _ = write_csv(tmp_path)
    part = next(batches(path, 1))
    assert len(part) == 1


def test_labels_are_stripped_and_missing_ones_left_out():
    from nearline.data._labels import present

    y, kept = present(np.array([" yes", "no", None, "?", "yes", "None", 1, True], dtype=object))
    assert y.tolist() == ["yes", "no", "yes", "None", "1", "True"]
    assert kept.tolist() == [True, True, False, False, True, True, True, True]
    y, kept = present(np.array(["2", " 1", "", "2"], dtype=object))
    assert (y.dtype, y.tolist(), kept.tolist()) == (np.int64, [2, 1, 2], [True, True, False, True])
    assert present(np.array(["", None], dtype=object))[0].tolist() == []


def test_errors_are_records(tmp_path):
    """What is wrong, what to do and which columns are data, so that nobody has to read the sentence for them."""
    path = tmp_path / "fruit.csv"
    FRAME.write_csv(path)
    with pytest.raises(DataError) as unknown:
        read(path, target="froot")
    assert unknown.value.columns == ("froot",)
    (tmp_path / "none.csv").write_text("a,b\n1,\n2,\n")
    with pytest.raises(DataError) as unlabeled:
        read(tmp_path / "none.csv", target="b")
    error = unlabeled.value
    assert error.remedy
    assert str(error) == f"{error.cause}: {error.remedy}."
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.columns, again.remedy) == (str(error), error.columns, error.remedy)
