"""The matrix of everyday sizes: every estimator that scikit-learn has too, on tables of many shapes."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.everyday.cells import Standard, cell
from benchmarks.everyday.matrix import draw, summary
from benchmarks.everyday.models import PAIRS, Pair
from benchmarks.everyday.shapes import SHAPES, Shape, drawn
from benchmarks.harness import Contest, Entry, Heat, Session
from benchmarks.homes import NEARLINE, SKLEARN, SKLEARNEX

GOAL = (
    "no cell below 0.9x scikit-learn, 2x in the mean up to 1,000 rows, 4x over all; 1.5x scikit-learn-intelex"
)
SEED, DRAWN = 20260101, 18
MOST_QUICK = 50_000  # numbers in a table of a quick run


def heats(session: Session, shapes: Sequence[Shape]) -> Iterator[Heat]:
    for shape in shapes:
        if session.options.quick and shape.rows * shape.features > MOST_QUICK:
            continue
        for pair in PAIRS:
            if pair.fits(shape):
                yield heat(pair, shape)


def heat(pair: Pair, shape: Shape) -> Heat:
    standard, task = Standard(), partial(cell, pair.name, shape)
    entries = [Entry("scikit-learn", partial(task, "scikit-learn"), standard.of_peer, SKLEARN)]
    if pair.accelerated:
        entries.append(
            Entry("scikit-learn-intelex", partial(task, "scikit-learn-intelex"), standard.of_peer, SKLEARNEX)
        )
    entries.append(Entry("nearline", partial(task, "nearline"), standard.of_ours, NEARLINE, ours=True))
    return Heat(
        f"{pair.name}: {shape}", "risk not above scikit-learn's, or the same labels but for ties", entries
    )


def of(shapes: Callable[[], Sequence[Shape]]) -> Callable[[Session], Iterator[Heat]]:
    return lambda session: heats(session, shapes())


CONTESTS = (
    Contest("everyday", "all estimators on everyday sizes", GOAL, of(lambda: SHAPES), summary, draw),
    Contest(
        "everyday-drawn",
        "the same on shapes drawn by a seed",
        GOAL,
        of(lambda: drawn(DRAWN, SEED)),
        summary,
        draw,
    ),
)
