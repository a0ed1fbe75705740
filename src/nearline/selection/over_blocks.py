"""The contest over rows in blocks: candidates are fitted to all of them, where they are.

What looks at rows one by one looks at a sample in memory: grids, findings, and what columns are. Scales, categories and
frequencies of words are those of all training rows of each fold, by one pass over the blocks. Test rows come here too, at
most ``MOST_TEST`` of them, so that the locked test, its intervals and the report are those of rows in memory.
"""

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from nearline._arrays.blocks import Blocks
from nearline._arrays.design import Array, Design
from nearline._arrays.doors import BlockedRows
from nearline._parallel.stopping import checkpoint
from nearline.estimators import ESTIMATORS
from nearline.predictions import Known, Predictions, predictions_of
from nearline.representations import Representation, representations
from nearline.representations.seen import Seen, together
from nearline.selection.block_rows import LearnedFrom, LeftOut, OfFold, Rows, SeenFolds, added
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
        self._spent: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
        self._sizes: dict[tuple[str, str, int], int | None] = {}
        self._grids: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def run(self, families: list[Family], found: list[Representation], preset: str) -> Leaderboard:
        """Fold after fold, so that one fold's rows in a representation are kept at a time."""
        self.progress.begin()
        self.progress.advance(0.0, "one pass over all rows")
        self._look(found)
        steps = self.parts.n_folds * len(found) * max(1, len(families))
        done = 0
        for fold in range(self.parts.n_folds):
            trained = self.blocks.mapped(LearnedFrom(self.parts, fold))
            for representation in found:
                shown = self._shown(trained, representation, fold)
                for family in families:
                    self.progress.advance(
                        done / steps, f"{family.name} on {representation.name}, fold {fold + 1}"
                    )
                    done += 1
                    if shown is not None and (family.name, representation.name) not in self.skipped:
                        self._attempt(family, representation, shown, fold, preset)
        self.progress.end()
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

    def _shown(self, trained: Blocks, representation: Representation, fold: int | None) -> Blocks | None:
        """Blocks as a representation shows them."""
        if representation.gives != "numbers":
            return None
        transformer = self.fitted(representation, fold)
        rows = BlockedRows(trained)
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

    def _attempt(
        self, family: Family, representation: Representation, shown: Blocks, fold: int, preset: str
    ) -> None:
        pair = family.name, representation.name
        try:
            checkpoint()
            if pair not in self._grids:
                self._grids[pair] = self._grid(family, representation, preset)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for number, parameters in enumerate(self._grids[pair]):
                    self._candidate(family, (*pair, number), parameters, shown, fold)
        except _RefusedError as error:
            self.skipped[pair] = str(error)
        except Exception as error:  # whatever it is, others go on
            self.skipped[pair] = reason_of(error)

    def _grid(self, family: Family, representation: Representation, preset: str) -> list[dict[str, Any]]:
        """Candidates that a look at the sample suggests, if they can be fitted to blocks."""
        train, test = np.flatnonzero(self._folds != 0), np.flatnonzero(self._folds == 0)[:10]
        transformer = self.fitted(representation, 0)
        X_train, X_test = (
            transformer.transform(_safe_indexing(self.sample.X, some)) for some in (train, test)
        )
        sample = Fold(X_train, self.sample.codes[train], None, X_test, np.arange(len(self.classes)))
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

    def _candidate(
        self, family: Family, key: tuple[str, str, int], parameters: dict[str, Any], shown: Blocks, fold: int
    ) -> None:
        start = perf_counter()
        model = family.estimator(parameters)
        self._fit(family, model, shown, fold)
        fitted = perf_counter()
        predictions, codes = self._answers(model, shown, fold)
        scores = [scorer(predictions, codes, self.classes, None) for scorer in self.scorers]
        self._scores.setdefault(key, []).append(scores)
        self._spent.setdefault(key, []).append((fitted - start, perf_counter() - fitted))
        self._sizes[key] = family.size_of(model)

    def _fit(self, family: Family, model: Any, shown: Blocks, fold: int | None) -> None:
        """Fit to all blocks; what does not look at features is fitted to the sample."""
        if family.trivial:
            some = np.flatnonzero(self._folds != (-1 if fold is None else fold))
            model.fit(np.zeros((len(some), 1)), self.sample.codes[some])
            return
        rows = BlockedRows(shown)
        model.fit(rows, rows)

    def _answers(self, model: Any, shown: Blocks, fold: int) -> tuple[Predictions, Array]:
        """What a model says of the rows left out, and what they are."""
        task = LeftOut(model, self.parts, fold, len(self.classes))
        if getattr(model, "_in_blocks", False):  # its rows are in blocks: queries come here
            some = Rows.of(shown, OfFold(self.parts, fold))
            return predictions_of(model, some.X, np.arange(len(self.classes))), some.codes
        told = shown.each(task)
        labels, codes = (np.concatenate([part[i] for part in told]) for i in (0, 3))
        scores, shares = (
            None if told[0][i] is None else np.concatenate([np.asarray(part[i]) for part in told])
            for i in (1, 2)
        )
        known = None if shares is None else Known(shares)
        return Predictions(labels, len(self.classes), scores, known), codes

    def _entry(self, family: Family, representation: Representation, number: int) -> Entry:
        key = family.name, representation.name, number
        scores = np.array(self._scores[key])
        fit_seconds, predict_seconds = np.mean(self._spent[key], axis=0)
        return Entry(
            family.name,
            representation.name,
            self._grids[key[:2]][number],
            {scorer.name: scores[:, i] for i, scorer in enumerate(self.scorers)},
            float(fit_seconds),
            float(predict_seconds),
            self._sizes[key],
            family.path,
        )

    def last_fit(self, family: Family, representation: Representation, parameters: dict[str, Any]) -> Any:
        """A candidate fitted to the whole training part, with its representation: a model of rows in memory."""
        trained = self.blocks.mapped(LearnedFrom(self.parts, None))
        shown = self._shown(trained, representation, None)
        assert shown is not None  # else it had no candidates
        model = family.estimator(parameters)
        self._fit(family, model, shown, None)
        _name_classes(model, self.classes)
        return Chain([("representation", self.fitted(representation, None)), ("model", model)])


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
    return [one for one in representations(X, preset) if one.gives == "numbers"]
