"""Edges: a best value that is the last one tried. Grids go on beyond it, within limits, and what stays open is said."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, log10
from typing import Any

import numpy as np

from nearline._arrays.design import Array

ROUNDS = 3  # in which a grid may go on beyond its ends
LATTICE = 0.25  # steps of a grid are multiples of a quarter of a power of ten
ROUNDING = 1e-12  # means that differ by less, relatively, are equal


@dataclass(frozen=True)
class Edge:
    """The best value of a parameter is the smallest or the largest that was tried: values beyond may be better."""

    parameter: str
    value: float
    largest: bool
    why: str = "these were the values given"  # why none beyond were tried

    @property
    def place(self) -> str:
        """The end of the grid, in words."""
        return "largest" if self.largest else "smallest"

    def __str__(self) -> str:
        where = f"the best {self.parameter}, {self.value:g}, is the {self.place} tried"
        return f"{where} ({self.why}): values beyond may be better"


def equally_best(means: Any) -> Array:
    """Which means are the largest, but for the rounding of sums over folds."""
    m = np.asarray(means, dtype=np.float64)
    top = np.nanmax(m)
    return np.asarray(m >= top - ROUNDING * abs(top))


def at_end(values: Any, means: Any) -> bool | None:
    """Whether the best mean (larger is better) is at an end of the values: True at the largest, False at the smallest.

    None inside, where another value is as good (nothing climbs), and where fewer than two values were tried.
    """
    given, m = np.asarray(values, dtype=np.float64), np.asarray(means, dtype=np.float64)
    known = ~np.isnan(m)
    given, m = given[known], m[known]
    if len(m) < 2:
        return None
    best = int(np.argmax(m))
    if equally_best(m).sum() > 1:
        return None
    if given[best] == given.max():
        return True
    return False if given[best] == given.min() else None


def edge_of(parameter: str, values: Any, means: Any, low: float = 0.0) -> Edge | None:
    """The end of some given values that their best stands at, if it does and there is something beyond (above ``low``)."""
    end = at_end(values, means)
    value = float(np.asarray(values)[int(np.nanargmax(means))]) if end is not None else low
    return None if end is None or value <= low else Edge(parameter, value, end)


@dataclass(frozen=True)
class Axis:
    """A parameter along which a family's grid may go on.

    ``low`` and ``high`` are ends beyond which there is nothing to try: k = 1, alphas at which all weights are 0.
    """

    key: str  # in the parameters of a candidate
    parameter: str  # in words
    low: float = 0.0
    high: float = inf
    decades: float = 1.0  # that one round adds, at most a factor of 10 a step
    whole: bool = (
        False  # further values come with all candidates that share the best one's: they share its work
    )
    read: Callable[[Any], float] = float
    write: Callable[[float], Any] = float

    def place(self, parameters: dict[str, Any]) -> float:
        return float(self.read(parameters[self.key]))

    def rest(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """What candidates on one line have in common."""
        return {name: value for name, value in parameters.items() if name != self.key}

    def line(self, grid: list[dict[str, Any]], best: int) -> list[int]:
        """Numbers of the candidates that differ from the best along this axis only, the best among them."""
        rest = self.rest(grid[best])
        return [number for number, one in enumerate(grid) if self.rest(one) == rest]

    def beyond(self, values: list[float], up: bool) -> list[float]:
        """The next values after the last, in its direction: evenly in log, as the last two were."""
        ordered = sorted(values, reverse=not up)
        end, before = ordered[-1], ordered[-2]
        step = max(LATTICE, min(1.0, LATTICE * round(abs(log10(end / before)) / LATTICE)))
        n = ceil(self.decades / step - 1e-9)
        further = [two_digits(end * 10.0 ** (step * (i + 1) * (1 if up else -1))) for i in range(n)]
        kept = [value for value in further if self.low < value < self.high]
        bound = self.high if up else self.low
        if len(kept) < n and 0.0 < bound < inf and bound != end:
            kept.append(bound)
        return kept

    def further(self, grid: list[dict[str, Any]], best: int, up: bool) -> list[dict[str, Any]]:
        """Candidates beyond the best one, none of them in the grid yet."""
        values = [self.place(grid[number]) for number in self.line(grid, best)]
        others: list[dict[str, Any]] = [self.rest(grid[best])]
        if self.whole:
            others = [self.rest(one) for one in grid if one[self.key] == grid[best][self.key]]
        further = [self.write(value) for value in self.beyond(values, up)]
        made = [{**grid[best], **rest, self.key: value} for value in further for rest in others]
        return [one for one in made if one not in grid]


@dataclass(frozen=True)
class Counts(Axis):
    """A number of neighbors: twice as many, and again, to as many as every fold has."""

    write: Callable[[float], Any] = int

    def beyond(self, values: list[float], up: bool) -> list[float]:
        if not up:
            return []
        end = max(values)
        return sorted({min(factor * end, self.high) for factor in (2.0, 4.0)} - {end})


def open_ends(
    axes: tuple[Axis, ...], grid: list[dict[str, Any]], means: Array, best: int
) -> list[tuple[Axis, bool]]:
    """Axes at whose end the best stands (True: the largest value), where there is something beyond."""
    found = []
    for axis in axes:
        line = axis.line(grid, best)
        values = [axis.place(grid[number]) for number in line]
        end = at_end(values, means[line])
        if end is None:
            continue
        value = axis.place(grid[best])
        if value < axis.high if end else value > axis.low:
            found.append((axis, end))
    return found


def two_digits(value: float) -> float:
    """So that tables are readable: 0.0032."""
    return float(f"{value:.1e}")
