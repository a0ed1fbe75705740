"""Every number of the report about the test rows against scikit-learn's, with and without weights."""

import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification

from nearline import TryThemAll, reliability_curve
from nearline.report import facts_of, write_report
from nearline.selection.scoring import scorers_for

SCORES = ["accuracy", "balanced-accuracy", "f1", "mcc", "auc", "average-precision", "log-loss", "brier"]


@pytest.fixture(scope="module", params=[(2, False), (2, True), (3, False), (3, True)], ids=str)
def case(request):
    """Facts of a test, and what they are about: truth, labels, probabilities, weights."""
    n_classes, weighted = request.param
    X, codes = make_classification(
        240, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    y = np.array(["ant", "bee", "cat"])[codes]
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 240) if weighted else None
    contest = TryThemAll(
        "quick", include="logistic, L2", scoring=["accuracy", "f1"], folds=3, test=0.4, progress="silent"
    )
    opened = contest.fit(X, y, sample_weight=weights).open_test()
    rows, truth = contest.opened_part()
    own = None if weights is None else weights[contest.test_rows_]
    test = facts_of(contest, opened)["test"]
    for scorer in scorers_for(SCORES, opened.classes, opened.codes, opened.positive)[0]:
        found = scorer(opened.predictions, opened.codes, opened.classes, own)
        if scorer.name in test["scores"]:
            assert test["scores"][scorer.name]["score"] == found
        else:
            test["scores"][scorer.name] = {"score": found}
    return test, truth, contest.predict(rows), contest.predict_proba(rows), own, (contest, opened)


def test_scores(case):
    test, truth, labels, P, w, _ = case
    classes = np.array(test["classes"])
    two = len(classes) == 2
    about = {"pos_label": test["positive"]} if two else {"average": "macro"}
    P_one = P[:, classes.tolist().index(test["positive"])] if two else None
    areas = [
        [function(truth == c, P[:, i], sample_weight=w) for i, c in enumerate(classes)]
        for function in (metrics.roc_auc_score, metrics.average_precision_score)
    ]
    expected = {
        "accuracy": metrics.accuracy_score(truth, labels, sample_weight=w),
        "balanced-accuracy": metrics.balanced_accuracy_score(truth, labels, sample_weight=w),
        "f1": metrics.f1_score(truth, labels, sample_weight=w, **about),
        "mcc": metrics.matthews_corrcoef(truth, labels, sample_weight=w),
        "auc": np.mean(areas[0]),
        "average-precision": np.mean(areas[1]),
        "log-loss": metrics.log_loss(truth, P, sample_weight=w),
    }
    if two:
        is_one = truth == test["positive"]
        expected["average-precision"] = metrics.average_precision_score(is_one, P_one, sample_weight=w)
        expected["brier"] = metrics.brier_score_loss(is_one, P_one, sample_weight=w)
    else:
        expected["brier"] = np.average(((P - (truth[:, None] == classes)) ** 2).sum(axis=1), weights=w)
    assert {name: one["score"] for name, one in test["scores"].items()} == pytest.approx(expected)
    assert test["reliability"]["brier"] == pytest.approx(expected["brier"])
    assert test["ranking"]["mean_auc"] == pytest.approx(expected["auc"])
    title = f"f1 (positive: {test['positive']})" if two else "f1 (macro)"
    assert test["scores"]["f1"]["title"] == title


def test_confusion_and_figures_by_class(case):
    test, truth, labels, _, w, _ = case
    np.testing.assert_array_equal(test["confusion"], metrics.confusion_matrix(truth, labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = metrics.precision_recall_fscore_support(
            truth, labels, labels=test["classes"], sample_weight=w, zero_division=np.nan
        )
    for name, values in zip(("precision", "recall", "f1"), parts):
        np.testing.assert_allclose([one[name] for one in test["per_class"]], values)
    assert [one["rows"] for one in test["per_class"]] == [np.sum(truth == c) for c in test["classes"]]
    for one in test["confused"]:
        assert one["rows"] == np.sum((truth == one["class"]) & (labels == one["called"]))


def test_curves(case):
    """Areas are scikit-learn's, and every point of a curve is one of scikit-learn's, to four digits."""
    test, truth, _, P, w, _ = case
    classes = test["classes"]
    judged = test["ranking"]["classes"]
    assert sorted(one["class"] for one in judged) == ([test["positive"]] if len(classes) == 2 else classes)
    for one in judged:
        own, p = truth == one["class"], P[:, classes.index(one["class"])]
        assert one["auc"] == pytest.approx(metrics.roc_auc_score(own, p, sample_weight=w))
        assert one["average_precision"] == pytest.approx(
            metrics.average_precision_score(own, p, sample_weight=w)
        )
        assert one["share"] == pytest.approx(np.average(own, weights=w))
        false, true, _ = metrics.roc_curve(own, p, sample_weight=w, drop_intermediate=False)
        assert all_among(one["roc"], false, true)
        precision, recall, _ = metrics.precision_recall_curve(own, p, sample_weight=w)
        recalls, precisions = one["precision_recall"]
        assert all_among([recalls[1:], precisions[1:]], recall, precision)


def all_among(curve, x, y):
    points, known = np.array(curve).T, np.column_stack([x, y])
    return all(np.isclose(known, point, rtol=1e-3, atol=1e-4).all(axis=1).any() for point in points)


def test_reliability(case):
    test, truth, _, P, w, _ = case
    curve, classes = test["reliability"], np.array(test["classes"])
    right, claimed = classes[P.argmax(axis=1)] == truth, P.max(axis=1)
    if w is None:
        accuracy, confidence = calibration_curve(right, claimed, n_bins=10)
        full = np.flatnonzero(curve["count"])
        np.testing.assert_allclose(np.array(curve["accuracy"], dtype=float)[full], accuracy, rtol=1e-4)
        np.testing.assert_allclose(np.array(curve["confidence"], dtype=float)[full], confidence, rtol=1e-4)
    error, total = 0.0, 0.0
    weights = np.ones(len(truth)) if w is None else w
    for low, high in zip(curve["edges"], curve["edges"][1:]):
        inside = (claimed > low) & (claimed <= high)
        error += abs(np.sum(weights[inside] * (right[inside] - claimed[inside])))
        total += weights[inside].sum()
    assert curve["expected_calibration_error"] == pytest.approx(error / total)


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    P, y, w = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60), rng.integers(0, 4, 60)
    weighted = reliability_curve(y, P, [0, 1, 2], weights=w)
    repeated = reliability_curve(np.repeat(y, w), np.repeat(P, w, axis=0), [0, 1, 2])
    np.testing.assert_allclose(weighted.accuracy, repeated.accuracy)
    np.testing.assert_allclose(weighted.confidence, repeated.confidence)
    assert weighted.expected_calibration_error == pytest.approx(repeated.expected_calibration_error)
    assert np.isnan(weighted.low).all()


def test_a_score_that_is_called_accuracy_is_not_taken_for_it(tmp_path):
    X, y = make_classification(100, 4, random_state=0)
    scoring = {"accuracy": metrics.make_scorer(metrics.cohen_kappa_score)}
    contest = TryThemAll("quick", include="logistic, L2", scoring=scoring, folds=3, progress="silent")
    opened = contest.fit(X, y).open_test()
    write_report(tmp_path / "report.html", contest, opened)
    page = (tmp_path / "report.html").read_text()
    assert "is right on" not in page
    assert f"has accuracy {opened.scores['accuracy']:.4f}" in page


def test_the_page_says_the_same(case, tmp_path):
    test, *_, w, (contest, opened) = case
    write_report(tmp_path / "report.html", contest, opened)
    page = (tmp_path / "report.html").read_text()
    assert f"rows ranked by {test['ranking']['ranked_by']}" in page or len(test["classes"]) == 2
    assert f"{test['ranking']['mean_auc']:.4f}" in page
    assert test["scores"]["f1"]["title"] in page
    assert ("Rows count by their weights" in page) == (w is not None)
