"""Pictures of kernels: Gram matrices, margins in the plane, the map that makes circles flat."""

import re
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.kernels import as_kernel
from nearline.plots.regions import grid
from nearline.plots.samples import Units
from nearline.plots.style import COLORS, look, pyplot, scatter
from nearline.plots.style import axes as one_of


def plot_gram(kernel: Any, items: Any, y: Any, *, ax: Any = None) -> Any:
    """The Gram matrix as a heat map, items ordered by class: what a kernel finds alike makes bright blocks.

    Parameters
    ----------
    kernel : a kernel or its name; "precomputed" if ``items`` is the matrix itself.
    items : rows, strings or trees, as the kernel takes them; some hundreds of them.
    y : labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline.kernels import RBF
    >>> from nearline.plots import plot_gram
    >>> plot_gram(RBF(0.5), *load_iris(return_X_y=True)).get_title()
    'Gram matrix of RBF(gamma=0.5), by class'
    """
    ax = one_of(ax)
    kernel, y = as_kernel(kernel), np.asarray(y)
    order = np.argsort(y, kind="stable")
    K = np.asarray(kernel(items))[np.ix_(order, order)]
    image = ax.imshow(K, cmap="viridis", interpolation="nearest", rasterized=True)
    ax.figure.colorbar(image, ax=ax, label="k(x, x')", shrink=0.85)
    classes, starts = np.unique(y[order], return_index=True)
    ends = np.append(starts[1:], len(y))
    for edge in starts[1:]:
        ax.axhline(edge - 0.5, color="white", linewidth=0.8)
        ax.axvline(edge - 0.5, color="white", linewidth=0.8)
    ax.set_xticks([], [])
    ax.set_yticks((starts + ends - 1) / 2.0, [visible(label) for label in classes])
    ax.tick_params(length=0)
    called = re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.3g}", repr(kernel))
    ax.set_title(f"Gram matrix of {called}, by class")
    return ax


def plot_kernel_margins(
    models: Any,
    X: Any,
    y: Any,
    *,
    names: Any = ("first feature", "second feature"),
    units: Units | None = None,
    steps: int = 160,
    axes: Any = None,
) -> Any:
    """The plane as two-class kernel machines divide it: f = 0, the margins f = -1 and +1, and the support vectors.

    Parameters
    ----------
    models : fitted two-class :class:`KernelSVM` objects, or a dictionary with a title for each.
    X, y : the rows (n, 2) and labels that they were fitted to.
    names : of the two features.
    units : if the machines were fitted to ``units.off(X)``.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from nearline import KernelSVM
    >>> from nearline.plots import plot_kernel_margins
    >>> X, y = make_circles(60, noise=0.1, factor=0.4, random_state=0)
    >>> axes = plot_kernel_margins([KernelSVM(kernel).fit(X, y) for kernel in ("linear", "rbf")], X, y)
    >>> len(axes)
    2
    """
    if not isinstance(models, dict):
        models = {repr(model.kernel_): model for model in (models if isinstance(models, list) else [models])}
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"The plane has two features, X has the shape {X.shape}: choose two columns.")
    several = [model for model in models.values() if len(model.classes_) != 2]
    if several:
        raise ValueError(
            f"Margins are drawn between two classes, {several[0]!r} has {len(several[0].classes_)}: give rows of two."
        )
    units = units or Units()
    if axes is None:
        size = (3.6 * len(models), 3.8)
        axes = pyplot().subplots(1, len(models), figsize=size, layout="constrained", squeeze=False)[1][0]
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - 0.12 * (high - low), high + 0.12 * (high - low)
    x0, x1 = (np.linspace(low[j], high[j], steps) for j in (0, 1))
    points = np.stack(np.meshgrid(x0, x1), axis=-1).reshape(-1, 2)
    for ax, (title, model) in zip(axes, models.items(), strict=True):
        f = model.decision_function(units.off(points)).reshape(steps, steps)
        ax.contourf(x0, x1, f, levels=[-np.inf, 0.0, np.inf], colors=COLORS[:2], alpha=0.13)
        styles = ["--", "-", "--"]
        ax.contour(x0, x1, f, levels=[-1.0, 0.0, 1.0], colors="#333333", linestyles=styles, linewidths=1.1)
        scatter(ax, X, y, model.classes_)
        held = X[model.support_]
        ax.scatter(*held.T, s=70, facecolors="none", edgecolors="#333333", linewidths=0.9, zorder=4)
        ax.get_legend().remove()
        ax.set_title(f"{title}\n{len(held)} support vectors", fontsize="medium")
        ax.set(xlabel=visible(names[0]), ylabel=visible(names[1]))
    return np.asarray(axes)


def plot_degree_two(X: Any = None, y: Any = None, *, alpha: float = 1e-4, axes: Any = None) -> Any:
    """Circles in the plane, and the same points at (x1^2, sqrt(2) x1 x2, x2^2), where a plane divides them.

    Inner products there are (x . x')^2: the polynomial kernel of degree 2 with offset 0. The plane is that of a linear SVM of
    two classes; left is where it meets the points of the plane below, an ellipse.

    Examples
    --------
    >>> from nearline.plots import plot_degree_two
    >>> [ax.get_title() for ax in plot_degree_two()]
    ['x', '(x1², √2 x1 x2, x2²)']
    """
    if X is None:
        X, y = _circles()
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2 or len(X) != len(y):
        raise ValueError(
            f"The map of degree 2 is drawn of two features, X has the shape {X.shape}: choose two columns."
        )
    classes = np.unique(y)
    if axes is None:
        figure = pyplot().figure(figsize=(8.6, 4.0), layout="constrained")
        axes = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    flat, lifted = axes
    scatter(flat, X, y, classes)
    flat.set(aspect="equal", xlabel="x1", ylabel="x2", title="x")
    phi = _lifted(X)
    for i, label in enumerate(classes):
        mark = look(i, len(classes)) | {"s": 14, "label": visible(label), "depthshade": False}
        lifted.scatter(*phi[y == label].T, **mark)
    if len(classes) == 2:
        _divide(flat, lifted, X, phi, y, alpha)
    lifted.set(xlabel="x1²", ylabel="√2 x1 x2", zlabel="x2²", title="(x1², √2 x1 x2, x2²)")
    for axis in (lifted.xaxis, lifted.yaxis, lifted.zaxis):
        axis.set_major_locator(pyplot().MaxNLocator(4))  # ticks and names do not touch
    lifted.set_box_aspect(None, zoom=0.84)  # nor the frame
    lifted.view_init(elev=16, azim=-60)
    return axes


def _lifted(X: Array) -> Array:
    """(x1^2, sqrt(2) x1 x2, x2^2)."""
    return np.column_stack([X[:, 0] ** 2, np.sqrt(2.0) * X[:, 0] * X[:, 1], X[:, 1] ** 2])


def _divide(flat: Any, lifted: Any, X: Array, phi: Array, y: Array, alpha: float) -> None:
    """The plane of a linear SVM among the lifted points, and the curve that it is in the plane of the features."""
    from nearline.estimators import LinearSVM

    model = LinearSVM(alpha=alpha).fit(phi, y)
    w, b = model.coef_[0].astype(np.float64), float(model.intercept_[0])
    grids, points = grid(X, 120)
    f = (_lifted(points) @ w + b).reshape(grids[0].shape)
    if f.min() < 0 < f.max():
        flat.contour(*grids, f, levels=[0.0], colors="black", linewidths=1.4)
    if abs(w[2]) > 1e-9 * np.abs(w).max():
        across = np.meshgrid(*[np.linspace(phi[:, j].min(), phi[:, j].max(), 12) for j in (0, 1)])
        up = -(w[0] * across[0] + w[1] * across[1] + b) / w[2]
        up[(up < phi[:, 2].min()) | (up > phi[:, 2].max())] = np.nan
        lifted.plot_surface(*across, up, color="0.5", alpha=0.3, linewidth=0)


def _circles(n: int = 120) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    angles = rng.uniform(0.0, 2.0 * np.pi, n)
    inside = np.arange(n) % 2 == 0
    radius = np.where(inside, 0.5, 1.0) + 0.06 * rng.standard_normal(n)
    X = radius[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return X, np.where(inside, "inside", "outside")
