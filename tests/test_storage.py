"""An index in a file is the same index; a bad file gets a sentence (SPEC F8)."""

import json

import numpy as np
import pytest
from scipy import sparse

from nearline.neighbors import storage
from nearline.neighbors.index import Index
from nearline.neighbors.metrics import Lq, Mahalanobis

X = np.random.default_rng(0).random((300, 4))


@pytest.mark.parametrize(
    ("rows", "metric", "algorithm"),
    [
        (X, "l2", "auto"),
        (X.astype(np.float32), "l1", "exact"),
        ((255 * X).astype(np.uint8), "l-infinity", "auto"),
        (X, Lq(2.5), "tree"),
        (X, Mahalanobis.learn(X), "exact"),
        (sparse.csr_array(X * (X > 0.5)), "cosine", "auto"),
    ],
    ids=str,
)
def test_what_is_saved_is_what_is_loaded(rows, metric, algorithm, tmp_path):
    index = Index(rows, metric, algorithm=algorithm, memory=10**7)
    path = tmp_path / "rows.index"
    index.save(path)
    again = Index.load(str(path))
    assert (again.metric, again.algorithm, again.memory) == (index.metric, algorithm, 10**7)
    assert again.X.dtype == index.X.dtype
    assert [p.name for p in tmp_path.iterdir()] == ["rows.index"]
    a, b = index.search(rows[:50], 6), again.search(rows[:50], 6)
    np.testing.assert_array_equal(a.distances, b.distances)
    np.testing.assert_array_equal(a.indices, b.indices)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "index.npz"
    Index(X).save(path)
    before = path.read_bytes()

    def fail(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(storage.np, "savez", fail)
    with pytest.raises(KeyboardInterrupt):
        Index(X[:5]).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["index.npz"]


def test_functions_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="metric 'function' cannot be saved: a file holds no Python code"):
        Index(X, lambda a, b: 0.0).save(tmp_path / "index.npz")
    assert not list(tmp_path.iterdir())


def test_bad_files_get_a_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        Index.load(tmp_path / "none.npz")
    text = tmp_path / "text.npz"
    text.write_text("hello")
    with pytest.raises(ValueError, match="is no index, or a damaged one"):
        Index.load(text)
    other = tmp_path / "other.npz"
    np.savez(other, a=np.ones(3))
    with pytest.raises(ValueError, match=r"holds no index: its arrays are \['a'\]"):
        Index.load(other)
    single = tmp_path / "single.npy"
    np.save(single, np.ones(3))
    with pytest.raises(ValueError, match="is no index"):
        Index.load(single)
    good = tmp_path / "good.npz"
    Index(X).save(good)
    cut = tmp_path / "cut.npz"
    cut.write_bytes(good.read_bytes()[:-200])
    with pytest.raises(ValueError, match="is no index, or a damaged one"):
        Index.load(cut)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 99}, "has version 99 of the format, but this nearline knows up to 1: upgrade it"),
        ({"metric": "l99"}, "parts missing or changed"),
        ({"format": "other"}, "holds no index"),
    ],
)
def test_changed_files(change, sentence, tmp_path):
    path = tmp_path / "index.npz"
    Index(X).save(path)
    with np.load(path) as arrays:
        about = {**json.loads(str(arrays["about"])), **change}
        np.savez(tmp_path / "new.npz", X=arrays["X"], about=np.array(json.dumps(about)))
    with pytest.raises(ValueError, match=sentence):
        Index.load(tmp_path / "new.npz")


def test_rows_missing(tmp_path):
    path = tmp_path / "index.npz"
    Index(X).save(path)
    with np.load(path) as arrays:
        np.savez(tmp_path / "new.npz", about=arrays["about"])
    with pytest.raises(ValueError, match="parts missing or changed"):
        Index.load(tmp_path / "new.npz")
