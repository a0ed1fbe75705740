"""Rows of blocks by their numbers: those that come here, those that are learned from, those that are left out."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from nearline._arrays.blocks import Block, Blocks, is_table
from nearline._arrays.design import Array, Design, is_sparse
from nearline.predictions import predictions_of
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
    """What a model says of a block's rows in a fold: class numbers, scores and probabilities."""

    model: Any
    parts: Parts
    fold: int
    n_classes: int

    def __call__(self, block: Block) -> tuple[Array, Array | None, Array | None, Array]:
        rows = np.flatnonzero(self.parts(block.numbers) == self.fold)
        some = rows if len(rows) else np.arange(1)
        found = predictions_of(self.model, block.X[some], np.arange(self.n_classes))
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
