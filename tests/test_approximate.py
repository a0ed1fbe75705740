"""Approximate search reaches the recall it was asked for, and says what it measured."""

import pickle
import sys

import numpy as np
import pytest

from nearline.neighbors.approximate import Approximate
from nearline.neighbors.index import Index

METRICS = ("l2", "squared-l2", "cosine", "inner-product")


@pytest.fixture(scope="module")
def rows():
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3300, 10)) @ rng.standard_normal((10, 40)) + 0.3 * rng.standard_normal(
        (3300, 40)
    )
    return X[:3000].astype(np.float32), X[3000:].astype(np.float32)


@pytest.mark.parametrize("metric", METRICS)
def test_recall_is_measured_and_holds_for_new_queries(rows, metric):
    X, Q = rows
    index = Index(X, metric, algorithm=Approximate(recall=0.9))
    assert index.algorithm_ == "approximate"
    assert 0.9 <= index.recall_of_own_rows_ <= 1.0
    exact = Index(X, metric, algorithm="exact")
    for k in (1, 10, 130):
        found, truth = index.search(Q, k), exact.search(Q, k)
        assert (found.distances <= truth.distances[:, -1:]).mean() >= 0.87
        # Found rows have the distances of exact search, in its order.
        everyone = exact.search(Q[:3], len(X))
        for i in range(3):
            known = dict(zip(everyone.indices[i], everyone.distances[i], strict=True))
            assert [known[j] for j in found.indices[i]] == found.distances[i].tolist()
            pairs = list(zip(found.distances[i], found.indices[i], strict=True))
            assert pairs == sorted(pairs)


def test_a_higher_target_takes_more_effort(rows):
    X, _ = rows
    low, high = (Index(X, algorithm=Approximate(recall)) for recall in (0.5, 0.995))
    assert high.recall_of_own_rows_ >= 0.995
    assert high._backend.efforts[10][0] >= low._backend.efforts[10][0]
    assert f"recall {high.recall_of_own_rows_:.3f} of own rows" in repr(high)


def test_groups_and_long_lists(rows):
    X, _ = rows
    index = Index(X, algorithm=Approximate(0.9))
    rng = np.random.default_rng(1)
    folds = rng.integers(3, size=len(X))
    found = index.search(X[:40], 12, groups=(folds[:40], folds))
    assert (folds[found.indices] != folds[:40, None]).all()
    alone = index.search(X[:40], 5, groups=(np.arange(40), np.arange(len(X))))
    assert (alone.indices != np.arange(40)[:, None]).all()
    everyone = index.search(X[:2], len(X))
    np.testing.assert_array_equal(np.sort(everyone.indices), np.tile(np.arange(len(X)), (2, 1)))
    few = index.search(X[:2], len(X), groups=(folds[:2], folds))
    assert ((few.indices >= 0).sum(axis=1) == [(folds != folds[i]).sum() for i in range(2)]).all()


def test_no_queries(rows):
    X, Q = rows
    assert Index(X[:500], algorithm=Approximate()).search(Q[:0], 3).indices.shape == (0, 3)


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_few_rows(rows, n):
    X, Q = rows
    found = Index(X[:n], algorithm=Approximate()).search(Q[:9], n)
    np.testing.assert_array_equal(found.indices, Index(X[:n]).search(Q[:9], n).indices)


def test_pickles_and_files_keep_the_graph(rows, tmp_path):
    X, Q = rows
    index = Index(X, "cosine", algorithm=Approximate(0.9))
    index.save(tmp_path / "graph.npz")
    for again in (pickle.loads(pickle.dumps(index)), Index.load(tmp_path / "graph.npz")):
        assert again.recall_of_own_rows_ == index.recall_of_own_rows_
        assert again.algorithm == Approximate(0.9)
        np.testing.assert_array_equal(again.search(Q, 7).indices, index.search(Q, 7).indices)


def test_recall_of_queries_from_elsewhere(rows):
    X, Q = rows
    index, exact = Index(X, algorithm=Approximate(0.95)), Index(X, algorithm="exact")
    assert exact.measure_recall(Q) == 1.0
    far = 30.0 * np.random.default_rng(0).standard_normal((200, X.shape[1])).astype(np.float32)
    for queries, k in ((Q, 10), (far, 5)):
        found, truth = index.search(queries, k), exact.search(queries, k)
        shares = [len(np.intersect1d(a, b)) / k for a, b in zip(found.indices, truth.indices, strict=True)]
        assert index.measure_recall(queries, k) == pytest.approx(np.mean(shares))  # no ties here
    assert index.measure_recall(Q) >= 0.9
    assert index.measure_recall(far) < index.recall_of_own_rows_
    with pytest.raises(AttributeError, match=r"recall_of_own_rows_ now.*measure_recall\(queries\)"):
        _ = index.recall_


@pytest.mark.parametrize("metric", ["l2", "cosine"])
@pytest.mark.parametrize("distinct", [1, 10, 300])
def test_many_equal_rows(rows, metric, distinct, tmp_path):
    """They are one node each, found together with their ties, and take no effort."""
    X, Q = rows
    rng = np.random.default_rng(0)
    many = X[:distinct][rng.integers(distinct, size=20_000)]
    index = Index(many, metric, algorithm=Approximate(0.95))
    assert index.recall_of_own_rows_ >= 0.95
    assert (
        max(effort for effort, _ in index._backend.efforts.values()) <= 100
        if index._backend.efforts
        else True
    )
    found, truth = (
        Index(many, metric, algorithm=a).search(many[:20], 3) for a in (Approximate(0.95), "exact")
    )
    np.testing.assert_array_equal(found.indices, truth.indices)
    np.testing.assert_array_equal(found.boundary.values, truth.boundary.values)
    index.save(tmp_path / "graph.npz")
    again = Index.load(tmp_path / "graph.npz").search(Q[:20], 3)
    np.testing.assert_array_equal(again.indices, index.search(Q[:20], 3).indices)


def test_calibration_ends(rows, monkeypatch):
    """Where no effort that can pay reaches the target, a bounded number of searches finds that out, and says so."""
    from nearline.neighbors import graph

    searches = []

    def poor(self, Q, truth, k, effort):
        searches.append(effort)
        return 0.5

    monkeypatch.setattr(graph.Graph, "_measured_recall", poor)
    with pytest.warns(UserWarning, match=r"recall of 0\.500, not 0\.95.*algorithm='exact'"):
        Index(rows[0], algorithm=Approximate(0.95))
    assert len(searches) < 16
    assert max(searches) <= graph.MOST


@pytest.mark.parametrize("recall", [0, 1, 1.0, -0.5, 2, "high", None])
def test_a_recall_that_is_none(recall):
    with pytest.raises(ValueError, match=r"recall must be above 0 and below 1, got .* algorithm='exact'"):
        Approximate(recall)


@pytest.mark.parametrize("metric", ["l1", "l-infinity", "hamming", "precomputed"])
def test_other_metrics_are_refused(metric):
    with pytest.raises(
        ValueError, match=f"serves 'l2', .* but not metric '{metric}': take algorithm='exact'"
    ):
        Index(np.eye(4), metric, algorithm=Approximate())


def test_a_radius_is_refused(rows):
    with pytest.raises(ValueError, match="not those within a radius: take algorithm='exact'"):
        Index(rows[0][:50], algorithm=Approximate()).radius(rows[1], 1.0)


def test_a_missing_library_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"pip install 'nearline\[approximate\]'"):
        Index(np.eye(4), algorithm=Approximate())
