"""Tables in blocks: what is fitted to a sample and corrected by sums is what a fit to all rows in memory gives."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nearline import TryThemAll, load, save
from nearline.representations import REPRESENTATIONS
from nearline.representations.numbers import MaxAbs, Standardized
from nearline.representations.seen import Moments, Seen, commonest, together

N = 600


def table():
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], N)
    color[-5:] = "rare"  # in the last block alone
    frame = pd.DataFrame(
        {
            "size": rng.normal(5.0, 3.0, N),
            "color": pd.Series(color, dtype=object),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, N), unit="D"),
            "number": rng.integers(0, 90, N).astype(str),
        }
    )
    frame.loc[rng.random(N) < 0.1, "color"] = None
    y = np.where((frame["size"] > 5) ^ (frame["color"] == "red"), "yes", "no")
    return frame, y


def texts():
    rng = np.random.default_rng(1)
    words = np.array(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
    said = [" ".join(rng.choice(words, 6)) + f" word{i}" for i in range(N)]
    y = np.array(["nine" if "nine" in text else "none" for text in said])
    return pd.DataFrame({"said": said, "size": rng.normal(size=N)}), y


def same(one, other, rows):
    assert one.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    a, b = one.transform(rows), other.transform(rows)
    a, b = (X.toarray() if hasattr(X, "toarray") else X for X in (a, b))
    np.testing.assert_allclose(a, b, atol=2e-5)


@pytest.mark.parametrize("name", ["table", "table-minmax"])
def test_a_table_fitted_to_a_sample_and_corrected_is_the_table_of_all_rows(name):
    frame, _ = table()
    representation = REPRESENTATIONS[name]
    parts = [Seen.of(frame.iloc[i : i + 170]) for i in range(0, N, 170)]
    sample = representation.transformer().fit(frame.iloc[:300])
    corrected = representation.corrected(sample, together(parts))
    assert "color_rare" not in sample.names
    same(corrected, representation.transformer().fit(frame), frame)


def test_words_are_those_of_all_rows():
    frame, _ = texts()
    representation = REPRESENTATIONS["table-words"].adapted(frame)
    names = representation.counted(frame)
    assert names == ("said",)
    parts = [Seen.of(frame.iloc[i : i + 250], names) for i in range(0, N, 250)]
    corrected = representation.corrected(representation.transformer().fit(frame.iloc[:100]), together(parts))
    same(corrected, representation.transformer().fit(frame), frame)


@pytest.mark.parametrize("missing", [False, True])
def test_numbers_are_scaled_as_all_rows_say(missing):
    X = np.random.default_rng(2).normal(size=(200, 3)) * [1.0, 100.0, 0.0]
    if missing:
        X[::7, 1] = np.nan
        X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, 4.0)  # its median does not depend on the sample
    one = Standardized().adapted(X)
    seen = together([Seen.of(X[:50]), Seen.of(X[50:])])
    again = one.corrected(one.transformer().fit(X[:100]), seen)
    np.testing.assert_allclose(again.transform(X), one.transformer().fit(X).transform(X), atol=1e-9)


def test_sparse_rows_by_their_ends():
    from scipy.sparse import random

    X = random(60, 5, 0.2, format="csr", random_state=0)
    seen = together([Seen.of(X[:20]), Seen.of(X[20:])])
    again = MaxAbs().corrected(MaxAbs().transformer().fit(X[:10]), seen)
    np.testing.assert_allclose(
        again.transform(X).toarray(), MaxAbs().transformer().fit(X).transform(X).toarray(), rtol=1e-12
    )


@given(arrays(np.float64, (12, 2), elements=st.floats(-1e6, 1e6) | st.just(np.nan)), st.integers(0, 12))
def test_moments_add_up(X, cut):
    whole, parts = Moments.of(X), Moments.of(X[:cut]) + Moments.of(X[cut:])
    for name in ("n", "mean", "low", "high", "missing"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-6)
    np.testing.assert_allclose(parts.squares, whole.squares, rtol=1e-6, atol=1e-3)


def test_the_commonest_strings_are_kept():
    from collections import Counter

    assert commonest(Counter("aabbbc"), 2) == {"b": 3, "a": 2}


@pytest.mark.parametrize("made", [table, texts])
def test_a_contest_on_a_table_in_blocks(made, tmp_path):
    frame, y = made()
    blocks = dd.from_pandas(frame.assign(label=y), npartitions=4)
    contest = TryThemAll(
        "quick", include=["logistic", "centroid", "majority", "kernel SVM"], folds=2, progress="silent"
    )
    contest.fit(blocks[list(frame.columns)], blocks["label"])
    assert {"logistic, L2", "nearest centroid"} <= {one.family for one in contest.leaderboard_}
    assert contest.open_test().scores["accuracy"] > 0.7
    assert contest.feature_names_in_.tolist() == frame.columns.tolist()
    save(contest.model_, tmp_path / "model.nearline")
    told = load(tmp_path / "model.nearline").predict(frame)
    assert told.tolist() == contest.predict(frame).tolist()
    assert told.tolist() == contest.predict(blocks[list(frame.columns)]).compute().tolist()


def test_categories_of_one_block_have_columns():
    frame, y = table()
    blocks = dd.from_pandas(frame.assign(label=y), npartitions=6)
    contest = TryThemAll("quick", include=["logistic"], folds=2, test=None, progress="silent")
    contest.fit(blocks[list(frame.columns)], blocks["label"])
    assert "color_rare" in contest.model_.steps[0][1].names


def test_missing_numbers_in_blocks():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    y = (frame["a"] + 0.3 * rng.normal(size=300) > 0).astype(int)
    frame.loc[::5, "b"] = np.nan
    blocks = dd.from_pandas(frame.assign(label=y), npartitions=3)
    contest = TryThemAll("quick", include=["logistic"], folds=2, progress="silent")
    contest.fit(blocks[["a", "b"]], blocks["label"])
    assert contest.open_test().scores["accuracy"] > 0.75
