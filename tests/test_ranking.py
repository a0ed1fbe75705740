"""AUC ranks rows by log-odds of a class against the rest: scikit-learn's numbers where probabilities tell rows apart."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB as ScikitGaussian
from sklearn.naive_bayes import MultinomialNB as ScikitMultinomial
from sklearn.neighbors import KNeighborsClassifier as ScikitNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearline import (
    ESTIMATORS,
    GaussianNB,
    KNeighborsClassifier,
    LogisticRegression,
    MultinomialNB,
    OneVsOne,
    OneVsRest,
    Perceptron,
    TryThemAll,
)
from nearline.predictions import Known, Predictions, by_log_odds, log_of, predictions_of
from nearline.report._tested import opened_facts
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.families import Fold, families
from nearline.selection.scoring import SCORERS

CLASSIFIERS = [cls for cls in ESTIMATORS.values() if issubclass(cls, ClassifierMixin)]
ARGUMENTS = {OneVsRest: (LogisticRegression(),), OneVsOne: (LogisticRegression(),)}
PEERS = [
    ScikitLogistic(max_iter=1000),
    ScikitGaussian(),
    ScikitNeighbors(),
    RandomForestClassifier(20, random_state=0),
    make_pipeline(StandardScaler(), ScikitLogistic()),
]
WAYS = [
    *(cls(*ARGUMENTS.get(cls, ())) for cls in CLASSIFIERS if cls is not Perceptron),
    Perceptron(averaged=True),
    *(KNeighborsClassifier(7, weights=weights) for weights in ("uniform", "distance")),
    LogisticRegression(multiclass="one-vs-rest"),
    OneVsRest(GaussianNB()),
    OneVsRest(LogisticRegression(), reference_class="b"),
    CalibratedClassifier(GaussianNB()),
    CalibratedClassifier(LogisticRegression(), method="sigmoid"),
    *PEERS,
]


def overlapping(n_classes, dtype=np.float64):
    """Rows whose probabilities are not next to 0 or 1: float64 tells them apart."""
    X, y = make_classification(
        160, 5, n_informative=4, n_redundant=0, n_classes=n_classes, class_sep=0.6, random_state=3
    )
    return np.abs(X).astype(dtype), np.array(["a", "b", "c"])[y]


def auc_of(predictions, y, classes, weights=None):
    return SCORERS["auc"](predictions, np.searchsorted(classes, y), classes, weights)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", WAYS, ids=lambda model: repr(model).replace("\n", " ")[:70])
def test_equals_scikit_learns_area(model, dtype):
    X, y = overlapping(3, dtype)
    fitted = model.fit(X[:100], y[:100])
    predictions = predictions_of(fitted, X[100:], fitted.classes_)
    if predictions.make_probabilities is None:
        assert predictions.ranked_by == "the score of a class less the largest other"
        return
    assert predictions.ranked_by == "the log-odds of a class against the rest"
    P = fitted.predict_proba(X[100:])
    weights = np.random.default_rng(0).random(60)
    for w in (None, weights):
        by_hand = [roc_auc_score(y[100:] == c, P[:, i], sample_weight=w) for i, c in enumerate("abc")]
        assert auc_of(predictions, y[100:], fitted.classes_, w) == pytest.approx(np.mean(by_hand), abs=1e-12)
    own = roc_auc_score(y[100:], P.astype(np.float64), multi_class="ovr")
    assert auc_of(predictions.settled(), y[100:], fitted.classes_) == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("model", WAYS, ids=lambda model: repr(model).replace("\n", " ")[:70])
def test_two_classes_equal_scikit_learns_scorer(model):
    X, y = overlapping(2)
    fitted = model.fit(X[:100], y[:100])
    predictions = predictions_of(fitted, X[100:], fitted.classes_)
    if predictions.scores is None:
        expected = roc_auc_score(y[100:] == "b", fitted.predict_proba(X[100:])[:, 1])
        assert predictions.ranked_by == "the probability"
    else:
        expected = roc_auc_score(y[100:] == "b", fitted.decision_function(X[100:]))
        assert predictions.ranked_by == "the score"
    assert auc_of(predictions, y[100:], fitted.classes_) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("load", [load_digits, load_wine])
def test_the_shift_that_classes_share_does_not_count(load):
    """Joint log-likelihoods log p(c) + log p(x | c) rank like the posterior, not like the length of the row."""
    X, y = load(return_X_y=True)
    here, there = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    classes = np.unique(y)
    ours = predictions_of(MultinomialNB().fit(X[here], y[here]), X[there], classes)
    peer = ScikitMultinomial().fit(X[here], y[here])
    found = auc_of(ours, y[there], classes)
    assert found == pytest.approx(
        roc_auc_score(y[there], peer.predict_proba(X[there]), multi_class="ovr"), abs=2e-4
    )
    assert found == pytest.approx(
        auc_of(predictions_of(peer, X[there], classes), y[there], classes), abs=1e-9
    )


def test_what_is_rounded_to_0_or_1_is_told_apart():
    """By brute force: log p_c - log sum of the others, from scores of which softmax leaves only zeros and ones."""
    rng = np.random.default_rng(0)
    F = 800.0 * rng.normal(size=(300, 4)) + 1e4 * rng.normal(size=(300, 1))
    L = F - logsumexp(F, axis=1, keepdims=True)
    P = np.exp(L)
    odds = np.stack([F[:, c] - logsumexp(np.delete(F, c, axis=1), axis=1) for c in range(4)], axis=1)
    order = by_log_odds(P, lambda: L)
    for c in range(4):
        np.testing.assert_array_equal(
            np.argsort(order[:, c], kind="stable"), np.argsort(odds[:, c], kind="stable")
        )
    codes = rng.integers(0, 4, 300)
    expected = np.mean([roc_auc_score(codes == c, odds[:, c]) for c in range(4)])
    predictions = Predictions(P.argmax(axis=1), 4, F, Known(P), Known(L))
    assert auc_of(predictions, codes, np.arange(4)) == pytest.approx(expected, abs=1e-12)
    half = np.arange(0, 300, 2)
    np.testing.assert_array_equal(predictions.some(half).ranking(), predictions.ranking()[half])


def test_equal_probabilities_stay_equal():
    """Votes of 1/5 beside 4/5, or beside 2/5 and 2/5: the sums of the others differ in their last digits."""
    shares = np.random.default_rng(0).multinomial(7, [0.2, 0.3, 0.5], size=200) / 7
    order = by_log_odds(shares, lambda: log_of(shares))
    for c in range(3):
        np.testing.assert_array_equal(
            np.unique(order[:, c], return_inverse=True)[1], np.unique(shares[:, c], return_inverse=True)[1]
        )


def test_margins_are_against_the_strongest_other_class():
    F = np.array([[1.0, 5.0, 2.0], [7.0, 7.0, 0.0]])
    predictions = Predictions(F.argmax(axis=1), 3, F + np.array([[100.0], [-3.0]]))
    np.testing.assert_allclose(predictions.ranking(), [[-4.0, 3.0, -3.0], [0.0, 0.0, -7.0]])


def test_families_rank_as_their_estimators_do():
    X, y = overlapping(3)
    classes, codes = np.unique(y, return_inverse=True)
    fold = Fold(X[:100], codes[:100], None, X[100:], classes)
    for family in families("quick", ["logistic", "naive Bayes", "k-NN", "discriminant"], (), None):
        if family.refuses(fold) is not None or "numbers" not in family.takes:
            continue
        for outcome in family.outcomes(fold, family.grid(fold, "quick")):
            P = outcome.predictions.probabilities()
            expected = roc_auc_score(y[100:], P.astype(np.float64), multi_class="ovr")
            assert auc_of(outcome.predictions, y[100:], classes) == pytest.approx(expected, abs=1e-12), family


def test_the_result_says_what_ranks():
    X, y = overlapping(3)
    contest = TryThemAll("quick", include="logistic, L2", scoring=["auc", "accuracy"], progress="silent")
    opened = contest.fit(X, y).open_test()
    assert "rows ranked by the log-odds of a class against the rest" in str(opened)
    P = contest.predict_proba(contest.opened_part()[0])
    expected = roc_auc_score(contest.opened_part()[1], P, multi_class="ovr")
    assert opened.scores["auc"] == pytest.approx(expected, abs=1e-12)
    ranking = opened_facts(opened)["ranking"]
    assert ranking["ranked_by"] == "the log-odds of a class against the rest"
    assert ranking["mean_auc"] == pytest.approx(expected, abs=1e-12)
