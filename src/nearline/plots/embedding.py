"""Embedding losses as functions of similarities."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.losses.embedding import (
    NCA,
    AMSoftmax,
    Circle,
    LiftedStructured,
    NormFace,
    Triplet,
    as_embedding_loss,
)
from nearline.plots.style import panels, style

STEPS = 121
# an anchor, one row of its class and one of another: what differs is how the loss weighs their two cosines
TARGETS = np.array([0, 0, 1])
USUAL = (
    *("triplet:0.2", "circle:5:0.25", "nca:2", "lifted-structured:1"),
    *("normface:1", "normface:4", "normface:20"),
    *("am-softmax:8:0", "am-softmax:8:0.2", "am-softmax:8:0.4"),
)
TITLES = {
    "nca": "NCA",
    "lifted-structured": "Lifted structured",
    "normface": "NormFace",
    "am-softmax": "AM-Softmax",
}


def plot_embedding_losses(losses: Any = None) -> Any:
    """Losses of an anchor, one positive and one negative row, over their two cosines; and what margin and scale do to those
    of proxies, which share a panel of their kind.

    ``losses``: names with parameters ("triplet:0.2") or objects; by default the six kinds.

    Examples
    --------
    >>> from nearline.plots import plot_embedding_losses
    >>> axes = plot_embedding_losses()
    >>> len(axes), axes[0].get_title()
    (6, 'Triplet, margin 0.2')
    """
    chosen = [as_embedding_loss(loss) for loss in (USUAL if losses is None else losses)]
    pairs = [loss for loss in chosen if type(loss) in SURFACES]
    proxies = {kind: [loss for loss in chosen if type(loss) is kind] for kind in (NormFace, AMSoftmax)}
    lines = {kind: given for kind, given in proxies.items() if given}
    if not pairs and not lines:
        raise ValueError("There is no loss to draw: give at least one, such as 'triplet:0.2'.")
    drawn = panels(len(pairs) + len(lines), None, size=(3.7, 3.3), across=3)
    cosines = np.linspace(-1.0, 1.0, STEPS)
    P, N = np.meshgrid(cosines, cosines)
    for ax, loss in zip(drawn, pairs):
        values = ax.contourf(P, N, SURFACES[type(loss)](loss, P, N), levels=14, cmap="viridis")
        ax.figure.colorbar(values, ax=ax)
        ax.set(xlabel="cosine with the own class", ylabel="cosine with the other")
        ax.set_title(_called(loss), fontsize="medium")
    for ax, given in zip(drawn[len(pairs) :], lines.values()):
        _of_proxies(ax, given)
    return drawn


def _called(loss: Any) -> str:
    """Its name with its numbers."""
    numbers = {one.name: getattr(loss, one.name) for one in fields(loss)}
    said = [f"{name} {value:g}" for name, value in numbers.items() if type(value) in (int, float)]
    return ", ".join([TITLES.get(loss.name, loss.name.capitalize()), *said])


def _distance(cosine: Array) -> Array:
    """Of rows of length 1."""
    return np.sqrt(np.maximum(0.0, 2.0 - 2.0 * cosine))


def _triplet(loss: Triplet, P: Array, N: Array) -> Array:
    return np.maximum(0.0, loss.margin + _distance(P) - _distance(N))


def _circle(loss: Circle, P: Array, N: Array) -> Array:
    values = np.empty_like(P)
    for i in np.ndindex(P.shape):
        S = np.array([[1.0, P[i], N[i]], [P[i], 1.0, N[i]], [N[i], N[i], 1.0]])
        values[i] = loss.of_cosines(S, TARGETS)[0]
    return values


def _nca(loss: NCA, P: Array, N: Array) -> Array:
    return 1.0 / (1.0 + np.exp(loss.scale * (_distance(N) ** 2 - _distance(P) ** 2)))


def _lifted(loss: LiftedStructured, P: Array, N: Array) -> Array:
    values = np.empty_like(P)
    for i in np.ndindex(P.shape):
        p, n = _distance(P[i]), _distance(N[i])
        values[i] = loss.of_distances(np.array([[0.0, p, n], [p, 0.0, n], [n, n, 0.0]]), TARGETS)[0]
    return values


SURFACES: dict[type, Callable[[Any, Array, Array], Array]] = {
    Triplet: _triplet,
    Circle: _circle,
    NCA: _nca,
    LiftedStructured: _lifted,
}


def _of_proxies(ax: Any, losses: list[Any]) -> None:
    """A row on the arc between its own proxy and another, at right angles."""
    cosines = np.linspace(0.0, 1.0, STEPS)
    for number, loss in enumerate(losses):
        values = [loss.value([[c, np.sqrt(1.0 - c * c)]], [0], np.eye(2)) for c in cosines]
        ax.plot(cosines, values, label=_called(loss).partition(", ")[2], **style(number))
    ax.set(xlabel="cosine with the own proxy", ylabel="loss", ylim=(-0.2, 8.0))
    ax.set_title(TITLES.get(losses[0].name, losses[0].name), fontsize="medium")
    ax.legend(fontsize="small")
