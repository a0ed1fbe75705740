"""One parser of folds for everyone: what is understood, what is refused, and that all who take folds draw the same."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit

from nearline import (
    KernelSVM,
    KNeighborsClassifier,
    LeakageWarning,
    LogisticRegression,
    cross_validate,
    kernel_scores,
    path_scores,
    sweep,
)
from nearline.kernels import RBF
from nearline.selection.folds import Folds, as_folds

X, y = load_iris(return_X_y=True)
X, y = X[::2], y[::2]
n = len(y)
GROUPS = np.arange(n) % 7
PAIRS = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
TAKERS = {
    "sweep": lambda X, y, **how: sweep(X, y, ks=[3], **how).scores[0, 0, 0],
    "path_scores": lambda X, y, **how: path_scores(LogisticRegression(), X, y, [0.01], **how).scores[0],
    "kernel_scores": lambda X, y, **how: kernel_scores(KernelSVM(), X, y, [RBF(0.5)], [1e-2], **how).scores[
        0, 0
    ],
    "cross_validate": lambda X, y, **how: cross_validate(KNeighborsClassifier(3), X, y, **how).scores[
        "accuracy"
    ],
}
GIVEN = {
    "a number": {"folds": 3},
    "pairs": {"folds": PAIRS},
    "masks": {"folds": [(~np.isin(np.arange(n), test), np.isin(np.arange(n), test)) for _, test in PAIRS]},
    "fold numbers": {"folds": np.arange(n) % 4},
    "a list of fold numbers": {"folds": (np.arange(n) % 4).tolist()},
    "a splitter": {"folds": ShuffleSplit(3, random_state=0)},
    "groups": {"folds": 3, "groups": GROUPS},
    "time": {"folds": 3, "split": "time"},
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("taker", TAKERS.values(), ids=TAKERS)
def test_everyone_takes_the_same_folds(taker, given):
    if given.get("split") == "time":  # in the order of classes the first rows have one class only
        order = np.random.default_rng(0).permutation(n)
        assert len(taker(X[order], y[order], **given)) == 3
        return
    folds = as_folds(
        given["folds"], y, split="group" if "groups" in given else "stratified", groups=given.get("groups")
    )
    scores = taker(X, y, **given)
    assert len(scores) == len(folds)
    if taker is TAKERS["sweep"]:
        again = [
            np.mean(KNeighborsClassifier(3).fit(X[train], y[train]).predict(X[test]) == y[test])
            for train, test in folds
        ]
        np.testing.assert_allclose(scores, again)


def test_groups_stay_together_and_time_goes_on():
    for train, test in as_folds(3, y, split="group", groups=GROUPS):
        assert not set(GROUPS[train]) & set(GROUPS[test])
    for train, test in as_folds(3, y, split="time"):
        assert train.max() < test.min()
    assert as_folds(3, y, split="time").numbers is None
    assert as_folds(GroupKFold(3), y, groups=GROUPS).numbers is not None
    assert len(as_folds(TimeSeriesSplit(4), y)) == 4


def test_leaving_out_each_row_takes_no_matrix():
    m = 100_000
    folds = as_folds("leave-one-out", np.zeros(m, dtype=int))
    assert len(folds) == m
    assert folds.fewest == m - 1
    train, test = folds[7]
    assert test.tolist() == [7]
    assert len(train) == m - 1
    assert not folds.pairs


def test_folds_are_a_splitter_of_scikit_learn():
    folds = as_folds(PAIRS, y)
    assert isinstance(folds, Folds)
    assert folds.get_n_splits() == 3
    for (train, test), (a, b) in zip(folds.split(X, y), PAIRS, strict=True):
        np.testing.assert_array_equal(train, a)
        np.testing.assert_array_equal(test, b)
    again = as_folds(folds, y)
    np.testing.assert_array_equal(again.numbers, folds.numbers)


@pytest.mark.parametrize(
    ("folds", "said"),
    [
        (1, "between 2 and the number of rows that they divide, 75, got 1"),
        (76, "only 75 rows to divide, and 76 folds"),
        (True, "folds must be a number.*got True"),
        ("five", "leave-one-out.*got 'five'"),
        (None, "folds must be.*got None"),
        ([], "folds must be"),
        (2.5, "folds must be.*got 2.5"),
        (np.zeros(3), "one fold number for each of the 75 rows"),
        (np.zeros(n), "at least 2 folds, got 1"),
        ([(np.arange(10), np.arange(5, 20))] * 2, "5 in common"),
        ([(np.arange(10), np.array([], int))] * 2, "both need rows"),
        ([(np.arange(10), np.array([80]))] * 2, "not among 0 to 74"),
        ([(np.arange(10), np.array([-1]))] * 2, "not among 0 to 74"),
        ([(np.arange(10.0), np.arange(10, 20))] * 2, "pairs of row numbers"),
        ([(np.arange(10), np.arange(10, 20))], "at least 2 folds, got 1"),
        ([([0, 1, 2, 1], [3, 4])] * 2, "Row number 1 is 2 times among the training rows of a fold"),
        ([([0, 1, 2], [3, 4, 4, 4])] * 2, "Row number 4 is 3 times among the test rows of a fold"),
    ],
)
def test_what_is_wrong_with_folds_is_said(folds, said):
    with pytest.raises(ValueError, match=said):
        as_folds(folds, y)


def test_folds_without_two_classes_are_left_out():
    codes = np.repeat([0, 1], [6, 6])
    folds = as_folds(
        [(np.arange(6), np.arange(6, 12)), (np.arange(4, 9), [0, 1]), (np.arange(3, 9), [2])], codes
    )
    with pytest.warns(UserWarning, match="1 of 3 folds have only one class to learn from"):
        assert len(folds.learnable(codes)) == 2
    with pytest.raises(ValueError, match="at least 2 folds with 2 classes to learn from, got 0"):
        as_folds(np.repeat([0, 1], [6, 6]), codes).learnable(codes)


TORN = {
    "pairs": PAIRS,
    "fold numbers": np.arange(n) % 4,
    "leave-one-out": "leave-one-out",
    "a splitter": ShuffleSplit(3, random_state=0),
}


@pytest.mark.parametrize("folds", TORN.values(), ids=TORN)
@pytest.mark.parametrize("taker", ["sweep", "cross_validate"])
def test_folds_that_tear_groups_are_said(taker, folds):
    groups = np.append(np.arange(n - 10), np.arange(10))  # ten pairs of rows
    with pytest.warns(LeakageWarning, match=r"of 65 groups are trained on and tested in one fold"):
        TAKERS[taker](X, y, folds=folds, groups=groups)


@pytest.mark.parametrize("taker", TAKERS.values(), ids=TAKERS)
def test_every_taker_says_that_groups_are_torn(taker):
    with pytest.warns(LeakageWarning, match=r"7 of 7 groups are trained on and tested in one fold"):
        taker(X, y, folds=PAIRS, groups=GROUPS)
    taker(X, y, folds=GroupKFold(3), groups=GROUPS)  # whole groups: nothing to say


def test_torn_groups_are_the_same_by_pairs_and_by_numbers():
    pairs = [(np.flatnonzero(g != GROUPS), np.flatnonzero(g == GROUPS)) for g in range(7)]
    assert not len(Folds(n, None, pairs).torn(GROUPS))
    for folds in (as_folds(PAIRS, y), as_folds(np.arange(n) // 30, y)):
        np.testing.assert_array_equal(folds.torn(GROUPS), Folds(n, None, list(folds)).torn(GROUPS))


def test_folds_in_time_that_are_left_out_are_said():
    order = np.argsort(y, kind="stable")
    with pytest.warns(
        UserWarning, match="1 of 3 folds have only one class to learn from and are left out: scores are of 2"
    ):
        scores = TAKERS["cross_validate"](X[order], y[order], folds=3, split="time")
    assert len(scores) == 2
    assert (
        len(TAKERS["sweep"](X[order], y[order], folds=3, split="time")) == 3
    )  # votes of one class are votes
