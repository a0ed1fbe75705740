"""The contest over rows in blocks: candidates are fitted to all of them, where they are.

What looks at rows one by one looks at a sample in memory: grids, findings, and what columns are. Scales, categories and
frequencies of words are those of all training rows of each fold, by one pass over the blocks. Test rows come here too, at
most ``MOST_TEST`` of them, so that the locked test, its intervals and the report are those of rows in memory.
"""

import warnings
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from nearline._arrays.blocks import Blocks, by_common_passes
from nearline._arrays.design import Array, Design
from nearline._arrays.doors import BlockedRows
from nearline._parallel.stopping import checkpoint
from nearline.estimators import ESTIMATORS, KNeighborsClassifier
from nearline.representations import Representation, representations
from nearline.representations.seen import Seen, together
from nearline.selection.block_rows import (
    LearnedFrom,
    OfTest,
    OfTraining,
    Rows,
    SeenFolds,
    added,
    left_out_answers,
)
from nearline.selection.chain import Chain
from nearline.selection.families import Family, Fold
from nearline.selection.fold_data import TrainingRows
from nearline.selection.folds import Folds
from nearline.selection.hashed import Parts
from nearline.selection.leaderboard import Entry, Leaderboard, Skipped
from nearline.selection.progress import Progress
from nearline.selection.scoring import Scorer
from nearline.selection.usable import reason_of

MOST_TEST = 100_000  # test rows: their interval is narrower than most differences that matter
SAMPLE = 20_000  # training rows in memory
MOST_DISTANCES = (
    1e11  # of rows left out to rows learned from, times features, that a search of neighbors may take
)
MOST_SCORED = 100_000  # rows left out of a fold on which candidates are compared
RIDERS = 8  # fits by common passes, which all keep scores of all rows where these are
RIDERS_READING = 32  # the same where rows are read for each pass
BY_BLOCKS = {
    *("LinearClassifier", "LogisticRegression", "LinearSVM", "LeastSquaresClassifier", "SparsemaxClassifier"),
    *("GaussianNB", "MultinomialNB", "BernoulliNB", "LinearDiscriminantAnalysis", "NearestCentroid"),
    "KNeighborsClassifier",
}


class BlockedContest:
    """Every family that adds up over blocks, on every representation and fold."""

    def __init__(
        self,
        blocks: Blocks,
        sample: Rows,
        parts: Parts,
        classes: Array,
        scorers: list[Scorer],
        progress: Progress,
    ) -> None:
        self.blocks, self.sample, self.parts, self.classes = blocks, sample, parts, classes
        self.scorers, self.progress = scorers, progress
        self.skipped: dict[tuple[str, str], str] = {}
        self._folds = parts(sample.numbers)
        self._seen: list[Seen] = []  # of each fold
        self._scores: dict[tuple[str, str, int], list[list[float]]] = {}
        self._spent: dict[tuple[str, str, int], list[float]] = {}
        self._sizes: dict[tuple[str, str, int], int | None] = {}
        self._grids: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def run(self, families: list[Family], found: list[Representation], preset: str) -> Leaderboard:
        """All folds of a family by common passes where rows are read for each; else fold after fold, so that one fold's
        rows in a representation are kept at a time."""
        self.progress.begin()
        self.progress.advance(0.0, "one pass over all rows")
        self._look(found)
        plan = self._plan(families, found, preset)
        folds = range(self.parts.n_folds)
        groups = [list(folds)] if self.blocks.read_again else [[fold] for fold in folds]
        total, done = sum(weight for _, _, weight in plan) * len(groups), 0.0
        for representation in found:
            for group in groups:
                own = [(family, weight) for one, family, weight in plan if one is representation]
                shown = {fold: self._shown(fold, representation) for fold in group} if own else {}
                for family, weight in own:
                    self.progress.advance(done / total, f"{family.name} on {representation.name}")
                    done += weight
                    if (family.name, representation.name) not in self.skipped:
                        self._attempt(family, representation, shown)
        self.progress.end()
        return self._board(families, found)

    def _plan(
        self, families: list[Family], found: list[Representation], preset: str
    ) -> list[tuple[Representation, Family, float]]:
        """Families that can be tried, with the weight of their work: passes over the rows, roughly."""
        plan: list[tuple[Representation, Family, float]] = []
        for representation in found:
            sample = self._sample(representation)
            for family in families:
                pair = family.name, representation.name
                try:
                    self._grids[pair] = self._grid(family, sample, preset)
                except _RefusedError as error:
                    self.skipped[pair] = str(error)
                    continue
                except Exception as error:  # whatever it is, others go on
                    self.skipped[pair] = reason_of(error)
                    continue
                passes = 0.1 if family.trivial else getattr(family, "effort", 2.0)
                plan.append((representation, family, passes * len(self._grids[pair])))
        return plan

    def _board(self, families: list[Family], found: list[Representation]) -> Leaderboard:
        entries = [
            self._entry(family, representation, number)
            for family in families
            for representation in found
            for number in range(len(self._grids.get((family.name, representation.name), [])))
            if len(self._scores.get((family.name, representation.name, number), [])) == self.parts.n_folds
        ]
        skipped = [Skipped(*pair, reason) for pair, reason in self.skipped.items() if reason]
        return Leaderboard(entries, self.scorers, 1.0 / max(1, self.parts.n_folds - 1), skipped)

    def _look(self, found: list[Representation]) -> None:
        """One pass over the blocks: what adds up of the rows of each fold."""
        texts = tuple(dict.fromkeys(name for one in found for name in one.counted(self.sample.X)))
        self._seen = self.blocks.total(SeenFolds(self.parts, texts), added)

    def _shown(self, fold: int | None, representation: Representation) -> Blocks:
        """Blocks as a representation shows them; rows of a fold, and of the test, have no weight."""
        transformer = self.fitted(representation, fold)
        rows = BlockedRows(self.blocks.mapped(LearnedFrom(self.parts, fold), same_X=True))
        return rows.applied(transformer.transform, rows).checked

    def fitted(self, representation: Representation, fold: int | None) -> Any:
        """How rows become numbers, as fitted to the sample without a fold, and corrected by all rows without it."""
        some = np.flatnonzero(self._folds != (-1 if fold is None else fold))
        transformer = representation.transformer().fit(
            _safe_indexing(self.sample.X, some), self.sample.codes[some]
        )
        return representation.corrected(
            transformer, together([seen for number, seen in enumerate(self._seen) if number != fold])
        )

    def _attempt(self, family: Family, representation: Representation, shown: dict[int, Blocks]) -> None:
        """All candidates of a family on some folds, several at a time by common passes."""
        pair = family.name, representation.name
        works = [
            partial(self._candidate, family, parameters, shown[fold], fold)
            for fold in shown
            for parameters in self._grids[pair]
        ]
        most = RIDERS_READING if self.blocks.read_again else RIDERS
        try:
            outcomes: list[Outcome] = []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for begin in range(0, len(works), most):
                    checkpoint()
                    start = perf_counter()
                    part = by_common_passes(works[begin : begin + most])
                    spent = (perf_counter() - start) / len(part)
                    outcomes += [one._replace(seconds=spent) for one in part]
        except Exception as error:  # whatever it is, others go on
            self.skipped[pair] = reason_of(error)
            return
        for place, outcome in enumerate(outcomes):
            key = (*pair, place % len(self._grids[pair]))
            self._scores.setdefault(key, []).append(outcome.scores)
            self._spent.setdefault(key, []).append(outcome.seconds)
            self._sizes[key] = outcome.size

    def _sample(self, representation: Representation) -> Fold:
        """The sample as a representation shows it, without its first fold."""
        train, test = np.flatnonzero(self._folds != 0), np.flatnonzero(self._folds == 0)[:10]
        transformer = self.fitted(representation, 0)
        X_train, X_test = (
            transformer.transform(_safe_indexing(self.sample.X, some)) for some in (train, test)
        )
        return Fold(X_train, self.sample.codes[train], None, X_test, np.arange(len(self.classes)))

    def _grid(self, family: Family, sample: Fold, preset: str) -> list[dict[str, Any]]:
        """Candidates that a look at the sample suggests, if they can be fitted to blocks."""
        reason = family.refuses(sample)
        if reason is not None:
            raise _RefusedError(reason)
        grid = family.grid(sample, preset)
        if family.trivial:
            return grid
        last = family.estimator(grid[0])
        steps = last.steps if isinstance(last, Pipeline) else [("model", last)]
        name = type(steps[-1][1]).__name__
        if name not in BY_BLOCKS or ESTIMATORS.get(name) is not type(steps[-1][1]):
            raise _RefusedError("it needs all rows at once, and these are in blocks")
        n, D = self.blocks.n_rows, self.blocks.n_features
        if (
            name == "KNeighborsClassifier"
            and len(grid) * float(n) ** 2 * D / self.parts.n_folds > MOST_DISTANCES
        ):
            raise _RefusedError(
                f"about {len(grid) * float(n) ** 2 * D:.0e} differences of features would take too long"
            )
        return grid

    def _candidate(self, family: Family, parameters: dict[str, Any], shown: Blocks, fold: int) -> "Outcome":
        model = family.estimator(parameters)
        self._fit(family, model, shown, fold)
        share = MOST_SCORED * self.parts.n_folds / self.blocks.n_rows
        predictions, codes = left_out_answers(
            model, shown, self.parts, fold, np.arange(len(self.classes)), share
        )
        scores = [scorer(predictions, codes, self.classes, None) for scorer in self.scorers]
        return Outcome(scores, family.size_of(model))

    def _fit(self, family: Family, model: Any, shown: Blocks, fold: int | None) -> None:
        """Fit to all blocks; what does not look at features is fitted to the sample."""
        if family.trivial:
            some = np.flatnonzero(self._folds != (-1 if fold is None else fold))
            model.fit(np.zeros((len(some), 1)), self.sample.codes[some])
            return
        rows = BlockedRows(shown)
        model.fit(rows, rows)

    def _entry(self, family: Family, representation: Representation, number: int) -> Entry:
        key = family.name, representation.name, number
        scores = np.array(self._scores[key])
        return Entry(
            family.name,
            representation.name,
            self._grids[key[:2]][number],
            {scorer.name: scores[:, i] for i, scorer in enumerate(self.scorers)},
            float(np.mean(self._spent[key])),
            0.0,  # of passes that fit and predict there is one time
            self._sizes[key],
            family.path,
        )

    def last_fit(
        self, family: Family, representation: Representation, parameters: dict[str, Any]
    ) -> tuple[Any, Rows | None]:
        """A candidate fitted to the whole training part, with its representation: a model of rows in memory.

        One that holds its rows, few enough to be tried, is fitted to them here; they come with it.
        """
        model, rows = family.estimator(parameters), None
        if self._holds_rows(model):
            rows = Rows.of(self.blocks, OfTraining(self.parts))
            transformer = self.fitted(representation, None)
            model.fit(transformer.transform(rows.X), rows.codes)
        else:
            self._fit(family, model, self._shown(None, representation), None)
        _name_classes(model, self.classes)
        return Chain([("representation", self.fitted(representation, None)), ("model", model)]), rows

    def _holds_rows(self, model: Any) -> bool:
        last = model.steps[-1][1] if isinstance(model, Pipeline) else model
        return isinstance(last, KNeighborsClassifier)

    def test_rows(self) -> Rows:
        """Those that are locked away."""
        return Rows.of(self.blocks, OfTest(self.parts))


class Outcome(NamedTuple):
    """What a candidate did on a fold."""

    scores: list[float]
    size: int | None
    seconds: float = 0.0


class _RefusedError(Exception):
    """A family that cannot be tried, and why."""


def _name_classes(model: Any, classes: Array) -> None:
    """Labels as they came, in place of the class numbers that the blocks have."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    last.classes_ = classes[last.classes_]


def hashed_folds(sample: Rows, parts: Parts) -> Folds:
    """The folds of the sample's rows."""
    return Folds(len(sample.numbers), parts(sample.numbers), [])


def sample_rows(sample: Rows, parts: Parts, classes: Array) -> TrainingRows:
    """The sample as rows of a contest."""
    return TrainingRows(sample.X, sample.codes, classes, None, hashed_folds(sample, parts))


def candidates(X: Design, preset: str) -> list[Representation]:
    """Representations of numbers."""
    return [one for one in representations(X, preset) if one.gives == "numbers" and not one.crossed]
