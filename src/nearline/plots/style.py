"""What all pictures share."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible

# Okabe-Ito, with wine in place of its yellow, which is hardly seen on white: distinguishable with any color vision.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255"]
DASHES: list[Any] = [
    "-",
    "--",
    "-.",
    ":",
    (0, (7, 2)),
    (0, (4, 1, 1, 1, 1, 1)),
    (0, (1, 3)),
    (0, (9, 2, 2, 2)),
]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'nearline[plots]'") from error
    return plt


def axes(ax: Any) -> Any:
    return pyplot().subplots(figsize=(6.4, 4.2), layout="constrained")[1] if ax is None else ax


def panels(n: int, axes: Any, *, size: tuple[float, float], across: int = 4, **shared: Any) -> Array:
    """The axes given, or as many new ones in rows of at most ``across``."""
    if axes is not None:
        given = np.ravel(np.asarray(axes, dtype=object))
        if len(given) != n:
            raise ValueError(f"There are {n} panels to draw but {len(given)} axes: give one for each.")
        return given
    across = min(n, across)
    down = -(-n // across)
    wide = (size[0] * across, size[1] * down)
    made = pyplot().subplots(down, across, figsize=wide, layout="constrained", squeeze=False, **shared)[1]
    for ax in made.ravel()[n:]:
        ax.set_axis_off()
    return np.asarray(made.ravel()[:n])


def style(i: int) -> dict[str, Any]:
    """Lines by color and, so that they are told apart without it, by dashes."""
    return {"color": COLORS[i % len(COLORS)], "linestyle": DASHES[i % len(DASHES)]}


def look(i: int, n: int) -> dict[str, Any]:
    """Marks of the i-th of n classes, by color and shape."""
    shape = i if n <= len(MARKERS) else i // len(COLORS)
    return {"color": COLORS[i % len(COLORS)], "marker": MARKERS[shape % len(MARKERS)]}


def scatter(ax: Any, X: Array, y: Array, classes: Array, size: float = 18.0) -> None:
    """The rows of each class, by color and by marker; every class is in the legend."""
    for i, label in enumerate(classes):
        rows = np.asarray(y) == label
        one = look(i, len(classes))
        ax.scatter(
            *X[rows].T, s=size, edgecolor="white", linewidth=0.4, label=visible(label), zorder=3, **one
        )
    beside(ax) if len(classes) > len(COLORS) else ax.legend(fontsize="small")


def beside(ax: Any) -> None:
    """A long legend to the right of the picture."""
    columns = -(-len(ax.get_legend_handles_labels()[1]) // 16)
    ax.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=max(columns, 1))
