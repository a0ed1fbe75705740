"""Attacks: input made to crash, hang or mislead. ``python -m benchmarks.attacks [NAME ...]`` prints what came of each.

Every module of this package has one function ``attacks()``, which yields ``Attack(name, run)``; ``run`` is given an
empty folder and returns an ``Outcome``. A module is found by being here: there is no list to forget it in. What can
kill the interpreter runs in another one (``survey_apart``); a short version of each attack runs in the tests.
"""

import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules


@dataclass(frozen=True)
class Outcome:
    """Of so many tries, how many nearline refused by a sentence and how many it answered rightly; what failed else."""

    tries: int
    refused: int
    survived: int
    failures: tuple[str, ...]  # raw exceptions, crashes, hangs, wrong answers

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.tries + other.tries,
            self.refused + other.refused,
            self.survived + other.survived,
            self.failures + other.failures,
        )


NOTHING = Outcome(0, 0, 0, ())
REFUSED = Outcome(1, 1, 0, ())
SURVIVED = Outcome(1, 0, 1, ())


def failed(why: str) -> Outcome:
    return Outcome(1, 0, 0, (why,))


@dataclass(frozen=True)
class Attack:
    name: str
    run: Callable[[Path], Outcome]


def verdict(name: str, call: Callable[[], object]) -> Outcome:
    """One try in this process. ``call`` returns where the answer is right and raises AssertionError where it is not."""
    try:
        call()
    except (ValueError, TypeError, MemoryError) as error:
        return REFUSED if _is_own(error) else failed(f"{name}: {type(error).__name__}: {error}")
    except Exception as error:
        return failed(f"{name}: {type(error).__name__}: {error}")
    return SURVIVED


def survey(calls: Iterable[tuple[str, Callable[[], object]]]) -> Outcome:
    """The verdicts on named calls, added up."""
    return sum((verdict(name, call) for name, call in calls), NOTHING)


def survey_apart(module: str, function: str, *arguments: str, seconds: float = 300.0) -> Outcome:
    """``function(*arguments)`` of a module, an Outcome, found by another interpreter; a dead or a late one is a failure."""
    code = (
        f"import json, dataclasses; from {module} import {function} as run; "
        f"print(json.dumps(dataclasses.asdict(run(*{arguments!r}))))"
    )
    name = f"{function}{arguments}"
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return failed(f"{name}: no end after {seconds:g} s")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return failed(f"{name}: exit {done.returncode}: {last}")
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Outcome(found["tries"], found["refused"], found["survived"], tuple(found["failures"]))


def known() -> dict[str, list[Attack]]:
    """The attacks of each module of this package."""
    names = [m.name for m in iter_modules(__path__) if not m.name.startswith("_")]
    return {name: list(import_module(f"{__name__}.{name}").attacks()) for name in names}


def _is_own(error: Exception) -> bool:
    """Whether an error reads like a sentence for people; subclasses that libraries raise by themselves do not."""
    raw = (UnicodeError, json.JSONDecodeError)
    text = str(error)
    words = len(text.split())
    clean = not any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in text)
    return not isinstance(error, raw) and type(error).__name__ != "LinAlgError" and words >= 4 and clean
