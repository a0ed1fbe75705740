"""Votes of neighbors against slow, obvious code with fractions; every weighting and every rule of ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_neighbors as oracle
from nearline import METRICS, Index, KNeighborsClassifier, KNeighborsRegressor, Temperature
from nearline.neighbors.ballots import BOUNDARIES
from nearline.neighbors.vote import TIES, Electorate, Vote, voters
from nearline.neighbors.weights import WEIGHTS, as_weights

VOTE = Vote.of(2, "uniform", "share", "nearest", METRICS["l2"])
VOTES = {name: Temperature(1.0) if name == "softmax" else name for name in WEIGHTS}
EACH = settings(max_examples=30)  # for each rule of the boundary and of ties: hundreds of problems in all


@st.composite
def problems(draw, max_rows=12):
    """Few distinct points, so that duplicates and ties of both kinds are the rule."""
    n = draw(st.integers(1, max_rows))
    d = draw(st.integers(1, 2))
    points = st.lists(st.integers(0, 3), min_size=d, max_size=d)
    X = np.array(draw(st.lists(points, min_size=n, max_size=n)), dtype=float)
    y = np.array(draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n)))
    Q = np.array(draw(st.lists(points, min_size=1, max_size=3)), dtype=float)
    return X, y, Q, draw(st.integers(1, n))


@pytest.mark.parametrize("ties", list(TIES))
@pytest.mark.parametrize("boundary", list(BOUNDARIES))
@given(
    problem=problems(),
    weights=st.sampled_from(list(VOTES)),
    metric=st.sampled_from(["l1", "l2", "l-infinity"]),
)
@EACH
def test_decisions_are_those_of_the_definition(boundary, ties, problem, weights, metric):
    """F1, F2, F4."""
    X, y, Q, k = problem
    model = KNeighborsClassifier(k, weights=VOTES[weights], metric=metric, boundary=boundary, ties=ties).fit(
        X, y
    )
    expected = [oracle.predict(X, y, q, k, metric, weights, boundary, ties) for q in Q]
    assert model.predict(Q).tolist() == expected
    for q, shares in zip(Q, model.predict_proba(Q)):
        totals = oracle.class_votes(X, y, q, k, metric, weights, boundary)
        wanted = np.array([float(totals.get(c, 0)) for c in model.classes_])
        np.testing.assert_allclose(shares, wanted / wanted.sum(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("boundary", list(BOUNDARIES))
@given(problem=problems(), weights=st.sampled_from(list(VOTES)))
def test_means_are_those_of_the_definition(boundary, problem, weights):
    """F5."""
    X, _, Q, k = problem
    y = np.column_stack([np.arange(len(X)), np.arange(len(X)) ** 2]).astype(float)
    model = KNeighborsRegressor(k, weights=VOTES[weights], boundary=boundary).fit(X, y)
    expected = [oracle.mean(X, y, q, k, "l2", weights, boundary) for q in Q]
    np.testing.assert_allclose(model.predict(Q), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("ties", list(TIES))
@pytest.mark.parametrize("boundary", ["share", "all", "drop"])
@given(problem=problems(), weights=st.sampled_from(list(VOTES)), data=st.data())
@EACH
def test_the_order_of_rows_does_not_matter(boundary, ties, problem, weights, data):
    """F2: to the last bit."""
    X, y, Q, k = problem
    order = np.array(data.draw(st.permutations(range(len(X)))))
    make = KNeighborsClassifier(k, weights=VOTES[weights], boundary=boundary, ties=ties)
    first, second = make.fit(X, y).predict(Q), make.predict_proba(Q)
    make.fit(X[order], y[order])
    np.testing.assert_array_equal(make.predict(Q), first)
    np.testing.assert_array_equal(make.predict_proba(Q), second)


@pytest.mark.parametrize("ties", list(TIES))
@pytest.mark.parametrize("boundary", ["share", "all", "drop"])
@given(problem=problems(), weights=st.sampled_from(list(VOTES)), data=st.data())
@EACH
def test_integer_weights_are_repeated_rows(boundary, ties, problem, weights, data):
    """F2: weights are multiplicities; rows of weight 0 are not there."""
    X, y, Q, _ = problem
    s = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    s[0] = max(s[0], 1)
    k = data.draw(st.integers(1, int(s.sum())))
    make = KNeighborsClassifier(k, weights=VOTES[weights], boundary=boundary, ties=ties)
    weighted = make.fit(X, y, sample_weight=s).predict(Q)
    shares = dict(zip(make.classes_, make.predict_proba(Q).T))
    make.fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    assert weighted.tolist() == make.predict(Q).tolist()
    for label, share in zip(make.classes_, make.predict_proba(Q).T):
        np.testing.assert_allclose(shares[label], share, rtol=1e-12, atol=1e-14)
    target = np.arange(len(X), dtype=float)
    model = KNeighborsRegressor(k, weights=VOTES[weights], boundary=boundary)
    means = model.fit(X, target, sample_weight=s).predict(Q)
    np.testing.assert_allclose(
        means, model.fit(np.repeat(X, s, axis=0), np.repeat(target, s)).predict(Q), rtol=1e-10, atol=1e-12
    )


@given(problem=problems(), k=st.integers(1, 3))
def test_weights_below_one_reach_further(problem, k):
    """A quarter of the weight and a quarter of k: the same votes."""
    X, y, Q, _ = problem
    if 4 * k > len(X):
        return
    light = KNeighborsClassifier(k).fit(X, y, sample_weight=np.full(len(X), 0.25))
    plain = KNeighborsClassifier(4 * k).fit(X, y)
    np.testing.assert_array_equal(light.predict(Q), plain.predict(Q))
    np.testing.assert_allclose(light.predict_proba(Q), plain.predict_proba(Q), rtol=1e-12)


def test_few_queries_need_longer_lists():
    """Lists grow only for the queries whose neighbors are light."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.normal(size=200))[:, None]
    s = np.where(X[:, 0] < 0, 0.01, 1.0)
    widths = {found.k: len(numbers) for numbers, found in voters(Index(X), X, VOTE, s)}
    assert min(widths) < 10
    assert max(widths) > 50
    assert sum(widths.values()) == 200


@pytest.mark.parametrize("boundary", list(BOUNDARIES))
def test_one_row_can_fill_every_place(boundary):
    X, y = [[0.0], [1.0]], ["heavy", "light"]
    model = KNeighborsClassifier(3, boundary=boundary).fit(X, y, sample_weight=[5, 1])
    assert model.predict([[0.1]]).tolist() == ["heavy"]
    assert model.predict_proba([[0.1]]).tolist() == [[1.0, 0.0]]
    with pytest.raises(ValueError, match=r"k = 7 .* weights of all rows add up to 6"):
        KNeighborsClassifier(7).fit(X, y, sample_weight=[5, 1]).predict([[0.0]])


def test_shares_of_a_boundary_tie():
    """F2: m = 1 row nearer, t = 3 at the k-th distance, k = 2: a third of a vote each."""
    X, y = [[0.0], [1.0], [-1.0], [1.0]], ["a", "b", "b", "c"]
    vote = dict(zip("abc", KNeighborsClassifier(2).fit(X, y).predict_proba([[0.0]])[0]))
    assert vote == pytest.approx({"a": 1 / 2, "b": 2 / 6, "c": 1 / 6})


def test_equal_votes_from_unequal_portions_are_ties():
    """Shares of 1/3 do not add up in floating point: counts of votes are kept whole."""
    # Class b has one nearer row and 1/3; class a has 4 of the 6 rows at the boundary, a third each.
    X = np.array([[0.5]] + [[1.0]] * 6)
    y = np.array(["b", "b", "a", "a", "a", "a", "c"])
    explained = KNeighborsClassifier(3, ties="prior").fit(X, y).explain([[0.0]])
    assert explained.vote_ties.tolist() == [True]
    assert explained.predictions.tolist() == ["a"]
    assert KNeighborsClassifier(3, ties="nearest").fit(X, y).predict([[0.0]]).tolist() == ["b"]


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 1e300])
def test_votes_by_distance_never_overflow(scale):
    """F4: d = 1, 2, 4 in any unit."""
    vote = Vote.of(3, "distance", "share", "nearest", METRICS["precomputed"])
    found = Index(np.zeros((3, 3)), "precomputed").search(np.array([[1.0, 2.0, 4.0]]) * scale, 3)
    shares = vote.decide(found, Electorate(np.arange(3), 3)).shares
    np.testing.assert_allclose(shares, [np.array([4, 2, 1]) / 7], rtol=1e-3)


@pytest.mark.parametrize("temperature", [1e-300, 1e-3, 1.0, 1e300])
def test_softmax_votes_never_overflow(temperature):
    """F4."""
    values = Temperature(temperature).values(np.array([[0.0, 1.0], [1e5, 1e6]]), METRICS["l2"])
    assert np.isfinite(values).all()
    assert (values[:, 0] == 1).all()


def test_softmax_of_cosines():
    """F4: the k-NN probe, exp(cosine / T)."""
    rng = np.random.default_rng(0)
    X, y, q = rng.normal(size=(50, 5)), rng.integers(0, 3, 50), rng.normal(size=5)
    cosine = X @ q / np.linalg.norm(X, axis=1) / np.linalg.norm(q)
    nearest = np.argsort(-cosine)[:10]
    expected = np.bincount(y[nearest], np.exp(cosine[nearest] / 0.07), minlength=3)
    model = KNeighborsClassifier(10, metric="cosine", weights=Temperature(temperature=0.07)).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([q])[0], expected / expected.sum(), rtol=1e-9)
    products = KNeighborsClassifier(10, metric="inner-product", weights=Temperature(0.5)).fit(X, y)
    nearest = np.argsort(-(X @ q))[:10]
    expected = np.bincount(y[nearest], np.exp((X @ q)[nearest] / 0.5), minlength=3)
    np.testing.assert_allclose(products.predict_proba([q])[0], expected / expected.sum(), rtol=1e-9)


def test_a_function_of_the_distances():
    """F4. Votes that have become 0 everywhere count alike; infinite ones alone."""
    X, y = [[0.0], [1.0], [3.0]], [0, 1, 1]
    model = KNeighborsClassifier(3, weights=lambda d: np.exp(-(d**2))).fit(X, y)
    v = np.exp([0.0, -1.0, -9.0])
    np.testing.assert_allclose(model.predict_proba([[0.0]])[0], [v[0] / v.sum(), 1 - v[0] / v.sum()])
    np.testing.assert_allclose(model.predict_proba([[100.0]])[0], [1 / 3, 2 / 3])

    def inverse(d):
        with np.errstate(divide="ignore"):
            return 1.0 / d

    model = KNeighborsClassifier(3, weights=inverse).fit(X, y)
    assert model.predict_proba([[0.0]]).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": "gauss"}, r"Unknown weights 'gauss': choose among 'uniform'.*Temperature"),
        ({"weights": Temperature}, "Unknown weights"),
        ({"weights": lambda d: d[:, :1]}, r"one vote for each of the \(1, 3\) distances, got shape \(1, 1\)"),
        ({"weights": lambda d: d - 9}, "negative vote or NaN"),
        ({"weights": "distance", "metric": "inner-product"}, "distances >= 0.*'inner-product'.*Temperature"),
        ({"boundary": "half"}, "Unknown boundary 'half': choose among 'share'"),
        ({"ties": "coin"}, "Unknown ties 'coin': choose among 'nearest'"),
    ],
)
def test_what_is_wrong_is_said(parameters, message):
    with pytest.raises(ValueError, match=message):
        KNeighborsClassifier(3, **parameters).fit([[1.0], [2.0], [3.0]], [0, 1, 1]).predict([[1.0]])


@pytest.mark.parametrize("temperature", [0, -1.0, np.nan, np.inf, "hot", True])
def test_temperatures_are_positive(temperature):
    with pytest.raises(ValueError, match=r"finite temperature > 0"):
        Temperature(temperature)


@pytest.mark.parametrize("name", list(WEIGHTS))
def test_names_and_objects_are_the_same(name):
    assert as_weights(name) is as_weights(WEIGHTS[name])


def test_many_classes_are_counted_in_parts():
    """Memory stays bounded with thousands of classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    y = np.arange(5000) % 2500
    model = KNeighborsClassifier(1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


def by_rank(d):
    return np.broadcast_to(1.0 / (1.0 + np.arange(d.shape[1])), d.shape)


def by_mean(d):
    return np.exp(-d / d.mean(axis=1, keepdims=True))


@pytest.mark.parametrize("boundary", list(BOUNDARIES))
@pytest.mark.parametrize("function", [by_rank, by_mean])
def test_functions_of_the_whole_list_see_the_k_places(function, boundary):
    """Integer weights equal repeated rows, whatever a function makes of the list."""
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(80, 2)), rng.integers(3, size=80), rng.integers(1, 4, size=80)
    again, Q = np.repeat(np.arange(80), s), rng.normal(size=(30, 2))
    options = {"weights": function, "boundary": boundary}
    for k in (1, 4, 9):
        weighted = KNeighborsClassifier(k, **options).fit(X, y, sample_weight=s).predict_proba(Q)
        repeated = KNeighborsClassifier(k, **options).fit(X[again], y[again]).predict_proba(Q)
        np.testing.assert_allclose(weighted, repeated, atol=1e-12)


@pytest.mark.parametrize("weights", ["distance", Temperature(1.0)], ids=str)
def test_distances_that_overflow(weights):
    rows = [[-1e308], [-1.1e308], [-1.2e308]]
    model = KNeighborsClassifier(3, weights=weights).fit(rows, [0, 1, 1])
    shares = model.predict_proba([[-1.2e308], [1.7e308]])
    np.testing.assert_allclose(shares, [[0.0, 1.0], [1 / 3, 2 / 3]])
    means = KNeighborsRegressor(3, weights=weights).fit(rows, [0.0, 1.0, 1.0])
    np.testing.assert_allclose(means.predict([[1.7e308]]), [2 / 3])


def test_votes_that_would_overflow():
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 1, 1]
    shares = (
        KNeighborsClassifier(3, weights=lambda d: np.full(d.shape, 1e308)).fit(X, y).predict_proba([[1.0]])
    )
    np.testing.assert_allclose(shares, [[2 / 3, 1 / 3]])
    with pytest.raises(ValueError, match="gave NaN for a neighbor at an infinite distance"):
        KNeighborsClassifier(1, weights=lambda d: np.where(np.isinf(d), np.nan, 1.0)).fit(
            [[-1e308], [-1.1e308]], [0, 1]
        ).predict([[1.7e308]])


def test_many_ties_are_counted_within_memory():
    X, y = np.zeros((3000, 3)), np.arange(3000) % 3 > 0
    for boundary in BOUNDARIES:
        shares = KNeighborsClassifier(5, boundary=boundary).fit(X, y).predict_proba(X[:400])
        expected = [2 / 5, 3 / 5] if boundary == "list" else [1 / 3, 2 / 3]
        np.testing.assert_allclose(shares, np.tile(expected, (400, 1)))


def test_sparse_queries_of_dense_rows():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(100, 4)).astype(float), rng.integers(3, size=100)
    for model in (KNeighborsClassifier(3), KNeighborsRegressor(3)):
        model.fit(X, y, sample_weight=rng.integers(1, 3, size=100))
        np.testing.assert_array_equal(model.predict(csr_matrix(X)), model.predict(X))
