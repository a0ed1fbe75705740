"""What files keep of pipelines, checked as a whole: each step gives as many features as the next one takes."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline

from nearline._records.kept import AnyOf, Flag, Instance, OneOf, Only, Sizes, Spec, is_complete, kept, require
from nearline.estimators.kernel_base import KernelModel
from nearline.estimators.kernel_maps import KernelMap
from nearline.representations.features import FeatureExtractor
from nearline.representations.interactions import Interactions
from nearline.representations.kernels import KernelRows
from nearline.representations.raw import AsGiven
from nearline.representations.tables import ColumnsEncoder
from nearline.representations.texts import Documents
from nearline.representations.words_and_runs import WordsAndRunsRatios


def _takes(step: Any) -> str:
    """'texts' or 'rows'."""
    if isinstance(step, KernelModel):
        return "texts" if step.kernel_.takes in ("strings", "trees") else "rows"
    if isinstance(step, FeatureExtractor):
        return "texts" if step.takes == "texts" else "rows"
    return (
        "texts" if isinstance(step, (Documents, CountVectorizer, KernelRows, WordsAndRunsRatios)) else "rows"
    )


def _imputed(step: Any) -> int:
    lost = (
        0
        if step.keep_empty_features or step.strategy == "constant"
        else np.sum(step.statistics_ != step.statistics_)
    )
    return int(
        len(step.statistics_) - lost + (0 if step.indicator_ is None else len(step.indicator_.features_))
    )


# How many features a step gives that are not those it takes.
WIDTHS: dict[type[Any], Callable[[Any], int]] = {
    CountVectorizer: lambda step: len(step.vocabulary_),
    FeatureExtractor: lambda step: int(step.n_features_out_),
    Interactions: lambda step: int(step.n_features_in_ + len(step.pairs_)),
    KernelMap: lambda step: int(step.n_components_),
    KernelRows: lambda step: len(step.texts_),
    MissingIndicator: lambda step: len(step.features_),
    SimpleImputer: _imputed,
    WordsAndRunsRatios: lambda step: len(step.weights_),
    ColumnsEncoder: lambda step: len(step.names),
}


def _width(step: Any) -> int | None:
    """How many features a step gives; None: it gives texts."""
    if isinstance(step, Documents):
        return None
    for cls, width in WIDTHS.items():
        if isinstance(step, cls):
            return width(step)
    return getattr(step, "n_features_in_", None)


def _steps(pipeline: Any) -> list[Any]:
    """Those that do something, pipelines within it taken apart."""
    found: list[Any] = []
    for _, step in pipeline.steps:
        if isinstance(step, Pipeline):
            found += _steps(step)
        elif step not in (None, "passthrough") and not isinstance(step, AsGiven):
            found.append(step)
    return found


def _chained(pipeline: Any) -> None:
    names = [name for name, _ in pipeline.steps]
    fits = len(set(names)) == len(names) > 0 and not any(
        "__" in name or name in ("steps", "memory") for name in names
    )
    require(fits, "The steps of a pipeline have wrong names")
    steps = _steps(pipeline)
    predictions = all(callable(getattr(step, "transform", None)) for step in steps[:-1])
    require(predictions, "A step of a pipeline gives no features to the next one")
    for one, next_ in pairwise(steps):
        width, wanted = _width(one), getattr(next_, "n_features_in_", None)
        fits = _takes(next_) == ("texts" if width is None else "rows") and (wanted is None or wanted == width)
        require(
            fits,
            f"{type(one).__name__} gives {'texts' if width is None else f'{width} features'}, but {type(next_).__name__} "
            f"takes {wanted or ''} {'texts' if wanted is None else 'features'}",
        )


STEP = AnyOf((OneOf((None, "passthrough")), Instance(BaseEstimator)))


class Steps(Spec):
    """A list of pairs (name, estimator)."""

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return (
            type(value) is list
            and len(value) > 0
            and all(
                type(one) is tuple and len(one) == 2 and type(one[0]) is str and STEP.fits(one[1], sizes)
                for one in value
            )
        )

    def wanted(self, sizes: Sizes) -> str:
        return "a list of at least one pair (name, estimator)"


kept(
    Pipeline,
    links=_chained,
    complete=lambda pipeline: bool(_steps(pipeline)) and all(map(is_complete, _steps(pipeline))),
    memory=Only(None, "a place that other machines lack: set memory=None"),
    steps=Steps(),
    transform_input=OneOf((None,)),
    verbose=Flag(),
)
