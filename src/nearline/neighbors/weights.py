"""Vote weights: how much the vote of a neighbor counts by its distance."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Real, kept
from nearline._records.parameters import Parametrized
from nearline._records.refused import UnknownNameError
from nearline._records.words import worded
from nearline.neighbors.metric import Metric

LARGE = 1e200  # votes above it might overflow when they are added up: the largest becomes 1


@dataclass(frozen=True)
class VoteWeights(Parametrized, ABC):
    """The votes of neighbors (m, k) at given distances, up to a factor for each query: finite, >= 0.

    Built-in ones give the nearest neighbor the vote 1, so that nothing overflows however small the distances.
    """

    name: ClassVar[str]
    alone: ClassVar[bool] = (
        False  # whether a vote depends on its own distance only, up to a factor. Not inherited
    )

    @property
    def by_place(self) -> bool:
        """Whether a vote may depend on the other distances of the list, so that it must see those of all k places."""
        return not vars(type(self)).get("alone", False)

    @abstractmethod
    def values(self, distances: Array, metric: Metric) -> Array:
        """(m, k) distances in order -> (m, k) votes, the same for equal distances."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Uniform(VoteWeights):
    """Every neighbor has one vote."""

    name: ClassVar[str] = "uniform"
    alone: ClassVar[bool] = True

    def values(self, distances: Array, metric: Metric) -> Array:
        return np.ones_like(distances)


@dataclass(frozen=True)
class Distance(VoteWeights):
    """1 / distance; where some neighbors are at distance 0, only these vote, one vote each."""

    name: ClassVar[str] = "distance"
    alone: ClassVar[bool] = True

    def values(self, distances: Array, metric: Metric) -> Array:
        nearest = distances[:, :1]
        if nearest.size and nearest.min() < 0:
            raise ValueError(
                f"weights='distance' needs distances >= 0, but metric {metric.name!r} gave {nearest.min():g}: "
                "use weights=Temperature(T), or another metric."
            )
        with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 where the nearest is at 0, inf/inf
            votes = np.where(nearest > 0, nearest / distances, distances == 0)
        return np.where(np.isinf(nearest), 1.0, votes)  # all of them overflowed: alike


@kept(temperature=Real(above=0.0))
@dataclass(frozen=True)
class Temperature(VoteWeights):
    """exp(similarity / T): the vote of k-NN probes on embeddings, where similarity is the cosine.

    The similarity is the cosine or inner product where the metric is built from it, else minus the distance. A small
    temperature T makes the nearest neighbor decide, a large one gives all the same vote.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KNeighborsClassifier, Temperature
    >>> X, y = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), ["a", "b", "b"]
    >>> model = KNeighborsClassifier(3, metric="cosine", weights=Temperature(temperature=0.5)).fit(X, y)
    >>> model.predict_proba([[1.0, 0.0]]).round(3)  # exp(1/T) against exp(0.6/T) + exp(0)
    array([[0.631, 0.369]])
    """

    name: ClassVar[str] = "softmax"
    alone: ClassVar[bool] = True
    temperature: float = 0.07

    def __post_init__(self) -> None:
        T = self.temperature
        if isinstance(T, bool) or not (isinstance(T, (int, float, np.number)) and 0 < T < np.inf):
            raise ValueError(
                f"Temperature needs a finite temperature > 0, got {T!r}: 0.07 is usual for cosines."
            )

    def values(self, distances: Array, metric: Metric) -> Array:
        similarities = metric.similarities(distances)
        nearest = similarities[:, :1]
        with np.errstate(invalid="ignore", over="ignore"):  # inf - inf where there is no neighbor
            votes = np.exp((similarities - nearest) / self.temperature)
        return np.where(np.isinf(nearest), 1.0, votes)  # all of them overflowed: alike

    def __str__(self) -> str:
        return f"softmax({self.temperature:g})"


@dataclass(frozen=True)
class FunctionWeights(VoteWeights):
    """A Python function of the (m, k) distances, as in scikit-learn; where it is infinite, only those vote."""

    name: ClassVar[str] = "function"
    function: Callable[[Array], Any]

    def values(self, distances: Array, metric: Metric) -> Array:
        votes = np.asarray(self.function(distances.copy()), dtype=np.float64)
        if votes.shape != distances.shape:
            raise ValueError(
                f"The weights function must give one vote for each of the {distances.shape} distances, "
                f"got shape {votes.shape}."
            )
        there = np.isfinite(distances)
        if not (votes[there] >= 0).all():
            raise ValueError("The weights function gave a negative vote or NaN: votes must be numbers >= 0.")
        infinite = np.isinf(votes)
        votes = np.where(infinite.any(axis=1, keepdims=True), infinite, votes)
        most = votes.max(axis=1, initial=0.0, where=~np.isnan(votes), keepdims=True)
        return np.where(most > LARGE, votes / np.where(most > 0, most, 1.0), votes)

    def __str__(self) -> str:
        return getattr(self.function, "__name__", self.name)


WEIGHTS: dict[str, VoteWeights] = {
    weights.name: weights for weights in (Uniform(), Distance(), Temperature())
}


def as_weights(weights: Any) -> VoteWeights:
    """Vote weights by name, as an object, or as a Python function of the distances."""
    if isinstance(weights, VoteWeights):
        return weights
    if isinstance(weights, str) and weights in WEIGHTS:
        return WEIGHTS[weights]
    if callable(weights) and not isinstance(weights, type):
        return FunctionWeights(weights)
    instead = worded("an object such as Temperature(0.07), or a function of distances", "")
    raise UnknownNameError("weights", weights, WEIGHTS, instead)
