"""Axes for a fact's picture. Pictures are an extra: numbers need no matplotlib, so it is imported when one is drawn."""

from typing import Any


def axes_of(ax: Any) -> Any:
    """The axes given, or new ones."""
    return figure_of(1, (6.4, 4.2))[0] if ax is None else ax


def figure_of(columns: int, size: tuple[float, float]) -> Any:
    """New axes beside each other."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'nearline[plots]'") from error
    return plt.subplots(1, columns, figsize=size, layout="constrained", squeeze=False)[1][0]
