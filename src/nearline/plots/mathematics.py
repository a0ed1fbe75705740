"""Pictures of formulas alone: losses, sigmoid, unit balls of Lq, softmax and sparsemax on the simplex."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.losses import LOSSES, sigmoid, softmax, sparsemax
from nearline.plots.style import COLORS, axes, panels, style

FORMULAS = {
    "zero-one": "[z ≤ 0]",
    "squared": "(1 - z)²/2",
    "logistic": "log(1 + exp(-z))",
    "perceptron": "max(0, -z)",
    "hinge": "max(0, 1 - z)",
    "squared-hinge": "max(0, 1 - z)²",
    "binary-sparsemax": "(1 - z)²/4 for |z| < 1",
}


def plot_losses(names: Iterable[str] | None = None, *, log2: bool = False, ax: Any = None) -> Any:
    """Every margin loss as a function of z = y f, in nearline's convention, which the legend writes out.

    The squared loss is (1 - z)^2 / 2. ``log2`` takes logarithms to base 2, so that the logistic loss passes through (0, 1).

    Examples
    --------
    >>> from nearline.plots import plot_losses
    >>> ax = plot_losses(["zero-one", "hinge"])
    >>> [line.get_label() for line in ax.get_lines()]
    ['zero-one: [z ≤ 0]', 'hinge: max(0, 1 - z)']
    """
    ax = axes(ax)
    z = np.linspace(-2.5, 2.5, 501)
    chosen = list(names) if names is not None else [name for name, loss in LOSSES.items() if not loss.joint]
    for i, name in enumerate(chosen):
        if name not in LOSSES or LOSSES[name].joint:
            known = ", ".join(repr(other) for other, loss in LOSSES.items() if not loss.joint)
            raise ValueError(f"{name!r} is no loss of the margin: choose among {known}.")
        value, formula = LOSSES[name].value(z[:, None], np.ones(len(z), dtype=int)), FORMULAS.get(name, "")
        if log2 and name == "logistic":
            value, formula = value / np.log(2.0), formula.replace("log", "log₂")
        ax.plot(z, value, label=f"{name}: {formula}" if formula else name, linewidth=1.8, **style(i))
    base = "logarithms to base 2" if log2 else "natural logarithms"
    ax.set(
        xlabel="margin  z = y f(x)", ylabel="loss", ylim=(-0.1, 4.0), title=f"Losses of the margin ({base})"
    )
    ax.legend(fontsize="small")
    return ax


def plot_sigmoid(scales: Iterable[float] = (0.5, 4.0), *, ax: Any = None) -> Any:
    """The sigmoid 1 / (1 + exp(-t)), the softmax of two scores at their difference t, which is the same, and sigmoids of
    scaled scores.

    Examples
    --------
    >>> from nearline.plots import plot_sigmoid
    >>> t, p = plot_sigmoid().get_lines()[0].get_data()
    >>> float(p[len(t) // 2])  # at t = 0
    0.5
    """
    ax = axes(ax)
    t, some = np.linspace(-7.0, 7.0, 281), np.linspace(-6.0, 6.0, 13)
    ax.plot(t, sigmoid(t), label="sigmoid σ(t) = 1 / (1 + exp(-t))", **style(0))
    pair = softmax(np.column_stack([0.3 * some, -0.7 * some]))[:, 0]
    ring = {"marker": "o", "linestyle": "none", "fillstyle": "none", "color": COLORS[1]}
    ax.plot(some, pair, label="softmax of two scores, first class", **ring)
    for i, scale in enumerate(scales, 1):
        ax.plot(t, sigmoid(scale * t), label=f"σ({scale:g} t)", linewidth=1.2, **style(i + 1))
    ax.axhline(0.5, color="0.7", linewidth=0.8, linestyle=":")
    ax.axvline(0.0, color="0.7", linewidth=0.8, linestyle=":")
    ax.set(
        xlabel="t = f(x) = f₁(x) - f₂(x)", ylabel="probability", title="Sigmoid, and softmax of two scores"
    )
    ax.legend(fontsize="small", loc="upper left")
    return ax


def plot_unit_balls(qs: Iterable[float] = (1, 1.5, 2, 4, np.inf), *, ax: Any = None) -> Any:
    """Points at distance 1 from the middle by Lq: a diamond for q = 1, a circle for 2, a square for infinity.

    Examples
    --------
    >>> from nearline.plots import plot_unit_balls
    >>> [line.get_label() for line in plot_unit_balls([1, 2]).get_lines()]
    ['q = 1', 'q = 2']
    """
    ax = axes(ax)
    angles = np.linspace(0.0, 2.0 * np.pi, 721)
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    for i, q in enumerate(qs):
        if not q > 0:
            raise ValueError(f"Unit balls of Lq need q > 0, got {q!r}; from 1 on Lq is a metric.")
        largest = np.abs(around).max(axis=1, keepdims=True)
        rest = np.abs(around / largest)
        length = largest if np.isinf(q) else largest * (rest**q).sum(axis=1, keepdims=True) ** (1.0 / q)
        said = f"q = {'∞' if np.isinf(q) else format(q, 'g')}" + (" (no metric)" if q < 1 else "")
        ax.plot(*(around / length).T, label=said, linewidth=1.8, **style(i))
    ax.set(aspect="equal", xlabel="x₁", ylabel="x₂", title="Unit balls of Lq: (|x₁|^q + |x₂|^q)^(1/q) = 1")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def plot_simplex(scores: Any = (1.1, 0.5, -0.4), *, axes: Any = None) -> Any:
    """Where softmax and sparsemax take scores of three classes: a grid of score vectors in the simplex of probabilities.

    Softmax bends the grid and never reaches an edge; sparsemax projects, so that the grid stays straight and what lies
    outside falls onto edges and corners, where probabilities are exactly 0. A mark shows one score vector and what becomes of
    t times it as t grows.

    Examples
    --------
    >>> from nearline.plots import plot_simplex
    >>> [ax.get_title() for ax in plot_simplex()]
    ['softmax: (0.56, 0.31, 0.13)', 'sparsemax: (0.80, 0.20, 0.00)']
    """
    f = np.asarray(scores, dtype=np.float64)
    if f.shape != (3,) or not np.isfinite(f).all():
        raise ValueError(f"The simplex is drawn for scores of three classes, got {scores!r}.")
    drawn = panels(2, axes, size=(4.2, 3.9))
    for ax, name, to_simplex in zip(drawn, ("softmax", "sparsemax"), (softmax, sparsemax), strict=True):
        _grid_in_the_simplex(ax, to_simplex)
        path = _corners(to_simplex(np.linspace(0.0, 6.0, 200)[:, None] * (f - f.mean())))
        ax.plot(*path.T, color="black", linewidth=1.6, linestyle="--", label="t f as t grows")
        p = to_simplex(f)
        said = f"f = ({', '.join(f'{value:g}' for value in f)})"
        ax.plot(*_corners(p[None]).T, "o", color="black", markersize=7, label=said)
        ax.set_title(f"{name}: ({', '.join(f'{value:.2f}' for value in p)})", fontsize="medium")
        ax.legend(fontsize="x-small", loc="upper right")
    return drawn


def _corners(p: Array) -> Array:
    """Places in the plane of points in the simplex: its corners are those of a triangle."""
    return np.asarray(p @ np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]]))


def _grid_in_the_simplex(ax: Any, to_simplex: Callable[[Any], Array]) -> None:
    """Images of straight lines of scores (in the plane where they add up to 1)."""
    u, v = np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0), np.array([1.0, 1.0, -2.0]) / np.sqrt(6.0)
    along = np.linspace(-3.0, 3.0, 400)
    for at in np.arange(-3.0, 3.01, 0.15):
        for a, b in ((u, v), (v, u)):
            line = 1.0 / 3.0 + at * a + along[:, None] * b
            ax.plot(*_corners(to_simplex(line)).T, color=COLORS[0], linewidth=0.6, alpha=0.7)
    ax.plot(*_corners(np.eye(3)[[0, 1, 2, 0]]).T, color="0.3", linewidth=1.2)
    for i, (x, y) in enumerate(_corners(np.eye(3))):
        place = {"ha": "center", "va": "bottom" if i == 2 else "top"}
        ax.annotate(
            f"class {i + 1}", (x, y), textcoords="offset points", xytext=(0, 6 if i == 2 else -6), **place
        )
    ax.set(aspect="equal", xlim=(-0.15, 1.15), ylim=(-0.15, 1.05))
    ax.set_axis_off()
