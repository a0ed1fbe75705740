"""Facts of the test: scores with intervals, confusion, per class, ROC, precision and recall, reliability."""

from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from nearline._arrays.design import Array
from nearline.report._plain import rounded
from nearline.selection.reliability import brier_score, reliability_curve
from nearline.selection.test_result import TestResult

MOST_MATRIX = 100  # classes of a whole confusion matrix
MOST_CURVES = 12  # classes whose curves are kept
MOST_POINTS = 80  # of a curve
MOST_CONFUSED = 50  # pairs of classes


def opened_facts(opened: TestResult) -> dict[str, Any]:
    """What the opened test rows say."""
    return {
        "model": opened.model,
        "rows": opened.n_rows,
        "training_rows": opened.n_training_rows,
        "scores": {name: _score(opened, name) for name in opened.scores},
        "majority": opened.majority,
        "against": vars(opened.against) | {"said": str(opened.against)},
        "openings": opened.openings,
        "models": opened.models,
        "refitted": opened.refitted,
        "calibrated": opened.calibrated,
        "rule": opened.rule,
        "classes": opened.classes.tolist(),
        "positive": opened.positive,
        "weighted": opened.weights is not None,
        "confusion": opened.confusion.tolist() if len(opened.classes) <= MOST_MATRIX else None,
        "confused": _confused(opened),
        "per_class": opened.per_class(),
        "ranking": _ranking(opened),
        "reliability": _reliability(opened),
    }


def _score(opened: TestResult, name: str) -> dict[str, Any]:
    interval = opened.intervals[name]
    return {
        "title": opened.titles.get(name, name),
        "score": opened.scores[name],
        **asdict(interval),
        "ends": interval.bounds() if interval.defined else None,
        "cross_validation": opened.cross_validation[name],
    }


def _confused(opened: TestResult) -> list[dict[str, Any]]:
    """Pairs of classes, the most frequent confusion first."""
    table = opened.confusion.copy()
    np.fill_diagonal(table, 0)
    order = np.argsort(-table, axis=None, kind="stable")[:MOST_CONFUSED]
    labels = opened.classes.tolist()
    places = zip(*np.unravel_index(order, table.shape), strict=True)
    return [
        {"class": labels[i], "called": labels[j], "rows": int(table[i, j])} for i, j in places if table[i, j]
    ]


def _ranking(opened: TestResult) -> dict[str, Any]:
    """ROC and precision-recall curves: of the positive one of two classes, else of each class against the rest."""
    labels = opened.classes.tolist()
    first = len(labels) == 2 and opened.positive == labels[0]
    ranking = (opened.predictions.turned() if first else opened.predictions).ranking()
    if ranking is None:
        return {"said": "The model gives neither scores nor probabilities, so there is no ranking to judge."}
    columns = {0 if first else 1: ranking} if ranking.ndim == 1 else dict(enumerate(ranking.T))
    judged, without = [], []
    for c, scores in columns.items():
        own = opened.codes == c
        there = own if opened.weights is None else own[opened.weights > 0]
        if not there.any() or there.all() or not np.isfinite(scores).all():
            without.append(labels[c])
            continue
        judged.append({"class": labels[c], "code": c} | _areas(own, scores, opened.weights))
    # The hardest classes first: they are what one looks for.
    judged.sort(key=lambda one: one["auc"])
    for one in judged[:MOST_CURVES]:
        one |= _curves(opened.codes == one["code"], columns[one["code"]], opened.weights)
        one |= _decided(opened, one["code"]) if len(labels) == 2 else {}
    if not judged:
        return {"said": "The test rows are of one class, so there is nothing to rank."}
    areas = [one["auc"] for one in judged]
    return {
        "classes": judged,
        "without": without,
        "mean_auc": float(np.mean(areas)),
        "ranked_by": opened.predictions.ranked_by,
    }


def _areas(own: Array, scores: Array, weights: Array | None) -> dict[str, Any]:
    return {
        "auc": float(roc_auc_score(own, scores, sample_weight=weights)),
        "average_precision": float(average_precision_score(own, scores, sample_weight=weights)),
        "share": float(np.average(own, weights=weights)),
    }


def _curves(own: Array, scores: Array, weights: Array | None) -> dict[str, Any]:
    false, true, _ = roc_curve(own, scores, sample_weight=weights)
    precision, recall, _ = precision_recall_curve(own, scores, sample_weight=weights)
    # The last point, recall 0 and precision 1, stands for no threshold: the curve begins with the first row called.
    recall, precision = recall[-2::-1], precision[-2::-1]
    roc, pr = _thinned(false, true), _thinned(np.append(0.0, recall), np.append(precision[0], precision))
    return {"roc": rounded(roc, 4), "precision_recall": rounded(pr, 4)}


def _decided(opened: TestResult, code: int) -> dict[str, Any]:
    """The point of each curve that the labels are."""
    own, called = opened.codes == code, opened.predictions.labels == code
    w = np.ones(len(own)) if opened.weights is None else opened.weights
    found, others = float(w[own & called].sum()), float(w[~own & called].sum())
    recall = found / float(w[own].sum())
    point = {"roc_at": [others / float(w[~own].sum()), recall]}
    return point | ({"precision_recall_at": [recall, found / (found + others)]} if found + others else {})


def _thinned(x: Array, y: Array) -> Array:
    """(2, m) points, evenly along the curve."""
    if len(x) > MOST_POINTS:
        steps = np.hypot(np.diff(x), np.diff(y)).cumsum()
        kept = np.searchsorted(steps, np.linspace(0, steps[-1], MOST_POINTS)[1:-1])
        places = np.unique(np.concatenate([[0], kept + 1, [len(x) - 1]]).clip(0, len(x) - 1))
        x, y = x[places], y[places]
    return np.stack([x, y])


def _reliability(opened: TestResult) -> dict[str, Any]:
    probabilities = opened.predictions.probabilities()
    if probabilities is None:
        return {"said": "The model gives no probabilities, so there is no reliability to show."}
    truth = opened.classes[opened.codes]
    curve = reliability_curve(truth, probabilities, opened.classes, weights=opened.weights)
    return {
        "edges": rounded(curve.edges),
        "confidence": rounded(curve.confidence),
        "accuracy": rounded(curve.accuracy),
        "count": curve.count.tolist(),
        "low": rounded(curve.low),
        "high": rounded(curve.high),
        "expected_calibration_error": curve.expected_calibration_error,
        "brier": brier_score(truth, probabilities, opened.classes, opened.weights),
    }
