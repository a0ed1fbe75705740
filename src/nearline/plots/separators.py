"""Many lines separate two classes, one has the widest margin."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.estimators import LinearSVM
from nearline.plots.margins import RING
from nearline.plots.regions import grid
from nearline.plots.samples import Units
from nearline.plots.style import axes, scatter
from nearline.risk.params import Params
from nearline.separability import is_separable
from nearline.solvers.perceptron import perceptron_rule


def plot_separators(
    X: Any,
    y: Any,
    *,
    starts: int = 20,
    random_state: int = 0,
    names: Any = None,
    units: Units | None = None,
    ax: Any = None,
) -> Any:
    """Lines that the perceptron rule ends with from random starts (thin), and that of the widest margin (bold).

    Each start is a normal w and its own order of the rows. The margins of the bold line are dashed; rings are its support
    vectors, as the model has them.

    Parameters
    ----------
    X, y : rows (n, 2) of two classes that a line separates, else there is no such picture.
    units : in which the lines are found, if not those of X.

    Examples
    --------
    >>> from nearline.plots import plot_separators
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"]
    >>> plot_separators(X, y, starts=5).get_title()
    '5 lines of the perceptron, and the one of margin 1 (bold)'
    """
    X, y, units = np.asarray(X, dtype=np.float64), np.asarray(y), units or Units()
    classes, targets = np.unique(y, return_inverse=True)
    if X.ndim != 2 or X.shape[1] != 2 or len(classes) != 2:
        raise ValueError(
            f"Separating lines are drawn between two classes in the plane, got {len(classes)} classes and shape {X.shape}."
        )
    Z = units.off(X)
    verdict = is_separable(Z, y)
    if not verdict:
        raise ValueError(
            f"No line separates these rows ({verdict.verdict}): try 'margins', which allows mistakes."
        )
    widest = LinearSVM(hard_margin=True, tol=1e-8).fit(Z, y)
    ax = axes(ax)
    grids, points = grid(X, 80)
    asked, rng = units.off(points), np.random.default_rng(random_state)
    size = float(np.abs(Z).max()) or 1.0
    for number in range(starts):
        start = Params.of(rng.normal(size=(1, 2)) * size, rng.normal(size=1) * size)
        found = perceptron_rule(Z, targets, start=start, random_state=number, max_iter=100_000).params
        _line(ax, grids, asked @ found.W[0] + found.b[0], [0.0], colors="0.55", linewidths=0.8)
    w, b = widest.coef_[0].astype(np.float64), float(np.ravel(widest.intercept_)[0])
    f = asked @ w + b
    _line(ax, grids, f, [0.0], colors="black", linewidths=2.6)
    _line(ax, grids, f, [-1.0, 1.0], colors="black", linewidths=1.0, linestyles="--")
    scatter(ax, X, y, classes)
    ax.scatter(*X[widest.support_].T, label="support vectors", **RING)
    ax.legend(fontsize="small")
    first, second = ("first feature", "second feature") if names is None else map(visible, names[:2])
    margin = f"{1.0 / float(np.linalg.norm(w)):.3g}" + (f" {units.name}" if units.name else "")
    ax.set(xlabel=first, ylabel=second)
    ax.set_title(
        f"{starts} lines of the perceptron, and the one of margin {margin} (bold)", fontsize="medium"
    )
    return ax


def _line(ax: Any, grids: tuple[Array, ...], f: Array, levels: list[float], **how: Any) -> None:
    values = f.reshape(grids[0].shape)
    inside = [level for level in levels if values.min() < level < values.max()]
    if inside:
        ax.contour(*grids, values, levels=inside, zorder=2, **how)
