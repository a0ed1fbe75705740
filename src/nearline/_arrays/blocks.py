"""Rows in blocks, wherever they are: each block is asked for sums, and the sums are added as a fixed tree.

Whoever keeps blocks (a list in memory, a file that is read again for each pass, the workers of a cluster) offers
:class:`Blocks`; whoever computes with them sends a function of one :class:`Block` and gets the sum of its answers. The order
of the additions depends on the number of blocks alone, so that the last bits do too.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from nearline._arrays.design import Array, Design, as_design, contiguous, is_sparse
from nearline._arrays.riding import ride_together, riding
from nearline._arrays.sums import Each, Tree, tree

Sums = TypeVar("Sums")
RECENT = 6  # arrays of a block's rows that are kept for the next question


class Recent:
    """What was computed lately, by key; the oldest goes first. It is a help only: whatever is missing is made again."""

    def __init__(self, most: int) -> None:
        self.most, self._lock = most, Lock()
        self._held: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = make()
        self.put(key, made)
        return made

    def put(self, key: Any, value: Any) -> None:
        with self._lock:
            self._held[key] = value
            self._held.move_to_end(key)
            while len(self._held) > self.most:
                self._held.popitem(last=False)


def is_table(X: Any) -> bool:
    """Whether the rows of a block are a frame of mixed columns, not yet numbers."""
    return not (isinstance(X, np.ndarray) or is_sparse(X))


@final
class Block:
    """Some rows with their targets and weights. What was computed of them lately stays where it was computed."""

    def __init__(self, X: Design, targets: Array, weights: Array, first: int = 0) -> None:
        self.X, self.targets, self.weights = X, targets, weights
        self.first = first  # number of the first row among all rows
        self._forget()

    def _forget(self) -> None:
        self.recent, self.tools = Recent(RECENT), Recent(RECENT)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def numbers(self) -> Array:
        """(n,) numbers of the rows among all rows."""
        return np.arange(self.first, self.first + self.n_rows)

    def with_weights(self, weights: Array) -> "Block":
        """The same rows with other weights."""
        return Block(self.X, self.targets, weights, self.first)

    def __getstate__(self) -> tuple[Any, ...]:
        return self.X, self.targets, self.weights, self.first

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        X, targets, weights, self.first = state
        # What comes over a network may lie anywhere in memory.
        self.X = X if is_table(X) else as_design(X) if X.dtype.kind == "f" else contiguous(X)
        self.targets, self.weights = contiguous(targets), contiguous(weights)
        self._forget()


class Ask(NamedTuple):
    """A question to blocks: what a function says of each, or the sum of it."""

    blocks: "Blocks"
    task: Callable[[Block], Any]
    add: Callable[[Any, Any], Any] | None = None

    def gathered(self) -> "Tree[Any] | Each":
        """What takes the answers of the blocks, one after the other."""
        return Each() if self.add is None else Tree(self.add)


class Blocks(ABC):
    """Rows in blocks with targets and weights; none of the blocks is empty."""

    n_rows: int
    n_features: int
    dtype: "np.dtype[Any]"
    sparse: bool
    distributions: bool = False  # whether targets are label distributions (n, K), not class numbers
    told: Sequence[tuple[Any, list[Any]]] = ()  # tasks that were asked in advance, with what each block said
    read_again: bool = False  # whether each pass reads the rows anew, so that it pays to ask much of one

    @abstractmethod
    def answers(self, asks: Sequence[Ask]) -> list[Any]:
        """Answers to questions to blocks of this class, these among them, by as few passes as can be."""

    @abstractmethod
    def mapped(
        self, task: Callable[[Block], Block], *, fewer: bool = False, same_X: bool = False
    ) -> "Blocks":
        """Other blocks made of these, of as many rows.

        ``fewer``: some rows may be left out; ``same_X``: only class numbers and weights change.
        """

    def each(self, task: Callable[[Block], Sums]) -> list[Sums]:
        """What a function says of each block, in order. It may be sent to where the block is."""
        known = next((answers for asked, answers in self.told if asked is task), None)
        found: list[Sums] = _asked(Ask(self, task)) if known is None else known
        return found

    def total(self, task: Callable[[Block], Sums], add: Callable[[Sums, Sums], Sums]) -> Sums:
        """The sum of what a function says of each block."""
        found: Sums = _asked(Ask(self, task, add))
        return found


def _asked(ask: Ask) -> Any:
    ride = riding()
    return ask.blocks.answers([ask])[0] if ride is None else ride.ask(ask)


def by_common_passes(works: Sequence[Callable[[], Sums]]) -> list[Sums]:
    """What each work returns; passes over blocks that several of them ask for are one pass.

    >>> by_common_passes([lambda: 1, lambda: 2])
    [1, 2]
    """
    return [work() for work in works] if len(works) == 1 or riding() else ride_together(works, _by_class)


def _by_class(asks: list[Ask]) -> list[Any]:
    """Questions go to the class of their blocks."""
    answers: list[Any] = [None] * len(asks)
    for kind in dict.fromkeys(type(ask.blocks) for ask in asks):
        places = [place for place, ask in enumerate(asks) if type(ask.blocks) is kind]
        for place, answer in zip(places, asks[places[0]].blocks.answers([asks[place] for place in places])):
            answers[place] = answer
    return answers


def look(blocks: Blocks, block: Block) -> None:
    """What all blocks have in common, by one of them."""
    blocks.n_features = int(block.X.shape[1])
    blocks.dtype = np.dtype(object if is_table(block.X) else block.X.dtype)
    blocks.sparse, blocks.distributions = is_sparse(block.X), block.targets.ndim == 2


@final
class HeldBlocks(Blocks):
    """Blocks in the memory of this process, one after the other."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = [block for block in blocks if block.n_rows]
        if not self.blocks:
            raise ValueError("There are no rows: give at least one block that has some.")
        self.n_rows = sum(block.n_rows for block in self.blocks)
        look(self, self.blocks[0])

    def answers(self, asks: Sequence[Ask]) -> list[Any]:
        found = []
        for blocks, task, add in asks:
            assert isinstance(blocks, HeldBlocks)
            parts = [task(block) for block in blocks.blocks]
            found.append(parts if add is None else tree(parts, add))
        return found

    def mapped(
        self, task: Callable[[Block], Block], *, fewer: bool = False, same_X: bool = False
    ) -> "HeldBlocks":
        return HeldBlocks(self.each(task))


@dataclass(frozen=True)
class Taken:
    """The rows of a block that are among some numbers, in rising order."""

    numbers: Array

    def __call__(self, block: Block) -> Design:
        begin, end = np.searchsorted(self.numbers, [block.first, block.first + block.n_rows])
        return block.X[self.numbers[begin:end] - block.first]


def sampled(blocks: Blocks, size: int, random_state: int) -> Design:
    """Some rows, drawn by their numbers among all rows, in order; all rows if they are no more."""
    n = blocks.n_rows
    numbers = np.arange(n)
    if size < n:
        numbers = np.sort(np.random.default_rng(random_state).choice(n, size, replace=False, shuffle=False))
    parts = blocks.each(Taken(numbers))
    if not blocks.sparse:
        return np.concatenate(parts)
    import scipy.sparse as sp

    return sp.vstack(parts, format="csr")
