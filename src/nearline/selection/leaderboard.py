"""Leaderboard: every candidate's score on every fold, as plain records."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import many
from nearline.selection.account import Account
from nearline.selection.cells import bytes_in, seconds_in, short, shown, table
from nearline.selection.comparison import Added, CorrectRows, indistinguishable
from nearline.selection.decisions import Rule
from nearline.selection.edges import Edge
from nearline.selection.scoring import SCORERS, Scorer

if TYPE_CHECKING:
    from nearline.selection.outside import Outside

OPTIMISTIC = "The best mean is optimistic: it was chosen for being best. Test rows and nested cross-validation are honest."


@dataclass(frozen=True)
class Entry:
    """One candidate."""

    family: str
    representation: str
    parameters: dict[str, Any]
    scores: dict[str, Array]  # of each score on each fold, NaN where it is undefined
    fit_seconds: float  # per fold; along a path, from where the last candidate ended
    predict_seconds: float  # per fold, search included
    size: int | None  # bytes; None: unknown, the last among equals
    path: str | None = None  # the parameter that makes models of the family simpler as it grows
    note: str = ""
    correct: Array | None = field(
        default=None, repr=False
    )  # bits: which rows it had right when they were left out
    edges: tuple[
        Edge, ...
    ] = ()  # ends of the grid that it stands at, as the best of its family on these data
    added: Array | None = field(default=None, repr=False)  # what left-out rows add to the score that decides
    rule: Rule | None = None  # that makes the labels, where it is not the model's own
    members: "tuple[Member, ...]" = ()  # of an ensemble

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={short(value)}" for name, value in self.parameters.items())
        return f"{self.family} ({inside})" if inside else self.family


@dataclass(frozen=True)
class Member:
    """A candidate of an ensemble, and its share of the mean."""

    entry: Entry
    weight: float
    temperature: float | None = None  # by which its scores are made into probabilities; None: it has its own


@dataclass(frozen=True)
class Skipped:
    """A family that was not tried on a representation, and why."""

    family: str
    representation: str
    reason: str
    late: bool = False  # whether the time limit is the reason


@dataclass(frozen=True)
class Leaderboard:
    """Candidates, the best mean first; among equal means the smaller model, then the simpler one of a path."""

    entries: list[Entry]
    scorers: list[Scorer]
    test_to_train: float  # rows left out for each row learned from, for paired comparisons
    skipped: list[Skipped] = field(default_factory=list)
    n_rows: int | None = None  # left out over all folds, where they are independent of each other
    outside: "Outside | None" = None  # what the choice is held against
    account: Account | None = None  # where the time went
    together: str = ""  # what the ensemble is, or why there is none

    def __post_init__(self) -> None:
        self.entries.sort(key=self._rank)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __getitem__(self, number: int) -> Entry:
        return self.entries[number]

    @property
    def primary(self) -> Scorer:
        """The score that decides."""
        return self.scorers[0]

    @property
    def best(self) -> Entry:
        """The best mean of the primary score."""
        if not self.entries:
            raise ValueError("No candidate finished: give more time, or other families.")
        return self.entries[0]

    def mean(self, entry: Entry, score: str | None = None) -> float:
        """Over folds; NaN if it is undefined on one of them.

        To twelve digits: what differs beyond them is the order in which folds were added up.
        """
        return float(f"{np.mean(entry.scores[score or self.primary.name]):.12g}")

    def deviation(self, entry: Entry, score: str | None = None) -> float:
        """Standard deviation over folds."""
        return float(np.std(entry.scores[score or self.primary.name], ddof=1))

    def error(self, entry: Entry, score: str | None = None) -> float:
        """Standard error of the mean, as if folds were independent, which they are not quite: no interval."""
        return self.deviation(entry, score) / float(np.sqrt(len(entry.scores[score or self.primary.name])))

    def mates(self, entry: Entry) -> list[Entry]:
        """The candidates on the entry's own path, best first: equal but for the parameter of the path."""
        return [one for one in self.entries if _same_path(one, entry)]

    def one_standard_error(self, entry: Entry) -> Entry:
        """The simplest on the entry's own path whose mean is within one standard error of the path's best."""
        mates = self.mates(entry)
        best = mates[0]
        if best.path is None:
            return best
        path, sign = best.path, self.primary.sign
        least = sign * self.mean(best) - self.error(best)
        good = [one for one in mates if sign * self.mean(one) >= least]
        return max(good, key=lambda one: one.parameters[path], default=best)

    def best_of_families(self) -> list[Entry]:
        """The best of each family, best first."""
        seen: dict[str, Entry] = {}
        for entry in self.entries:
            seen.setdefault(entry.family, entry)
        return list(seen.values())

    def equals_of_best(self, among: list[Entry] | None = None, level: float = 0.05) -> list[Entry]:
        """Candidates (all, or some) that a paired comparison does not tell from the best.

        Approximate: corrected tests, adjusted by Holm's method for the number of candidates; on rows that are independent
        where it is known what they add to the score, else on folds.
        """
        among = self.entries if among is None else among
        scores = np.array([entry.scores[self.primary.name] for entry in among])
        rows = self._rows(among, scores)
        same = indistinguishable(self.primary.sign * scores, self.test_to_train, level, rows)
        return [entry for entry, one in zip(among, same, strict=True) if one]

    def _rows(self, among: list[Entry], scores: Array) -> CorrectRows | Added | None:
        """What comparisons of rows need; None where rows are not independent, or the score is not known by rows."""
        if self.n_rows is None:
            return None
        if self.primary.score is SCORERS["accuracy"].score:
            return CorrectRows(np.array([entry.correct for entry in among]), self.n_rows)
        known = [entry.added for entry in among if entry.added is not None]
        if len(known) < np.isfinite(scores).all(axis=1).sum() or not known:
            return None
        nothing = np.zeros_like(known[0])  # of candidates without a score, which are not compared
        return Added(scores, np.array([nothing if one.added is None else one.added for one in among]))

    def records(self) -> list[dict[str, Any]]:
        """One dictionary a candidate, best first."""
        equals = {id(entry) for entry in self.equals_of_best()} if self.entries else set()
        return [self._record(rank + 1, entry, id(entry) in equals) for rank, entry in enumerate(self.entries)]

    def to_pandas(self) -> Any:
        """A pandas frame of :meth:`records`."""
        import pandas

        return pandas.DataFrame(self._flat())

    def to_polars(self) -> Any:
        """A polars frame of :meth:`records`."""
        import polars

        return polars.DataFrame(self._flat())

    def __str__(self) -> str:
        if not self.entries:
            return "no candidate finished"
        return "\n".join(self._lines())

    def _rank(self, entry: Entry) -> tuple[float, float, float]:
        mean = self.primary.sign * self.mean(entry)
        simple = float(entry.parameters[entry.path]) if entry.path is not None else 0.0
        return (np.inf if np.isnan(mean) else -mean), (np.inf if entry.size is None else entry.size), -simple

    def _record(self, rank: int, entry: Entry, equal: bool) -> dict[str, Any]:
        record: dict[str, Any] = {
            "rank": rank,
            "family": entry.family,
            "representation": entry.representation,
            "parameters": entry.parameters,
        }
        for scorer in self.scorers:
            name = scorer.name
            record[name] = self.mean(entry, name)
            record[f"{name} deviation"] = self.deviation(entry, name)
            record[f"{name} error"] = self.error(entry, name)
            record[f"{name} folds"] = entry.scores[name].tolist()
        return record | {
            "not distinguishable from best": equal,
            "fit seconds": entry.fit_seconds,
            "predict seconds": entry.predict_seconds,
            "bytes": entry.size,
            "grid end": ", ".join(f"{edge.place} {edge.parameter}" for edge in entry.edges),
            "note": entry.note,
        }

    def _flat(self) -> list[dict[str, Any]]:
        """Records with parameters as text: frames want one type a column."""
        return [
            record | {"parameters": ", ".join(f"{k}={short(v)}" for k, v in record["parameters"].items())}
            for record in self.records()
        ]

    def _with_deviation(self, entry: Entry, name: str) -> str:
        mean = self.mean(entry, name)
        return "n/a" if np.isnan(mean) else f"{shown(mean)} ± {shown(self.deviation(entry, name))}"

    def _lines(self) -> list[str]:
        best = self.best_of_families()
        equals = {id(entry) for entry in self.equals_of_best(best)}
        rows = [
            [
                ("*" if id(entry) in equals else "") + (">" if entry.edges else ""),
                entry.family,
                entry.representation,
                ", ".join(f"{k}={short(v)}" for k, v in entry.parameters.items() if k != "metric"),
                *(self._with_deviation(entry, s.name) for s in self.scorers),
                seconds_in(entry.fit_seconds),
                seconds_in(entry.predict_seconds),
                bytes_in(entry.size),
            ]
            for entry in best
        ]
        head = [
            "",
            "family",
            "data",
            "parameters",
            *(s.title for s in self.scorers),
            "fit",
            "predict",
            "size",
        ]
        folds = len(self.best.scores[self.primary.name])
        return [
            *table([head, *rows]),
            f"{many(len(self), 'candidate')}; mean ± standard deviation over {folds} folds; the best of each family.",
            "fit, predict: time per fold of one candidate, with all that it shares with others (of a path from the candidate "
            "before); size: what the model keeps.",
            *([] if self.account is None else [str(self.account)]),
            OPTIMISTIC,
            "* not distinguishable from the best of these by a paired comparison (approximate).",
            "Linear models are certified to 1e-3 of the null risk on folds, the chosen one to 1e-4 of its own risk.",
            *self._open_ends(best),
            *([self.together] if self.together else []),
            *self._reasons(),
            *([] if self.outside is None else [str(self.outside)]),
        ]

    def _open_ends(self, best: list[Entry]) -> list[str]:
        """The families whose best stands at the end of its grid."""
        found = [
            f"{entry.family} ({edge.place} {edge.parameter} tried)" for entry in best for edge in entry.edges
        ]
        return (
            [f"> best at an end of its grid, so that values beyond may be better: {'; '.join(found)}."]
            if found
            else []
        )

    def _reasons(self) -> list[str]:
        return [f"skipped: {names}: {reason}" for reason, names in by_reason(self.skipped).items()]


def by_reason(skipped: list[Skipped]) -> dict[str, str]:
    """What was skipped, by reason: "SVM, hinge on words and characters; k-NN, L2 on words"."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in skipped:
        found.setdefault(one.reason, {}).setdefault(one.family, []).append(one.representation)
    return {
        reason: "; ".join(f"{family} on {' and '.join(names)}" for family, names in families.items())
        for reason, families in found.items()
    }


def right_rows(entry: Entry, sizes: list[int]) -> Array:
    """Which rows left out, fold after fold, a candidate had right; sizes: how many rows each fold leaves out."""
    assert entry.correct is not None
    ends = np.cumsum([-(-size // 8) for size in sizes])
    parts = np.split(entry.correct, ends[:-1])
    return np.concatenate(
        [np.unpackbits(part, count=n) for part, n in zip(parts, sizes, strict=True)]
    ).astype(bool)


def _same_path(one: Entry, other: Entry) -> bool:
    def rest(entry: Entry) -> Any:
        others = {name: value for name, value in entry.parameters.items() if name != entry.path}
        return entry.family, entry.representation, others

    return bool(rest(one) == rest(other))
