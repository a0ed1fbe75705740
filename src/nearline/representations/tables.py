"""Representation of tables: numbers, dates, categories and texts side by side, with missing values."""
# mypy: disallow-subclassing-any=False

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._arrays.validation import validate_data
from nearline._parallel.tiles import slices, steps
from nearline._records.kept import Instance, ListOf, Mapping, OneOf, Whole, Word, kept, require
from nearline._records.refused import UnknownNameError
from nearline._records.words import many
from nearline.representations._columns import Column, read_columns
from nearline.representations.base import Prepared, Representation, is_frame
from nearline.representations.codes import Code, Writer
from nearline.representations.coding import BY_TARGETS, NUMBERS, code_of
from nearline.representations.corrected import codes_over
from nearline.representations.shares import Targets

BLOCK, FEWEST_ROWS = 1 << 20, 256  # numbers that are made at a time, rows at least
WIDE, SPARSE = 500, 0.1  # a table with more columns, and at most this share of them filled, is a CSR matrix


def _has_columns(encoding: "Encoding") -> None:
    require(encoding.names, "A table has no columns of numbers")


@kept(codes=Mapping(Word(), Instance(Code)), links=_has_columns)
@dataclass(frozen=True)
class Encoding:
    """The codes of all columns that have values in the training rows."""

    codes: dict[str, Code]

    @classmethod
    def fit(cls, columns: dict[str, Column], numbers: str, targets: Targets | None = None) -> Self:
        """Learn from the training rows, and from their classes where the codes of many categories need them."""
        codes = {name: code_of(name, column, numbers, targets) for name, column in columns.items()}
        known = {name: code for name, code in codes.items() if code is not None}
        if not known:
            raise ValueError(
                f"All values are missing in the training rows, {many(len(columns), 'column')}: give columns with values."
            )
        return cls(known)

    @property
    def names(self) -> list[str]:
        """What the output columns are called."""
        return [name for code in self.codes.values() for name in code.names]

    def encode(self, columns: dict[str, Column]) -> Any:
        """Numbers, float32: dense, or CSR if wide and mostly zeros. Some rows at a time, which stay in the cache."""
        return self._encoded(columns, lambda name, code: code.writer(columns[name]))

    def encode_own(self, columns: dict[str, Column], targets: Targets | None) -> Any:
        """The same of the training rows: what is learned from labels comes from those of other rows."""
        if targets is None:
            return self.encode(columns)
        return self._encoded(columns, lambda name, code: code.own_writer(columns[name], targets))

    def _encoded(self, columns: dict[str, Column], writer: Callable[[str, Code], Writer]) -> Any:
        n, width = len(next(iter(columns.values()))), len(self.names)
        filled = sum(code.filled for code in self.codes.values())
        writers = [(writer(name, code), len(code.names)) for name, code in self.codes.items()]
        blocks = steps(slices(n, max(FEWEST_ROWS, BLOCK // width)))
        if width > WIDE and filled <= SPARSE * width:
            parts = (
                _written(writers, rows, np.zeros((rows.stop - rows.start, width), np.float32))
                for rows in blocks
            )
            return vstack(list(map(csr_matrix, parts)), format="csr")
        out = np.zeros((n, width), dtype=np.float32)
        for rows in blocks:
            _written(writers, rows, out[rows])
        return out


def _written(writers: list[tuple[Writer, int]], rows: slice, out: Array) -> Array:
    """The numbers of some rows, in place of zeros."""
    start = 0
    for write, own in writers:
        write(rows, out[:, start : start + own])
        start += own
    return out


class ColumnsEncoder(TransformerMixin, BaseEstimator, ABC):
    """A table of mixed columns as numbers, found by name in frames of pandas or polars, by place in an array of objects."""

    scale: str
    columns_: list[str]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []  # float32, whatever comes
        tags.target_tags.required = self.scale in BY_TARGETS
        return tags

    @abstractmethod
    def _learn(self, columns: dict[str, Column], y: Any) -> None:
        """Fit to the columns of the training rows."""

    @abstractmethod
    def _encode(self, columns: dict[str, Column]) -> Any:
        """Rows as numbers."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """What the output columns are called."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the training rows."""
        self._read(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:
        """The training rows as numbers; their values are read once."""
        return self._encode_own(self._read(X, y), y)

    def _encode_own(self, columns: dict[str, Column], y: Any) -> Any:
        """The training rows as numbers."""
        return self._encode(columns)

    def _read(self, X: Any, y: Any) -> dict[str, Column]:
        columns = self._columns(X, reset=True)
        self._learn(columns, y)
        self.columns_ = list(columns)
        self.n_features_in_ = len(columns)
        if is_frame(X):
            self.feature_names_in_ = np.array(self.columns_, dtype=object)
        return columns

    def _columns(self, X: Any, *, reset: bool) -> dict[str, Column]:
        if is_frame(X):
            return read_columns(X)
        X = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset)
        return read_columns(X)

    def transform(self, X: Any) -> Any:
        """Rows as numbers. The columns of a frame are found by name, others are ignored; those of an array by place."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        if not is_frame(X):
            columns = dict(zip(self.columns_, columns.values()))
        lacking = [name for name in self.columns_ if name not in columns]
        if lacking:
            raise ValueError(
                f"Columns {', '.join(map(repr, lacking[:5]))} are missing ({len(lacking)} of {self.n_features_in_}): "
                "give all columns that the model was fitted with."
            )
        return self._encode(columns)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the output columns."""
        check_is_fitted(self)
        return np.array(self.names, dtype=object)


def checked_scale(scale: str) -> str:
    """A known way to scale numbers."""
    if scale not in NUMBERS:
        raise UnknownNameError("scale", scale, NUMBERS)
    return scale


def targets_of(y: Any, scale: str) -> Targets | None:
    """The classes of training rows, where codes are learned from them."""
    return None if y is None or scale not in BY_TARGETS else Targets.of(y)


def _of_its_columns(table: "TableEncoder") -> None:
    known = set(table.encoding_.codes) <= set(table.columns_)
    require(known, "A table has codes of columns that it does not have")


@kept(
    scale=OneOf(NUMBERS),
    encoding_=Instance(Encoding),
    columns_=ListOf(Word(), "D", distinct=True),
    n_features_in_=Whole(1),
    links=_of_its_columns,
)
class TableEncoder(ColumnsEncoder):
    """A table of mixed columns as numbers (float32), of pandas, polars or an array of objects.

    Numbers (also those written as strings) are scaled, missing ones are replaced by the median and marked in a column of
    their own; dates (ISO) become days, month, day, weekday and hour; strings of few distinct values become columns of
    zeros and ones, others 30 columns that describe their runs of characters. What training rows do not have is ignored.

    Parameters
    ----------
    scale : "standard" (mean 0, deviation 1), "minmax" (0 to 1), "quantile" (normal ranks) or "robust" (median 0, distance of
        the quartiles 1), for numbers and dates; "values" (whole numbers of 3 to 12 different values become columns of zeros
        and ones, others are standardized); "splines" (the same, and others become cubic splines with knots at quantiles);
        "shares" (numbers are standardized; strings of more than 10 recurring values become the smoothed shares of classes
        among the training rows that have them: ``fit_transform`` gives each training row those of other rows).

    Examples
    --------
    >>> import pandas as pd
    >>> from nearline.representations.tables import TableEncoder
    >>> train = pd.DataFrame({"size": [1.0, None, 3.0], "color": ["red", "blue", "red"]})
    >>> encoder = TableEncoder("minmax").fit(train)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'size_nan', 'color_blue', 'color_red']
    >>> encoder.transform(pd.DataFrame({"size": [2.0], "color": ["green"]}))
    array([[0.5, 0. , 0. , 0. ]], dtype=float32)
    """

    def __init__(self, scale: str = "standard") -> None:
        self.scale = scale

    def _learn(self, columns: dict[str, Column], y: Any) -> None:
        self.encoding_ = Encoding.fit(columns, checked_scale(self.scale), targets_of(y, self.scale))

    def _encode_own(self, columns: dict[str, Column], y: Any) -> Any:
        return self.encoding_.encode_own(columns, targets_of(y, self.scale))

    def _encode(self, columns: dict[str, Column]) -> Any:
        return self.encoding_.encode(columns)

    @property
    def names(self) -> list[str]:
        return self.encoding_.names

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the output columns; those of an array's columns may be given."""
        found = super().get_feature_names_out()
        if input_features is None or vars(self).get("feature_names_in_") is not None:
            return found
        given = dict(zip(self.columns_, input_features, strict=True))
        owners = [name for name, code in self.encoding_.codes.items() for _ in code.names]
        renamed = [f"{given[own]}{name.removeprefix(own)}" for own, name in zip(owners, found, strict=True)]
        return np.array(renamed, dtype=object)


@dataclass(frozen=True)
class PreparedTable(Prepared):
    """Columns read once: each fold learns their codes from its training rows."""

    columns: dict[str, Column]
    scale: str

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        rows = {name: column.take(train) for name, column in self.columns.items()}
        targets = targets_of(codes, self.scale)
        encoding = Encoding.fit(rows, self.scale, targets)
        others = {name: column.take(test) for name, column in self.columns.items()}
        return encoding.encode_own(rows, targets), encoding.encode(others)


@dataclass(frozen=True)
class TableRepresentation(Representation):
    """Mixed columns as numbers, scaled to mean 0 and deviation 1."""

    name: ClassVar[str] = "table"
    reading: ClassVar[str] = "columns"
    scale: ClassVar[str] = "standard"

    def transformer(self) -> Any:
        return TableEncoder(self.scale)

    def read(self, X: Any) -> dict[str, Column]:
        return read_columns(X)

    def prepared(self, rows: Any) -> Prepared:
        return PreparedTable(rows, self.scale)

    def corrected(self, transformer: Any, seen: Any) -> Any:
        found = copy(transformer)
        found.encoding_ = Encoding(codes_over(transformer.encoding_.codes, seen, self.scale))
        return found
