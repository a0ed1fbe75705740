"""Pipelines of the user's: they get the rows as they came, on the folds of the contest, and compete with all others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from nearline import TryThemAll

FEW = {"preset": "quick", "include": "nearest centroid", "progress": "silent", "folds": 3}


def table(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=n), "color": rng.choice(["red", "blue", "gray"], n)})
    return frame, ((frame["size"] > 0) ^ (frame["color"] == "red")).astype(int).to_numpy()


def columns():
    """Finds its columns by name."""
    return make_pipeline(
        make_column_transformer(
            (StandardScaler(), ["size"]), (OneHotEncoder(handle_unknown="ignore"), ["color"])
        ),
        LogisticRegression(),
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_on_a_frame_scores_are_those_of_the_pipeline_alone(library):
    frame, y = table()
    given = frame if library == "pandas" else pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    contest = TryThemAll(**FEW, own={"mine": columns()}).fit(given, y)
    entry = next(entry for entry in contest.leaderboard_ if entry.family == "mine")
    assert entry.representation == "as given"
    rows, labels, _ = contest.training_part()
    rows = rows if library == "pandas" else rows.to_pandas()
    for f, (train, test) in enumerate(contest._folds):
        alone = columns().fit(rows.iloc[train], labels[train])
        assert entry.scores["accuracy"][f] == alone.score(rows.iloc[test], labels[test])


def test_it_can_win_and_predicts():
    frame, y = table()
    contest = TryThemAll(**FEW | {"include": "mine"}, own={"mine": columns()}).fit(frame, y)
    assert contest.chosen_.family == "mine"
    rows, labels, _ = contest.training_part()
    np.testing.assert_array_equal(contest.predict(frame), columns().fit(rows, labels).predict(frame))
    assert contest.open_test().n_rows == 24


def test_a_frame_of_numbers_keeps_the_names_of_its_columns():
    frame, y = table()
    numbers = frame.assign(color=frame["color"].map({"red": 0, "blue": 1, "gray": 2}))
    contest = TryThemAll(**FEW, own={"mine": columns()}).fit(numbers, y)
    assert "mine" in {entry.family for entry in contest.leaderboard_}
    alone = TryThemAll(**FEW | {"include": "mine"}, own={"mine": columns()}).fit(numbers, y)
    assert len(alone.predict(numbers[["color", "size"]])) == len(y)  # by name


def test_texts():
    texts = [f"{word} day {number}" for number in range(30) for word in ("good", "bad")]
    mine = make_pipeline(CountVectorizer(), MultinomialNB())
    contest = TryThemAll(**FEW | {"include": "mine"}, own={"mine": mine}).fit(texts, [0, 1] * 30)
    assert contest.predict(["good one", "bad one"]).tolist() == [0, 1]


def test_other_models_get_numbers_as_before():
    contest = TryThemAll(**FEW, own={"mine": LogisticRegression()}).fit(*table())
    assert {entry.representation for entry in contest.leaderboard_ if entry.family == "mine"} == {"table"}


def test_a_pipeline_that_fails_is_skipped_with_its_reason():
    broken = make_pipeline(make_column_transformer((StandardScaler(), ["weight"])), LogisticRegression())
    contest = TryThemAll(**FEW, own={"mine": broken}).fit(*table())
    (skipped,) = [one for one in contest.leaderboard_.skipped if one.family == "mine"]
    assert "weight" in skipped.reason or "column" in skipped.reason
