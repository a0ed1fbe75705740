"""The picture of probes: accuracy of every setting that was tested."""

from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline.plots.style import COLORS, axes, beside
from nearline.probes import Line, Probed


def plot_probe(*results: Probed, ax: Any = None) -> Any:
    """Accuracy on the test rows: a point for each setting, with its interval, or one deviation over draws.

    Filled points are settings that training rows chose, or that the protocol fixes alone; of hollow ones the best was found
    on the test rows. Settings that are in no table are a gray range.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from nearline import probe
    >>> from nearline.plots import plot_probe
    >>> X, y = load_digits(return_X_y=True)
    >>> ax = plot_probe(probe(X[:500], y[:500], X[500:], y[500:], "lightly"))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['k-NN, k = 200, T = 0.1']
    """
    rows = [
        (number, result, line)
        for number, result in enumerate(results)
        for line in result.lines
        if line.headline
    ]
    if ax is None:
        ax = axes(None)
        ax.figure.set_size_inches(7.5, 1.4 + 0.28 * len(rows))
    for place, (number, result, line) in enumerate(rows):
        color, alone = COLORS[number % len(COLORS)], _alone(result, line)
        low, high = _ends(line)
        others = [
            other.accuracy for other in result.lines if not other.headline and other.shots == line.shots
        ]
        if others:
            ax.plot(
                [min(others), max(others)],
                [place, place],
                color="0.8",
                linewidth=6,
                zorder=1,
                solid_capstyle="butt",
            )
        ax.plot([low, high], [place, place], color=color, linewidth=1.2, zorder=2)
        first = all(number != earlier for earlier, _, _ in rows[:place])
        label = visible(f"{result.protocol.name}/{result.protocol.version}") if first else None
        ax.plot(
            line.accuracy,
            place,
            "o",
            color=color,
            markerfacecolor=color if alone else "white",
            label=label,
            zorder=3,
        )
    ax.set_yticks(range(len(rows)), [visible(_name(line)) for _, _, line in rows], fontsize="small")
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    ax.set_xlabel("accuracy on the test rows (bars: 95% interval, or ±1 deviation over draws)")
    ax.set_title("Probes (hollow: the best of these was found on the test rows)", fontsize="medium")
    if len(results) > 1:
        beside(ax)
    return ax


def _alone(result: Probed, line: Line) -> bool:
    """Whether no look at the test rows chose this setting among others."""
    same = [
        one
        for one in result.lines
        if one.shots == line.shots and one.headline and one.chosen_on == line.chosen_on
    ]
    return bool(line.inside) or len(same) == 1


def _ends(line: Line) -> tuple[float, float]:
    if line.deviation is not None:
        return line.accuracy - line.deviation, line.accuracy + line.deviation
    if line.interval is not None and line.interval.defined:
        return line.interval.low, line.interval.high
    return float(np.nan), float(np.nan)


def _name(line: Line) -> str:
    shots = "" if line.shots is None else f", {line.shots} a class"
    return f"{line.probe}{shots}, {line.setting}"
