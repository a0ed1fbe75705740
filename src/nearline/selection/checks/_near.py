"""Nearly equal rows on both sides of a split: equal but for one column, or within rounding."""

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import worded
from nearline.selection.checks._case import Case, Concerned, Finding
from nearline.selection.checks._keys import row_hashes

NAME = "near-duplicates"
MANY = 0.5  # different values to a row, from which on a column tells rows apart
TELLING = 3  # columns that do, so that two rows with the same values in all but one of them are no accident
MOST_COLUMNS = 48
MOST_CELLS = 1_000_000
HARMLESS, FEWEST_TWINS, SAME_CLASS = 0.01, 3, 0.90  # as for equal rows
DIGITS = 4  # significant ones, that rows within rounding share


def near_duplicates(case: Case) -> list[Finding]:
    """Rows that equal another but for one column, or to four digits, and are not equal: a warning if they are more than 1%.

    Asked of tables with three columns at least that tell rows apart (a different value to every second row), so that rows
    with the same values in all other columns are no accident; nine in ten of the rows must be of the class of their twin.
    Not asked where rows that belong together have the same group.
    """
    table = case.table
    if table.kind not in ("array", "frame") or case.groups is not None:
        return []
    if not TELLING <= table.n_columns <= MOST_COLUMNS or table.n_rows < FEWEST_TWINS:
        return []
    rows = np.arange(table.n_rows)
    most = MOST_CELLS // table.n_columns
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:most])
    exact = row_hashes(table, rows)
    distinct = np.array([len(np.unique(column)) for column in exact])
    if (distinct >= MANY * len(rows)).sum() < TELLING:
        return []
    whole = exact.sum(axis=0)
    targets = case.targets[rows]
    near, right = np.zeros((2, len(rows)), dtype=bool)
    how = ""
    rounded = row_hashes(table, rows, DIGITS).sum(axis=0)
    keys = [(rounded, "to four digits"), *((whole - one, "but for one column") for one in exact)]
    for key, words in keys:
        met, agree = _twins(key, whole, targets)
        how = how or (words if met.any() else "")
        near, right = near | met, right | agree
    share = near.mean()
    if near.sum() < FEWEST_TWINS or share <= HARMLESS or right[near].mean() < SAME_CLASS:
        return []
    numbers = rows[near] if case.rows is None else np.asarray(case.rows)[rows[near]]
    said = (
        f"{near.sum():,} of {len(rows):,} rows ({share:.1%}) equal another row {how}; {right[near].mean():.0%} of them "
        "are of the same class."
    )
    remedy = f"Keep one of each, or give such rows the same group ({worded('groups=', '--groups')}) and split by group."
    return [Finding.of_rows(NAME, "warning", Concerned("rows", tuple(numbers.tolist())), said, remedy)]


def _twins(keys: Array, whole: Array, targets: Array) -> tuple[Array, Array]:
    """Rows whose key another, not wholly equal, row has; and those of them next to one of their own class."""
    order = np.lexsort((whole, keys))
    k, w, t = keys[order], whole[order], targets[order]
    pair = (k[1:] == k[:-1]) & (w[1:] != w[:-1])
    same = pair & (t[1:] == t[:-1])
    met, agree = np.zeros((2, len(keys)), dtype=bool)
    for found, flags in ((met, pair), (agree, same)):
        found[order[1:][flags]] = found[order[:-1][flags]] = True
    return met, agree
