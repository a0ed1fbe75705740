"""Representations of tables that differ in how numbers and categories become features, and in what is added to them."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.pipeline import make_pipeline

from nearline.representations._columns import Column, read_columns
from nearline.representations.base import Prepared
from nearline.representations.coding import are_many, has_few_values
from nearline.representations.interactions import Interactions, PreparedInteractions
from nearline.representations.tables import TableEncoder, TableRepresentation


@dataclass(frozen=True)
class MinMaxTable(TableRepresentation):
    """Mixed columns as numbers from 0 to 1."""

    name: ClassVar[str] = "table-minmax"
    scale: ClassVar[str] = "minmax"


@dataclass(frozen=True)
class ValuesTable(TableRepresentation):
    """Whole numbers of few values as categories, others scaled to mean 0 and deviation 1."""

    name: ClassVar[str] = "table-values"
    gives: ClassVar[str] = "values"
    scale: ClassVar[str] = "values"

    def suits(self, X: Any) -> bool:
        return has_few_values(read_columns(X))


@dataclass(frozen=True)
class SharesTable(TableRepresentation):
    """Categories of many values by the shares of classes among their rows, others as zeros and ones."""

    name: ClassVar[str] = "table-shares"
    scale: ClassVar[str] = "shares"
    crossed: ClassVar[bool] = True

    def suits(self, X: Any) -> bool:
        return any(map(are_many, read_columns(X).values()))


@dataclass(frozen=True)
class SplineTable(TableRepresentation):
    """Numbers as cubic splines on quantiles, for linear models."""

    name: ClassVar[str] = "table-splines"
    gives: ClassVar[str] = "splines"
    scale: ClassVar[str] = "splines"


@dataclass(frozen=True)
class RobustTable(TableRepresentation):
    """Mixed columns as numbers, by their distance from the median in units of the quartiles' distance."""

    name: ClassVar[str] = "table-robust"
    scale: ClassVar[str] = "robust"


@dataclass(frozen=True)
class QuantileTable(TableRepresentation):
    """Mixed columns as numbers, by their ranks on the scale of a standard normal variable."""

    name: ClassVar[str] = "table-quantile"
    scale: ClassVar[str] = "quantile"


@dataclass(frozen=True)
class InteractionsTable(TableRepresentation):
    """Mixed columns as numbers, and products of two that the labels ask for, for linear models."""

    name: ClassVar[str] = "table-interactions"
    gives: ClassVar[str] = "products"

    def transformer(self) -> Any:
        return make_pipeline(TableEncoder(self.scale), Interactions())

    def prepared(self, rows: dict[str, Column]) -> Prepared:
        return PreparedInteractions(super().prepared(rows))

    def corrected(self, transformer: Any, seen: Any) -> Any:
        """Products belong to the columns of the sample."""
        return transformer
