"""Embeddings from files: mapped where they can be, labels inside or beside; ``nearline probe``."""

import json

import numpy as np
import pytest

from nearline import probe
from nearline.data import DataError
from nearline.data.embeddings import read_embeddings

RNG = np.random.default_rng(0)
X = (RNG.normal(size=(40, 5)) + 2 * (np.arange(40) % 2)[:, None]).astype(np.float32)
Y = np.array(["cat", "dog"])[np.arange(40) % 2]


def is_mapped(rows):
    while rows is not None:
        if isinstance(rows, np.memmap):
            return True
        rows = rows.base
    return False


def test_arrays_are_mapped_and_labels_found_beside(tmp_path):
    np.save(tmp_path / "X_train.npy", X)
    np.save(tmp_path / "y_train.npy", Y)
    found = read_embeddings(tmp_path / "X_train.npy")
    assert is_mapped(found.X)
    assert (found.X == X).all()
    assert (found.y == Y).all()
    np.save(tmp_path / "cats.npy", X)
    with pytest.raises(DataError, match=r"no labels inside, and none beside it \(cats_labels.npy"):
        read_embeddings(tmp_path / "cats.npy")
    (tmp_path / "cats_labels.txt").write_text("\n".join(Y) + "\n")
    assert (read_embeddings(tmp_path / "cats.npy").y == Y).all()
    assert (read_embeddings(tmp_path / "cats.npy", labels=tmp_path / "y_train.npy").y == Y).all()
    with pytest.raises(DataError, match="40 rows"):
        read_embeddings(tmp_path / "cats.npy", labels=Y[:3])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(tmp_path, save):
    file = tmp_path / "both.npz"
    save(
        file,
        X_train=X[:30],
        y_train=Y[:30],
        X_test=np.asfortranarray(X[30:]),
        y_test=Y[30:],
        kind_test=Y[30:],
    )
    train, test = (read_embeddings(file, part) for part in ("train", "test"))
    assert is_mapped(train.X) == is_mapped(test.X) == (save is np.savez)
    assert (X[:30] == train.X).all()
    assert (X[30:] == test.X).all()
    assert (test.y == Y[30:]).all()
    assert (read_embeddings(file, "test", target="kind").y == Y[30:]).all()
    with pytest.raises(DataError, match="no array 'breed' of labels"):
        read_embeddings(file, target="breed")


def test_a_damaged_archive_is_refused(tmp_path):
    file = tmp_path / "rows.npz"
    np.savez(file, X=X, y=Y)
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(DataError, match="damaged"):
        read_embeddings(file)


def test_lists_in_parquet(tmp_path):
    pl = pytest.importorskip("polars")
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"embedding": X.tolist(), "label": Y.tolist()}).write_parquet(file)
    found = read_embeddings(file)
    np.testing.assert_array_equal(found.X.astype(np.float32), X)
    assert found.y.tolist() == Y.tolist()
    pl.DataFrame({"e": [[1.0], [1.0, 2.0]], "label": ["a", "b"]}).write_parquet(file)
    with pytest.raises(DataError, match="1 to 2 numbers"):
        read_embeddings(file)
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": Y}).write_parquet(file)
    assert read_embeddings(file, target="label").X.shape == (40, 2)


def test_rows_of_parquet_without_a_list_are_refused(tmp_path):
    pl = pytest.importorskip("polars")
    rows, labels = X.astype(float).tolist(), Y.tolist()
    file = tmp_path / "e.parquet"
    decimals = pl.Series([[round(v, 2) for v in row] for row in rows]).cast(pl.List(pl.Decimal(12, 2)))
    pl.DataFrame({"e": decimals, "label": labels}).write_parquet(file)
    np.testing.assert_allclose(read_embeddings(file).X, np.round(X.astype(float), 2))
    for kind in (pl.List(pl.Float32), pl.Array(pl.Float32, 5)):
        for lists, said in (
            ([*rows[:3], None, *rows[4:]], r"1 row .*without a list in 'e' \(the first is row 4,"),
            ([None] * len(rows), "40 rows .*without a list"),
            ([], "has no rows"),
        ):
            frame = {"e": pl.Series(lists, dtype=kind), "label": labels[: len(lists)]}
            pl.DataFrame(frame).write_parquet(file)
            with pytest.raises(DataError, match=said):
                read_embeddings(file)


def test_labels_as_bytes_are_texts_and_columns_are_refused(tmp_path):
    np.save(tmp_path / "e.npy", X)
    assert (read_embeddings(tmp_path / "e.npy", labels=Y.astype("S")).y == Y).all()
    with pytest.raises(DataError, match=r"labels has shape \(40, 1\)"):
        read_embeddings(tmp_path / "e.npy", labels=Y[:, None])
    np.savez(tmp_path / "none.npz")
    with pytest.raises(DataError, match="holds no array"):
        read_embeddings(tmp_path / "none.npz")


def test_the_command(tmp_path, capsys):
    pytest.importorskip("typer")
    pytest.importorskip("matplotlib").use("Agg")
    from nearline.cli._run import run

    file = tmp_path / "both.npz"
    np.savez(file, X_train=X[:30], y_train=Y[:30], X_test=X[30:], y_test=Y[30:])
    picture = tmp_path / "probe.svg"
    asked = ["probe", str(file), str(file), "--protocol", "dino,mteb", "--shots", "0,12", "--repeats", "2"]
    assert run([*asked, "--json", "--out", str(picture)]) == 0
    found = json.loads(capsys.readouterr().out)["probes"]
    for name, one in zip(("dino", "mteb"), found, strict=True):
        truth = probe(X[:30], Y[:30], X[30:], Y[30:], name, shots=[0, 12], repeats=2)
        assert one == json.loads(truth.to_json())
    assert picture.stat().st_size > 1000
    assert run(["probe", str(file), str(file)]) == 0
    assert "chosen on" in capsys.readouterr().out
    assert run(["probe", str(file), str(file), "--protocol", "dyno"]) == 2
    assert "Did you mean 'dino'" in capsys.readouterr().err
    assert run(["probe", str(file), str(file), "--shots", "few"]) == 2
