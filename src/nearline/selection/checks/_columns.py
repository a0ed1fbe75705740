"""Columns that say which row it is, or when: identifiers and time stamps."""

import re

import numpy as np

from nearline.arrays import Array
from nearline.selection.checks._case import Case, Finding
from nearline.selection.checks._table import Column

IDENTIFIER, TIME, ORDER = "identifier", "time-stamp", "time-order"
FEWEST_ROWS = 20
COLLISIONS = 10  # repeats to be expected of integers drawn at random, for each one seen
LONGEST_WORD = 40  # longer strings without digits are sequences (of amino acids, say)
UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


def identifier(case: Case) -> list[Finding]:
    """Columns that number or name the rows: dense or ordered unique integers, unique strings without spaces.

    Integers are unique by design, not by chance, if as many drawn at random from their range would repeat ten
    times as often. Text with spaces, fractions and a table's only column are no identifiers.
    """
    if case.table.kind == "texts" or case.table.n_columns < 2:
        return []
    found = []
    for column in case.columns(_candidates(case)):
        present = ~column.missing
        if present.sum() < max(FEWEST_ROWS, 0.5 * len(present)) or column.kind == "time":
            continue
        values = column.values[present]
        said = _integers(values) if column.kind == "number" else _strings(column, values)
        if said is not None:
            severity, message = said
            remedy = "Leave the column out; if it names what several rows have in common, give it as groups."
            found.append(Finding(IDENTIFIER, severity, column.name, message, remedy))
    return found


def time_stamp(case: Case) -> list[Finding]:
    """Columns of dates or times (dates by type, or text as 2024-01-31) while the split is not by time."""
    if case.split == "time" or case.table.kind != "frame":
        return []
    found = []
    for column in case.columns(range(case.table.n_columns)):
        if column.kind != "time" or not column.levels:
            continue
        first, last = min(column.levels, key=str), max(column.levels, key=str)
        message = (
            f"Times from {_shown(first)} to {_shown(last)}, while rows are split regardless of time: "
            "a model that is to predict later rows is tested on earlier ones."
        )
        remedy = 'If it is to be used on later rows, split by time: split="time".'
        found.append(Finding(TIME, "note", column.name, message, remedy))
    return found


def time_order(case: Case) -> list[Finding]:
    """Columns of dates or times that are not in order while the split is by time, which takes rows as they come.

    One column in order is enough: others may be other times (of birth, say).
    """
    if case.split != "time" or case.table.kind != "frame":
        return []
    columns = [one for one in case.columns(range(case.table.n_columns)) if one.kind == "time" and one.levels]
    unordered = [(one, _inversions(one)) for one in columns]
    if not unordered or any(share == 0 for _, share in unordered):
        return []
    severity = "warning" if len(unordered) == 1 else "note"
    return [
        Finding(
            ORDER,
            severity,
            column.name,
            f"Rows are split by time in the order they come in, but {share:.0%} of them are earlier by this column than the "
            "row before: earlier rows are predicted from later ones.",
            "Sort the rows by time, the oldest first; if they are in order of another time, all is well.",
        )
        for column, share in unordered
    ]


def _inversions(column: Column) -> float:
    """Share of steps from row to row that go back in time."""
    rank = np.argsort(np.argsort([str(level) for level in column.levels], kind="stable"), kind="stable")
    steps = np.diff(rank[column.values[~column.missing]])
    return float((steps < 0).mean()) if len(steps) else 0.0


def _integers(values: Array) -> tuple[str, str] | None:
    if not np.isfinite(values).all() or (values != np.floor(values)).any():
        return None
    n, distinct = len(values), len(np.unique(values))
    low, high = float(values.min()), float(values.max())
    expected = n * n / 2 / (high - low + 1)
    steps = np.diff(values)
    if distinct == n and ((steps > 0).all() or (steps < 0).all()):
        return "warning", f"Integers from {low:.0f} to {high:.0f}, each once, in the order of the rows."
    if distinct >= 0.99 * n and expected >= COLLISIONS * (1 + n - distinct):
        return "warning", f"{distinct:,} different integers in {n:,} rows, from {low:.0f} to {high:.0f}."
    return None


def _strings(column: Column, codes: Array) -> tuple[str, str] | None:
    levels = [level for level in column.levels if isinstance(level, (str, bytes))]
    if len(np.unique(codes)) < 0.99 * len(codes) or len(levels) < len(column.levels):
        return None
    words = [level.decode(errors="replace") if isinstance(level, bytes) else level for level in levels]
    words = [word.strip() for word in words[:1000]]
    if sum(len(word.split()) == 1 for word in words) < 0.95 * len(words):
        return None
    shown = f"for example {words[0][:LONGEST_WORD]}"
    if all(UUID.fullmatch(word) for word in words):
        return "warning", f"UUIDs, {len(levels):,} different ones in {len(codes):,} rows, {shown}."
    text = f"{len(levels):,} different words in {len(codes):,} rows, {shown}."
    if sum(any(sign.isdigit() for sign in word) for word in words) >= 0.9 * len(words):
        return "warning", text
    return ("note", text) if max(map(len, words)) <= LONGEST_WORD else None


def _candidates(case: Case) -> list[int]:
    """Columns that may be unique: all of a frame; of numbers those that a glance at some rows does not rule out."""
    table, some = case.table, case.sample[:64]
    places = np.arange(table.n_columns)
    if table.kind == "frame" or len(some) < FEWEST_ROWS:
        return list(places)
    if table.kind == "sparse":
        places = np.flatnonzero(np.bincount(table.data.indices, minlength=len(places)) >= 0.5 * table.n_rows)
        rows = table.data[some][:, places].toarray()
    else:
        rows = table.data[some]
    rows = np.sort(rows.astype(np.float64), axis=0)
    whole = np.isnan(rows) | (rows == np.floor(rows))
    repeats = (rows[1:] == rows[:-1]).sum(axis=0)
    return list(places[whole.all(axis=0) & (repeats <= 2)])


def _shown(time: object) -> str:
    return str(time)[:16]
