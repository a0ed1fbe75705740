"""Exact search equals brute force bit for bit, whatever the metric, the rows, the filter or the threads."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import oracle_index as oracle
from nearline import _core, num_threads
from nearline.neighbors import exact
from nearline.neighbors.bounds import PlainBounds, PrincipalBounds
from nearline.neighbors.choice import FEW_QUERIES, LOOKING, LOOKING_EACH, OPEN, PANEL, effort
from nearline.neighbors.directions import principal_basis
from nearline.neighbors.embeddings import Centered
from nearline.neighbors.index import Index
from nearline.neighbors.mahalanobis import Mahalanobis
from nearline.neighbors.metrics import METRICS, Lq, as_metric

VECTOR_METRICS = [m for name, m in METRICS.items() if name != "precomputed"] + [Lq(1.5), Lq(3)]
KINDS = ("plain", "ties", "duplicates", "constant", "offset", "outliers", "tiny", "zeros", "spread", "bytes")


def rows_of(kind, n, D, rng):
    """Rows that are hard in one way each."""
    X = rng.standard_normal((n, D))
    if kind == "ties":
        X = rng.integers(-1, 2, size=(n, D)).astype(float)
    elif kind == "duplicates":
        X = X[rng.integers(max(n // 20, 1), size=n)]
    elif kind == "constant":
        X[:, rng.random(D) < 0.7] = 3.0
    elif kind == "offset":
        X = 1e8 + 30.0 * X
    elif kind == "outliers":
        X[rng.random(n) < 0.05] *= 1e8
    elif kind == "tiny":
        X *= 1e-30
    elif kind == "zeros":
        X[rng.random(n) < 0.3] = 0.0
    elif kind == "spread":
        X *= 10.0 ** rng.uniform(-6, 6, size=(n, 1))
    elif kind == "bytes":
        X = rng.integers(0, 256, size=(n, D)).astype(float)
    return X


def problem(kind, n, D, m, dtype, metric, rng):
    """Rows and queries: some of them rows, some near rows, some elsewhere."""
    X = rows_of(kind, n, D, rng)
    Q = rows_of(kind, m, D, rng)
    if dtype is np.uint8:
        X, Q = np.abs(X) % 256, np.abs(Q) % 256
    X, Q = X.astype(dtype), Q.astype(dtype)
    Q[: m // 2] = X[rng.integers(n, size=m // 2)]
    if metric.name == "jaccard":
        X, Q = (X > 0).astype(dtype), (Q > 0).astype(dtype)
    return X, Q


@pytest.fixture(autouse=True, scope="module")
def even_little_is_filtered():
    """The tables of these tests are so small that all rows would be measured."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "LITTLE", -1)
        yield


def check(X, Q, metric, k, groups=None, **options):
    """Index(X).search(Q, k) against brute force."""
    index = Index(X, metric, **options)
    index._backend.expect(10**9)  # so many that bounds pay: a few queries measure every row
    dense, queries = (A.toarray() if sparse.issparse(A) else A for A in (X, Q))
    D = oracle.distances(as_metric(metric), dense, queries)
    own, others = (None, None) if groups is None else groups
    oracle.assert_same(index.search(Q, k, groups=groups), oracle.search(D, k, own, others), k)
    return index


cases = {
    "kind": st.sampled_from(KINDS),
    "n": st.sampled_from([1, 2, 5, 40, 257, 300, 700]),
    "D": st.sampled_from([1, 2, 3, 5, 16, 17, 40, 130]),
    "dtype": st.sampled_from([np.float32, np.float64, np.uint8]),
    "k": st.sampled_from([1, 2, 3, 10, 64, 10**9]),
    "seed": st.integers(0, 2**32 - 1),
}


@pytest.mark.parametrize("metric", VECTOR_METRICS, ids=str)
@settings(max_examples=25)
@given(**cases)
def test_dense_rows_equal_brute_force(metric, kind, n, D, dtype, k, seed):
    rng = np.random.default_rng(seed)
    if metric.name == "lq":
        n, D = min(n, 300), min(D, 17)
    X, Q = problem(kind, n, D, 6, dtype, metric, rng)
    check(X, Q, metric, min(k, n), algorithm="exact")


@pytest.mark.parametrize("metric", VECTOR_METRICS, ids=str)
@settings(max_examples=12)
@given(**cases)
def test_sparse_rows_equal_brute_force(metric, kind, n, D, dtype, k, seed):
    rng = np.random.default_rng(seed)
    if metric.name == "lq":
        n, D = min(n, 300), min(D, 17)
    X, Q = problem(kind, n, D, 5, np.float32 if dtype is np.uint8 else dtype, metric, rng)
    X, Q = X * (rng.random(X.shape) < 0.3), Q * (rng.random(Q.shape) < 0.3)
    Q[0] = X[-1]
    check(sparse.csr_array(X), sparse.csr_array(Q), metric, min(k, n))


@pytest.mark.parametrize("metric", VECTOR_METRICS, ids=str)
@settings(max_examples=8)
@given(
    kind=cases["kind"],
    dtype=cases["dtype"],
    n_groups=st.sampled_from([1, 2, 5, 400]),
    k=st.sampled_from([1, 7, 300]),
    seed=cases["seed"],
)
def test_no_neighbor_is_of_the_own_group(metric, kind, dtype, n_groups, k, seed):
    rng = np.random.default_rng(seed)
    X, Q = problem(kind, 400, 4, 5, dtype, metric, rng)
    own, others = rng.integers(n_groups, size=5), rng.integers(n_groups, size=400)
    check(X, Q, metric, k, groups=(own, others), algorithm="exact")


def test_leave_one_out():
    X = np.random.default_rng(0).integers(0, 4, size=(300, 3)).astype(float)
    found = Index(X, algorithm="exact").search(X, 3, groups=np.arange(300))
    predictions = oracle.search(oracle.distances(METRICS["l2"], X, X), 3, np.arange(300), np.arange(300))
    oracle.assert_same(found, predictions, 3)
    assert (found.indices != np.arange(300)[:, None]).all()


def embedding(metric, X):
    return metric.embedding(X)


FORCED = {
    "plain": lambda X, metric: PlainBounds(mean_of(X, metric), embedding(metric, X)),
    "principal": lambda X, metric: principal(X, metric, 4, 4),
    "two principal bounds": lambda X, metric: principal(X, metric, 3, 9),
}


def mean_of(X, metric):
    centered = isinstance(embedding(metric, X), Centered)
    return X.astype(float).mean(axis=0) if centered else np.zeros(X.shape[1])


def principal(X, metric, first, width):
    points, _ = embedding(metric, X)(X.astype(float), mean_of(X, metric))
    return PrincipalBounds(mean_of(X, metric), embedding(metric, X), principal_basis(points, width), first)


@pytest.mark.parametrize("bounds", FORCED)
@pytest.mark.parametrize("metric", ["l2", "squared-l2", "cosine", "inner-product"])
@settings(max_examples=25)
@given(kind=cases["kind"], dtype=cases["dtype"], k=st.sampled_from([1, 10, 600]), seed=cases["seed"])
def test_filters_never_change_the_answer(bounds, metric, kind, dtype, k, seed):
    rng = np.random.default_rng(seed)
    X, Q = problem(kind, 600, 20, 8, dtype, METRICS[metric], rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "choose_bounds", lambda X, m, look: FORCED[bounds](X, m))
        check(X, Q, metric, k, algorithm="exact")


@pytest.mark.parametrize("kind", ["plain", "ties", "offset", "outliers", "bytes", "spread"])
@pytest.mark.parametrize("metric", [m for m in VECTOR_METRICS if m.name != "lq"], ids=str)
def test_many_features(metric, kind):
    rng = np.random.default_rng(5)
    X, Q = problem(kind, 320, 300, 5, np.float32, metric, rng)
    check(X, Q, metric, 7, algorithm="exact")


@pytest.mark.parametrize("metric", ["l2", "l1", "l-infinity", "cosine", "inner-product"])
def test_rows_in_slabs_where_memory_is_short(metric):
    rng = np.random.default_rng(3)
    X, Q = problem("ties", 9000, 5, 6, np.float32, METRICS[metric], rng)
    index = check(X, Q, metric, 12, algorithm="exact", memory=1)
    assert len(index._backend.plan.slabs) == 3


@pytest.mark.parametrize("metric", ["l2", "l1", "l-infinity", "cosine", "inner-product", "squared-l2"])
@pytest.mark.parametrize("shape", [(50, 3), (400, 7), (300, 700), (3100, 40)], ids=str)
def test_answers_do_not_depend_on_how_many_queries_came_before(metric, shape):
    """Few queries measure every row, more make bounds of all coordinates, very many look for shorter ones."""
    X, Q = problem("ties", *shape, 20, np.float32, METRICS[metric], np.random.default_rng(6))
    index, efforts = Index(X, metric, algorithm="exact"), set()
    want = oracle.search(oracle.distances(as_metric(metric), X, Q), 4, None, None)
    first = oracle.search(oracle.distances(as_metric(metric), X, Q[:3]), 4, None, None)
    oracle.assert_same(index.search(Q[:3], 4), first, 4)
    for expected in (0, 10**9, 0):
        efforts.add(index._backend._effort)
        index._backend.expect(expected)
        oracle.assert_same(index.search(Q, 4), want, 4)
    assert efforts == ({0, 1, 2} if shape == (3100, 40) else {0, 1})


def test_looking_for_bounds_costs_a_tenth_of_searching():
    for n, D in ((5_000, 50), (60_000, 784), (1_000_000, 30)):
        least = next(m for m in 2 ** np.arange(40) if effort(n, D, int(m)) == 2)
        assert OPEN * PANEL * n * D * least >= 10 * (LOOKING + LOOKING_EACH * D)
        assert effort(n, D, FEW_QUERIES) == 0
        assert effort(n, D, FEW_QUERIES + 1) == 1 + (least <= FEW_QUERIES + 1)


@pytest.mark.parametrize("metric", VECTOR_METRICS, ids=str)
def test_structured_rows(metric):
    """Low rank plus noise in float32, where principal and group bounds are chosen with two stages."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((900, 6)) @ rng.standard_normal((6, 120)) + 0.01 * rng.standard_normal((900, 120))
    X = np.rint(10 * X).clip(-127, 127) if metric.name == "hamming" else X
    X = X > 0 if metric.name == "jaccard" else X.astype(np.float32)
    check(X[:880], X[877:884], metric, 5, algorithm="exact")


@settings(max_examples=40)
@given(
    metric=st.sampled_from(VECTOR_METRICS),
    kind=cases["kind"],
    share=st.floats(0, 1),
    seed=cases["seed"],
    is_sparse=st.booleans(),
)
def test_radius(metric, kind, share, seed, is_sparse):
    rng = np.random.default_rng(seed)
    X, Q = problem(kind, 300, 6, 4, np.float64, metric, rng)
    D = oracle.distances(metric, X, Q)
    limit = float(np.quantile(D, share, method="nearest"))  # the distance of a row, exactly
    found = Index(sparse.csr_array(X) if is_sparse else X, metric).radius(Q, limit)
    for (d, rows), (want_d, want) in zip(found, oracle.radius(D, limit), strict=True):
        np.testing.assert_array_equal(rows, want)
        np.testing.assert_array_equal(d, want_d)


def test_mahalanobis_is_l2_after_a_map():
    rng = np.random.default_rng(2)
    X, A = rng.standard_normal((400, 5)), rng.standard_normal((5, 5))
    check(X, X[:7], Mahalanobis(A @ A.T), 6)
    direct = np.sqrt(np.einsum("qnj,jl,qnl->qn", X[:7, None] - X, A @ A.T, X[:7, None] - X))
    np.testing.assert_allclose(
        Index(X, Mahalanobis(A @ A.T)).search(X[:7], 6).distances,
        np.sort(direct)[:, :6],
        rtol=1e-9,
        atol=1e-7,
    )


@pytest.mark.parametrize("D", [3, 20, 65])
def test_mahalanobis_does_not_depend_on_the_rows_that_come_with_a_query(D):
    X = np.random.default_rng(0).standard_normal((300, D))
    metric = Mahalanobis.learn(X)
    index = Index(X, metric)
    whole = index.search(X, 3)
    assert (whole.distances[:, 0] == 0).all()
    for part in (slice(0, 1), slice(5, 8), slice(100, 201)):
        np.testing.assert_array_equal(index.search(X[part], 3).distances, whole.distances[part])
    np.testing.assert_array_equal(
        Index(sparse.csr_array(X), metric).search(sparse.csr_array(X[:9]), 3).distances, whole.distances[:9]
    )


def test_a_given_matrix_and_a_function():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, size=(40, 3)).astype(float)
    D = oracle.distances(METRICS["l1"], X, X)
    predictions = oracle.search(D[:5], 4)
    oracle.assert_same(Index(D, "precomputed").search(D[:5], 4), predictions, 4)
    oracle.assert_same(Index(X, lambda a, b: np.abs(a - b).sum()).search(X[:5], 4), predictions, 4)


def test_a_zero_vector_is_at_cosine_distance_one():
    found = Index(np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]), "cosine").search(
        [[2.0, 0.0], [0.0, 0.0]], 3
    )
    assert found.distances.tolist() == [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]
    assert found.indices.tolist() == [[1, 0, 2], [0, 1, 2]]


@pytest.mark.parametrize("metric", ["l2", "l1", "l-infinity"])
def test_distances_that_overflow_keep_their_order(metric):
    X = np.array([[1e200], [-1e200], [2e200], [0.0]])
    check(X, np.array([[0.0], [1e200]]), metric, 4)


SQUARED = [METRICS["l2"], METRICS["squared-l2"], METRICS["inner-product"], Lq(1.5)]


@pytest.mark.parametrize(
    ("metric", "of_rows", "of_queries"),
    [(m, *sizes) for m in SQUARED for sizes in ((1e20, 1e20), (1.0, 1e20), (1e100, 1e100))]
    + [(METRICS["l1"], 1e100, 1e100)]
    + [(METRICS["l-infinity"], 1e100, 1e100)]
    + [(METRICS["cosine"], 1e-162, 1e-162)]
    + [(METRICS["l1"], 1e20, 1e20), (METRICS["l-infinity"], 1.0, 1e20), (METRICS["cosine"], 1e20, 1e-20)]
    + [
        (m, size, size) for m in (METRICS["l2"], METRICS["l1"], METRICS["cosine"]) for size in (1e-25, 1e-100)
    ],
    ids=str,
)
def test_rows_of_extreme_size(metric, of_rows, of_queries):
    X = np.random.default_rng(0).standard_normal((300, 4))
    check(X * of_rows, (X[:5] + 0.1) * of_queries, metric, 3, algorithm="exact")


@pytest.mark.parametrize("metric", ["l2", "l1", "l-infinity"])
def test_sparse_rows_of_extreme_size(metric):
    X = np.random.default_rng(0).standard_normal((20, 4)) * 1e160
    found, dense = (Index(rows, metric).search(X[:3], 4) for rows in (sparse.csr_array(X), X))
    np.testing.assert_array_equal(found.indices, dense.indices)


def test_products_of_rows_without_a_finite_length():
    for X in (np.full((3, 2), 2e160), sparse.csr_array(np.full((3, 2), 2e160))):
        with pytest.raises(ValueError, match="squared lengths are finite, got values up to 2e\\+160: divide"):
            Index(X, "inner-product")


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-160, 1e-155, 1e152, 1e307])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_cosines_do_not_depend_on_the_length_of_rows(size, store):
    X = np.random.default_rng(0).integers(-3, 4, (40, 5)).astype(float)
    expected = Index(X, "cosine").search(X, 6)
    for rows, queries in ((X * size, X), (X, X * size), (X * size, X * size)):
        found = Index(store(rows), "cosine").search(store(queries), 6)
        np.testing.assert_array_equal(found.distances, expected.distances)
        np.testing.assert_array_equal(found.indices, expected.indices)


@pytest.mark.parametrize("metric", ["l2", "l1", "cosine"])
def test_smaller_lists_are_the_first_of_longer_ones(metric):
    rng = np.random.default_rng(7)
    X, Q = problem("ties", 300, 2, 9, np.float64, METRICS[metric], rng)
    index = Index(X, metric)
    longest = index.search(Q, 20)
    for k in (1, 2, 7, 19, 20):
        first, alone = longest.first(k), index.search(Q, k)
        np.testing.assert_array_equal(first.indices, alone.indices)
        np.testing.assert_array_equal(first.distances, alone.distances)
        for i in range(len(Q)):
            np.testing.assert_array_equal(first.boundary[i], alone.boundary[i])


def lists_of_every_metric():
    """Distances, indices and ties of a search with each metric."""
    rng = np.random.default_rng(11)
    X = np.rint(20 * rng.standard_normal((1500, 7)) @ rng.standard_normal((7, 45))).astype(np.float32) / 8
    out = {}
    for name in METRICS:
        if name == "precomputed":
            continue
        rows = X > 0 if name == "jaccard" else X
        found = Index(rows, name, algorithm="exact").search(rows[:150], 9)
        out[f"{name}/d"], out[f"{name}/i"] = found.distances, found.indices
        out[f"{name}/t"], out[f"{name}/s"] = found.boundary.values, found.boundary.starts
    return out


OTHER_BUILD = """
import sys, numpy as np
sys.path.insert(0, sys.argv[2])
from nearline import _core, num_threads
from test_index import lists_of_every_metric
assert _core.isa == sys.argv[3]
with num_threads(2):
    np.savez(sys.argv[1], **lists_of_every_metric())
"""


def test_the_same_answer_on_every_instruction_set_and_number_of_threads(tmp_path):
    results = []
    for threads in (1, 2, 3):
        with num_threads(threads):
            results.append(lists_of_every_metric())
    for isa in {*_core.builds} - {_core.isa}:
        path, environment = tmp_path / f"{isa}.npz", {**os.environ, "NEARLINE_ISA": isa}
        command = [sys.executable, "-c", OTHER_BUILD, str(path), os.path.dirname(__file__), isa]
        subprocess.run(command, check=True, env=environment)
        with np.load(path) as arrays:
            results.append(dict(arrays))
    for other in results[1:]:
        for key, value in results[0].items():
            np.testing.assert_array_equal(other[key], value, err_msg=key)


def test_blocks_of_queries_give_the_same_lists():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(500, 3)).astype(float)
    whole = Index(X).search(X, 5, groups=np.arange(500))
    parts = list(Index(X, memory=1).search_blocks(X, 5, groups=np.arange(500)))
    assert len(parts) > 1
    np.testing.assert_array_equal(np.concatenate([part.indices for _, part in parts]), whole.indices)
    np.testing.assert_array_equal(np.concatenate([part.distances for _, part in parts]), whole.distances)


X4 = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Index(X4).search(X4, 5), r"k = 5 neighbors were asked for, but there are only 4 rows"),
        (lambda: Index(X4).search(X4, 0), "k must be at least 1, got 0"),
        (lambda: Index(X4).search(X4, -2), "k must be at least 1, got -2"),
        (lambda: Index(X4).search(X4, 1.5), r"k must be a whole number of neighbors, got 1\.5"),
        (lambda: Index(X4).search(X4, True), "k must be a whole number"),
        (lambda: Index(X4).search(X4, "3"), "k must be a whole number of neighbors, got '3'"),
        (lambda: Index(X4).search(X4, np.nan), "k must be a whole number of neighbors, got nan"),
        (lambda: Index(X4).search(X4, None), "k must be a whole number of neighbors, got None"),
        (lambda: Index(np.array([[1.0, np.nan]])), "X has NaN or infinite values"),
        (lambda: Index(X4).search([[np.inf, 0.0]], 1), "queries has NaN or infinite values|queries have NaN"),
        (lambda: Index(X4).search(np.ones((2, 3)), 1), "have 2 features, but the queries 3"),
        (lambda: Index(X4).search(np.ones(2), 1), r"queries must be a table of rows .* got shape \(2,\)"),
        (lambda: Index(np.empty((0, 3))), "at least one row, got none"),
        (lambda: Index(X4, "l5"), r"Unknown metric 'l5': choose among 'l1', 'l2', .*'cosine'"),
        (lambda: Index(X4, 3), "Unknown metric 3"),
        (lambda: Index(X4, Lq(0.5)), r"Lq needs q >= 1, got 0\.5"),
        (
            lambda: Index(X4, algorithm="ball"),
            r"Unknown algorithm 'ball': choose among 'auto', 'exact', 'tree'",
        ),
        (lambda: Index(X4, "jaccard"), r"Jaccard takes binary data .* got the value"),
        (lambda: Index(X4, "precomputed"), r"needs the \(n, n\) distances .* got shape \(4, 2\)"),
        (lambda: Index(X4).search(X4, 1, groups=[1, 2]), r"one entry for each of the 4 .*, got shape \(2,\)"),
        (lambda: Index(X4).search(X4[:1], 1, groups=[1]), r"for each of the 4 rows of the index"),
        (lambda: Index(X4).search(X4[:1], 1, groups=np.ones((2, 2))), r"got shape \(2, 2\)"),
        (lambda: Index(X4).radius(X4, np.nan), "radius must be a number, got nan"),
        (lambda: Index(X4).radius(X4, None), "radius must be a number, got None"),
        (lambda: Index(X4, Mahalanobis(np.eye(3))), "matrix is for 3 features, but the rows have 2"),
        (lambda: Index(X4, lambda a, b: np.nan).search(X4, 1), "metric function gave NaN"),
        (lambda: Index(sparse.csr_array(X4), algorithm="tree"), "needs dense rows, got a sparse matrix"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize("algorithm", ["exact", "tree", "auto"])
@pytest.mark.parametrize("n", [5, 1200])
def test_no_queries(algorithm, n):
    found = Index(np.random.default_rng(0).random((n, 2)), algorithm=algorithm).search(np.empty((0, 2)), 3)
    assert found.indices.shape == found.distances.shape == (0, 3)
    assert len(found.boundary) == 0


def test_an_index_pickles():
    index = Index(np.random.default_rng(0).standard_normal((300, 40)).astype(np.float32), "cosine")
    again = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(index.search(index.X, 4).distances, again.search(index.X, 4).distances)


def test_threads_in_one_process():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 30))
    predictions = []
    for threads in (1, 2, 3):
        with num_threads(threads):
            predictions.append(Index(X, algorithm="exact").search(X[:300], 10))
    for other in predictions[1:]:
        np.testing.assert_array_equal(other.distances, predictions[0].distances)
        np.testing.assert_array_equal(other.indices, predictions[0].indices)


SCALES = [1e-18, 1e-21, 1e-22, 1e-23, 1e-30, 1e-36, 1e-44, 1e-45, 1e-160, 1e-162, 1e-200, 1e-310]


@pytest.mark.parametrize("forced", [False, True], ids=["as chosen", "filter forced"])
@pytest.mark.parametrize("metric", [m for m in VECTOR_METRICS if m.name != "jaccard"], ids=str)
def test_rows_of_any_scale(metric, forced, monkeypatch):
    """What vanishes in float32, or its squares in float64, excludes no neighbor."""
    if forced:
        monkeypatch.setattr(type(metric), "vanishing", 0.0)
    rng = np.random.default_rng(0)
    for scale in SCALES:
        X = rng.standard_normal((300, 5)) * scale
        with np.errstate(under="ignore"):
            check(X, X[:20] * 1.01, metric, 3, algorithm="exact")


@pytest.mark.parametrize(
    "metric", ["l2", "squared-l2", "l1", "l-infinity", "inner-product", Lq(1.5)], ids=str
)
def test_tiny_rows_among_others(metric):
    rng = np.random.default_rng(0)
    ones = rng.choice([-1.0, 1.0], size=(150, 4))
    X = np.concatenate([ones, -ones, rng.standard_normal((600, 4)) * 1e-22])  # their mean is about 0
    check(X, X[300:330] * 1.01, metric, 3, algorithm="exact")


@pytest.mark.parametrize("metric", ["l2", "squared-l2", "cosine", "inner-product"])
@pytest.mark.parametrize(
    "scales", [(1e-163, 1e-163), (1.0, 1e-163), (1e-163, 1.0), (1e-100, 1e-220)], ids=str
)
def test_sparse_rows_whose_lengths_vanish(metric, scales):
    rng = np.random.default_rng(0)
    for D in (8, 60):
        X = rng.standard_normal((255, D)) * (rng.random((255, D)) < 0.3) * scales[0]
        Q = rng.standard_normal((20, D)) * (rng.random((20, D)) < 0.5) * scales[1]
        with np.errstate(under="ignore"):
            check(sparse.csr_array(X), sparse.csr_array(Q), metric, 2)


@pytest.mark.parametrize(("metric", "order"), [("l2", [1, 2, 3, 0]), ("squared-l2", [0, 1, 2, 3])])
def test_sparse_rows_whose_products_overflow(metric, order):
    """Distances are finite; squares are all infinite, and tie."""
    X = sparse.csr_array([[1e160, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    found = check(X, sparse.csr_array([[-1e160, 0.0]]), metric, 4).search([[-1e160, 0.0]], 4)
    assert found.indices.tolist() == [order]


@pytest.mark.parametrize("q", [20, 300, 1e4, 1.0001])
@pytest.mark.parametrize("algorithm", ["exact", "tree", "sparse"])
def test_large_powers_neither_vanish_nor_overflow(q, algorithm):
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e3):
        X, Q = rng.random((400, 2)) * scale, rng.random((10, 2)) * scale
        if algorithm == "sparse":
            index = check(sparse.csr_array(X), sparse.csr_array(Q), Lq(q), 3)
        else:
            index = check(X, Q, Lq(q), 3, algorithm=algorithm)
        largest = np.abs(X - Q[:1]).max(axis=1).min()
        distance = index.search(Q[:1], 1).distances[0, 0]
        assert largest * (1 - 1e-12) <= distance
        if q >= 300:
            np.testing.assert_allclose(distance, largest, rtol=0.01)


def test_integer_rows_still_tie_under_lq():
    X = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]])
    assert len(set(Index(X, Lq(3)).search(np.zeros((1, 3)), 3).distances[0])) == 1


def test_many_ties_are_answered_few_queries_at_a_time():
    X = np.random.default_rng(0).integers(0, 2, size=(2000, 2)).astype(float)
    Q = X[:90]
    whole = Index(X).search(Q, 3)
    D = oracle.distances(METRICS["l2"], X, Q)
    oracle.assert_same(whole, oracle.search(D, 3), 3)
    blocks = list(Index(X, memory=100_000).search_blocks(Q, 3))
    assert len(blocks) > 5
    assert [b.start for b, _ in blocks[1:]] == [b.stop for b, _ in blocks[:-1]]
    assert max(len(found.boundary.values) for _, found in blocks) <= 4096
    for block, found in blocks:
        oracle.assert_same(found, oracle.search(D[block], 3), 3)
    told = Index(X).search(Q, 3, ties=False)
    np.testing.assert_array_equal(told.indices, whole.indices)
    np.testing.assert_array_equal(told.boundary.counts > 0, whole.boundary.counts > 0)


@pytest.mark.parametrize(
    "metric", ["l2", "cosine", "hamming", Mahalanobis(np.eye(6)), lambda a, b: abs(a - b).sum()]
)
def test_sparse_queries_of_any_index(metric):
    X = np.random.default_rng(0).standard_normal((400, 6))
    S = sparse.csr_matrix(X * (X > 0))
    dense = S.toarray()
    answer = Index(dense, metric).search(dense[:9], 3)
    for rows, queries in ((dense, S), (S, dense), (S, S)):
        found = Index(rows, metric).search(queries[:9], 3)
        np.testing.assert_array_equal(found.indices, answer.indices)
    near = Index(dense, metric).radius(S[:9], 0.5)
    assert len(near) == 9


def test_lists_from_the_end():
    lists = Index([[0.0], [0.0], [1.0], [3.0]]).search([[0.0], [3.0]], 1).boundary
    assert lists[-2].tolist() == lists[0].tolist() == [1]
    assert lists[-1].tolist() == lists[1].tolist() == []
    for i in (2, -3):
        with pytest.raises(IndexError, match=f"list {i} was asked for, but there are 2 lists"):
            lists[i]


def test_groups_may_be_a_tuple():
    a = Index(X4).search(X4, 1, groups=(0, 0, 1, 1))
    np.testing.assert_array_equal(a.indices, Index(X4).search(X4, 1, groups=np.array([0, 0, 1, 1])).indices)


def test_exponents_of_numpy():
    assert Lq(np.int64(3)) == Lq(np.float32(3)) == Lq(3)
    assert as_metric(Lq(np.float64(2))) == METRICS["l2"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Lq(True), "Lq needs q >= 1, got True"),
        (lambda: Lq("3"), "Lq needs q >= 1, got '3'"),
        (lambda: Index(X4, memory="1GB"), "memory must be a number of bytes, at least 1, got '1GB'"),
        (lambda: Index(X4, memory=-1), "memory must be a number of bytes, at least 1, got -1"),
        (lambda: Index(X4, memory=np.nan), "memory must be a number of bytes"),
        (
            lambda: Index(sparse.csr_array(np.eye(3)), "precomputed"),
            "needs a dense matrix of distances, but X is",
        ),
        (
            lambda: Index(np.eye(3), "precomputed").search(sparse.csr_array(np.eye(3)), 1),
            "needs a dense matrix of distances, but queries is sparse",
        ),
    ],
)
def test_more_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize(
    "metric", ["l1", "l2", "squared-l2", "cosine", "inner-product", "hamming", "jaccard"]
)
@pytest.mark.parametrize("spread", [0.0, 1.2])
def test_sparse_rows_are_bounded_by_what_they_share(metric, spread):
    """Features that are all alike, and a few in most of the rows: either way the lists are those of dense rows."""
    rng = np.random.default_rng(0)
    share = 0.3 / (1.0 + np.arange(60.0)) ** spread
    X, Q = (rng.choice([1.0, 2.0, 0.5], (n, 60)) * (rng.random((n, 60)) < share) for n in (300, 70))
    X, Q = (np.asarray(rows != 0, dtype=float) if metric == "jaccard" else rows for rows in (X, Q))
    found, dense = (
        Index(sparse.csr_array(X), metric).search(sparse.csr_array(Q), 7),
        Index(X, metric).search(Q, 7),
    )
    np.testing.assert_array_equal(found.indices, dense.indices)
    np.testing.assert_array_equal(found.distances, dense.distances)
