"""Running a unit: its candidates on all folds, scored, with what they share computed once."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._core import thread_limit
from nearline._parallel.stopping import checkpoint, current, heeding
from nearline._parallel.tiles import side_by_side
from nearline.selection.account import Account
from nearline.selection.budget import Budget
from nearline.selection.comparison import added_by_rows
from nearline.selection.contributions import contributions_of, correct
from nearline.selection.deciding import Deciding, without_class_weight
from nearline.selection.ensembling import kept_of, kept_opinion, may_keep
from nearline.selection.families import Fold, Outcome
from nearline.selection.fold_data import FoldData, TrainingRows, fitting_weights
from nearline.selection.journal import Journal
from nearline.selection.memory import available_memory
from nearline.selection.progress import Progress
from nearline.selection.scored import Scored
from nearline.selection.scoring import Scorer
from nearline.selection.unit import Unit


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
    journal: Journal = field(default_factory=Journal)
    account: Account = field(default_factory=Account)  # of the time
    deciding: Deciding = field(default_factory=Deciding)
    ensemble: bool = False  # whether there will be one

    @property
    def memory_left(self) -> float:
        """Bytes that a unit may take."""
        return available_memory() if self.memory is None else self.memory


@dataclass(frozen=True)
class Runner:
    """Runs candidates on the folds of a contest's rows."""

    rows: TrainingRows
    data: FoldData
    rules: Rules

    def check_memory(self, unit: Unit, further: list[dict[str, Any]]) -> None:
        need = unit.family.memory(self.data.largest(unit.representation), further)
        if need > self.rules.memory_left:
            raise MemoryError(
                f"{need / 1e9:.1f} GB are needed, {self.rules.memory_left / 1e9:.1f} GB are left"
            )

    def run(self, unit: Unit, first: int, doing: str, share: Callable[[float], float]) -> None:
        """Candidates from number first on, at their family's charge; warnings become their notes."""
        account, before = self.rules.account, set(unit.work)
        paid = account.spent.get(unit.family.name, 0.0)
        try:
            with account.charge(unit.family.name):
                self._run(unit, first, doing, share)
        finally:
            own, shared = unit.work_since(before)
            paid = account.spent[unit.family.name] - paid
            account.share(unit.family.name, paid, shared, own)

    def _run(self, unit: Unit, first: int, doing: str, share: Callable[[float], float]) -> None:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            pieces = self._pieces(unit, first)
            unit.pieces += pieces
            try:
                for number, piece in enumerate(pieces):
                    with heeding(
                        self.rules.budget.candidates if number else current()
                    ):  # then there is a result
                        checkpoint()
                        whole = partial(_share_of, share, number, len(pieces))
                        self._run_candidates(Piece(unit, piece, said), doing, whole)
            finally:  # also of those that finished before the time was over
                self.rules.deciding.settle(unit, first, self.rows, self.rules.scorers)
                unit.forget_opinions(kept_of(unit, self.rules.scorers[0].sign))
        for message in _messages(said):
            for notes in unit.notes[first:]:
                notes[message] = None

    def _pieces(self, unit: Unit, first: int) -> list[range]:
        """Candidates that run on all folds before the next: one by one where that costs nothing and time may end."""
        numbers = range(first, len(unit.grid))
        apart = unit.family.alone and self.rules.budget.limit is not None
        if not (apart and self.data.keep_all(unit.representation)):
            return [numbers]
        return [range(number, number + 1) for number in numbers]

    def _run_candidates(self, piece: "Piece", doing: str, share: Callable[[float], float]) -> None:
        """Folds side by side, if they are in memory with all that they need, and the family's fits may run so."""
        unit, progress = piece.unit, self.rules.progress
        n_folds = len(self.rows.folds)
        progress.advance(share(0.0), doing)
        missing = {f: self._missing(piece, f) for f in range(n_folds)}
        waiting = [f for f, numbers in missing.items() if numbers]
        finished = [f for f in missing if f not in waiting]
        if not waiting:
            return

        def run(f: int) -> None:
            self._run_fold(piece, f, missing[f])
            finished.append(f)
            progress.advance(share(len(finished) / n_folds), doing)

        beside = unit.family.threads and min(n_folds, thread_limit()) * unit.memory <= self.rules.memory_left
        beside = beside and self.data.keep_all(unit.representation)
        cells = float(np.prod(self.data.largest(unit.representation).shape)) if beside else 0.0
        side_by_side(run, waiting, cells=cells)

    def _missing(self, piece: "Piece", f: int) -> list[int]:
        """Candidates that have to run on fold f: those that the journal does not know."""
        unit, journal = piece.unit, self.rules.journal
        known = journal.known(unit, f, piece.numbers)
        for number, found in known.items():
            unit.take(f, number, found)
            for message in journal.said(unit, f, piece.numbers):
                unit.notes[number][message] = None
        return [number for number in piece.numbers if number not in known]

    def _run_fold(self, piece: "Piece", f: int, numbers: list[int]) -> None:
        unit, scored = piece.unit, dict[int, Scored]()
        fold = self.data.fold(unit.representation, f)
        keep = self.rules.ensemble and may_keep(unit, len(self.rows.classes))
        for number, outcome in self._outcomes(unit, fold, numbers):
            scored[number] = self.scored(f, outcome)
            unit.take(f, number, scored[number])
            if keep:
                unit.opinions[f][number] = kept_opinion(outcome.predictions)
            checkpoint()
        self.rules.journal.keep(unit, f, numbers, scored, _messages(piece.said))

    def remember(self, unit: Unit, f: int, numbers: list[int]) -> None:
        """What candidates said that a journal knew on fold f: they are run again as they ran, to the same bits."""
        fold = self.data.fold(unit.representation, f)
        asked = [list(piece) for piece in unit.pieces if set(piece) & set(numbers)]
        for piece in asked if unit.family.warm else [sorted(numbers)]:
            for number, outcome in self._outcomes(unit, fold, piece):
                if number in numbers:
                    unit.opinions[f][number] = kept_opinion(outcome.predictions)

    def _outcomes(self, unit: Unit, fold: Fold, numbers: list[int]) -> Iterator[tuple[int, Outcome]]:
        """Of candidates by their numbers; those of other class weights are other paths."""
        for weights in dict.fromkeys(repr(unit.grid[number].get("class_weight")) for number in numbers):
            own = [number for number in numbers if repr(unit.grid[number].get("class_weight")) == weights]
            weighed, grid = _weighed(fold, [unit.grid[number] for number in own])
            for outcome in unit.family.outcomes(weighed, grid):
                yield own[outcome.number], outcome

    def scored(self, f: int, outcome: Outcome) -> Scored:
        """What an outcome on fold f is worth."""
        rows, test, deciding = self.rows, self.rows.folds[f][1], self.rules.deciding
        weights = None if rows.weights is None else rows.weights[test]
        outcome = replace(outcome, predictions=deciding.decided(outcome.predictions))
        ranking = outcome.predictions.ranking() if deciding.tune else None
        scores = [s(outcome.predictions, rows.codes[test], rows.classes, weights) for s in self.rules.scorers]
        return Scored(
            tuple(scores),
            np.packbits(outcome.predictions.labels == rows.codes[test]),
            outcome.fit_seconds,
            outcome.predict_seconds,
            outcome.size,
            outcome.note,
            self._added(outcome, rows.codes[test]),
            outcome.shared,
            None if ranking is None else ranking.astype(np.float64),
            None if ranking is None else outcome.predictions.ranked_by,
        )

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


@dataclass(frozen=True)
class Piece:
    """Candidates of a unit that run together on every fold, and the warnings so far."""

    unit: Unit
    numbers: range
    said: list[warnings.WarningMessage]


def _weighed(fold: Fold, grid: list[dict[str, Any]]) -> tuple[Fold, list[dict[str, Any]]]:
    """Candidates of the same class weights: a fold with these, and the rest of the parameters."""
    class_weight = grid[0].get("class_weight")
    if class_weight is None:
        return fold, grid
    weights = fitting_weights(fold.codes, fold.classes, fold.weights, class_weight)
    return replace(fold, weights=weights), [without_class_weight(one) for one in grid]


def _messages(said: list[warnings.WarningMessage]) -> list[str]:
    return list(dict.fromkeys(str(one.message) for one in said))


def _share_of(share: Callable[[float], float], piece: int, pieces: int, part: float) -> float:
    """Of all, while a part of a piece is done."""
    return share((piece + part) / pieces)
