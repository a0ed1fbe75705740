"""Files of Orange: a table whose header also says the types and roles of its columns."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from nearline._records.words import many
from nearline.data._declared import Attribute, Declared, check_names
from nearline.data._dialect import Dialect, long_fields, records
from nearline.data._header import DASHES, MARKERS
from nearline.data._parse import parsed, record_lines
from nearline.data._text import sample_of, text_of
from nearline.data.base import DataError, Format, Request, Table
from nearline.data.delimited import check_width

TYPES = {
    **dict.fromkeys(("c", "continuous", "n", "numeric"), "number"),
    **dict.fromkeys(("d", "discrete", "categorical"), "category"),
    **dict.fromkeys(("s", "string", "text"), "string"),
    **dict.fromkeys(("t", "time"), "date"),
}
ROLES = {
    **dict.fromkeys(("class", "c"), "class"),
    **dict.fromkeys(("meta", "m", "ignore", "i", "weight", "w"), "meta"),
}
PREFIXED = re.compile(r"([miwcMIWC]?)([CDSTNcdstn]?)#(.+)")
MISSING = (*MARKERS, *DASHES, "~")


@dataclass(frozen=True)
class OrangeTab(Format):
    """Three lines of names, types and flags, or one line of names with prefixes such as ``cD#`` (class, discrete)."""

    name = "Orange"
    extensions = (".tab", ".tsv", ".csv", ".basket")

    def matches(self, path: Path) -> bool:
        return _declarations(sample_of(path)[0]) is not None

    def read(self, path: Path, request: Request) -> Table:
        return self._file(path, request).table(request)

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        yield from self._file(path, request).parts(rows, request)

    def _file(self, path: Path, request: Request) -> Declared:
        text, encoding = text_of(path, request.encoding)
        found = _declarations(text[: text.find("\n", 1 << 22) + 1] if len(text) > 1 << 22 else text)
        if found is None:
            raise DataError(
                f"{path} does not begin as Orange's files do, with names, types and flags, or names with prefixes as in "
                "cD#name."
            )
        attributes, lead, delimiter = found
        check_width(len(attributes), path)
        check_names(attributes, path)
        quote = '"' if '"' in text else None
        names = tuple(a.name for a in attributes)
        dialect = Dialect(delimiter, quote, skipped=lead - 1, header=True, names=names)
        part = parsed(text, dialect)
        if not part.rows:
            raise DataError(f"{path} has a header and no rows.")
        notes = []
        if part.ragged:
            first = next(iter(part.ragged)) + 1
            notes.append(
                f"{many(len(part.ragged), 'row')} with other than {many(len(names), 'field')} (first: row {first:,})"
            )
        lines = tuple(islice(record_lines(io.StringIO(text), dialect), lead, None))
        return Declared(path, self.name, attributes, part.frame(), encoding, MISSING, tuple(notes), lines)

    def lines(self, path: Path, request: Request) -> Iterator[int]:
        return iter(self._file(path, request).lines)


def _declarations(text: str) -> tuple[list[Attribute], int, str] | None:
    """The columns, the number of lines that declare them, and the delimiter; None for another file."""
    lines = [line for line in text.split("\n", 20)[:20] if line.strip()][:3]
    delimiter = "\t" if lines and "\t" in lines[0] else ","
    with long_fields():
        rows = list(records((line + "\n" for line in lines), Dialect(delimiter)))
    rows = [[cell.strip() for cell in row] for row in rows]
    if not rows:
        return None
    if (found := _prefixed(rows[0])) is not None:
        return found, 1, delimiter
    if delimiter == "\t" and len(rows) == 3 and (found := _lines(*rows)) is not None:
        return found, 3, delimiter
    return None


def _prefixed(names: list[str]) -> list[Attribute] | None:
    """Columns by the prefixes of their names: a role in small letters, then a type in capitals."""
    cut = [PREFIXED.fullmatch(name) for name in names]
    if not any(match and (match[1] or match[2]) for match in cut):
        return None
    made = []
    for name, match in zip(names, cut):
        role, kind = (match[1].lower(), match[2].lower()) if match else ("", "")
        if match and not match[2] and match[1] in ("C",):  # a type alone
            role, kind = "", "c"
        made.append(
            Attribute(match[3] if match else name, TYPES.get(kind, ""), role=ROLES.get(role, "feature"))
        )
    return made


def _lines(names: list[str], types: list[str], flags: list[str]) -> list[Attribute] | None:
    """Columns by lines of types and flags."""
    types += [""] * (len(names) - len(types))
    flags += [""] * (len(names) - len(flags))
    known = [kind.lower() in TYPES or kind.lower() in ("", "basket") for kind in types]
    told = [all(f.lower() in ROLES or "=" in f for f in flag.split()) for flag in flags]
    values = [not ok and len(kind.split()) > 1 for ok, kind in zip(known, types)]
    if not all(told) or not all(a or b for a, b in zip(known, values)) or not any(t for t in types):
        return None
    return [_attribute(*one) for one in zip(names, types, flags)]


def _attribute(name: str, kind: str, flag: str) -> Attribute:
    role = next((ROLES[f.lower()] for f in flag.split() if f.lower() in ROLES), "feature")
    if not kind or kind.lower() in TYPES:
        return Attribute(name, TYPES.get(kind.lower(), ""), role=role)
    # all values, with a backslash before a space that belongs to one
    return Attribute(
        name, "category", tuple(v.replace("\\ ", " ") for v in re.split(r"(?<!\\)\s+", kind)), role
    )
