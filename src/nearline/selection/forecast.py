"""Forecast: how much of a contest is done, by what its units took so far and by a model of what the others cost."""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Protocol

from nearline.representations import Representation
from nearline.selection.unit import Unit

FURTHER = 0.25  # of the time of all units: grids that go on
DOUBT = 0.3  # expected seconds that weigh as much as the model itself
FEWEST, FIRST = 3.0, 0.02  # seconds, and share of the expected work, before anything is said


class Making(Protocol):
    """What makes the folds, in seconds."""

    making: float  # seconds that it took so far

    def seconds_for(self, representations: Iterable[Representation]) -> float:
        """That units will wait for folds, each unit named by its representation."""


class Forecast:
    """Expected seconds of units, corrected by what they took: those of a family by their family, the rest by all.

    Folds are no family's doing: what units wait for them is counted by itself.
    """

    def __init__(
        self, units: list[Unit], clock: Callable[[], float] = perf_counter, folds: Making | None = None
    ) -> None:
        self._clock, self._begin = clock, clock()
        self._waiting = {id(unit): unit for unit in units}
        self._all_known = True
        self._took: list[tuple[str, float, float]] = []  # family, expected, measured
        self._since, self._folds, self._made = self._begin, folds, 0.0

    def add(self, units: list[Unit], all_known: bool = True) -> None:
        """Further units; whether these are all there will be."""
        self._waiting |= {id(unit): unit for unit in units}
        self._all_known = all_known

    def begin(self) -> None:
        """A unit begins."""
        self._since, self._made = self._clock(), self._making

    def done(self, unit: Unit) -> None:
        """It has ended."""
        self._took.append((unit.family.name, unit.seconds, self._spent))
        self._waiting.pop(id(unit), None)

    def left_out(self, unit: Unit) -> None:
        """A unit will not run."""
        self._waiting.pop(id(unit), None)

    def expected(self, unit: Unit) -> float:
        """Seconds that a unit will take, by what others took."""
        return self._corrected(unit)

    def left(self, running: Unit | None = None, part: float = 0.0) -> float:
        """Seconds, while a part of a unit is done."""
        spent = 0.0 if running is None else self._spent
        ran = sum(measured for _, _, measured in self._took)
        units = sum(self._corrected(unit) for unit in self._waiting.values() if unit is not running)
        rest = 0.0
        if running is not None:
            whole = spent / part if part > 0 else max(spent, self._corrected(running))
            rest = whole - spent
        return units + rest + FURTHER * (ran + spent + units + rest) + self._to_make()

    def share(self, running: Unit | None = None, part: float = 0.0) -> float:
        """Of the time, that has passed; 0 as long as nobody can know."""
        spent, expected = self._clock() - self._begin, sum(one for _, one, _ in self._took)
        total = expected + sum(unit.seconds for unit in self._waiting.values())
        if spent < FEWEST or expected < FIRST * total or not self._all_known:
            return 0.0
        return spent / (spent + self.left(running, part))

    def further(self, part: float) -> float:
        """The same while grids go on, of which a part is done."""
        spent = self._clock() - self._begin
        if spent < FEWEST:
            return 0.0
        ran = sum(measured for _, _, measured in self._took)
        return spent / (spent + (1.0 - part) * FURTHER * ran)

    @property
    def _making(self) -> float:
        return 0.0 if self._folds is None else self._folds.making

    @property
    def _spent(self) -> float:
        """Seconds of the running unit, without those that went into folds."""
        return max(0.0, self._clock() - self._since - (self._making - self._made))

    def _to_make(self) -> float:
        """Seconds that folds will still take."""
        representations = (
            [unit.representation for unit in self._waiting.values()] if self._folds is not None else []
        )
        return self._folds.seconds_for(representations) if self._folds is not None else 0.0

    def _corrected(self, unit: Unit) -> float:
        own = [(e, m) for family, e, m in self._took if family == unit.family.name]
        every = [(e, m) for _, e, m in self._took]
        overall = _ratio(every, DOUBT, 1.0)
        return unit.seconds * _ratio(own, 0.1 * DOUBT, overall)


def _ratio(pairs: list[tuple[float, float]], doubt: float, otherwise: float) -> float:
    """Measured to expected, drawn towards another ratio where little was measured."""
    expected, measured = (sum(pair[i] for pair in pairs) for i in (0, 1))
    return (measured + doubt * otherwise) / (expected + doubt)
