"""The door to the terminal: whatever is printed meanwhile passes it, and commands a terminal nothing."""

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from nearline.visible import visible

LINES = "\n\t"  # what may stay of the controls: names and labels are shown without even these


class Door(io.TextIOBase):
    """A stream of text before another one."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.rich_proxied_file = inner  # bars are drawn by commands to the terminal, which are our own

    def write(self, text: str) -> int:
        if not isinstance(text, str):  # as streams of text do: so others find out what this is
            raise TypeError(f"write() needs a str, got {type(text).__name__}.")
        shown = visible(text, LINES)
        try:
            self.inner.write(shown)
        except UnicodeEncodeError:  # a terminal of few letters
            kept = self.inner.encoding or "ascii"
            self.inner.write(shown.encode(kept, "backslashreplace").decode(kept))
        except BrokenPipeError:
            self._unread()
        return len(text)

    def flush(self) -> None:
        try:
            self.inner.flush()
        except BrokenPipeError:
            self._unread()

    def _unread(self) -> None:
        """Nobody reads on: the work goes on all the same, so that its files are written."""
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
def door() -> Iterator[None]:
    """Standard output and standard error behind doors."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Door(before[0]), Door(before[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def data_stream() -> Any:
    """Where data go that a program may read: past the door, unless a person looks at them."""
    stream = sys.stdout
    return stream.inner if isinstance(stream, Door) and not stream.isatty() else stream


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
