"""One feature, two classes, a threshold: what customers far on the right side do to it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from nearline._arrays.design import Array
from nearline.facts._checks import check_whole
from nearline.facts._fact import Fact, Table
from nearline.facts._pictures import panels
from nearline.plots.style import COLORS, MARKERS

METHODS = ("least squares", "logistic regression")


@dataclass(frozen=True)
class Line:
    """f(x) = w x + b, fitted to some rows."""

    method: str
    outliers: int
    w: float
    b: float
    errors: int  # on the rows it was fitted to

    @property
    def threshold(self) -> float:
        """Where f = 0."""
        return -self.b / self.w if self.w else np.nan


@dataclass(frozen=True)
class Threshold(Fact):
    """Two lines fitted to customers without outliers and with them."""

    says = "Rows far on their right side pull the threshold of least squares; logistic regression hardly sees them."
    x: Array
    y: Array  # 0 or 1
    outlier: Array  # whether a row is one
    lines: tuple[Line, ...]

    def table(self) -> Table:
        rows = ((one.method, one.outliers, one.w, one.b, one.threshold, one.errors) for one in self.lines)
        return Table.of("method|outliers|w|b|threshold|mistakes", rows)

    def plot(self, ax: Any = None) -> Any:
        drawn = panels(ax, 2, (9.6, 3.8))
        for one, with_outliers in zip(drawn, (False, True), strict=True):
            rows = ~self.outlier | with_outliers
            self._draw(one, rows, self.lines[2 * with_outliers :][:2])
            count = int(self.outlier.sum()) if with_outliers else 0
            one.set_title("without outliers" if not count else f"with {count} customers far to the right")
        return drawn

    def _draw(self, ax: Any, rows: Array, lines: tuple[Line, ...]) -> None:
        ends = np.linspace(self.x.min() - 0.5, self.x[rows].max() + 0.5, 400)
        for c, label in enumerate(("did not buy", "bought")):
            of = rows & (self.y == c)
            ax.scatter(
                self.x[of],
                self.y[of],
                color=COLORS[c],
                marker=MARKERS[c],
                s=20,
                alpha=0.7,
                label=label,
                zorder=3,
            )
        for line, color, dash in zip(lines, (COLORS[3], "black"), ("--", "-"), strict=True):
            f = line.w * ends + line.b
            curve = (f + 1.0) / 2.0 if line.method == METHODS[0] else expit(f)
            label = f"{line.method}: threshold {line.threshold:.3g}"
            ax.plot(ends, curve, color=color, linestyle=dash, label=label)
            ax.axvline(line.threshold, color=color, linestyle=dash, linewidth=0.8)
        ax.axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
        ax.set(xlabel="x, visits in a month", ylabel="P(buys), or (f + 1) / 2", ylim=(-0.25, 1.55))
        ax.legend(fontsize="x-small", loc="upper right", ncols=2)


def threshold(n: int = 40, *, outliers: int = 10, distance: float = 40.0, random_state: int = 0) -> Threshold:
    """Customers who visit more often buy; some who visit very often buy, too, and move the line of least squares.

    n customers of each class around 3 and 7 visits; ``outliers`` more around ``distance``, who buy. Least squares fits
    w x + b to y = -1, +1 and so loses on what is right by far; the logistic loss of such rows is next to 0.

    Examples
    --------
    >>> from nearline.facts import threshold
    >>> fact = threshold()
    >>> [round(line.threshold, 1) for line in fact.lines], [line.errors for line in fact.lines]
    ([5.2, 4.9, 6.5, 4.9], [2, 3, 12, 3])
    """
    check_whole(n, "n", 2)
    check_whole(outliers, "outliers", 0)
    if not isinstance(distance, (int, float, np.number)) or not np.isfinite(distance):
        raise ValueError(f"distance must be a finite number, got {distance!r}.")
    rng = np.random.default_rng(random_state)
    x = np.concatenate(
        [rng.normal(3.0, 1.4, n), rng.normal(7.0, 1.4, n), rng.normal(distance, 2.0, outliers)]
    )
    y = np.repeat([0, 1, 1], [n, n, outliers])
    outlier = np.repeat([False, True], [2 * n, outliers])
    lines = tuple(
        _fitted(method, x[rows], y[rows], int(outlier[rows].sum()))
        for rows in (~outlier, np.ones_like(outlier))
        for method in METHODS
    )
    return Threshold(x, y, outlier, lines)


def _fitted(method: str, x: Array, y: Array, outliers: int) -> Line:
    from nearline.risk import Risk
    from nearline.solvers import minimize

    loss = "squared" if method == METHODS[0] else "logistic"
    params = minimize(Risk(x[:, None], y, loss=loss, alpha=1e-6), tol=1e-10).params
    w, b = float(params.W[0, 0]), float(params.b[0])
    return Line(method, outliers, w, b, int(((w * x + b > 0) != (y == 1)).sum()))
