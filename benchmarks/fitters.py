"""Fitters: how a library minimizes a problem, with one number that says how hard it tries."""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from benchmarks.harness import Entry, Judge, Outcome
from benchmarks.homes import Home
from benchmarks.problems import Problem


@dataclass(frozen=True)
class Fitter(ABC):
    """A contestant that minimizes problems. Frozen and picklable: it is sent to its home by value."""

    package: ClassVar[str]  # name of the distribution that must be installed
    home: ClassVar[Home]
    effort_name: ClassVar[str]
    integer_effort: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Name in the tables."""

    @property
    @abstractmethod
    def efforts(self) -> tuple[float, ...]:
        """Settings from cheap to dear."""

    @property
    def default_effort(self) -> float | None:
        """The effort that its users get unasked, where it is worth a heat of its own."""
        return None

    @abstractmethod
    def prepare(self, problem: Problem) -> Any:
        """Data in the library's own form; compile what it compiles. Not timed."""

    @abstractmethod
    def fit(self, ready: Any, problem: Problem, effort: float) -> Any:
        """The timed part."""

    @abstractmethod
    def read(self, model: Any, problem: Problem) -> dict[str, Any]:
        """W (K, D), b (K,), and more to tell."""

    def absent(self) -> str | None:
        """Why it cannot take part, or None."""
        try:
            version(self.package)
        except PackageNotFoundError:
            return f"{self.package} is not installed: pip install 'nearline[bench]'"
        return None

    def shown(self, effort: float) -> str:
        return (
            f"{self.effort_name}={effort:.0f}" if self.integer_effort else f"{self.effort_name}={effort:.1e}"
        )


@lru_cache(maxsize=8)
def prepared(fitter: Fitter, problem: Problem) -> Any:
    return fitter.prepare(problem)


def prepare(fitter: Fitter, problem: Problem) -> None:
    """Load and convert at the fitter's home, before any clock or limit runs."""
    prepared(fitter, problem)


def measure(fitter: Fitter, problem: Problem, effort: float) -> Outcome:
    """One timed fit, at the fitter's home."""
    ready = prepared(fitter, problem)
    began = time.perf_counter()
    model = fitter.fit(ready, problem, effort)
    seconds = time.perf_counter() - began
    return Outcome(seconds, fitter.read(model, problem))


def fit_entry(
    fitter: Fitter,
    problem: Problem,
    effort: float,
    judge: Judge,
    *,
    ours: bool = False,
    known: Outcome | None = None,
) -> Entry:
    """A fitter at a given effort as an entry of a heat."""
    return Entry(
        fitter.name,
        partial(measure, fitter, problem, effort),
        judge,
        fitter.home,
        ours=ours,
        known=known,
        note=fitter.shown(effort),
        prepare=partial(prepare, fitter, problem),
    )
