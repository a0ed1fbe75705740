"""Representations of numbers column by column, by the codes of tables: splines, few values as categories, robust scales."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.pipeline import make_pipeline

from nearline.representations._columns import Column, read_columns
from nearline.representations.coding import has_few_values
from nearline.representations.numbers import AsNumbers
from nearline.representations.tables import TableEncoder, TableRepresentation


@dataclass(frozen=True)
class EncodedNumbers(TableRepresentation):
    """Each column by a code of its own, learned from the training rows; NaN is the median, and marked."""

    reading: ClassVar[str] = "columns of numbers"

    def transformer(self) -> Any:
        return make_pipeline(AsNumbers(), TableEncoder(self.scale))

    def read(self, X: Any) -> dict[str, Column]:
        return read_columns(AsNumbers().fit_transform(X))


@dataclass(frozen=True)
class Splines(EncodedNumbers):
    """Cubic splines with knots at quantiles, for linear models; whole numbers of few values as categories."""

    name: ClassVar[str] = "splines"
    gives: ClassVar[str] = "splines"
    scale: ClassVar[str] = "splines"


@dataclass(frozen=True)
class Values(EncodedNumbers):
    """Whole numbers of few values as categories, others standardized."""

    name: ClassVar[str] = "values"
    gives: ClassVar[str] = "values"
    scale: ClassVar[str] = "values"

    def suits(self, X: Any) -> bool:
        return has_few_values(self.read(X))


@dataclass(frozen=True)
class Robust(EncodedNumbers):
    """Each column minus its median, divided by the distance between its quartiles."""

    name: ClassVar[str] = "robust"
    scale: ClassVar[str] = "robust"
