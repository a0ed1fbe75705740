"""Signals: the first Ctrl-C or SIGTERM ends the work with what it has so far, a second one ends it at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nearline.cli._errors import STOPPED

HEEDED = (signal.SIGINT, signal.SIGTERM)
UNWINDING = 0.5  # seconds that a second signal leaves to remove temporary files


class Heard:
    """The signals that have come."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def hear(self, number: int, _: Any) -> None:
        """Ctrl-C and SIGTERM are one to the work: what has finished is kept. A second is not caught by it."""
        self.numbers.append(number)
        if len(self.numbers) > 1:
            raise SystemExit(128 + number)
        raise KeyboardInterrupt

    def exit_code(self, code: int) -> int:
        """128 + number of the signal that stopped the work, as shells have it."""
        # A KeyboardInterrupt that left code given as a string, as imports run some, makes Python end by SIGINT whatever
        # the exit code is, until the next such code has run.
        exec("")
        return 128 + self.numbers[0] if code == STOPPED and self.numbers else code


@contextmanager
def heeded() -> Iterator[Heard]:
    """Signals are heard meanwhile; those that the parent process had ignored stay ignored."""
    heard = Heard()
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return
    before = {number: signal.getsignal(number) for number in HEEDED}
    ours = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in ours:
        signal.signal(number, heard.hear)
    try:
        with _watched(set(map(int, ours))):
            yield heard
    finally:
        for number in ours:
            signal.signal(number, before[number])


@contextmanager
def _watched(ours: set[int]) -> Iterator[None]:
    """Handlers wait until the main thread is back from a call of foreign code; a thread of its own need not wait."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    earlier = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(readable, ours), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        os.close(writable)  # the watcher reads to the end, and ends
        watcher.join()
        os.close(readable)


def _watch(readable: int, ours: set[int]) -> None:
    """End the process at the second signal, unless it has ended by itself a moment later."""
    came = 0
    while data := os.read(readable, 16):
        came += sum(number in ours for number in data)
        if came > 1:
            if _closed(readable, UNWINDING):
                return
            os._exit(128 + next(number for number in reversed(data) if number in ours))


def _closed(readable: int, seconds: float) -> bool:
    """Whether the other end was closed within so many seconds."""
    import select
    from time import monotonic

    end = monotonic() + seconds
    while (left := end - monotonic()) > 0:
        if select.select([readable], [], [], left)[0] and not os.read(readable, 16):
            return True
    return False
