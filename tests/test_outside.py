"""The outside reference: boosted trees on the folds of a contest, in whose choice they have no part."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier

from nearline import ParameterError, Split, TryThemAll, num_threads
from nearline.cli._run import run
from nearline.cli._settings import weights_in
from nearline.representations.tree_columns import MOST_CATEGORIES, TreeColumns
from nearline.selection import outside
from nearline.selection.families import boosted
from nearline.selection.outside import CALLED

X, Y = load_iris(return_X_y=True)
FEW = {"include": ["nearest centroid", "naive Bayes, Gaussian"], "progress": "silent", "folds": 3}


def exclusive_or(n=400):
    """Of two signs, which no linear model sees."""
    rows = np.random.default_rng(0).normal(size=(n, 2))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    labels[::40] = 1 - labels[::40]  # without a mistake it would be a leak
    return rows, labels


@pytest.fixture(scope="module")
def beaten():
    return TryThemAll(**FEW).fit(*exclusive_or())


def test_a_better_kind_is_said_and_not_chosen(beaten):
    found = beaten.leaderboard_.outside
    assert found.verdict == "better"
    assert found.own > found.chosen + 0.2
    assert CALLED in str(beaten.leaderboard_)
    assert "BETTER" in str(beaten.leaderboard_)
    assert "boosted trees" not in {entry.family for entry in beaten.leaderboard_}
    assert beaten.chosen_.family in FEW["include"]


def test_its_scores_are_those_of_scikit_learn_on_the_same_folds(beaten):
    rows, y, _ = beaten.training_part()
    for f, (train, test) in enumerate(beaten._folds):
        model = HistGradientBoostingClassifier(random_state=0).fit(rows[train], y[train])
        assert beaten.leaderboard_.outside.entry.scores["accuracy"][f] == model.score(rows[test], y[test])


def test_not_better_is_said_too():
    alike = TryThemAll(**FEW).fit(X, Y).leaderboard_.outside
    assert alike.verdict == "alike"
    assert "not distinguishable" in str(alike)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 300)
    rows = rng.normal(size=(600, 40)) + 0.35 * y[:, None]
    worse = TryThemAll(**FEW).fit(rows, y).leaderboard_.outside
    assert worse.verdict == "worse"
    assert "worse than the chosen model" in str(worse)


def test_a_score_that_is_undefined_is_compared_with_nothing():
    rows, y = exclusive_or(60)
    y = np.where(np.arange(60) == 0, 2, y)  # on two folds there is no row of the third class
    with pytest.warns(UserWarning, match="least populated|fewer|class"):
        contest = TryThemAll(**FEW, scoring=["accuracy", "auc"], test=None).fit(rows, y)
    assert contest.leaderboard_.outside.entry is not None


@pytest.mark.parametrize("options", [{"preset": "quick"}, {"beside": None}, {"beside": ()}])
def test_it_can_be_left_out(options):
    assert TryThemAll(**FEW | options).fit(X, Y).leaderboard_.outside is None


def test_quick_can_ask_for_it():
    assert TryThemAll("quick", **FEW, beside="reference").fit(X, Y).leaderboard_.outside.entry is not None


def test_an_unknown_name_is_refused():
    with pytest.raises(ParameterError, match="beside must be"):
        TryThemAll(beside="trees").fit(X, Y)


def test_texts_have_none_and_the_reason_is_said():
    texts = [f"{word} day {number}" for number in range(20) for word in ("good", "bad")]
    found = TryThemAll(**FEW).fit(texts, [0, 1] * 20).leaderboard_.outside
    assert found.entry is None
    assert "numbers, dates and categories" in str(found)


def test_a_fit_that_would_be_too_long_is_not_made(monkeypatch):
    monkeypatch.setattr(boosted, "DOUBT", 0.0)
    found = TryThemAll(**FEW).fit(X, Y).leaderboard_.outside
    assert found.entry is None
    assert "a fold would take about" in str(found)


def test_without_time_it_is_not_begun(monkeypatch):
    monkeypatch.setattr(outside, "TreeColumns", None)
    assert "no time is left" in str(outside.outside_reference(None, None, None, 0.0))


def test_threads_and_journal_change_no_bit(beaten, tmp_path):
    path = tmp_path / "journal"
    with num_threads(1):
        first = TryThemAll(**FEW, journal=path).fit(*exclusive_or())
    kept = path.read_bytes()
    again = TryThemAll(**FEW, journal=path).fit(*exclusive_or())
    for other in (first, again):
        one, two = other.leaderboard_.outside.entry, beaten.leaderboard_.outside.entry
        np.testing.assert_array_equal(one.scores["accuracy"], two.scores["accuracy"])
        np.testing.assert_array_equal(one.correct, two.correct)
    assert path.read_bytes() == kept  # and the trees were not fitted again


def test_columns_of_a_table():
    many = [f"c{i}" for i in range(400)] * 3
    frame = pd.DataFrame(
        {
            "number": [np.nan, 2.0] * 600,
            "color": ["red", None, "blue", "red"] * 300,
            "day": pd.date_range("2024-01-01", periods=1200),
            "nothing": [None] * 1200,
            "many": pd.Categorical(many),
        }
    )
    found = TreeColumns.of(frame)
    assert np.isnan(found.X[0, 0])
    assert found.categories[0] == 1
    np.testing.assert_array_equal(found.X[:4, 1], [0.0, np.nan, 1.0, 0.0])
    assert np.nanmax(found.X[:, list(found.categories)]) <= MOST_CATEGORIES
    assert found.X.shape == (1200, 3 + (len(found.categories) > 1))


# -- the command line ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "flowers.csv"
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = np.array(["setosa", "versicolor", "virginica"])[Y]
    frame.to_csv(path, index=False)
    return str(path)


def tried(table, out, *options):
    few = ["--include", "nearest centroid", "--folds", "3", "--json"]
    assert run(["try", table, "-t", "kind", "--out", str(out), *few, *options]) == 0
    return json.loads((out / "result.json").read_text())


def test_options_of_the_choice(table, tmp_path):
    found = tried(
        table, tmp_path / "a", "--choose", "one-se", "--calibrate", "sigmoid", "--nested", "--no-reference", "--refit",
        "all", "--class-weight", "setosa=2,versicolor=1,virginica=1",
    )  # fmt: skip
    assert found["reference"] is None
    assert found["calibration"] == "sigmoid"
    assert len(found["nested"]["accuracy"]) == 3
    page = (tmp_path / "a" / "report.html").read_text()
    assert "Nested cross-validation" in page


def test_the_reference_is_in_files_and_report(table, tmp_path):
    found = tried(table, tmp_path / "a", "--reference", "--preset", "quick")
    assert found["reference"]["verdict"] in ("better", "alike", "worse")
    page = (tmp_path / "a" / "report.html").read_text()
    assert CALLED in page
    assert "boosted trees" not in (tmp_path / "a" / "leaderboard.csv").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--class-weight", "rose=2"], "no class is called 'rose'; the classes are setosa"),
        (["--class-weight", "setosa"], "LABEL=WEIGHT"),
        (["--class-weight", "setosa=-1"], "weights >= 0"),
        (["--choose", "worst"], "--choose must be 'best' or 'one-se', got 'worst'"),
        (["--calibrate", "magic"], "--calibrate must be"),
        (["--refit", "none"], "--refit must be 'train' or 'all', got 'none'"),
    ],
)
def test_options_that_cannot_be(table, tmp_path, capsys, options, said):
    assert run(["try", table, "-t", "kind", "--out", str(tmp_path / "o"), *options]) != 0
    assert said in capsys.readouterr().err


def test_weights_of_numbers_as_labels():
    assert weights_in("0=1,1=2.5", np.array([0, 1])) == {0: 1.0, 1: 2.5}
    assert weights_in("balanced", Y) == "balanced"


def test_nested_procedures_have_no_reference_of_their_own(monkeypatch):
    seen = []
    ask = outside.outside_reference
    monkeypatch.setattr(
        "nearline.selection.try_all.outside_reference", lambda *parts: seen.append(1) or ask(*parts)
    )
    TryThemAll(**{**FEW, "folds": None}, split=Split(folds=3, nested=True)).fit(X, Y)
    assert len(seen) == 1
