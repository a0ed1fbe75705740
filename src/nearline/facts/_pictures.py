"""Axes for a fact's picture. Pictures are an extra: numbers need no matplotlib, so it is imported when one is drawn."""

from collections.abc import Mapping
from typing import Any

from nearline._arrays.design import Array
from nearline.plots.style import COLORS, DASHES, MARKERS, axes, pyplot


def figure_of(columns: int, size: tuple[float, float], rows: int = 1) -> Any:
    """New axes beside each other, and in several rows one after the other."""
    return pyplot().subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1].ravel()


def panels(ax: Any, columns: int, size: tuple[float, float]) -> Any:
    """The axes given, which must be as many, or new ones."""
    if ax is None:
        return figure_of(columns, size)
    if len(ax) != columns:
        raise ValueError(f"This picture has {columns} panels, got {len(ax)} axes: give as many, or none.")
    return ax


def risks_over_rows(ax: Any, sizes: Array, risks: Mapping[str, Array], limits: Mapping[str, float]) -> Any:
    """Risks (sizes, repetitions) of several models over the number of training rows, and the limits that they come to."""
    ax = axes(ax)
    for i, (name, values) in enumerate(risks.items()):
        mean, deviation = values.mean(axis=1), values.std(axis=1, ddof=1)
        look = {"color": COLORS[i], "marker": MARKERS[i], "linestyle": DASHES[i % len(DASHES)]}
        ax.plot(sizes, mean, label=name, markersize=5, **look)
        ax.fill_between(sizes, mean - deviation, mean + deviation, color=COLORS[i], alpha=0.1, linewidth=0)
    for (name, value), dash in zip(limits.items(), ("-", ":"), strict=True):
        ax.axhline(value, color="black", linestyle=dash, linewidth=1.0, label=f"{name} = {value:.3g}")
    ax.set(xlabel="training rows n", ylabel="risk", xscale="log")
    return ax
