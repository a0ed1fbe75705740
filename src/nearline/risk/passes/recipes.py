"""Scores and duals of rows in blocks: how they are made, not what they are.

There is one number for each row and score, too many to send to and fro. So a solver holds a recipe in their place, made
of parameters alone; each block follows it when it is asked for a sum, by the very operations that an array in memory
would see, and keeps the result for the next question. A block that was lost, and is made again elsewhere, follows the
whole recipe again and comes to the same bits.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, final
from uuid import uuid4

import numpy as np

from nearline._arrays.blocks import Block
from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline.losses import Loss
from nearline.risk.params import Params
from nearline.risk.passes._base import Passes
from nearline.risk.passes.compiled import passes_for
from nearline.risk.passes.exact import ExactPasses

_numbers, _here = count(), uuid4().hex  # keys are unique among all who send recipes


@dataclass(frozen=True)
class View:
    """How the rows of a block are seen: under a loss, perhaps with all sums in float64, perhaps standardized."""

    loss: Loss
    n_outputs: int
    exact: bool = False
    standard: tuple[Array, Array] | None = field(default=None, compare=False)  # mean and unit
    key: str | None = None  # of the standard

    def passes(self, block: Block) -> Passes:
        """The passes over a block, made once."""
        made: Passes = block.tools.get(
            (self.loss, self.n_outputs, self.exact, self.key), lambda: self._make(block)
        )
        return made

    def _make(self, block: Block) -> Passes:
        plain = passes_for(block.X, block.targets, block.weights, self.loss, self.n_outputs)
        if self.standard is not None:
            return plain.standardized(*self.standard)
        return ExactPasses(plain) if self.exact and plain.precision != np.float64 else plain


@dataclass(frozen=True, eq=False)
class Scores(ABC):
    """A recipe for scores (n, K)."""

    view: View

    @property
    @abstractmethod
    def dtype(self) -> "np.dtype[Any]":
        """Of the scores."""

    @property
    @abstractmethod
    def key(self) -> str:
        """The same for the same recipe, and for no other."""

    def of(self, block: Block) -> Array:
        """The scores of a block's rows."""
        made: Array = block.recent.get(self.key, lambda: self._make(block))
        return made

    @abstractmethod
    def _make(self, block: Block) -> Array:
        """The scores, made by the operations that the recipe states."""


@final
@dataclass(frozen=True, eq=False)
class Product(Scores):
    """W x_i + b."""

    params: Params
    rows: "np.dtype[Any]"
    number: str = field(default_factory=lambda: f"{_here}-{next(_numbers)}")

    @property
    def dtype(self) -> "np.dtype[Any]":
        return np.dtype(np.float64) if self.view.exact else self.rows

    @property
    def key(self) -> str:
        return self.number

    def _make(self, block: Block) -> Array:
        return self.view.passes(block).scores(self.params)


@final
@dataclass(frozen=True, eq=False)
class Moved(Scores):
    """f + step v."""

    scores: Scores
    step: float
    direction: Scores

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.scores.dtype

    @once
    def key(self) -> str:
        return f"({self.scores.key}+{self.step!r}*{self.direction.key})"

    def _make(self, block: Block) -> Array:
        passes = self.view.passes(block)
        return passes.moved(self.scores.of(block), self.step, self.direction.of(block))


@final
@dataclass(frozen=True, eq=False)
class Shifted(Scores):
    """f + shift."""

    scores: Scores
    shift: Array

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.scores.dtype

    @once
    def key(self) -> str:
        return f"({self.scores.key}+{self.shift.tobytes().hex()})"

    def _make(self, block: Block) -> Array:
        return self.view.passes(block).shifted(self.scores.of(block), self.shift)


@final
@dataclass(frozen=True, eq=False)
class Ahead(Scores):
    """f + speed (f - f_before)."""

    scores: Scores
    before: Scores
    speed: float

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.scores.dtype

    @once
    def key(self) -> str:
        return f"({self.scores.key}-{self.before.key}*{self.speed!r})"

    def _make(self, block: Block) -> Array:
        return self.view.passes(block).ahead(self.scores.of(block), self.before.of(block), self.speed)


@final
@dataclass(frozen=True, eq=False)
class Duals:
    """A recipe for duals: derivatives of the losses at some scores, perhaps balanced by masses of all rows."""

    view: View  # its loss is the one that is derived
    scores: Scores
    balancer: Loss | None = None
    masses: Array | None = None

    @once
    def key(self) -> tuple[Any, ...]:
        """The same for the same recipe, and for no other."""
        masses = None if self.balancer is None or self.masses is None else self.masses.tobytes()
        return "duals", self.view, self.scores.key, self.balancer, masses

    def of(self, block: Block) -> Array:
        """The duals of a block's rows."""
        made: Array = block.recent.get(self.key, lambda: self._make(block))
        return made

    def _make(self, block: Block) -> Array:
        if self.balancer is None or self.masses is None:
            return self.view.passes(block).duals(self.scores.of(block))
        plain = replace(self, balancer=None, masses=None)
        balanced = self.balancer.balanced_by(plain.of(block), block.targets, self.masses)
        assert balanced is not None  # a loss that has masses knows how to balance
        return balanced
