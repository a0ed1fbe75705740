"""A query with its neighbors: in the plane, as images with captions, or as distances."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.plots.samples import Units
from nearline.plots.style import COLORS, axes, panels, scatter


def plot_query(
    model: Any,
    X: Any,
    y: Any,
    query: Any,
    *,
    shape: tuple[int, ...] = (),
    names: Any = None,
    units: Units | None = None,
    ax: Any = None,
) -> Any:
    """One query, its nearest rows with their distances, and what they vote for.

    Images (``shape`` is given) are shown with captions, two features in the plane with a line to each neighbor, and other
    rows as bars of their distances. Rows that tie at the k-th place are all there.

    Parameters
    ----------
    model : a fitted :class:`KNeighborsClassifier`.
    X, y : the rows and labels that it was fitted to.
    query : one row.
    shape : (height, width) or (height, width, 3) of an image; then axes are given back, one an image.
    units : if the model was fitted to ``units.off(X)``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from nearline import KNeighborsClassifier
    >>> from nearline.plots import plot_query
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KNeighborsClassifier(3).fit(X[1:], y[1:])
    >>> [ax.get_title() for ax in plot_query(model, X[1:], y[1:], X[0], shape=(8, 8))][:2]
    ['query: 0', '0\\ndistance 11']
    """
    units = units or Units()
    X, y, query = (
        np.asarray(X, dtype=np.float64),
        np.asarray(y),
        np.ravel(np.asarray(query, dtype=np.float64)),
    )
    if not hasattr(model, "explain") or not hasattr(model, "index_"):
        raise ValueError(f"Neighbors are those of a fitted KNeighborsClassifier, got {model!r}.")
    if X.ndim != 2 or X.shape[1] != len(query):
        raise ValueError(f"The query has {len(query)} numbers and the rows have the shape {X.shape}.")
    votes = model.explain(units.off(query[None]))
    near, far = np.asarray(votes.indices[0]), np.asarray(votes.distances[0])
    called = visible(votes.predictions[0]) + (" (tie)" if votes.vote_ties[0] else "")
    if shape:
        return _images(X, y, query, near, far, called, shape, ax)
    ax = axes(ax)
    title = f"{len(near)} nearest rows: the query is called {called}"
    if X.shape[1] == 2:
        _in_the_plane(ax, X, y, query, near, names)
    else:
        _bars(ax, y[near], near, far)
    ax.set_title(title, fontsize="medium")
    return ax


def _images(
    X: Array, y: Array, query: Array, near: Array, far: Array, called: str, shape: Any, ax: Any
) -> Array:
    if int(np.prod(shape)) != len(query):
        raise ValueError(
            f"Images of shape {shape} have {int(np.prod(shape))} numbers, the rows {len(query)}."
        )
    drawn = panels(1 + len(near), ax, size=(1.5, 1.9), across=8)
    low, high = float(X[near].min()), float(X[near].max())
    captions = [f"query: {called}", *(f"{visible(y[i])}\ndistance {d:.3g}" for i, d in zip(near, far))]
    for one, row, caption in zip(drawn, [query, *X[near]], captions, strict=True):
        image = np.clip((row.reshape(shape) - low) / ((high - low) or 1.0), 0.0, 1.0)
        one.imshow(image, cmap="gray_r", vmin=0.0, vmax=1.0)
        one.set_title(caption, fontsize="small")
        one.set_axis_off()
    return drawn


def _in_the_plane(ax: Any, X: Array, y: Array, query: Array, near: Array, names: Any) -> None:
    for place in X[near]:
        ax.plot(*np.column_stack([query, place]), color="0.4", linewidth=1.0, zorder=2)
    scatter(ax, X, y, np.unique(y))
    ring = {"s": 80, "facecolor": "none", "edgecolor": "black", "linewidth": 1.0, "zorder": 4}
    ax.scatter(*X[near].T, label="neighbors", **ring)
    ax.plot(*query, "*", color="black", markersize=14, label="query", linestyle="none", zorder=5)
    ax.legend(fontsize="small")
    first, second = ("first feature", "second feature") if names is None else map(visible, names[:2])
    ax.set(xlabel=first, ylabel=second)


def _bars(ax: Any, labels: Array, near: Array, far: Array) -> None:
    classes = np.unique(labels)
    colors = [COLORS[int(np.searchsorted(classes, label)) % len(COLORS)] for label in labels]
    ax.barh(range(len(near)), far, color=colors)
    ax.set_yticks(range(len(near)), [f"row {i + 1}: {visible(label)[:24]}" for i, label in zip(near, labels)])
    ax.invert_yaxis()
    ax.set(xlabel="distance to the query", ylabel="neighbor")
