"""Journal: what candidates did on each fold, kept in a file as they finish, so that a contest that ended early goes on."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._atomic.lines import DamagedLinesError, Lines
from nearline._atomic.whole import WriteError
from nearline._records.words import worded
from nearline.selection.checks import Finding
from nearline.selection.fingerprints import fingerprint
from nearline.selection.fold_data import TrainingRows
from nearline.selection.scored import Scored
from nearline.selection.scoring import Scorer
from nearline.selection.unit import Unit

FORMAT = 2
# What must be the same, and how it is called where it is not.
CALLED = {
    "format": "the format of the journal",
    "version": "the version of nearline",
    "data": "the training rows or their labels",
    "folds": "the folds",
    "weights": "the sample weights",
    "class_weight": "the class weights",
    "scoring": "the scores",
    "deciding": "costs or threshold",
}


class JournalError(ValueError):
    """The file is no journal of this contest."""


class Journal:
    """Candidates that finished on a fold, by family, representation, fold and parameters.

    A candidate of a path owes its last bits to those before it, so it is taken only if the path is the same; others are
    taken one by one. So a contest that goes on has the bits of one that was never interrupted.
    """

    def __init__(self, lines: Lines | None = None, sizes: Sequence[int] = ()) -> None:
        self._lines, self._kept, self._sizes = lines, False, sizes
        self._known: dict[tuple[str, ...], Scored] = {}
        self._said: dict[tuple[str, ...], list[str]] = {}
        for line in [] if lines is None else lines.found[1:]:
            self._take(line)

    @classmethod
    def of(cls, path: Any, facts: dict[str, Any], sizes: Sequence[int]) -> "Journal":
        """The journal in a file, begun if there is none; folds leave out so many rows. One of another contest is refused."""
        try:
            lines = Lines(path)
        except (DamagedLinesError, WriteError) as error:
            said = (
                str(error) if isinstance(error, WriteError) else f"{path} is no journal: {error}. {_other()}"
            )
            raise JournalError(said) from error
        if lines.found:
            differ = [CALLED[name] for name in CALLED if lines.found[0].get(name) != facts[name]]
            if differ:
                lines.close()
                raise JournalError(
                    f"{path} is the journal of another contest: {', '.join(differ)} differ. {_other()}"
                )
            return cls._read(path, lines, sizes)
        lines.add(facts)
        if lines.failure is not None:
            raise JournalError(str(lines.failure)) from lines.failure
        return cls(lines, sizes)

    @classmethod
    def _read(cls, path: Any, lines: Lines, sizes: Sequence[int]) -> "Journal":
        try:
            return cls(lines, sizes)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            lines.close()
            raise JournalError(f"{path} is no journal that nearline wrote. {_other()}") from error

    def known(self, unit: Unit, f: int, numbers: Iterable[int]) -> dict[int, Scored]:
        """What candidates of a unit did on fold f, of those that need not run again."""
        if not self._known:
            return {}
        numbers = list(numbers)
        path = _path(unit, numbers)
        found = {n: one for n in numbers if (one := self._known.get(_key(unit, f, path, n))) is not None}
        return found if len(found) == len(numbers) or not unit.family.warm else {}

    def knows(self, unit: Unit) -> bool:
        """Whether no candidate of a unit has to run."""
        numbers = range(len(unit.grid))
        return all(len(self.known(unit, f, numbers)) == len(numbers) for f in range(len(unit.tests)))

    def said(self, unit: Unit, f: int, numbers: Iterable[int]) -> list[str]:
        """Warnings of the runs in which candidates were fitted."""
        numbers = list(numbers)
        path = _path(unit, numbers)
        found = [self._said.get(_key(unit, f, path, number), []) for number in numbers]
        return [one for messages in found for one in messages]

    def keep(self, unit: Unit, f: int, numbers: list[int], found: dict[int, Scored], said: list[str]) -> None:
        """Candidates that ran together on fold f, once all of them have finished; from any thread."""
        if self._lines is None:
            return
        self._kept, path = True, _path(unit, numbers)
        self._lines.add(
            {
                "at": [*_place(unit), str(f), path],
                "said": said,
                "candidates": [
                    {"parameters": repr(unit.grid[number])} | found[number].plain() for number in numbers
                ],
            }
        )

    def close(self) -> list[Finding]:
        """Others may go on with it; what became of it, where that was not to be expected. An empty one is removed."""
        if self._lines is None:
            return []
        self._lines.close(keep=bool(self._known) or self._kept)
        if self._lines.failure is None:
            return []
        return [
            Finding(
                "journal",
                "note",
                str(self._lines.path),
                f"The contest went on without its journal: {self._lines.failure}",
                "What the journal has up to there is whole, and a contest can go on from it.",
            )
        ]

    def _take(self, line: dict[str, Any]) -> None:
        """The candidates of a line. Its checksum fits, but anybody can make one: types and lengths are looked at."""
        at, said, n_rows = line["at"], line["said"], self._sizes[int(line["at"][2])]
        n_scores = len(self._lines.found[0]["scoring"]) if self._lines is not None else 0
        for one in line["candidates"]:
            key, scored = (*at, one["parameters"]), Scored.of(one)
            if not all(type(word) is str for word in (*key, *said)):
                raise ValueError("places and sentences are texts")
            if len(scored.scores) != n_scores or len(scored.right) != -(-n_rows // 8):
                raise ValueError("scores and rows are not those of the contest")
            self._known[key] = scored
            self._said[key] = said


def journal_of(
    path: Any, rows: TrainingRows, scorers: list[Scorer], class_weight: Any, deciding: str = ""
) -> Journal:
    """The journal of a contest; without a path nothing is kept. ``deciding``: how labels are made."""
    if path is None:
        return Journal()
    facts = facts_of(rows, scorers, class_weight, deciding)
    return Journal.of(path, facts, [len(test) for _, test in rows.folds])


def facts_of(
    rows: TrainingRows, scorers: list[Scorer], class_weight: Any, deciding: str = ""
) -> dict[str, Any]:
    """All that a candidate's scores depend on beside the candidate. Functions of the user's are known by their names."""
    from nearline import __version__

    return {
        "format": FORMAT,
        "version": __version__,
        "data": fingerprint(rows.X, rows.classes[rows.codes]),
        "folds": _digest(part for pair in rows.folds for part in pair),
        "weights": None if rows.weights is None else _digest([rows.weights]),
        "class_weight": repr(class_weight),
        "scoring": [one.title for one in scorers],
        "deciding": deciding,
    }


def _digest(arrays: Iterable[Array]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes() + b";")
    return digest.hexdigest()


def _place(unit: Unit) -> list[str]:
    return [unit.family.identity, unit.representation.name]


def _path(unit: Unit, numbers: list[int]) -> str:
    """Of candidates that start where others ended: all that run together."""
    return repr([unit.grid[number] for number in numbers]) if unit.family.warm else ""


def _key(unit: Unit, f: int, path: str, number: int) -> tuple[str, ...]:
    return (*_place(unit), str(f), path, repr(unit.grid[number]))


def _other() -> str:
    return worded(
        "Name another file, or remove this one to begin anew.",
        "Give another --out, or --force without --resume to begin anew.",
    )
