"""A classifier over one feature: scores or probabilities as lines, regions as strips, thresholds."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.plots.answers import Answers
from nearline.plots.style import COLORS, beside, look, style

STEPS = 1000


def over_one(ax: Any, model: Answers, X: Array, y: Array, *, proba: bool, name: Any = None) -> None:
    """Draw what a model of one feature says: (n, 1) rows are marks at the bottom, by class."""
    x = np.asarray(X, dtype=np.float64)[:, 0]
    pad = 0.1 * float(np.ptp(x)) or 1.0
    across = np.linspace(x.min() - pad, x.max() + pad, STEPS)
    called = model.labels(across[:, None])
    classes = np.unique(np.concatenate([y, called, model.classes.astype(np.asarray(y).dtype)]))
    _strips(ax, across, np.searchsorted(classes, called), model.unsettled(across[:, None]))
    _lines(ax, across, model, classes, proba)
    for i, label in enumerate(classes):
        own, high = x[y == label], 0.03 + 0.15 * i / max(len(classes) - 1, 1)
        ax.scatter(
            own,
            np.full(len(own), high),
            s=16,
            transform=ax.get_xaxis_transform(),
            label=visible(label),
            zorder=3,
            edgecolor="white",
            linewidth=0.4,
            **look(i, len(classes)),
        )
    ax.set(xlim=(across[0], across[-1]), xlabel="feature" if name is None else visible(name))
    beside(ax) if len(classes) > len(COLORS) else ax.legend(fontsize="x-small", loc="center right")


def _strips(ax: Any, across: Array, codes: Array, unsettled: Array | None) -> None:
    """A strip for each run of one class, lines at its ends, hatching where votes leave it open."""
    edges = np.flatnonzero(np.diff(codes)) + 1
    ends = np.concatenate([[0], edges, [len(codes)]])
    middle = 0.5 * (across[edges - 1] + across[edges])
    sides = np.concatenate([[across[0]], middle, [across[-1]]])
    for left, right, at in zip(sides[:-1], sides[1:], ends[:-1], strict=True):
        ax.axvspan(left, right, color=COLORS[codes[at] % len(COLORS)], alpha=0.15, linewidth=0, zorder=0)
    for i, place in enumerate(middle):
        said = f"threshold {place:.4g}" if len(middle) <= 3 else ("thresholds" if i == 0 else None)
        ax.axvline(place, color="black", linewidth=1.0, zorder=2, label=said)
    if unsettled is not None and unsettled.any():
        low, high = ax.get_ylim()
        ax.fill_between(
            across,
            0.0,
            1.0,
            where=unsettled,
            transform=ax.get_xaxis_transform(),
            facecolor="none",
            edgecolor="0.35",
            hatch="///",
            linewidth=0,
            label="votes tie",
        )
        ax.set_ylim(low, high)


def _lines(ax: Any, across: Array, model: Answers, classes: Array, proba: bool) -> None:
    values, said = model.scores(across[:, None], proba)
    if values.ndim == 1:
        ax.plot(across, values, color="black", linewidth=1.5, zorder=2)
        ax.axhline(0.0 if said.startswith("score") else 0.5, color="0.5", linewidth=0.8, linestyle=":")
    else:
        for label, column in zip(model.classes, values.T, strict=True):
            ax.plot(across, column, linewidth=1.5, zorder=2, **style(int(np.searchsorted(classes, label))))
    two = f" of {visible(model.classes[1])}" if values.ndim == 1 and len(model.classes) == 2 else ""
    ax.set_ylabel(said + two)
    low, high = float(values.min()), float(values.max())
    room = (high - low) or 1.0
    if not said.startswith("score"):
        ax.set_yticks(np.linspace(0.0, 1.0, 5))
    ax.set_ylim(low - 0.3 * room, high + 0.08 * room)
