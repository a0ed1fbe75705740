"""Pictures of what a model said of rows that it had not seen: confusion, ROC, precision and recall, reliability."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.plots.style import COLORS, axes, beside, pyplot, style
from nearline.selection.reliability import Reliability

MOST = 25  # classes whose counts are written, and whose curves are named


def plot_confusion(confusion: Array, classes: Any, *, ax: Any = None) -> Any:
    """Counts of rows of each class (down) by what they were called (across); colors are shares of the class.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.plots import plot_confusion
    >>> ax = plot_confusion(np.array([[8, 2], [1, 9]]), ["no", "yes"])
    >>> [text.get_text() for text in ax.texts]
    ['8', '2', '1', '9']
    """
    labels = [visible(label) for label in classes]
    long = max(map(len, labels)) > 3
    if ax is None:
        side = max(3.6, min(0.45, 12.0 / len(labels)) * len(labels) + 1.6)
        ax = pyplot().subplots(figsize=(side + 0.6, side), layout="constrained")[1]
    share = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)
    image = ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    if len(labels) <= MOST:
        for i, j in np.ndindex(confusion.shape):
            color = "white" if share[i, j] > 0.5 else "black"
            ax.text(j, i, str(confusion[i, j]), ha="center", va="center", fontsize="small", color=color)
    font = "small" if len(labels) <= MOST else "xx-small"
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if long else {}
    ax.set_xticks(range(len(labels)), labels, fontsize=font, **turned)
    ax.set_yticks(range(len(labels)), labels, fontsize=font)
    ax.set(xlabel="called", ylabel="class", title="Confusion matrix")
    ax.figure.colorbar(image, ax=ax, label="share of the class", shrink=0.8)
    return ax


def plot_roc(y: Any, scores: Any, classes: Any, *, threshold: float | None = None, ax: Any = None) -> Any:
    """Share of a class that is found over the share of the others that is called so, for every threshold.

    ``scores``: scores or probabilities of the second class (n,), or of each class (n, C), then a curve for each class
    against the rest. The diagonal is chance; the legend has the area under each curve. ``threshold``: of two classes, where
    the second is answered from there on; its point is marked.

    Examples
    --------
    >>> from nearline.plots import plot_roc
    >>> ax = plot_roc(["no", "no", "yes", "yes"], [0.1, 0.4, 0.35, 0.8], ["no", "yes"])
    >>> ax.get_lines()[0].get_label()
    'yes (area 0.750)'
    """
    from sklearn.metrics import auc, roc_curve

    ax = axes(ax)
    curves = []
    for label, own, values in _against_the_rest(y, scores, classes):
        fpr, tpr, _ = roc_curve(own, values)
        curves.append((f"{visible(label)} (area {auc(fpr, tpr):.3f})", fpr, tpr))
    for i, (label, across, up) in enumerate(curves):
        ax.plot(across, up, label=label, **style(i))
    ax.plot([0, 1], [0, 1], color="gray", linestyle=":", label="chance")
    for own, called in _called(y, scores, classes, threshold):
        _mark(ax, called[~own].mean(), called[own].mean(), threshold)
    ax.set(xlabel="share of the others called so", ylabel="share of the class found", title="ROC")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    _named(ax, len(curves), "lower right")
    return ax


def plot_precision_recall(
    y: Any, scores: Any, classes: Any, *, threshold: float | None = None, ax: Any = None
) -> Any:
    """Precision over recall for every threshold; dotted is the share of the class, which chance would give.

    ``threshold``: of two classes, where the second is answered from there on; its point is marked.

    Examples
    --------
    >>> from nearline.plots import plot_precision_recall
    >>> ax = plot_precision_recall(["no", "no", "yes", "yes"], [0.1, 0.4, 0.35, 0.8], ["no", "yes"])
    >>> ax.get_lines()[0].get_label()
    'yes (average precision 0.833)'
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    ax = axes(ax)
    found = _against_the_rest(y, scores, classes)
    for i, (label, own, values) in enumerate(found):
        precision, recall, _ = precision_recall_curve(own, values)
        mean = average_precision_score(own, values)
        look = style(i)
        ax.plot(
            recall,
            precision,
            drawstyle="steps-post",
            label=f"{visible(label)} (average precision {mean:.3f})",
            **look,
        )
        ax.axhline(own.mean(), color=look["color"], linestyle=":", linewidth=0.8)
    for own, called in _called(y, scores, classes, threshold):
        if called.any():
            _mark(ax, called[own].mean(), own[called].mean(), threshold)
    ax.set(xlabel="recall", ylabel="precision", title="Precision and recall (dotted: chance)")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
    _named(ax, len(found), "lower left")
    return ax


def _called(y: Any, scores: Any, classes: Any, threshold: float | None) -> list[tuple[Array, Array]]:
    """Which rows are of the second class, and which are called so from the threshold on; nothing without one."""
    if threshold is None:
        return []
    if len(np.asarray(classes)) != 2:
        raise ValueError("A threshold is between two classes: leave it out for more.")
    return [(own, values >= threshold) for _, own, values in _against_the_rest(y, scores, classes)]


def _mark(ax: Any, x: float, y: float, threshold: float | None) -> None:
    ax.plot([x], [y], "s", color="black", fillstyle="none", label=f"threshold {threshold:.3g}")


def _against_the_rest(y: Any, scores: Any, classes: Any) -> list[tuple[str, Array, Array]]:
    """(label, which rows are of the class, their scores) of each class that some rows are of and some are not."""
    y, scores, classes = np.asarray(y), np.asarray(scores, dtype=np.float64), np.asarray(classes)
    if scores.shape not in ((len(y),), (len(y), len(classes))) or (scores.ndim == 1) != (len(classes) == 2):
        raise ValueError(
            f"scores must be (n,) for two classes or (n, C) for C, got shape {scores.shape} for {len(y)} rows and "
            f"{len(classes)} classes."
        )
    columns = [(classes[1], scores)] if scores.ndim == 1 else list(zip(classes, scores.T))
    found = [(str(label), y == label, values) for label, values in columns]
    found = [(label, own, values) for label, own, values in found if own.any() and not own.all()]
    if not found:
        raise ValueError("All rows are of one class: a curve needs rows of it and others.")
    return found


def _named(ax: Any, curves: int, corner: str) -> None:
    """A legend in the corner where curves are not."""
    if curves > len(COLORS):
        beside(ax)
    else:
        ax.legend(fontsize="small", loc=corner)


def plot_reliability(curve: Reliability, *, ax: Any = None) -> Any:
    """Share of correct answers over the probability that was claimed, with 95% intervals; the diagonal is honest.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import reliability_curve
    >>> from nearline.plots import plot_reliability
    >>> p = np.array([0.9, 0.8, 0.7, 0.2])
    >>> ax = plot_reliability(reliability_curve([1, 1, 0, 0], np.column_stack([1 - p, p]), [0, 1]))
    >>> ax.get_xlabel()
    'largest probability of the row'
    """
    ax = axes(ax)
    there = curve.count > 0
    low, high = curve.low[there], curve.high[there]
    x, y = curve.confidence[there], curve.accuracy[there]
    ax.plot([0, 1], [0, 1], color="gray", linestyle=":", label="as claimed")
    bars = np.maximum([y - low, high - y], 0)
    ax.errorbar(x, y, yerr=bars, fmt="o-", capsize=3, color=COLORS[0], label="found, 95% intervals")
    for a, b, n in zip(x, y, curve.count[there], strict=True):
        side, above = (1 if a < 0.1 else -1), (6 if b < 0.1 else -12)  # inside the picture, also at its edges
        place = {"textcoords": "offset points", "ha": "left" if side > 0 else "right"}
        ax.annotate(f"{n}", (a, b), xytext=(4 * side, above), fontsize="x-small", **place)
    ax.set(xlabel="largest probability of the row", ylabel="share correct", xlim=(0, 1.02), ylim=(0, 1.02))
    said = f"Reliability (expected calibration error {curve.expected_calibration_error:.3f}; numbers: rows)"
    ax.set_title(said, fontsize="medium")
    ax.legend(fontsize="small", loc="best")
    return ax
