"""What a person is told when something is wrong: one or two sentences, and an exit code."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

FAILED, MISUSED, STOPPED = 1, 2, 130


class UsageError(ValueError):
    """The command line itself asks for what cannot be, whatever the data are."""


def note(text: str) -> None:
    """Something that is not the answer: to standard error, so that answers can be piped on."""
    print(f"note: {text}", file=sys.stderr)


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
    except (ValueError, OSError, ImportError, MemoryError) as error:
        return _told(error, FAILED, debug)
    except BaseException as error:
        # Whatever a strange file brings about in a library: polars' panics are not even Exceptions.
        if debug or isinstance(error, (SystemExit, GeneratorExit)):
            raise
        said = f"{type(error).__name__}: {_first_line(error)}"
        print(f"nearline: this went wrong unexpectedly ({said}). --debug shows where.", file=sys.stderr)
        return FAILED


def _told(error: Exception, code: int, debug: bool) -> int:
    if debug:
        raise error
    said = " ".join(str(error).split()) or f"{type(error).__name__}."
    print(f"nearline: {said}", file=sys.stderr)
    return code


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:200]
