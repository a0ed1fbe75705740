"""Rows with what belongs to them: labels, groups and weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from nearline._arrays.design import Array


@dataclass(frozen=True)
class LabeledRows:
    """Rows as they came, with their labels."""

    X: Any
    y: Array
    groups: Array | None = None  # numbers
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def some(self, numbers: Array) -> "LabeledRows":
        """The rows of these numbers; all of them in order are not copied."""
        if len(numbers) == len(self) and np.array_equal(numbers, np.arange(len(self))):
            return self
        groups = None if self.groups is None else self.groups[numbers]
        weights = None if self.weights is None else self.weights[numbers]
        return LabeledRows(_safe_indexing(self.X, numbers), self.y[numbers], groups, weights)
