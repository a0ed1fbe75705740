"""Rows of blocks by their numbers: those that come here, those that are learned from, those that are left out."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from nearline._arrays.blocks import Block, Blocks, is_table
from nearline._arrays.design import Array, Design, is_sparse
from nearline.predictions import Known, Predictions, predictions_of
from nearline.representations.seen import Seen
from nearline.selection.hashed import Parts, uniform


def stacked(parts: list[Design]) -> Design:
    """Rows of several matrices or frames, one after the other."""
    if is_table(parts[0]):
        return _frames(parts)
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    import scipy.sparse as sp

    return sp.vstack(parts, format="csr")


def _frames(parts: list[Any]) -> Any:
    """Frames of one library, whose name tells who puts them together."""
    library = import_module(type(parts[0]).__module__.partition(".")[0])
    if library.__name__ == "polars":
        return library.concat(parts, how="vertical_relaxed")
    return library.concat(parts, ignore_index=True)


@dataclass(frozen=True)
class Rows:
    """Some rows that came here."""

    X: Design
    codes: Array
    numbers: Array

    @classmethod
    def of(cls, blocks: Blocks, wanted: Any) -> "Rows":
        """Those that a function of row numbers wants."""
        parts = blocks.each(_Picked(wanted))
        rows = stacked([part.X for part in parts])
        codes, numbers = (
            np.concatenate([getattr(one, name) for one in parts]) for name in ("codes", "numbers")
        )
        return cls(rows, codes, numbers)


@dataclass(frozen=True)
class _Picked:
    wanted: Any

    def __call__(self, block: Block) -> Rows:
        some = np.flatnonzero(self.wanted(block.numbers))
        return Rows(_safe_indexing(block.X, some), block.targets[some], block.numbers[some])


@dataclass(frozen=True)
class OfTest:
    """Row numbers of the test part."""

    parts: Parts

    def __call__(self, numbers: Array) -> Array:
        return self.parts(numbers) < 0


@dataclass(frozen=True)
class OfSample:
    """Row numbers of a sample of the training part."""

    parts: Parts
    share: float

    def __call__(self, numbers: Array) -> Array:
        chance = uniform(numbers, self.parts.random_state, 1)
        return np.asarray((self.parts(numbers) >= 0) & (chance < self.share))


@dataclass(frozen=True)
class OfTraining:
    """Row numbers of the training part."""

    parts: Parts

    def __call__(self, numbers: Array) -> Array:
        return self.parts(numbers) >= 0


@dataclass(frozen=True)
class ClassCounts:
    """Rows of each class in the training part of a block."""

    parts: Parts
    n_classes: int

    def __call__(self, block: Block) -> Array:
        return np.bincount(block.targets[self.parts(block.numbers) >= 0], minlength=self.n_classes)


@dataclass(frozen=True)
class LearnedFrom:
    """A block in which only the rows learned from have weight: those of the training part, without one fold."""

    parts: Parts
    fold: int | None

    def __call__(self, block: Block) -> Block:
        folds = self.parts(block.numbers)
        return block.with_weights(np.where((folds < 0) | (folds == self.fold), 0.0, block.weights))


@dataclass(frozen=True)
class SeenFolds:
    """What was seen of a block's rows in each fold."""

    parts: Parts
    texts: tuple[str, ...]

    def __call__(self, block: Block) -> list[Seen]:
        folds = self.parts(block.numbers)
        rows = (np.flatnonzero(folds == fold) for fold in range(self.parts.n_folds))
        return [Seen.of(_safe_indexing(block.X, some), self.texts) for some in rows]


def added(a: list[Seen], b: list[Seen]) -> list[Seen]:
    """What was seen of each fold in both."""
    return [one + other for one, other in zip(a, b, strict=True)]


@dataclass(frozen=True)
class LeftOut:
    """What a model says of a block's rows in a fold: class numbers, scores and probabilities; and their targets."""

    model: Any
    parts: Parts
    fold: int
    classes: Array
    share: float = 1.0  # of these rows

    def __call__(self, block: Block) -> tuple[Array, Array | None, Array | None, Array]:
        left_out = self.parts(block.numbers) == self.fold
        if self.share < 1.0:
            left_out &= uniform(block.numbers, self.parts.random_state, 2) < self.share
        rows = np.flatnonzero(left_out)
        some = rows if len(rows) else np.arange(1)
        found = predictions_of(self.model, block.X[some], self.classes)
        kept = slice(None) if len(rows) else slice(0, 0)
        scores, shares = found.scores, found.probabilities()
        return (
            found.labels[kept],
            None if scores is None else scores[kept],
            None if shares is None else shares[kept],
            block.targets[rows],
        )


@dataclass(frozen=True)
class OfFold:
    """Row numbers of a fold."""

    parts: Parts
    fold: int

    def __call__(self, numbers: Array) -> Array:
        return self.parts(numbers) == self.fold


def left_out_answers(
    model: Any, blocks: Blocks, parts: Parts, fold: int, classes: Array, share: float = 1.0
) -> tuple[Predictions, Array]:
    """What a model says of the rows of a fold, or of a share of them, and their targets."""
    if getattr(model, "_in_blocks", False):  # its rows are in blocks: queries come here
        some = Rows.of(blocks, OfFold(parts, fold))
        return predictions_of(model, some.X, classes), some.codes
    told = blocks.each(LeftOut(model, parts, fold, classes, share))
    labels, targets = (np.concatenate([part[i] for part in told]) for i in (0, 3))
    scores, shares = (
        None if told[0][i] is None else np.concatenate([np.asarray(part[i]) for part in told]) for i in (1, 2)
    )
    known = None if shares is None else Known(shares)
    return Predictions(labels, len(classes), scores, known), targets
