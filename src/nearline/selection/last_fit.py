"""The last fit: the chosen candidate on the whole training part, in the time that is left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nearline._parallel.stopping import Deadline, OutOfTime, heeding
from nearline.selection.budget import GRACE, Budget
from nearline.selection.checks import Finding
from nearline.selection.choice import not_in_time
from nearline.selection.contest import Contest
from nearline.selection.final_fit import FinalFit
from nearline.selection.leaderboard import Entry, Leaderboard
from nearline.selection.rows import LabeledRows

QUICK = 0.5  # seconds: candidates that may be fitted when the time is over
DOUBT = 2.0  # by how much the seconds of a fit may be guessed too long


@dataclass(frozen=True)
class Fitted:
    """A fitted candidate. Without a model: it was interrupted."""

    entry: Entry
    model: Any = None
    findings: tuple[Finding, ...] = ()
    hurried: bool = False  # probabilities that it lacks were not waited for


@dataclass(frozen=True)
class Finish:
    """What is needed to fit candidates of a contest that was held."""

    board: Leaderboard
    contest: Contest
    final: FinalFit
    estimator: Callable[[Entry], Any]
    part: LabeledRows  # the training part

    def fit(self, chosen: Entry) -> Fitted:
        """The chosen candidate or the one that takes its place.

        Where the chosen one would be late, or Ctrl-C was pressed, probabilities that it lacks are not waited for.
        """
        budget, interrupted = self.contest.rules.budget, self.contest.interrupted
        late = self.contest.to_fit[id(chosen)] > budget.late_left
        hurried = interrupted or (self.final.only_if_needed and late)

        def fit(entry: Entry) -> Any:
            return self.final.of(self.estimator(entry), self.part, hurried=hurried)

        try:
            found = self._fitted(fit, chosen, hurried)
        except KeyboardInterrupt:
            found = Fitted(chosen)
        except OutOfTime:
            raise not_in_time(chosen, budget.limit) from None
        notes = self._notes(chosen) if hurried and not interrupted else ()
        return replace(found, findings=(*found.findings, *notes), hurried=hurried)

    def _fitted(self, fit: Callable[[Entry], Any], chosen: Entry, hurried: bool) -> Fitted:
        """The chosen one; the best single candidate where memory does not hold all members of an ensemble at a time."""
        try:
            return self._in_time(fit, chosen, hurried)
        except MemoryError:
            if not chosen.members:
                raise
        single = next(entry for entry in self.board if not entry.members)  # and the members' models are gone
        said = f"it is the best on the folds, but its models do not fit into memory; {single} was fitted in its place."
        finding = Finding(
            "memory", "warning", str(chosen), said, "Give more memory, or leave the ensemble out."
        )
        found = self._in_time(fit, single, hurried)
        return replace(found, findings=(finding, *found.findings))

    def _in_time(self, fit: Callable[[Entry], Any], chosen: Entry, hurried: bool) -> Fitted:
        if self.contest.interrupted:
            return fit_after_interrupt(fit, chosen)
        return last_fit(fit, chosen, self._others(chosen, hurried), self.contest.rules.budget)

    def _others(self, chosen: Entry, hurried: bool) -> list[tuple[Entry, float]]:
        """Candidates with the seconds of their last fits, those that look at the rows if any does."""
        looking = [entry for entry in self.board if entry.family not in self.contest.trivial]
        once = self.final.times(self.estimator(chosen)) if hurried else 1
        return [(entry, self.contest.to_fit[id(entry)] / once) for entry in looking or self.board]

    def _notes(self, chosen: Entry) -> tuple[Finding, ...]:
        if self.final.times(self.estimator(chosen)) == 1:
            return ()
        said = "the time limit left no time to calibrate its scores, so that it gives no probabilities."
        return (Finding("time-limit", "note", str(chosen), said, "Give more time."),)


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
    return Fitted(other, fit(other), (finding,))


def fit_after_interrupt(fit: Callable[[Entry], Any], chosen: Entry) -> Fitted:
    """The chosen candidate, if that takes a moment only: who pressed Ctrl-C does not want to wait."""
    try:
        with heeding(Deadline(GRACE)):
            return Fitted(chosen, fit(chosen))
    except OutOfTime:
        return Fitted(chosen)
