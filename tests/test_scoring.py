"""Every scorer against scikit-learn's function of the name; the positive class; errors that are passed on."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier as ScikitNeighbors
from sklearn.svm import SVC

from nearline import (
    SCORERS,
    GaussianNB,
    LinearSVM,
    LogisticRegression,
    TryThemAll,
    cross_validate,
    learning_curve,
)
from nearline.predictions import Known, Predictions, predictions_of
from nearline.selection.positive import positive_class
from nearline.selection.scoring import as_scorers, scorers_for

LABELS = [
    [0, 1],
    [-1, 1],
    [False, True],
    ["no", "yes"],
    [3, 7],
    [0, 1, 2],
    ["a", "b", "c"],
    ["w", "x", "y", "z"],
]


@st.composite
def tasks(draw):
    """Classes, class numbers of rows (some classes may be missing), answers and weights."""
    classes = np.array(draw(st.sampled_from(LABELS)))
    rng, n, C = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(1, 30)), len(classes)
    codes = rng.integers(0, draw(st.integers(1, C)), n)
    # Far enough from 0 and 1 for float32; votes are 0 and 1 in earnest.
    P = 0.98 * rng.dirichlet(np.full(C, draw(st.sampled_from([0.05, 1.0]))), n) + 0.02 / C
    P = np.rint(P * 2**20) / 2**20  # so that columns of two classes tie in the same rows
    if draw(st.booleans()):  # votes, with many ties
        P = rng.multinomial(5, np.full(C, 1 / C), n) / 5
    if draw(st.booleans()):
        P = P.astype(np.float32)
    labels = P.argmax(axis=1) if draw(st.booleans()) else rng.integers(0, draw(st.integers(1, C)), n)
    weights = rng.uniform(0.1, 3.0, n) if draw(st.booleans()) else None
    return classes, codes, Predictions(labels, C, None, Known(P)), weights


def of_two_or_mean(function):
    """A score of the positive class, or its mean over classes."""

    def score(y, labels, P, classes, positive, w):
        average = {"pos_label": positive} if len(classes) == 2 else {"average": "macro"}
        return function(y, labels, sample_weight=w, **average)

    return score


def one_against_the_rest(function):
    def score(y, labels, P, classes, positive, w):
        if len(np.unique(y)) < len(classes):
            return np.nan
        chosen = [positive] if len(classes) == 2 else classes.tolist()
        columns = [P[:, classes.tolist().index(label)] for label in chosen]
        return np.mean([function(y == one, p, sample_weight=w) for one, p in zip(chosen, columns)])

    return score


def top(k):
    def score(y, labels, P, classes, positive, w):
        scores = P[:, 1] if len(classes) == 2 else P
        return metrics.top_k_accuracy_score(y, scores, k=k, labels=classes, sample_weight=w)

    return score


def brier(y, labels, P, classes, positive, w):
    if len(classes) == 2:
        p = P[:, classes.tolist().index(positive)]
        return metrics.brier_score_loss(y == positive, p, sample_weight=w)
    each = [sum((p[c] - (label == one)) ** 2 for c, one in enumerate(classes)) for p, label in zip(P, y)]
    return np.average(np.array(each, dtype=float), weights=w)


PEERS = {
    "accuracy": lambda y, labels, P, classes, positive, w: metrics.accuracy_score(y, labels, sample_weight=w),
    "balanced-accuracy": lambda y, labels, P, classes, positive, w: metrics.balanced_accuracy_score(
        y, labels, sample_weight=w
    ),
    "auc": one_against_the_rest(metrics.roc_auc_score),
    "average-precision": one_against_the_rest(metrics.average_precision_score),
    "precision": of_two_or_mean(metrics.precision_score),
    "recall": of_two_or_mean(metrics.recall_score),
    "f1": of_two_or_mean(metrics.f1_score),
    "mcc": lambda y, labels, P, classes, positive, w: metrics.matthews_corrcoef(y, labels, sample_weight=w),
    "top-2": top(2),
    "top-3": top(3),
    "top-5": top(5),
    "log-loss": lambda y, labels, P, classes, positive, w: metrics.log_loss(
        y, P, labels=classes, sample_weight=w
    ),
    "brier": brier,
}


@pytest.mark.parametrize("name", SCORERS)
@given(task=tasks(), second=st.booleans())
@settings(max_examples=30)
def test_every_scorer_equals_scikit_learns(name, task, second):
    """Undefined exactly where scikit-learn warns that it is, and says 0 or 1 instead."""
    classes, codes, predictions, weights = task
    positive = classes.tolist()[second] if len(classes) == 2 else None
    (scorer,), _ = scorers_for(name, classes, codes, positive)
    found = scorer(predictions, codes, classes, weights)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        arguments = (
            classes[codes],
            classes[predictions.labels],
            predictions.probabilities(),
            classes,
            positive,
        )
        expected = PEERS[name](*arguments, weights)
    if any(issubclass(warning.category, UndefinedMetricWarning) for warning in said):
        expected = np.nan
    assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_ranks_of_scores_come_before_probabilities():
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.array(["no", "yes"] * 40)
    X[y == "yes"] += 0.7
    model = SVC().fit(X[:40], y[:40])
    predictions = predictions_of(model, X[40:], model.classes_)
    f, codes = model.decision_function(X[40:]), (y[40:] == "yes").astype(int)
    (second,), _ = scorers_for("average_precision", model.classes_, codes, "yes")
    (first,), _ = scorers_for("average_precision", model.classes_, codes, "no")
    assert second(predictions, codes, model.classes_) == pytest.approx(
        metrics.average_precision_score(codes, f)
    )
    assert first(predictions, codes, model.classes_) == pytest.approx(
        metrics.average_precision_score(1 - codes, -f)
    )


# -- the positive class -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "counts", "given_label", "expected"),
    [
        ([0, 1], [1, 9], None, 1),
        ([-1, 1], [1, 9], None, 1),
        ([False, True], [1, 9], None, True),
        ([0.0, 1.0], [1, 9], None, 1.0),
        ([1, 2], [1, 9], None, 1),
        (["ham", "spam"], [9, 1], None, "spam"),
        (["bad", "good"], [1, 9], None, "bad"),
        (["bad", "good"], [5, 5], None, "good"),
        (["bad", "good"], [1, 9], "good", "good"),
        ([0, 1], [1, 9], 0, 0),
        (["a", "b", "c"], [1, 1, 1], None, None),
    ],
)
def test_the_positive_class(classes, counts, given_label, expected):
    codes = np.repeat(np.arange(len(classes)), counts)
    assert positive_class(np.array(classes), codes, given_label) == expected


def test_a_positive_class_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"pos_label='maybe' is not among the classes \['no', 'yes'\]"):
        positive_class(np.array(["no", "yes"]), np.array([0, 1]), "maybe")
    with pytest.raises(ValueError, match="names the positive one of two classes, and there are 3"):
        positive_class(np.arange(3), np.arange(3), 1)
    silent = Predictions(np.array([0, 1]), 2)
    with pytest.raises(ValueError, match="give pos_label"):
        SCORERS["f1"](silent, np.array([0, 1]), np.array(["no", "yes"]))
    assert SCORERS["f1"](silent, np.array([0, 1]), np.array([0, 1])) == 1.0


def words(n=120):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.3, "ill", "well")
    return rng.normal(size=(n, 3)) + 1.0 * (y == "ill")[:, None], y


@pytest.mark.parametrize("name", ["f1", "recall", "precision", "average_precision", "jaccard"])
@pytest.mark.parametrize("pos_label", [None, "well"])
def test_labels_that_are_words(name, pos_label):
    """The rarer class is the positive one, or the one asked for; with scikit-learn's names too."""
    X, y = words()
    folds = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    found = cross_validate(ScikitNeighbors(), X, y, scoring=name, pos_label=pos_label, folds=folds)
    positive = pos_label or "ill"
    assert found.positive == positive
    for (train, test), score in zip(folds, next(iter(found.scores.values()))):
        model = ScikitNeighbors().fit(X[train], y[train])
        p = model.predict_proba(X[test])[:, model.classes_.tolist().index(positive)]
        function = getattr(metrics, f"{name}_score")
        if name == "average_precision":
            assert score == pytest.approx(function(y[test] == positive, p))
        else:
            assert score == pytest.approx(function(y[test], model.predict(X[test]), pos_label=positive))


def test_the_contest_says_which_class_is_positive():
    X, y = words()
    given_options = {"include": "logistic, L2", "progress": "silent", "scoring": ["f1", "average_precision"]}
    contest = TryThemAll("quick", **given_options).fit(X, y)
    opened = contest.open_test()
    rows, truth = contest.opened_part()
    assert contest.positive_ == opened.positive == "ill"
    assert opened.scores["f1"] == pytest.approx(
        metrics.f1_score(truth, contest.predict(rows), pos_label="ill")
    )
    assert "f1 (positive: ill)" in str(contest.leaderboard_)
    assert "average-precision (positive: ill)" in str(opened)
    other = TryThemAll("quick", pos_label="well", **given_options).fit(X, y).open_test()
    assert other.scores["f1"] != opened.scores["f1"]
    assert "f1 (positive: well)" in str(other)
    with pytest.raises(ValueError, match="pos_label='sick' is not among"):
        TryThemAll("quick", pos_label="sick", **given_options).fit(X, y)


def test_more_classes_are_a_mean_that_is_named():
    X, y = words()
    y = np.where(X[:, 0] > 1.0, "very ill", y)
    curve = learning_curve(LogisticRegression(), X, y, sizes=[1.0], scoring="f1", folds=3)
    assert curve.scoring == "f1 (macro)"


# -- scorers of others --------------------------------------------------------------------------------------------


def test_an_error_of_scikit_learn_is_passed_on():
    X, y = words()
    with pytest.raises(ValueError, match=r"could not convert string to float|dtype"):
        cross_validate(LogisticRegression(), X, y, scoring=metrics.make_scorer(metrics.r2_score))
    wrong = metrics.make_scorer(metrics.f1_score, pos_label="sick")
    with pytest.raises(ValueError, match="pos_label=sick is not a valid label"):
        cross_validate(LogisticRegression(), X, y, scoring=wrong)
    with pytest.raises(ValueError, match="pos_label=sick is not a valid label"):
        learning_curve(LogisticRegression(), X, y, sizes=[1.0], scoring=wrong)
    three = np.where(X[:, 0] > 1.0, "very ill", y)
    with pytest.raises(ValueError, match="Target is multiclass"):
        cross_validate(LogisticRegression(), X, three, scoring="jaccard")


def test_what_a_model_does_not_give_is_undefined():
    X, y = words()
    found = cross_validate(LinearSVM(), X, y, scoring=["neg_log_loss", "log-loss", "accuracy"])
    assert np.isnan(found.scores["neg_log_loss"]).all()
    assert np.isnan(found.scores["log-loss"]).all()
    assert np.isfinite(found.scores["accuracy"]).all()
    (area,) = as_scorers("roc_auc_ovr")
    P = np.random.default_rng(0).dirichlet(np.ones(3), 6)
    missing = np.array([0, 0, 1, 1, 0, 1])  # no row of the third class
    assert np.isnan(area(Predictions(P.argmax(axis=1), 3, None, Known(P)), missing, np.arange(3)))


def test_names_of_top():
    assert as_scorers("top-4")[0].name == "top-4"
    assert as_scorers("top_k_accuracy")[0].name == "top-2"
    with pytest.raises(ValueError, match="scoring must be 'accuracy', which is the same"):
        as_scorers("top-1")
    assert as_scorers("top-k")[0].name == "top-2"
    with pytest.raises(ValueError, match="Unknown scoring 'top'"):
        as_scorers("top")


def test_labels_stay_numbers_for_scores_of_numbers():
    X, y = load_breast_cancer(return_X_y=True)
    folds = list(StratifiedKFold(3).split(X, y))
    for name in ("neg_mean_absolute_error", "neg_max_error"):
        found = cross_validate(GaussianNB(), X, 10 * y, scoring=name, folds=folds).scores[name]
        np.testing.assert_allclose(found, cross_val_score(GaussianNB(), X, 10 * y, scoring=name, cv=folds))
    with pytest.raises(ValueError, match="could not convert string"):
        cross_validate(GaussianNB(), X, np.array(["no", "yes"])[y], scoring="r2", folds=folds)
