"""Pictures in the plane: decision regions, what outliers do."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.plots.style import COLORS, axes, pyplot, scatter


@dataclass(frozen=True)
class Plane:
    """A plane in the space of the features: x = center + u_1 v_1 + u_2 v_2 with orthonormal v."""

    center: Array  # (D,)
    directions: Array  # (2, D)
    names: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, X: Any, y: Any, names: Any = None) -> Self:
        """The plane of two features themselves; of more, that in which the classes lie farthest apart.

        The first direction is that of Fisher: most variance between classes for the variance within. The second is the
        next best or, for two classes, that of most variance among the rest.
        """
        X = np.asarray(X, dtype=np.float64)
        if X.shape[1] < 2:
            raise ValueError("A plane needs at least 2 features, the rows have 1: add a column.")
        if X.shape[1] == 2:
            return cls(
                np.zeros(2), np.eye(2), ("", "") if names is None else (visible(names[0]), visible(names[1]))
            )
        center, codes = X.mean(axis=0), np.unique(np.asarray(y), return_inverse=True)[1]
        means = np.array([X[codes == c].mean(axis=0) for c in range(codes.max() + 1)])
        within = X - means[codes]
        scatter = within.T @ within / len(X)
        scatter += (1e-3 * np.trace(scatter) / len(scatter) + 1e-12) * np.eye(len(scatter))
        root = np.linalg.cholesky(scatter)
        between = np.linalg.solve(root, ((means - center) * np.sqrt(np.bincount(codes))[:, None]).T)
        u, size, _ = np.linalg.svd(between, full_matrices=False)
        found = np.linalg.solve(root.T, u[:, : 2 if len(means) > 2 else 1]).T
        if len(found) < 2 or size[1] <= 1e-9 * size[0]:
            first = found[0] / np.linalg.norm(found[0])
            rest = (X - center) - np.outer((X - center) @ first, first)
            found = np.vstack([first, np.linalg.svd(rest, full_matrices=False)[2][0]])
        return cls(center, np.linalg.qr(found.T)[0].T, ("first direction", "second direction"))

    def down(self, X: Any) -> Array:
        """Places (n, 2) of rows in the plane."""
        return (np.asarray(X, dtype=np.float64) - self.center) @ self.directions.T

    def up(self, places: Array) -> Array:
        """Points of the plane as rows (n, D)."""
        return self.center + places @ self.directions


def grid(places: Array, steps: int) -> tuple[tuple[Array, ...], Array]:
    """Points over the places and a tenth around them: as two grids, and in a row (steps^2, 2)."""
    low, high = places.min(axis=0), places.max(axis=0)
    pad = np.where(high > low, 0.1 * (high - low), 1.0)
    grids = np.meshgrid(*[np.linspace(low[j] - pad[j], high[j] + pad[j], steps) for j in range(2)])
    return grids, np.column_stack([g.ravel() for g in grids])


def paint(ax: Any, grids: tuple[Array, ...], codes: Array, classes: Array, sure: Array | None = None) -> None:
    """Each cell of a grid in the color of its class (contours would put a strip of class 1 between 0 and 2).

    Lines between the regions tell them apart without color; of more classes than colors, regions are named. ``sure``: the
    probability of the class that is called, which shades it.
    """
    n = len(classes)
    colors = pyplot().matplotlib.colors.ListedColormap([COLORS[i % len(COLORS)] for i in range(n)])
    half = [0.5 * (grid[-1, -1] - grid[0, 0]) / (len(grid) - 1) for grid in grids]
    sides = [side for grid, h in zip(grids, half) for side in (grid[0, 0] - h, grid[-1, -1] + h)]
    shade: Any = (
        0.25 if sure is None else 0.05 + 0.55 * np.clip((sure - 1.0 / n) / (1.0 - 1.0 / max(n, 2)), 0, 1)
    )
    painted = {"cmap": colors, "vmin": -0.5, "vmax": n - 0.5, "alpha": shade, "zorder": 0}
    ax.imshow(codes, origin="lower", extent=sides, aspect="auto", interpolation="nearest", **painted)
    there = np.unique(codes)
    for c in there if len(there) > 2 else there[1:]:
        ax.contour(*grids, codes == c, levels=[0.5], colors="0.3", linewidths=0.7, zorder=1)
    if sure is not None:
        lines = {"levels": [0.5, 0.75, 0.95], "colors": "0.2", "linewidths": 0.6, "linestyles": ":"}
        if np.ptp(sure) > 0 and (sure.min() < 0.95):
            ax.clabel(ax.contour(*grids, sure, **lines), fontsize="x-small")
    if n > len(COLORS):
        _name_regions(ax, grids, codes, classes)


def _name_regions(ax: Any, grids: tuple[Array, ...], codes: Array, classes: Array) -> None:
    """The label of each class where its region is widest."""
    from scipy.ndimage import distance_transform_edt

    for c in np.unique(codes):
        depth = distance_transform_edt(np.pad(codes == c, 1))[1:-1, 1:-1]
        at = np.unravel_index(int(depth.argmax()), depth.shape)
        place = float(grids[0][at]), float(grids[1][at])
        ax.text(*place, visible(classes[c])[:12], fontsize="x-small", ha="center", va="center", zorder=4)


def hatch(ax: Any, grids: tuple[Array, ...], unsettled: Array | None) -> None:
    """Hatching over what votes leave open."""
    if unsettled is None or not unsettled.any():
        return
    open_ = np.asarray(unsettled, dtype=float).reshape(grids[0].shape)
    shown = ax.contourf(*grids, open_, levels=[0.5, 1.5], colors="none", hatches=["////"], zorder=1)
    shown.set_edgecolor("0.35")
    shown.set_linewidth(0.0)


def plot_regions(
    predict: Any,
    X: Array,
    y: Array,
    *,
    plane: Plane | None = None,
    ambiguous: Any = None,
    names: Any = None,
    steps: int = 300,
    ax: Any = None,
) -> Any:
    """Decision regions of any classifier, by its ``predict``: of two features, or of more on a plane through their space.

    Rows off the plane are drawn where they fall on it, so that one may lie in a region of another class and yet be called
    right. ``ambiguous(X)`` marks with hatching where votes do not settle it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier
    >>> from nearline.plots import Plane, plot_regions
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_regions(KNeighborsClassifier().fit(X, y).predict, X, y, plane=Plane.of(X, y), steps=30)
    >>> ax.get_xlabel()
    'first direction'
    """
    ax = axes(ax)
    X = np.asarray(X)
    if plane is None and (X.ndim != 2 or X.shape[1] != 2):
        raise ValueError(
            f"Regions are drawn in the plane: X must be (n, 2), got shape {X.shape}; or give plane=Plane.of(X, y)."
        )
    plane = Plane.of(X, y, names) if plane is None else plane
    places = plane.down(X)
    grids, points = grid(places, steps)
    rows = plane.up(points).astype(X.dtype if X.dtype.kind == "f" else np.float64)
    called = np.asarray(predict(rows))
    classes = np.union1d(np.unique(y), np.unique(called))  # a class may be called that no row is of
    paint(ax, grids, np.searchsorted(classes, called).reshape(grids[0].shape), classes)
    hatch(ax, grids, None if ambiguous is None else np.asarray(ambiguous(rows)))
    scatter(ax, places, y, classes, 16.0)
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1], title="Decision regions")
    return ax


def plot_outliers(
    X: Any = None,
    y: Any = None,
    outliers: Any = None,
    *,
    models: Any = None,
    n_outliers: int = 12,
    alpha: float | None = None,
    axes: Any = None,
) -> Any:
    """What rows far on the right side do to boundaries: least squares turns toward them, logistic regression does not.

    ``outliers``: rows of the second class; without rows ``n_outliers`` are drawn. The wide gray line is each model's
    boundary without them, the black one with them. ``alpha``: of both models, by default 1e-6 and 1e-3.

    Examples
    --------
    >>> from nearline.plots import plot_outliers
    >>> [ax.get_title() for ax in plot_outliers()]
    ['least squares', 'logistic regression']
    """
    from nearline.estimators import LeastSquaresClassifier, LogisticRegression

    if X is None:
        X, y, outliers = _clouds(n_outliers)
    X, y, outliers = np.asarray(X, dtype=np.float64), np.asarray(y), np.asarray(outliers, dtype=np.float64)
    classes = np.unique(y)
    if len(classes) != 2 or X.shape[1] != 2:
        raise ValueError(
            f"Outliers are shown for two classes in the plane, got {len(classes)} classes and shape {X.shape}."
        )
    if models is None:
        models = {
            "least squares": LeastSquaresClassifier(alpha=1e-6 if alpha is None else alpha),
            "logistic regression": LogisticRegression(alpha=1e-3 if alpha is None else alpha),
        }
    if axes is None:
        size = (4.6 * len(models), 4.0)
        axes = pyplot().subplots(1, len(models), figsize=size, layout="constrained", sharey=True)[1]
    every, labels = np.vstack([X, outliers]), np.concatenate([y, np.full(len(outliers), classes[1])])
    frame = every.min(axis=0) - 0.5, every.max(axis=0) + 0.5
    for ax, (name, model) in zip(np.atleast_1d(axes), models.items(), strict=True):
        scatter(ax, every, labels, classes)
        for rows, own, color, wide, said in (
            (X, y, "0.7", 5.0, "without outliers"),
            (every, labels, "black", 1.5, "with outliers"),
        ):
            fitted = model.fit(rows, own)
            line = _boundary(fitted.coef_[0], float(np.ravel(fitted.intercept_)[0]), frame)
            ax.plot(*line, color=color, linewidth=wide, label=said)
        ax.set(xlim=(frame[0][0], frame[1][0]), ylim=(frame[0][1], frame[1][1]), title=name)
        ax.legend(fontsize="small", loc="upper right")
    return axes


def _clouds(n_outliers: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(3)
    a = rng.normal(size=(60, 2)) * [0.9, 0.9] + [-1.2, 1.6]
    b = rng.normal(size=(60, 2)) * [0.9, 0.9] + [1.6, -0.6]
    far = rng.normal(size=(n_outliers, 2)) * 0.5 + [7.0, -6.0]
    return np.vstack([a, b]), np.repeat(["first", "second"], 60), far


def _boundary(w: Array, b: float, frame: tuple[Array, Array]) -> tuple[Array, Array]:
    """Two points of the line w.x + b = 0, far enough apart for the frame."""
    middle = 0.5 * (frame[0] + frame[1])
    foot = middle - (w @ middle + b) / (w @ w) * w
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w) * float(np.linalg.norm(frame[1] - frame[0]))
    ends = np.array([foot - along, foot + along])
    return ends[:, 0], ends[:, 1]
