"""Which rows are in which fold."""

from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline.plots.style import COLORS, MARKERS, pyplot
from nearline.selection.folds import as_folds

MOST_ROWS, MOST_FOLDS = 2000, 40  # beyond which bars are too thin to be seen


def plot_folds(
    y: Any,
    folds: Any = 5,
    *,
    split: str = "stratified",
    groups: Any = None,
    random_state: int = 0,
    ax: Any = None,
) -> Any:
    """The rows across, the folds upward: a bar where a row is left out, none where it is trained on, a dotted line where
    it is neither; under it the classes of the rows.

    Parameters are those of :func:`nearline.sweep`: a number of folds, "leave-one-out", fold numbers, pairs or a splitter.

    Examples
    --------
    >>> from nearline.plots import plot_folds
    >>> ax = plot_folds([0, 0, 0, 1, 1, 1], 3)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['class', 'fold 1', 'fold 2', 'fold 3']
    """
    y = np.asarray(y)
    made = as_folds(folds, y, split=split, groups=groups, random_state=random_state)
    if len(y) > MOST_ROWS or len(made) > MOST_FOLDS:
        raise ValueError(
            f"{len(y):,} rows in {len(made):,} folds are too many to be seen: at most {MOST_ROWS:,} and {MOST_FOLDS}."
        )
    if ax is None:
        ax = pyplot().subplots(figsize=(7.0, 1.6 + 0.32 * len(made)), layout="constrained")[1]
    for f, (train, test) in enumerate(made, 1):
        neither = np.setdiff1d(np.arange(len(y)), np.concatenate([train, test]))
        ax.broken_barh(_runs(train), (f - 0.4, 0.8), facecolor="0.9", edgecolor="none")
        ax.broken_barh(_runs(test), (f - 0.4, 0.8), facecolor=COLORS[0], edgecolor="none")
        ax.broken_barh(_runs(neither), (f - 0.02, 0.04), facecolor="0.6", edgecolor="none")
    classes = np.unique(y)
    for i, label in enumerate(classes):
        own = np.flatnonzero(y == label)
        look = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)]}
        ax.scatter(own + 0.5, np.zeros(len(own)), s=14, linewidth=0, label=visible(label), **look)
    ax.set_yticks(range(len(made) + 1), ["class", *(f"fold {f}" for f in range(1, len(made) + 1))])
    ax.set(xlim=(0, len(y)), ylim=(len(made) + 0.6, -0.6), xlabel="row")
    ax.set_title(
        f"Rows that each of {len(made)} folds leaves out (dark) and trains on (light)", fontsize="medium"
    )
    ax.tick_params(axis="y", length=0)
    if len(classes) <= len(COLORS):
        ax.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _runs(rows: Any) -> list[tuple[float, float]]:
    """(first row, number of rows) of rows that follow each other."""
    rows = np.sort(np.asarray(rows))
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []
    return [(float(part[0]), float(len(part))) for part in parts]
