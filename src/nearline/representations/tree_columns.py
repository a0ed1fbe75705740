"""Columns as trees take them: numbers as they are, missing ones too, dates as seconds, categories as bare numbers."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from nearline._arrays.design import Array, is_sparse
from nearline.representations._columns import Column, read_columns
from nearline.representations.base import Prepared, Representation, is_frame
from nearline.representations.coding import KINDS

MOST_CATEGORIES = 254  # the most frequent ones of a column; all others are one more
LARGEST = 1e8  # numbers of a sparse matrix that is made dense


@dataclass(frozen=True)
class TreeColumns:
    """Rows (n, D) in float64, NaN where a value is missing, and which columns are categories."""

    X: Array
    categories: tuple[int, ...]

    @classmethod
    def of(cls, X: Any) -> "TreeColumns":
        """Nothing is learned from other rows than which strings there are. Columns of texts are left out."""
        if is_sparse(X):
            if float(X.shape[0]) * X.shape[1] > LARGEST:
                raise ValueError(f"{X.shape[1]:,} sparse columns are too many for trees")
            return cls(X.toarray().astype(np.float64), ())
        if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
            return cls(X.astype(np.float64), ())
        columns = read_columns(X) if is_frame(X) or np.ndim(X) == 2 else {}
        kinds = {name: KINDS[column.kind](column) for name, column in columns.items()}
        taken = {name: kind for name, kind in kinds.items() if kind in READ}
        if not taken:
            raise ValueError("trees take numbers, dates and categories, and these rows have none")
        values = [READ[kind](columns[name]) for name, kind in taken.items()]
        categories = tuple(j for j, kind in enumerate(taken.values()) if kind == "category")
        return cls(np.column_stack(values), categories)


def _categories(column: Column) -> Array:
    strings = column.strings()
    known = strings.codes[strings.codes >= 0]
    order = np.argsort(-np.bincount(known, minlength=len(strings.distinct.values)), kind="stable")
    places = np.empty(len(order) + 1)
    places[order] = np.minimum(np.arange(len(order)), MOST_CATEGORIES)
    places[-1] = np.nan  # of missing strings
    return np.asarray(places[strings.codes])


READ = {
    "number": lambda column: column.numbers,
    "date": lambda column: column.seconds,
    "category": _categories,
}


@dataclass(frozen=True)
class PreparedColumns(Prepared):
    """Rows of which each fold takes its own."""

    X: Array

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        return self.X[train], self.X[test]


@dataclass(frozen=True)
class Columns(Representation):
    """For trees. No family of a contest takes it: they need scales, and no missing values."""

    table: TreeColumns
    name: ClassVar[str] = "columns"
    reading: ClassVar[str] = "columns of trees"
    gives: ClassVar[str] = "columns"

    def transformer(self) -> Any:
        return FunctionTransformer(lambda X: TreeColumns.of(X).X)

    def prepared(self, rows: Any) -> Prepared:
        return PreparedColumns(self.table.X)
