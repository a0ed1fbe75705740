"""Representations: how rows become numbers. What is fitted is fitted on the training rows of a fold alone."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from nearline._arrays.design import Array

NOTHING = ("None", "nan", "<NA>", "NaT")  # how missing values of Python, NumPy and pandas are written
FRAMES = ("pandas", "polars")  # libraries whose frames are read


class Prepared(ABC):
    """Rows after all that needs no look across rows: each fold goes on from here."""

    @abstractmethod
    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        """Numbers of the training rows and of the rows left out, all that is fitted taken from the training rows.

        ``codes`` are the classes of the training rows, for representations that learn from them.
        """


@dataclass(frozen=True)
class Representation(ABC):
    """How rows become numbers: a transformer for final models, and the same transformer shared by folds."""

    name: ClassVar[str]
    reading: ClassVar[str] = (
        "rows"  # what is read of rows once for all representations that have the same word here
    )
    # or "gram": values of a kernel with the training rows; others ("n-grams", "presence",
    # "splines", "values", "products") are for some families only, those that they serve
    gives: ClassVar[str] = "numbers"

    # whether training rows have other numbers in ``fit_transform`` than rows to come: rows in blocks have the latter alone
    crossed: ClassVar[bool] = False

    def chained(self, model: Any) -> list[tuple[str, Any]]:
        """What a final model consists of: first how rows become numbers, then the classifier."""
        return [("representation", self.transformer()), ("model", model)]

    @abstractmethod
    def transformer(self) -> Any:
        """A new, unfitted scikit-learn transformer."""

    def suits(self, X: Any) -> bool:
        """Whether these rows have what sets it apart from other representations."""
        return True

    def adapted(self, X: Any) -> Self:
        """The same, with what these rows need (missing values, rare words)."""
        return self

    def seconds(self, X: Any) -> float:
        """About how long ``prepare`` takes, where that is long."""
        return 0.0

    def read(self, X: Any) -> Any:
        """The rows as ``prepared`` takes them, the same for all representations of one ``reading``."""
        return X

    @abstractmethod
    def prepared(self, rows: Any) -> Prepared:
        """Do once, for all rows, what does not look across rows."""

    def prepare(self, X: Any) -> Prepared:
        """The same, from rows as they are."""
        return self.prepared(self.read(X))

    def counted(self, X: Any) -> tuple[str, ...]:
        """Columns of a frame whose words are to be counted, for :meth:`corrected`."""
        return ()

    def corrected(self, transformer: Any, seen: Any) -> Any:
        """A transformer that was fitted to a sample, as all training rows say it, of which this was seen."""
        return transformer


def library_of(X: Any) -> str:
    """Name of the package that a value's type comes from, asked without importing it."""
    return type(X).__module__.partition(".")[0]


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas or polars."""
    return library_of(X) in FRAMES and getattr(X, "columns", None) is not None


def names_of(X: Any) -> list[str]:
    """Names of a frame's columns as strings; a name that occurs twice is refused."""
    names = [str(name) for name in X.columns]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise ValueError(
            f"Column names must differ, but {', '.join(map(repr, twice))} occurs more than once: "
            "rename or drop columns."
        )
    return names


def by_name(X: Any, names: list[str] | None) -> Any:
    """A frame with these columns, in this order, whatever its own order is and what else it has; else X as it is."""
    if names is None or not is_frame(X) or names == names_of(X):
        return X
    have = names_of(X)
    lacking = [name for name in names if name not in set(have)]
    if lacking:
        extra = [name for name in have if name not in set(names)]
        other = f" It has others: {', '.join(map(repr, extra[:5]))}." if extra else ""
        raise ValueError(
            f"X lacks {len(lacking)} of the {len(names)} columns of the fit: {', '.join(map(repr, lacking[:5]))}.{other} "
            "Give all columns that the model was fitted with, in any order."
        )
    return X[names]


def series_of(X: Any) -> list[Any]:
    """The columns of a frame, in order, as series of its library."""
    read: dict[str, Callable[[int], Any]] = {
        "pandas": lambda j: X.iloc[:, j],
        "polars": lambda j: X.to_series(j),
    }
    return [read[library_of(X)](j) for j in range(len(X.columns))]


def _pandas_kind(series: Any) -> str:
    kinds = {"M": "date", "m": "duration"} | dict.fromkeys("biuf", "number")
    return kinds.get(series.dtype.kind, "string")


POLARS_KINDS = {
    "Date": "date",
    "Datetime": "date",
    "Duration": "duration",
    "Categorical": "category",
    "Enum": "category",
}


def _polars_kind(series: Any) -> str:
    dtype = series.dtype
    if dtype.is_numeric() or str(dtype) == "Boolean":
        return "number"
    # "Datetime(time_unit='us', time_zone=None)" and the like: the word before the bracket is the type
    return POLARS_KINDS.get(str(dtype).partition("(")[0], "string")


def kind_of_series(series: Any) -> str:
    """What a column's type declares: 'number', 'date', 'duration', 'category' (of polars) or 'string' (anything else)."""
    return {"pandas": _pandas_kind, "polars": _polars_kind}[library_of(series)](series)


def strings_in(values: list[Any]) -> bool:
    """Whether values are strings, some of them perhaps missing."""
    return any(isinstance(v, str) for v in values) and all(
        isinstance(v, str) or str(v) in NOTHING for v in values
    )
