"""Margins of linear machines of two classes: over one feature, in the plane of two, across the boundary in more."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.plots.regions import Plane, grid
from nearline.plots.samples import Units
from nearline.plots.style import axes, scatter

RING = {"s": 75, "facecolor": "none", "edgecolor": "black", "linewidth": 1.0, "zorder": 4}


def plot_margins(
    model: Any, X: Any, y: Any, *, names: Any = None, units: Units | None = None, ax: Any = None
) -> Any:
    """A linear classifier of two classes: where f = -1, 0 and 1, and rings around its support vectors.

    They are the rows ``model.support_``, whose dual variables are positive; a model that has none (logistic regression)
    gets rings around the rows with y f < 1 instead. One feature is drawn across, with the scores upward. Of more than two
    the picture has the distance to the boundary across, which is f / |w|, and the direction of most variance along it
    upward.

    Parameters
    ----------
    model : fitted, with ``coef_`` (1, D), ``intercept_`` and ``classes_``.
    X, y : the rows and labels that it was fitted to.
    names : of the one or two features.
    units : if the model was fitted to ``units.off(X)``; at most two features are then drawn as they are in X.

    Examples
    --------
    >>> from nearline import LinearSVM
    >>> from nearline.plots import plot_margins
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"]
    >>> ax = plot_margins(LinearSVM(hard_margin=True, tol=1e-8).fit(X, y), X, y)
    >>> ax.get_title()
    'Margin 1 on either side, 2 support vectors'
    """
    X, y, units = np.asarray(X, dtype=np.float64), np.asarray(y), units or Units()
    _check(model, X, y)
    ax = axes(ax)
    w, b = model.coef_[0].astype(np.float64), float(np.ravel(model.intercept_)[0])
    size = float(np.linalg.norm(w))
    if size == 0:
        raise ValueError("All weights of the model are 0: it has no boundary and no margin. Lower alpha.")
    f = units.off(X) @ w + b
    held, said = _held(model, f, y)
    if X.shape[1] == 1:
        places = _over_one(ax, X[:, 0], f, (b, w[0], units), names)
    else:
        places = _in_the_plane(ax, X, w, b, units, names)
    scatter(ax, places, y, model.classes_)
    ax.scatter(*places[held].T, label=said, **RING)
    ax.legend(fontsize="small")
    unit = f" {units.name}" if units.name else ""
    ax.set_title(f"Margin {1.0 / size:.3g}{unit} on either side, {_counted(len(held), said)}")
    return ax


def _check(model: Any, X: Array, y: Array) -> None:
    if not hasattr(model, "coef_"):
        raise ValueError(
            f"Margins are drawn of fitted linear models, got {model!r} without coef_: fit it first, or take "
            "plots.plot_kernel_margins for kernel machines and plots.plot_regions for any classifier."
        )
    if model.coef_.shape[0] != 1:
        raise ValueError(
            f"Margins are drawn between two classes, the model has {len(model.classes_)}: give rows of two of them."
        )
    if X.ndim != 2 or X.shape[1] != model.coef_.shape[1]:
        raise ValueError(
            f"X must be the rows that the model was fitted to, of {model.coef_.shape[1]} features; got the shape {X.shape}."
        )
    others = y[~np.isin(y, model.classes_)]
    if len(others):
        raise ValueError(
            f"The model is of the classes {model.classes_.tolist()}, y has {others.tolist()[0]!r}: give their rows only."
        )


def _held(model: Any, f: Array, y: Array) -> tuple[Array, str]:
    """Numbers of the rows that get a ring, and what they are."""
    support = getattr(model, "support_", None)
    if support is None:
        return np.flatnonzero(np.where(y == model.classes_[1], f, -f) < 1.0), "y f < 1"
    if len(support) and support.max() >= len(f):
        raise ValueError(
            f"Row {support.max()} is a support vector of the model, X has {len(f)} rows: give the rows it was fitted to."
        )
    return np.asarray(support), "support vectors"


def _counted(n: int, said: str) -> str:
    if said == "y f < 1":
        return f"{n} rows with {said}"
    return f"{n} {said if n != 1 else 'support vector'}"


def _over_one(ax: Any, x: Array, f: Array, line: tuple[float, float, Units], names: Any) -> Array:
    """The scores over one feature; gives the places of the rows, which lie on their line."""
    b, w, units = line
    pad = 0.1 * float(np.ptp(x)) or 1.0
    ends = np.array([x.min() - pad, x.max() + pad])
    ax.plot(ends, units.off(ends[:, None])[:, 0] * w + b, color="0.4", linewidth=1.0, zorder=1)
    for level, style in ((-1.0, "--"), (0.0, "-"), (1.0, "--")):
        at = float(np.ravel(units.on([[(level - b) / w]]))[0])
        label = f"threshold {at:.4g}" if level == 0.0 else None
        ax.axvline(at, color="black", linestyle=style, linewidth=1.0, label=label, zorder=1)
        ax.axhline(level, color="0.8", linestyle=style, linewidth=0.7, zorder=0)
    ax.set(xlabel="feature" if names is None else visible(names[0]), ylabel="score f(x)")
    return np.column_stack([x, f])


def _in_the_plane(ax: Any, X: Array, w: Array, b: float, units: Units, names: Any) -> Array:
    """Lines of equal score over two features or across the boundary; gives the places of the rows."""
    flat = X.shape[1] == 2
    size = float(np.linalg.norm(w))
    plane = Plane.of(X, np.zeros(len(X)), names) if flat else _along(w / size, -b / size, units.off(X))
    places = X if flat else plane.down(units.off(X))
    grids, points = grid(places, 60)
    f = ((units.off(points) if flat else plane.up(points)) @ w + b).reshape(grids[0].shape)
    lines = ax.contour(*grids, f, levels=[-1.0, 0.0, 1.0], colors="black", linestyles=["--", "-", "--"])
    ax.clabel(lines, fmt={-1.0: "-1", 0.0: "f = 0", 1.0: "1"}, fontsize="small")
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    return places


def _along(normal: Array, offset: float, X: Array) -> Plane:
    """The plane of the boundary's normal and the direction of most variance along the boundary."""
    center = X.mean(axis=0)
    rest = X - center
    rest = rest - np.outer(rest @ normal, normal)
    other = np.linalg.svd(rest, full_matrices=False)[2][0]
    # moved along the normal, so that the boundary is at 0
    center = center - (center @ normal - offset) * normal
    return Plane(center, np.vstack([normal, other]), ("distance to the boundary", "along the boundary"))
