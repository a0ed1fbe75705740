"""Edges between cells of nearest rows by any metric: followed through the squares of a grid in the plane."""

import numpy as np

from nearline._arrays.design import Array
from nearline.neighbors.index import Index
from nearline.neighbors.metric import Metric

STEPS = 300  # points of the grid each way


def traced(
    metric: Metric, places: Array, frame: tuple[float, float, float, float], steps: int = STEPS
) -> tuple[Array, Array]:
    """Pieces (e, 2, 2) of the edges, and the numbers (e, 2) of the places on either side.

    Where two neighboring points of the grid are nearest to different places, the edge crosses between them where both are
    equally far (by linear interpolation). A square of the grid with two crossings holds a piece from one to the other, a
    square with more has pieces to their middle, where cells meet.
    """
    x, y = np.linspace(frame[0], frame[1], steps), np.linspace(frame[2], frame[3], steps)
    points = np.stack(np.meshgrid(x, y), axis=-1)  # (rows, columns, 2)
    cell = Index(places, metric=metric).search(points.reshape(-1, 2), 1, ties=False).indices[:, 0]
    cell = cell.reshape(steps, steps)
    across = _crossings(metric, places, points[:, :-1], points[:, 1:], cell[:, :-1], cell[:, 1:])
    upward = _crossings(metric, places, points[:-1], points[1:], cell[:-1], cell[1:])
    sides = np.stack([across[:-1], across[1:], upward[:, :-1], upward[:, 1:]], axis=2)  # (s, s, 4, 2)
    corners = np.stack([cell[:-1, :-1], cell[:-1, 1:], cell[1:, :-1], cell[1:, 1:]], axis=2)
    ends = np.array([[0, 1], [2, 3], [0, 2], [1, 3]])  # corners of each side
    crossed = np.isfinite(sides[..., 0])
    count = crossed.sum(axis=2)
    segments, pairs = [], []
    two = count == 2
    order = np.argsort(~crossed[two], axis=1, kind="stable")[:, :2]
    segments.append(np.take_along_axis(sides[two], order[:, :, None], axis=1))
    pairs.append(np.take_along_axis(corners[two], ends[order[:, 0]], axis=1))
    more = count > 2
    middle = np.nanmean(np.where(crossed[more][:, :, None], sides[more], np.nan), axis=1)
    at, side = np.nonzero(crossed[more])
    segments.append(np.stack([sides[more][at, side], middle[at]], axis=1))
    pairs.append(np.take_along_axis(corners[more][at], ends[side], axis=1))
    return np.concatenate(segments), np.concatenate(pairs)


def _crossings(metric: Metric, places: Array, p: Array, q: Array, a: Array, b: Array) -> Array:
    """Between points p nearest to places a and q nearest to b: where a and b are equally far; NaN if a is b."""
    found = np.full(p.shape, np.nan)
    differ = a != b
    p, q, a, b = p[differ], q[differ], a[differ], b[differ]
    lead_p = _distances(metric, places, p, a) - _distances(metric, places, p, b)  # <= 0
    lead_q = _distances(metric, places, q, a) - _distances(metric, places, q, b)  # >= 0
    gap = lead_q - lead_p
    t = np.where(gap > 0, -lead_p / np.where(gap > 0, gap, 1.0), 0.5)
    found[differ] = p + t[:, None] * (q - p)
    return found


def _distances(metric: Metric, places: Array, points: Array, own: Array) -> Array:
    """The distance of each point to its own place."""
    out = np.empty(len(points))
    order = np.argsort(own, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(own[order])) + 1):
        if len(rows):
            one = Index(places[own[rows[:1]]], metric=metric)
            out[rows] = one.search(points[rows], 1, ties=False).distances[:, 0]
    return out
