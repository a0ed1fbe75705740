"""Regions, cells, neighbors, margins and densities in the units of the rows."""

from dataclasses import replace
from typing import Any

import numpy as np

from nearline.estimators import (
    KernelSVM,
    LinearSVM,
    LogisticRegression,
    OneVsOne,
    OneVsRest,
)
from nearline.plots.compare import compare_regions
from nearline.plots.densities import plot_posteriors
from nearline.plots.kernels import plot_kernel_margins
from nearline.plots.margins import plot_margins
from nearline.plots.queries import plot_query
from nearline.plots.recipes.models import checked_whole, model_of
from nearline.plots.regions import Plane
from nearline.plots.samples import Flat, Sample
from nearline.plots.separators import plot_separators
from nearline.plots.voronoi import plot_voronoi


def in_the_plane(flat: Flat) -> tuple[Flat, tuple[str, str]]:
    """Rows of two columns as they are, of more on the plane where the classes lie farthest apart; and names of its axes."""
    plane = Plane.of(flat.X, flat.y, flat.names)
    if flat.X.shape[1] == 2:
        return flat, plane.names
    return replace(flat, X=plane.down(flat.X)), plane.names


def noted(drawn: Any, flat: Flat) -> Any:
    """What is not in the picture is said under its title."""
    if flat.note:
        first = np.ravel(np.asarray(drawn, dtype=object))[0]
        first.set_title(f"{first.get_title()}\n({flat.note})", fontsize="medium")
    return drawn


def _compared(flat: Flat, models: dict[str, Any], proba: bool = False) -> Any:
    """Models fitted to the rows, as far as the picture goes on the plane of most difference."""
    Z = flat.units.off(flat.X)
    fitted = {title: model.fit(Z, flat.y) for title, model in models.items()}
    drawn = compare_regions(fitted, flat.X, flat.y, proba=proba, names=flat.names, units=flat.units)
    return noted(drawn, flat)


def regions(
    sample: Sample,
    *,
    model: Any = None,
    k: Any = None,
    metric: Any = None,
    alpha: Any = None,
    kernel: Any = None,
    proba: bool = False,
) -> Any:
    flat = sample.flat()
    made, title = model_of(model, "knn", len(flat.X), k=k, metric=metric, alpha=alpha, kernel=kernel)
    return _compared(flat, {f"Decision regions: {title}": made}, proba)[0]


def over_k(sample: Sample, *, ks: Any = None, metric: Any = None, proba: bool = False) -> Any:
    flat = sample.flat()
    ks = [k for k in (1, 2, 3, 15) if k <= len(flat.X)] if ks is None else ks
    made = {f"K = {k}": model_of("knn", "knn", len(flat.X), k=k, metric=metric)[0] for k in ks}
    return _compared(flat, made, proba)


def metrics(sample: Sample, *, k: int = 1, metrics: Any = ("l1", "l2", "l-infinity")) -> Any:
    flat = sample.flat()
    made = {name: model_of("knn", "knn", len(flat.X), k=k, metric=name) for name in metrics}
    return _compared(flat, {f"{one.n_neighbors}-NN, {name}": one for name, (one, _) in made.items()})


def voronoi(sample: Sample, *, metric: Any = None) -> Any:
    flat, names = in_the_plane(sample.flat())
    ax = plot_voronoi(flat.X, flat.y, units=flat.units, metric=metric or "l2")
    ax.set(xlabel=names[0], ylabel=names[1])
    return noted(ax, flat)


def reductions(sample: Sample, *, alpha: float = 1e-3) -> Any:
    """One-vs-rest, one-vs-one and the joint machine, whose regions are convex and leave nothing open."""
    return _compared(
        sample.flat(),
        {
            "one-vs-rest (hatched: no vote, or several)": OneVsRest(LogisticRegression(alpha=alpha)),
            "one-vs-one (hatched: votes tie)": OneVsOne(LogisticRegression(alpha=alpha)),
            "joint: convex regions": LogisticRegression(alpha=alpha),
        },
    )


def query(sample: Sample, *, k: Any = None, metric: Any = None, row: Any = None) -> Any:
    """A row (counted from 1, by default the last) and its neighbors among the others."""
    flat = sample.flat()
    if len(flat.y) < 3:
        raise ValueError(f"A query needs rows beside it: there are {len(flat.y)}, give at least 3.")
    row = len(flat.y) if row is None else row
    if not 1 <= row <= len(flat.y):
        raise ValueError(f"There is no row {row}: rows are counted from 1 to {len(flat.y)}.")
    rows, y = np.delete(flat.X, row - 1, axis=0), np.delete(flat.y, row - 1)
    model, _ = model_of("knn", "knn", len(rows), k=k or min(5, len(rows)), metric=metric)
    model = model.fit(flat.units.off(rows), y)
    names = flat.names if rows.shape[1] == 2 else None
    return plot_query(model, rows, y, flat.X[row - 1], shape=sample.shape, names=names, units=flat.units)


def margins(sample: Sample, *, alpha: float = 1e-2) -> Any:
    flat = sample.flat(two_classes=True)
    if len(flat.X) > 1 and not np.ptp(flat.X, axis=0).any():
        raise ValueError(
            "All rows are the same, so that nothing lies between the classes: choose other columns."
        )
    # so tight that rows on the margin are told from rows beside it
    made = LinearSVM(loss="hinge", alpha=alpha, tol=1e-8)
    model = made.fit(flat.units.off(flat.X), flat.y)
    names = flat.names if flat.X.shape[1] <= 2 else None
    return noted(plot_margins(model, flat.X, flat.y, names=names, units=flat.units), flat)


def separators(sample: Sample, *, starts: int = 20, random_state: int = 0) -> Any:
    flat, names = in_the_plane(sample.flat(two_classes=True))
    starts = checked_whole("starts", starts, most=1000)
    rows = flat.X, flat.y
    return noted(
        plot_separators(*rows, starts=starts, random_state=random_state, names=names, units=flat.units), flat
    )


def posteriors(sample: Sample, *, alpha: float = 1e-3) -> Any:
    flat = sample.flat()
    if flat.X.shape[1] > 2:
        flat, names = in_the_plane(flat)
        flat = replace(flat, names=list(names))
    drawn = plot_posteriors(flat.X, flat.y, names=flat.names, alpha=alpha)
    return noted(drawn, flat)


def kernel_margins(sample: Sample, *, kernels: Any = None, alpha: float = 1e-3) -> Any:
    flat, names = in_the_plane(sample.flat(two_classes=True))
    X = flat.units.off(flat.X)
    usual = {"linear": "linear", "polynomial of degree 3": "polynomial:3", "Gaussian": "rbf"}
    kinds = usual if kernels is None else {kernel: kernel for kernel in kernels}
    machines = {
        title: KernelSVM(kernel, alpha=alpha, tol=1e-6).fit(X, flat.y) for title, kernel in kinds.items()
    }
    drawn = plot_kernel_margins(machines, flat.X, flat.y, names=names, units=flat.units)
    drawn[0].figure.suptitle(flat.note, fontsize="medium")
    return drawn
