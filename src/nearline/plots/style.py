"""What all pictures share."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible

# Okabe-Ito: distinguishable with any color vision.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
DASHES = ["-", "--", "-.", ":"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'nearline[plots]'") from error
    return plt


def axes(ax: Any) -> Any:
    return pyplot().subplots(figsize=(6.4, 4.2), layout="constrained")[1] if ax is None else ax


def style(i: int) -> dict[str, Any]:
    return {"color": COLORS[i % len(COLORS)], "linestyle": DASHES[i // len(COLORS) % len(DASHES)]}


def scatter(ax: Any, X: Array, y: Array, classes: Array, size: float = 18.0) -> None:
    """The rows of each class, by color and by marker; every class is in the legend."""
    for i, label in enumerate(classes):
        rows = np.asarray(y) == label
        look = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i // len(COLORS) % len(MARKERS)]}
        if len(classes) <= len(MARKERS):
            look["marker"] = MARKERS[i]
        ax.scatter(
            *X[rows].T, s=size, edgecolor="white", linewidth=0.4, label=visible(label), zorder=3, **look
        )
    beside(ax) if len(classes) > len(COLORS) else ax.legend(fontsize="small")


def beside(ax: Any) -> None:
    """A long legend to the right of the picture."""
    ax.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
