"""Equal rows on both sides of a split: copies, or values that simply repeat?"""

from dataclasses import dataclass, replace

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import worded
from nearline.selection.checks._case import Case, Concerned, Finding
from nearline.selection.checks._keys import joint_keys
from nearline.selection.checks._table import CheckedTable

HARMLESS = 0.01  # share of test rows that may have a twin in training
FEWEST_TWINS = 3
FEWEST_OTHERS = 20
DENSER = 0.8
INDEPENDENT = 5.0  # times the pairs of twins that independent columns would have
WIDE = 256
FEW_VALUES = 0.1  # different rows to a row
SAME_CLASS = 0.90  # twins that agree less than this on their class are no copies
ACROSS, BROUGHT = "rows-in-train-and-test", "test-rows-in-training"


@dataclass(frozen=True)
class Twins:
    """Rows that are left out at some time while an equal row is trained on."""

    rows: Array  # their numbers
    n_tested: int
    agree: float  # share of them whose class is that of most of their twins
    by_chance: bool = False  # such values repeat anyway

    @property
    def share(self) -> float:
        """Of the rows tested."""
        return len(self.rows) / max(1, self.n_tested)

    @property
    def severity(self) -> str:
        """A warning if they are many, agree on the class and are not the repeats to be expected."""
        many = self.share > HARMLESS and len(self.rows) >= FEWEST_TWINS
        return "warning" if many and self.agree >= SAME_CLASS and not self.by_chance else "note"

    def message(self, where: str) -> str:
        """What was found."""
        text = f"{len(self.rows):,} of {self.n_tested:,} {where} ({self.share:.1%})"
        if self.agree < SAME_CLASS:
            return f"{text}, but the classes of {1 - self.agree:.0%} of them differ: values that repeat, not copies."
        if self.by_chance:
            return f"{text}, as is to be expected of a table whose rows are so much alike."
        return f"{text}; {self.agree:.0%} of them are of the same class."


def rows_in_train_and_test(case: Case) -> list[Finding]:
    """Equal rows, or texts, that the folds, or any random split, put on both sides.

    It is a warning if more than 1% of the rows (and three at least) have such a twin, nine in ten of them of the
    same class, and the twins are not there by chance. They are chance if only a tenth of the rows are different
    ones, or if there are at most five times as many pairs as independent columns would have. They are chance as
    well if they lie where the table is dense, while copies are spread over all rows: if rows with a twin lack a near
    twin (a different row, equal in half to four fifths of the columns, drawn at random) at most 0.8 times as often
    as other rows do. A test part that was drawn from the same rows counts as a fold.
    """
    drawn = [] if case.own_test else _in_test(case, ACROSS)
    found = [*drawn, *_in_folds(case)]  # the same rows' doing, so one finding is enough
    return sorted(found, key=lambda finding: finding.severity != "warning")[:1]


def own_test_rows_in_training(case: Case) -> list[Finding]:
    """Rows of the test part that was brought which are training rows as well; judged as rows-in-train-and-test."""
    return _in_test(case, BROUGHT) if case.own_test else []


def _in_folds(case: Case) -> list[Finding]:
    if case.table.n_columns == 0 or case.table.n_rows < 2:
        return []
    keys = case.keys[0]
    rows, n_tested = _crossing(case, keys)
    if len(rows) == 0:
        return []
    agree = _agreement(keys, case.targets, keys[rows], case.targets[rows], own=1)
    twins = _judged(Twins(rows, n_tested, agree), [case.table], rows)
    remedy = (
        f"Keep one of each, or give equal rows the same group ({worded('groups=', '--groups')}) and split by group."
        if twins.severity == "warning"
        else "Nothing needs to be done; to be strict, keep one of each."
    )
    where = "rows are tested while an equal row is trained on" if case.folds else "rows equal another row"
    return [
        Finding.of_rows(
            ACROSS, twins.severity, _concerned("rows", rows, case.rows), twins.message(where), remedy
        )
    ]


def _in_test(case: Case, name: str) -> list[Finding]:
    if case.test is None or case.test.n_columns != case.table.n_columns or case.table.n_columns == 0:
        return []
    tables = [case.table, case.test.ordered_as(case.table)]
    train, test = case.keys
    assert test is not None
    rows = np.flatnonzero(np.isin(test, train))
    if len(rows) == 0:
        return []
    agree = 1.0
    if case.test_targets is not None:
        agree = _agreement(train, case.targets, test[rows], case.test_targets[rows], own=0)
    twins = _judged(Twins(rows, len(test), agree), tables, case.table.n_rows + rows)
    remedy = (
        _test_remedy(case.own_test)
        if twins.severity == "warning"
        else "Nothing needs to be done; to be strict, take them out of the training part."
    )
    message = twins.message("test rows are training rows as well")
    concerned = _concerned("test rows", rows, case.test_rows)
    return [Finding.of_rows(name, twins.severity, concerned, message, remedy)]


def _test_remedy(own_test: bool) -> str:
    if own_test:
        return "Take these rows out of the training part; the test part stays as it is."
    given = f"give equal rows the same group ({worded('groups=', '--groups')})"
    return f"Keep one of each before the split, or {given} and split by group."


def _concerned(what: str, rows: Array, numbers: Array | None) -> Concerned:
    return Concerned(what, tuple((rows if numbers is None else np.asarray(numbers)[rows]).tolist()))


def _judged(twins: Twins, tables: list[CheckedTable], places: Array) -> Twins:
    """With the costly question of chance answered, if the answer matters."""
    return replace(twins, by_chance=_by_chance(tables, places)) if twins.severity == "warning" else twins


def _crossing(case: Case, keys: Array) -> tuple[Array, int]:
    """Rows with a twin on the other side, and how many rows are tested at all."""
    if case.folds is not None:
        met, tested = np.zeros((2, len(keys)), dtype=bool)
        twice = _occur_twice(keys)  # in most tables few do
        for train, left_out in case.folds:
            tested[left_out] = True
            asked, known = left_out[twice[left_out]], train[twice[train]]
            met[asked[np.isin(keys[asked], keys[known])]] = True
        return np.flatnonzero(met), int(tested.sum())
    _, codes, counts = np.unique(keys, return_inverse=True, return_counts=True)
    others = counts[codes] - 1
    if case.groups is not None and "group" in case.split:
        groups = case.groups[: len(keys)]
        cells = codes * (int(groups.max()) + 1) + groups
        _, pairs, sizes = np.unique(cells, return_inverse=True, return_counts=True)
        others = counts[codes] - sizes[pairs]  # those of the same group never cross
    return np.flatnonzero(others > 0), len(keys)


def _occur_twice(keys: Array) -> Array:
    """Of which rows the key is that of another row too."""
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    found = np.zeros(len(keys), dtype=bool)
    found[order[1:][same]] = found[order[:-1][same]] = True
    return found


def _agreement(keys: Array, targets: Array, asked: Array, labels: Array, *, own: int) -> float:
    """Share of asked rows whose label is among the most frequent of their twins, not counting own rows."""
    twins = np.isin(keys, asked) & (targets >= 0)
    distinct, codes = np.unique(keys[twins], return_inverse=True)
    known = (labels >= 0) & np.isin(asked, distinct)
    if not known.any():
        return 1.0
    pairs, counts = np.unique(np.column_stack([codes, targets[twins]]), axis=0, return_counts=True)
    width = int(max(pairs[:, 1].max(), labels.max())) + 1
    cells = pairs[:, 0] * width + pairs[:, 1]
    places = np.searchsorted(distinct, asked[known])
    wanted = places * width + labels[known]
    at = np.searchsorted(cells, wanted).clip(0, len(cells) - 1)
    mine = np.where(cells[at] == wanted, counts[at], 0) - own
    total = np.bincount(codes)[places] - own
    # Half of the other twins, rather than the largest class of them: three classes in a tie are no agreement.
    return float((2 * mine >= np.maximum(total, 1)).mean())


def _by_chance(tables: list[CheckedTable], twins: Array) -> bool:
    """Whether the rows with a twin, by their places in all tables, are no more than values that repeat."""
    if tables[0].kind == "texts":
        return False
    if tables[0].n_columns == 1:
        return True  # one column of numbers or names: its values repeat by nature
    keys = joint_keys(tables, whole=True)
    distinct, first, times = np.unique(keys, return_index=True, return_counts=True)
    pairs = float((times * (times - 1.0)).sum()) / 2
    if len(distinct) <= FEW_VALUES * len(keys) or pairs <= INDEPENDENT * _expected_pairs(
        tables[0], len(keys)
    ):
        return True
    repeated = np.isin(distinct, keys[twins])
    lack = _lack_of_near_twins(tables, first)
    mine = float(np.average(lack[repeated], weights=times[repeated]))
    if (~repeated).sum() >= FEWEST_OTHERS:
        return mine <= max(0.01, DENSER * lack[~repeated].mean())
    # Nearly all rows repeat. Chance makes them repeat unequally often, a table that was doubled does not.
    return mine <= 1 - DENSER and times[repeated].var() >= 0.5 * times[repeated].mean()


def _lack_of_near_twins(tables: list[CheckedTable], places: Array) -> Array:
    """For different rows, in what share of draws of columns no other of them is equal in these columns."""
    width = tables[0].n_columns
    rng = np.random.default_rng(0)
    left_out = (1 / 5, 1 / 3, 1 / 2) * (2 if width <= WIDE else 1)
    lack = np.zeros(len(places))
    for share in left_out:
        keep = np.ones(width, dtype=bool)
        keep[rng.choice(width, round(width * share) or 1, replace=False)] = False
        keys = joint_keys(tables, keep, whole=True)[places]
        _, codes, counts = np.unique(keys, return_inverse=True, return_counts=True)
        lack += (counts[codes] == 1) / len(left_out)
    return lack


def _expected_pairs(table: CheckedTable, n: int) -> float:
    """Pairs of equal rows among n if columns were independent, from each column's repeats in some rows."""
    if table.n_columns > WIDE:
        return 0.0
    rows = np.random.default_rng(0).permutation(table.n_rows)[:2_000]
    m = len(rows)
    expected = n * (n - 1.0) / 2
    for j in range(table.n_columns):
        counts = np.bincount(table.column(j, rows).codes())
        expected *= float((counts * (counts - 1.0)).sum()) / max(1, m * (m - 1))
    return expected
