"""Folds of rows in blocks: by hashed row numbers, so that they are the same whatever the blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from operator import add
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from nearline._arrays.blocks import Block, Blocks, by_common_passes
from nearline._arrays.design import Array
from nearline._arrays.doors import BlockedRows, Door
from nearline.decision import decide
from nearline.estimators.blocked import FLOATS, Found, count_labels, find_classes, labelled, seen_blocks
from nearline.estimators.linear import LinearClassifier
from nearline.neighbors.blocked import BlockedIndex, Weighed
from nearline.scores import LinearScore
from nearline.selection.block_rows import LearnedFrom, OfFold, Rows, left_out_answers
from nearline.selection.folds import Folds
from nearline.selection.hashed import Parts
from nearline.selection.path import solutions
from nearline.selection.scoring import Scorer, scorers_for

Result = TypeVar("Result")


def hashed_parts(who: str, folds: Any, split: Any, groups: Any, random_state: int) -> Parts:
    """Folds by hashed row numbers; what needs rows at hand is refused."""
    number = isinstance(folds, (int, np.integer)) and not isinstance(folds, bool) and folds >= 2
    for what, wanted in {
        "groups": groups is not None,
        f"split={split!r}": split not in ("auto", "stratified"),
        f"folds={folds!r}": not number,
    }.items():
        if wanted:
            raise ValueError(
                f"{who} of rows in blocks does not take {what}: rows are left out by their hashed numbers. Give a number of "
                "folds >= 2 alone, or X.compute(), if memory holds it."
            )
    return Parts(0.0, int(folds), random_state)


def on_folds(parts: Parts, work: Callable[[int], Result]) -> list[Result]:
    """What is done on each fold, by common passes over the rows."""
    return by_common_passes([partial(work, fold) for fold in range(parts.n_folds)])


@dataclass(frozen=True)
class BlockedTask:
    """Rows in blocks with their labels, and what is asked of them."""

    blocks: Blocks
    classes: Array
    counts: Array
    scorers: list[Scorer]
    positive: Any

    @classmethod
    def of(cls, door: Door, X: Any, y: Any, scoring: Any, pos_label: Any) -> "BlockedTask":
        found = Found("Cross-validation")
        blocks = seen_blocks(found, door, X, y, dtypes=FLOATS, ahead=(count_labels,))
        counts, _ = find_classes(found, blocks)
        some = np.repeat(np.arange(len(counts)), np.ceil(counts * min(1.0, 1e6 / counts.sum())).astype(int))
        scorers, positive = scorers_for(scoring, found.classes_, some, pos_label)
        return cls(blocks, found.classes_, counts, scorers, positive)

    def scores(self, model: Any, parts: Parts) -> list[list[float]]:
        """Of each fold: a model fitted to the others, which the fits of all folds share their passes for."""

        def scored(fold: int) -> list[float]:
            rows = BlockedRows(self.blocks.mapped(LearnedFrom(parts, fold), same_X=True))
            fitted = clone(model).fit(rows, rows)
            predictions, labels = left_out_answers(fitted, self.blocks, parts, fold, self.classes)
            codes = np.searchsorted(self.classes, labels)
            return [scorer(predictions, codes, self.classes) for scorer in self.scorers]

        return on_folds(parts, scored)

    def shares(self, parts: Parts) -> list[float]:
        """Rows left out for each row learned from."""
        sizes = self.blocks.total(_Sizes(parts), add)
        return [float(size / (self.blocks.n_rows - size)) for size in sizes]

    def drawn(self, parts: list[Parts]) -> str:
        """A fingerprint of the folds: of the rows, as far as they are counted, and how they are divided."""
        said = [self.blocks.n_rows, self.counts.tolist(), [vars(part) for part in parts]]
        return sha256(repr(said).encode()).hexdigest()


@dataclass(frozen=True)
class _Sizes:
    """Rows of a block in each fold."""

    parts: Parts

    def __call__(self, block: Block) -> Array:
        return np.bincount(self.parts(block.numbers), minlength=self.parts.n_folds)


@dataclass(frozen=True)
class _Right:
    """How many rows of a fold each of several scores labels right, and how many rows there are."""

    scores: list[LinearScore]
    parts: Parts
    fold: int

    def __call__(self, block: Block) -> Array:
        rows = np.flatnonzero(self.parts(block.numbers) == self.fold)
        if not len(rows):
            return np.zeros(1 + len(self.scores))
        X, codes = block.X[rows], block.targets[rows]
        return np.array(
            [len(rows), *(np.count_nonzero(decide(one(X), one.classes) == codes) for one in self.scores)],
            float,
        )


def path_over_blocks(model: LinearClassifier, door: Door, X: Any, y: Any, parts: Parts) -> Any:
    """A function of alphas: scores and gaps (n_alphas, n_folds), a warm path on each fold, all by common passes."""
    found = clone(model)
    blocks = labelled(found, door, X, y, None, model.class_weight)

    def columns(alphas: Array) -> tuple[Array, Array]:
        told = on_folds(parts, partial(_fold_path, found, blocks, parts, alphas))
        scores, gaps = (np.column_stack(part) for part in zip(*told))
        return scores, gaps

    return columns


def _fold_path(
    model: LinearClassifier, blocks: Blocks, parts: Parts, alphas: Array, fold: int
) -> tuple[Array, Array]:
    risk = model._blocked_risk(blocks.mapped(LearnedFrom(parts, fold), same_X=True))
    solved = [solution for _, solution in solutions(risk, alphas, model.solver, model.tol, "null")]
    known = np.arange(len(model.classes_))
    dtype = risk.precision
    scores = [LinearScore(one.params.W.astype(dtype), one.params.b.astype(dtype), known) for one in solved]
    n, *right = blocks.total(_Right(scores, parts, fold), add).tolist()
    gaps = [np.nan if one.gap is None else one.gap for one in solved]
    return np.array(right) / n, np.array(gaps, dtype=float)


def folds_of_blocks(blocks: Blocks, parts: Parts) -> Folds:
    """The same folds as numbers of the rows."""
    return Folds(blocks.n_rows, parts(np.arange(blocks.n_rows)), [])


def index_without(
    blocks: Blocks, parts: Parts, fold: int, metric: Any, algorithm: Any
) -> tuple[BlockedIndex, Rows]:
    """The rows outside of a fold, searched where they are, and the rows of the fold, which come here as queries."""
    folds = parts(np.arange(blocks.n_rows))
    starts = {first: int(np.count_nonzero(folds[:first] != fold)) for first in blocks.each(_first)}
    others = blocks.mapped(LearnedFrom(parts, fold), same_X=True).mapped(Weighed(starts), fewer=True)
    return BlockedIndex(others, metric, algorithm=algorithm), Rows.of(blocks, OfFold(parts, fold))


def _first(block: Block) -> int:
    return block.first
