"""What a contest is told by records: Holdout for the test, Split for the division of the rows."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from nearline import Holdout, ParameterError, Split, TryThemAll
from nearline._records.refused import OPTIONS, check_choice
from nearline._records.words import at_the_command_line
from nearline.cli._app import app
from nearline.selection.locked_test import as_holdout
from nearline.selection.splits import as_split

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)


def fitted(**options):
    return TryThemAll("quick", include="nearest centroid", progress="silent", **options).fit(X, Y)


def test_short_forms_mean_the_records():
    assert as_holdout(0.3) == Holdout(0.3)
    assert as_holdout(None) is None
    assert as_split("time", 4) == Split("time", folds=4)
    assert as_split("auto") == Split()
    short, long = fitted(folds=3, test=0.25), fitted(split=Split(folds=3), test=Holdout(0.25))
    assert short.leaderboard_.mean(short.best_) == long.leaderboard_.mean(long.best_)
    np.testing.assert_array_equal(short.test_rows_, long.test_rows_)
    assert str(short.open_test()) == str(long.open_test())


def test_what_would_be_ignored_is_refused():
    with pytest.raises(
        ParameterError, match=r"folds must be None beside a Split, got 3: give Split\(folds=3\)"
    ):
        fitted(folds=3, split=Split("stratified"))
    with pytest.raises(ParameterError, match="refit must be 'train' with test rows of your own, got 'all'"):
        Holdout((X, Y), refit="all")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Holdout("half"), r"test must be a share of the rows, .*, got 'half'"),
        (lambda: Holdout(True), r"test must be a share of the rows, .*, got True"),
        (lambda: Holdout(refit="never"), r"refit must be 'train' or 'all', got 'never'"),
        (
            lambda: Split("alphabet"),
            r"by must be 'auto' or 'stratified' or 'group' or 'time', got 'alphabet'",
        ),
        (lambda: Split(nested="yes"), r"nested must be True or False, got 'yes'"),
        (lambda: fitted(split=np.arange(3)), r"split must be 'auto', .* or a Split, got array"),
        (lambda: fitted(test=1.5), r"test must be a share of the rows between 0 and 1, got 1.5"),
        (lambda: fitted(choose=np.array(["best"])), r"choose must be 'best' or 'one-se', got array"),
    ],
)
def test_wrong_records_are_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


@pytest.mark.parametrize(
    ("name", "now"),
    [("nested", r"split=Split\(nested=True\)"), ("refit", r"test=Holdout\(0.2, refit='all'\)")],
)
def test_earlier_parameters_are_refused_with_the_new_way(name, now):
    with pytest.raises(TypeError, match=f"TryThemAll has no parameter '{name}'. Here it is: {now}"):
        TryThemAll(**{name: True})


def test_records_are_parameters():
    contest = TryThemAll(split=Split(folds=3), test=Holdout(0.25))
    assert contest.get_params()["split__folds"] == 3
    other = clone(contest).set_params(split__nested=True, test__refit="all")
    assert (other.split, other.test) == (Split(folds=3, nested=True), Holdout(0.25, "all"))
    assert contest.split == Split(folds=3)
    assert repr(Holdout((X, Y))) == "Holdout((X_test, y_test))"


def test_openings_go_on_counting_after_a_fit_without_test_rows():
    contest = fitted()
    contest.open_test()
    contest.set_params(test=None).fit(X, Y)
    assert (contest.openings_, contest.test_rows_) == (0, None)
    assert contest.set_params(test=0.2).fit(X, Y).open_test().openings == 2


def test_an_error_is_data_and_a_sentence_in_the_readers_words():
    error = ParameterError("time_limit", -1, "a number of seconds > 0", "leave it out")
    assert (error.parameter, error.found, error.remedy) == ("time_limit", -1, "leave it out")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.allowed) == (str(error), error.allowed)
    with at_the_command_line():
        assert str(ParameterError("pos_label", 3, "a class")) == "--positive must be a class, got 3."
        assert str(ParameterError("gamma", 3, "small")) == "gamma must be small, got 3."
    with pytest.raises(ParameterError, match=r"number must be 1 or 2, got '1'"):
        check_choice("number", "1", (1, 2))


def test_options_named_in_errors_exist():
    import typer

    command = typer.main.get_command(app)
    there = {name for one in command.commands.values() for option in one.params for name in option.opts}
    assert set(OPTIONS.values()) <= there
