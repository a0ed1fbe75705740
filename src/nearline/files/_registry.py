"""What a model file may hold: the classes that nearline's own models are made of, by name. Nothing else is ever built."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

from nearline.estimators import ESTIMATORS
from nearline.files import _checks
from nearline.kernels import Kernel, Tree
from nearline.kernels.expansion import Expansion
from nearline.kernels.landmarks import Landmarks
from nearline.losses import Loss
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.ballots import Boundary
from nearline.neighbors.consensus import Consensus, ngram_similarity
from nearline.neighbors.index import Index
from nearline.neighbors.mahalanobis import Mahalanobis
from nearline.neighbors.metrics import Metric
from nearline.neighbors.vote import Electorate, Ties
from nearline.neighbors.weights import VoteWeights
from nearline.params import Params
from nearline.regularizers import Regularizer
from nearline.representations._codes import Code
from nearline.representations._scales import Affine, Knots
from nearline.representations.tables import Encoding
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.calibrators import CALIBRATORS
from nearline.selection.chain import Chain
from nearline.solvers import Solution, Solver, Status
from nearline.solvers._sgd_steps import Progress
from nearline.solvers.perceptron import PerceptronResult

SKLEARN = (
    CountVectorizer,
    DummyClassifier,
    MaxAbsScaler,
    MinMaxScaler,
    MissingIndicator,
    Normalizer,
    Pipeline,
    RobustScaler,
    SimpleImputer,
    StandardScaler,
    TfidfTransformer,
    TfidfVectorizer,
)
OWN = (Chain, CalibratedClassifier)
# Bases of what estimators take as parameters: all that nearline derives from them may be in a file.
FAMILIES: dict[str, type[Any]] = {
    "loss": Loss,
    "regularizer": Regularizer,
    "metric": Metric,
    "weights": VoteWeights,
    "boundary": Boundary,
    "ties": Ties,
    "solver": Solver,
    "code": Code,
    "kernel": Kernel,
}
PARTS = (
    *CALIBRATORS.values(),
    Affine,
    Approximate,
    Consensus,
    Electorate,
    Encoding,
    Expansion,
    Knots,
    Landmarks,
    Params,
    PerceptronResult,
    Progress,
    Solution,
)
KEPT = {
    Mahalanobis: ("_root",)
}  # computed, but by factorizations whose last digits differ from machine to machine
FUNCTIONS: dict[str, Callable[..., Any]] = {"ngram_similarity": ngram_similarity}
NUMBERS = "bool float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
SCALARS: dict[str, type[Any]] = {
    **{name: np.dtype(name).type for name in NUMBERS.split()},
    **{f"Python {t.__name__}": t for t in (bool, int, float, str)},
}


@dataclass(frozen=True)
class Kind(ABC):
    """One class that a file may name, and how its state becomes an object again."""

    name: str
    cls: type[Any]

    @abstractmethod
    def state(self, value: Any) -> dict[str, Any]:
        """What must be kept."""

    @abstractmethod
    def restored(self, state: dict[str, Any]) -> Any:
        """An object with this state; errors of any kind if it makes no sense."""


class Model(Kind):
    """A scikit-learn estimator: constructor parameters, and whatever ``fit`` learned."""

    def state(self, value: Any) -> dict[str, Any]:
        _checks.check(value)
        return dict(vars(value))

    def restored(self, state: dict[str, Any]) -> Any:
        for name in state:
            if not name.isidentifier() or name.startswith("__") or callable(getattr(self.cls, name, None)):
                raise ValueError(f"{self.cls.__name__} has no attribute {name[:50]!r}")
        names = [name for name in self.cls._get_param_names() if name in state]
        model = self.cls(**{name: state[name] for name in names})
        vars(model).update(state)
        _checks.check(model)
        return model


class Record(Kind):
    """A dataclass: its fields, given to the constructor, which checks them."""

    def state(self, value: Any) -> dict[str, Any]:
        names = [field.name for field in fields(self.cls)]
        return {name: getattr(value, name) for name in (*names, *KEPT.get(self.cls, ()))}

    def restored(self, state: dict[str, Any]) -> Any:
        kept = {name: state.pop(name) for name in KEPT.get(self.cls, ())}
        record = self.cls(**state)
        vars(record).update(kept)
        _checks.check(record)
        return record


class Choice(Kind):
    """A member of an enumeration, by name."""

    def state(self, value: Any) -> dict[str, Any]:
        return {"name": value.name}

    def restored(self, state: dict[str, Any]) -> Any:
        return self.cls[state["name"]]


class Written(Kind):
    """A tree, as its text."""

    def state(self, value: Any) -> dict[str, Any]:
        return {"text": str(value)}

    def restored(self, state: dict[str, Any]) -> Any:
        return self.cls.parse(state["text"])


class Rows(Kind):
    """An index: its rows, from which it is built again; arrays of the compiled search are never read from a file."""

    def state(self, value: Any) -> dict[str, Any]:
        _checks.check_algorithm(value.algorithm)
        return {name: getattr(value, name) for name in ("X", "metric", "algorithm", "memory")}

    def restored(self, state: dict[str, Any]) -> Any:
        _checks.check_algorithm(state["algorithm"])
        if type(state["memory"]) is not int or state["memory"] < 1:
            raise ValueError(f"memory {state['memory']!r}")
        if not state["X"].shape[1:] > (0,):
            raise ValueError("an index of rows without features")
        return Index(state["X"], state["metric"], algorithm=state["algorithm"], memory=state["memory"])


def _derived(base: type[Any], home: str = "nearline.") -> list[type[Any]]:
    """The classes below a base that can be built and that nearline itself defines, in modules that begin so."""
    below = dict.fromkeys(_below(base))  # of several bases, once
    return [cls for cls in below if cls.__module__.startswith(home) and not inspect.isabstract(cls)]


def _below(base: type[Any]) -> list[type[Any]]:
    return [cls for one in base.__subclasses__() for cls in (one, *_below(one))]


@cache
def by_name() -> dict[str, Kind]:
    """All kinds by the name that they have in files."""
    transformers = _derived(TransformerMixin, "nearline.representations.")
    own = (*ESTIMATORS.values(), *OWN, *transformers)
    kinds: list[Kind] = [Model(f"estimator.{cls.__name__}", cls) for cls in own]
    kinds += [Model(f"sklearn.{cls.__name__}", cls) for cls in SKLEARN]
    kinds += [Record(f"{name}.{c.__name__}", c) for name, base in FAMILIES.items() for c in _derived(base)]
    kinds += [Record(f"part.{cls.__name__}", cls) for cls in PARTS]
    kinds += [Choice("part.Status", Status), Rows("part.Index", Index), Written("part.Tree", Tree)]
    return {kind.name: kind for kind in kinds}


@cache
def by_class() -> dict[type[Any], Kind]:
    """All kinds by class."""
    return {kind.cls: kind for kind in by_name().values()}
