"""The cells of 1-NN in the plane, drawn."""

from typing import Any

import numpy as np

from nearline.neighbors.metrics import METRICS, as_metric
from nearline.neighbors.voronoi import voronoi_edges
from nearline.plots.samples import Units
from nearline.plots.style import axes, beside, scatter


def plot_voronoi(X: Any, y: Any = None, ax: Any = None, *, metric: Any = "l2", units: Any = None) -> Any:
    """Cells of 1-NN (thin), its decision boundary (thick) and the rows by class; without y the cells and the rows.

    ``metric``: L2, whose edges are exact, or one whose edges are traced on a grid, see :func:`nearline.voronoi_edges`.
    ``units``: a :class:`nearline.plots.Units`, if cells are those of ``units.off(X)``, drawn as they lie in X.
    """
    units = Units() if units is None else units
    edges = voronoi_edges(units.off(X), y, metric=metric)
    labeled, X = y is not None, np.asarray(X, dtype=np.float64)
    ax, y = axes(ax), np.asarray(y) if labeled else np.full(len(X), "rows")
    for decides, style in (
        (False, {"color": "0.75", "linewidth": 0.8}),
        (True, {"color": "black", "linewidth": 1.8}),
    ):
        chosen = units.on(edges.segments[edges.boundary == decides])
        # One line with gaps is drawn far faster than many lines.
        path = np.full((len(chosen), 3, 2), np.nan)
        path[:, :2] = chosen
        label = "decision boundary" if decides and labeled else None
        ax.plot(*path.reshape(-1, 2).T, label=label, zorder=1 + decides, **style)
    scatter(ax, X, y, np.unique(y), 22.0)
    (left, bottom), (right, top) = units.on(np.reshape(edges.frame, (2, 2)).T)
    across, up = np.broadcast_to(units.spread, 2)
    by = as_metric(metric).plain()
    said = "" if by == METRICS["l2"] else f", metric {by!r}" if by.parts() else f", metric {by.name}"
    ax.set(
        xlim=(left, right),
        ylim=(bottom, top),
        aspect=float(across / up),  # as long up as across to who measures the distances
        title=f"Cells{' and decision boundary' * labeled} of 1-NN{said}",
    )
    beside(ax)
    return ax
