"""Attacks on the compiled core and on what stands before it: sparse matrices whose indices lie, threads that are refused."""

from collections.abc import Iterator

from benchmarks.attacks import Attack


def attacks() -> Iterator[Attack]:
    yield from ()
