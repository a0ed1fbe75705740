"""Embedding losses as functions of similarities."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.losses.embedding import NCA, AMSoftmax, Circle, LiftedStructured, NormFace, Triplet
from nearline.plots.style import pyplot, style

STEPS = 121
# an anchor, one row of its class and one of another: what differs is how the loss weighs their two cosines
TARGETS = np.array([0, 0, 1])


def plot_embedding_losses() -> Any:
    """Six losses of an anchor, one positive and one negative row, over their two cosines; and what margin and scale do.

    Examples
    --------
    >>> from nearline.plots import plot_embedding_losses
    >>> axes = plot_embedding_losses()
    >>> axes.shape, axes[0, 0].get_title()
    ((2, 3), 'Triplet, margin 0.2')
    """
    figure, axes = pyplot().subplots(2, 3, figsize=(11.0, 6.6), layout="constrained")
    cosines = np.linspace(-1.0, 1.0, STEPS)
    P, N = np.meshgrid(cosines, cosines)
    surfaces = {
        "Triplet, margin 0.2": _triplet(P, N),
        "Circle, gamma 5, margin 0.25": _circle(P, N),
        "NCA, scale 2, rows of length 1": _nca(P, N),
        "Lifted structured, margin 1": _lifted(P, N),
    }
    for ax, (title, values) in zip(axes.ravel(), surfaces.items()):
        drawn = ax.contourf(P, N, values, levels=14, cmap="viridis")
        figure.colorbar(drawn, ax=ax)
        ax.set(xlabel="cosine with the own class", ylabel="cosine with the other", title=title)
    _of_proxies(axes[1, 1], [NormFace(s) for s in (1.0, 4.0, 20.0)], "NormFace: the scale")
    _of_proxies(axes[1, 2], [AMSoftmax(8.0, m) for m in (0.0, 0.2, 0.4)], "AM-Softmax, scale 8: the margin")
    return axes


def _distance(cosine: Array) -> Array:
    """Of rows of length 1."""
    return np.sqrt(np.maximum(0.0, 2.0 - 2.0 * cosine))


def _triplet(P: Array, N: Array) -> Array:
    return np.maximum(0.0, Triplet().margin + _distance(P) - _distance(N))


def _circle(P: Array, N: Array) -> Array:
    loss, values = Circle(5.0, 0.25), np.empty_like(P)
    for i in np.ndindex(P.shape):
        S = np.array([[1.0, P[i], N[i]], [P[i], 1.0, N[i]], [N[i], N[i], 1.0]])
        values[i] = loss.of_cosines(S, TARGETS)[0]
    return values


def _nca(P: Array, N: Array) -> Array:
    scale = NCA(2.0).scale
    return 1.0 / (1.0 + np.exp(scale * (_distance(N) ** 2 - _distance(P) ** 2)))


def _lifted(P: Array, N: Array) -> Array:
    loss, values = LiftedStructured(), np.empty_like(P)
    for i in np.ndindex(P.shape):
        p, n = _distance(P[i]), _distance(N[i])
        values[i] = loss.of_distances(np.array([[0.0, p, n], [p, 0.0, n], [n, n, 0.0]]), TARGETS)[0]
    return values


def _of_proxies(ax: Any, losses: list[Any], title: str) -> None:
    """A row on the arc between its own proxy and another, at right angles."""
    cosines = np.linspace(0.0, 1.0, STEPS)
    for number, loss in enumerate(losses):
        values = [loss.value([[c, np.sqrt(1.0 - c * c)]], [0], np.eye(2)) for c in cosines]
        label = f"s = {loss.scale:g}" if isinstance(loss, NormFace) else f"m = {loss.margin:g}"
        ax.plot(cosines, values, label=label, **style(number))
    ax.set(xlabel="cosine with the own proxy", ylabel="loss", ylim=(-0.2, 8.0), title=title)
    ax.legend(fontsize="small")
