"""Regions, cells, neighbors, margins and densities in the units of the rows."""

from dataclasses import replace
from typing import Any

import numpy as np

from nearline.estimators import (
    KernelSVM,
    KNeighborsClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsOne,
    OneVsRest,
)
from nearline.kernels import Linear, Polynomial
from nearline.plots import kernels
from nearline.plots.compare import compare_regions
from nearline.plots.densities import plot_posteriors
from nearline.plots.margins import plot_margins
from nearline.plots.queries import plot_query
from nearline.plots.recipes.models import model_of
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
    proba: bool = False,
) -> Any:
    flat = sample.flat()
    made, title = model_of(model, "knn", len(flat.X), k=k, metric=metric, alpha=alpha)
    return _compared(flat, {f"Decision regions: {title}": made}, proba)[0]


def over_k(sample: Sample, *, metric: Any = None, proba: bool = False) -> Any:
    flat = sample.flat()
    ks = [k for k in (1, 2, 3, 15) if k <= len(flat.X)]
    of = {} if metric is None else {"metric": metric}
    return _compared(flat, {f"K = {k}": KNeighborsClassifier(k, **of) for k in ks}, proba)


def metrics(sample: Sample, *, k: Any = None) -> Any:
    flat = sample.flat()
    made = {
        name: model_of("knn", "knn", len(flat.X), k=k or 1, metric=name)
        for name in ("l1", "l2", "l-infinity")
    }
    return _compared(flat, {f"{one.n_neighbors}-NN, {name}": one for name, (one, _) in made.items()})


def voronoi(sample: Sample, *, metric: Any = None) -> Any:
    flat, names = in_the_plane(sample.flat())
    ax = plot_voronoi(flat.X, flat.y, units=flat.units, metric=metric or "l2")
    ax.set(xlabel=names[0], ylabel=names[1])
    return noted(ax, flat)


def reductions(sample: Sample, *, alpha: Any = None) -> Any:
    """One-vs-rest, one-vs-one and the joint machine, whose regions are convex and leave nothing open."""
    strength = 1e-3 if alpha is None else alpha
    return _compared(
        sample.flat(),
        {
            "one-vs-rest (hatched: no vote, or several)": OneVsRest(LogisticRegression(alpha=strength)),
            "one-vs-one (hatched: votes tie)": OneVsOne(LogisticRegression(alpha=strength)),
            "joint: convex regions": LogisticRegression(alpha=strength),
        },
    )


def query(sample: Sample, *, k: Any = None, metric: Any = None) -> Any:
    """The last row and its neighbors among the others."""
    if len(sample.y) < 3:
        raise ValueError(f"A query needs rows beside it: there are {len(sample.y)}, give at least 3.")
    flat = sample.flat()
    rows, y = flat.X[:-1], flat.y[:-1]
    model, _ = model_of("knn", "knn", len(rows), k=k or min(5, len(rows)), metric=metric)
    model = model.fit(flat.units.off(rows), y)
    names = flat.names if rows.shape[1] == 2 else None
    return plot_query(model, rows, y, flat.X[-1], shape=sample.shape, names=names, units=flat.units)


def margins(sample: Sample, *, alpha: Any = None) -> Any:
    flat = sample.flat(two_classes=True)
    if len(flat.X) > 1 and not np.ptp(flat.X, axis=0).any():
        raise ValueError(
            "All rows are the same, so that nothing lies between the classes: choose other columns."
        )
    # so tight that rows on the margin are told from rows beside it
    made = LinearSVM(loss="hinge", alpha=1e-2 if alpha is None else alpha, tol=1e-8)
    model = made.fit(flat.units.off(flat.X), flat.y)
    names = flat.names if flat.X.shape[1] <= 2 else None
    return noted(plot_margins(model, flat.X, flat.y, names=names, units=flat.units), flat)


def separators(sample: Sample) -> Any:
    flat, names = in_the_plane(sample.flat(two_classes=True))
    return noted(plot_separators(flat.X, flat.y, names=names, units=flat.units), flat)


def posteriors(sample: Sample, *, alpha: Any = None) -> Any:
    flat = sample.flat()
    if flat.X.shape[1] > 2:
        flat, names = in_the_plane(flat)
        flat = replace(flat, names=list(names))
    drawn = plot_posteriors(flat.X, flat.y, names=flat.names, alpha=1e-3 if alpha is None else alpha)
    return noted(drawn, flat)


def kernel_margins(sample: Sample, *, alpha: Any = None) -> Any:
    flat, names = in_the_plane(sample.flat(two_classes=True))
    X, strength = flat.units.off(flat.X), 1e-3 if alpha is None else alpha
    kinds = {"linear": Linear(), "polynomial of degree 3": Polynomial(3), "Gaussian": "rbf"}
    machines = {
        title: KernelSVM(kernel, alpha=strength, tol=1e-6).fit(X, flat.y) for title, kernel in kinds.items()
    }
    drawn = kernels.plot_kernel_margins(machines, flat.X, flat.y, names=names, units=flat.units)
    drawn[0].figure.suptitle(flat.note, fontsize="medium")
    return drawn
