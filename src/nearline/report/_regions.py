"""Decision regions on the two directions that tell the classes apart best."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from nearline._arrays.design import Array, is_sparse
from nearline.decision import decide
from nearline.report._plain import rounded
from nearline.report._rows import MOST_TEST_ROWS, Sight

MOST_AXES_ROWS = 2_000  # from which the directions are found
SUBSPACE = 40  # leading directions of the rows within which classes are told apart
SIDE, LEAST_SIDE = 128, 24  # cells
WORK = 2.5e9  # numbers that the decisions of all cells may touch
RIDGE = 1e-3  # added to variances within classes, of 1 in all
TRIMMED = 0.5  # percent of the rows at each end that may lie outside of the picture


def region_facts(sight: Sight) -> dict[str, Any]:
    """Classes that the model calls over a plane, with rows on it.

    The plane shows P = (Z - mean) A, two columns A of the rows Z as the model sees them; a place p stands for the mean
    row that is expected there, mean + p B, B the least squares regression of Z on P.
    """
    if sight.by_kernel(sight.steps[1]):
        return {"said": "The model sees strings or trees, which lie on no plane."}
    Z, codes = sight.numbers, sight.codes
    if len(codes) < 3 or Z.shape[1] < 2:
        return {"said": "Regions need at least two columns and three rows."}
    some = np.arange(len(codes))[:: -(-len(codes) // MOST_AXES_ROWS)]
    mean, A, names = directions(Z[some], codes[some])
    if A is None:
        return {"said": "All rows are alike in what the model sees, so there is no plane to show them on."}
    P = Z @ A - mean @ A
    B = _lift(Z[some], P[some], mean)
    side = _side(sight, Z)
    if side < LEAST_SIDE:
        return {"said": f"Decisions over a plane of {Z.shape[1]:,} columns would take too long here."}
    shown, own, right, what = _points(sight, P, mean, A)
    low, high = _frame(P)
    grid = _grid(low, high, side)
    cells = _decisions(sight, mean, B, grid)
    spread = float(((P[some] @ B) ** 2).sum()) / max(_total(Z[some], mean), 1e-300)
    inside = ((shown >= low) & (shown <= high)).all(axis=1)
    return {
        "axes": names,
        "low": rounded(low),
        "high": rounded(high),
        "side": side,
        "cells": cells.reshape(side, side).tolist(),
        "classes": sight.contest.classes_.tolist(),
        "points": rounded(shown[inside], 4),
        "codes": own[inside].tolist(),
        "right": right[inside].tolist(),
        "what": what,
        "outside": int((~inside).sum()),
        "share_of_variance": rounded(min(spread, 1.0), 3),
        "looked_at": len(codes) if sight.sampled else None,
        "by_votes": sight.votes,
    }


def directions(Z: Any, codes: Array) -> tuple[Array, Array | None, list[str]]:
    """Mean (D,), two columns A (D, 2) and their names: discriminant directions, then the leading ones of the rest.

    Within the leading principal directions of the rows, where the covariance within classes can be inverted, discriminant
    directions have the largest variance between classes for the variance within them.
    """
    mean = np.asarray(Z.mean(axis=0), dtype=np.float64).ravel()
    V = _leading(Z, mean)
    T = np.asarray(Z @ V, dtype=np.float64) - mean @ V
    scale = T.std(axis=0)
    kept = scale > 1e-9 * max(float(scale.max(initial=0.0)), 1e-300)
    if kept.sum() < 2:
        return mean, None, []
    V, T = V[:, kept] / scale[kept], T[:, kept] / scale[kept]
    sizes = np.bincount(codes)
    present = sizes > 0
    M = np.array([T[codes == c].mean(axis=0) for c in np.flatnonzero(present)])
    share = sizes[present] / len(codes)
    within = T.T @ T / len(T) - (M * share[:, None]).T @ M  # total less between
    values, vectors = np.linalg.eigh(within)
    root = vectors / np.sqrt(np.maximum(values, 0.0) + RIDGE)
    _, lengths, found = np.linalg.svd(np.sqrt(share)[:, None] * M @ root, full_matrices=False)
    n_good = int((lengths > 1e-6 * max(float(lengths.max()), 1e-300)).sum())
    axes = [root @ found[i] for i in range(min(2, n_good))]
    names = [f"{word} discriminant direction" for word in ("first", "second")][: len(axes)]
    for e in np.eye(T.shape[1]):  # whitened principal directions, leading first, for what is lacking
        if len(axes) == 2:
            break
        rest = e - sum(a * (a @ e) / (a @ a) for a in axes)
        if np.linalg.norm(rest) > 0.3:
            axes.append(rest)
            names.append("leading principal direction of the rest")
    return mean, V @ np.column_stack(axes), names


def _leading(Z: Any, mean: Array) -> Array:
    """(D, q) leading principal directions; of sparse rows those about 0, so that they stay sparse."""
    n, D = Z.shape
    if not is_sparse(Z) and D <= 4 * SUBSPACE:
        centered = np.asarray(Z, dtype=np.float64) - mean
        vectors = np.linalg.eigh(centered.T @ centered)[1][:, ::-1]
        return np.asarray(vectors[:, :SUBSPACE])
    from sklearn.utils.extmath import randomized_svd

    rows = Z if is_sparse(Z) else np.asarray(Z, dtype=np.float64) - mean
    q = min(SUBSPACE, n - 1, D - 1)
    return np.asarray(randomized_svd(rows, q, n_iter=2, random_state=0)[2].T, dtype=np.float64)


def _lift(Z: Any, P: Array, mean: Array) -> Array:
    """(2, D): how the rows' mean moves with the place."""
    cross = np.asarray(Z.T @ P, dtype=np.float64).T - np.outer(P.sum(axis=0), mean)
    return np.linalg.lstsq(P.T @ P, cross, rcond=None)[0]


def _total(Z: Any, mean: Array) -> float:
    squares = Z.multiply(Z).sum() if is_sparse(Z) else float((np.asarray(Z, dtype=np.float64) ** 2).sum())
    return float(squares) - Z.shape[0] * float(mean @ mean)


def _frame(P: Array) -> tuple[Array, Array]:
    low, high = np.percentile(P, [TRIMMED, 100 - TRIMMED], axis=0)
    pad = 0.08 * np.maximum(high - low, 1e-12)
    return low - pad, high + pad


def _grid(low: Array, high: Array, side: int) -> Array:
    """(side^2, 2) middles of the cells, from the top left, line by line."""
    middles = (np.arange(side) + 0.5) / side
    across, down = low[0] + middles * (high[0] - low[0]), high[1] - middles * (high[1] - low[1])
    return np.stack([np.tile(across, side), np.repeat(down, side)], axis=1)


def _side(sight: Sight, Z: Any) -> int:
    """Cells in a line, such that the decisions stay quick."""
    if _is_linear(sight, Z):
        return SIDE
    rows = len(sight.codes) if sight.votes else 1_000
    return int(min(SIDE, (WORK / (rows * Z.shape[1])) ** 0.5)) if Z.shape[1] <= 20_000 else 0


def _is_linear(sight: Sight, Z: Any) -> bool:
    """Whether scores are W z + b, asked of a few rows rather than of the model's type."""
    model = sight.steps[1]
    W, b = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if W is None or b is None or np.ndim(W) != 2 or np.shape(W)[1] != Z.shape[1] or np.shape(b) != (len(W),):
        return False
    scores = np.asarray(Z[:5] @ W.T + b)
    said = np.reshape(model.decision_function(Z[:5]), scores.shape)
    return bool(np.allclose(scores, said, rtol=1e-3, atol=1e-3 * (1 + float(np.abs(said).max()))))


def _decisions(sight: Sight, mean: Array, B: Array, grid: Array) -> Array:
    """Class numbers of the rows that are expected at the places of the grid."""
    model, known = sight.steps[1], sight.contest.classes_
    if sight.votes and sight.sampled:  # every cell asks every row: so many would take minutes
        model = clone(model).fit(sight.numbers, sight.training[1])
    if _is_linear(sight, sight.numbers):
        W = np.asarray(model.coef_, dtype=np.float64)
        scores = grid @ (B @ W.T) + W @ mean + np.asarray(model.intercept_, dtype=np.float64)
        return np.searchsorted(known, decide(scores, np.asarray(model.classes_)))
    dtype = sight.numbers.dtype
    step = max(1, int(2e7 // max(1, B.shape[1])))
    parts = [model.predict((mean + grid[i : i + step] @ B).astype(dtype)) for i in range(0, len(grid), step)]
    return np.searchsorted(known, np.concatenate(parts))


def _points(sight: Sight, P: Array, mean: Array, A: Array) -> tuple[Array, Array, Array, str]:
    """Places, class numbers, and whether they were called right: test rows if the test is open, else training rows."""
    opened, known = sight.opened, sight.contest.classes_
    if opened is None or sight.test is None:
        some = np.arange(len(P))[:: -(-len(P) // MOST_TEST_ROWS)]
        return P[some], sight.codes[some], np.ones(len(some), bool), "training rows"
    most = min(MOST_TEST_ROWS, sight.most // 2)
    numbers = np.arange(len(opened.codes))[:: -(-len(opened.codes) // most)]
    numbers = numbers[np.isin(opened.classes[opened.codes[numbers]], known)]
    places = np.asarray(sight.steps[0].transform(_safe_indexing(sight.test[0], numbers)) @ A) - mean @ A
    codes = np.searchsorted(known, opened.classes[opened.codes[numbers]])
    return places, codes, opened.predictions.labels[numbers] == opened.codes[numbers], "test rows"
