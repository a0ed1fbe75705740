"""Columns that say which row it is, or when: identifiers and time stamps."""

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import many, worded
from nearline.data.identifiers import (
    FEWEST_ROWS,
    LONGEST_WORD,
    ORDERED,
    UUIDS,
    WORDS,
    enough,
    of_numbers,
    of_words,
    plain_words,
)
from nearline.selection.checks._case import Case, Finding, together
from nearline.selection.checks._table import Column

IDENTIFIER, EMPTY, TIME, ORDER = "identifier", "empty-column", "time-stamp", "time-order"


def identifier(case: Case) -> list[Finding]:
    """Columns that number or name the rows: dense or ordered unique integers, unique strings without spaces.

    :mod:`nearline.data.identifiers` has the rule. A table's only column is no identifier.
    """
    if case.table.kind == "texts" or case.table.n_columns < 2:
        return []
    found = []
    for column in case.columns(_candidates(case)):
        present = ~column.missing
        if not enough(int(present.sum()), len(present)) or column.kind == "time":
            continue
        values = column.values[present]
        said = _integers(values) if column.kind == "number" else _strings(column, values)
        if said is not None:
            severity, message = said
            remedy = "Leave the column out; if it names what several rows have in common, give it as groups."
            found.append(Finding.of_column(IDENTIFIER, severity, column, message, remedy, leave_out=True))
    return together(found)


def empty_column(case: Case) -> list[Finding]:
    """Columns of a table without values, or with one value in every row: they tell no model anything."""
    if case.table.kind != "frame":  # an image has many, at its borders
        return []
    found = []
    for column in case.columns(range(case.table.n_columns)):
        known = column.values[~column.missing]
        if not len(known):
            message = (
                f"All values are missing in {many(len(column.values), 'training row')}: no model looks at it."
            )
        elif len(known) == len(column.values) > 1 and (known == known[0]).all():
            message = f"It has the same value in {many(len(column.values), 'training row')}: it tells no model anything."
        else:
            continue
        remedy = "Leave it out, or see whether it was read as it should be."
        found.append(Finding.of_column(EMPTY, "note", column, message, remedy, leave_out=True))
    return together(found)


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
        by_time = worded('split="time"', f"--time {column.name}")
        remedy = f"If it is to be used on later rows, split by time: {by_time}."
        found.append(Finding.of_column(TIME, "note", column, message, remedy))
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
        Finding.of_column(
            ORDER,
            severity,
            column,
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
    how = of_numbers(values)
    if how is None:
        return None
    low, high = float(values.min()), float(values.max())
    if how == ORDERED:
        return "warning", f"Integers from {low:.0f} to {high:.0f}, each once, in the order of the rows."
    distinct = len(np.unique(values))
    return (
        "warning",
        f"{distinct:,} different integers in {len(values):,} rows, from {low:.0f} to {high:.0f}.",
    )


def _strings(column: Column, codes: Array) -> tuple[str, str] | None:
    levels = [level for level in column.levels if isinstance(level, (str, bytes))]
    if len(levels) < len(column.levels) or not levels:
        return None
    how = of_words(levels, len(codes))
    if how is None:
        return None
    shown = f"for example {plain_words(levels)[0][:LONGEST_WORD]}"
    if how == UUIDS:
        return "warning", f"UUIDs, {len(levels):,} different ones in {len(codes):,} rows, {shown}."
    text = f"{len(levels):,} different words in {len(codes):,} rows, {shown}."
    return ("note" if how == WORDS else "warning"), text


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
