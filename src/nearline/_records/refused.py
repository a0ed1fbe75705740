"""ParameterError: which parameter cannot be what it is, as data; the sentence is made once, in the reader's words."""

from collections.abc import Iterable
from typing import Any

from nearline._records.words import did_you_mean, worded

# Parameters that the command line has options for. Others keep their name there.
OPTIONS = {
    "alphas": "--alphas",
    "calibrate": "--calibrate",
    "choose": "--choose",
    "class_weight": "--class-weight",
    "costs": "--costs",
    "exclude": "--exclude",
    "features": "--features",
    "folds": "--folds",
    "include": "--include",
    "ks": "--ks",
    "loss": "--loss",
    "metric": "--metric",
    "metrics": "--metric",
    "outliers": "--outliers",
    "pos_label": "--positive",
    "preset": "--preset",
    "random_state": "--random-state",
    "refit": "--refit",
    "regularizer": "--regularizer",
    "scoring": "--scoring",
    "starts": "--starts",
    "steps": "--steps",
    "test": "--test",
    "threshold": "--threshold",
    "time_limit": "--time-limit",
    "top": "--top",
    "weights": "--weights",
}


class ParameterError(ValueError):
    """A parameter is what it cannot be.

    Parameters
    ----------
    parameter : its name in Python.
    found : the value.
    allowed : what it may be, in words, or the values to choose among.
    remedy : what to do, where that does not follow from it.

    Examples
    --------
    >>> from nearline._records.refused import ParameterError
    >>> from nearline._records.words import at_the_command_line
    >>> print(ParameterError("time_limit", -1, "a number of seconds > 0"))
    time_limit must be a number of seconds > 0, got -1.
    >>> print(ParameterError("choose", "first", ("best", "one-se")))
    choose must be 'best' or 'one-se', got 'first'.
    >>> with at_the_command_line():
    ...     print(ParameterError("time_limit", -1, "a number of seconds > 0", "leave it out for no limit"))
    --time-limit must be a number of seconds > 0, got -1: leave it out for no limit.
    """

    def __init__(self, parameter: str, found: Any, allowed: str | tuple[Any, ...], remedy: str = "") -> None:
        self.parameter, self.found, self.allowed, self.remedy = parameter, found, allowed, remedy
        super().__init__(self._said())

    def _said(self) -> str:
        allowed = self.allowed if isinstance(self.allowed, str) else " or ".join(map(_one_of, self.allowed))
        remedy = f": {self.remedy}" if self.remedy else ""
        return f"{self._called()} must be {allowed}, got {self.found!r}{remedy}."

    def _called(self) -> str:
        return worded(self.parameter, OPTIONS.get(self.parameter, self.parameter))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.found, self.allowed, self.remedy)


def _one_of(value: Any) -> str:
    """A value to choose, as it is written."""
    return worded("None", "'none'") if value is None else repr(value)


class UnknownNameError(ParameterError):
    """A name that stands for nothing: the names that do, what may be given instead of one, and the nearest spelling.

    Parameters
    ----------
    parameter : its name in Python.
    found : the value.
    known : names to choose among.
    also : what may be given instead, as it follows upon the names.
    kind : what is named, where the parameter does not say it.

    Examples
    --------
    >>> from nearline._records.refused import UnknownNameError
    >>> print(UnknownNameError("metric", "cosin", ("l2", "cosine"), "or an object such as Lq(3)"))
    Unknown metric 'cosin': choose among 'l2', 'cosine', or an object such as Lq(3). Did you mean 'cosine'?
    """

    def __init__(
        self, parameter: str, found: Any, known: Iterable[str], also: str = "", kind: str = ""
    ) -> None:
        self.also, self.kind = also, kind
        super().__init__(parameter, found, tuple(known))

    def _said(self) -> str:
        also = f", {self.also}" if self.also else ""
        return (
            f"Unknown {self.kind or self._called()} {self.found!r}: choose among {', '.join(map(repr, self.allowed))}{also}."
            f"{did_you_mean(self.found, self.allowed)}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.found, self.allowed, self.also, self.kind)


def check_choice(parameter: str, found: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse a value that is none of those to choose among; an array is none."""
    if not any(found is one or (isinstance(found, type(one)) and found == one) for one in allowed):
        raise ParameterError(parameter, found, allowed)
