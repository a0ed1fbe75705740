"""Heats: the same job for several libraries, in turns, best of several, judged by one bar of quality."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cache import Cache
from benchmarks.environment import processor, versions
from benchmarks.homes import HERE, PATIENCE, Home, Pool, TooSlow


@dataclass(frozen=True)
class Outcome:
    """What one run gives back: seconds of the timed part, and whatever the judge wants to see."""

    seconds: float
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """Whether a run was good enough to count, and its quality in words for the table."""

    reached: bool
    quality: dict[str, str]


Judge = Callable[[Outcome], Verdict]


def no_bar(outcome: Outcome) -> Verdict:
    """For contests where every answer is right by construction."""
    return Verdict(True, {name: str(value) for name, value in outcome.facts.items()})


@dataclass(frozen=True)
class Entry:
    """A contestant in one heat.

    ``task`` must be picklable unless its home is ``HERE``. ``known`` is an outcome from an earlier run, taken instead
    of a new one where that would take too long; ``absent`` says why there is nothing to run; ``prepare`` is run
    first, without clock or limit. With a ``key``, an outcome that took long is kept in the cache (peers only).
    """

    name: str
    task: Callable[[], Outcome] | None
    judge: Judge = no_bar
    home: Home = HERE
    ours: bool = False
    known: Outcome | None = None
    absent: str | None = None
    note: str = ""
    prepare: Callable[[], None] | None = None
    key: str = ""


@dataclass(frozen=True)
class Heat:
    """One table: a job, the bar that its answers have to reach, and who does it."""

    title: str
    bar: str
    entries: list[Entry]


@dataclass(frozen=True)
class Row:
    """One line of the table. ``ratio`` is its seconds over ours; None where the bar was not reached."""

    name: str
    seconds: float | None
    ratio: float | None
    reached: bool
    quality: dict[str, str]
    runs: int
    ours: bool
    note: str


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    quick: bool = False
    repeat: int = 5
    limit: float = 300.0  # seconds after which a run of a peer is ended
    slow: float = 20.0  # runs longer than this are not repeated, and taken from the cache when they are there
    fresh: bool = False  # measure anew even what is in the cache
    only: str = ""  # what the titles of the heats that are held have in them

    def rows(self, full: int | None, quick: int = 1000) -> int | None:
        """Number of rows of a contest: all of them, or a quick few."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Session:
    """What contests share during one run of the program."""

    options: Options
    pool: Pool
    cache: Cache
    say: Callable[[str], None] = print


@dataclass(frozen=True)
class Contest:
    """A family of heats under one name. ``goal`` is the ratio that the project asks of itself.

    ``summary`` tells of the record as a whole, in place of a table for each heat where there are very many.
    """

    name: str
    title: str
    goal: str
    heats: Callable[[Session], Iterator[Heat]]
    summary: Callable[[Any], str] | None = None
    drawn: Callable[[Any, Path], None] | None = None  # a picture of its own


def run_heat(heat: Heat, session: Session) -> list[Row]:
    """Run all entries in turns and give the table's rows, in the order of the entries."""
    racers = [Racer(entry) for entry in heat.entries]
    for turn in range(max(1, session.options.repeat)):
        for racer in racers:
            racer.run(session, turn)
    for racer in racers:
        racer.fall_back()
    base = next((r.best for r in racers if r.entry.ours and r.best is not None and r.verdict.reached), None)
    return [racer.row(base.seconds if base else None) for racer in racers]


class Racer:
    """An entry during its heat: keeps the best run that reached the bar, else the best of the others."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.best: Outcome | None = None
        self.verdict = Verdict(False, {})
        self.runs = 0
        self.trouble = entry.absent or ""
        self.longest = 0.0

    def run(self, session: Session, turn: int) -> None:
        options = session.options
        if self.trouble or (turn > 0 and self.longest > options.slow):
            return
        known = self.entry.known or self._remembered(session)
        if known is not None and known.seconds > options.slow and not options.fresh:
            self._take(known, 0)
            self.longest = known.seconds
            return
        assert self.entry.task is not None
        try:
            if self.entry.prepare is not None:
                session.pool.call(self.entry.home, self.entry.prepare, PATIENCE)
            began = time.perf_counter()
            outcome = session.pool.call(self.entry.home, self.entry.task, options.limit)
            self.longest = max(self.longest, time.perf_counter() - began)
            self._take(outcome, 1)
            self._remember(session, outcome)
        except TooSlow:
            self.trouble = f"ended after {options.limit:.0f} s"
        except Exception as error:  # a contestant that fails must not end the contest
            self.trouble = "failed: " + (str(error).strip().splitlines() or [type(error).__name__])[-1]

    def _remembered(self, session: Session) -> Outcome | None:
        found = (
            session.cache.get("jobs", self._key(session)) if self.entry.key and not self.entry.ours else None
        )
        return None if found is None else Outcome(**found)

    def _remember(self, session: Session, outcome: Outcome) -> None:
        if self.entry.key and not self.entry.ours and outcome.seconds > session.options.slow:
            session.cache.put(
                "jobs", self._key(session), {"seconds": outcome.seconds, "facts": outcome.facts}
            )

    def _key(self, session: Session) -> str:
        return f"{self.entry.key} {session.pool.threads} threads {versions()} {processor()}"

    def _take(self, outcome: Outcome, runs: int) -> None:
        verdict = self.entry.judge(outcome)
        self.runs += runs
        better = self.best is None or (not verdict.reached, outcome.seconds) < (
            not self.verdict.reached,
            self.best.seconds,
        )
        if better:
            self.best, self.verdict = outcome, verdict

    def fall_back(self) -> None:
        """A random peer may just miss the bar in every turn: then the run that once reached it counts."""
        known = self.entry.known
        if known is not None and not self.verdict.reached:
            verdict = self.entry.judge(known)
            if verdict.reached:
                self.best, self.verdict, self.runs = known, verdict, 0

    def row(self, base: float | None) -> Row:
        notes = [self.entry.note, self.trouble, "time from the cache" if self.best and not self.runs else ""]
        seconds = self.best.seconds if self.best else None
        counted = seconds is not None and self.verdict.reached and base is not None
        return Row(
            name=self.entry.name,
            seconds=seconds,
            ratio=seconds / base if counted and seconds is not None and base else None,
            reached=self.verdict.reached,
            quality=self.verdict.quality,
            runs=self.runs,
            ours=self.entry.ours,
            note="; ".join(n for n in notes if n),
        )
