"""DaskBlocks: parts of a Dask collection as blocks, held where they are computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, final

import numpy as np

from nearline._arrays.blocks import Ask, Block, Blocks, is_table
from nearline._arrays.design import is_sparse
from nearline._arrays.sums import tree
from nearline.cluster._crews import Crew, Question

TABLE = "object"  # in place of the type of numbers, of rows that are not numbers yet


class Shape(NamedTuple):
    """What a block says of itself."""

    n_rows: int
    n_features: int
    dtype: str
    sparse: bool
    distributions: bool


def shape_of(block: Block) -> Shape:
    n_rows, n_features = block.X.shape
    dtype = TABLE if is_table(block.X) else np.dtype(block.X.dtype).name
    return Shape(int(n_rows), int(n_features), dtype, is_sparse(block.X), block.targets.ndim == 2)


@final
@dataclass(frozen=True)
class Placed:
    """A block with its place among all rows, in the precision that all blocks share."""

    first: int
    dtype: str

    def __call__(self, block: Block) -> Block:
        X = block.X if self.dtype == TABLE else block.X.astype(self.dtype, copy=False)
        return Block(X, block.targets, block.weights, self.first)


@final
class DaskBlocks(Blocks):
    """Blocks that a crew holds."""

    def __init__(self, crew: Crew, held: Sequence[Any], shapes: Sequence[Shape]) -> None:
        self.crew, self.held, self.shapes = crew, list(held), list(shapes)
        one = shapes[0]
        self.n_rows, self.n_features = sum(shape.n_rows for shape in shapes), one.n_features
        self.dtype, self.sparse, self.distributions = np.dtype(one.dtype), one.sparse, one.distributions

    @classmethod
    def of(
        cls, crew: Crew, held: Sequence[Any], ahead: Sequence[Callable[[Block], Any]] = ()
    ) -> "DaskBlocks":
        """From held blocks whose places are not known yet: a counting pass, which answers what is asked ahead too.

        Blocks without rows are left out.
        """
        shapes, *told = crew.answers([Question(held, task) for task in (shape_of, *ahead)])
        used = [(part, shape) for part, shape in zip(held, shapes) if shape.n_rows]
        if not used:
            raise ValueError(f"Found array with 0 sample(s) in {len(held)} block(s): there are no rows.")
        _check_alike(shapes)
        told = [[one for one, shape in zip(answers, shapes) if shape.n_rows] for answers in told]
        shapes = [shape for _, shape in used]
        dtypes = {shape.dtype for shape in shapes}
        dtype = dtypes.pop() if len(dtypes) == 1 else "float64"
        firsts = [0, *accumulate(shape.n_rows for shape in shapes)]
        placed = [
            crew.map(Placed(first, dtype), [part])[0] if first or shape.dtype != dtype else part
            for (part, shape), first in zip(used, firsts)
        ]
        found = cls(crew, placed, [shape._replace(dtype=dtype) for shape in shapes])
        found.told = list(zip(ahead, told, strict=True))
        return found

    def answers(self, asks: Sequence[Ask]) -> list[Any]:
        questions = [Question(_held(ask), ask.task, ask.add) for ask in asks]
        return [
            parts if ask.add is None else tree(parts, ask.add)
            for ask, parts in zip(asks, self.crew.answers(questions), strict=True)
        ]

    def mapped(
        self, task: Callable[[Block], Block], *, fewer: bool = False, same_X: bool = False
    ) -> "DaskBlocks":
        held = self.crew.map(task, self.held)
        if same_X:
            return DaskBlocks(self.crew, held, [one._replace(distributions=False) for one in self.shapes])
        shapes = self.crew.ask(shape_of, held)
        used = [(part, shape) for part, shape in zip(held, shapes) if shape.n_rows]
        return DaskBlocks(self.crew, [part for part, _ in used], [shape for _, shape in used])


def _held(ask: Ask) -> list[Any]:
    assert isinstance(ask.blocks, DaskBlocks)
    return ask.blocks.held


def _check_alike(shapes: Sequence[Shape]) -> None:
    """Refuse blocks that differ from the first one with rows, and name the block."""
    kinds = [(f"{one.n_features} column(s)", "sparse" if one.sparse else "dense") for one in shapes]
    first = next(i for i, one in enumerate(shapes) if one.n_rows)
    for number, kind in enumerate(kinds):
        other = next((i for i in range(2) if shapes[number].n_rows and kind[i] != kinds[first][i]), None)
        if other is not None:
            raise ValueError(
                f"Block {number + 1} of X (counted from 1) has {kind[0]} and is {kind[1]}, but block {first + 1} has "
                f"{kinds[first][0]} and is {kinds[first][1]}: make them alike."
            )
