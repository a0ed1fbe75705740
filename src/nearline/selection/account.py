"""Account: where the time of a contest went. Every second of the clock is charged once: the parts add up to the whole."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from time import perf_counter
from typing import Any

from nearline.selection.cells import seconds_in

REST = "all else"
SHOWN = 6  # payers that a line names
SMALL = 0.005  # share of the whole below which a line names none


@dataclass
class Account:
    """Seconds by payer: families, representations, checks, the last fit, ... What is inside of another's time is not its."""

    clock: Callable[[], float] = perf_counter
    spent: dict[str, float] = field(default_factory=dict)
    shared: dict[str, dict[str, float]] = field(default_factory=dict)  # of a family's seconds: named work

    def __post_init__(self) -> None:
        self._since, self._payer, self._thread = self.clock(), REST, get_ident()

    @contextmanager
    def charge(self, payer: str) -> Iterator[None]:
        """The block is paid for by somebody. Threads that help do not pay: who waits for them does."""
        if get_ident() != self._thread:
            yield
            return
        before = self._pay(payer)
        try:
            yield
        finally:
            self._pay(before)

    def share(self, payer: str, seconds: float, work: Mapping[str, float], own: float) -> None:
        """Of seconds that somebody paid, the parts of work that candidates shared, beside their own work.

        Folds run side by side, so that work may be more than seconds: it is counted in proportion.
        """
        total = own + sum(work.values())
        known = self.shared.setdefault(payer, {})
        for name, one in work.items():
            known[name] = known.get(name, 0.0) + (seconds * one / total if total else 0.0)

    @property
    def total(self) -> float:
        """Seconds so far."""
        return sum(self.spent.values())

    def close(self) -> None:
        """All up to now is paid."""
        self._pay(REST)

    def records(self) -> list[dict[str, Any]]:
        """Who paid, most first, and what of it was shared; the seconds add up to the whole."""
        payers = sorted(self.spent, key=lambda one: (one == REST, -self.spent[one]))
        return [
            {"payer": one, "seconds": self.spent[one], "shared": self.shared.get(one, {})} for one in payers
        ]

    def __str__(self) -> str:
        records = self.records()
        named = [one for one in records if one["payer"] != REST and one["seconds"] > SMALL * self.total]
        named = named[:SHOWN]
        rest = self.total - sum(one["seconds"] for one in named)
        parts = [*map(_said, named), f"{REST} {seconds_in(rest)}"]
        return f"time: {seconds_in(self.total)} in all, each second charged once: {', '.join(parts)}."

    def _pay(self, after: str) -> str:
        """What has passed since is charged to the one who was to pay."""
        now, before = self.clock(), self._payer
        self.spent[before] = self.spent.get(before, 0.0) + now - self._since
        self._since, self._payer = now, after
        return before


def _said(one: dict[str, Any]) -> str:
    shared = ", ".join(f"{name} {seconds_in(seconds)}" for name, seconds in one["shared"].items())
    return f"{one['payer']} {seconds_in(one['seconds'])}" + (f" (shared: {shared})" if shared else "")
