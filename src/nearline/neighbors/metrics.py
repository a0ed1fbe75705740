"""METRICS: the metrics by name. To list a class here is to have it named, searched, kept in files, tested, documented."""

from dataclasses import MISSING, fields
from typing import Any

from nearline import _core
from nearline._records.habits import ours
from nearline._records.refused import UnknownNameError
from nearline._records.spoken import spoken
from nearline._records.words import worded
from nearline.neighbors.given import Function, PrecomputedDistances
from nearline.neighbors.learned import Learned
from nearline.neighbors.lengths import Euclidean, LInfinity, Lq, Manhattan, SquaredL2
from nearline.neighbors.mahalanobis import Mahalanobis
from nearline.neighbors.matches import Hamming, Jaccard
from nearline.neighbors.metric import NO_ROWS, Metric
from nearline.neighbors.similarities import Cosine, InnerProduct

METRIC_TYPES: tuple[type[Metric], ...] = (
    Manhattan,
    Euclidean,
    SquaredL2,
    LInfinity,
    Lq,
    Cosine,
    InnerProduct,
    Hamming,
    Jaccard,
    Mahalanobis,
    Learned,
    PrecomputedDistances,
)


def _takes_nothing(kind: type[Metric]) -> bool:
    return all(field.default is not MISSING or field.default_factory is not MISSING for field in fields(kind))


METRICS: dict[str, Metric] = {kind.name: kind() for kind in METRIC_TYPES if _takes_nothing(kind)}
ALIASES = {alias: kind.name for kind in METRIC_TYPES for alias in kind.aliases}
BY_NAME = {kind.name: kind for kind in METRIC_TYPES}


def as_metric(metric: Any) -> Metric:
    """A metric by its name (scikit-learn's names too; "lq:3" is Lq(3)), as an object, or as a Python function."""
    if isinstance(metric, Metric):
        return _trusted(metric).plain()
    name = ours(metric) if isinstance(metric, str) else None
    if name is not None and ALIASES.get(name, name) in METRICS:
        return METRICS[ALIASES.get(name, name)]
    if (said := spoken(name, BY_NAME)) is not None:
        return as_metric(said)
    if callable(metric) and not isinstance(metric, type):
        return Function(metric)
    instead = worded("'lq:3', an object such as Lq(3) or Mahalanobis(M), or a function", "or such as 'lq:3'")
    raise UnknownNameError("metric", metric, [*METRICS, *ALIASES], instead)


def _trusted(metric: Metric) -> Metric:
    """An object as it is, unless it would be measured as another, or not at all."""
    kind = type(metric)
    if "core" in vars(kind):
        if kind.core is not None and kind.core not in list(_core.Metric):
            raise ValueError(
                f"{kind.__name__} names {kind.core!r} as what the core measures: take a member of nearline._core.Metric."
            )
        return metric
    if any("core" in vars(base) for base in kind.__mro__[1:] if base is not Metric):
        raise ValueError(
            f"{kind.__name__} is derived from the metric {metric.name!r}, but would be measured as that one: "
            "give a function of two rows (metric=f), or the metric itself."
        )
    if kind.distances is Metric.distances:
        raise ValueError(
            f"{kind.__name__} does not say how far apart rows are: give it distances(self, Q, X), the (m, n) distances of "
            "queries Q and rows X."
        )
    return metric


__all__ = [
    "ALIASES",
    "METRICS",
    "METRIC_TYPES",
    "NO_ROWS",
    "Cosine",
    "Euclidean",
    "Function",
    "Hamming",
    "InnerProduct",
    "Jaccard",
    "LInfinity",
    "Learned",
    "Lq",
    "Mahalanobis",
    "Manhattan",
    "Metric",
    "PrecomputedDistances",
    "SquaredL2",
    "as_metric",
]
