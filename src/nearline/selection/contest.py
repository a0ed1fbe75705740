"""Contest: every family on every representation and fold, with what they share computed once."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._core import thread_limit
from nearline._parallel.stopping import Deadline, OutOfTime, checkpoint, current, heeding
from nearline._parallel.tiles import side_by_side
from nearline.representations import Representation
from nearline.selection.budget import Budget
from nearline.selection.comparison import added_by_rows
from nearline.selection.contributions import contributions_of, correct
from nearline.selection.edges import ROUNDS, Axis, Edge, open_ends
from nearline.selection.families import Family, Outcome
from nearline.selection.fold_data import FoldData, TrainingRows
from nearline.selection.forecast import Forecast
from nearline.selection.leaderboard import Leaderboard, Skipped
from nearline.selection.memory import KEPT, available_memory
from nearline.selection.progress import Progress
from nearline.selection.scoring import Scorer
from nearline.selection.unit import Unit
from nearline.selection.usable import LATE, are_dear, reason_of, too_long, usable_representations

EARLY = 3  # families that are tried before the grids of others are made, where time is limited
MUCH = 1e9  # bytes that are worth a word
DOUBT = 1.5  # what is expected to take longer than the time left by more than this factor is not begun


@dataclass(frozen=True)
class Rules:
    """What is the same for all candidates."""

    scorers: list[Scorer]
    preset: str
    progress: Progress
    class_weight: Any = None
    budget: Budget = field(default_factory=lambda: Budget(None))
    memory: float | None = None  # bytes; None: what the machine has left
    last_fits: Callable[[Any], int] = lambda model: 1  # how often a winner is fitted in the end


class Contest:
    """Runs the units in order of cost, until all are done, the time is over, or it is interrupted."""

    def __init__(
        self, rows: TrainingRows, families: list[Family], representations: list[Representation], rules: Rules
    ) -> None:
        self.rows, self.rules = rows, rules
        self.units: list[Unit] = []  # that ran
        self.interrupted, self._begun = False, 0
        self.to_fit: dict[
            int, float
        ] = {}  # seconds that a last fit of an entry, known by its id, takes about
        self._tests = [test for _, test in rows.folds]
        self._data = FoldData(rows, rules.class_weight, min(KEPT, self._memory() / 4))
        usable, self.skipped = usable_representations(self._data, representations, rules.budget)
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
        return Leaderboard(entries, rules.scorers, self.rows.test_to_train, self.skipped, n_rows)

    def _run_all(self, waiting: list[Unit], total: int | None) -> None:
        """Unit after unit; those that ran leave the list. ``total``: of all units, where others are to come."""
        forecast, before = self._forecast, self._begun
        forecast.add(waiting, all_known=total is None)
        total = before + len(waiting) if total is None else total
        while waiting:
            unit = waiting[0]
            self._begun += 1
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
        need, tests = family.memory(fold, grid), self._tests
        if need > self._memory():
            return f"it needs about {need / 1e9:.1f} GB of memory, {self._memory() / 1e9:.1f} GB are left"
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
            self._run_folds(unit, 0, doing, lambda part: self._forecast.share(unit, part))
        except OutOfTime:
            self._skip(unit.family, unit.representation, LATE, late=True)
        except KeyboardInterrupt:
            self.units.append(unit)
            raise
        except Exception as error:  # a user's own estimator may raise anything
            self._skip(unit.family, unit.representation, reason_of(error))
            return
        self.units.append(unit)

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
        fits = self.rules.last_fits(unit.family.estimator(unit.grid[number]))
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
                    self._check_memory(unit, further)
                    unit.grow(further)
                    doing = f"further values: {_doing(unit)}"
                    self._run_folds(unit, first, doing, lambda _: self._forecast.further(part))
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

    def _check_memory(self, unit: Unit, further: list[dict[str, Any]]) -> None:
        need = unit.family.memory(self._data.largest(unit.representation), further)
        if need > self._memory():
            raise MemoryError(f"{need / 1e9:.1f} GB are needed, {self._memory() / 1e9:.1f} GB are left")

    def _run_folds(self, unit: Unit, first: int, doing: str, share: Callable[[float], float]) -> None:
        """Candidates from number first on; warnings become their notes."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            pieces = self._pieces(unit, first)
            for number, piece in enumerate(pieces):
                with heeding(self.rules.budget.candidates if number else current()):  # then there is a result
                    checkpoint()
                    whole = partial(_share_of, share, number, len(pieces))
                    self._run_candidates(unit, piece, doing, whole)
        for warning in said:
            for notes in unit.notes[first:]:
                notes[str(warning.message)] = None

    def _pieces(self, unit: Unit, first: int) -> list[range]:
        """Candidates that run on all folds before the next: one by one where that costs nothing and time may end."""
        numbers = range(first, len(unit.grid))
        apart = unit.family.alone and self.rules.budget.limit is not None
        if not (apart and self._data.keep_all(unit.representation)):
            return [numbers]
        return [range(number, number + 1) for number in numbers]

    def _run_candidates(
        self, unit: Unit, numbers: range, doing: str, share: Callable[[float], float]
    ) -> None:
        """Folds side by side, if they are in memory with all that they need, and the family's fits may run so."""
        representation, progress = unit.representation, self.rules.progress
        n_folds = len(self.rows.folds)
        progress.advance(share(0.0), doing)
        finished: list[int] = []

        def run(f: int) -> None:
            for outcome in unit.family.outcomes(
                self._data.fold(representation, f), unit.grid[numbers.start : numbers.stop]
            ):
                self._score(unit, f, numbers.start, outcome)
                checkpoint()
            finished.append(f)
            progress.advance(share(len(finished) / n_folds), doing)

        beside = unit.family.threads and min(n_folds, thread_limit()) * unit.memory <= self._memory()
        beside = beside and self._data.keep_all(representation)
        cells = float(np.prod(self._data.largest(representation).shape)) if beside else 0.0
        side_by_side(run, range(n_folds), cells=cells)

    def _score(self, unit: Unit, f: int, first: int, outcome: Outcome) -> None:
        rows, test = self.rows, self.rows.folds[f][1]
        weights = None if rows.weights is None else rows.weights[test]
        scores = [s(outcome.predictions, rows.codes[test], rows.classes, weights) for s in self.rules.scorers]
        right = outcome.predictions.labels == rows.codes[test]
        unit.take(f, first + outcome.number, outcome, scores, right, self._added(outcome, rows.codes[test]))

    def _added(self, outcome: Outcome, codes: Array) -> Array | None:
        """What independent rows add to the score that decides; `correct` says it for the accuracy."""
        primary = self.rules.scorers[0]
        contributions = contributions_of(primary)
        if (
            contributions is None
            or contributions is correct
            or self.rows.weights is not None
            or not self.rows.independent
        ):
            return None
        rows = contributions(outcome.predictions, codes, len(self.rows.classes))
        return None if rows is None else added_by_rows(rows, len(self.rows.folds))

    def _skip(self, family: Family, representation: Representation, reason: str, late: bool = False) -> None:
        self.skipped.append(Skipped(family.name, representation.name, reason, late))

    def _memory(self) -> float:
        return available_memory() if self.rules.memory is None else self.rules.memory


def _share_of(share: Callable[[float], float], piece: int, pieces: int, part: float) -> float:
    """Of all, while a part of a piece is done."""
    return share((piece + part) / pieces)


def _doing(unit: Unit) -> str:
    """What runs, and what it needs with the folds where that is much."""
    need = unit.memory + unit.folds
    much = f", {need / 1e9:.1f} GB" if need > MUCH else ""
    return f"{unit.family.name} on {unit.representation.name}{much}"
