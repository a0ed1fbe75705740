"""Which representations a contest has the time for, and in which order they come."""

import warnings

from nearline._parallel.stopping import OutOfTime, heeding
from nearline.representations import Representation
from nearline.selection.budget import Budget
from nearline.selection.fold_data import FoldData
from nearline.selection.leaderboard import Skipped

LATE = "the time limit had passed"
ALL_FAMILIES = "all families"  # as what is skipped where a representation is
FURTHER = 0.4  # share of the time left that the folds of a further representation may take
MOMENT = 0.1  # seconds left in which nothing is begun
DEAR = 0.1  # share of the time left from which on making folds is much


def usable_representations(
    data: FoldData, representations: list[Representation], budget: Budget
) -> tuple[list[Representation], list[Skipped]]:
    """Those that the rows can be represented by in the time there is, and the others with the reason."""
    usable: list[Representation] = []
    skipped: list[Skipped] = []
    for representation in representations:
        found = _obstacle(data, representation, usable, budget)
        if found is None:
            usable.append(representation)
        else:
            skipped.append(found)
    return usable, skipped


def are_dear(data: FoldData, representations: list[Representation], budget: Budget) -> bool:
    """Whether making folds takes so much of the time limit that those of the first come first, with all families."""
    return sum(map(data.seconds_to_make, representations)) > DEAR * max(0.0, budget.left)


def _obstacle(
    data: FoldData, representation: Representation, before: list[Representation], budget: Budget
) -> Skipped | None:
    """Why a representation cannot be used, after its largest fold was made if that has time."""
    need = representation.seconds(data.rows.X)
    if need > max(0.0, budget.left):
        return Skipped(
            ALL_FAMILIES, representation.name, too_long("its Gram matrix", need, budget.left), late=True
        )
    dear = _too_dear(data, representation, before, budget)  # as dear as one that reads the same
    if dear is not None:
        return dear
    try:
        with warnings.catch_warnings(), heeding(budget.looking if before else budget.result):
            warnings.simplefilter("ignore")
            data.largest(representation)
    except OutOfTime:
        return Skipped(ALL_FAMILIES, representation.name, LATE, late=True)
    except Exception as error:
        return Skipped(ALL_FAMILIES, representation.name, reason_of(error))
    return _too_dear(data, representation, before, budget)


def _too_dear(
    data: FoldData, representation: Representation, before: list[Representation], budget: Budget
) -> Skipped | None:
    """A further representation whose folds would take more than their share of the time that is left."""
    if not before:
        return None
    left = budget.left - sum(map(data.seconds_to_make, before))
    need = data.seconds_to_make(representation, before[0])
    if need <= FURTHER * max(0.0, left):
        return None
    return Skipped(ALL_FAMILIES, representation.name, too_long("its folds", need, left), late=True)


def too_long(what: str, seconds: float, left: float) -> str:
    """Why something is not begun: it takes longer than the time that is left, or too large a share of it."""
    if left < MOMENT:
        return LATE
    more = "more than" if seconds > left else "too much of"
    return (
        f"{what} would take about {_about(seconds)} s, {more} the {_about(left)} s that the time limit leaves"
    )


def _about(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds < 9.95 else f"{seconds:.0f}"


def reason_of(error: Exception) -> str:
    """The first line of an error."""
    said = str(error).splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
