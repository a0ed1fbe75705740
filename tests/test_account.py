"""Fair charging: every second is charged once, what candidates share is named, and the parts add up to the whole."""

import threading

import numpy as np
import pytest
from sklearn.datasets import load_iris

from nearline import TryThemAll
from nearline.selection.account import REST, Account
from nearline.selection.families import FAMILIES, Fold

X, Y = load_iris(return_X_y=True)


def ticking():
    """A clock that is a second later whenever somebody looks at it."""
    now = iter(range(1000))
    return lambda: float(next(now))


def test_who_is_inside_pays_and_nobody_pays_twice():
    account = Account(ticking())
    with account.charge("a"), account.charge("b"):
        pass
    account.close()
    assert account.spent == {REST: 2.0, "a": 2.0, "b": 1.0}
    assert account.total == 5.0


def test_a_failure_is_paid_for():
    account = Account(ticking())
    with pytest.raises(ValueError, match="late"), account.charge("a"):
        raise ValueError("late")
    account.close()
    assert account.spent == {REST: 2.0, "a": 1.0}


def test_threads_that_help_do_not_pay():
    account = Account(ticking())

    def helping():
        with account.charge("helper"):
            pass

    with account.charge("a"):
        helper = threading.Thread(target=helping)
        helper.start()
        helper.join()
    assert account.spent == {REST: 1.0, "a": 1.0}


def test_work_on_several_threads_is_counted_in_proportion():
    account = Account(ticking())
    account.share("a", 3.0, {"search": 4.0}, own=2.0)
    account.share("a", 1.0, {"search": 0.0}, own=0.0 + 1.0)
    assert account.shared == {"a": {"search": 2.0}}


def test_work_that_takes_no_time_at_all():
    account = Account(ticking())
    account.share("a", 0.0, {"search": 0.0}, own=0.0)
    assert account.shared["a"]["search"] == 0.0


@pytest.fixture(scope="module")
def contest():
    few = ["k-NN, L2", "kernel SVM", "least squares", "nearest centroid"]
    return TryThemAll(include=few, folds=3, progress="silent", beside=None).fit(X, Y)


def test_the_parts_of_a_contest_add_up(contest):
    account = contest.leaderboard_.account
    assert sum(one["seconds"] for one in account.records()) == pytest.approx(account.total)
    assert {"checks", "the last fit", REST} <= set(account.spent)
    assert {entry.family for entry in contest.leaderboard_} <= set(account.spent)
    assert "each second charged once" in str(contest.leaderboard_)


def test_shared_work_is_named_and_within_what_its_family_paid(contest):
    account = contest.leaderboard_.account
    assert set(account.shared["k-NN, L2"]) == {"index", "search"}
    assert set(account.shared["kernel SVM"]) == {"Gram matrices"}
    assert set(account.shared["least squares"]) == {"factorization"}
    assert account.shared["nearest centroid"] == {}
    for family, shared in account.shared.items():
        assert sum(shared.values()) <= account.spent[family]


def test_candidates_of_one_search_share_it():
    """The search is one piece of work of a fold, whoever needs it: not one for each k."""
    fold = Fold(X[::2], Y[::2], None, X[1::2], np.unique(Y))
    family = FAMILIES["k-NN, L2"]
    found = list(family.outcomes(fold, family.grid(fold, "default")))
    assert len(found) > 10
    assert len({one.shared for one in found}) == 1


def test_a_line_of_the_leaderboard_has_what_its_candidate_would_take_alone(contest):
    """With the search that it shares: a model of k neighbors cannot predict without."""
    entry = next(entry for entry in contest.leaderboard_ if entry.family == "k-NN, L2")
    assert entry.predict_seconds > 0
    assert entry.fit_seconds > 0
