"""The tree gives the lists, ties and bits of exact search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_index as oracle
from nearline.neighbors import tree
from nearline.neighbors.index import Index
from nearline.neighbors.mahalanobis import Mahalanobis
from nearline.neighbors.metrics import METRICS, Lq
from nearline.neighbors.wanted import measured
from test_index import KINDS, problem

TREES = [METRICS["l1"], METRICS["l2"], METRICS["squared-l2"], METRICS["l-infinity"], Lq(1.5), Lq(3)]


def check(X, Q, metric, k, groups=None):
    D = oracle.distances(metric, X, Q)
    own, others = (None, None) if groups is None else groups
    index = Index(X, metric, algorithm="tree")
    assert index.algorithm_ == "tree"
    oracle.assert_same(index.search(Q, k, groups=groups), oracle.search(D, k, own, others), k)


@pytest.mark.parametrize("metric", TREES, ids=str)
@settings(max_examples=25)
@given(
    kind=st.sampled_from(KINDS),
    n=st.sampled_from([1, 2, 7, 60, 400]),
    D=st.sampled_from([1, 2, 3, 5, 18]),
    dtype=st.sampled_from([np.float32, np.float64, np.uint8]),
    k=st.sampled_from([1, 2, 10, 60, 10**9]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_tree_equals_brute_force(metric, kind, n, D, dtype, k, seed):
    X, Q = problem(kind, n, D, 6, dtype, metric, np.random.default_rng(seed))
    check(X, Q, metric, min(k, n))


@pytest.mark.parametrize("metric", TREES, ids=str)
@settings(max_examples=10)
@given(
    kind=st.sampled_from(KINDS),
    n_groups=st.sampled_from([1, 2, 5, 400]),
    k=st.sampled_from([1, 7, 150, 400]),
    seed=st.integers(0, 2**32 - 1),
)
def test_groups_are_respected_by_longer_lists(metric, kind, n_groups, k, seed):
    rng = np.random.default_rng(seed)
    X, Q = problem(kind, 400, 2, 5, np.float64, metric, rng)
    check(X, Q, metric, k, (rng.integers(n_groups, size=5), rng.integers(n_groups, size=400)))


@pytest.mark.parametrize("metric", TREES, ids=str)
def test_many_ties_and_blocks(metric, monkeypatch):
    """A grid, where every list ends in ties, a few queries at a time."""
    monkeypatch.setattr(tree, "BLOCK", 16)
    X = np.array([(a, b) for a in range(20) for b in range(20)], dtype=np.float32)
    check(X, X[::9], metric, 3)
    check(X, X[::9], metric, 11, (np.arange(400)[::9], np.arange(400)))


@pytest.mark.parametrize("metric", TREES, ids=str)
def test_everyone_at_one_place(metric):
    check(np.ones((1500, 2)), np.array([[1.0, 1.0], [0.0, 3.0]]), metric, 4)


@pytest.mark.parametrize("metric", TREES[:4], ids=str)
def test_distances_that_overflow(metric):
    check(
        np.array([[1e200], [-1e200], [2e200], [0.0], [1.0], [3e199]]), np.array([[0.0], [1e200]]), metric, 1
    )


@pytest.mark.parametrize("metric", TREES, ids=str)
@pytest.mark.parametrize("D", [1, 2, 3, 8, 9, 16, 17, 40])
def test_measured_is_the_documented_order_of_summation(metric, D):
    rng = np.random.default_rng(D)
    X, Q = rng.standard_normal((30, D)), rng.standard_normal((1, D))
    got = measured(metric, X, Q, np.arange(30), np.zeros(30))
    np.testing.assert_array_equal(got, oracle.distances(metric, X, Q)[0])


def test_mahalanobis_and_radius():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2))
    check(X, X[:20], Mahalanobis([[2.0, 0.5], [0.5, 1.0]]), 5)
    a, b = (Index(X, algorithm=name).radius(X[:5], 0.7) for name in ("tree", "exact"))
    for (d, rows), (want_d, want) in zip(a, b, strict=True):
        np.testing.assert_array_equal(rows, want)
        np.testing.assert_array_equal(d, want_d)


def test_auto_takes_the_tree_where_the_rule_says_so():
    rng = np.random.default_rng(0)
    assert Index(rng.random((5000, 2))).algorithm_ == "tree"
    assert Index(rng.random((5000, 2)), algorithm="exact").algorithm_ == "exact"
    assert Index(rng.random((5000, 30))).algorithm_ == "exact"
    assert Index(rng.random((5000, 2)), "cosine").algorithm_ == "exact"
    assert Index(rng.random((5000, 2)), memory=1).algorithm_ == "exact"


@pytest.mark.parametrize("metric", ["cosine", "inner-product", "hamming"])
def test_a_metric_without_a_tree_says_which_have_one(metric):
    with pytest.raises(
        ValueError, match=f"no tree for metric '{metric}', only for 'l1', 'l2', .* algorithm='exact'"
    ):
        Index(np.ones((4, 2)), metric, algorithm="tree")


def test_precomputed_and_functions_have_no_tree():
    with pytest.raises(ValueError, match="no tree for metric 'precomputed'"):
        Index(np.ones((4, 4)), "precomputed", algorithm="tree")
    with pytest.raises(ValueError, match="no tree for metric 'function'"):
        Index(np.ones((4, 4)), lambda a, b: 0.0, algorithm="tree")


@pytest.mark.parametrize("metric", [*TREES, Lq(300)], ids=str)
def test_rows_of_any_scale(metric):
    """The tree's own powers vanish or overflow before ours do."""
    rng = np.random.default_rng(0)
    for scale in (1e-310, 1e-200, 1e-162, 1e-155, 1e-45, 1e-22, 1e-3, 1e10, 1e150):
        X = rng.standard_normal((300, 2)) * scale
        with np.errstate(under="ignore", over="ignore"):
            check(X, X[:20] * 1.01, metric, 3)
