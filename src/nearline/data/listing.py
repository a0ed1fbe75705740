"""How the columns of a table are listed: those in doubt first, each with its reason, then the plain ones, ranges by name."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from nearline._records.words import many

FEW = 16  # plain columns that have a line each
SEVERAL = 8  # columns of one doubt that have a line each
LONG = 60  # names that are listed one by one, of columns of one kind side by side
NUMBERED = 5  # columns from which on numbered names are a range


def listing(columns: Sequence[Any]) -> list[str]:
    """Lines that name all columns; ranges of names that are side by side may stand for those between."""
    doubted = sorted((one for one in columns if one.doubts), key=lambda one: -one.doubts[0].weight)
    plain = [place for place, one in enumerate(columns) if not one.doubts]
    return [*_in_doubt(columns, doubted), *_plain(columns, plain)]


def in_order(columns: Sequence[Any]) -> str:
    """All names in a sentence, those in doubt first; ranges of names that are side by side may stand for those between."""
    doubts = sorted({one.doubts[0] for one in columns if one.doubts}, key=lambda doubt: -doubt.weight)
    kinds: list[Any] = [*doubts, None]
    places: dict[Any, list[int]] = {kind: [] for kind in kinds}
    for place, one in enumerate(columns):
        places[one.doubts[0] if one.doubts else None].append(place)
    return ", ".join(name for kind in kinds for name, _ in _spans(columns, places[kind]))


def _in_doubt(columns: Sequence[Any], doubted: Sequence[Any]) -> Iterator[str]:
    places = {id(one): place for place, one in enumerate(columns)}
    for doubts, found in groupby(doubted, key=lambda one: one.doubts[0]):
        alike = list(found)
        if len(alike) <= SEVERAL:
            yield from (f"! {one}; {'; '.join(doubt.reason for doubt in one.doubts)}" for one in alike)
        else:
            names = ", ".join(name for name, _ in _spans(columns, [places[id(one)] for one in alike]))
            yield f"! {doubts.name}, {len(alike):,} columns: {names}"


def _plain(columns: Sequence[Any], places: list[int]) -> Iterator[str]:
    if len(places) <= FEW:
        yield from (str(columns[place]) for place in places)
        return
    kinds = dict.fromkeys(_kind(columns[place]) for place in places)
    for kind in kinds:
        spans = _spans(columns, [place for place in places if _kind(columns[place]) == kind])
        total = sum(count for _, count in spans)
        yield f"{many(total, 'column')}, {kind}: {', '.join(name for name, _ in spans)}"


def _kind(column: Any) -> str:
    return f"{column.type}, some missing" if column.missing else str(column.type)


def _spans(columns: Sequence[Any], places: list[int]) -> list[tuple[str, int]]:
    """Names of columns, those side by side as a range where they are numbered or very many; and how many each stands for."""
    spans: list[tuple[str, int]] = []
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        names = [columns[place].name for _, place in run]
        if len(names) > LONG:
            spans.append(_range(names))
            continue
        for _, part in groupby(enumerate(names), key=lambda pair: _series(pair[1], pair[0])):
            alike = [name for _, name in part]
            spans += [_range(alike)] if len(alike) >= NUMBERED else [(name, 1) for name in alike]
    return spans


def _range(names: list[str]) -> tuple[str, int]:
    return f"{names[0]} ... {names[-1]}", len(names)


def _series(name: str, place: int) -> tuple[str, int]:
    """What names that count on have in common: pixel7 at place 6 and pixel8 at place 7."""
    found = re.fullmatch(r"(.*?)(\d{1,9})", name)
    return (name, -1) if found is None else (found[1], int(found[2]) - place)
