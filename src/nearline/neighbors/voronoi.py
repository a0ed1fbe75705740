"""Voronoi view of 1-NN in the plane: the edges between cells, exact for L2, and which of them decide."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError
from nearline.neighbors.cells import traced
from nearline.neighbors.metrics import Metric, as_metric

FLAT = 1e-10  # share of the extent below which points count as on one line
SHORT = 1e-9  # edges shorter than this share of the frame are points where four or more cells meet


@dataclass(frozen=True)
class VoronoiEdges:
    """Edges between the cells of rows, clipped to a frame."""

    segments: Array  # (e, 2, 2): from and to
    rows: Array  # (e, 2): the rows on either side, the first of equal ones
    boundary: (
        Array  # (e,): whether the labels on either side differ, so that it is part of the decision boundary
    )
    frame: tuple[float, float, float, float]  # left, right, bottom, top


def voronoi_edges(X: Any, y: Any = None, *, metric: Any = "l2", frame: Any = None) -> VoronoiEdges:
    """Edges of the cells {x: row i is nearest}; with labels, which of them 1-NN decides at.

    The edge of rows p and q lies on d(x, p) = d(x, q), and is cut off where a neighbor of either is nearer. By L2 it is
    straight and exact. By other metrics it is traced on a grid of 300 x 300 in the frame, in short pieces. Equal rows share
    a cell; if their labels differ it is a class of its own. ``frame``: (left, right, bottom, top), by default that of the
    rows and a tenth more.

    Examples
    --------
    >>> from nearline import voronoi_edges
    >>> edges = voronoi_edges([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]], [0, 0, 1], frame=(-1, 5, -1, 1))
    >>> edges.segments[edges.boundary].tolist()
    [[[3.0, -1.0], [3.0, 1.0]]]
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2 or len(X) == 0:
        raise ValueError(f"Voronoi edges are for rows in the plane: X must be (n, 2), got shape {X.shape}.")
    if not np.isfinite(X).all():
        raise ValueError("X has NaN or infinite values: drop those rows.")
    labels = (
        np.zeros(len(X), dtype=np.int64) if y is None else np.unique(np.asarray(y), return_inverse=True)[1]
    )
    if len(labels) != len(X):
        raise ValueError(f"y must have one label for each of the {len(X)} rows, got {len(labels)}.")
    frame = _frame_of(X) if frame is None else _checked_frame(frame)
    places, first, place_of = np.unique(X, axis=0, return_index=True, return_inverse=True)
    classes = _classes(labels, place_of.ravel(), len(places))
    measured = as_metric(metric).plain()
    if not measured.straight:
        return _traced(_measurable(measured, X, y), places, first, classes, frame)
    # The middle of the rows is subtracted, so that an offset costs no digits; squares neither overflow nor vanish in a
    # unit of their size, a power of two.
    middle = places.mean(axis=0)
    unit = _unit(places - middle)
    low, high = (np.array(frame[::2]) - middle) / unit, (np.array(frame[1::2]) - middle) / unit
    points = (places - middle) / unit
    pairs = _neighbors(points)
    segments, kept = _clipped(points, pairs, low, high)
    pairs = pairs[kept]
    boundary = classes[pairs[:, 0]] != classes[pairs[:, 1]]
    return VoronoiEdges(segments * unit + middle, first[pairs], boundary, frame)


def _traced(metric: Metric, places: Array, first: Array, classes: Array, frame: Any) -> VoronoiEdges:
    """Edges by a metric that has no straight ones."""
    segments, pairs = traced(metric, places, frame)
    return VoronoiEdges(segments, first[pairs], classes[pairs[:, 0]] != classes[pairs[:, 1]], frame)


def _measurable(metric: Metric, X: Array, y: Any) -> Metric:
    """Refuse metrics whose cells cannot be drawn; learn what a metric learns from the rows."""
    if metric.given or not metric.in_plane:
        raise ValueError(
            f"Cells of metric {metric.name!r} cannot be drawn: it does not measure how far points of the plane are apart. "
            "Choose 'l1', 'l2', 'l-infinity', 'cosine', Lq(q) or Mahalanobis('total')."
        )
    return metric.fit(X, y) if metric.learns else metric


def _checked_frame(frame: Any) -> tuple[float, float, float, float]:
    sides = np.asarray(frame)
    if sides.shape != (4,) or sides.dtype.kind not in "iuf" or not np.isfinite(sides).all():
        raise ParameterError("frame", frame, "four numbers (left, right, bottom, top)")
    left, right, bottom, top = (float(side) for side in sides)
    if not (left < right and bottom < top):
        raise ValueError(f"frame must have left < right and bottom < top, got {frame!r}.")
    return left, right, bottom, top


def _unit(points: Array) -> float:
    """A power of two of the size of the points, 1 if they are all at 0."""
    size = float(np.abs(points).max(initial=0.0))
    return 2.0 ** int(np.floor(np.log2(size))) if size > 0 else 1.0


def _frame_of(X: Array) -> tuple[float, float, float, float]:
    low, high = X.min(axis=0), X.max(axis=0)
    pad = np.where(high > low, 0.1 * (high - low), max(0.1 * float((high - low).max()), 0.5))
    return float(low[0] - pad[0]), float(high[0] + pad[0]), float(low[1] - pad[1]), float(high[1] + pad[1])


def _classes(labels: Array, place_of: Array, n_places: int) -> Array:
    """The label of each place; places whose rows disagree have numbers of their own, by the labels that meet there."""
    low, high = np.full(n_places, labels.max(initial=0) + 1), np.full(n_places, -1)
    np.minimum.at(low, place_of, labels)
    np.maximum.at(high, place_of, labels)
    sets: dict[tuple[int, ...], int] = {}
    out = low.copy()
    for place in np.flatnonzero(low != high):
        present = tuple(np.unique(labels[place_of == place]).tolist())
        out[place] = sets.setdefault(present, int(labels.max()) + 1 + len(sets))
    return out


def _neighbors(P: Array) -> Array:
    """(e, 2) pairs of points whose cells meet."""
    from scipy.spatial import Voronoi

    if len(P) < 2:
        return np.empty((0, 2), dtype=np.int64)
    _, sizes, axes = np.linalg.svd(P - P.mean(axis=0), full_matrices=False)
    if len(P) == 2 or sizes[1] <= FLAT * sizes[0]:  # on one line
        order = np.argsort(P @ axes[0], kind="stable")
        return np.column_stack([order[:-1], order[1:]])
    return np.asarray(Voronoi(P / np.abs(P).max()).ridge_points, dtype=np.int64)


def _clipped(P: Array, pairs: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Segments of the pairs' bisectors inside the frame where no neighbor is nearer, and which pairs have one."""
    around: list[list[int]] = [[] for _ in P]
    for a, b in pairs.tolist():
        around[a].append(b)
        around[b].append(a)
    shortest = SHORT * float((high - low).max())
    segments, kept = [], []
    for e, (a, b) in enumerate(pairs.tolist()):
        p, q = P[a], P[b]
        middle, along = 0.5 * (p + q), np.array([p[1] - q[1], q[0] - p[0]])
        along /= np.hypot(*along)
        others = np.array([r for r in {*around[a], *around[b]} if r not in (a, b)], dtype=np.int64)
        # |x - p|^2 <= |x - r|^2 is linear in t for x = middle + t * along; so are the sides of the frame.
        r = P[others] - p
        slopes = np.concatenate([2.0 * r @ along, along, -along])
        limits = np.concatenate(
            [(r * (P[others] + p - 2.0 * middle)).sum(axis=1), high - middle, middle - low]
        )
        up, down = slopes > 0, slopes < 0
        if (limits[~up & ~down] < 0).any():
            continue
        end = float((limits[up] / slopes[up]).min())
        begin = float((limits[down] / slopes[down]).max())
        if end - begin > shortest:
            segments.append([middle + begin * along, middle + end * along])
            kept.append(e)
    return np.array(segments).reshape(-1, 2, 2), np.array(kept, dtype=np.int64)
