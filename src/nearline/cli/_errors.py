"""What a person is told when something is wrong: one or two sentences, and an exit code."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nearline._records.visible import visible
from nearline._records.words import at_the_command_line
from nearline.cli._shown import door

LEAVE_ONE_OUT = "leave-one-out"
FAILED, MISUSED, TOO_SHORT, STOPPED = 1, 2, 3, 130


class UsageError(ValueError):
    """The command line itself asks for what cannot be, whatever the data are."""


class TooShortError(ValueError):
    """The time limit left no time for a single model."""


@contextmanager
def as_usage() -> Iterator[None]:
    """What the library refuses meanwhile was asked for by an option, before any data were read."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error


def folds_of(text: str) -> int | str:
    """--folds: how many, or 'leave-one-out'."""
    if text == LEAVE_ONE_OUT:
        return text
    if not text.isdecimal() or int(text) < 2:
        raise UsageError(f"--folds must be a whole number >= 2, or '{LEAVE_ONE_OUT}', got {text!r}.")
    return int(text)


def note(text: str) -> None:
    """Something that is not the answer: to standard error, so that answers can be piped on."""
    print(f"note: {visible(text)}", file=sys.stderr)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Warnings of libraries as one line each, without the place in the code."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        note(" ".join(str(message).split()))

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for kind in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = show
        yield


def guarded(work: Callable[[], int], *, debug: bool) -> int:
    """The exit code of some work; with ``debug`` errors keep their traceback."""
    with door() as shown, at_the_command_line():
        code = _guarded(work, debug=debug)
        shown.flush()
        if shown.failure is not None:
            code = code or _told(shown.failure, FAILED, debug)
    return code


def _guarded(work: Callable[[], int], *, debug: bool) -> int:
    try:
        with warnings_as_notes():
            return work()
    except KeyboardInterrupt:
        print("nearline: stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except UsageError as error:
        return _told(error, MISUSED, debug)
    except TooShortError as error:
        return _told(error, TOO_SHORT, debug)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        return _told(error, FAILED, debug)
    except BaseException as error:
        # Whatever a strange file brings about in a library: polars' panics are not even Exceptions.
        if debug or isinstance(error, (SystemExit, GeneratorExit)):
            raise
        said = f"{type(error).__name__}: {_first_line(error)}"
        print(f"nearline: unexpected error ({said}). --debug shows where.", file=sys.stderr)
        return FAILED


def _told(error: Exception, code: int, debug: bool) -> int:
    if debug:
        raise error
    said = " ".join(str(error).split()) or f"{type(error).__name__}."
    print(f"nearline: {visible(said)}", file=sys.stderr)
    return code


def _first_line(error: BaseException) -> str:
    return visible((str(error).splitlines() or [""])[0][:200])


def show_usage(error: Any) -> None:
    """What is wrong with the options, by the door: typer would look for a stream of its own."""
    if error.ctx is not None:
        hint = f"Try '{error.ctx.command_path} --help' for help."
        print(error.ctx.get_usage(), hint, sep="\n", end="\n\n", file=sys.stderr)
    said = _called_now(error) or error.format_message()
    print(f"Error: {visible(said)}", file=sys.stderr)


def _called_now(error: Any) -> str | None:
    """A sentence for an option of another name that the command has: an earlier one, or one of other libraries."""
    from nearline._records.habits import meant_by

    asked = getattr(error, "option_name", "")
    known = {} if error.ctx is None else {one.name: one.opts[0] for one in error.ctx.command.params}
    for name in meant_by(asked.removeprefix("--").replace("-", "_")) & known.keys():
        return f"{asked} is called {known[name]} now."
    return None
