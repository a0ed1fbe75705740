"""The parts of a contest's rows, for those who show them: the training part, and the test part once it is open."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline.selection.locked_test import LockedTest
from nearline.selection.rows import LabeledRows
from nearline.selection.splits import Division


class DividesRows:
    """Of an estimator that locks test rows away before it learns from the others."""

    _rows: LabeledRows  # all
    classes_: Array
    _division: Division
    _train: Array  # numbers of the rows to learn from
    _locked: LockedTest | None
    _numbers: Array | None = None  # of the rows at hand among all, where these are a sample of rows in blocks
    _training_counts: Array | None = None  # of rows in blocks

    @property
    def test_rows_(self) -> Array | None:
        """Numbers of the rows that were locked away; None for test rows of your own, or none."""
        return None if self._locked is None else self._locked.numbers

    @property
    def openings_(self) -> int:
        """How often the test was opened."""
        return 0 if self._locked is None else self._locked.counted.openings

    @property
    def training_labels_(self) -> Array:
        """Labels of the training part."""
        return np.asarray(self._rows.y[self._train])

    def training_part(
        self, most: int | None = None, *, places: Array | None = None
    ) -> tuple[Any, Array, Array]:
        """Rows, labels and row numbers of the training part: all, so many of them by chance, or those at some places."""
        check_is_fitted(self, "leaderboard_")
        numbers = self._train if places is None else self._train[places]
        if most is not None and len(numbers) > most:
            numbers = np.sort(np.random.default_rng(0).permutation(numbers)[:most])
        part = self._rows.some(numbers)
        return part.X, part.y, numbers if self._numbers is None else self._numbers[numbers]

    @property
    def training_counts_(self) -> Array:
        """(C,) rows of each class in the training part; of rows in blocks all, though a sample is at hand."""
        if self._training_counts is not None:
            return self._training_counts
        labels: Array = self.training_labels_
        return np.bincount(np.searchsorted(self.classes_, labels), minlength=len(self.classes_))

    def opened_part(self) -> tuple[Any, Array] | None:
        """Rows and labels of the test part once it is open; before, or without one, None."""
        if self._locked is None or self._locked.result is None:
            return None
        return self._locked.rows.X, self._locked.rows.y

    @property
    def split_(self) -> str:
        """How folds and test rows were drawn: "stratified", "group" or "time"."""
        return self._division.kind
