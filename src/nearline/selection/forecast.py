"""Forecast: how much of a contest is done, by what its units took so far and by a model of what the others cost."""

from collections.abc import Callable
from time import perf_counter

from nearline.selection.unit import Unit

FURTHER = 0.25  # of the time of all units: grids that go on
DOUBT = 0.3  # expected seconds that weigh as much as the model itself
FEWEST, FIRST = 3.0, 0.02  # seconds, and share of the expected work, before anything is said


class Forecast:
    """Expected seconds of units, corrected by what they took: those of a family by their family, the rest by all."""

    def __init__(self, units: list[Unit], clock: Callable[[], float] = perf_counter) -> None:
        self._clock, self._begin = clock, clock()
        self._waiting = {id(unit): unit for unit in units}
        self._took: list[tuple[str, float, float]] = []  # family, expected, measured
        self._since, self._going_on = self._begin, 0.0

    def begin(self) -> None:
        """A unit begins."""
        self._since = self._clock()

    def done(self, unit: Unit) -> None:
        """It has ended."""
        self._took.append((unit.family.name, unit.seconds, self._clock() - self._since))
        self._waiting.pop(id(unit), None)

    def left_out(self, unit: Unit) -> None:
        """A unit will not run."""
        self._waiting.pop(id(unit), None)

    def expected(self, unit: Unit) -> float:
        """Seconds that a unit will take, by what others took."""
        return self._corrected(unit)

    def left(self, running: Unit | None = None, part: float = 0.0) -> float:
        """Seconds, while a part of a unit is done."""
        spent = 0.0 if running is None else self._clock() - self._since
        ran = sum(measured for _, _, measured in self._took)
        units = sum(self._corrected(unit) for unit in self._waiting.values() if unit is not running)
        rest = 0.0
        if running is not None:
            whole = spent / part if part > 0 else max(spent, self._corrected(running))
            rest = whole - spent
        return units + rest + FURTHER * (ran + spent + units + rest)

    def share(self, running: Unit | None = None, part: float = 0.0) -> float:
        """Of the time, that has passed; 0 as long as nobody can know."""
        spent, expected = self._clock() - self._begin, sum(one for _, one, _ in self._took)
        total = expected + sum(unit.seconds for unit in self._waiting.values())
        if spent < FEWEST or expected < FIRST * total:
            return 0.0
        return spent / (spent + self.left(running, part))

    def further(self, part: float) -> float:
        """The same while grids go on, of which a part is done."""
        spent = self._clock() - self._begin
        if spent < FEWEST:
            return 0.0
        ran = sum(measured for _, _, measured in self._took)
        return spent / (spent + (1.0 - part) * FURTHER * ran)

    def _corrected(self, unit: Unit) -> float:
        own = [(e, m) for family, e, m in self._took if family == unit.family.name]
        every = [(e, m) for _, e, m in self._took]
        overall = _ratio(every, DOUBT, 1.0)
        return unit.seconds * _ratio(own, 0.1 * DOUBT, overall)


def _ratio(pairs: list[tuple[float, float]], doubt: float, otherwise: float) -> float:
    """Measured to expected, drawn towards another ratio where little was measured."""
    expected, measured = (sum(pair[i] for pair in pairs) for i in (0, 1))
    return (measured + doubt * otherwise) / (expected + doubt)
