"""Texts: a folder a class, a file a class with a text a line, or one file with a text a line."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

import numpy as np

from nearline._records.words import many
from nearline.data._dialect import NONE, SPACES, sniffed
from nearline.data._files import compression, content, readable
from nearline.data._header import is_number
from nearline.data._labels import as_labels, listed
from nearline.data._line_labels import Way, labeled_side, marked_way, way_of
from nearline.data._rows import Rows
from nearline.data._text import decoded, lines_of, sample_of, text_of
from nearline.data.base import DataError, Format, Request, Table

TEXTS = (".txt", ".text")
MOST_NAMES = 1_000_000  # in one folder


def entries(path: Path) -> tuple[list[Path], list[Path]]:
    """Folders and files of a folder in order of their names, hidden ones left out."""
    with readable(path), os.scandir(path) as found:
        some = list(islice(found, MOST_NAMES + 1))
        if len(some) > MOST_NAMES:
            raise DataError(
                f"{path} has more than {MOST_NAMES:,} names",
                "put rows of one kind into a file, such as .npz or CSV",
            )
        shown = [entry for entry in some if not entry.name.startswith((".", "__"))]
        # not asked of the entry itself, which fails for a link that leads back to itself
        links = {entry.name for entry in shown if entry.is_symlink()}
        folders = [entry.name for entry in shown if entry.name not in links and entry.is_dir()]
        files = [entry.name for entry in shown if entry.name not in links and entry.is_file()]
        folders += [name for name in links if (path / name).is_dir()]
        files += [name for name in links if (path / name).is_file()]
    return [path / name for name in sorted(folders)], [path / name for name in sorted(files)]


def by_class(path: Path) -> dict[str, list[Path]]:
    """The files of each class, a sub-folder a class; folders in folders are refused."""
    folders, _ = entries(path)
    if not folders:
        raise DataError(
            f"The folder {path} has no sub-folders",
            "name one of its files, or put those of each class into one",
        )
    classes = {folder.name: entries(folder)[1] for folder in folders}
    deep = [folder for folder in folders if not classes[folder.name] and entries(folder)[0]]
    if deep:
        raise DataError(
            f"{deep[0]} has folders and no files", "name the folder that has one sub-folder a class"
        )
    return classes


@dataclass(frozen=True)
class TextFolder(Format):
    """A folder with a sub-folder a class, and a text a file."""

    name = "folder of texts"

    def matches(self, path: Path) -> bool:
        return path.is_dir() and bool(entries(path)[0])

    def read(self, path: Path, request: Request) -> Table:
        texts: list[str] = []
        labels, skipped, kept, encodings = [], [], [], set()
        for name, files in by_class(path).items():
            for file in files:
                try:
                    text, encoding = decoded(content(file), file, request.encoding)
                except DataError:
                    skipped.append(str(file.relative_to(path)))
                    continue
                kept.append(len(texts) + len(skipped))
                texts.append(text)
                labels.append(name)
                encodings.add(encoding)
        if not texts:
            raise DataError(f"No file in the folders of {path} is a text.")
        notes = (
            [f"left out, as no texts: {many(len(skipped), 'file')}, {listed(skipped, 3)}"] if skipped else []
        )
        details = {"encoding": " and ".join(sorted(encodings))}
        rows = Rows(path, self.name, texts, as_labels(labels), sure=True, details=details, notes=notes)
        table = rows.table(request)
        return replace(table, places=np.array(kept)) if skipped and table.places is None else table


@dataclass(frozen=True)
class ClassFiles(Format):
    """A folder with a text file a class, and a text a line."""

    name = "folder of class files"

    def matches(self, path: Path) -> bool:
        folders, files = entries(path) if path.is_dir() else ([], [])
        return not folders and sum(file.suffix.lower() in TEXTS for file in files) > 1

    def read(self, path: Path, request: Request) -> Table:
        _, files = entries(path)
        own = [file for file in files if file.suffix.lower() in TEXTS]
        texts, labels, encodings = [], [], set()
        for file in own:
            text, encoding = decoded(content(file), file, request.encoding)
            found = [line.strip() for line in text.split("\n") if line.strip()]
            texts += found
            labels += [file.stem] * len(found)
            encodings.add(encoding)
        if not texts:
            raise DataError(f"The .txt files of {path} are empty, or there are none.")
        other = [file.name for file in files if file not in own]
        notes = [f"left out, as they do not end with .txt: {listed(other, 3)}"] if other else []
        details = {"encoding": " and ".join(sorted(encodings))}
        rows = Rows(path, self.name, texts, as_labels(labels), sure=True, details=details, notes=notes)
        return rows.table(request)


@dataclass(frozen=True)
class TextLines(Format):
    """A text a line, its label before or after a tab, in a file of labels, or nowhere."""

    name = "lines of text"

    def matches(self, path: Path) -> bool:
        text, _ = sample_of(path)
        if marked_way(text.split("\n")[:-1][:1000]) is not None:
            return True
        dialect = sniffed(text)
        cells = text[:20_000].split()
        numeric = sum(map(is_number, cells)) > 0.5 * len(cells)
        if dialect.delimiter == NONE or dialect.regularity < 0.9:
            return not numeric
        if dialect.delimiter == SPACES:
            return not numeric and not dialect.header
        return not dialect.header and labeled_side(text.split("\n")[:-1], "\t") is not None

    def read(self, path: Path, request: Request) -> Table:
        text, encoding = text_of(path, request.encoding)
        lines = text.split("\n")
        lines = lines if lines[-1] else lines[:-1]
        if not any(map(str.strip, lines)):
            raise DataError(f"{path} is empty.")
        delimiter = request.delimiter or "\t"
        way = way_of(lines[:1000], delimiter, request)
        return _table(path, lines, way, encoding, request)

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        sample, encoding = sample_of(path, request.encoding)
        delimiter = request.delimiter or "\t"
        way, first = way_of(sample.split("\n")[:-1][:1000], delimiter, request), 0
        with lines_of(path, encoding) as lines:
            while chunk := [line.rstrip("\n") for line in islice(lines, rows)]:
                yield _table(path, chunk, way, encoding, request, first)
                first += len(chunk)

    def lines(self, path: Path, request: Request) -> Iterator[int]:
        return count(1)


def _table(
    path: Path, lines: list[str], way: Way | None, encoding: str, request: Request, first: int = 0
) -> Table:
    packed = compression(path)
    details = {"encoding": encoding} | ({"compression": packed} if packed else {})
    if way is None:
        return Rows(path, "lines of text", lines, details=details).table(request)
    cut = [way.cut(line) for line in lines]
    without = [i for i, found in enumerate(cut) if found is None and lines[i].strip()]
    if without:
        raise DataError(
            f"{many(len(without), 'line')} of {path} without a label, as there is no {way.lacks} in it; the first is "
            f"line {first + without[0] + 1:,}: {lines[without[0]][:40]!r}."
        )
    pairs = [("", "") if found is None else found for found in cut]
    labels = np.array([label for label, _ in pairs], dtype=object)
    details["label"] = way.said
    notes = [] if way.note is None else [way.note]
    texts = [text for _, text in pairs]
    return Rows(path, "lines of text", texts, labels, details=details, notes=notes).table(request)
