"""The last fit: the chosen candidate on the whole training part, in the time that is left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nearline._parallel.stopping import Deadline, OutOfTime, heeding
from nearline.selection.budget import GRACE, Budget
from nearline.selection.checks import Finding
from nearline.selection.leaderboard import Entry

QUICK = 0.5  # seconds: candidates that may be fitted when the time is over
DOUBT = 2.0  # by how much the seconds of a fit may be guessed too long


@dataclass(frozen=True)
class Fitted:
    """A fitted candidate. Without a model: it was interrupted."""

    entry: Entry
    model: Any = None
    finding: Finding | None = None


def last_fit(
    fit: Callable[[Entry], Any], chosen: Entry, others: Sequence[tuple[Entry, float]], budget: Budget
) -> Fitted:
    """The chosen candidate or, where the time limit does not allow it, the best of those that are fitted at once.

    ``others`` are all candidates, the best first, each with the seconds that its fit takes, about.
    """
    seconds = {id(entry): one for entry, one in others}
    if seconds.get(id(chosen), 0.0) <= DOUBT * budget.late_left or len(others) == 1:
        try:
            with heeding(budget.result):
                return Fitted(chosen, fit(chosen))
        except OutOfTime:
            if not [entry for entry, _ in others if entry is not chosen]:
                raise
    left = max(QUICK, budget.late_left)
    quick = [entry for entry, one in others if one <= left and entry is not chosen]
    slow = [entry for entry, _ in sorted(others, key=lambda one: one[1]) if entry is not chosen]
    other = (quick or slow)[0]
    finding = Finding(
        "time-limit",
        "warning",
        str(chosen),
        f"it is the best on the folds, but was not fitted in the time limit; {other} was fitted in its place.",
        "Give more time.",
    )
    return Fitted(other, fit(other), finding)


def fit_after_interrupt(fit: Callable[[Entry], Any], chosen: Entry) -> Fitted:
    """The chosen candidate, if that takes a moment only: who pressed Ctrl-C does not want to wait."""
    try:
        with heeding(Deadline(GRACE)):
            return Fitted(chosen, fit(chosen))
    except OutOfTime:
        return Fitted(chosen)
