"""What representations learn from labels: shares of classes in categories, and products of columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearline import (
    LeastSquaresClassifier,
    LogisticRegression,
    TableEncoder,
    TryThemAll,
    cross_validate,
)
from nearline.explain import reasons
from nearline.files import load, save
from nearline.representations import REPRESENTATIONS, representations
from nearline.representations._columns import read_strings
from nearline.representations.interactions import MOST, Interactions
from nearline.representations.shares import PARTS, PRIOR_ROWS, SharesCode, Targets
from nearline.representations.text_tables import TextTableEncoder


def towns(n=300, n_towns=25, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.integers(0, n_towns, n)
    y = np.where(rng.random(n) < 0.7, town % n_classes, rng.integers(0, n_classes, n))
    names = [None if i % 17 == 0 else f"town {t:02d}" for i, t in enumerate(town)]
    return pd.DataFrame({"town": names, "size": rng.normal(size=n)}), y


def slow_codes(values, y, asked, classes):
    """Smoothed shares less those of all rows, in deviations over the rows, one by one."""
    n = len(values)
    prior = [sum(label == c for label in y) / n for c in classes]

    def above(value):
        own = [label for other, label in zip(values, y) if other == value]
        if not own:
            return [0.0] * len(classes)
        return [
            (sum(label == c for label in own) + PRIOR_ROWS * p) / (len(own) + PRIOR_ROWS) - p
            for c, p in zip(classes, prior)
        ]

    rows = [above(value) for value in values]
    spread = [np.sqrt(sum(row[c] ** 2 for row in rows) / n) for c in range(len(classes))]
    found = [[a / (s if s > 1e-9 else 1.0) for a, s in zip(above(value), spread)] for value in asked]
    return [row[1:] if len(classes) == 2 else row for row in found]


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", "d", ""]), st.integers(0, 2)), min_size=1, max_size=25
    ),
    st.lists(st.sampled_from(["a", "d", "", "unseen"]), min_size=1, max_size=4),
)
def test_shares_equal_counts_row_by_row(pairs, asked):
    values, y = map(list, zip(*pairs))
    classes = sorted(set(y))
    code = SharesCode.by("c", read_strings(values), Targets.of(np.array(y)))
    out = np.zeros((len(asked), len(code.names)), dtype=np.float32)
    code.write(read_strings(asked), out)
    np.testing.assert_allclose(out, slow_codes(values, y, asked, classes), rtol=1e-5, atol=1e-5)
    own = np.zeros((len(values), len(code.names)), dtype=np.float32)
    code.own_writer(read_strings(values), Targets.of(np.array(y)))(slice(None), own)
    part = np.random.default_rng(0).permutation(len(values)) % PARTS
    for i in range(len(values)):
        others = np.flatnonzero(part != part[i])
        expected = np.zeros((1, len(code.names)))
        if len(others):
            expected = slow_codes([values[j] for j in others], [y[j] for j in others], [values[i]], classes)
        np.testing.assert_allclose(own[i], expected[0], rtol=1e-5, atol=1e-5)


def test_a_rows_own_label_never_enters_its_code():
    X, y = towns(80, 12)
    before = TableEncoder("shares").fit_transform(X, y)
    for i in range(0, 80, 7):
        other = y.copy()
        other[i] = (y[i] + 1) % 3
        after = TableEncoder("shares").fit_transform(X, other)
        np.testing.assert_array_equal(after[i], before[i])
        assert not np.array_equal(after, before)


@pytest.mark.parametrize("n_values", [15, 60, 150])
def test_a_column_of_chance_scores_as_chance(n_values):
    """A code that sees a row's own label makes this column look as if it told the class."""
    rng = np.random.default_rng(n_values)
    X = pd.DataFrame({"id": [f"id {v}" for v in rng.integers(0, n_values, 600)], "x": rng.normal(size=600)})
    y = rng.integers(0, 2, 600)
    model = make_pipeline(TableEncoder("shares"), LogisticRegression(alpha=1e-4))
    assert TableEncoder("shares").fit(X, y).get_feature_names_out().tolist() == ["id_share_1", "x"]
    chance = 3 * np.sqrt(0.25 / 600)
    assert abs(cross_validate(model, X, y).mean["accuracy"] - 0.5) < chance
    own = TableEncoder("shares").fit_transform(X, y)
    assert np.mean((own[:, 0] > 0) == y) < 0.5 + chance
    leaking = TableEncoder("shares").fit(X, y).transform(X)
    assert np.mean((leaking[:, 0] > 0) == y) > 0.5 + chance


def test_shares_say_what_categories_say():
    X, y = towns(400, 30)
    coded = make_pipeline(TableEncoder("shares"), LogisticRegression(alpha=1e-3))
    assert cross_validate(coded, X, y).mean["accuracy"] > 0.6
    encoder = TableEncoder("shares").fit(X, y)
    assert encoder.get_feature_names_out().tolist() == [
        *(f"town_share_{c}" for c in range(3)),
        "size",
    ]
    unseen = encoder.transform(pd.DataFrame({"town": ["nowhere", "town 01"], "size": [0.0, 0.0]}))
    assert unseen[0, :3].tolist() == [0.0, 0.0, 0.0]
    assert np.argmax(unseen[1, :3]) == 1


def test_shares_are_for_many_values_that_recur():
    n = 60
    few, once = [f"v{i % 10}" for i in range(n)], [f"v{i}" for i in range(n)]
    many = [f"v{i % 20}" for i in range(n)]
    names = {
        one: REPRESENTATIONS["table-shares"].suits(pd.DataFrame({"c": values, "x": range(n)}))
        for one, values in (("few", few), ("once", once), ("many", many))
    }
    assert names == {"few": False, "once": False, "many": True}
    frame = pd.DataFrame({"c": few, "x": range(n)})
    np.testing.assert_array_equal(
        TableEncoder("shares").fit_transform(frame, np.arange(n) % 2), TableEncoder().fit_transform(frame)
    )


def test_shares_need_labels():
    X, y = towns()
    with pytest.raises(ValueError, match="learned from labels: give y"):
        TableEncoder("shares").fit(X)
    texts = X.assign(note=[f"a note about {i}" for i in range(len(X))])
    crossed = TextTableEncoder(["note"], "shares").fit_transform(texts, y)
    np.testing.assert_array_equal(crossed[:, :4].toarray(), TableEncoder("shares").fit_transform(X, y))


def test_a_class_that_a_part_lacks():
    X, _ = towns(40, 12)
    y = np.zeros(40, dtype=int)
    y[5] = 1  # one row alone: its part has no other of its class
    out = TableEncoder("shares").fit_transform(X, y)
    assert np.isfinite(out).all()
    assert TableEncoder("shares").fit_transform(X, np.zeros(40)).shape == (40, 2)


def exclusive_or(n=400, noise=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2 + noise))
    flipped = rng.random(n) < 0.03
    return X, (((X[:, 0] > 0) != (X[:, 1] > 0)) ^ flipped).astype(int)


@pytest.mark.parametrize("model", [LeastSquaresClassifier(), LogisticRegression(alpha=1e-3)], ids=str)
def test_exclusive_or_is_solved_by_a_product(model):
    X, y = exclusive_or()
    plain = make_pipeline(StandardScaler(), model)
    crossed = make_pipeline(StandardScaler(), Interactions(), clone(model))
    assert cross_validate(plain, X, y).mean["accuracy"] < 0.62
    assert cross_validate(crossed, X, y).mean["accuracy"] > 0.85


def test_the_contest_finds_the_product():
    X, y = exclusive_or()
    contest = TryThemAll(
        "thorough", include=["logistic, L2", "least squares"], beside=None, folds=3, progress="silent",
        features=["standardized", "interactions"],
    ).fit(X, y)  # fmt: skip
    assert contest.best_.representation == "interactions"
    assert contest.leaderboard_.mean(contest.best_) > 0.85
    found = reasons(contest.model_, X[:1], columns=list("abcdef"))[0].strongest([0, 1])[0]
    assert (found.name, found.value) == ("a * b", None)


def slow_products(X, y):
    """Pairs in the order of the correlation of their products with the residuals of least squares."""
    Y = (y[:, None] == np.unique(y)).astype(float)
    A = np.column_stack([X, np.ones(len(X))])
    rest = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    D = X.shape[1]
    pairs = [(i, j) for i in range(D) for j in range(i + 1, D)]
    found = [max(abs(np.corrcoef(X[:, i] * X[:, j], r)[0, 1]) for r in rest.T) for i, j in pairs]
    least = np.sqrt(2 * np.log(1 + len(pairs)) / len(X))
    order = sorted(range(len(pairs)), key=lambda p: -found[p])
    return [pairs[p] for p in order[:MOST] if found[p] > least]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_equal_those_of_a_slow_search(n_classes, sparse):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(300, 7)) * (rng.random((300, 7)) < 0.6)
    y = (n_classes * (X[:, 1] * X[:, 4] + 0.5 * X[:, 2] * X[:, 6] + X[:, 0] > 0.2)).astype(int)
    y = np.minimum(y, n_classes - 1) + (rng.random(300) < 0.1) * (n_classes == 3)
    found = Interactions().fit(csr_matrix(X) if sparse else X, y)
    assert found.pairs_.tolist() == list(map(list, slow_products(X, y)))
    assert [1, 4] in found.pairs_.tolist()
    out = found.transform(csr_matrix(X) if sparse else X)
    out = out.toarray() if sparse else out
    for place, (i, j) in enumerate(found.pairs_):
        product = X[:, i] * X[:, j]
        np.testing.assert_allclose(out[:, 7 + place], product / np.sqrt((product**2).mean()), rtol=1e-10)


def test_noise_has_hardly_any_products():
    rng = np.random.default_rng(1)
    counts = [
        len(Interactions().fit(rng.normal(size=(200, 10)), rng.integers(0, 2, 200)).pairs_) for _ in range(20)
    ]
    assert np.mean(counts) < 1.0


@pytest.mark.parametrize("X", [np.zeros((5, 3)), np.ones((5, 1)), np.eye(5)], ids=["zeros", "one", "unit"])
def test_columns_without_products(X):
    out = Interactions().fit(X, [0, 1, 0, 1, 1]).transform(X)
    assert np.isfinite(out).all()
    assert out.shape[1] >= X.shape[1]


@parametrize_with_checks([Interactions(), TableEncoder("shares")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["table-shares", "table-interactions"])
def test_contests_of_tables_keep_and_explain_them(name, tmp_path):
    X, y = towns(200, 15)
    X["side"] = np.where(y == 1, X["size"], -X["size"]) + 0.1
    X["turn"] = np.where(X["side"] * X["size"] > 0, 1.0, -1.0) * X["size"]
    assert name in [one.name for one in representations(X, "thorough")]
    contest = TryThemAll(
        "thorough", include="logistic, L2", beside=None, folds=3, progress="silent", features=[name]
    ).fit(X, y)
    assert contest.best_.representation == name
    save(contest.model_, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), contest.predict(X))
    shares = reasons(contest.model_, X.iloc[:2])[1].shares
    assert {one.value for one in shares if one.name == "town"} <= {X["town"][1]}
    assert any(" * " in one.name for one in shares) == (name == "table-interactions")
