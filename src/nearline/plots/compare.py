"""Regions of several classifiers side by side, in the plane or over one feature."""

from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline.plots.answers import Answers, named
from nearline.plots.one_feature import over_one
from nearline.plots.regions import Plane, grid, hatch, paint
from nearline.plots.samples import Units
from nearline.plots.style import panels, scatter


def compare_regions(
    models: Any,
    X: Any,
    y: Any,
    *,
    proba: bool = False,
    plane: Plane | None = None,
    names: Any = None,
    units: Units | None = None,
    steps: int = 200,
    axes: Any = None,
) -> Any:
    """Decision regions of several classifiers side by side: of one feature, of two, or of more on a plane.

    Hatched is what votes leave open: k-NN's ties, the places that one-vs-rest and one-vs-one do not decide. Over one
    feature the scores (or, with ``proba``, the probabilities) are lines and the thresholds vertical.

    Parameters
    ----------
    models : dict of titles and fitted classifiers, or a list of them.
    X, y : rows (n, D) and labels.
    proba : shade by the probability of the class that is called; lines are where it is 0.5, 0.75 and 0.95.
    plane : for more than two features, by default that where the classes lie farthest apart.
    names : of the features.
    units : if the models were fitted to ``units.off(X)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier
    >>> from nearline.plots import compare_regions
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {f"K = {k}": KNeighborsClassifier(k).fit(X[:, 2:], y) for k in (1, 3)}
    >>> [ax.get_title() for ax in compare_regions(models, X[:, 2:], y, steps=40)]
    ['K = 1', 'K = 3']
    """
    given, units = named(models), units or Units()
    X, y = np.asarray(X), np.asarray(y)
    if X.ndim != 2 or len(X) != len(y) or not len(X):
        raise ValueError(f"X must be rows by features with one label each, got {X.shape} and {y.shape}.")
    drawn = panels(len(given), axes, size=(4.0, 3.7))
    asked = {title: Answers(model, units) for title, model in given.items()}
    if X.shape[1] == 1:
        for ax, (title, model) in zip(drawn, asked.items(), strict=True):
            over_one(ax, model, X, y, proba=proba, name=None if names is None else names[0])
            ax.set_title(visible(title), fontsize="medium")
        return drawn
    plane = Plane.of(X, y, names) if plane is None else plane
    places = plane.down(X)
    grids, points = grid(places, steps)
    rows = plane.up(points).astype(X.dtype if X.dtype.kind == "f" else np.float64)
    called = {title: model.labels(rows) for title, model in asked.items()}
    classes = np.unique(np.concatenate([np.unique(y), *map(np.unique, called.values())]))
    for ax, (title, model) in zip(drawn, asked.items(), strict=True):
        codes = np.searchsorted(classes, called[title]).reshape(grids[0].shape)
        sure = model.probabilities(rows).max(axis=1).reshape(codes.shape) if proba else None
        paint(ax, grids, codes, classes, sure)
        hatch(ax, grids, model.unsettled(rows))
        scatter(ax, places, y, classes, 14.0)
        if ax is not drawn[-1] and ax.get_legend() is not None:
            ax.get_legend().remove()
        ax.set_title(visible(title), fontsize="medium")
        ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    return drawn
