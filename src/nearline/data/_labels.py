"""Labels: which column they are, which are missing, how they are written, and how they match known classes."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import did_you_mean, many
from nearline.data._header import MARKERS
from nearline.data.base import DataError

UNLABELED = tuple(marker for marker in MARKERS if marker != "None")  # "None" is a class in many a file
WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)")
REAL = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d+)?")
SPELLINGS = (  # how a label of one file may differ from the same label in another
    ("a trailing dot", lambda text: text.rstrip(".")),
    ("quotes", lambda text: text.strip("'\"")),
    ("quotes and a dot", lambda text: text.rstrip(".").strip("'\"")),
    ("capitals", str.casefold),
)


def listed(names: Sequence[Any], most: int = 12) -> str:
    """Some names for a sentence."""
    shown = ", ".join(map(repr, names[:most]))
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def place_of(target: str | int, names: Sequence[str], path: Path) -> int:
    """Where the target is: by name, 'first', 'last', or a number counted from 1 (-1 is the last)."""
    if target in names:
        return list(names).index(str(target))
    places = {"first": 1, "last": len(names)}
    text = str(target).strip()
    number = places.get(text, int(text) if re.fullmatch(r"[+-]?\d{1,9}", text) else 0)
    if number and abs(number) <= len(names):
        return number - 1 if number > 0 else len(names) + number
    raise DataError(
        f"{path} has no column {target!r}.{did_you_mean(text, names)} It has {many(len(names), 'column')}: {listed(names)}.",
        columns=[text],
    )


def as_labels(values: Sequence[str]) -> Array:
    """Labels as whole numbers or numbers where all are written so, else as strings ('01' stays a string)."""
    distinct = set(values)
    if distinct and all(WHOLE.fullmatch(v) and len(v) < 18 for v in distinct):
        return np.array([int(v) for v in values], dtype=np.int64)
    if distinct and all(REAL.fullmatch(v) and re.search(r"\d", v) for v in distinct):
        numbers = np.array([float(v) for v in values])
        return numbers if np.isfinite(numbers).all() else np.array(values, dtype=str)
    return np.array(values, dtype=str) if distinct else np.empty(0, dtype=str)


def numbers_as_labels(values: Array) -> Array:
    """Whole numbers as integers."""
    whole = bool(np.all(values == np.round(values))) and bool(np.all(np.abs(values) < 2**53))
    return values.astype(np.int64) if whole and values.dtype.kind == "f" else values


def matched(y: Array, classes: Sequence[Any] | None, path: Path) -> tuple[Array, list[str]]:
    """Labels as the known classes are written, and a note of what was changed; a label without a class is refused."""
    if classes is None or not len(y):
        return y, []
    found = np.unique(y).tolist()
    known = {_plain(c): c for c in (np.asarray(classes).tolist())}
    if all(_plain(label) in known for label in found):
        return np.array([known[_plain(label)] for label in y.tolist()]), []
    for what, spelled in SPELLINGS:
        plain = {spelled(text): c for text, c in known.items()}
        names = [spelled(_plain(label)) for label in found]
        if len(plain) == len(known) and all(name in plain for name in names):
            changed = {label: plain[name] for label, name in zip(found, names)}
            pairs = [f"{a!r} is read as {b!r}" for a, b in changed.items() if _plain(a) != _plain(b)]
            note = f"labels differ from the known classes in {what}: {', '.join(pairs[:4])}"
            return np.array([changed[label] for label in y.tolist()]), [note]
    strange = [label for label in found if _plain(label) not in known]
    raise DataError(
        f"{path} has labels that are none of the known classes: {listed(strange, 5)}; known are "
        f"{listed(list(known.values()), 5)}. Leave these rows out, or correct the labels."
    )


def _plain(label: Any) -> str:
    """A label as text in which 1, 1.0 and '+1' are the same."""
    text = str(label).strip()
    return str(int(float(text))) if re.fullmatch(r"[+-]?\d{1,15}(\.0*)?", text) and not _coded(text) else text


def _coded(text: str) -> bool:
    return len(text) > 1 and text[0] == "0" and text[1] != "."


def counted(y: Array) -> dict[Any, int]:
    """Rows of each class, classes in order."""
    values, counts = np.unique(y, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist()))


def oddities(y: Array) -> list[str]:
    """What looks wrong about labels; nothing is changed."""
    names = [str(label) for label in np.unique(y).tolist()] if y.dtype.kind == "U" else []
    notes = []
    if names and all(name.endswith(".") for name in names):
        notes.append(f"all labels end with a dot ({listed(names, 2)}), which was kept")
    if names and all(len(name) > 1 and name[0] == name[-1] == "'" for name in names):
        notes.append(f"all labels stand in apostrophes ({names[0]}), which were kept")
    plain = Counter(name.strip("'\" .").casefold() for name in names)
    twins = [name for name in names if plain[name.strip("'\" .").casefold()] > 1]
    if twins:
        notes.append(f"classes that differ only in dots, quotes or capitals: {listed(twins, 4)}")
    distinct = len(np.unique(y))
    if y.dtype.kind == "f" and distinct > 20 and distinct > 0.1 * len(y):
        notes.append(f"{distinct:,} distinct numbers as labels: these look like a quantity, not like classes")
    elif distinct > 50 and distinct > 0.5 * len(y):
        notes.append(f"{distinct:,} classes in {len(y):,} rows: this may not be the column of labels")
    return notes


def brought(labels: Any, rows: int, path: Path) -> tuple[Array, Array, str | None]:
    """Labels from a file or an array, which rows have one, and the file's name."""
    from nearline.data._idx import idx_array, is_idx
    from nearline.data._numpy import loaded
    from nearline.data._text import text_of

    name = str(labels) if isinstance(labels, (str, Path)) else None
    if name is None:
        values: Array = np.asarray(labels)
    elif Path(name).suffix == ".npy":
        values = loaded(Path(name))
    elif is_idx(Path(name)):
        values = idx_array(Path(name))
    else:
        lines = text_of(Path(name))[0].split("\n")
        values = np.array(
            [line.strip().strip('"') for line in (lines[:-1] if not lines[-1] else lines)], dtype=str
        )
    if values.dtype.kind == "S":  # bytes, as text
        values = np.char.decode(values, "utf-8", "replace")
    if values.ndim > 1:
        raise DataError(
            f"{name or 'labels'} has shape {values.shape}", f"give one label for each row, shape ({rows},)"
        )
    if values.ndim != 1 or len(values) != rows:
        raise DataError(
            f"{name or 'labels'} has {many(len(values) if values.ndim else 0, 'label')} and {path} has {many(rows, 'row')}",
            "give one label for each row, in the same order",
        )
    return *present(values), name


def present(values: Array) -> tuple[Array, Array]:
    """Labels of the rows that have one, and which rows these are."""
    if values.dtype.kind in "biu":
        return values, np.ones(len(values), dtype=bool)
    if values.dtype.kind == "f":
        kept = np.isfinite(values)
        return numbers_as_labels(values[kept]), kept
    first: dict[str, int] = {}
    written = ("" if v is None else str(v) for v in values.tolist())
    numbers = np.array([first.setdefault(text, len(first)) for text in written], dtype=np.intp)
    texts = np.array([text.strip() for text in first], dtype=object)
    labeled = np.array([text not in UNLABELED for text in texts], dtype=bool)
    kept = labeled[numbers]
    place = np.cumsum(labeled) - 1
    return as_labels(texts[labeled].tolist())[place[numbers[kept]]], kept
