"""Unit: a family on a representation, with what its candidates scored on every fold."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.representations import Representation
from nearline.selection.decisions import Rule
from nearline.selection.edges import Edge
from nearline.selection.families import Family, Shared
from nearline.selection.leaderboard import Entry
from nearline.selection.scored import Scored
from nearline.selection.scoring import Scorer


@dataclass
class Unit:
    """What runs at a time. Its grid may grow."""

    family: Family
    representation: Representation
    seconds: float  # expected, of all folds
    memory: float  # bytes for a fold, beside the data
    scorers: list[Scorer]
    tests: list[Array]  # rows left out by each fold
    folds: float = 0.0  # bytes of the folds that are kept meanwhile
    grid: list[dict[str, Any]] = field(default_factory=list)
    scores: Array = field(init=False)  # (scorers, candidates, folds)
    spent: Array = field(init=False)  # (fit, predict; candidates, folds), shared work aside
    work: dict[tuple[int, int], tuple[Shared, ...]] = field(
        default_factory=dict
    )  # shared, by fold and candidate
    done: Array = field(init=False)  # (candidates, folds)
    sizes: Array = field(init=False)  # NaN: unknown
    notes: list[dict[str, None]] = field(default_factory=list)
    correct: list[Array] = field(init=False)  # per fold: which rows each candidate had right, as bits
    added: list[dict[int, Array]] = field(
        init=False
    )  # per fold and candidate: what rows add to the score that decides
    edges: dict[int, tuple[Edge, ...]] = field(default_factory=dict)  # of the best candidate
    rankings: list[dict[int, Array]] = field(init=False)  # per fold and candidate, until a threshold is tuned
    ranked_by: dict[int, str] = field(default_factory=dict)
    rules: dict[int, Rule] = field(default_factory=dict)  # of candidates whose labels are not the model's own
    pieces: list[range] = field(default_factory=list)  # candidates that ran together
    opinions: list[dict[int, Array]] = field(
        init=False
    )  # per fold and candidate, of those that an ensemble may be of: probabilities, or scores for lack of them

    def __post_init__(self) -> None:
        n_scorers, n_folds = len(self.scorers), len(self.tests)
        self.scores, self.spent = np.empty((n_scorers, 0, n_folds)), np.empty((2, 0, n_folds))
        self.done, self.sizes = np.empty((0, n_folds), bool), np.empty(0)
        self.correct = [np.empty((0, -(-len(test) // 8)), np.uint8) for test in self.tests]
        self.added = [{} for _ in self.tests]
        self.rankings = [{} for _ in self.tests]
        self.opinions = [{} for _ in self.tests]

    def grow(self, grid: list[dict[str, Any]]) -> None:
        """Room for further candidates."""

        def more(array: Array, axis: int, fill: Any) -> Array:
            shape = list(array.shape)
            shape[axis] = len(grid)
            return np.concatenate([array, np.full(shape, fill, array.dtype)], axis=axis)

        self.grid = [*self.grid, *grid]
        self.notes += [{} for _ in grid]
        self.scores, self.spent = more(self.scores, 1, np.nan), more(self.spent, 1, 0.0)
        self.done, self.sizes = more(self.done, 0, False), more(self.sizes, 0, 0)
        self.correct = [more(correct, 0, 0) for correct in self.correct]

    def take(self, f: int, number: int, found: Scored) -> None:
        """Keep what a candidate did on fold f."""
        if found.added is not None:
            self.added[f][number] = found.added
        if found.ranking is not None:
            self.rankings[f][number] = found.ranking
            self.ranked_by[number] = found.ranked_by or "the score"
        self.scores[:, number, f] = found.scores
        self.correct[f][number] = found.right
        self.spent[:, number, f] = found.fit_seconds, found.predict_seconds
        self.work[f, number] = found.shared
        # The largest, as folds may end in any order; NaN stays.
        self.sizes[number] = np.maximum(self.sizes[number], np.nan if found.size is None else found.size)
        if found.note:
            self.notes[number][found.note] = None
        self.done[number, f] = True

    def forget_opinions(self, but: list[int]) -> None:
        """Of all candidates but a few."""
        self.opinions = [
            {number: said for number, said in fold.items() if number in but} for fold in self.opinions
        ]

    def finished(self) -> list[int]:
        """Numbers of the candidates that were scored on every fold."""
        return [number for number in range(len(self.grid)) if self.done[number].all()]

    def best(self, sign: float) -> "tuple[Unit, int, float] | None":
        """This unit, the number of its best candidate and its mean score, the larger the better; None: none has one."""
        means = {number: sign * float(self.scores[0, number].mean()) for number in self.finished()}
        known = {number: mean for number, mean in means.items() if not np.isnan(mean)}
        if not known:
            return None
        number = max(known, key=known.__getitem__)
        return self, number, known[number]

    def seconds_to_fit(self, number: int) -> float:
        """Of a fit on a fold. A candidate of a warm path owes its speed to those before it: alone it takes all of them."""
        seconds = self.spent[0].mean(axis=1)
        return float(seconds.sum() if self.family.warm else seconds[number]) + self._needs(
            number, fitting=True
        )

    def work_since(self, before: set[tuple[int, int]]) -> tuple[float, dict[str, float]]:
        """Seconds of the folds and candidates beside those before: their own, and of each kind of shared work, done once."""
        new = [key for key in self.work if key not in before]
        once = {(f, one) for f, number in new for one in self.work[f, number]}
        shared: dict[str, float] = {}
        for _, one in sorted(once, key=lambda pair: (pair[0], pair[1].name, pair[1].seconds)):
            shared[one.name] = shared.get(one.name, 0.0) + one.seconds
        return float(sum(self.spent[:, number, f].sum() for f, number in new)), shared

    def _needs(self, number: int, *, fitting: bool) -> float:
        """Seconds of the shared work that a candidate needs, per fold."""
        found = [
            one.seconds
            for f in range(len(self.tests))
            for one in self.work[f, number]
            if one.fitting is fitting
        ]
        return sum(found) / len(self.tests)

    def entry(self, number: int) -> Entry:
        """A candidate as the leaderboard has it."""
        fit_seconds, predict_seconds = self.spent[:, number].mean(axis=1)
        return Entry(
            self.family.name,
            self.representation.name,
            self.grid[number],
            {s.name: self.scores[i, number] for i, s in enumerate(self.scorers)},
            float(fit_seconds) + self._needs(number, fitting=True),
            float(predict_seconds) + self._needs(number, fitting=False),
            None if np.isnan(self.sizes[number]) else int(self.sizes[number]),
            self.family.path,
            "; ".join(self.notes[number]),
            np.concatenate([correct[number] for correct in self.correct]),
            self.edges.get(number, ()),
            self._added(number),
            self.rules.get(number),
        )

    def _added(self, number: int) -> Array | None:
        """Of all folds, if known of all."""
        if not all(number in fold for fold in self.added):
            return None
        return np.concatenate([fold[number] for fold in self.added])
