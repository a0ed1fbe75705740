"""Ending: what comes after a contest. Once a signal has come, only what takes a moment; the rest is left out and named."""

from collections.abc import Callable
from typing import TypeVar

from nearline._parallel.stopping import Deadline, OutOfTime, heeding

MOMENT = 0.8  # seconds from a signal until only what is quick is done
Result = TypeVar("Result")


class Ending:
    """Work that may be left out, in order."""

    def __init__(self, interrupted: bool = False) -> None:
        self._deadline = Deadline(MOMENT) if interrupted else None
        self.left_out: list[str] = []

    @property
    def interrupted(self) -> bool:
        return self._deadline is not None

    def attempt(self, name: str, work: Callable[[], Result]) -> Result | None:
        """The result; None if a signal ended it, or one that had come before left it no time."""
        try:
            with heeding(self._deadline):
                return work()
        except KeyboardInterrupt:
            self._deadline = Deadline(MOMENT)
        except OutOfTime:
            pass
        self.left_out.append(name)
        return None

    def insist(self, work: Callable[[], None]) -> None:
        """Do it, if a signal comes meanwhile once more from the beginning."""
        try:
            work()
        except KeyboardInterrupt:
            self._deadline = Deadline(MOMENT)
            work()
