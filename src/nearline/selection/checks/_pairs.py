"""Two columns whose difference, sum, ratio or product is the label."""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.stopping import checkpoint
from nearline.selection.checks._case import Case, Columns, Finding
from nearline.selection.checks._table import Column
from nearline.selection.checks._target import column_determines_target

NAME = "pair-determines-target"
MOST_COLUMNS = 48  # numbers of a wider table are drawn
MOST_ROWS = 1_000
FIRST_ROWS = 200  # that rule out most pairs
FEWEST_ROWS = 60
FEWEST_OF_CLASS = 10
FEW_VALUES = 12
NO_MARGIN = 8.0  # mean spacings between the classes, from which on they are apart rather than cut
FOUND = 3  # pairs that are said


def _ratio(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(a / b)


COMBINED: dict[str, Callable[[Array, Array], Array]] = {
    "difference": lambda a, b: a - b,
    "sum": lambda a, b: a + b,
    "product": lambda a, b: a * b,
    "ratio": _ratio,
}


def pair_determines_target(case: Case) -> list[Finding]:
    """Two columns of numbers whose difference, sum, ratio or product gives the class without a single error.

    Either it has at most twelve values, each of one class (the exclusive-or of two flags is the absolute value of their
    difference), or classes are cut at one of its values without a margin: next to the cut rows are as dense as elsewhere.
    Classes that are merely well apart have a margin. Neither column may tell the class by itself, which
    column-determines-target says.
    """
    targets = case.targets[case.sample]
    sizes = np.bincount(targets)
    sizes = sizes[sizes > 0]
    if case.table.kind not in ("array", "frame") or len(targets) < FEWEST_ROWS or len(sizes) < 2:
        return []
    if sizes.min() < FEWEST_OF_CLASS or column_determines_target(case):
        return []
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(targets))[:MOST_ROWS]
    found: list[Finding] = []
    for one, other, how in _pairs(_numbers(case, chosen), targets[chosen]):
        names = f"{one.name} and {other.name}"
        said = f"Their {how} gives the class of all of {len(chosen):,} rows; neither does alone."
        remedy = "Leave one of them out, unless both will be known, and as reliable, when the class is not."
        columns = Columns((one.name, other.name), (one.place, other.place))
        found.append(Finding(NAME, "warning", names, said, remedy, columns=columns))
        if len(found) == FOUND:
            break
    return found


def _numbers(case: Case, chosen: Array) -> list[Column]:
    """Columns of numbers without missing values, that vary."""
    places = np.random.default_rng(0).permutation(case.table.n_columns)[:MOST_COLUMNS]
    rows = case.sample[chosen]
    columns = [case.table.column(int(j), rows) for j in np.sort(places)]
    return [
        one
        for one in columns
        if one.kind == "number" and np.isfinite(one.values).all() and one.values.min() < one.values.max()
    ]


def _pairs(columns: list[Column], targets: Array) -> Iterator[tuple[Column, Column, str]]:
    """Pairs of which a combination tells the class; each pair once."""
    for one, other in combinations(columns, 2):
        checkpoint()
        for how, combined in COMBINED.items():
            z = combined(one.values, other.values)
            if _tells(z[:FIRST_ROWS], targets[:FIRST_ROWS], first=True) and _tells(z, targets):
                yield one, other, how
                break


def _tells(z: Array, targets: Array, *, first: bool = False) -> bool:
    """Whether each value is of one class, and values are few or the classes cut; a first look asks for less."""
    if not np.isfinite(z).all():
        return False
    order = np.lexsort((targets, z))
    z, targets = z[order], targets[order]
    steps, turns = np.diff(z) > 0, np.diff(targets) != 0
    if (turns & ~steps).any():  # one value, two classes
        return False
    n_values, n_turns = int(steps.sum()) + 1, int(turns.sum())
    if n_values <= FEW_VALUES:
        return True
    if n_turns != len(np.unique(targets)) - 1:
        return False
    gaps = np.diff(z)[turns]
    low, high = np.quantile(z, [0.1, 0.9])
    spacing = (high - low) / (0.8 * len(z))
    return first or bool((gaps <= NO_MARGIN * spacing).all())
