"""Explanation: why each row got its label, as data. Estimators make them; rendering is the affair of others."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nearline._arrays.design import Array


@dataclass(frozen=True)
class Explanation(ABC):
    """Why each of m rows got its label."""

    predictions: Array  # (m,) labels, or targets

    def __len__(self) -> int:
        return len(self.predictions)

    @abstractmethod
    def rows(self, i: int) -> list[dict[str, Any]]:
        """What speaks for and against the prediction of row i, as a table."""


class Terms(Protocol):
    """Terms of the scores of rows, made when a row is asked for: all of them together may be many."""

    def __getitem__(self, i: int) -> tuple[Array, Array]:
        """Of row i: the numbers (q,) of what adds something, and what it adds to the score of each class (C, q)."""


@dataclass(frozen=True)
class Contributions(Explanation):
    """Scores as sums: of a bias, and of what each feature, training row or two-class problem adds to each class.

    The sum is the score of a class, up to a number that all classes of a row share, which decides nothing.
    """

    runners_up: Array  # (m,) labels with the largest score but for the prediction
    classes: Array  # (C,)
    of: str  # what adds something: "features", "training rows" or "problems"
    bias: Array  # (m, C)
    terms: Terms

    def pair(self, i: int) -> tuple[int, int]:
        """The numbers of row i's class and of the runner-up."""
        own, other = np.searchsorted(self.classes, [self.predictions[i], self.runners_up[i]]).tolist()
        return own, other

    def lead(self, i: int) -> tuple[Array, Array, float]:
        """What adds to the lead of row i's label over the runner-up: numbers (q,), terms (q,), and the bias."""
        own, other = self.pair(i)
        numbers, by_class = self.terms[i]
        return numbers, by_class[own] - by_class[other], float(self.bias[i, own] - self.bias[i, other])

    def rows(self, i: int) -> list[dict[str, Any]]:
        """What adds most to, or takes most from, the lead of row i's label over the runner-up; the strongest first."""
        numbers, lead, _ = self.lead(i)
        order = np.argsort(-np.abs(lead), kind="stable")
        return [
            {"index": j, "contribution": value}
            for j, value in zip(numbers[order].tolist(), lead[order].tolist())
            if value
        ]
