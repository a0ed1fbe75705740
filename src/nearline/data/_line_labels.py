"""Where the label of a line of text stands: before or after a delimiter, or as a word of its own at the beginning."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from nearline._records.words import worded
from nearline.data.base import DataError, Request

USUAL = 0.9  # share of the lines that must have a label in a way, for the way to be that of the file
PAIRED = re.compile(r"\s*([A-Za-z]\w*):([A-Za-z]\w*)\s+(?=\S)")  # NUM:dist How far is it?
PREFIXED = re.compile(r"\s*__label__(\S+)\s+(?=\S)")  # __label__spam, as fastText has it


@dataclass(frozen=True)
class Way:
    """How lines carry their labels."""

    said: str
    cut: Callable[[str], tuple[str, str] | None]  # label and text of a line; None where it has no label
    lacks: str = "label at its beginning"  # what a line without a label has not
    note: str | None = None


def way_of(lines: list[str], delimiter: str, request: Request) -> Way | None:
    """How these lines carry labels, as it is asked for or found out; None: they do not."""
    if request.labels is not None:
        return None
    target = None if request.target is None else str(request.target)
    marked = None if request.delimiter else marked_way(lines, target)
    if marked is not None:
        return marked
    told = {"first": 0, "1": 0, "last": 1, "2": 1, "-1": 1}
    if target is not None:
        if target not in told:
            raise DataError(f"In lines of text the target is 'first' or 'last', got {request.target!r}.")
        return _delimited(delimiter, told[target])
    side = 0 if request.delimiter else labeled_side(lines, delimiter)
    return None if side is None else _delimited(delimiter, side)


def marked_way(lines: list[str], target: str | None = None) -> Way | None:
    """Labels that are words of their own at the beginning of lines: NUM:dist, or __label__spam."""
    lines = [line for line in lines if line.strip()]
    if target not in (None, "first", "1", "fine") or len(lines) < 2:
        return None
    for pattern in (PREFIXED, PAIRED):
        found = [match for match in map(pattern.match, lines) if match]
        names = {match[1] for match in found}
        if len(found) >= USUAL * len(lines) and len(names) <= max(2, 0.5 * len(lines)):
            break
    else:
        return None
    if pattern is PREFIXED:
        return Way("the first word, after __label__", lambda line: _of(PREFIXED.match(line), line))
    if target == "fine":
        return Way("the first word", lambda line: _of(PAIRED.match(line), line, fine=True))
    one = found[0]
    fine = worded("target='fine'", "--target fine")
    note = f"the class is what stands before the colon, {one[1]!r}; {fine} takes '{one[1]}:{one[2]}'"
    return Way("the first word, before its colon", lambda line: _of(PAIRED.match(line), line), note=note)


def _of(found: re.Match[str] | None, line: str, *, fine: bool = False) -> tuple[str, str] | None:
    return None if found is None else (f"{found[1]}:{found[2]}" if fine else found[1], line[found.end() :])


def _delimited(delimiter: str, side: int) -> Way:
    def cut(line: str) -> tuple[str, str] | None:
        first, mark, last = line.rpartition(delimiter) if side else line.partition(delimiter)
        if not mark:
            return None
        return (last, first) if side else (first, last)

    named = "tab" if delimiter == "\t" else f"{delimiter!r}"
    return Way(f"{'after the last' if side else 'before the first'} {named}", cut, repr(delimiter))


def labeled_side(lines: list[str], delimiter: str) -> int | None:
    """Which side of the delimiter has few short values while the other has texts: 0 before, 1 after, None neither."""
    pairs = [line.split(delimiter) for line in lines if line.strip()]
    if not pairs or sum(len(pair) == 2 for pair in pairs) < USUAL * len(pairs):
        return None
    pairs = [pair for pair in pairs if len(pair) == 2]
    for side in (0, 1):
        labels, texts = {pair[side].strip() for pair in pairs}, [pair[1 - side] for pair in pairs]
        words = sum(len(text.split()) for text in texts) / len(texts)
        if len(labels) <= max(2, 0.5 * len(pairs)) and words > 2:
            return side
    return None
