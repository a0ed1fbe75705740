"""ARFF files of Weka, dense and sparse, and the files of KEEL, which add inputs and outputs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from nearline.data._declared import Attribute, Declared, check_names, strings
from nearline.data._dialect import Dialect
from nearline.data._parse import parsed
from nearline.data._rows import Rows
from nearline.data._text import sample_of, text_of
from nearline.data.base import DataError, Format, Request, Table
from nearline.data.delimited import check_width

NAME = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{,'"]\S*?)"""
ATTRIBUTE = re.compile(rf"@attribute\s+({NAME})\s*(?=[\s{{])(.*)", re.IGNORECASE)
BEGINS = re.compile(r"@(relation|attribute|data|inputs?|outputs?)\b", re.IGNORECASE)
QUOTED = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*))\s*(,|$)""")
PAIR = re.compile(r"""\s*(\d{1,18})\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"]+?)\s*(?:,|$)""")
NUMBERS = ("numeric", "real", "integer")
SPARSE_WIDTH = 200  # features from which sparse rows of numbers stay sparse
MOST_CELLS = 10**8  # of sparse rows that are filled up


@dataclass(frozen=True)
class Arff(Format):
    """Lines ``@attribute name type``, then ``@data`` and rows with commas or sparse ones in braces.

    The class is what ``@outputs`` names, the attribute called class, or the last one if it has categories.
    """

    name = "ARFF"
    extensions = (".arff", ".dat", ".data")

    def matches(self, path: Path) -> bool:
        lines = (line.strip() for line in sample_of(path)[0].split("\n"))
        own = (line for line in lines if line and not line.startswith(("%", "#")))
        return BEGINS.match(next(own, "")) is not None

    def read(self, path: Path, request: Request) -> Table:
        return self._file(path, request).table(request)

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        yield from self._file(path, request).parts(rows, request)

    def _file(self, path: Path, request: Request) -> "Declared | _SparseFile":
        text, encoding = text_of(path, request.encoding)
        attributes, keel, start, line = _header(text, path)
        check_names(attributes, path)
        name = "KEEL" if keel else self.name
        rows = _rows(text[start:], line)
        if not rows:
            raise DataError(f"{path} declares its columns and has no rows after @data.")
        if rows[0][1].lstrip().startswith("{"):
            return _sparse(path, name, attributes, rows, encoding, request)
        check_width(len(attributes), path)
        names = [a.name for a in attributes]
        body = "\n".join(row for _, row in rows)
        plain = not any(mark in body for mark in "'\"\\")
        part = parsed(body + "\n", Dialect(",", None, names=tuple(names))) if plain else None
        if part is not None and not part.ragged:
            frame = part.frame()
        else:
            frame = strings(names, [_fields(row, len(names), path, number) for number, row in rows])
        return Declared(path, name, attributes, frame, encoding, lines=tuple(number for number, _ in rows))

    def lines(self, path: Path, request: Request) -> Iterator[int]:
        text, _ = text_of(path, request.encoding)
        _, _, start, line = _header(text, path)
        return (number for number, _ in _rows(text[start:], line))


def _rows(text: str, line: int) -> list[tuple[int, str]]:
    """The rows after the line of ``@data``, each with its line."""
    return [(number, row) for number, row in enumerate(text.split("\n"), line + 1) if _is_row(row)]


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("%")


def _header(text: str, path: Path) -> tuple[list[Attribute], bool, int, int]:
    """The attributes, whether it is KEEL's, where the rows begin, and the line of ``@data``."""
    attributes: list[Attribute] = []
    outputs: list[str] | None = None
    keel, start = False, 0
    for number, line in enumerate(text.split("\n"), 1):
        start += len(line) + 1
        word = line.strip().partition(" ")[0].partition("\t")[0].lower()
        if word == "@attribute":
            attributes.append(_attribute(line.strip(), path, number))
        elif word in ("@output", "@outputs", "@inputs", "@input"):
            keel = True
            if word.startswith("@output"):
                outputs = [_unquoted(name.strip()) for name in line.strip().partition(" ")[2].split(",")]
        elif word == "@data":
            return _with_class(attributes, outputs), keel, start, number
        elif _is_row(line) and not line.lstrip().startswith(("@", "#")):
            raise DataError(
                f"Line {number:,} of {path} is {line[:40]!r} and stands before @data: rows come after it."
            )
    raise DataError(f"{path} declares columns and has no line @data, after which rows come.")


def _attribute(line: str, path: Path, number: int) -> Attribute:
    found = ATTRIBUTE.match(line)
    if found is None:
        raise DataError(
            f"Line {number:,} of {path} is {line[:60]!r}: it should be '@attribute name type', with quotes around names "
            "that have spaces."
        )
    name, kind = _unquoted(found[1]), found[2].strip()
    if kind.startswith("{"):
        inner = kind[1:].rpartition("}")[0] or kind[1:]
        return Attribute(name, "category", tuple(v for v in map(str, _split(inner)) if v))
    word = (re.split(r"[\s\[]", kind, maxsplit=1)[0]).lower()
    if word in NUMBERS:
        return Attribute(name, "number")
    if word == "date":
        return Attribute(name, "date")
    if word == "string":
        return Attribute(name, "string")
    raise DataError(
        f"Line {number:,} of {path} declares {name!r} to be {kind[:40]!r}: it should be numeric, {{categories}}, string or "
        "date."
    )


def _with_class(attributes: list[Attribute], outputs: list[str] | None) -> list[Attribute]:
    """The attributes, with the role of the class given to one of them."""
    named = outputs[:1] if outputs else [a.name for a in attributes if a.name.casefold() == "class"][:1]
    if not named and attributes and attributes[-1].categories:
        named = [attributes[-1].name]
    return [replace(a, role="class") if a.name in named else a for a in attributes]


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _split(text: str) -> list[str | None]:
    """Values between commas, quoted ones too; None for an unquoted question mark."""
    found: list[str | None] = []
    place = 0
    while True:
        match = QUOTED.match(text, place)
        if match is None or (match[3] or "").strip().startswith(("'", '"')):
            raise ValueError("a quote is not closed, or something follows one")
        quoted = match[1] if match[1] is not None else match[2]
        plain = (match[3] or "").strip()
        found.append(
            re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else None if plain == "?" else plain
        )
        place = match.end()
        if not match[4]:
            return found


def _fields(row: str, width: int, path: Path, number: int) -> list[str | None]:
    try:
        fields = _split(row.strip())
    except ValueError as error:
        raise DataError(f"Line {number:,} of {path} cannot be read: {error}.") from error
    # a weight in braces may follow the values
    if len(fields) == width + 1 and re.fullmatch(r"\{.*\}", fields[-1] or ""):
        fields = fields[:-1]
    if len(fields) != width:
        raise DataError(
            f"Line {number:,} of {path} has {len(fields):,} values, and {width:,} are declared: correct the line."
        )
    return fields


@dataclass(frozen=True)
class _SparseFile:
    """Sparse rows of numbers that stay sparse."""

    rows: Rows
    unlabeled: Rows

    def table(self, request: Request) -> Table:
        return (self.unlabeled if request.part else self.rows).table(replace(request, target=None))

    def parts(self, rows: int, request: Request) -> Iterator[Table]:
        yield self.table(request)


def _sparse(
    path: Path,
    name: str,
    attributes: list[Attribute],
    rows: list[tuple[int, str]],
    encoding: str,
    request: Request,
) -> "Declared | _SparseFile":
    """Rows ``{index value, ...}``: what is not written is 0, or the first category."""
    pairs = [_pairs(row, len(attributes), path, number) for number, row in rows]
    names = [a.name for a in attributes]
    wanted = None if request.target is None else str(request.target)
    place = next(
        (j for j, a in enumerate(attributes) if a.name == wanted or (wanted is None and a.role == "class")),
        None,
    )
    features = [j for j in range(len(attributes)) if j != place]
    numeric = all(attributes[j].type == "number" for j in features)
    if numeric and len(features) > SPARSE_WIDTH and (wanted is None or place is not None):
        return _matrix(path, name, attributes, pairs, place, encoding)
    check_width(len(attributes), path)
    if len(attributes) * len(rows) > MOST_CELLS:
        raise DataError(
            f"{path} has {len(rows):,} sparse rows of {len(attributes):,} columns with categories, too many to fill up",
            "take fewer rows or columns",
        )
    first = [a.categories[0] if a.categories else "0" if a.type == "number" else None for a in attributes]
    filled = [[own.get(j, value) for j, value in enumerate(first)] for own in pairs]
    return Declared(path, name, attributes, strings(names, filled), encoding, notes=("rows are sparse",))


def _pairs(row: str, width: int, path: Path, number: int) -> dict[int, str | None]:
    """The values of a sparse row by the number of their column."""
    inner = row.strip()[1:].rpartition("}")[0].strip()
    found: dict[int, str | None] = {}
    place = 0
    while place < len(inner):
        match = PAIR.match(inner, place)
        if match is None or int(match[1]) >= width or int(match[1]) in found:
            raise DataError(
                f"Line {number:,} of {path} is {row[:40]!r}: a sparse row is '{{index value, ...}}' with different indices "
                f"from 0 to {width - 1:,}."
            )
        found[int(match[1])] = None if match[2] == "?" else _unquoted(match[2])
        place = match.end()
    return found


def _matrix(
    path: Path,
    name: str,
    attributes: list[Attribute],
    pairs: list[dict[int, str | None]],
    place: int | None,
    encoding: str,
) -> _SparseFile:
    """A CSR matrix of the features, and labels."""
    width = len(attributes) - (place is not None)
    last = len(attributes) if place is None else place
    try:
        data = [
            float(v) if v is not None else np.nan
            for own in pairs
            for j, v in sorted(own.items())
            if j != place
        ]
    except ValueError as error:
        raise DataError(f"{path} has values that are no numbers in columns of numbers ({error}).") from error
    indices = [j - (j > last) for own in pairs for j in sorted(own) if j != place]
    indptr = np.concatenate([[0], np.cumsum([len(own) - (place in own) for own in pairs])])
    X = csr_matrix(
        (np.array(data), np.array(indices, dtype=np.int32), indptr.astype(np.int32)),
        shape=(len(pairs), width),
    )
    if not np.isfinite(X.data).all():
        raise DataError(f"{path} has missing or infinite values in sparse rows", "fill them in")
    details = {"encoding": encoding, "rows": "sparse"}
    unlabeled = Rows(path, name, X, shape=(width,), details=details)
    if place is None:
        return _SparseFile(unlabeled, unlabeled)
    own = attributes[place]
    first = own.categories[0] if own.categories else "0"
    labels = np.array([row.get(place, first) or "" for row in pairs], dtype=object)
    notes = [f"the class is {own.name!r}, as the file declares, unless another target is named"]
    return _SparseFile(replace(unlabeled, labels=labels, target=own.name, notes=notes), unlabeled)
