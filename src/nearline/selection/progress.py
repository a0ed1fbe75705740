"""Progress: what is running, how much is done, and how long the rest will take."""

import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from time import perf_counter
from typing import Any

from nearline._records.refused import UnknownNameError
from nearline._records.visible import visible

QUIET = 5.0  # seconds before the first line, and between lines: short work needs no words


class Progress(ABC):
    """Told of work as it is done. Shares are of the estimated time; 0 as long as nobody can know."""

    def clock(self) -> float:
        """Seconds, by which the work is measured."""
        return perf_counter()

    def begin(self) -> None:
        self._start = self.clock()

    def left(self, share: float) -> float:
        """Seconds, if the rest goes as the part done."""
        return (self.clock() - self._start) * (1.0 - share) / max(share, 1e-9)

    def said(self, share: float, doing: str) -> str:
        """What runs, and how long the rest takes where that is known."""
        return f"about {_time(self.left(share))} left: {visible(doing)}" if share > 0 else visible(doing)

    @abstractmethod
    def advance(self, share: float, doing: str) -> None:
        """``share`` of all work is done, ``doing`` is running."""

    @abstractmethod
    def end(self) -> None:
        """No more work."""


class Silent(Progress):
    """Says nothing."""

    def advance(self, share: float, doing: str) -> None:
        pass

    def end(self) -> None:
        pass


class Lines(Progress):
    """A line on standard error every few seconds."""

    def begin(self) -> None:
        super().begin()
        self._last = self._start

    def advance(self, share: float, doing: str) -> None:
        now = self.clock()
        if now - self._last >= QUIET:
            self._last = now
            done = f"{share:4.0%} done, " if share > 0 else ""
            print(done + self.said(share, doing), file=sys.stderr, flush=True)

    def end(self) -> None:
        pass


class Bar(Progress):
    """A bar on the terminal (rich)."""

    def begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        super().begin()
        doing = TextColumn("{task.description}", markup=False)  # names may have brackets
        columns = TextColumn("{task.percentage:3.0f}%"), BarColumn(), doing
        # the stream of now: meanwhile rich puts one of its own in its place, to draw the bar below other lines
        self._bar: Any = Progress(*columns, console=Console(file=sys.stderr), transient=True)
        self._task = self._bar.add_task("", total=1.0)
        self._bar.start()

    def advance(self, share: float, doing: str) -> None:
        self._bar.update(self._task, completed=share, description=self.said(share, doing))

    def end(self) -> None:
        self._bar.stop()


def as_progress(progress: Any) -> Progress:
    """ "auto" (a bar on a terminal, lines elsewhere), "lines", "bar", "silent", or an object."""
    if isinstance(progress, Progress):
        return progress
    kinds: dict[str, type[Progress]] = {"lines": Lines, "bar": Bar, "silent": Silent}
    if progress == "auto":
        progress = "lines"
        with suppress(ImportError):
            import rich  # noqa: F401

            progress = "bar" if sys.stderr.isatty() else "lines"
    if progress not in kinds:
        raise UnknownNameError("progress", progress, ["auto", *kinds])
    return kinds[progress]()


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
