"""Cross-validation, repetition, curves, splits and scores: against scikit-learn and against the obvious loop."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier as ScikitNeighbors

from nearline import (
    KNeighborsClassifier,
    LogisticRegression,
    NearestCentroid,
    capacity_curve,
    compare,
    cross_validate,
    learning_curve,
    repeated,
)
from nearline.predictions import Predictions, predictions_of
from nearline.selection.scoring import SCORERS, as_scorers
from nearline.selection.splits import division

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def test_cross_validation_equals_scikit_learns():
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    model = KNeighborsClassifier(7)
    ours = cross_validate(model, X, NAMES, scoring=["accuracy", "f1_macro", "log-loss"], folds=folds)
    for name, theirs in (("accuracy", "accuracy"), ("f1_macro", "f1_macro")):
        np.testing.assert_allclose(
            ours.scores[name], cross_val_score(model, X, NAMES, cv=folds, scoring=theirs)
        )
    losses = cross_val_score(LogisticRegression(), X, NAMES, cv=folds, scoring="neg_log_loss")
    result = cross_validate(LogisticRegression(), X, NAMES, scoring="log-loss", folds=folds)
    np.testing.assert_allclose(result.scores["log-loss"], -losses)
    assert ours.mean["accuracy"] == pytest.approx(ours.scores["accuracy"].mean())
    assert ours.deviation["accuracy"] == pytest.approx(ours.scores["accuracy"].std(ddof=1))
    assert ours.test_to_train == pytest.approx(0.25)


def test_repetitions_are_other_draws():
    result = repeated(NearestCentroid(), X, Y, repeats=3, folds=4)
    parts = [
        cross_validate(NearestCentroid(), X, Y, folds=4, random_state=seed).scores["accuracy"]
        for seed in range(3)
    ]
    np.testing.assert_array_equal(result.scores["accuracy"], np.concatenate(parts))
    same = compare(result, result)
    assert same.p_value == 1.0


def test_learning_curve_grows_by_nested_parts():
    curve = learning_curve(KNeighborsClassifier(1), X, Y, sizes=[6, 30, 120], folds=5)
    assert curve.values.tolist() == [6, 30, 120]
    assert curve.test.shape == curve.train.shape == (3, 5)
    assert (curve.train > 0.99).all()
    whole = cross_validate(KNeighborsClassifier(1), X, Y).scores["accuracy"]
    np.testing.assert_array_equal(curve.test[-1], whole)
    with pytest.raises(ValueError, match="sizes must be shares in"):
        learning_curve(KNeighborsClassifier(1), X, Y, sizes=[1000])


@pytest.mark.parametrize(
    ("model", "parameter", "values"),
    [
        (KNeighborsClassifier(weights="distance", metric="l1"), "n_neighbors", [1, 4, 20]),
        (RandomForestClassifier(5, random_state=0), "max_depth", [1, 3]),
    ],
)
def test_capacity_curve_equals_separate_fits(model, parameter, values):
    curve = capacity_curve(model, X, Y, values, parameter=parameter)
    folds = division("auto", None, 0).folds(Y, None, 5)
    for i, value in enumerate(values):
        fitted = type(model)(**{**model.get_params(), parameter: value})
        np.testing.assert_array_equal(curve.test[i], cross_val_score(fitted, X, Y, cv=folds))


def test_capacity_over_alpha():
    curve = capacity_curve(LogisticRegression(), X, Y, [10.0, 1e-2, 1e-4])
    assert curve.name == "alpha"
    assert curve.train[0].mean() < curve.train[2].mean()
    with pytest.raises(ValueError, match="has no n_neighbors and no alpha: say which parameter="):
        capacity_curve(RandomForestClassifier(), X, Y, [1])
    with pytest.raises(ValueError, match="values is empty"):
        capacity_curve(KNeighborsClassifier(), X, Y, [])


# -- splits -------------------------------------------------------------------------------------------------------


@given(
    counts=st.lists(st.integers(1, 30), min_size=2, max_size=5),
    fraction=st.floats(0.05, 0.6),
    seed=st.integers(0, 99),
)
@settings(max_examples=60)
def test_holdout_has_the_same_share_of_every_class(counts, fraction, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    assume(fraction * len(codes) >= 1)
    train, test = division("stratified", None, seed).holdout(codes, None, fraction)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(codes)))
    assert set(codes[train]) == set(range(len(counts)))
    there = np.bincount(codes[test], minlength=len(counts))
    assert (np.abs(there - fraction * np.array(counts)) <= 1.0).all()


def test_groups_stay_together():
    rng = np.random.default_rng(0)
    groups, codes = rng.integers(0, 30, 300), rng.integers(0, 3, 300)
    split = division("auto", groups, 0)
    train, test = split.holdout(codes, groups, 0.2)
    assert not set(groups[train]) & set(groups[test])
    assert 0.1 < len(test) / 300 < 0.3
    for a, b in split.folds(codes, groups, 5):
        assert not set(groups[a]) & set(groups[b])
    with pytest.raises(
        ValueError,
        match="31 folds by group need as many groups, and there are 30",
    ):
        split.folds(codes, groups, 31)
    with pytest.raises(ValueError, match="needs at least 2 groups"):
        split.holdout(codes, np.zeros(300), 0.2)


def test_time_never_looks_ahead():
    split = division("time", None, 0)
    codes = np.arange(100) % 2
    train, test = split.holdout(codes, None, 0.25)
    assert train.max() < test.min()
    for a, b in split.folds(codes, None, 4):
        assert a.max() < b.min()


def test_folds_need_two_classes():
    codes = np.array([0] * 10 + [1] * 10)
    pairs = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    with pytest.raises(ValueError, match="at least 2 folds with 2 classes to learn from, got 0"):
        division("auto", None, 0).folds(codes, None, pairs)
    with pytest.raises(ValueError, match="The largest class has 1 row, and 5 folds need as many"):
        division("auto", None, 0).folds(np.arange(10), None, 5)


# -- scores -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_equal_scikit_learns(n_classes, weighted):
    X, y = make_classification(200, 6, n_informative=4, n_classes=n_classes, random_state=0)
    model = ScikitLogistic().fit(X[:100], y[:100])
    predictions = predictions_of(model, X[100:], np.arange(n_classes))
    w = np.random.default_rng(0).random(100) if weighted else None
    truth, p = y[100:], model.predict_proba(X[100:])
    by = {name: scorer(predictions, truth, np.arange(n_classes), w) for name, scorer in SCORERS.items()}
    labels = model.predict(X[100:])
    assert by["accuracy"] == pytest.approx(metrics.accuracy_score(truth, labels, sample_weight=w))
    assert by["balanced-accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(truth, labels, sample_weight=w)
    )
    assert by["log-loss"] == pytest.approx(metrics.log_loss(truth, p, sample_weight=w))
    if n_classes == 2:
        assert by["auc"] == pytest.approx(metrics.roc_auc_score(truth, p[:, 1], sample_weight=w))
        assert by["brier"] == pytest.approx(metrics.brier_score_loss(truth, p[:, 1], sample_weight=w))
    elif not weighted:
        assert by["auc"] == pytest.approx(metrics.roc_auc_score(truth, p, multi_class="ovr"))


def test_undefined_scores_are_nan():
    silent = Predictions(np.array([0, 1, 0]), 2)
    one_class = np.zeros(3, int)
    for name in ("log-loss", "brier", "auc"):
        assert np.isnan(SCORERS[name](silent, one_class, np.arange(2)))
    (foreign,) = as_scorers("neg_log_loss")
    assert np.isnan(foreign(silent, one_class, np.arange(2)))
    assert np.isnan(SCORERS["accuracy"](silent, np.empty(0, int), np.arange(2)))


def test_scorers_of_any_kind():
    def optimist(estimator, X, y):
        return 0.5 + 0.5 * np.mean(estimator.predict(X) == y)

    scorers = as_scorers(
        {
            "optimist": optimist,
            "roc": "roc_auc_ovr",
            "f": metrics.make_scorer(metrics.f1_score, average="macro"),
        }
    )
    model = ScikitNeighbors().fit(X[::2], Y[::2])
    predictions = predictions_of(model, X[1::2], np.arange(3))
    values = {s.name: s(predictions, Y[1::2], np.arange(3)) for s in scorers}
    assert values["optimist"] == pytest.approx(0.5 + 0.5 * model.score(X[1::2], Y[1::2]))
    assert values["roc"] == pytest.approx(
        metrics.roc_auc_score(Y[1::2], model.predict_proba(X[1::2]), multi_class="ovr")
    )
    assert values["f"] == pytest.approx(metrics.f1_score(Y[1::2], model.predict(X[1::2]), average="macro"))


def test_curves_keep_the_models_own_settings():
    tied = np.rint(X)
    model = KNeighborsClassifier(4, boundary="all", ties="prior")
    curve = capacity_curve(model, tied, NAMES, [4])
    np.testing.assert_array_equal(curve.test[0], cross_validate(model, tied, NAMES).scores["accuracy"])
    weighted = LogisticRegression(alpha=0.1, class_weight={"setosa": 20.0}, tol=1e-8)
    curve = capacity_curve(weighted, X, NAMES, [0.1])
    np.testing.assert_array_equal(curve.test[0], cross_validate(weighted, X, NAMES).scores["accuracy"])
    with pytest.raises(ValueError, match=r"n_neighbors must be a whole number, got 1\.5"):
        capacity_curve(model, X, Y, [1.5])


def test_frames_and_generators():
    frame = pd.DataFrame(X, columns=list("abcd"))
    curve = capacity_curve(KNeighborsClassifier(), frame, Y, (k for k in (1, 5)))
    assert curve.values.tolist() == [1, 5]


def test_repeating_the_same_folds_is_refused():
    with pytest.raises(ValueError, match="the same in every draw"):
        repeated(KNeighborsClassifier(), X[::-1], Y[::-1], folds=StratifiedKFold(5), repeats=3)
    with pytest.raises(ValueError, match="repeats must be a whole number >= 1, got 0"):
        repeated(KNeighborsClassifier(), X, Y, repeats=0)
    a = cross_validate(KNeighborsClassifier(), X, Y)
    with pytest.raises(ValueError, match="Both must have the score 'auc'"):
        compare(a, a, "auc")


def test_too_few_rows_are_undefined_not_fatal():
    curve = learning_curve(KNeighborsClassifier(50), X, Y, sizes=[10, 100])
    assert np.isnan(curve.test[0]).all()
    assert np.isfinite(curve.test[1]).all()
    with pytest.raises(ValueError, match="k = 500"):
        learning_curve(KNeighborsClassifier(500), X, Y, sizes=[100])
    with pytest.raises(ValueError, match="sizes must be shares"):
        learning_curve(KNeighborsClassifier(1), X, Y, sizes=[-0.5])


def test_runs_on_other_folds_are_not_compared():
    """Differences between folds would pass for differences between models."""
    X, y = load_iris(return_X_y=True)
    a = cross_validate(NearestCentroid(), X, y)
    assert compare(a, cross_validate(NearestCentroid(), X, y)).p_value == 1.0
    for other in ({"random_state": 1}, {"folds": 4}):
        with pytest.raises(ValueError, match="different folds"):
            compare(a, cross_validate(NearestCentroid(), X, y, **other))
    with pytest.raises(ValueError, match="different folds"):
        compare(a, cross_validate(NearestCentroid(), X, np.roll(y, 1)))
    with pytest.raises(ValueError, match="different folds"):
        compare(a, repeated(NearestCentroid(), X, y, repeats=2))
