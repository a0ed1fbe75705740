"""Contest: every family on every representation and fold, with what they share computed once (SPEC H4, H5)."""

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from nearline.arrays import Array
from nearline.representations import Representation
from nearline.selection.families import Family, Outcome
from nearline.selection.fold_data import FoldData, Rows
from nearline.selection.leaderboard import Entry, Leaderboard, Skipped
from nearline.selection.progress import Progress
from nearline.selection.scoring import Scorer
from nearline.tiles import side_by_side, steps


class OutOfTime(Exception):
    """The time limit has passed."""


@dataclass(frozen=True)
class Rules:
    """What is the same for all candidates."""

    scorers: list[Scorer]
    preset: str
    progress: Progress
    class_weight: Any = None
    time_limit: float | None = None  # seconds
    memory: float | None = None  # bytes; None: what the machine has left


@dataclass
class Unit:
    """A family on a representation: what runs at a time."""

    family: Family
    representation: Representation
    grid: list[dict[str, Any]]
    cost: float
    scores: Array = field(init=False)  # (scorers, candidates, folds)
    spent: Array = field(init=False)  # (fit, predict; candidates, folds)
    done: Array = field(init=False)  # (candidates, folds)
    sizes: Array = field(init=False)
    notes: list[dict[str, None]] = field(init=False)
    hits: list[Array] = field(init=False)  # per fold: which rows each candidate had right, as bits

    def clear(self, n_scorers: int, folds: list[tuple[Array, Array]]) -> None:
        n, n_folds = len(self.grid), len(folds)
        self.hits = [np.zeros((n, -(-len(test) // 8)), np.uint8) for _, test in folds]
        self.scores, self.spent = np.full((n_scorers, n, n_folds), np.nan), np.zeros((2, n, n_folds))
        self.done, self.sizes = np.zeros((n, n_folds), bool), np.zeros(n, np.int64)
        self.notes = [{} for _ in range(n)]


class Contest:
    """Runs the units in order of cost, until all are done, the time is over, or it is interrupted."""

    def __init__(self, rows: Rows, families: list[Family], ways: list[Representation], rules: Rules) -> None:
        self.rows, self.rules = rows, rules
        self.entries: list[Entry] = []
        self.skipped: list[Skipped] = []
        self.interrupted = False
        self._start = perf_counter()
        self._data = FoldData(rows, rules.class_weight, self._memory() / 4)
        ways = [way for way in ways if self._usable(way)]
        self._pairs = [(family, way) for family in families for way in ways if way.gives in family.takes]
        if not self._data.all_fit(ways):  # then one representation after the other
            self._pairs = [(family, way) for way in ways for family in families if way.gives in family.takes]

    def _usable(self, way: Representation) -> bool:
        """Whether rows can be represented so, in the time there is; if not, the reason is kept."""
        need, limit = way.seconds(self.rows.X), self.rules.time_limit
        if limit is not None and need > 0 and need > limit - (perf_counter() - self._start):
            said = f"its Gram matrix would take about {need:.0f} s, more than the time limit leaves"
            self.skipped.append(Skipped("all families", way.name, said))
            return False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._data.first(way)
        except Exception as error:
            self.skipped.append(Skipped("all families", way.name, _reason(error)))
            return False
        return True

    def run(self) -> Leaderboard:
        """What finished is kept whatever happens to the rest."""
        rules = self.rules
        rules.progress.begin()
        done = 0.0
        waiting: list[Unit] = []
        try:
            for unit in self._units():
                waiting.append(unit)
            total = sum(unit.cost for unit in waiting)
            for number in range(len(waiting)):
                self._attempt(waiting[0], number > 0, done, total)
                done += waiting.pop(0).cost
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
        return Leaderboard(self.entries, rules.scorers, self.rows.test_to_train, self.skipped, n_rows)

    def _units(self) -> Iterator[Unit]:
        for family, way in self._pairs:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the fits will say it again
                    unit = self._unit(family, way)
            except Exception as error:
                unit = _reason(error)
            if not isinstance(unit, str):
                yield unit
            elif unit:
                self._skip(family, way, unit)

    def _unit(self, family: Family, way: Representation) -> Unit | str:
        """What is to run, or why not."""
        fold = self._data.first(way)
        need, have = family.memory(fold), self._memory()
        reason = family.refuses(fold)
        if reason is not None:
            return reason
        if need > have:
            return f"it needs about {need / 1e9:.1f} GB of memory, {have / 1e9:.1f} GB are left"
        grid = family.grid(fold, self.rules.preset)
        if not grid:
            return "too few rows, or too small weights"
        return Unit(family, way, grid, family.cost(fold, grid) + 1e6)

    def _attempt(self, unit: Unit, bounded: bool, done: float, total: float) -> None:
        """Run a unit; one that fails is skipped with the reason, one that is late keeps the candidates that finished."""
        unit.clear(len(self.rules.scorers), self.rows.folds)
        try:
            if bounded:
                self._check_time()
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                self._run_folds(unit, bounded, lambda part: (done + unit.cost * part) / total)
            for warning in said:
                for notes in unit.notes:
                    notes[str(warning.message)] = None
        except OutOfTime:
            self._skip(unit.family, unit.representation, "the time limit had passed")
        except Exception as error:  # a user's own estimator may raise anything
            self._skip(unit.family, unit.representation, _reason(error))
            return
        self._keep(unit)

    def _run_folds(self, unit: Unit, bounded: bool, share: Callable[[float], float]) -> None:
        """Folds side by side, if they are in memory and the family's fits may run so."""
        way, progress = unit.representation, self.rules.progress
        n_folds, doing = len(self.rows.folds), f"{unit.family.name} on {way.name}"
        progress.advance(share(0.0), doing)
        finished: list[int] = []

        def run(f: int) -> None:
            for outcome in steps(unit.family.outcomes(self._data.fold(way, f), unit.grid)):
                self._score(unit, f, outcome)
                if bounded:
                    self._check_time()
            finished.append(f)
            progress.advance(share(len(finished) / n_folds), doing)

        beside = unit.family.threads and self._data.keep_all(way)
        side_by_side(run, range(n_folds), cells=float(np.prod(self._data.first(way).shape)) if beside else 0)

    def _score(self, unit: Unit, f: int, outcome: Outcome) -> None:
        rows, number = self.rows, outcome.number
        test = rows.folds[f][1]
        weights = None if rows.weights is None else rows.weights[test]
        for s, scorer in enumerate(self.rules.scorers):
            unit.scores[s, number, f] = scorer(outcome.answers, rows.codes[test], rows.classes, weights)
        unit.hits[f][number] = np.packbits(outcome.answers.labels == rows.codes[test])
        unit.spent[:, number, f] = outcome.fit_seconds, outcome.predict_seconds
        unit.sizes[number] = outcome.size
        if outcome.note:
            unit.notes[number][outcome.note] = None
        unit.done[number, f] = True

    def _keep(self, unit: Unit) -> None:
        for number, parameters in enumerate(unit.grid):
            if not unit.done[number].all():
                continue
            fit_seconds, predict_seconds = unit.spent[:, number].mean(axis=1)
            scores = {s.name: unit.scores[i, number] for i, s in enumerate(self.rules.scorers)}
            entry = Entry(
                unit.family.name,
                unit.representation.name,
                parameters,
                scores,
                float(fit_seconds),
                float(predict_seconds),
                int(unit.sizes[number]),
                unit.family.path,
                "; ".join(unit.notes[number]),
                np.concatenate([hits[number] for hits in unit.hits]),
            )
            self.entries.append(entry)

    def _skip(self, family: Family, way: Representation, reason: str) -> None:
        self.skipped.append(Skipped(family.name, way.name, reason))

    def _check_time(self) -> None:
        limit = self.rules.time_limit
        if limit is not None and perf_counter() - self._start > limit:
            raise OutOfTime

    def _memory(self) -> float:
        return available_memory() if self.rules.memory is None else self.rules.memory


def _reason(error: Exception) -> str:
    said = str(error).splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


def available_memory() -> float:
    """Bytes that are free or can be freed; a guess where the system does not say."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * float(line.split()[1])
    except OSError:
        pass
    try:
        return 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 4e9
