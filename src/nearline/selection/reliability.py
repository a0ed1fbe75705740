"""How good probabilities are: the reliability curve and the Brier score."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.selection.intervals import share_interval
from nearline.selection.measures import squared_distances


@dataclass(frozen=True)
class Reliability:
    """Confidence against accuracy in equal bins of the confidence; NaN where a bin is empty."""

    edges: Array  # (n_bins + 1,)
    confidence: Array  # (n_bins,) mean probability of the predicted class
    accuracy: Array  # (n_bins,) share of rows whose predicted class is theirs
    count: Array  # (n_bins,) rows, those of weight 0 aside
    low: Array  # (n_bins,) Wilson's 95% interval of the accuracy; NaN where rows have weights
    high: Array
    expected_calibration_error: (
        float  # sum of share |accuracy - confidence|, share = count / n, of the weight with weights
    )


def reliability_curve(
    y: Any, probabilities: Any, classes: Any, n_bins: int = 10, weights: Any = None
) -> Reliability:
    """How often rows predicted with a confidence, the largest of their probabilities, are right.

    Examples
    --------
    >>> curve = reliability_curve(["a", "b", "a"], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], ["a", "b"], n_bins=2)
    >>> curve.count.tolist(), round(float(curve.accuracy[1]), 3), round(curve.expected_calibration_error, 3)
    ([0, 3], 0.333, 0.467)
    """
    P, is_own = _checked_probabilities(y, probabilities, classes)
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins}.")
    predicted = P.argmax(axis=1)
    rows = np.arange(len(P))
    confidence, right = P[rows, predicted], is_own[rows, predicted]
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    bins = np.searchsorted(edges[1:-1], confidence)
    w = _checked_weights(weights, len(P))
    count, mass = np.bincount(bins, w > 0, n_bins).astype(np.intp), np.bincount(bins, w, n_bins)
    correct, total = np.bincount(bins, w * right, n_bins), np.bincount(bins, w * confidence, n_bins)
    empty = np.full(n_bins, np.nan)
    low, high = empty, empty
    if weights is None:
        ends = np.array([_ends(hit, n) for hit, n in zip(correct, count, strict=True)])
        low, high = ends.T
    return Reliability(
        edges,
        np.divide(total, mass, out=empty.copy(), where=mass > 0),
        np.divide(correct, mass, out=empty.copy(), where=mass > 0),
        count,
        low,
        high,
        float(np.abs(correct - total).sum() / w.sum()),
    )


def _ends(correct: float, n: int) -> tuple[float, float]:
    if n == 1:
        return 0.0, 1.0
    interval = share_interval(correct, n)
    return interval.low, interval.high


def brier_score(y: Any, probabilities: Any, classes: Any, weights: Any = None) -> float:
    """Mean of (p - y)^2 for two classes, of sum_c (p_c - [y = c])^2 for more: scikit-learn's ``brier_score_loss``.

    Examples
    --------
    >>> round(brier_score(["a", "b"], [[0.9, 0.1], [0.4, 0.6]], classes=["a", "b"]), 3)
    0.085
    """
    P, is_own = _checked_probabilities(y, probabilities, classes)
    each = squared_distances(P, is_own.argmax(axis=1))
    return float(np.average(each, weights=_checked_weights(weights, len(P))))


def _checked_weights(weights: Any, n: int) -> Array:
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (n,) or not (w >= 0).all() or not 0 < w.sum() < np.inf:
        raise ValueError(f"weights must be {n} numbers >= 0 that are not all 0, got shape {w.shape}.")
    return w


def _checked_probabilities(y: Any, probabilities: Any, classes: Any) -> tuple[Array, Array]:
    """P (n, C), and which class is each row's own (n, C)."""
    P, labels = np.asarray(probabilities, dtype=np.float64), np.asarray(classes)
    y = np.asarray(y)
    if not len(y) or P.shape != (len(y), len(labels)) or not ((P >= 0) & (P <= 1 + 1e-6)).all():
        raise ValueError(
            f"probabilities must be numbers from 0 to 1 of shape ({len(y)}, {len(labels)}), a row for each of y (at least "
            f"one) and a column for each of classes, got shape {P.shape}."
        )
    is_own = y[:, None] == labels[None, :]
    if not is_own.any(axis=1).all():
        raise ValueError(
            f"y has {y[~is_own.any(axis=1)][0]!r}, which is not among classes: {labels.tolist()}."
        )
    return P, is_own
