"""Does one column alone tell the class? Its value, or whether it has one."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import bdtrc

from nearline._arrays.design import Array, is_sparse
from nearline._records.words import many
from nearline.selection.checks._case import Case, Finding, together
from nearline.selection.checks._table import Column

NAME = "column-determines-target"
SURE = 0.99  # share of the errors of always guessing the largest class that the column takes away: a warning
STRONG = 0.95  # the same for a note; a note's column is merely very good
PURE = 0.90  # the same, among the rows that have (or lack) a value
FEWEST_ROWS = 20
SELDOM = 0.1  # values to a row, from which on a column has many
TRUSTED_ROWS = 50  # with fewer, a perfect column is a note
MOST_COLUMNS = 200  # looked at closely, of a wide array
LARGEST_COUNTS = 4_000_000  # cells of a table of values by classes


@dataclass(frozen=True)
class Evidence:
    """How well a column tells the class, and in what way."""

    gain: float  # share of errors taken away
    slack: float  # the same, if one error at each border between classes is forgiven
    text: str


def column_determines_target(case: Case) -> list[Finding]:
    """Columns from whose value, or missing value, the class follows (nearly) surely.

    A column is judged by leave-one-out: each sampled row is given the class that the other rows with its value, or
    with the three nearest numbers, have most. The share of errors that this takes away from always guessing the
    largest class makes a warning from 0.99 and a note from 0.95. A column that is missing for some rows is also a
    warning if its rows with (or without) a value are of one class but for a tenth of the errors expected.
    """
    targets = case.targets[case.sample]
    present, targets = np.unique(targets, return_inverse=True)
    if case.table.kind == "texts" or len(targets) < FEWEST_ROWS or len(present) < 2:
        return []
    classes = [case.classes[code] for code in present]
    first = np.unique(case.keys[0][case.sample], return_index=True)[1]
    columns = case.columns(_promising(case, targets))
    judged = [_judge(column, targets, classes, first) for column in columns]
    found = [one for one in judged if one is not None]
    return together([finding for _, finding in sorted(found, key=lambda one: -one[0])])  # the surest first


def _judge(
    column: Column, targets: Array, classes: list[object], first: Array
) -> tuple[float, Finding] | None:
    """How sure it is, and what it says."""
    share = _presence(column, targets, classes)
    if share is not None:
        remedy = "Leave the column out if it becomes known only after the class, or because of it."
        return 1.0, Finding.of_column(NAME, "warning", column, share, remedy, leave_out=True)
    if len(np.unique(column.values)) > SELDOM * len(targets):
        # Copies of a row would tell each other's class by any column that has many values.
        column, targets = replace(column, values=column.values[first]), targets[first]
    found = max(_evidence(column, targets, classes), key=lambda one: one.gain, default=None)
    if found is None or max(found.gain, found.slack) < STRONG:
        return None
    if max(found.gain, found.slack) >= SURE:
        sure = len(targets) >= TRUSTED_ROWS
        remedy = "Leave the column out, unless it will be known, and as reliable, when the class is not."
        severity = "warning" if sure else "note"
        return found.gain, Finding.of_column(NAME, severity, column, found.text, remedy, leave_out=True)
    if found.gain < STRONG:
        return None
    remedy = "Make sure that it is known before the class is; if so, it is just a good column."
    return found.gain, Finding.of_column(NAME, "note", column, found.text, remedy)


def _evidence(column: Column, targets: Array, classes: list[object]) -> list[Evidence]:
    """By equal values, by near numbers, and for a column of two values by each class against the rest."""
    codes = column.codes()
    base = len(targets) - int(np.bincount(targets).max())
    if len(targets) < FEWEST_ROWS or base == 0:
        return []
    n_values, n_classes = int(codes.max()) + 1, len(classes)
    found: list[Evidence] = []
    if n_values < 2:
        return found
    if n_values * n_classes <= LARGEST_COUNTS:
        counts = np.bincount(codes * n_classes + targets, minlength=n_values * n_classes)
        counts = counts.reshape(n_values, n_classes)
        found.append(_told(_errors_by_value(counts, codes, targets), base, 0, len(targets)))
        if (counts.sum(axis=1) > 0).sum() == 2 and n_classes > 2:
            found.append(_indicator(counts, classes))
    if column.kind == "number" and n_values > n_classes:
        errors = _errors_by_neighbors(column, targets)
        found.append(_told(errors, base, n_classes - 1, len(targets)))
    return found


def _told(errors: int, base: int, borders: int, n: int) -> Evidence:
    text = (
        f"The column alone gives the class of {1 - errors / n:.1%} of {n:,} rows; always guessing the largest "
        f"class gives {1 - base / n:.1%}."
    )
    return Evidence(1 - errors / base, 1 - max(0, errors - borders) / base, text)


def _errors_by_value(counts: Array, codes: Array, targets: Array) -> int:
    """Rows whose class is not the most frequent one among the other rows of the same value."""
    two = np.partition(counts, -2, axis=1)[:, -2:]
    own = counts[codes, targets]
    lead = counts.argmax(axis=1)[codes] == targets
    rival = np.where(lead, two[codes, 0], two[codes, 1])
    alone = counts.sum(axis=1)[codes] == 1  # nothing known of its value: the largest class is guessed
    right = np.where(alone, targets == counts.sum(axis=0).argmax(), own - 1 > rival)
    return int((~right).sum())


def _errors_by_neighbors(column: Column, targets: Array) -> int:
    """Rows whose class is not that of two of the three nearest numbers; those missing count by their majority."""
    missing = column.missing
    lost = targets[missing]
    errors = len(lost) - int(np.bincount(lost).max()) if len(lost) else 0
    kept = np.flatnonzero(~missing)
    if len(kept) < 4:
        return errors + len(kept)
    # Equal numbers are told by value; here chance orders them, lest the order of the rows speaks.
    kept = np.random.default_rng(0).permutation(kept)
    kept = kept[np.argsort(column.values[kept], kind="stable")]
    values, labels = column.values[kept], targets[kept]
    steps = np.array([-3, -2, -1, 1, 2, 3])
    places = np.arange(len(kept))[:, None] + steps
    inside = (places >= 0) & (places < len(kept))
    places = places.clip(0, len(kept) - 1)
    with np.errstate(all="ignore"):  # infinite values: their distances are not numbers
        distances = np.abs(values[places] - values[:, None])
    distances = np.where(inside, np.nan_to_num(distances, nan=0.0, posinf=1e308), np.inf)
    nearest = np.take_along_axis(places, np.argpartition(distances, 2, axis=1)[:, :3], axis=1)
    return errors + int(((labels[nearest] == labels[:, None]).sum(axis=1) < 2).sum())


def _indicator(counts: Array, classes: list[object]) -> Evidence:
    """A column of two values that is one class's flag among several classes."""
    counts = counts[counts.sum(axis=1) > 0]
    size = counts.sum(axis=0)
    inside = counts + counts.sum(axis=1, keepdims=True)[::-1] - counts[::-1]  # right, if value v stands for c
    errors = counts.sum() - inside
    gains = 1 - errors / np.minimum(size, counts.sum() - size)
    best = int(gains.max(axis=0).argmax())
    gain = float(gains.max())
    wrong = int(errors[:, best].min())
    text = f"Its two values tell class {classes[best]} from all others with {many(wrong, 'error')} in {counts.sum():,} rows."
    return Evidence(gain, gain, text)


def _presence(column: Column, targets: Array, classes: list[object]) -> str | None:
    """Whether rows that have a value, or that lack it, are nearly all of one class, beyond chance."""
    missing = column.missing
    base = np.bincount(targets, minlength=len(classes)) / len(targets)
    for rows, what in ((~missing, "has a value"), (missing, "is missing")):
        n = int(rows.sum())
        if n < FEWEST_ROWS or n == len(targets):
            continue
        counts = np.bincount(targets[rows], minlength=len(classes))
        top = int(counts.argmax())
        share = counts[top] / n
        chance = bdtrc(int(counts[top]) - 1, n, float(base[top]))  # that many or more of a binomial
        if 1 - share <= (1 - PURE) * (1 - base[top]) and chance < 1e-6:
            return (
                f"Where the column {what}, {share:.1%} of {n:,} rows are of class {classes[top]}; "
                f"of all rows, {base[top]:.1%}."
            )
    return None


def _promising(case: Case, targets: Array) -> list[int]:
    """All columns; of a wide array those whose means, or whose missing or zero cells, differ most by class."""
    table = case.table
    if table.kind == "frame" or table.n_columns <= MOST_COLUMNS:
        return list(range(table.n_columns))
    rows = table.data[case.sample]
    if table.kind == "sparse":
        rows = rows.astype(np.float64)
        absent = rows != 0
    else:
        rows = rows.astype(np.float64)
        absent = np.isnan(rows)
        rows = np.where(np.isfinite(rows), rows, 0.0)
    score = np.maximum(_between(rows, targets), _between(absent.astype(np.float64), targets))
    return sorted(np.argsort(-score, kind="stable")[:MOST_COLUMNS].tolist())


def _between(rows: Any, targets: Array) -> Array:
    """Share of each column's variance that lies between the classes."""
    sizes = np.bincount(targets)
    n = len(targets)
    flags = csr_matrix((np.ones(n), (targets, np.arange(n))))
    with np.errstate(all="ignore"):  # huge cells; a constant column's variance is zero
        sums = _dense(flags @ rows)
        squares = _dense(csr_matrix(np.ones((1, n))) @ _squared(rows)).ravel()
        middle = sums.sum(axis=0) ** 2 / n
        share = ((sums**2 / sizes[:, None]).sum(axis=0) - middle) / (squares - middle)
    return np.asarray(np.nan_to_num(share, nan=0.0, posinf=0.0, neginf=0.0))


def _squared(rows: Any) -> Any:
    return rows.multiply(rows) if is_sparse(rows) else rows**2


def _dense(rows: Any) -> Array:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows)
