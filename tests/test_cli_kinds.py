"""Every kind of data is used alike: one row, labels that the model does not know, files that cannot be read, no rows."""

import contextlib
import io
import json

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("polars")
pytest.importorskip("PIL.Image")

import polars as pl
from PIL import Image as images

from nearline import TryThemAll
from nearline.cli._run import run
from nearline.report import facts_of

QUICK = ["--preset", "quick", "--include", "nearest centroid", "--folds", "2", "--quiet"]
RNG = np.random.default_rng(0)


def called(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(one) for one in arguments])
    return code, out.getvalue(), err.getvalue()


def picture(file, color):
    file.parent.mkdir(parents=True, exist_ok=True)
    noisy = np.array(color) + RNG.integers(-20, 20, (12, 12, 3))
    images.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(file)


def table(folder, labels):
    n = len(labels)
    return pl.DataFrame({"a": np.arange(n) % 2 + 0.1 * np.arange(n), "b": np.ones(n), "kind": labels})


def csv(folder, labels, name="rows.csv"):
    table(folder, labels).write_csv(folder / name)
    return folder / name


def parquet(folder, labels, name="rows.parquet"):
    table(folder, labels).write_parquet(folder / name)
    return folder / name


def lines(folder, labels, name="rows.jsonl"):
    table(folder, labels).write_ndjson(folder / name)
    return folder / name


def libsvm(folder, labels, name="rows.svm"):
    numbers = {label: i for i, label in enumerate(dict.fromkeys(["x", "y", *labels]))}
    text = "".join(f"{numbers[label]} 1:{i % 2 + 0.5} 2:1\n" for i, label in enumerate(labels))
    (folder / name).write_text(text)
    return folder / name


def archive(folder, labels, name="rows.npz"):
    X = np.ones((len(labels), 6, 6)) * (np.arange(len(labels)) % 2)[:, None, None]
    np.savez(folder / name, X=X, y=np.array(labels))
    return folder / name


def texts(folder, labels, name="rows.txt"):
    said = ["see you at home, dear", "win some money now, call"]
    (folder / name).write_text("".join(f"{label}\t{said[i % 2]}\n" for i, label in enumerate(labels)))
    return folder / name


def fasta(folder, labels, name="rows.fasta"):
    said = ["acgtacgt", "ttggttgg"]
    (folder / name).write_text("".join(f">{label}|s{i}\n{said[i % 2]}\n" for i, label in enumerate(labels)))
    return folder / name


def trees(folder, labels, name="rows.trees"):
    said = ["(S (NP he) (VP goes))", "(S (WH who) (VP (V goes)))"]
    (folder / name).write_text("".join(f"{label}\t{said[i % 2]}\n" for i, label in enumerate(labels)))
    return folder / name


def photos(folder, labels, name="photos"):
    for i, label in enumerate(labels):
        picture(folder / name / label / f"{i:02d}.png", [(200, 20, 20), (20, 20, 200)][i % 2])
    return folder / name


def pages(folder, labels, name="pages"):
    for i, label in enumerate(labels):
        file = folder / name / label / f"{i:02d}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(["see you at home, dear", "win some money now, call"][i % 2])
    return folder / name


KINDS = [csv, parquet, lines, libsvm, archive, texts, fasta, trees, photos, pages]


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_and_labels_that_are_not_known(kind, tmp_path):
    target = ["--target", "kind"] if kind in (csv, parquet, lines) else []
    out = tmp_path / "out"
    code, _, said = called("try", kind(tmp_path, ["x", "y"] * 10), *target, *QUICK, "--out", out)
    assert code == 0, said
    model = out / "model.nearline"
    (tmp_path / "new").mkdir()
    new = kind(tmp_path / "new", ["never seen", "never seen", "nor this", "nor this"])
    code, predictions, said = called("predict", model, new, "--proba")
    assert code == 0, said
    assert len(predictions.splitlines()) == 5
    (tmp_path / "one").mkdir()
    one = kind(tmp_path / "one", ["never seen"])
    code, predictions, said = called("predict", model, one)
    assert code == 0, said
    assert len(predictions.splitlines()) == 2
    code, predictions, said = called("explain", model, one, "--json")
    assert code == 0, said
    assert json.loads(predictions)["row"] == 1


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """A folder of images and a model of them."""
    folder = tmp_path_factory.mktemp("images")
    photos(folder, ["x", "y"] * 8)
    assert called("try", folder / "photos", *QUICK, "--out", folder / "out")[0] == 0
    return folder


def test_files_keep_their_names_beside_one_that_cannot_be_read(seen):
    model, folder = seen / "out" / "model.nearline", seen / "photos"
    (folder / "x" / "05.png").write_bytes(b"no image")
    code, predictions, said = called("predict", model, folder)
    assert code == 0
    assert "left out, as no images: 1 file, 'x/05.png'" in said
    names = [line.split(",")[0] for line in predictions.splitlines()[1:]]
    assert names == [f"{c}/{i:02d}.png" for c, rest in (("x", 0), ("y", 1)) for i in range(rest, 16, 2)]
    assert called("explain", model, folder, "--row", "5")[1].startswith("row 5, x/06.png: ")
    code, _, said = called("explain", model, folder, "--row", "4")
    assert (code, "Row 4 of" in said and "was left out" in said) == (1, True)
    (folder / "x" / "05.png").unlink()


def test_one_image_is_a_row(seen):
    model = seen / "out" / "model.nearline"
    picture(seen / "new.jpeg", (200, 20, 20))
    picture(seen / "plain.png", (200, 20, 20))
    (seen / "plain.png").rename(seen / "plain")
    for file in ("new.jpeg", "plain"):
        assert called("predict", model, seen / file) == (0, "label\nx\n", "")
    (seen / "bad.png").write_bytes(b"no image")
    code, _, said = called("predict", model, seen / "bad.png")
    assert (code, "cannot be read as an image" in said) == (1, True)


@pytest.mark.parametrize("text", ["see you, dear, at home", "hello", "win; money; now\n"])
def test_a_text_of_one_line(tmp_path, text):
    called("try", texts(tmp_path, ["x", "y"] * 10), *QUICK, "--out", tmp_path / "out")
    (tmp_path / "one.txt").write_text(text)
    code, predictions, said = called("predict", tmp_path / "out" / "model.nearline", tmp_path / "one.txt")
    assert (code, len(predictions.splitlines())) == (0, 2), said
    assert called("explain", tmp_path / "out" / "model.nearline", tmp_path / "one.txt")[1].startswith(
        "row 1: "
    )


def test_no_rows_are_said(tmp_path):
    called("try", csv(tmp_path, ["x", "y"] * 10), "-t", "kind", *QUICK, "--out", tmp_path / "out")
    (tmp_path / "none.csv").write_text("a,b\n")
    for command in ("predict", "explain"):
        code, out, said = called(command, tmp_path / "out" / "model.nearline", tmp_path / "none.csv")
        assert (code, out) == (1, "")
        assert f"has no rows to {command}" in said


def test_arrays_of_images(tmp_path):
    X = RNG.normal(size=(40, 6, 6))
    y = np.arange(40) % 2
    X[y == 1, 2:4] += 3
    contest = TryThemAll("quick", include="logistic", folds=2, progress="silent").fit(X, y)
    assert contest.row_shape_ == (6, 6)
    np.testing.assert_array_equal(contest.predict(X), contest.predict(X.reshape(40, 36)))
    np.testing.assert_array_equal(contest.model_.predict(X), contest.predict(X))
    assert facts_of(contest)["looks_at"]["kind"] == "templates"
    own = TryThemAll("quick", include="logistic", folds=2, progress="silent", test=(X[:4], y[:4])).fit(
        X[4:], y[4:]
    )
    assert own.open_test().n_rows == 4
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    code, _, said = called(
        "try", tmp_path / "x.npy", "--labels", tmp_path / "y.npy", *QUICK, "--out", tmp_path / "out"
    )
    assert code == 0, said
    np.save(tmp_path / "one.npy", X[0])
    code, _, said = called("predict", tmp_path / "out" / "model.nearline", tmp_path / "one.npy")
    assert (code, "rows of 6 numbers, and the model was made of rows of 36" in said) == (1, True), said
    code, _, said = called("try", tmp_path / "x.npy", "--target", "last", *QUICK, "--out", tmp_path / "no")
    assert (code, "no columns to take labels from" in said) == (1, True), said


def test_data_of_another_kind_are_refused_in_words(tmp_path):
    """A table's model is given texts, arrays or sparse rows, and the other way round: no sentence of a library's."""
    rng = np.random.default_rng(0)
    table, texts, sparse = tmp_path / "table.csv", tmp_path / "texts.txt", tmp_path / "rows.svm"
    table.write_text(
        "a,b,kind\n" + "".join(f"{rng.normal():.3f},{'xy'[i % 2]},{'pq'[i % 2]}\n" for i in range(40))
    )
    texts.write_text(
        "".join(
            f"{'good day' if i % 2 else 'bad night'} number {i} was said by someone here.\n"
            for i in range(40)
        )
    )
    sparse.write_text("".join(f"{i % 2} 1:0.5 7:{i}\n" for i in range(40)))
    labels = tmp_path / "labels.csv"
    labels.write_text("".join(f"{'pq'[i % 2]}\n" for i in range(40)))
    for name, options in (("table", ["--target", "kind"]), ("texts", ["--labels", labels])):
        data = {"table": table, "texts": texts}[name]
        code, _, said = called("try", data, *options, *QUICK, "--out", tmp_path / name)
        assert code == 0, said
    np.save(tmp_path / "wide.npy", rng.normal(size=(3, 7)))
    for command in ("predict", "explain"):
        for data, found in (
            (texts, "has texts"),
            (sparse, "has sparse rows"),
            (tmp_path / "wide.npy", "has rows of 7"),
        ):
            code, _, said = called(command, tmp_path / "table" / "model.nearline", data)
            assert (code, found in said, "made of a table with 2 columns ('a', 'b')" in said) == (
                1,
                True,
                True,
            ), said
        code, _, said = called(command, tmp_path / "texts" / "model.nearline", tmp_path / "wide.npy")
        assert (code, "and the model was made of texts" in said) == (1, True), said
