"""In whose words a sentence is made: those of a caller in Python, or of a person at the command line. And plurals."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

_at_the_command_line = False


def worded(python: str, options: str) -> str:
    """What is said to a caller in Python, or what is said instead to a person at the command line.

    A sentence is made once, where the cause is known; nobody makes another one out of it.

    Examples
    --------
    >>> from nearline._records.words import at_the_command_line, worded
    >>> worded("test=None", "--test none")
    'test=None'
    >>> with at_the_command_line():
    ...     worded("test=None", "--test none")
    '--test none'
    """
    return options if _at_the_command_line else python


@contextmanager
def at_the_command_line() -> Iterator[None]:
    """Sentences that are made meanwhile, by any thread, are for a person who has options rather than parameters."""
    global _at_the_command_line
    before, _at_the_command_line = _at_the_command_line, True
    try:
        yield
    finally:
        _at_the_command_line = before


def did_you_mean(name: Any, names: Sequence[Any]) -> str:
    """A hint at the nearest spelling, if there is one.

    Examples
    --------
    >>> from nearline._records.words import did_you_mean
    >>> did_you_mean("Cosin", ["l2", "cosine"]), did_you_mean("x", ["l2", "cosine"])
    (" Did you mean 'cosine'?", '')
    """
    if not isinstance(name, str):
        return ""
    folded = {str(other).casefold().strip(): other for other in reversed(names)}
    found = get_close_matches(name.casefold().strip(), list(folded), n=1)
    return f" Did you mean {folded[found[0]]!r}?" if found else ""


def many(n: int, one: str, several: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> from nearline._records.words import many
    >>> many(1, "row"), many(1200, "row"), many(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"
