"""Calibrators and calibrated classifiers against scikit-learn, their limits, Brier score and reliability curve."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB as ScikitGaussian
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearline import (
    GaussianNB,
    KernelLogisticRegression,
    KernelSVM,
    LeakageWarning,
    LinearSVM,
    LogisticRegression,
)
from nearline.kernels import Linear
from nearline.selection.calibration import (
    CALIBRATORS,
    CalibratedClassifier,
    Isotonic,
    Sigmoid,
    TemperatureScaling,
)
from nearline.selection.folds import as_folds
from nearline.selection.intervals import share_interval
from nearline.selection.reliability import brier_score, reliability_curve

IRIS = load_iris(return_X_y=True)
FOLDED = "folds are drawn by row number, so that repeated rows fall into other folds than a weighted one"
REASONS = {
    "check_sample_weight_equivalence_on_dense_data": FOLDED,
    "check_sample_weight_equivalence_on_sparse_data": FOLDED,
}


@parametrize_with_checks(
    [
        CalibratedClassifier(LogisticRegression(solver="newton", tol=1e-10), folds=3),
        CalibratedClassifier(LogisticRegression(), method="sigmoid", folds=3),
    ],
    expected_failed_checks=lambda model: REASONS,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def noisy(n, n_classes, seed=0):
    """Scores, and labels drawn from softmax(scores / 2)."""
    rng = np.random.default_rng(seed)
    scores = 3.0 * rng.normal(size=(n, n_classes))
    p = softmax(scores / 2.0, axis=1)
    return scores, (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_temperature_minimizes_the_log_loss(n_classes, weighted):
    scores, codes = noisy(3000, n_classes)
    w = np.random.default_rng(1).random(3000) if weighted else np.ones(3000)

    def loss(log_temperature):
        log_p = log_softmax(scores / np.exp(log_temperature), axis=1)
        return -w @ log_p[np.arange(3000), codes] / w.sum()

    fitted = TemperatureScaling.fit(scores, codes, w)
    best = minimize_scalar(loss, bounds=(-3, 3), options={"xatol": 1e-12})
    np.testing.assert_allclose(np.log(fitted.temperature), best.x, atol=1e-6)
    np.testing.assert_allclose(fitted.temperature, 2.0, rtol=0.1)  # the truth
    p = fitted.probabilities(scores)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p.argmax(axis=1) == scores.argmax(axis=1)).all()


def test_one_score_is_the_difference_of_two():
    scores, codes = noisy(500, 2)
    f = scores[:, 1] - scores[:, 0]
    for calibrator in CALIBRATORS.values():
        one, two = calibrator.fit(f, codes), calibrator.fit(scores, codes)
        np.testing.assert_allclose(one.probabilities(f), two.probabilities(scores), atol=1e-9)
    temperature = TemperatureScaling.fit(f, codes)
    np.testing.assert_allclose(temperature.probabilities(f)[:, 1], expit(f / temperature.temperature))


def test_temperature_at_its_limits():
    separable = np.array([-2.0, -1.0, 1.0, 2.0])
    fitted = TemperatureScaling.fit(separable, [0, 0, 1, 1])
    own = fitted.probabilities(separable)[range(4), [0, 0, 1, 1]]
    np.testing.assert_allclose(own.mean(), 5 / 6)  # not 1: four rows say no more
    against = TemperatureScaling.fit(separable, [1, 1, 0, 0]).probabilities(separable)
    np.testing.assert_allclose(against, 0.5, atol=1e-3)
    assert TemperatureScaling.fit(np.zeros(4), [0, 1, 0, 1]) == TemperatureScaling(1.0)
    few = TemperatureScaling.fit(separable, [0, 0, 1, 1], np.full(4, 1e-9))
    np.testing.assert_allclose(few.probabilities(separable), 0.5, atol=1e-3)
    huge = TemperatureScaling.fit(1e90 * separable, [0, 1, 1, 1])
    assert np.isfinite(huge.probabilities(1e90 * separable)).all()


def test_temperature_does_not_see_what_the_classes_of_a_row_share():
    scores, codes = noisy(300, 3)
    common = 1e6 * np.random.default_rng(1).normal(size=(300, 1))
    a, b = TemperatureScaling.fit(scores, codes), TemperatureScaling.fit(scores + common, codes)
    np.testing.assert_allclose(a.temperature, b.temperature, rtol=1e-6)


def test_calibrators_do_not_depend_on_the_scale_of_scores():
    scores, codes = noisy(400, 3)
    for calibrator in CALIBRATORS.values():
        np.testing.assert_allclose(
            calibrator.fit(scores, codes).probabilities(scores),
            calibrator.fit(1e6 * scores, codes).probabilities(1e6 * scores),
            atol=1e-8,
        )


@pytest.mark.parametrize("calibrator", CALIBRATORS.values())
def test_integer_weights_are_repeated_rows(calibrator):
    scores, codes = noisy(200, 3)
    counts = np.random.default_rng(2).integers(0, 4, size=200)
    weighted = calibrator.fit(scores, codes, counts)
    repeated = calibrator.fit(np.repeat(scores, counts, axis=0), np.repeat(codes, counts))
    np.testing.assert_allclose(weighted.probabilities(scores), repeated.probabilities(scores), atol=1e-8)


def test_sigmoid_of_scores_without_information_is_the_smoothed_share():
    fitted = Sigmoid.fit(np.full(10, 3.0), [1] * 7 + [0] * 3)
    smoothed = (7 * 8 / 9 + 3 * 1 / 5) / 10
    np.testing.assert_allclose(fitted.probabilities(np.array([3.0]))[0, 1], smoothed, atol=1e-6)
    separable = Sigmoid.fit(np.array([-1.0, 1.0] * 50), [0, 1] * 50)
    np.testing.assert_allclose(separable.probabilities(np.array([1.0]))[0, 1], 51 / 52, atol=1e-6)


@pytest.mark.parametrize(
    ("method", "base", "n_classes"),
    [
        ("temperature", Peer(), 2),
        ("temperature", Peer(), 3),
        ("sigmoid", Peer(), 2),
        (
            "sigmoid",
            LinearSVC(),
            3,
        ),  # of more classes with probabilities the log-odds are taken, not the scores
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn(method, base, n_classes, weighted):
    X, y = IRIS
    # Labels from 0 on: scikit-learn 1.9 takes labels as columns of the scores when it fits a temperature.
    X, y = X[y >= 3 - n_classes, :2], y[y >= 3 - n_classes] - (3 - n_classes)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y)) if weighted else None
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    try:
        peer = CalibratedClassifierCV(base, method=method, cv=folds, ensemble=False)
        peer.fit(X, y, sample_weight=weights)
    except ValueError as error:
        pytest.skip(f"this scikit-learn has no {method}: {error}")
    model = CalibratedClassifier(base, method=method, folds=4).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=2e-5)


@pytest.mark.parametrize("base", [LinearSVC(), RidgeClassifier(), KNeighborsClassifier(5), GaussianNB()])
@pytest.mark.parametrize("method", CALIBRATORS)
def test_labels_are_the_estimators_own(base, method):
    X, y = load_digits(return_X_y=True)
    X, names = X[:600] / 16.0, np.array(list("abcdefghij"))[y[:600]]
    model = CalibratedClassifier(base, method=method, folds=3).fit(X, names)
    assert (model.predict(X) == model.estimator_.predict(X)).all()
    p = model.predict_proba(X)
    assert p.shape == (600, 10)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    if method == "temperature":
        assert np.mean(model.classes_[p.argmax(axis=1)] == model.predict(X)) > 0.97  # ties of votes only
    assert model.method_ == method


@pytest.mark.parametrize(
    ("method", "factor"), [("auto", 0.25), ("temperature", 0.25), ("sigmoid", 0.5), ("isotonic", 0.5)]
)
def test_it_calibrates(method, factor):
    """Naive Bayes on correlated features is far too sure of itself; this is seen and mended on new rows."""
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=3000)
    X = np.repeat(rng.normal(size=(3000, 3)) + 1.2 * np.eye(3)[codes], 6, axis=1)
    X += 0.1 * rng.normal(size=X.shape)
    train, test = slice(0, 1500), slice(1500, None)
    raw = GaussianNB().fit(X[train], codes[train]).predict_proba(X[test])
    before = reliability_curve(codes[test], raw, [0, 1, 2]).expected_calibration_error
    assert before > 0.1
    p = CalibratedClassifier(GaussianNB(), method=method).fit(X[train], codes[train]).predict_proba(X[test])
    assert reliability_curve(codes[test], p, [0, 1, 2]).expected_calibration_error < factor * before
    assert log_loss(codes[test], p) < log_loss(codes[test], raw)
    assert brier_score(codes[test], p, [0, 1, 2]) < brier_score(codes[test], raw, [0, 1, 2])


def test_weights_are_repeated_rows_where_folds_agree():
    X, y = IRIS
    counts = np.random.default_rng(0).integers(1, 4, size=150)
    numbers = np.arange(150) % 3
    base = LogisticRegression(solver="newton", tol=1e-10)
    weighted = CalibratedClassifier(base, folds=numbers).fit(X, y, sample_weight=counts)
    repeated = CalibratedClassifier(base, folds=np.repeat(numbers, counts))
    repeated.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_folds_as_numbers_or_splitter():
    X, y = IRIS
    numbers = np.arange(150) % 5
    a = CalibratedClassifier(LogisticRegression(), folds=numbers).fit(X, y)
    b = CalibratedClassifier(LogisticRegression(), folds=PredefinedSplit(numbers)).fit(X, y)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


def test_folds_by_group_and_in_time():
    X, y = IRIS
    groups = np.arange(150) // 2  # pairs of rows
    numbers = as_folds(4, y, split="group", groups=groups).numbers
    by_group = CalibratedClassifier(LogisticRegression(), folds=4).fit(X, y, groups=groups)
    alone = CalibratedClassifier(LogisticRegression(), folds=numbers).fit(X, y)
    np.testing.assert_array_equal(by_group.predict_proba(X), alone.predict_proba(X))
    order = np.random.default_rng(0).permutation(150)
    later = CalibratedClassifier(LogisticRegression(), folds=3, split="time").fit(X[order], y[order])
    pairs = CalibratedClassifier(LogisticRegression(), folds=TimeSeriesSplit(3)).fit(X[order], y[order])
    np.testing.assert_array_equal(later.predict_proba(X), pairs.predict_proba(X))
    with pytest.warns(LeakageWarning, match="75 groups are trained on and tested"):
        CalibratedClassifier(LogisticRegression(), folds=np.arange(150) % 5).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="split='group' needs groups"):
        CalibratedClassifier(LogisticRegression(), split="group").fit(X, y)


def test_tables_pipelines_and_sparse_rows():
    X, y = IRIS
    table = pd.DataFrame(X, columns=list("abcd"))
    model = CalibratedClassifier(make_pipeline(StandardScaler(), LinearSVM())).fit(table, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.predict_proba(table).shape == (150, 3)


@pytest.mark.parametrize(
    ("arguments", "y", "weights", "message"),
    [
        (
            {"method": "beta"},
            [0, 1] * 10,
            None,
            "Unknown method 'beta': choose among 'auto', 'temperature', 'sigmoid', 'isotonic'",
        ),
        ({}, [0] * 20, None, "1 class"),
        ({}, [0] * 17 + [1] * 3, None, r"folds=5, but class 1 has 3 row\(s\) only: give fewer folds"),
        ({"folds": [0] * 10 + [1] * 10}, [0] * 10 + [1] * 10, None, "A fold has no training rows of class 0"),
        ({"estimator": OutputCodeClassifier(Peer())}, [0, 1] * 10, None, "has neither decision_function nor"),
        ({"estimator": KNeighborsClassifier(2)}, [0, 1] * 10, np.ones(20), "takes none: repeat or drop rows"),
    ],
)
def test_errors_say_what_to_do(arguments, y, weights, message):
    model = CalibratedClassifier(**{"estimator": LogisticRegression(), **arguments})
    with pytest.raises(ValueError, match=message):
        model.fit(np.arange(40.0).reshape(20, 2), y, sample_weight=weights)


def test_calibrators_refuse_what_they_cannot_use():
    for calibrator in CALIBRATORS.values():
        with pytest.raises(ValueError, match="scores must be finite"):
            calibrator.fit([np.nan, 1.0], [0, 1])
        with pytest.raises(ValueError, match="class numbers from 0 to 1"):
            calibrator.fit([0.0, 1.0], [0, 2])
        with pytest.raises(ValueError, match="not all 0"):
            calibrator.fit([0.0, 1.0], [0, 1], [0, 0])


def test_brier_score_equals_scikit_learn():
    scores, codes = noisy(300, 2)
    p = softmax(scores, axis=1)
    labels = np.array(["no", "yes"])
    np.testing.assert_allclose(brier_score(labels[codes], p, labels), brier_score_loss(codes, p[:, 1]))
    scores, codes = noisy(300, 4)
    p = softmax(scores, axis=1)
    by_hand = np.mean([sum((p[i, c] - (codes[i] == c)) ** 2 for c in range(4)) for i in range(300)])
    np.testing.assert_allclose(brier_score(codes, p, range(4)), by_hand)
    assert brier_score([0, 1], [[1, 0], [0, 1]], [0, 1]) == 0.0
    assert brier_score([1, 0], [[1, 0], [0, 1]], [0, 1]) == 1.0


def test_reliability_curve_equals_scikit_learn():
    scores, codes = noisy(500, 3)
    p = softmax(scores, axis=1)
    curve = reliability_curve(codes, p, [0, 1, 2], n_bins=8)
    right = p.argmax(axis=1) == codes
    accuracy, confidence = calibration_curve(right, p.max(axis=1), n_bins=8)
    full = curve.count > 0
    np.testing.assert_allclose(curve.accuracy[full], accuracy)
    np.testing.assert_allclose(curve.confidence[full], confidence)
    assert np.isnan(curve.accuracy[~full]).all()
    assert np.isnan(curve.low[~full]).all()
    assert curve.count.sum() == 500
    error = np.sum(curve.count[full] / 500 * np.abs(accuracy - confidence))
    np.testing.assert_allclose(curve.expected_calibration_error, error)
    last = share_interval(right[p.max(axis=1) > 7 / 8].sum(), curve.count[-1])
    assert (curve.low[-1], curve.high[-1]) == (last.low, last.high)


def test_probabilities_are_checked():
    for function in (brier_score, reliability_curve):
        with pytest.raises(ValueError, match=r"of shape \(2, 2\).*got shape \(2, 3\)"):
            function([0, 1], np.full((2, 3), 1 / 3), [0, 1])
        with pytest.raises(ValueError, match=r"y has .*which is not among classes"):
            function([0, 7], np.full((2, 2), 0.5), [0, 1])
        with pytest.raises(ValueError, match="from 0 to 1"):
            function([0, 1], np.full((2, 2), np.nan), [0, 1])
    with pytest.raises(ValueError, match="n_bins"):
        reliability_curve([0, 1], np.full((2, 2), 0.5), [0, 1], n_bins=0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_equals_scikit_learn_within_what_the_rows_can_say(n_classes, weighted):
    scores, codes = noisy(200, n_classes)
    w = np.random.default_rng(1).uniform(0.5, 2.0, 200) if weighted else np.ones(200)
    f = scores[:, 1:] - scores[:, :1] if n_classes == 2 else scores
    columns = []
    for c, own in zip(f.T, [codes == 1] if n_classes == 2 else [codes == k for k in range(3)]):
        p = IsotonicRegression(out_of_bounds="clip").fit(c, own, w).predict(c)
        n1, n0 = w[own].sum(), w[~own].sum()
        columns.append(np.clip(p, 1 / (n0 + 2), (n1 + 1) / (n1 + 2)))
    P = np.column_stack([1 - columns[0], columns[0]] if n_classes == 2 else columns)
    expected = P / P.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Isotonic.fit(scores, codes, w).probabilities(scores), expected, atol=1e-12)


# -- which calibrator ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_digits, load_wine, load_breast_cancer, load_iris])
@pytest.mark.parametrize("base", [GaussianNB(), ScikitGaussian()])
def test_overconfident_naive_bayes_is_mended(load, base):
    """Better than as it is, and about as good as scikit-learn's better method, on rows that none of them knew."""
    X, y = load(return_X_y=True)
    found = []
    for draw in range(1 if len(y) > 500 else 3):
        rows = np.random.default_rng(draw).permutation(len(y))
        train, test = rows[: len(y) // 2], rows[len(y) // 2 :]
        model = CalibratedClassifier(base).fit(X[train], y[train])
        peers = [
            CalibratedClassifierCV(base, method=method, cv=5).fit(X[train], y[train])
            for method in ("sigmoid", "isotonic")
        ]
        models = model, model.estimator_, *peers
        found.append([log_loss(y[test], one.predict_proba(X[test])) for one in models])
        assert model.log_losses_[model.method_] == min(model.log_losses_.values())
        assert list(model.log_losses_) == ["none", "temperature", "sigmoid", "isotonic"]
    ours, alone, sigmoid, isotonic = np.mean(found, axis=0)
    assert ours < alone
    assert ours < 1.15 * min(sigmoid, isotonic)


def test_log_odds_that_are_rounding_are_bounded():
    """A few rows whose wrong class is ahead by 1e9 do not make the others uniform."""
    X, y = load_digits(return_X_y=True)
    model = CalibratedClassifier(GaussianNB(), method="temperature").fit(X[::2], y[::2])
    assert 1.0 < model.calibrator_.temperature < 100.0
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 1.0  # 2.30 is that of equal probabilities


def test_honest_probabilities_are_left_alone():
    tens = [np.arange(10) < 10 * p for p in (0.2, 0.5, 0.8)]  # of each fold just as many as claimed
    codes = np.tile(np.concatenate(tens), 5).astype(int)
    X = np.tile(np.repeat(logit([0.2, 0.5, 0.8]), 10), 5)[:, None]
    alone = CalibratedClassifier(Honest(), folds=np.repeat(np.arange(5), 30)).fit(X, codes)
    assert alone.method_ == "none"
    assert alone.calibrator_ is None
    np.testing.assert_array_equal(alone.predict_proba(X), alone.estimator_.predict_proba(X))
    np.testing.assert_array_equal(alone.predict_log_proba(X), np.log(alone.predict_proba(X)))
    forced = CalibratedClassifier(Honest(), method="sigmoid").fit(X, codes)
    assert forced.method_ == "sigmoid"
    assert list(forced.log_losses_) == ["none", "sigmoid"]


class Honest(ClassifierMixin, BaseEstimator):
    """P(1 | x) = sigmoid(x)."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = expit(X[:, 0])
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def test_log_losses_are_of_rows_left_out():
    """By hand: each calibrator fitted without the fold that it is judged on."""
    X, y = IRIS
    numbers = np.arange(150) % 3
    model = CalibratedClassifier(ScikitGaussian(), folds=numbers).fit(X, y)
    logs, chances = np.empty((150, 3)), np.empty((150, 3))
    for f in range(3):
        fitted = ScikitGaussian().fit(X[numbers != f], y[numbers != f])
        logs[numbers == f] = fitted.predict_log_proba(X[numbers == f])
    for f in range(3):
        own = TemperatureScaling.fit(logs[numbers != f], y[numbers != f])
        chances[numbers == f] = own.probabilities(logs[numbers == f])
    assert model.log_losses_["none"] == pytest.approx(log_loss(y, np.exp(logs)), abs=1e-6)
    assert model.log_losses_["temperature"] == pytest.approx(log_loss(y, chances), abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_gram_matrices(weighted):
    """Rows and columns of a fold: the same as of the kernel's rows."""
    X, y = IRIS
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    K, K_new = linear_kernel(X[::2]), linear_kernel(X[1::2], X[::2])
    own = None if weights is None else weights[::2]
    for machine in (KernelSVM, KernelLogisticRegression):
        for method in ("auto", "sigmoid"):
            of_gram = CalibratedClassifier(machine("precomputed", tol=1e-8), method=method, folds=3)
            of_rows = CalibratedClassifier(machine(Linear(), tol=1e-8), method=method, folds=3)
            of_gram.fit(K, y[::2], own)
            of_rows.fit(X[::2], y[::2], own)
            np.testing.assert_allclose(
                of_gram.predict_proba(K_new), of_rows.predict_proba(X[1::2]), atol=1e-4
            )
            assert (of_gram.predict(K_new) == of_rows.predict(X[1::2])).all()


def test_fits_of_many_rows_end_where_rounding_hides_the_rest(monkeypatch):
    """Steps that gain less than the loss can show were halved 34 times, in each of 100 rounds."""
    from nearline.solvers import platt

    rng = np.random.default_rng(0)
    scores = 1e3 * rng.normal(size=200_000)
    codes = (scores + 900 * rng.normal(size=len(scores)) > 0).astype(int)
    looks, look = [], platt.checkpoint
    monkeypatch.setattr(platt, "checkpoint", lambda: looks.append(1) or look())
    Sigmoid.fit(scores, codes)
    assert 3 <= len(looks) < 15


def test_calibrators_can_be_stopped():
    from nearline._parallel.stopping import OutOfTime, Stop, heeding

    class Passed(Stop):
        def check(self):
            raise OutOfTime

    scores, codes = np.array([-2.0, -1.0, 1.0, 2.0, 0.5]), np.array([0, 1, 0, 1, 0])
    for calibrator in (TemperatureScaling, Sigmoid):
        with heeding(Passed()), pytest.raises(OutOfTime):
            calibrator.fit(scores, codes)
