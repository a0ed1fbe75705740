"""Stop: how long work finds out that it is not wanted any more, because of a time limit, Ctrl-C, or another task's failure.

Work asks at checkpoints: solvers after every iteration, tasks before every tile, the compiled core twenty times a
second. What runs between two of them (a product of matrices, a factorization) is finished first.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from time import monotonic

_thread = local()  # .stop: what the work of this thread heeds


class Stopped(BaseException):
    """The work is not wanted any more. Not an Exception: nobody is to take it for a failure of the work."""


class OutOfTime(Stopped):
    """The time limit has passed."""


class Stop:
    """What work heeds: once requested, its next checkpoint raises. Heeds the stop that was there before it, too."""

    def __init__(self) -> None:
        self.parent: Stop | None = current()
        self._requested = False

    def request(self) -> None:
        """End the work; from any thread."""
        self._requested = True

    def check(self) -> None:
        """Raise if the work is to end."""
        if self._requested:
            raise Stopped("The work was stopped.")
        if self.parent is not None:
            self.parent.check()


class Deadline(Stop):
    """A stop that comes by itself, after so many seconds; None: never."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self.seconds = seconds
        self._begin = monotonic()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return monotonic() - self._begin

    @property
    def passed(self) -> bool:
        return self.seconds is not None and self.spent > self.seconds

    def check(self) -> None:
        if self.passed:
            raise OutOfTime
        super().check()


def current() -> Stop | None:
    """What the work of this thread heeds."""
    found: Stop | None = getattr(_thread, "stop", None)
    return found


def checkpoint() -> None:
    """End here if the work is not wanted any more. Long work calls it at least every few tenths of a second."""
    stop: Stop | None = getattr(_thread, "stop", None)
    if stop is not None:
        stop.check()


@contextmanager
def heeding(stop: Stop | None) -> Iterator[None]:
    """Work in the block, in this thread, ends as ``stop`` says; None: no matter what (work that is short and wanted)."""
    before = current()
    _thread.stop = stop
    try:
        yield
    finally:
        _thread.stop = before
