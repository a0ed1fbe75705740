"""Over- and underfitting: training and test error over capacity."""

from typing import Any

import numpy as np

from nearline.plots.style import axes, style
from nearline.selection.curves import Curve

SIMPLER_WHEN_LARGE = ("n_neighbors", "alpha")


def plot_capacity(curve: Curve, *, ax: Any = None) -> Any:
    """Errors on training rows and on rows left out, capacity growing to the right; a line at the least error left out.

    Left of it models are too simple and err on all rows, right of it they learn rows by heart.

    Parameters
    ----------
    curve : of :func:`nearline.capacity_curve`, with accuracies. Many neighbors and large alpha are little capacity.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier, capacity_curve
    >>> from nearline.plots import plot_capacity
    >>> plot_capacity(capacity_curve(KNeighborsClassifier(), *load_iris(return_X_y=True), [1, 5, 50])).get_xlabel()
    'capacity →  (n_neighbors, from large to small)'
    """
    if curve.scoring != "accuracy":
        raise ValueError(
            f"Errors are 1 - accuracy, the curve has {curve.scoring!r}: plot_curve shows other scores."
        )
    values = np.asarray(curve.values)
    if not np.issubdtype(values.dtype, np.number):
        raise ValueError(f"Capacity is a number, {curve.name} is not: plot_curve shows such parameters.")
    ax = axes(ax)
    means = []
    for i, (label, scores) in enumerate((("rows left out", curve.test), ("training rows", curve.train))):
        error = 1.0 - scores
        means.append(error.mean(axis=1))
        look = style(i)
        bars = error.std(axis=1, ddof=1) if error.shape[1] > 1 else None
        ax.errorbar(
            values, means[-1], yerr=bars, capsize=3, marker="os"[i], markersize=4, label=label, **look
        )
    best = values[int(np.argmin(means[0]))]
    ax.axvline(best, color="black", linewidth=1.0, linestyle=":", label=f"least error left out: {best:g}")
    positive = values.min() > 0 and values.max() > 5 * values.min()
    ax.set_xscale("log" if positive else "linear")
    if positive:
        shown = values if len(values) <= 10 else values[::2]
        ax.set_xticks(shown, [f"{value:.2g}" for value in shown], fontsize="small")
        ax.minorticks_off()
    order = ""
    if curve.name in SIMPLER_WHEN_LARGE:
        ax.invert_xaxis()
        order = ", from large to small"
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.14 * (high - low))  # a strip for the words, above all bars
    for where, side, said in ((0.02, "left", "underfitting"), (0.98, "right", "overfitting")):
        ax.text(
            where, 0.97, said, ha=side, va="top", transform=ax.transAxes, fontsize="small", style="italic"
        )
    ax.set(
        xlabel=f"capacity →  ({curve.name}{order})", ylabel="error (bars: ±1 standard deviation over folds)"
    )
    ax.set_title("Training and test error over capacity")
    ax.legend(fontsize="small", loc="upper center")
    return ax
