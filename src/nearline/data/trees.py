"""Trees: in brackets, one a line or over several lines, with or without labels; and the files of KeLP.

Rows are texts in brackets, all spaced alike, which kernels of trees take.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearline._records.words import worded
from nearline.data._files import compression
from nearline.data._labels import listed
from nearline.data._rows import Rows
from nearline.data._text import sample_of, text_of
from nearline.data.base import DataError, Format, Request, Table
from nearline.kernels.tree import Tree

LABELED = re.compile(r"([^\t(]*)\t\s*(\(.*)", re.DOTALL)
NAMED = re.compile(r"\|BT:([^|]*)\|(.*?)\|ET\|")
HIDDEN = "X"  # stands where a label was that would give the class away


@dataclass(frozen=True)
class BracketedTrees(Format):
    """Trees in brackets, ``label<TAB>(S (NP ...) (VP ...))`` or without the label.

    Without tabs the root may be the class, as in the Stanford Sentiment Treebank: with ``target="root"``, or if the
    labels of all inner nodes are whole numbers. What gives the class away is hidden then: the root's label is replaced
    by X, and so are those of all inner nodes if they are judgments of the same kind.
    """

    name = "bracketed trees"
    extensions = (".trees", ".mrg", ".ptb")

    def matches(self, path: Path) -> bool:
        lines = [line for line in sample_of(path)[0].split("\n")[:50] if line.strip()]
        lines = lines[:-1] if len(lines) > 1 else lines  # the last line of a sample may be cut
        try:
            return bool(lines) and all(len(Tree.parse(_split(line)[1])) > 1 for line in lines)
        except ValueError:
            return False

    def read(self, path: Path, request: Request) -> Table:
        text, encoding = text_of(path, request.encoding)
        labels, trees = [], []
        for number, piece in _pieces(text.split("\n")):
            label, brackets = _split(piece)
            labels.append(label)
            trees.append(_parsed(brackets, path, number))
        if not trees:
            raise DataError(f"{path} has no trees.")
        details, notes = _details(path, encoding), []
        target = request.target or request.like.target
        if request.labels is None and any(label is not None for label in labels):
            details["label"] = "before the tab"
            return _rows(path, self.name, trees, [label or "" for label in labels], details, request)
        if request.labels is None and (target == "root" or (target is None and _judged(trees))):
            classes = [tree.label for tree in trees]
            notes.append(f"the root is the class; labels that would tell it are replaced by {HIDDEN}")
            trees = _hidden(trees)
            details["label"] = "the root"
            return _rows(path, self.name, trees, classes, details, request, notes, "root")
        if target is not None and request.labels is None:
            root = worded("target='root'", "--target root")
            raise DataError(
                f"Labels of bracketed trees stand before a tab or are the root ({root}), got {target!r}."
            )
        return _rows(path, self.name, trees, None, details, request)


@dataclass(frozen=True)
class KeLP(Format):
    """Lines ``label |BT:name| (tree) |ET| ...`` of the KeLP library, which may have several trees each.

    ``columns=["grct"]`` names the tree to take; otherwise it is the first one. Vectors and texts are left out.
    """

    name = "KeLP"
    extensions = (".klp",)

    def matches(self, path: Path) -> bool:
        lines = [line for line in sample_of(path)[0].split("\n")[:20] if line.strip()]
        return bool(lines) and all(NAMED.search(line) for line in lines[: max(1, len(lines) - 1)])

    def read(self, path: Path, request: Request) -> Table:
        text, encoding = text_of(path, request.encoding)
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        found = [dict(NAMED.findall(line)) for _, line in lines]
        names = list(found[0]) if found else []
        if not names:
            raise DataError(f"{path} has no trees: in KeLP files these are written |BT:name| (tree) |ET|.")
        if request.columns is not None and len(request.columns) != 1:
            raise DataError(
                f"One tree of each line of {path} is taken", f"give columns=[one of {listed(names)}]"
            )
        name = request.columns[0] if request.columns is not None else names[0]
        trees, labels = [], []
        for (number, line), own in zip(lines, found):
            if name not in own:
                raise DataError(f"Line {number:,} of {path} has no tree {name!r}, but {listed(list(own))}.")
            trees.append(_parsed(own[name], path, number))
            labels.append(line.partition("|")[0].strip())
        details = _details(path, encoding) | {"tree": name}
        notes = (
            [f"other trees of each line: {listed([n for n in names if n != name])}"] if len(names) > 1 else []
        )
        return _rows(path, self.name, trees, labels if any(labels) else None, details, request, notes)


def _details(path: Path, encoding: str) -> dict[str, str]:
    packed = compression(path)
    return {"encoding": encoding} | ({"compression": packed} if packed else {})


def _rows(
    path: Path,
    name: str,
    trees: list[Tree],
    labels: list[str] | None,
    details: dict[str, str],
    request: Request,
    notes: list[str] | None = None,
    target: str | None = None,
) -> Table:
    given = None if labels is None else np.array(labels, dtype=object)
    return Rows(
        path, name, list(map(str, trees)), given, target=target, details=details, notes=notes or []
    ).table(request)


def _split(line: str) -> tuple[str | None, str]:
    """The label before a tab, if there is one, and the tree."""
    cut = LABELED.fullmatch(line)
    return (cut[1].strip(), cut[2]) if cut else (None, line)


def _pieces(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines, joined where a tree goes on, with the number of the first."""
    start, depth, piece = 1, 0, ""
    for number, line in enumerate(lines, 1):
        if not piece:
            if not line.strip():
                continue
            start = number
        piece = f"{piece}\n{line}" if piece else line
        depth += line.count("(") - line.count(")")
        if depth <= 0:
            yield start, piece
            depth, piece = 0, ""
    if piece:
        yield start, piece


def _parsed(brackets: str, path: Path, number: int) -> Tree:
    try:
        return Tree.parse(brackets)
    except ValueError as error:
        raise DataError(f"Line {number:,} of {path}: {error}") from error


def _inner_labels(tree: Tree) -> set[str]:
    return {label for label, arity in zip(*tree.flat) if arity}


def _judged(trees: list[Tree]) -> bool:
    """Whether every inner node has a class."""
    return len({tree.label for tree in trees}) > 1 and all(
        label.isdecimal() for tree in trees for label in _inner_labels(tree)
    )


def _hidden(trees: list[Tree]) -> list[Tree]:
    """The trees without what tells their classes."""
    if not _judged(trees):
        return [Tree(HIDDEN, tree.children) for tree in trees]
    return [_relabeled(tree) for tree in trees]


def _relabeled(tree: Tree) -> Tree:
    done: list[Tree] = []
    for label, arity in zip(*tree.flat):
        children = tuple(done[len(done) - arity :])
        del done[len(done) - arity :]
        done.append(Tree(HIDDEN, children) if arity else Tree(label))
    return done[0]
