"""An index in a file is the same index; a bad file gets a sentence."""

import json
import os

import numpy as np
import pytest
from scipy import sparse

from nearline.neighbors import storage
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.index import Index
from nearline.neighbors.mahalanobis import Mahalanobis
from nearline.neighbors.metrics import Lq

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


def test_a_small_file_cannot_unpack_to_a_large_one(tmp_path):
    path = tmp_path / "index.npz"
    Index(X).save(path)
    with np.load(path) as arrays:
        np.savez_compressed(path.with_suffix(".bomb"), X=np.zeros((10**5, 4)), about=arrays["about"])
    with pytest.raises(ValueError, match=r"X.npy is packed, and Index.save packs nothing"):
        Index.load(tmp_path / "index.bomb.npz")


def test_rows_missing(tmp_path):
    path = tmp_path / "index.npz"
    Index(X).save(path)
    with np.load(path) as arrays:
        np.savez(tmp_path / "new.npz", about=arrays["about"])
    with pytest.raises(ValueError, match="parts missing or changed"):
        Index.load(tmp_path / "new.npz")


def changed(path, change):
    """The file with its arrays and what it says of itself changed."""
    with np.load(path) as arrays:
        parts = dict(arrays)
    about = json.loads(str(parts["about"]))
    change(parts, about)
    np.savez(path, **{**parts, "about": np.array(json.dumps(about))})


def put(name, value):
    return lambda parts, about: parts.__setitem__(name, value(parts[name]))


def say(**values):
    return lambda parts, about: about.update(values)


def at(i, value):
    def change(array):
        array = array.copy()
        array[i] = value
        return array

    return change


DENSE = {
    "no version": lambda parts, about: about.pop("version"),
    "version of letters": say(version="x"),
    "version 0": say(version=0),
    "memory of letters": say(memory="x"),
    "memory below 0": say(memory=-1),
    "no memory": lambda parts, about: about.pop("memory"),
    "metric a list": say(metric=[1]),
    "metric a function": say(metric="function"),
    "algorithm unknown": say(algorithm="ball"),
    "rows with NaN": put("X", at((0, 0), np.nan)),
    "rows flat": put("X", np.ravel),
    "rows of letters": put("X", lambda X: X.astype(str)),
}
SPARSE = {
    "feature out of range": put("indices", at(5, 10**8)),
    "feature below 0": put("indices", at(5, -(10**6))),
    "start out of range": put("indptr", at(5, 10**6)),
    "starts falling": put("indptr", at(5, 900)),
    "starts below 0": put("indptr", lambda indptr: -indptr),
    "shape below 0": put("shape", lambda shape: np.array([-1, 3])),
    "shape a number": put("shape", lambda shape: np.array(3)),
    "values missing": put("data", lambda data: data[:3]),
    "features as floats": put("indices", lambda indices: indices * 1.5),
}
GRAPH = {
    "nodes cut": put("graph_nodes", lambda nodes: nodes[:1000]),
    "no nodes": put("graph_nodes", lambda nodes: nodes[:0]),
    "nodes as floats": put("graph_nodes", lambda nodes: nodes.astype(float)),
    "links damaged": put("graph_nodes", at(slice(8000, 12000), 77)),
    "rows cut": put("graph_rows", lambda rows: rows[:3]),
    "rows out of range": put("graph_rows", at(0, 10**9)),
    "rows twice": put("graph_rows", at(0, 1)),
    "rows with NaN": put("X", at((0, 0), np.nan)),
    "other rows": put("X", lambda X: X + 1.0),
    "fewer columns": put("X", lambda X: X[:, :2].copy()),
    "effort below 0": put("graph_efforts", at((0, 1), -5)),
    "efforts cut": put("graph_efforts", lambda efforts: efforts[:, :2]),
    "recall of letters": say(algorithm={"recall": "x"}),
    "metric not served": say(metric="l1"),
    "metric of another graph": say(metric="inner-product"),
}


def check_refused(index, change, tmp_path):
    path = tmp_path / "index.npz"
    index.save(path)
    changed(path, change)
    with pytest.raises(ValueError, match=r"parts missing or changed|which there is not: save it again"):
        Index.load(path)


@pytest.mark.parametrize("change", DENSE)
def test_damaged_dense_indexes(change, tmp_path):
    check_refused(Index(X), DENSE[change], tmp_path)


@pytest.mark.parametrize("change", SPARSE)
def test_damaged_sparse_indexes(change, tmp_path):
    check_refused(Index(sparse.csr_array(X * (X > 0.5))), SPARSE[change], tmp_path)


@pytest.mark.parametrize("change", GRAPH)
def test_damaged_graphs(change, tmp_path):
    pytest.importorskip("faiss")
    check_refused(Index(X, algorithm=Approximate(0.9)), GRAPH[change], tmp_path)


def test_flipped_bits_and_cut_files(tmp_path):
    """The same rows, or a sentence."""
    path = tmp_path / "index.npz"
    Index(X).save(path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refused = []
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged if rng.random() < 0.8 else whole[: rng.integers(len(whole))])
        try:
            loaded = Index.load(path).X
        except ValueError as error:
            refused.append(str(error))
        else:
            np.testing.assert_array_equal(loaded, X)
    assert len(refused) > 100
    assert all("is no index, or a damaged one" in sentence for sentence in refused)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_umask_holds(tmp_path):
    path = tmp_path / "index.npz"
    before = os.umask(0o027)
    try:
        Index(X).save(path)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o600)
        Index(X).save(path)
        assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)
