"""TryThemAll over rows in blocks: the same rows are left out whatever the blocks, and what comes out is ordinary."""

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearline import LinearDiscriminantAnalysis, Split, TryThemAll, load, save
from nearline.selection.hashed import Parts, uniform

N = 900
CHOSEN = (
    "majority",
    "nearest centroid",
    "least squares",
    "k-NN, L2",
    "kernel SVM",
    "low-rank",
    "multinomial",
)


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)) * [1.0, 10.0, 1.0, 1.0]
    return X, np.where(X[:, 0] + X[:, 2] + rng.normal(size=N) > 0, "yes", "no")


def trial(chunks):
    X, y = rows()
    contest = TryThemAll("quick", include=CHOSEN, folds=2, progress="silent")
    return contest.fit(da.from_array(X, chunks=(chunks, 4)), da.from_array(y, chunks=100))


def test_a_contest_over_blocks(tmp_path):
    X, _ = rows()
    contest, other = trial(400), trial(350)
    names = {entry.family for entry in contest.leaderboard_}
    assert {"nearest centroid", "k-NN, L2", "majority"} <= names
    for a, b in zip(contest.leaderboard_, other.leaderboard_):
        assert str(a) == str(b)
        np.testing.assert_allclose(a.scores["accuracy"], b.scores["accuracy"], atol=0.01)
    reasons = {one.family: one.reason for one in contest.leaderboard_.skipped}
    assert reasons["kernel SVM"] == "it needs all rows at once, and these are in blocks"
    assert "negative numbers" in reasons["naive Bayes, multinomial"]
    test = contest.open_test()
    assert test.n_rows == len(contest.test_rows_)
    assert test.n_rows + test.n_training_rows == N
    assert abs(test.scores["accuracy"] - test.cross_validation["accuracy"]) < 0.15
    np.testing.assert_array_equal(contest.test_rows_, other.test_rows_)
    save(contest.model_, tmp_path / "model.nearline")
    assert load(tmp_path / "model.nearline").predict(X).tolist() == contest.predict(X).tolist()


def test_the_winner_learned_from_all_training_rows():
    X, y = rows()
    contest = TryThemAll("quick", include=["discriminant"], folds=2, progress="silent")
    contest.fit(da.from_array(X, chunks=(300, 4)), y)
    model = contest.model_.steps[-1][1]
    rest = np.setdiff1d(np.arange(N), contest.test_rows_)
    shown = contest.model_.steps[0][1].transform(X)
    again = LinearDiscriminantAnalysis(**contest.chosen_.parameters).fit(shown[rest], y[rest])
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"split": "time"}, "split='time'"),
        ({"test": (np.zeros((1, 4)), ["yes"])}, "test, unless"),
        ({"split": Split(nested=True)}, "nested"),
        ({"time_limit": 5.0}, "time_limit"),
        ({"calibrate": "isotonic"}, "calibrate"),
    ],
)
def test_what_it_does_not_take_over_blocks(options, sentence):
    X, y = rows()
    with pytest.raises(ValueError, match=f"does not take {sentence}"):
        TryThemAll(**options).fit(da.from_array(X, chunks=(300, 4)), y)


@given(st.integers(0, 10**12), st.integers(1, 500), st.integers(2, 10), st.integers(0, 5))
def test_parts_depend_on_row_numbers_alone(first, size, n_folds, seed):
    parts, numbers = Parts(0.2, n_folds, seed), np.arange(first, first + size)
    folds = parts(numbers)
    assert np.array_equal(folds, np.concatenate([parts(numbers[:7]), parts(numbers[7:])]))
    assert set(folds) <= set(range(-1, n_folds))


def test_hashes_look_like_chance():
    u = uniform(np.arange(100_000), 3)
    assert abs(u.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.02
    assert abs(np.corrcoef(u, uniform(np.arange(100_000), 3, 1))[0, 1]) < 0.02
    counts = np.bincount(Parts(0.2, 5, 0)(np.arange(100_000)) + 1)
    assert np.allclose(counts, [20_000, *[16_000] * 5], rtol=0.05)
