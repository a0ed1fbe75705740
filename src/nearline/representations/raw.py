"""Rows as they were given, for pipelines of the user's that make features of them themselves."""
# mypy: disallow-subclassing-any=False

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import _safe_indexing

from nearline._arrays.design import Array
from nearline._records.kept import ListOf, OrNone, Word, kept
from nearline.representations.base import Prepared, Representation, by_name, is_frame


@kept(columns=OrNone(ListOf(Word())))
class AsGiven(TransformerMixin, BaseEstimator):
    """Rows as they are; an array of numbers that was a frame is one again, with the names of its columns.

    Parameters
    ----------
    columns : these names, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.raw import AsGiven
    >>> AsGiven(["width"]).fit_transform(np.array([[1.5]]))
       width
    0    1.5
    """

    def __init__(self, columns: list[str] | None = None) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> "AsGiven":
        """There is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Any:
        """The rows, the columns of a frame by name."""
        if self.columns is None:
            return X
        if is_frame(X):
            return by_name(X, self.columns)
        import pandas

        return pandas.DataFrame(np.asarray(X), columns=self.columns)


@dataclass(frozen=True)
class PreparedRows(Prepared):
    """Rows of which each fold takes its own."""

    X: Any

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        return _safe_indexing(self.X, train), _safe_indexing(self.X, test)


@dataclass(frozen=True)
class AsTheyCame(Representation):
    """Nothing is done: for own pipelines only."""

    columns: tuple[str, ...] | None = None
    name: ClassVar[str] = "as given"
    reading: ClassVar[str] = "rows as given"
    gives: ClassVar[str] = "rows"

    def transformer(self) -> Any:
        return AsGiven(None if self.columns is None else list(self.columns))

    def read(self, X: Any) -> Any:
        return self.transformer().transform(X)

    def prepared(self, rows: Any) -> Prepared:
        return PreparedRows(rows)
