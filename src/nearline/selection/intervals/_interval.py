"""Interval: two ends with their level and the method that they come from, or the reason why there are none."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Interval:
    """A confidence interval; ``low`` and ``high`` are NaN where it is undefined, and ``reason`` says why.

    Examples
    --------
    >>> interval = Interval(0.71, 0.86, 0.95, "Wilson")
    >>> str(interval), 0.8 in interval, interval.defined
    ('[0.710, 0.860]', True, True)
    >>> interval.said()
    '95% interval 0.7100 to 0.8600, Wilson'
    """

    low: float
    high: float
    confidence: float
    method: str
    reason: str | None = None

    @property
    def defined(self) -> bool:
        """Whether there is an interval at all."""
        return self.reason is None

    def __contains__(self, value: float) -> bool:
        return bool(self.low <= value <= self.high)

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}]" if self.defined else f"undefined: {self.reason}"

    def bounds(self, digits: int = 4) -> str:
        """Both ends, "0.7100 to 0.8600", with as many more digits as it takes to tell them apart."""
        if not self.defined:
            return "no interval"
        while digits < 15 and f"{self.low:.{digits}f}" == f"{self.high:.{digits}f}":
            digits += 1
        return f"{self.low:.{digits}f} to {self.high:.{digits}f}"

    def said(self, digits: int = 4) -> str:
        """The ends with level and method, or why there are none, to stand in a sentence."""
        if not self.defined:
            return f"no interval: {self.reason}"
        return f"{self.confidence:.0%} interval {self.bounds(digits)}, {self.method}"


def undefined(confidence: float, method: str, reason: str) -> Interval:
    """No interval, and why."""
    return Interval(np.nan, np.nan, confidence, method, reason)


def tail(confidence: float) -> float:
    """The probability outside, on each side."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}: 0.95 is usual.")
    return (1.0 - confidence) / 2.0
