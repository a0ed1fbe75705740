"""FASTA files: a header that begins with ``>``, then the sequence on one or more lines."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearline._records.words import did_you_mean
from nearline.data._files import compression, content
from nearline.data._rows import Rows
from nearline.data._text import decoded, sample_of
from nearline.data.base import DataError, Format, Request, Table

KEYS = ("label", "class")  # which words of a header are labels, if nothing is said
WORD = re.compile(r"(\S+?)=(\"[^\"]*\"|\S*)")


@dataclass(frozen=True)
class Fasta(Format):
    """Sequences with their labels in the headers.

    A header may have words ``key=value``: the label is that of the key ``label`` or ``class``, or of the one that
    ``target`` names. Otherwise, parts of a header between bars are counted from 1: ``target=1`` (or "first") is the
    label in ``>promoter|S10``. If nothing is said and the first parts repeat, so that they look like classes, they are
    taken, and the description says so.
    """

    name = "FASTA"
    extensions = (".fasta", ".fa", ".fna", ".faa", ".ffn", ".fas")

    def matches(self, path: Path) -> bool:
        lines = [line for line in sample_of(path)[0].split("\n")[:200] if line.strip() and line[0] != ";"]
        if not lines or not re.match(r">\s*\S", lines[0]) or len(lines) < 2:
            return False
        residues = [line.strip() for line in lines if line[0] != ">"]
        return bool(residues) and all(re.fullmatch(r"[A-Za-z*.\-]+", line) for line in residues)

    def read(self, path: Path, request: Request) -> Table:
        text, encoding = decoded(content(path), path, request.encoding)
        headers, sequences = _records(text.split("\n"), path)
        packed = compression(path)
        details = {"encoding": encoding} | ({"compression": packed} if packed else {})
        notes: list[str] = []
        labels, target = None, None
        if request.labels is None:
            labels, target = _labels(headers, request.target or request.like.target, path, notes)
        if target is not None:
            details["label"] = target
        given = None if labels is None else np.array(labels, dtype=object)
        rows = Rows(path, self.name, sequences, given, target=target, details=details, notes=notes)
        return rows.table(request)


def _records(lines: list[str], path: Path) -> tuple[list[str], list[str]]:
    """Headers without their mark, and sequences in one piece."""
    headers: list[str] = []
    parts: list[list[str]] = []
    for number, line in enumerate(lines, 1):
        if line.startswith(">"):
            headers.append(line[1:].strip())
            parts.append([])
        elif line.strip() and not line.startswith(";"):
            if not headers:
                raise DataError(
                    f"Line {number:,} of {path} is {line[:40]!r}: a FASTA file begins with a header, a line with '>'."
                )
            parts[-1].append("".join(line.split()))
    if not headers:
        raise DataError(f"{path} has no headers: in FASTA a line with '>' stands before each sequence.")
    sequences = ["".join(pieces) for pieces in parts]
    empty = [header for header, sequence in zip(headers, sequences) if not sequence]
    if empty:
        raise DataError(f"{len(empty):,} headers of {path} have no sequence; the first is {empty[0][:40]!r}.")
    return headers, sequences


def _labels(
    headers: list[str], target: str | int | None, path: Path, notes: list[str]
) -> tuple[list[str] | None, str | None]:
    """The label of each header ("" where there is none) and what it is called; None if headers have no labels."""
    words = [{key: value.strip('"') for key, value in WORD.findall(header)} for header in headers]
    if target is None:
        for key in KEYS:
            if any(key in own for own in words):
                return [own.get(key, "") for own in words], key
        first = Counter(header.partition("|")[0] for header in headers if "|" in header)
        if first.total() < len(headers) or len(first) < 2 or min(first.values()) < 2:
            return None, None
        notes.append("the part of each header before the first bar is taken for its label")
        target = "first"
    keys = sorted(set().union(*words))
    if str(target) in keys:
        return [own.get(str(target), "") for own in words], str(target)
    fields = [[part.strip() for part in header.split("|")] for header in headers]
    place = {"first": 0, "last": -1}.get(str(target))
    if place is None and re.fullmatch(r"-?[1-9]\d*", str(target)):
        place = int(target) - (int(target) > 0)
    if place is None:
        known = f"its words are {', '.join(keys)}" if keys else "there are no words key=value"
        raise DataError(
            f"No header of {path} has {target}=...{did_you_mean(str(target), keys)}: {known}; "
            "a number counts the parts between bars."
        )
    inside = [-len(own) <= place < len(own) and len(own) > 1 for own in fields]
    if not all(inside):
        short = headers[inside.index(False)]
        raise DataError(f"The header {short[:60]!r} of {path} has no part {target} between bars.")
    return [own[place] for own in fields], str(target)
