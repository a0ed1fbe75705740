"""Winners that have only scores get probabilities from rows left out; their labels stay."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from nearline import TryThemAll, load, save
from nearline.kernels import RBF
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.cross_fitting import _folds, gives_probabilities
from nearline.selection.families import FAMILIES
from nearline.selection.splits import Division

X, Y = load_iris(return_X_y=True)


def contest_of(X=X, y=Y, include="least squares", **options):
    options = {"preset": "quick", "folds": 2, "progress": "silent", "calibrate": "needed"} | options
    return TryThemAll(include=[include], **options).fit(X, y)


ELSEWHERE = ("k-NN, kernel", "kernel, low-rank least squares")  # of strings, of many rows


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in ELSEWHERE])
@pytest.mark.filterwarnings("ignore::nearline.LeakageWarning")
def test_every_winner_answers_with_probabilities(family, tmp_path):
    some = np.arange(0, 150, 3)
    contest = contest_of(
        X[some], Y[some], include=family, preset="default" if "multinomial" in family else "quick"
    )
    alone = contest.estimator(contest.chosen_)
    assert (contest.calibration_ is None) == gives_probabilities(alone)
    P = contest.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    train = contest.training_part()
    np.testing.assert_array_equal(contest.predict(X), alone.fit(train[0], train[1]).predict(X))
    save(contest.model_, tmp_path / "model.nearline")
    np.testing.assert_array_equal(load(tmp_path / "model.nearline").predict_proba(X), P)


@pytest.mark.parametrize("family", ["k-NN, kernel", "kernel SVM"])
def test_kernels_of_strings(family, tmp_path):
    names = [f"{a}{b}{c}" for a in "kl" for b in "aeiou" for c in "mnrt"]
    ends = np.array([name[2] in "mn" for name in names])
    contest = contest_of(names, ends, include=family, preset="default", test=None)
    P = contest.predict_proba(names)
    assert P.shape == (40, 2)
    save(contest.model_, tmp_path / "model.nearline")
    np.testing.assert_array_equal(load(tmp_path / "model.nearline").predict_proba(names), P)


def test_the_map_of_many_rows_has_scores():
    model = FAMILIES["kernel, low-rank least squares"].estimator(
        {"kernel": RBF(0.1), "components": 20, "alpha": 0.01}
    )
    folds = CalibratedClassifier(model, folds=2).fit(X, Y)
    assert not gives_probabilities(model)
    assert folds.predict_proba(X).shape == (150, 3)


@pytest.mark.filterwarnings("ignore::nearline.LeakageWarning")
def test_a_class_of_one_row_is_always_trained_on():
    y = np.where(np.arange(60) < 30, "a", "b")
    y[7] = "rare"
    contest = contest_of(X[:60], y, test=None)
    assert contest.calibration_ == "temperature"  # which needs no rows of each class
    assert contest.predict_proba(X[:60]).shape == (60, 3)


@pytest.mark.filterwarnings("ignore::nearline.LeakageWarning")
@pytest.mark.parametrize("split", ["group", "time"])
def test_folds_are_drawn_as_the_contest_draws_them(split):
    order = np.random.default_rng(0).permutation(150)
    groups = None if split == "time" else order % 7
    contest = contest_of(X[order], Y[order], split=split, include="SVM, squared hinge") if groups is None else (
        TryThemAll("quick", include="SVM, squared hinge", folds=2, progress="silent", calibrate="needed").fit(
            X[order], Y[order], groups
        )
    )  # fmt: skip
    assert isinstance(contest.model_, CalibratedClassifier)
    assert contest.model_.folds == 5
    pairs = _folds(Y[order], groups, Division(split))
    for train, test in pairs:
        assert not set(train) & set(test)
        if groups is not None:
            assert not set(groups[train]) & set(groups[test])
        else:
            assert train.max() < test.min()


def test_classes_that_come_late_are_trained_on_all_the_same():
    y = np.repeat([0, 1, 2], 30)
    pairs = _folds(y, None, Division("time"))
    assert pairs
    for train, test in pairs:
        assert set(y[train]) == {0, 1, 2}
        assert not set(train) & set(test)


def test_scores_of_the_test_are_said_to_be_before_calibration():
    contest = contest_of()
    assert "before calibration" in str(contest.open_test())
    assert contest_of(include="logistic, L2").calibration_ is None
