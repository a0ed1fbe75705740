"""Trials: the least effort with which an iterative peer reaches a target.

A peer has one number that says how hard it tries (``max_iter``, ``tol`` or ``eps``). It is run with rising effort until
the target is reached, then the effort is bisected: the peer is charged the least time in which it gets there, as if its
user had known it beforehand. Our own solvers are given the target itself as ``tol``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

from benchmarks.environment import processor
from benchmarks.fitters import Fitter, fit_entry, measure, prepare
from benchmarks.harness import Entry, Heat, Outcome, Session
from benchmarks.homes import NEARLINE, PATIENCE, TooSlow
from benchmarks.ours import solve_exactly
from benchmarks.problems import Problem, Reference, Suboptimality

EXACT = 1e-9


def reference(problem: Problem, session: Session) -> Reference:
    """The minimum of a problem, found once in float64 to a certified gap of 1e-9, then kept."""
    found = session.cache.get("reference", problem.key)
    if found is None:
        session.say(f"  reference for {problem} ...")
        found = session.pool.call(NEARLINE, partial(solve_exactly, problem, EXACT), 2 * PATIENCE)
        session.cache.put("reference", problem.key, found)
    result = Reference(**found)
    if result.gap is None or result.gap > EXACT:
        session.say(f"  warning: the reference is certified to {result.gap} only ({result.source})")
    return result


@dataclass
class Trials:
    """Runs of one fitter on one problem at several efforts; each is kept in the cache with its time."""

    fitter: Fitter
    problem: Problem
    reference: Reference
    session: Session
    runs: dict[float, Outcome | None] = field(default_factory=dict)

    def run(self, effort: float) -> Outcome | None:
        """The run at an effort, None if it was ended for slowness."""
        if effort not in self.runs:
            self.runs[effort] = self._run(effort)
        return self.runs[effort]

    def _run(self, effort: float) -> Outcome | None:
        options, fitter = self.session.options, self.fitter
        threads = min(fitter.home.threads, self.session.pool.threads)
        who = f"{fitter!r} {version(fitter.package)} {threads} threads {processor()}"
        key = f"{who} {fitter.shown(effort)} {self.problem.key}"
        stored = None if options.fresh else self.session.cache.get("runs", key)
        if stored is None or ("ended" in stored and stored["ended"] < options.limit):
            stored = self._measure(effort)
            self.session.cache.put("runs", key, stored)
        return None if "ended" in stored else Outcome(stored["seconds"], stored["facts"])

    def _measure(self, effort: float) -> dict[str, Any]:
        pool, fitter, problem, limit = (
            self.session.pool,
            self.fitter,
            self.problem,
            self.session.options.limit,
        )
        pool.call(fitter.home, partial(prepare, fitter, problem), PATIENCE)
        try:
            outcome = pool.call(fitter.home, partial(measure, fitter, problem, effort), limit)
        except TooSlow:
            self.session.say(f"  {fitter.name} {fitter.shown(effort)}: ended after {limit:.0f} s")
            return {"ended": limit}
        W, b = outcome.facts["W"], outcome.facts["b"]
        facts = {"value": problem.objective(W, b), "accuracy": problem.accuracy(W, b)}
        above = self.reference.suboptimality(facts["value"])
        shown = f"{fitter.name} {fitter.shown(effort)}"
        self.session.say(f"  {shown}: {outcome.seconds:.3g} s, suboptimality {above:.1e}")
        return {"seconds": outcome.seconds, "facts": facts}

    def above(self, outcome: Outcome) -> float:
        return self.reference.suboptimality(outcome.facts["value"])

    def reaches(self, effort: float, target: float) -> bool:
        outcome = self.run(effort)
        return outcome is not None and self.above(outcome) <= target

    def least_effort(self, target: float, bisections: int = 2) -> float | None:
        """The cheapest effort found that reaches the target, None if none does within the limit."""
        low: float | None = None
        for high in self.fitter.efforts:
            if self.run(high) is None or self._stalled():
                break
            if self.reaches(high, target):
                if low is not None:
                    self._bisect(low, high, target, bisections)
                break
            low = high
        good = {effort: run.seconds for effort, run in self._done() if self.above(run) <= target}
        return min(good, key=lambda effort: good[effort]) if good else None

    def _bisect(self, low: float, high: float, target: float, times: int) -> None:
        for _ in range(times):
            middle = (low * high) ** 0.5
            middle = float(round(middle)) if self.fitter.integer_effort else float(f"{middle:.2g}")
            if self.reaches(middle, target):
                high = middle
            else:
                low = middle

    def _done(self) -> list[tuple[float, Outcome]]:
        """Finished runs, from cheap to dear."""
        rising = self.fitter.efforts[0] < self.fitter.efforts[-1]
        done = [(effort, run) for effort, run in self.runs.items() if run is not None]
        return sorted(done, key=lambda pair: pair[0] if rising else -pair[0])

    def _stalled(self, patience: int = 4) -> bool:
        """Whether more effort has long changed nothing: the peer stops by itself."""
        last = [run.facts["value"] for _, run in self._done()][-patience:]
        return len(last) == patience and len(set(last)) == 1

    def nearest_miss(self) -> str:
        """What to say of a peer that does not get there."""
        done = [run for _, run in self._done()]
        if not done:
            return f"no run ended within {self.session.options.limit:.0f} s"
        best = min(done, key=self.above)
        return f"best {self.above(best):.1e} in {best.seconds:.3g} s"

    def entry(self, target: float, judge: Suboptimality) -> Entry:
        """The peer as it enters the heat for a target."""
        try:
            effort = self.least_effort(target)
        except RuntimeError as error:  # what the peer raised, as its home reports it
            return Entry(self.fitter.name, None, absent=f"failed: {error}")
        if effort is None:
            return Entry(self.fitter.name, None, absent=self.nearest_miss())
        return fit_entry(self.fitter, self.problem, effort, judge, known=self.run(effort))


def suboptimality_heats(
    title: str,
    problem: Problem,
    ours: Sequence[Fitter],
    peers: Sequence[Fitter],
    targets: tuple[float, ...],
    session: Session,
) -> Iterator[Heat]:
    """One heat for each target: ours with tol = target, each peer with the least effort that reaches it.

    Then one for each peer with a default worth knowing: ours against it at the suboptimality where it stops by itself.
    """
    known, source = reference(problem, session), problem.split().source
    trials = {peer: Trials(peer, problem, known, session) for peer in peers}
    for target in targets:
        judge = Suboptimality(problem, known, target)
        entries = [fit_entry(own, problem, target, judge, ours=True) for own in ours]
        for peer in peers:
            absent = peer.absent()
            entries.append(
                Entry(peer.name, None, absent=absent) if absent else trials[peer].entry(target, judge)
            )
        yield Heat(f"{title}, suboptimality {target:.0e} [{source}]", f"(P-P*)/P* <= {target:.0e}", entries)
    for peer in peers:
        effort = peer.default_effort
        if effort is None or peer.absent() or (run := trials[peer].run(effort)) is None:
            continue
        target = max(float(f"{1.05 * trials[peer].above(run):.1e}"), 1e-8)
        judge = Suboptimality(problem, known, target)
        entries = [fit_entry(own, problem, target, judge, ours=True) for own in ours]
        entries.append(fit_entry(peer, problem, effort, judge, known=run))
        where = f"where {peer.name} stops by default ({target:.1e})"
        yield Heat(f"{title}, {where} [{source}]", f"(P-P*)/P* <= {target:.1e}", entries)
