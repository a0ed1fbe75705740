"""Doors: how collections of other libraries, whose rows are in blocks, come in.

Lower floors know :class:`Blocks` alone. Who makes blocks of a collection is found by the package that its type comes
from, and loaded when the first one comes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from nearline._arrays.blocks import Block, Blocks
from nearline._arrays.design import as_design

Task = Callable[[Block], Any]
DOORS = {"dask": "nearline.cluster.door"}


class Door(Protocol):
    """What a door does with a collection."""

    def blocks(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, dtypes: Any, ahead: Sequence[Task] = ()
    ) -> Blocks:
        """Checked rows, with labels as they came for targets, kept where they are.

        Without dtypes, frames with other columns than numbers stay frames, and numbers may be missing. What is asked of
        each block next, ``ahead``, may come with the check.
        """

    def column_names(self, X: Any) -> list[Any] | None:
        """Names of the columns, of collections that have them."""

    def applied(self, function: Callable[[Any], Any], X: Any) -> Any:
        """A collection of what a function says of each block, computed where the block is."""

    def streamed(self, function: Callable[[Any], Any], X: Any) -> Any:
        """The same, but blocks come here one after the other."""


class BlockedRows:
    """Blocks that are checked and labelled already, in place of a collection: their own door."""

    def __init__(self, checked: Blocks) -> None:
        self.checked = checked

    def blocks(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, dtypes: Any, ahead: Sequence[Task] = ()
    ) -> Blocks:
        return self.checked

    def column_names(self, X: Any) -> list[Any] | None:
        return None

    def applied(self, function: Callable[[Any], Any], X: Any) -> "BlockedRows":
        return BlockedRows(self.checked.mapped(_Applied(function)))

    def streamed(self, function: Callable[[Any], Any], X: Any) -> "BlockedRows":
        return self.applied(function, X)


@dataclass(frozen=True)
class _Applied:
    """A block whose rows are a function of its rows."""

    function: Callable[[Any], Any]

    def __call__(self, block: Block) -> Block:
        return Block(as_design(self.function(block.X)), block.targets, block.weights, block.first)


def door_of(X: Any) -> Door | None:
    """The door for a collection; None where X is none, or not of a library that has one."""
    if type(X) is np.ndarray:
        return None
    if isinstance(X, BlockedRows):
        return X
    module = DOORS.get(type(X).__module__.partition(".")[0])
    return None if module is None else import_module(module)


def refuse_blocks(who: str, X: Any) -> None:
    """Refuse a collection where all rows are needed at once."""
    if door_of(X) is not None:
        raise ValueError(
            f"{who} needs all rows at once, and X is in blocks ({type(X).__module__.partition('.')[0]}): give X.compute(), "
            "if memory holds it, or use one that adds up sums over blocks: a linear model (LogisticRegression, LinearSVM, "
            "LeastSquaresClassifier), naive Bayes, LinearDiscriminantAnalysis, NearestCentroid, KNeighborsClassifier, or "
            "Nystroem before a linear model."
        )
