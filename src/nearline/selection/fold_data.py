"""FoldData: rows as numbers, fold by fold, made once for all families."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._parallel.stopping import Deadline
from nearline.estimators.base import class_weights
from nearline.representations import Representation
from nearline.selection.account import Account
from nearline.selection.families import Fold, voters_of
from nearline.selection.folds import Folds

ROWS = "rows as numbers, for all families"  # who pays for representations


@dataclass(frozen=True)
class TrainingRows:
    """The rows of the training part, and the folds in which they are used."""

    X: Any
    codes: Array
    classes: Array
    weights: Array | None
    folds: Folds
    independent: bool = True  # not of groups, nor in time

    @property
    def test_to_train(self) -> float:
        return float(np.mean([len(test) / len(train) for train, test in self.folds]))


class FoldData:
    """Folds as numbers, kept for the next family while they fit into the memory given."""

    def __init__(
        self, rows: TrainingRows, class_weight: Any, memory: float, account: Account | None = None
    ) -> None:
        self.rows, self.class_weight, self.memory = rows, class_weight, memory
        self._account = Account() if account is None else account
        self._read: dict[str, Any] = {}  # by what is read
        self._prepared: dict[str, Any] = {}
        self._kept: dict[str, dict[int, Fold]] = {}
        self._once: dict[
            str, float
        ] = {}  # seconds that reading took, and each representation before its folds
        self._longest: dict[str, float] = {}  # seconds of the longest fold of each representation
        self._size: dict[str, float] = {}  # bytes of the largest fold of each representation
        self.making = 0.0  # seconds that all folds took so far

    def all_fit(self, representations: list[Representation]) -> bool:
        """Whether the folds of all representations fit; those of the first tell how large they are."""
        if not representations:
            return True
        each = self.largest(representations[0]).data_bytes * 1.3 * len(self.rows.folds)
        return each * len(representations) <= self.memory

    def largest(self, representation: Representation) -> Fold:
        """The fold with most training rows: what it can bear, all can. In time, the last has many times the first's."""
        sizes = [len(train) for train, _ in self.rows.folds]
        return replace(self.fold(representation, int(np.argmax(sizes))), fewest_voters=self.fewest_voters)

    @once
    def fewest_voters(self) -> int:
        """Rows that can be neighbors, counted by their weights, in the fold that has the fewest."""
        return min(voters_of(len(train), self._weights(train)) for train, _ in self.rows.folds)

    def keep_all(self, representation: Representation) -> bool:
        """Make all folds and keep them, if they fit."""
        every = 1.3 * self.largest(representation).data_bytes * len(self.rows.folds)
        kept = self._kept[representation.name]
        if len(kept) < len(self.rows.folds) and self._used() + every <= self.memory:
            for f in range(len(self.rows.folds)):
                self.fold(representation, f)
        return len(kept) == len(self.rows.folds)

    def fold(self, representation: Representation, f: int) -> Fold:
        """Fold number f."""
        kept = self._kept.setdefault(representation.name, {})
        if f in kept:
            return kept[f]
        train, test = self.rows.folds[f]
        # before it is made: a fold that is too large to be kept beside others is never in memory beside them
        self._make_room(representation, self._size_of(representation))
        with self._account.charge(ROWS):
            prepared, watch = self._made(representation), Deadline(None)
            X_train, X_test = prepared.fold(train, test, self.rows.codes[train])
        self._longest[representation.name] = max(self._longest.get(representation.name, 0.0), watch.spent)
        self.making += watch.spent
        gram = representation.gives == "gram"
        squares = prepared.squares[test] if gram else None
        rows, codes = self.rows, self.rows.codes[train]
        fold = Fold(X_train, codes, self._weights(train), X_test, rows.classes, gram, squares)
        one = 1.3 * fold.data_bytes
        self._size[representation.name] = max(self._size.get(representation.name, 0.0), one)
        self._make_room(representation, one)
        alone = not any(self._kept.values())  # one is kept in any case: families ask for it before they begin
        if alone or self._used() + one <= self.memory:
            kept[f] = fold
        return fold

    def seconds(self, representation: Representation) -> float:
        """That representing the rows of a fold takes from the beginning, by what it took here."""
        once = sum(self._once.get(name, 0.0) for name in {representation.reading, representation.name})
        return once + self._longest.get(representation.name, 0.0)

    def seconds_to_make(self, representation: Representation, like: Representation | None = None) -> float:
        """That the folds which are not kept take; of a representation that is not begun, by another of the same reading."""
        known = (
            representation.name
            if representation.name in self._longest or like is None or like.reading != representation.reading
            else like.name
        )
        missing = len(self.rows.folds) - len(self._kept.get(representation.name, ()))
        return missing * self._longest.get(known, 0.0)

    def forget(self) -> None:
        """Give the memory back: the last fit needs some."""
        for kept in (self._kept, self._prepared, self._read):
            kept.clear()

    def bytes_with(self, fold: Fold) -> float:
        """That folds like this one take while a family runs: those that are kept, one at least."""
        one = 1.3 * fold.data_bytes
        kept = min(len(self.rows.folds), self.memory // max(one, 1.0))
        return one * max(1.0, kept)

    def seconds_for(self, representations: Iterable[Representation]) -> float:
        """That units will wait for folds, each unit named by its representation: those that are not kept are made anew."""
        units = list(representations)
        if not units:
            return 0.0
        needs = {one.name: self.seconds_to_make(one, units[0]) for one in units}
        fit = {one.name for one in units if self._would_keep(one)}
        return sum(needs[name] for name in fit) + sum(needs[one.name] for one in units if one.name not in fit)

    def _would_keep(self, representation: Representation) -> bool:
        """Whether all its folds fit, if it is there alone."""
        known = self._kept.get(representation.name)
        if not known:
            return representation.name not in self._longest  # not made: unknown; made and not kept: too large
        one = next(iter(known.values()))
        return 1.3 * one.data_bytes * len(self.rows.folds) <= self.memory

    def _made(self, representation: Representation) -> Any:
        """All that is done before there are folds; what is read is shared by representations that read the same."""
        if representation.reading not in self._read:
            watch = Deadline(None)
            self._read[representation.reading] = representation.read(self.rows.X)
            self._once[representation.reading] = watch.spent
        if representation.name not in self._prepared:
            watch = Deadline(None)
            self._prepared[representation.name] = representation.prepared(self._read[representation.reading])
            self._once[representation.name] = watch.spent
        return self._prepared[representation.name]

    def _weights(self, train: Array) -> Array | None:
        """For fitting on these rows."""
        weights = None if self.rows.weights is None else self.rows.weights[train]
        return fitting_weights(self.rows.codes[train], self.rows.classes, weights, self.class_weight)

    def _used(self) -> float:
        return sum(1.3 * fold.data_bytes for folds in self._kept.values() for fold in folds.values())

    def _size_of(self, representation: Representation) -> float:
        """Bytes of a fold, by one that was made; of a representation that is not begun, by the largest of the others."""
        return self._size.get(representation.name, max(self._size.values(), default=0.0))

    def _make_room(self, representation: Representation, size: float) -> None:
        """Other representations' folds go first, then this one's if two of them are too much already."""
        for name in list(self._kept):
            if name != representation.name and self._used() + size > self.memory:
                self._kept[name].clear()
        if 2 * size > self.memory:
            self._kept.get(representation.name, {}).clear()


def fitting_weights(codes: Array, classes: Array, weights: Array | None, class_weight: Any) -> Array | None:
    """Weights of rows times those of their classes; "balanced" looks at these rows only."""
    if class_weight is None:
        return weights
    known = np.unique(codes)
    if isinstance(class_weight, dict):
        unknown = [label for label in class_weight if label not in classes]
        if unknown:
            raise ValueError(
                f"class_weight has {unknown[0]!r}, which is no label: there are {classes.tolist()}."
            )
        numbers = {int(np.flatnonzero(classes == label)[0]): w for label, w in class_weight.items()}
        class_weight = {code: w for code, w in numbers.items() if code in known}
    of_class = np.zeros(len(classes))
    of_class[known] = class_weights(class_weight, known, codes)
    return of_class[codes] if weights is None else of_class[codes] * weights
