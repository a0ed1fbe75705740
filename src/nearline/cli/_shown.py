"""The door to the terminal: whatever is printed meanwhile passes it, and commands a terminal nothing."""

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from nearline._records.visible import visible

LINES = "\n\t"  # what may stay of the controls: names and labels are shown without even these


class OutputError(OSError):
    """What was to be printed cannot be: the disk is full, say."""


class Door(io.TextIOBase):
    """A stream of text before another one; ``data``: what passes is for programs, and must arrive as it is."""

    def __init__(self, inner: Any, *, data: bool = False) -> None:
        self.inner, self.data = inner, data
        self.failure: OutputError | None = None  # why nothing more is written
        self.rich_proxied_file = inner  # bars are drawn by commands to the terminal, which are our own

    def write(self, text: str) -> int:
        if not isinstance(text, str):  # as streams of text do: so others find out what this is
            raise TypeError(f"write() needs a str, got {type(text).__name__}.")
        with self._going_on():
            self._write(text if self.data else visible(text, LINES))
        return len(text)

    def _write(self, text: str) -> None:
        try:
            self.inner.write(text)
        except UnicodeEncodeError:  # a terminal of few letters
            if self.data:
                raise
            kept = self.inner.encoding or "ascii"
            self.inner.write(text.encode(kept, "backslashreplace").decode(kept))

    def flush(self) -> None:
        with self._going_on():
            self.inner.flush()

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Where nobody reads on, or nothing can be written, the work goes on so that its files are written; data end it."""
        try:
            yield
        except BrokenPipeError:
            if self.data:
                raise
            self._unread()
        except OSError as error:
            said = error.strerror or type(error).__name__
            self.failure = OutputError(
                f"What was to be printed cannot be written ({said}): free some space, or send it elsewhere."
            )
            self._unread()
            if self.data:
                raise self.failure from error

    def _unread(self) -> None:
        """All that follows goes nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.inner.fileno())
        os.close(nowhere)

    def isatty(self) -> bool:
        return bool(self.inner.isatty())

    def fileno(self) -> int:
        return int(self.inner.fileno())

    @property
    def encoding(self) -> Any:  # type: ignore[override]
        return self.inner.encoding


@contextmanager
def door() -> Iterator[Door]:
    """Standard output, which is given, and standard error behind doors."""
    before = sys.stdout, sys.stderr
    shown = Door(before[0])
    sys.stdout, sys.stderr = shown, Door(before[1])
    try:
        yield shown
    finally:
        sys.stdout, sys.stderr = before


def data_stream() -> Any:
    """Where data go that a program may read: past the door, unless a person looks at them."""
    stream = sys.stdout
    return Door(stream.inner, data=True) if isinstance(stream, Door) and not stream.isatty() else stream


def print_json(value: Any, **options: Any) -> None:
    """A line of JSON in ASCII; its own escapes say the rest, of delete too."""
    print(json.dumps(value, **options).replace("\x7f", "\\u007f"), flush=True)


def described(description: Any) -> str:
    """What was understood of a file, each name and note of it on its line."""
    columns = tuple(
        replace(one, name=visible(one.name), examples=tuple(map(visible, one.examples)))
        for one in description.columns
    )
    target = None if description.target is None else visible(description.target)
    notes = tuple(map(visible, description.notes))
    return str(
        replace(description, path=visible(description.path), columns=columns, target=target, notes=notes)
    )
