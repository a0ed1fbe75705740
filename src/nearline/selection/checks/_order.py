"""The order of the rows: does it tell the class, or move a column?"""

import numpy as np
from scipy.special import chdtrc, ndtr
from scipy.stats import rankdata

from nearline._arrays.design import Array
from nearline._records.words import worded
from nearline.data.identifiers import of_numbers
from nearline.selection.checks._case import Case, Finding, together
from nearline.selection.checks._table import Column

NAME = "row-order"
LEVEL = 0.001  # of tables whose rows come in random order, the share that has a finding
STRONG = 0.1  # share of the variance of row numbers that the classes, or a column, must account for
FEWEST_ROWS = 50
MOST_COLUMNS = 100


def row_order(case: Case) -> list[Finding]:
    """Rows sorted by class and divided by number, row numbers that tell the class, or columns that drift from first to last.

    Classes by the Kruskal-Wallis test of row numbers, columns by Spearman's rank correlation with them, at a level of 0.001
    for all of them together: so many tables in random order have a finding. What is significant must also be large: a tenth
    of the variance. Columns are asked only where classes do not drift, as these would move them too. Not asked of rows in
    groups, which come one group after the other, nor where the split is by time, unless they are sorted by class. Sorted by
    class they say nothing where folds are drawn at random, so that there is no finding then.
    """
    rows = case.sample
    targets = case.targets[rows]
    present, targets = np.unique(targets, return_inverse=True)
    if len(rows) < FEWEST_ROWS or len(present) < 2 or case.groups is not None:
        return []
    by_time = case.split == "time"
    if int((np.diff(targets) != 0).sum()) == len(present) - 1:
        return [_sorted(len(rows), by_time)] if by_time or _in_runs(case) else []
    if by_time:
        return []
    share, p = _classes(targets)
    tests = 1 + min(case.table.n_columns, MOST_COLUMNS)
    if p <= LEVEL / tests and share >= STRONG:
        said = f"Row numbers tell the class: classes account for {share:.0%} of their variance (p = {p:.1g})."
        return [Finding(NAME, "note", "order of the rows", said, _remedy())]
    if case.table.kind not in ("array", "frame") or case.table.n_columns > MOST_COLUMNS:
        return []
    found = [_drift(column, LEVEL / tests) for column in case.columns(range(case.table.n_columns))]
    return together([one for one in found if one is not None])


def _sorted(n: int, by_time: bool) -> Finding:
    said = f"The {n:,} rows that were looked at are sorted by class."
    if by_time:
        remedy = "Sort them by time, the oldest first, or do not split by time: later classes cannot be learned before."
        return Finding(NAME, "warning", "order of the rows", said, remedy)
    said += (
        " The folds are runs of rows, so that some train without a class, or have none of its rows to score."
    )
    remedy = "Shuffle the folds, or give their number: then they are drawn at random."
    return Finding(NAME, "warning", "order of the rows", said, remedy)


def _in_runs(case: Case) -> bool:
    """Whether folds leave out several rows each, one after the other, as a division without shuffling does."""
    tests = [test for _, test in case.folds or ()]
    return bool(tests) and all(len(test) > 1 and np.ptp(test) == len(test) - 1 for test in tests)


def _classes(targets: Array) -> tuple[float, float]:
    """The share of the variance of row numbers that lies between classes, and the p value of Kruskal and Wallis."""
    n = len(targets)
    sizes = np.bincount(targets)
    means = np.bincount(targets, weights=np.arange(n)) / sizes
    between = float((sizes * (means - (n - 1) / 2) ** 2).sum())
    share = between / (n * (n * n - 1.0) / 12)
    return share, float(chdtrc(len(sizes) - 1, (n - 1) * share))


def _drift(column: Column, level: float) -> Finding | None:
    if column.kind != "number":
        return None
    present = np.flatnonzero(~column.missing)
    values = column.values[present]
    n = len(values)
    if n < FEWEST_ROWS or values.min() == values.max() or of_numbers(values) is not None:
        return None  # what numbers the rows is an identifier
    ranks = rankdata(values)
    r = float(np.corrcoef(ranks, np.arange(n))[0, 1])
    p = 2 * float(ndtr(-abs(r) * np.sqrt(n - 1)))
    if p > level or r * r < STRONG:
        return None
    way = "grows" if r > 0 else "falls"
    said = f"It {way} from the first row to the last (rank correlation {r:+.2f}, p = {p:.1g})."
    return Finding.of_column(NAME, "note", column, said, _remedy())


def _remedy() -> str:
    by_time = worded('split="time"', "--time")
    return (
        "If rows are in order of time, split by time "
        f"({by_time}); if they come from several sources, give these as groups "
        f"({worded('groups=', '--groups')})."
    )
