"""Contest: every family on every representation and fold, with what they share computed once."""

import warnings
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from nearline._parallel.stopping import Deadline, OutOfTime, checkpoint, heeding
from nearline.representations import Representation
from nearline.selection.deciding import with_class_weights, without_class_weight
from nearline.selection.edges import ROUNDS, Axis, Edge, open_ends
from nearline.selection.ensembling import NAME as ENSEMBLE
from nearline.selection.ensembling import ensembled
from nearline.selection.families import Family
from nearline.selection.fold_data import FoldData, TrainingRows
from nearline.selection.forecast import Forecast
from nearline.selection.leaderboard import Entry, Leaderboard, Skipped
from nearline.selection.memory import KEPT
from nearline.selection.running import Rules, Runner
from nearline.selection.unit import Unit
from nearline.selection.usable import LATE, are_dear, reason_of, too_long, usable_representations

EARLY = 3  # families that are tried before the grids of others are made, where time is limited
MUCH = 1e9  # bytes that are worth a word
DOUBT = 1.5  # what is expected to take longer than the time left by more than this factor is not begun


class Contest:
    """Runs the units in order of cost, until all are done, the time is over, or it is interrupted."""

    def __init__(
        self, rows: TrainingRows, families: list[Family], representations: list[Representation], rules: Rules
    ) -> None:
        self.rows, self.rules = rows, rules
        self.trivial = {family.name for family in families if family.trivial}  # that do not look at the rows
        self.units: list[Unit] = []  # that ran
        self.interrupted, self._begun = False, 0
        self.to_fit: dict[
            int, float
        ] = {}  # seconds that a last fit of an entry, known by its id, takes about
        self._tests = [test for _, test in rows.folds]
        self._data = FoldData(rows, rules.class_weight, min(KEPT, self.rules.memory_left / 4), rules.account)
        self.runner = Runner(rows, self._data, rules)
        served = [one for one in representations if any(one.gives in family.takes for family in families)]
        usable, self.skipped = usable_representations(self._data, served or representations, rules.budget)
        self._pairs = [(family, one) for family in families for one in usable if one.gives in family.takes]
        if not self._data.all_fit(usable) or are_dear(
            self._data, usable, rules.budget
        ):  # then one representation after the other
            self._pairs = [
                (family, one) for one in usable for family in families if one.gives in family.takes
            ]

    def run(self) -> Leaderboard:
        """What finished is kept whatever happens to the rest."""
        rules, waiting = self.rules, []
        rules.progress.begin()
        self._forecast = Forecast([], rules.progress.clock, self._data)
        early = EARLY if rules.budget.limit is not None else 0
        try:
            for pairs, total in ((self._pairs[:early], len(self._pairs)), (self._pairs[early:], None)):
                for unit in self._units(pairs):
                    waiting.append(unit)
                self._run_all(waiting, total)
            with heeding(rules.budget.result), suppress(OutOfTime):
                for number, unit in enumerate(self.units):  # after all: what is short is time, not families
                    self._go_on(unit, number / len(self.units))
        except KeyboardInterrupt:
            self.interrupted = True
            for unit in waiting:
                self._skip(unit.family, unit.representation, "interrupted")
        finally:
            rules.progress.end()
        n_rows = (
            sum(len(test) for _, test in self.rows.folds)
            if self.rows.independent and self.rows.weights is None
            else None
        )
        finished = [(unit, number) for unit in self.units for number in unit.finished()]
        entries = [unit.entry(number) for unit, number in finished]
        seconds = [self.seconds_to_fit(unit, number) for unit, number in finished]
        self.to_fit = {id(entry): one for entry, one in zip(entries, seconds, strict=True)}
        self._data.forget()
        return Leaderboard(
            entries, rules.scorers, self.rows.test_to_train, self.skipped, n_rows, account=rules.account
        )

    def joined(self, board: Leaderboard) -> Leaderboard:
        """The leaderboard with an ensemble of what was tried as a further candidate."""
        with self.rules.account.charge(ENSEMBLE), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the candidates have said it
            try:
                return ensembled(self, board)
            finally:
                self._data.forget()
                for unit in self.units:
                    unit.forget_opinions([])

    def _run_all(self, waiting: list[Unit], total: int | None) -> None:
        """Unit after unit; those that ran leave the list. ``total``: of all units, where others are to come."""
        forecast, before = self._forecast, self._begun
        forecast.add(waiting, all_known=total is None)
        total = before + len(waiting) if total is None else total
        while waiting:
            unit = waiting[0]
            self._begun += 1
            if self.rules.journal.knows(unit):
                with heeding(None):  # there is nothing to compute
                    self._attempt(unit, _doing(unit))
                forecast.left_out(unit)
                waiting.pop(0)
                continue
            need = forecast.expected(unit) + self._data.seconds_to_make(unit.representation)
            left = self.rules.budget.left
            if need > DOUBT * left and self._has_result():
                self._skip(unit.family, unit.representation, too_long("it", need, left), late=True)
                forecast.left_out(unit)
            else:
                forecast.begin()
                with heeding(self._bound()):
                    self._attempt(unit, f"{self._begun} of {total}: {_doing(unit)}")
                forecast.done(unit)
                self._keep_time()
            waiting.pop(0)

    def _units(self, pairs: list[tuple[Family, Representation]]) -> Iterator[Unit]:
        budget, first = self.rules.budget, not self._has_result()
        for family, representation in pairs:
            try:
                with warnings.catch_warnings(), heeding(budget.first if first else budget.candidates):
                    warnings.simplefilter("ignore")  # the fits will say it again
                    checkpoint()
                    unit = self._unit(family, representation)
            except OutOfTime:
                self._skip(family, representation, LATE, late=True)
                continue
            except Exception as error:
                unit = reason_of(error)
            if not isinstance(unit, str):
                first = first and family.trivial
                yield unit
            elif unit:
                self._skip(family, representation, unit)

    def _bound(self) -> Deadline:
        """What a unit heeds: the first that looks at the rows may be a little late, so that there is a result."""
        return self.rules.budget.candidates if self._has_result() else self.rules.budget.first

    def _has_result(self) -> bool:
        return any(unit.finished() and not unit.family.trivial for unit in self.units)

    def _unit(self, family: Family, representation: Representation) -> Unit | str:
        """What is to run, or why not."""
        fold = self._data.largest(representation)
        reason = family.refuses(fold)
        if reason is not None:
            return reason
        grid = family.grid(fold, self.rules.preset)
        if not grid:
            return "too few rows, or too small weights"
        if family.by_number:  # a user's own classifier stays as it is
            grid = with_class_weights(grid, family.estimator(grid[0]), self.rules.deciding.weights)
        need, tests = family.memory(fold, grid), self._tests
        if need > self.rules.memory_left:
            return f"it needs about {need / 1e9:.1f} GB of memory, {self.rules.memory_left / 1e9:.1f} GB are left"
        seconds = len(tests) * family.seconds(fold, grid)
        unit = Unit(
            family, representation, seconds, need, self.rules.scorers, tests, self._data.bytes_with(fold)
        )
        unit.grow(grid)
        return unit

    def _attempt(self, unit: Unit, doing: str) -> None:
        """Run a unit; one that fails is skipped with the reason, one that is late keeps the candidates that finished."""
        try:
            checkpoint()
            self.runner.run(unit, 0, doing, lambda part: self._forecast.share(unit, part))
        except OutOfTime:
            self._skip(unit.family, unit.representation, LATE, late=True)
        except KeyboardInterrupt:
            self.units.append(unit)
            raise
        except Exception as error:  # a user's own estimator may raise anything
            self._skip(unit.family, unit.representation, reason_of(error))
            return
        self.units.append(unit)

    def beside(self, family: Family, representation: Representation) -> Entry | str:
        """What has no part in the choice, on the same folds, once the contest has been held; or why there is nothing."""
        try:
            unit = self._unit(family, representation)
            if isinstance(unit, str):
                return unit
            self.runner.run(unit, 0, f"{_doing(unit)}, beside the contest", lambda _: 0.0)
        except OutOfTime:
            return LATE
        finally:
            self._data.forget()
        return unit.entry(0)

    def _keep_time(self) -> None:
        """Reserve what it will take to fit the best so far on all rows."""
        sign = self.rules.scorers[0].sign
        found = [best for unit in self.units if (best := unit.best(sign)) is not None]
        if self.rules.budget.limit is None or not found:
            return
        unit, number, _ = max(found, key=lambda one: one[2])
        self.rules.budget.reserve(self.seconds_to_fit(unit, number))

    def seconds_to_fit(self, unit: Unit, number: int) -> float:
        """About how long it takes to fit a candidate on all rows, by what its fits on the folds took."""
        trained = float(np.mean([len(train) for train, _ in self.rows.folds]))
        again = len(self.rows.codes) / trained
        fits = self.rules.last_fits(unit.family.estimator(without_class_weight(unit.grid[number])))
        return again * fits * (unit.seconds_to_fit(number) + self._data.seconds(unit.representation))

    def _go_on(self, unit: Unit, part: float = 0.0) -> None:
        """Further candidates while the best of the unit, on the folds, stands at an end of its grid.

        Deterministic but for a time limit: the scores on the folds decide, and at most ROUNDS rounds are run.
        """
        why = f"after {ROUNDS} rounds of further values"
        for _ in range(ROUNDS):
            ends = self._ends(unit)
            further = [one for axis, best, up in ends for one in axis.further(unit.grid, best, up)]
            if not further:
                break
            first = len(unit.grid)
            try:
                with heeding(self.rules.budget.candidates):
                    checkpoint()
                    self.runner.check_memory(unit, further)
                    unit.grow(further)
                    doing = f"further values: {_doing(unit)}"
                    self.runner.run(unit, first, doing, lambda _: self._forecast.further(part))
            except OutOfTime:
                why = LATE
                break
            except Exception as error:
                why = f"values beyond failed: {reason_of(error)}"
                break
        for axis, best, up in self._ends(unit):
            edge = Edge(axis.parameter, axis.place(unit.grid[best]), up, why)
            unit.edges[best] = (*unit.edges.get(best, ()), edge)

    def _ends(self, unit: Unit) -> list[tuple[Axis, int, bool]]:
        """Axes at whose end the best candidate stands, its number, and whether that is the largest value."""
        numbers = unit.finished()
        if not numbers:
            return []
        entries = {number: unit.entry(number) for number in numbers}
        board = Leaderboard(list(entries.values()), self.rules.scorers, self.rows.test_to_train)
        best = next(number for number, entry in entries.items() if entry is board.best)
        grid = [unit.grid[number] for number in numbers]
        means = np.array([board.primary.sign * board.mean(entry) for entry in entries.values()])
        axes = unit.family.axes(self._data.largest(unit.representation), grid)
        return [(axis, best, up) for axis, up in open_ends(axes, grid, means, numbers.index(best))]

    def _skip(self, family: Family, representation: Representation, reason: str, late: bool = False) -> None:
        self.skipped.append(Skipped(family.name, representation.name, reason, late))


def _doing(unit: Unit) -> str:
    """What runs, and what it needs with the folds where that is much."""
    need = unit.memory + unit.folds
    much = f", {need / 1e9:.1f} GB" if need > MUCH else ""
    return f"{unit.family.name} on {unit.representation.name}{much}"
