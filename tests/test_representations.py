"""Representations: a fold's numbers are those of the transformer fitted on its training rows alone."""

import gzip
import json
import pickle
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix, diags, issparse
from scipy.sparse import random as random_sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearline import LogisticRegression
from nearline.data import read
from nearline.representations import (
    PRESETS,
    REPRESENTATIONS,
    TRIED,
    TableEncoder,
    kind_of,
    representations,
)
from nearline.representations.ngrams import WordPairs, log_count_ratios
from nearline.representations.numbers import AsNumbers, NormalRanks
from nearline.representations.text_tables import TextTableEncoder
from nearline.representations.texts import Characters, Words, documents

N = 60
COLORS = ["red", "green", "blue", None, "?", " red "]


def mixed(library=pd.DataFrame, n=N):
    """Every kind of column; the last rows, left out below, have what no training row has."""
    rng = np.random.default_rng(0)
    known = np.arange(n) < n - 12
    columns = {
        "float": [None if i % 7 == 0 else float(v) for i, v in enumerate(rng.normal(1e9, 1, n))],
        "whole": rng.integers(0, 9, n).tolist(),
        "truth": (rng.random(n) < 0.5).tolist(),
        "constant": [3.5] * n,
        "constant in training": [1.0 if k else 2.0 for k in known],
        "missing in training": [None if k else 5.0 for k in known],
        "missing string in training": [None if k else "late" for k in known],
        "missing only in test": [1.0 if k and i % 2 else 2.0 if k else None for i, k in enumerate(known)],
        "color": [COLORS[i % 6] if k else "violet" for i, k in enumerate(known)],
        "number as string": [
            "NA" if i % 5 == 0 else str(i / 4) if k else "many" for i, k in enumerate(known)
        ],
        "date": [None if i % 9 == 0 else date(2020, 1, 1) + timedelta(days=37 * i) for i in range(n)],
        "moment": [datetime(2020, 1, 1) + timedelta(hours=11 * i) for i in range(n)],
        "iso": [str(date(2020, 1, 1) + timedelta(days=i)) if k else "soon" for i, k in enumerate(known)],
        "span": [timedelta(hours=i) for i in range(n)],
        "text": ["" if i % 8 == 0 else f"name {'xyz'[i % 3]} of {i * 7919}" for i in range(n)],
    }
    return library(columns)


def objects(n=N):
    """A frame whose column of objects has numbers, strings, truth values and nothing."""
    values = [1, 2.5, "a", None, True, float("nan"), "2"]
    return pd.DataFrame({"any": pd.Series([values[i % 7] for i in range(n)], dtype=object), "x": range(n)})


def wide(n=N):
    """Many columns of categories: wide, and mostly zeros."""
    rng = np.random.default_rng(1)
    return pd.DataFrame({f"c{j}": [f"v{v}" for v in rng.integers(0, 20, n)] for j in range(60)})


WORDS = [
    "a",
    "red",
    "fish",
    "swims",
    "under",
    "the",
    "old",
    "bridge",
    "while",
    "nobody",
    "looks",
    "at",
    "its",
    "scales",
]


def sentences(n=N):
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(n - 12)]
    return [*texts, *[f"unseen{i} Red ümlaut" for i in range(10)], "", "nothing-known"]


def written(n=N):
    """Columns of texts beside others; in the last rows all others are missing."""
    rng = np.random.default_rng(8)
    titles = [" ".join(rng.choice(WORDS, 4)) + f" {i}" for i in range(n)]
    bodies = [None if i % 9 == 0 else " ".join(rng.choice(WORDS, 7)) + f" of {i}" for i in range(n)]
    sizes = [float(i % 17) if i < n - 12 else None for i in range(n)]
    return pd.DataFrame({"title": titles, "size": sizes, "body": bodies, "color": ["red", "blue"] * (n // 2)})


def numbers(dtype=np.float64, n=N):
    X = np.random.default_rng(3).normal(size=(n, 5)) * [1, 100, 1, 1e-3, 1] + [0, 0, 1e6, 0, 0]
    X[:, 4] = 7.0
    return (X * 3).astype(dtype)


def holes(n=N):
    X = numbers(n=n)
    X[::5, 1] = np.nan
    X[: n - 12, 3] = np.nan  # all missing in the training rows
    X[n - 5 :, 0] = np.nan  # missing in the rows left out only
    return X


def large_whole(n=N):
    X = np.arange(3 * n).reshape(n, 3)
    X[-1, 0] = 2**53 - 1
    return X


INPUTS = {
    "float64": numbers(),
    "float32": numbers(np.float32),
    "int64": numbers(np.int64),
    "uint8": np.random.default_rng(4).integers(0, 256, (N, 6)).astype(np.uint8),
    "bool": np.random.default_rng(4).random((N, 6)) < 0.5,
    "float16": np.random.default_rng(4).random((N, 6)).astype(np.float16),
    "large whole numbers": large_whole(),
    "Fortran order": np.asfortranarray(numbers()),
    "list": numbers().tolist(),
    "NaN": holes(),
    "one column": numbers()[:, :1],
    "numeric pandas": pd.DataFrame(numbers(), columns=list("abcde")),
    "numeric polars": pl.DataFrame(numbers(), schema=list("abcde")),
    "very wide": np.random.default_rng(4).normal(size=(N, 3000)),
    "CSR": csr_matrix(random_sparse(N, 40, 0.2, random_state=0, format="csr")),
    "CSR whole": csr_matrix(np.random.default_rng(5).poisson(0.3, (N, 20))),
    "CSC": random_sparse(N, 40, 0.2, random_state=0, format="csc"),
    "pandas": mixed(),
    "polars": mixed(pl.DataFrame),
    "objects": objects(),
    "array of objects": objects().to_numpy(),
    "wide table": wide(),
    "texts in a table": written(),
    "texts alone in a table": written()[["title", "body"]],
    "polars with texts": pl.from_pandas(written()),
    "few values": np.random.default_rng(7).integers(0, 5, (N, 4)).astype(float),
    "categories": pd.DataFrame({"c": pd.Categorical(["u", "v", None] * 20), "x": [1.0, None] * 30}),
    "nullable": pd.DataFrame(
        {"i": pd.array([1, None, 3] * 20, "Int64"), "b": pd.array([True, None] * 30, "boolean")}
    ),
    "complete nullable": pd.DataFrame(
        {"i": pd.array([1, 2, 3] * 20, "Int64"), "f": pd.array([1.5, 2] * 30, "Float32")}
    ),
    "polars with nulls": pl.DataFrame(
        {"i": [1, None, 3] * 20, "e": pl.Series(["a", "b"] * 30, dtype=pl.Categorical)}
    ),
    "names": [f"{'abc'[i % 3]}ov{'xyzw'[i % 4]}ski" for i in range(N)],
    "trees": [f"(S (NP {'abc'[i % 3]}) (VP (V {'de'[i % 2]}) (NP {'fg'[i % 5 % 2]})))" for i in range(N)],
    "time zones": pd.DataFrame(
        {"t": pd.date_range("2020", periods=N, freq="7h", tz="Europe/Rome"), "s": ["p", "q"] * 30}
    ),
    "texts": sentences(),
    "array of texts": np.array(sentences()),
    "missing texts": np.array([*sentences()[:-1], None], dtype=object),
    "series of texts": pd.Series(sentences()),
    "polars series of texts": pl.Series(sentences()),
    "column of texts": pd.DataFrame({"t": sentences()}),
    "polars column of texts": pl.DataFrame({"t": sentences()}),
}


def rows_of(X, rows):
    """Rows of any container."""
    if isinstance(X, (pd.DataFrame, pd.Series)):
        return X.iloc[rows]
    if isinstance(X, (pl.DataFrame, pl.Series)):
        return X[rows]
    return [X[i] for i in rows] if isinstance(X, list) else X[rows] if not issparse(X) else X.tocsr()[rows]


def dense(X):
    return X.toarray() if issparse(X) else X


CASES = [(name, r.name) for name, X in INPUTS.items() for r in representations(X, "thorough")]
TRAIN = np.arange(N - 12)
CODES = np.arange(N) % 3
SPLITS = {
    "the last rows": (TRAIN, np.arange(N - 12, N)),
    "one row": (np.setdiff1d(np.arange(N), [17]), np.array([17])),
    "shuffled": tuple(np.split(np.random.default_rng(6).permutation(N), [40])),
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(("given", "name"), CASES)
def test_a_fold_is_the_transformer_fitted_on_its_training_rows(given, name, split):
    X, (train, test) = INPUTS[given], SPLITS[split]
    representation = next(r for r in representations(X, "thorough") if r.name == name)
    fitted = representation.transformer()
    expected = fitted.fit_transform(rows_of(X, train), CODES[train]), fitted.transform(rows_of(X, test))
    got = representation.prepare(X).fold(train, test, CODES[train])
    for mine, theirs, rows in zip(got, expected, (train, test)):
        assert mine.shape[0] == len(rows)
        assert type(mine) is type(theirs)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(dense(mine), dense(theirs))
        assert np.isfinite(dense(mine)).all()
        if issparse(mine):
            assert mine.format == "csr"
            assert mine.has_canonical_format
        else:
            assert mine.flags.c_contiguous
        assert mine.dtype in (np.float32, np.float64)
    assert len(fitted.get_feature_names_out()) == got[0].shape[1]


def test_every_representation_is_tried_and_tested():
    assert {name for _, name in CASES} == set(REPRESENTATIONS)
    assert {name for presets in TRIED.values() for names in presets for name in names} == set(REPRESENTATIONS)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("given", INPUTS)
def test_presets_grow(given, preset):
    names = [r.name for r in representations(INPUTS[given], preset)]
    assert len(names) == 1 if preset == "quick" else len(names) >= 1
    more = [r.name for r in representations(INPUTS[given], "thorough")]
    assert more[: len(names)] == names


def content(X):
    """All that a value holds; of sparse matrices without the flags that SciPy sets when it is asked."""
    return pickle.dumps([X.data, X.indices, X.indptr] if issparse(X) else X)


@pytest.mark.parametrize("given", INPUTS)
def test_input_is_left_alone_and_a_second_fold_is_the_same(given):
    X = INPUTS[given]
    before = content(X)
    for representation in representations(X, "thorough"):
        prepared = representation.prepare(X)
        train, test = SPLITS["shuffled"]
        first, second = (prepared.fold(train, test, CODES[train]) for _ in range(2))
        for a, b in zip(first, second):
            np.testing.assert_array_equal(dense(a), dense(b))
    assert content(X) == before


@pytest.mark.parametrize(
    ("given", "kind"),
    [("float64", "numbers"), ("NaN", "numbers"), ("list", "numbers"), ("numeric pandas", "numbers"),
     ("numeric polars", "numbers"), ("CSR", "sparse"), ("CSC", "sparse"), ("pandas", "table"), ("polars", "table"),
     ("objects", "table"), ("array of objects", "table"), ("categories", "table"), ("nullable", "numbers"),
     ("texts", "texts"), ("array of texts", "texts"), ("missing texts", "texts"), ("series of texts", "texts"),
     ("polars series of texts", "texts"), ("column of texts", "texts"), ("polars column of texts", "texts")],
)  # fmt: skip
def test_kinds(given, kind):
    assert kind_of(INPUTS[given]) == kind


def names(X, preset):
    return [one.name for one in representations(X, preset)]


def test_sparse_numbers_are_scaled_and_counts_and_scaled_rows_are_not():
    rng = np.random.default_rng(0)
    rows = csr_matrix(rng.uniform(0.1, 1, (50, 8)) * (rng.random((50, 8)) < 0.7))
    words = random_sparse(60, 400, 0.03, random_state=0, format="csr")
    counts = words.copy()
    counts.data = np.ceil(5 * counts.data)
    for alike in (rows, -rows, words, counts, csr_matrix((5, 3)), rows > 0.5, counts.astype(np.int64)):
        assert names(alike, "quick") == ["as-is"], alike
        assert "as-is" in names(alike, "default")
    units = np.ones(8)
    units[2] = 1e-3
    for other in (
        rows * 300,
        rows @ diags(units, format="csr"),
        words * 7.5,
        counts * -1,
        counts[:, :100],
        rows.tocsc() * 2,
    ):
        assert names(other, "quick") == ["max-abs"]
        assert names(other, "default") == ["max-abs", "as-is"]
        assert issparse(
            representations(other, "quick")[0].prepare(other).fold(np.arange(40), np.arange(5))[0]
        )


@pytest.mark.parametrize("name", ["heart_scale", "a1a.gz"])
def test_libsvm_files_that_are_scaled_stay_so_and_others_are_scaled(shared_data, name):
    table = read(shared_data / "libsvm_format" / name)
    assert names(table.X, "quick") == ["as-is"]
    scales = 10.0 ** np.random.default_rng(0).integers(-3, 4, table.X.shape[1])
    assert names(table.X @ diags(scales, format="csr"), "quick") == ["max-abs"]


def test_one_column_of_few_strings_is_a_table():
    assert kind_of(pd.DataFrame({"color": ["red", "blue"] * 20})) == "table"
    assert kind_of(pd.DataFrame({"number": [str(i / 7) for i in range(200)]})) == "table"
    assert kind_of(pd.DataFrame({"x": [1.0, None]})) == "numbers"  # missing values are filled in
    assert kind_of(pd.DataFrame({"when": pd.date_range("2020", periods=3)})) == "table"


@pytest.mark.parametrize(
    "X", [np.arange(3.0), np.full((2, 2, 2), "x"), [1, 2, 3], np.array(5), "one text", 7, []]
)
def test_what_has_no_rows_and_columns_is_refused(X):
    with pytest.raises(ValueError, match="Rows must be numbers with rows and columns"):
        kind_of(X)


def test_images_are_rows_of_numbers():
    assert kind_of(np.zeros((5, 4, 4))) == kind_of(np.zeros((5, 4, 4, 3), np.uint8)) == "numbers"


def test_one_long_text_among_many_takes_no_room():
    """As an array of strings, these would be 40 GB."""
    texts = ["a short text"] * 10_000 + ["long " * 200_000]
    assert kind_of(texts) == "texts"
    assert [r.name for r in representations(texts, "quick")] == ["words"]


def test_unknown_preset():
    with pytest.raises(
        ValueError, match="Unknown preset 'slow': choose among 'quick', 'default', 'thorough'"
    ):
        representations(numbers(), "slow")


@pytest.mark.parametrize(
    "X", [pd.DataFrame([[1, "a"]], columns=["x", "x"]), pd.DataFrame([[1, 2]], columns=["x", "x"])]
)
def test_duplicate_column_names_are_refused(X):
    for call in (kind_of, representations, TableEncoder().fit, REPRESENTATIONS["as-is"].prepare):
        with pytest.raises(ValueError, match="Column names must differ, but 'x' occurs more than once"):
            call(X)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("f8", "f8"), ("f4", "f4"), ("f2", "f4"), ("u1", "f4"), ("?", "f4"), ("i8", "f4"), ("i2", "f4")],
)
def test_types_of_numbers(dtype, expected):
    X = np.array([[0, 1], [1, 1]], dtype=dtype)
    for X_ in (X, csr_matrix(X)) if dtype != "f2" else (X,):
        assert AsNumbers().fit_transform(X_).dtype == expected


def test_whole_numbers_that_float32_would_round_stay_exact():
    X = np.array([[2**24 + 1, 0], [1, 2]])
    train, test = REPRESENTATIONS["as-is"].prepare(X).fold(np.array([0]), np.array([1]))
    assert train.dtype == test.dtype == np.float64
    assert train[0, 0] == 2**24 + 1
    assert REPRESENTATIONS["as-is"].prepare(X).fold(np.array([1]), np.array([1]))[0].dtype == np.float32
    assert AsNumbers().fit_transform(np.array([[np.iinfo(np.int64).min]])).dtype == np.float64


def test_column_names_go_through_a_pipeline():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for representation in representations(X, "thorough"):
        model = make_pipeline(representation.transformer(), LogisticRegression()).fit(X, y)
        assert model.feature_names_in_.tolist() == list(X.columns)
        out = model[:-1].get_feature_names_out().tolist()
        assert list(dict.fromkeys(n.partition("_spline")[0] for n in out if " * " not in n)) == list(
            X.columns
        )
        assert model.score(X, y) > 0.8
        with pytest.raises(ValueError, match="feature names"):
            model.predict(X[X.columns[::-1]])


def test_table_encoder_by_hand():
    train = pd.DataFrame(
        {
            "size": [1.0, None, 3.0, 4.0],
            "color": ["red", None, " red ", "?"],
            "day": ["2024-02-29", "2024-03-01", None, "2024-03-03"],
            "gone": [None] * 4,
        }
    )
    encoder = TableEncoder("minmax")
    names = ["size", "size_nan", "color_red", "color_nan", "day_days", "day_days_nan", "day_month", "day_day"]
    out = encoder.fit_transform(train)
    assert encoder.get_feature_names_out().tolist() == [*names, "day_weekday"]
    np.testing.assert_allclose(out[:, 0], [0, 2 / 3, 2 / 3, 1], rtol=1e-6)
    np.testing.assert_array_equal(out[:, 1:4], [[0, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(
        out[:, 4], [0, 1 / 3, 1 / 3, 1], rtol=1e-6
    )  # the median day is the first of March
    np.testing.assert_array_equal(out[:, 5], [0, 0, 1, 0])
    assert out.dtype == np.float32


def test_dates_say_month_day_weekday_and_hour():
    """2024-02-29 was a Thursday; 1969 is before the epoch."""
    from nearline.representations._columns import read_strings
    from nearline.representations.codes import date_parts

    seconds = read_strings(
        ["2024-02-29 18:30", "1969-12-31T23:00", "2024/03/01", None, "2024-02-29T18:30+02:00"]
    ).seconds
    parts = date_parts(seconds)
    np.testing.assert_array_equal(parts["month"], [2, 12, 3, np.nan, 2])
    np.testing.assert_array_equal(parts["day"], [29, 31, 1, np.nan, 29])
    np.testing.assert_array_equal(parts["weekday"], [3, 2, 4, np.nan, 3])
    np.testing.assert_array_equal(parts["hour"], [18.5, 23, 0, np.nan, 16.5])


def test_pandas_and_polars_give_the_same_numbers():
    a = TableEncoder().fit_transform(mixed())
    b = TableEncoder().fit_transform(mixed(pl.DataFrame))
    np.testing.assert_array_equal(a, b)
    encoder = TableEncoder().fit(mixed())
    np.testing.assert_array_equal(encoder.transform(mixed(pl.DataFrame)), a)


def test_wide_tables_of_categories_are_sparse():
    out = TableEncoder().fit_transform(wide())
    assert issparse(out)
    assert out.shape[1] > 1000
    np.testing.assert_array_equal(np.diff(out.indptr), 60)


def test_columns_are_found_by_name_and_missing_ones_named():
    X = mixed()
    encoder = TableEncoder().fit(X)
    np.testing.assert_array_equal(encoder.transform(X[X.columns[::-1]].assign(more=1)), encoder.transform(X))
    with pytest.raises(ValueError, match=r"Columns 'color' are missing \(1 of 15\): give all columns"):
        encoder.transform(X.drop(columns="color"))


def test_arrays_are_read_by_place():
    X = mixed()[["whole", "color"]]
    encoder = TableEncoder().fit(X)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(encoder.transform(X.to_numpy()), encoder.transform(X))
    encoder = TableEncoder().fit(X.to_numpy())
    assert encoder.get_feature_names_out()[0] == "x0"
    with pytest.raises(ValueError, match="X has 1 features, but TableEncoder is expecting 2"):
        encoder.transform(X[["whole"]].to_numpy())
    assert TableEncoder().fit_transform(numbers()).shape == (N, 5)


def test_rows_that_come_as_strings_or_as_other_types_are_read_the_same():
    """At prediction time, numbers may come as strings (from a form or a CSV file), and the reverse."""
    encoder = TableEncoder().fit(pd.DataFrame({"x": [1.0, 2.0, 4.0], "c": ["1", "2", "b"]}))
    row = pd.DataFrame({"x": [2.0], "c": ["2"]})
    for other in ({"x": ["2"], "c": ["2"]}, {"x": [2], "c": [2]}, {"x": ["2.0"], "c": [2.0]}):
        np.testing.assert_array_equal(encoder.transform(pd.DataFrame(other)), encoder.transform(row))
        np.testing.assert_array_equal(encoder.transform(pl.DataFrame(other)), encoder.transform(row))
    nothing = encoder.transform(pl.DataFrame({"x": [None], "c": [None]}))
    np.testing.assert_array_equal(nothing, encoder.transform(pd.DataFrame({"x": [2.0], "c": ["z"]})))


def test_a_date_given_for_a_category_is_unknown():
    encoder = TableEncoder().fit(pd.DataFrame({"c": ["a", "b", "2020-01-01"]}))
    out = encoder.transform(pd.DataFrame({"c": pd.to_datetime(["2020-01-01", None])}))
    np.testing.assert_array_equal(out, [[1, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("scale", ["standard", "minmax", "quantile", "robust", "values", "splines"])
def test_huge_offsets_constants_and_outliers_are_harmless(scale):
    X = pd.DataFrame(
        {"far": 1e12 + np.arange(9.0), "same": [1e15 + 0.1] * 9, "out": [*range(8), 1e300], "c": ["a"] * 9}
    )
    out = TableEncoder(scale).fit_transform(X)
    assert np.isfinite(out).all()
    assert (np.diff(out[:, 0]) > 0).all()
    same = TableEncoder(scale).fit(X).get_feature_names_out().tolist().index("same")
    assert (out[:, same] == 0).all()


def test_quantiles_of_a_table_are_normal_ranks():
    X = pd.DataFrame(
        {"x": np.exp(np.random.default_rng(0).normal(size=2001) * 5), "c": ["a", "b", "b"] * 667}
    )
    out = TableEncoder("quantile").fit_transform(X)[:, 0]
    assert abs(out.mean()) < 0.01
    assert abs(out.std() - 1) < 0.01
    assert (np.argsort(out, kind="stable") == np.argsort(X["x"], kind="stable")).all()


def test_tables_that_cannot_be_read_are_refused():
    with pytest.raises(ValueError, match="Column 'x' has infinite values"):
        TableEncoder().fit(pd.DataFrame({"x": [1.0, np.inf], "c": ["a", "b"]}))
    with pytest.raises(ValueError, match="All values are missing in the training rows, 1 column:"):
        TableEncoder().fit(pd.DataFrame({"x": [None, None]}))
    with pytest.raises(
        ValueError, match="Unknown scale 'log': choose among 'standard', 'minmax', 'quantile'"
    ):
        TableEncoder("log").fit(mixed())
    with pytest.raises(ValueError, match="A table needs rows and columns, got an array of shape"):
        REPRESENTATIONS["table"].prepare(np.array(["a", "b"], dtype=object))


@parametrize_with_checks([AsNumbers(), NormalRanks(), TableEncoder()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_table_encoder_clones_pickles_and_sets_output():
    X = mixed()
    encoder = clone(TableEncoder("minmax")).set_output(transform="pandas").fit(X)
    frame = pickle.loads(pickle.dumps(encoder)).transform(X)
    assert frame.columns.tolist() == encoder.get_feature_names_out().tolist()
    np.testing.assert_array_equal(frame.to_numpy(), TableEncoder("minmax").fit_transform(X))


@pytest.mark.parametrize("min_df", [1, 2, 5])
@pytest.mark.parametrize("kind", [Words, Characters, WordPairs])
def test_texts_equal_scikit_learns_vectorizer(kind, min_df):
    """Same columns, in the same sorted order, and the same numbers."""
    texts, (train, test) = sentences(), SPLITS["the last rows"]
    tokens = {
        Words: {},
        Characters: {"analyzer": "char_wb", "ngram_range": (1, 5)},
        WordPairs: {"ngram_range": (1, 2), "token_pattern": r"\w+"},
    }[kind]
    peer = TfidfVectorizer(sublinear_tf=True, min_df=min_df, dtype=np.float32, **tokens)
    expected = peer.fit_transform([texts[i] for i in train]), peer.transform([texts[i] for i in test])
    got = kind(min_df=min_df).prepare(texts).fold(train, test)
    for mine, theirs in zip(got, expected):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine.toarray(), theirs.toarray(), rtol=1e-6, atol=0)
    names = kind(min_df=min_df).transformer().fit([texts[i] for i in train]).get_feature_names_out()
    assert names.tolist() == peer.get_feature_names_out().tolist() == sorted(peer.vocabulary_)


def slow_ratio(present, codes, token):
    """The largest |log-count ratio| of a token, by counting."""
    found = []
    for c in set(codes):
        own = [row for row, code in zip(present, codes) if code == c]
        others = [row for row, code in zip(present, codes) if code != c]
        share = sum(map(sum, own)) / sum(map(sum, present))
        p = (sum(row[token] for row in own) + 2 * share) / share
        q = (sum(row[token] for row in others) + 2 * (1 - share)) / (1 - share)
        found.append(abs(np.log(p / q)))
    return max(found)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_log_count_ratios_by_counting(n_classes):
    rng = np.random.default_rng(n_classes)
    present, codes = (rng.random((40, 12)) < 0.3).astype(int), rng.permutation(np.arange(40) % n_classes)
    expected = [slow_ratio(present.tolist(), codes.tolist(), j) for j in range(12)]
    np.testing.assert_allclose(log_count_ratios(csr_matrix(present), codes), expected, rtol=1e-12)
    twice = log_count_ratios(csr_matrix(present), (codes + 1) % n_classes)  # names of classes do not matter
    np.testing.assert_allclose(twice, expected, rtol=1e-12)


def test_two_equal_classes_have_the_ratios_of_counts_with_one_added():
    present = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 1, 1]])  # four tokens in either class
    p, q = present[:2].sum(axis=0) + 1, present[2:].sum(axis=0) + 1
    expected = np.abs(np.log(p / q))
    np.testing.assert_allclose(log_count_ratios(csr_matrix(present), np.array([0, 0, 1, 1])), expected)


def test_ratios_without_labels_are_refused():
    prepared = REPRESENTATIONS["word-pairs-ratios"].prepare(sentences())
    with pytest.raises(ValueError, match="give the classes of the training rows"):
        prepared.fold(TRAIN, np.array([50]))


def test_rare_words_are_left_out_of_large_collections():
    assert representations(["one two three"] * 999, "quick")[0].min_df == 1
    assert representations(["one two three"] * 1000, "quick")[0].min_df == 2
    pairs = REPRESENTATIONS["word-pairs-ratios"]
    assert pairs.adapted(["one two three"] * 1000).min_df == 1  # most pairs of short texts occur once
    assert pairs.adapted(["word " * 100] * 1000).min_df == 2


def test_short_strings_are_cut_into_characters_and_long_texts_into_words():
    def tried(text, preset):
        return [r.name for r in representations([text] * 5, preset)]

    assert representations(["Kowalski"], "quick")[0].longest == 5
    assert representations(["word " * 100], "thorough")[1].longest == 4
    assert tried("Kowalski", "quick") == ["characters"]
    assert tried("acgtacgt", "default") == ["characters", "subsequences"]
    assert tried("(S (NP a) (VP b))", "default") == ["words", "subset-trees"]
    assert tried("who was the first", "quick") == ["words"]
    pairs = ["word-pairs", "word-pairs-present", "word-pairs-ratios"]
    assert tried("who was the first", "default") == ["words", "characters", "words-and-runs"]
    assert tried("who was the first", "thorough") == ["words", "characters", "words-and-runs", *pairs]
    assert tried("word " * 100, "default") == ["words"]
    assert tried("word " * 100, "thorough") == ["words", "characters", *pairs]


@pytest.mark.parametrize("texts", [["", "", "", ""], ["cat", "dog", "cow", "hen"]])
def test_training_texts_without_tokens_are_refused(texts):
    with pytest.raises(ValueError, match="No token occurs in 2 or more of the 3 training texts"):
        Words(min_df=2).prepare(texts).fold(np.arange(3), np.array([3]))


def test_texts_that_are_no_list_of_strings_are_refused():
    with pytest.raises(
        ValueError, match="Texts must come as a list, one string a row, but got the single string"
    ):
        documents("one text")
    with pytest.raises(ValueError, match="Texts must be one column, got 2: a, b"):
        documents(pd.DataFrame({"a": ["x"], "b": ["y"]}))


def adult(folder):
    path = folder / "tabular_mixed" / "adult.data"
    if not path.exists():
        pytest.skip(f"the Adult table is not at {path}")
    return pl.read_csv(path, has_header=False).head(6000)[:, :-1]


def test_adult_as_pandas_and_polars(shared_data):
    X = adult(shared_data)
    frame = pd.DataFrame({name: X[name].to_list() for name in X.columns})
    train, test = np.split(np.random.default_rng(0).permutation(6000), [4800])
    codes = np.arange(4800) % 2
    for representation in representations(X, "thorough"):
        fitted = representation.transformer()
        got = representation.prepare(X).fold(train, test, codes)
        np.testing.assert_array_equal(got[0], fitted.fit_transform(frame.iloc[train], codes))
        np.testing.assert_array_equal(got[1], fitted.transform(frame.iloc[test]))


def test_a_table_of_texts_alone_has_the_features_of_its_texts_as_one():
    frame = written()[["title", "body"]]
    together = [
        f"{title} {body if isinstance(body, str) else ''}"
        for title, body in zip(frame["title"], frame["body"])
    ]
    train, test = SPLITS["shuffled"]
    (table,), (words,) = representations(frame, "quick"), representations(together, "quick")
    assert (table.name, table.texts) == ("table-words", ("title", "body"))
    for mine, theirs in zip(
        table.prepare(frame).fold(train, test), words.prepare(together).fold(train, test)
    ):
        np.testing.assert_array_equal(mine.toarray(), theirs.toarray())


def test_texts_beside_other_columns_are_both_sides_of_a_table():
    frame, (train, test) = written(), SPLITS["the last rows"]
    (table,) = representations(frame, "quick")
    got = table.prepare(frame).fold(train, test)
    others = TableEncoder().fit(frame.iloc[train][["size", "color"]])
    for mine, rows in zip(got, (train, test)):
        expected = others.transform(frame.iloc[rows])
        np.testing.assert_array_equal(mine.toarray()[:, : expected.shape[1]], expected)


def test_texts_that_are_no_columns_are_refused():
    with pytest.raises(
        ValueError, match=r"texts must name columns of the table, got \['none'\]; there are title, "
    ):
        TextTableEncoder(["none"]).fit(written())


def test_splines_equal_scikit_learns_on_the_same_knots():
    x = np.random.default_rng(0).lognormal(size=200)
    knots = np.sort(x)[np.linspace(0, 199, 6).astype(int)]
    peer = SplineTransformer(degree=3, knots=knots[:, None], extrapolation="constant").fit(x[:, None])
    encoder = TableEncoder("splines").fit(x[:, None])
    new = np.concatenate([x[:50], [-1.0, 0.0, 1e6]])[:, None]
    got = encoder.transform(new)
    inside = new[:50]
    # on equal end knots of its own, the peer spans the same functions: fits by either are the same
    mine, theirs = got[:50, 1:], peer.transform(inside)
    assert mine.shape == theirs.shape == (50, 8)
    found = np.linalg.lstsq(mine.astype(float), theirs, rcond=None)[0]
    np.testing.assert_allclose(mine @ found, theirs, atol=1e-4)
    np.testing.assert_allclose(got[:, 1:].sum(axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(got[-1, 1:], np.eye(8)[7])  # beyond the last knot: constant
    np.testing.assert_array_equal(got[-2, 1:], np.eye(8)[0])


def test_a_linear_model_bends_with_splines():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 2))
    y = (X**2).sum(axis=1) < 1.9
    straight, bent = (
        make_pipeline(TableEncoder(scale), LogisticRegression(alpha=1e-3))
        for scale in ("standard", "splines")
    )
    assert straight.fit(X, y).score(X, y) < 0.75
    assert bent.fit(X, y).score(X, y) > 0.97


def test_whole_numbers_of_few_values_are_categories():
    X = np.array([[3.0, 0.5], [1.0, 1.5], [7.0, 2.5], [np.nan, 3.5], [3.0, 4.5]] * 5)
    encoder = TableEncoder("values").fit(X)
    assert encoder.get_feature_names_out().tolist() == ["x0_1", "x0_3", "x0_7", "x0_nan", "x1"]
    np.testing.assert_array_equal(
        encoder.transform(np.array([[7.0, 2.5], [8.0, 2.5]])), [[0, 0, 1, 0, 0], [0] * 5]
    )
    for others in ([0.0, 1.0] * 9, [0.5, 1.5, 2.5] * 9, [1.0, 2.0, 3.0], [*range(13)] * 9):
        assert not REPRESENTATIONS["values"].suits(np.array(others)[:, None])
    assert REPRESENTATIONS["values"].suits(X)


def test_a_robust_scale_ignores_outliers():
    x = np.array([[1.0], [2.0], [3.0], [4.0], [1e9]])
    assert TableEncoder("robust").fit_transform(x).ravel().tolist()[:4] == [-1.0, -0.5, 0.0, 0.5]
    assert TableEncoder("robust").fit_transform(np.full((5, 1), 7.0)).tolist() == [[0.0]] * 5


def test_newsgroups(shared_data):
    path = shared_data / "newsgroups20" / "train.jsonl.gz"
    if not path.exists():
        pytest.skip(f"the 20 Newsgroups texts are not at {path}")
    with gzip.open(path, "rt") as lines:
        texts = [json.loads(line)["text"] for _, line in zip(range(1500), lines)]
    train, test = np.split(np.random.default_rng(0).permutation(1500), [1200])
    (words,) = representations(texts, "quick")
    fitted = words.transformer()
    expected = fitted.fit_transform([texts[i] for i in train]), fitted.transform([texts[i] for i in test])
    for mine, theirs in zip(words.prepare(texts).fold(train, test), expected):
        np.testing.assert_array_equal(mine.indptr, theirs.indptr)
        assert abs(mine - theirs).max() <= 1e-6


@pytest.mark.parametrize("sizes", [(3, 4), (1, 5), (2, 2)])
def test_runs_are_counted_as_scikit_learn_counts_them(sizes):
    from sklearn.feature_extraction.text import CountVectorizer

    from nearline.representations._runs import count_runs

    texts = ["Der Fluß FLOSS  ab\tund auf", "", "ΟΔΟΣ ΣΟΦΟΣ İx a", "a a a bb\u00a0bb", "x\x1cy \u2003 z"] * 3
    counter = CountVectorizer(analyzer="char_wb", ngram_range=sizes)
    expected = counter.fit_transform(texts)
    counts, runs = count_runs(texts, *sizes)
    np.testing.assert_array_equal(counts.toarray(), expected.toarray())
    assert runs.tolist() == counter.get_feature_names_out().tolist()
    nothing, none = count_runs(["", " "], *sizes)
    assert (nothing.shape, nothing.nnz, none.tolist()) == ((2, 1), 0, [""])


def test_texts_of_a_table_are_counted_once_for_all_scales(monkeypatch):
    from nearline.representations import _columns
    from nearline.representations import codes as _codes

    frame = pd.DataFrame({"text": [f"word{i} and word{i % 7}" for i in range(300)], "size": np.arange(300.0)})
    counted, learned = [], []
    count, learn = _columns.count_runs, _codes.randomized_svd
    monkeypatch.setattr(_columns, "count_runs", lambda *a: counted.append(1) or count(*a))
    monkeypatch.setattr(_codes, "randomized_svd", lambda *a, **k: learned.append(1) or learn(*a, **k))
    ways = [REPRESENTATIONS[name] for name in ("table", "table-minmax", "table-quantile")]
    assert len({way.reading for way in ways}) == 1
    read = ways[0].read(frame)
    train, test = np.arange(200), np.arange(200, 300)
    shared = [way.prepared(read).fold(train, test) for way in ways]
    assert (len(counted), len(learned)) == (1, 1)
    for way, rows in zip(ways, shared, strict=True):
        for one, alone in zip(rows, way.prepare(frame).fold(train, test), strict=True):
            np.testing.assert_array_equal(one, alone)
    before = len(counted)
    TableEncoder().fit_transform(frame)
    assert len(counted) == before + 1


@pytest.mark.parametrize(
    "kind", ["polars", "polars categories", "pandas", "pandas objects", "pandas categories"]
)
def test_strings_of_a_frame_are_read_as_those_of_a_list(kind):
    """By the frame's own library, spaces, missing values and what stands for them alike."""
    import polars as pl

    from nearline.representations._columns import read_series, read_strings

    values = [" red ", "blue", None, "red", "None", "NA", "00501", "2024-01-02", "\u00e4", "", "blue"]
    series = {
        "polars": lambda: pl.Series(values),
        "polars categories": lambda: pl.Series(values).cast(pl.Categorical),
        "pandas": lambda: pd.Series(values),
        "pandas objects": lambda: pd.Series(values, dtype=object),
        "pandas categories": lambda: pd.Series(values).astype("category"),
    }[kind]()
    found, plain = read_series(series), read_strings(values)
    assert found.distinct.values == plain.distinct.values == ["00501", "2024-01-02", "blue", "red", "\u00e4"]
    np.testing.assert_array_equal(found.codes, plain.codes)


def test_equal_values_of_other_types_are_other_strings():
    from nearline.representations._columns import read_series

    found = read_series(pd.Series([1, 1.0, True, "1", None], dtype=object))
    assert [found.distinct.values[code] for code in found.codes[:4]] == ["1", "1.0", "True", "1"]
    assert found.codes[4] == -1
