"""What a model file may hold: the classes that nearline's own models are made of, by name. Nothing else is ever built."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

from nearline._records.kept import check, check_links, declaration, is_complete, require
from nearline.estimators import ESTIMATORS
from nearline.files import _pipelines, _sklearn  # noqa: F401  (they declare what files keep of these classes)
from nearline.files._errors import ModelFileError
from nearline.kernels import Kernel, Tree
from nearline.kernels.landmarks import Landmarks
from nearline.losses import Loss
from nearline.losses.embedding import EmbeddingLoss
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.ballots import Boundary
from nearline.neighbors.captions import Bleu, Cider, NgramF1
from nearline.neighbors.consensus import Consensus, ngram_similarity
from nearline.neighbors.index import Index
from nearline.neighbors.metrics import Function, Metric
from nearline.neighbors.vote import Electorate, Ties
from nearline.neighbors.weights import FunctionWeights, VoteWeights
from nearline.regularizers import Regularizer
from nearline.representations.codes import Code
from nearline.representations.features import choice  # noqa: F401  (so that its classes are among those below)
from nearline.representations.scales import Affine, Knots
from nearline.representations.tables import Encoding
from nearline.risk.params import Params
from nearline.scores import KernelScore
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.calibrators import CALIBRATORS
from nearline.selection.chain import Chain
from nearline.selection.decisions import LeastCost, Threshold
from nearline.selection.ensemble import Ensemble
from nearline.solvers import DecayingStep, Method, Solution, Status
from nearline.solvers.perceptron import PerceptronResult
from nearline.solvers.sgd import DescentProgress

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
OWN = (Chain, CalibratedClassifier, Ensemble)
# Bases of what estimators take as parameters: all that nearline derives from them may be in a file.
FAMILIES: dict[str, type[Any]] = {
    "loss": Loss,
    "embedding": EmbeddingLoss,
    "regularizer": Regularizer,
    "metric": Metric,
    "weights": VoteWeights,
    "boundary": Boundary,
    "ties": Ties,
    "solver": Method,
    "code": Code,
    "kernel": Kernel,
}
CODE = (Function, FunctionWeights)  # what they hold is a function, and files hold none
PARTS = (
    *CALIBRATORS.values(),
    Affine,
    Approximate,
    Consensus,
    NgramF1,
    Bleu,
    Cider,
    DecayingStep,
    Electorate,
    Encoding,
    KernelScore,
    Knots,
    Landmarks,
    LeastCost,
    Params,
    PerceptronResult,
    DescentProgress,
    Solution,
    Threshold,
)
LEFT_OUT = {"_stop_words_id"}  # an address in memory, which scikit-learn finds anew
SETTINGS = {"_sklearn_output_config"}  # of estimators that need not be fitted
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

    def verify(self, value: Any, state: dict[str, Any]) -> None:  # noqa: B027  (some are checked when they are made)
        """Refuse, by a ValueError, to write what would be refused when it is read."""


class Model(Kind):
    """A scikit-learn estimator: constructor parameters and, if it is fitted, what ``fit`` learned."""

    def state(self, value: Any) -> dict[str, Any]:
        return {name: one for name, one in vars(value).items() if name not in LEFT_OUT}

    def restored(self, state: dict[str, Any]) -> Any:
        names = self.cls._get_param_names()
        for name in LEFT_OUT & state.keys():
            del state[name]
        model = self.cls(**{name: state[name] for name in names if name in state})
        check(self.cls, vars(model) | state)  # before anything is set that the class does not have
        vars(model).update(state)
        self._check_whole(model, state)
        return model

    def verify(self, value: Any, state: dict[str, Any]) -> None:
        check(self.cls, state)
        self._check_whole(value, state)

    def _check_whole(self, model: Any, state: dict[str, Any]) -> None:
        """An estimator has all that it needs to answer, which fits together, or it has parameters only."""
        missing = declaration(self.cls).required - vars(model).keys()
        if missing and state.keys() - set(self.cls._get_param_names()) - SETTINGS:
            raise ValueError(f"{self.cls.__name__} lacks {', '.join(sorted(missing))}")
        if is_complete(model):
            check_links(model)


class Record(Kind):
    """A dataclass: its fields, given to the constructor, which checks them too."""

    def state(self, value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in declaration(self.cls).specs}

    def restored(self, state: dict[str, Any]) -> Any:
        check(self.cls, state)
        names = self.cls.__dataclass_fields__
        record = self.cls(**{name: one for name, one in state.items() if name in names})
        vars(record).update({name: one for name, one in state.items() if name not in names})
        check_links(record)
        return record

    def verify(self, value: Any, state: dict[str, Any]) -> None:
        check(self.cls, state)
        check_links(value)


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


class IndexRows(Kind):
    """An index: its rows, from which it is built again; arrays of the compiled search are never read from a file."""

    def state(self, value: Any) -> dict[str, Any]:
        _check_algorithm(value.algorithm)
        return {name: getattr(value, name) for name in declaration(Index).specs}

    def restored(self, state: dict[str, Any]) -> Any:
        check(Index, state)
        _check_algorithm(state["algorithm"])
        require(state["X"].shape[1] > 0, "an index of rows without features")
        return Index(state["X"], state["metric"], algorithm=state["algorithm"], memory=state["memory"])


def _check_algorithm(algorithm: Any) -> None:
    """Graphs of FAISS are bytes of its own making, which it reads without checks."""
    if isinstance(algorithm, Approximate):
        raise ModelFileError(
            "A model with an approximate index cannot be kept in a model file: the graph of FAISS can neither be checked nor "
            "built again the same. Fit the model with algorithm='exact', or keep the index alone by Index.save."
        )


def _derived(base: type[Any], home: str = "nearline.") -> list[type[Any]]:
    """The classes below a base that can be built and that nearline itself defines, in modules that begin so."""
    below = dict.fromkeys(_below(base))  # of several bases, once
    own = [cls for cls in below if cls.__module__.startswith(home) and not inspect.isabstract(cls)]
    return [cls for cls in own if cls not in CODE]


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
    kinds += [Choice("part.Status", Status), IndexRows("part.Index", Index), Written("part.Tree", Tree)]
    return {kind.name: kind for kind in kinds}


@cache
def by_class() -> dict[type[Any], Kind]:
    """All kinds by class."""
    return {kind.cls: kind for kind in by_name().values()}
