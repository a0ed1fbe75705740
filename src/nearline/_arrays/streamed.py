"""StreamedBlocks: rows larger than memory, of which each pass makes one block after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from nearline._arrays.blocks import Ask, Block, Blocks, look

SPECIMEN = 100  # rows that tell what a function makes of a block


@final
class StreamedBlocks(Blocks):
    """Blocks that are made anew for each pass, one at a time: memory holds one, whatever their number.

    ``sources``: functions that make them, of a part of a file as a rule; ``rows``: how many rows each has.
    """

    read_again = True

    def __init__(
        self,
        sources: Sequence[Callable[[], Block]],
        rows: Sequence[int],
        specimen: Block,
        tasks: tuple[Any, ...] = (),
    ) -> None:
        self.sources, self.tasks = sources, tasks
        self.rows, self.n_rows = list(rows), sum(rows)
        self.specimen = specimen
        look(self, specimen)

    @classmethod
    def of(cls, sources: Sequence[Callable[[], Block]], rows: Sequence[int]) -> "StreamedBlocks":
        """Those that have rows."""
        used = [(source, n) for source, n in zip(sources, rows, strict=True) if n]
        if not used:
            raise ValueError("There are no rows: give at least one block that has some.")
        first = used[0][0]()
        some = slice(0, SPECIMEN)
        specimen = Block(first.X[some], first.targets[some], first.weights[some], first.first)
        return cls([source for source, _ in used], [n for _, n in used], specimen)

    def answers(self, asks: Sequence[Ask]) -> list[Any]:
        answers: list[Any] = [None] * len(asks)
        for source in {id(_streamed(ask).sources): _streamed(ask).sources for ask in asks}.values():
            places = [place for place, ask in enumerate(asks) if _streamed(ask).sources is source]
            found = [asks[place].gathered() for place in places]
            for number in range(len(source)):
                made: dict[tuple[Any, ...], Block] = {}
                for place, answer in zip(places, found, strict=True):
                    block = _streamed(asks[place])._made(number, made)
                    if block.n_rows:
                        answer.take(asks[place].task(block))
            for place, answer in zip(places, found, strict=True):
                answers[place] = answer.whole()
        return answers

    def _made(self, number: int, made: dict[tuple[Any, ...], Block]) -> Block:
        """A block, with what was made of it on the way in the same pass."""
        for length in range(len(self.tasks) + 1):
            done = self.tasks[:length]
            if done not in made:
                made[done] = self.tasks[length - 1](made[done[:-1]]) if done else self.sources[number]()
        return made[self.tasks]

    def mapped(
        self, task: Callable[[Block], Block], *, fewer: bool = False, same_X: bool = False
    ) -> "StreamedBlocks":
        other = StreamedBlocks(
            self.sources, self.rows, task(self.specimen), (*self.tasks, _Unlike(task, object()))
        )
        if fewer:
            other.n_rows = sum(other.each(_rows_of))
        return other


def _streamed(ask: Ask) -> StreamedBlocks:
    assert isinstance(ask.blocks, StreamedBlocks)
    return ask.blocks


@dataclass(frozen=True, eq=False)
class _Unlike:
    """A task that is equal to no other: what it makes is found again by it."""

    task: Callable[[Block], Block]
    token: object

    def __call__(self, block: Block) -> Block:
        return self.task(block)


def _rows_of(block: Block) -> int:
    return block.n_rows
