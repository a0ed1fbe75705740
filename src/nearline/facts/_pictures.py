"""Axes for a fact's picture. Pictures are an extra: numbers need no matplotlib, so it is imported when one is drawn."""

from typing import Any

from nearline.plots.style import pyplot


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
