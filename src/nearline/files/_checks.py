"""What must hold between the parts of a model, so that no number from a file leads compiled code astray."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline

from nearline.estimators import KNeighborsClassifier, Perceptron
from nearline.estimators.linear import LinearModel
from nearline.files._errors import ModelFileError
from nearline.kernels import Precomputed
from nearline.kernels.expansion import Expansion
from nearline.kernels.landmarks import Landmarks
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.mahalanobis import Mahalanobis
from nearline.neighbors.vote import Electorate
from nearline.params import Params
from nearline.solvers._sgd_steps import Progress


def check(value: Any) -> None:
    """Raise where a model or a part of one contradicts itself."""
    for cls, checks in CHECKS.items():
        if isinstance(value, cls):
            checks(value)


def _require(holds: Any, sentence: str) -> None:
    if not holds:
        raise ModelFileError(sentence)


def check_algorithm(algorithm: Any) -> None:
    """Graphs of FAISS are bytes of its own making, which it reads without checks."""
    _require(
        not isinstance(algorithm, Approximate),
        "A model with an approximate index cannot be kept in a model file: the graph of FAISS can neither be checked nor "
        "built again the same. Fit the model with algorithm='exact', or keep the index alone by Index.save.",
    )


def _pipeline(model: Any) -> None:
    _require(
        model.memory is None,
        f"The pipeline caches in {model.memory!r}, a place that other machines lack: set memory=None.",
    )


def _vectorizer(model: Any) -> None:
    _require(
        model.input == "content",
        f"{type(model).__name__} has input={model.input!r}, which opens files: take input='content'.",
    )
    known = vars(model).get("vocabulary_")
    if known is not None:
        numbers = np.sort(np.array(list(known.values())))
        whole = numbers.dtype.kind in "iu" and np.array_equal(numbers, np.arange(len(numbers)))
        _require(whole, "The tokens of a vocabulary are not numbered from 0 on")


def _electorate(model: Any) -> None:
    electorate = vars(model).get("_electorate")
    if electorate is None:
        return
    fits = electorate.n_classes == len(model.classes_) and electorate.codes.shape == (model.index_.n_rows,)
    _require(fits, "The votes of neighbors do not fit the classes")


def _codes(electorate: Electorate) -> None:
    codes, n = electorate.codes, electorate.n_classes
    fits = codes.dtype.kind in "iu" and codes.min(initial=0) >= 0 and codes.max(initial=0) < n
    _require(fits, "The votes of neighbors do not fit the classes")


def _params(params: Params) -> None:
    whole = type(params.n_outputs) is int and type(params.n_features) is int and params.n_features >= 0
    size = params.n_outputs * (params.n_features + 1) if whole else -1
    _require(
        params.flat.shape == (size,) and params.flat.dtype == np.float64, "The weights of a model do not fit"
    )


def _linear(model: Any) -> None:
    """Learning goes on in compiled code, from weights that must be as many as there are features and classes."""
    state = vars(model)
    kept: list[Any] = [state.get("_total")]
    if isinstance(progress := state.get("progress_"), Progress):
        kept += [progress.params, progress.total]
    if isinstance(model, Perceptron) and state.get("result_") is not None:
        kept += [model.result_.params, model.result_.total]
    for params in kept:
        if params is not None:
            outputs = (1, 2) if len(model.classes_) == 2 else (len(model.classes_),)
            fits = params.n_features == model.n_features_in_ and params.n_outputs in outputs
            _require(fits, "The weights of a model do not fit its features and classes")


def _mahalanobis(metric: Any) -> None:
    root = vars(metric).get("_root")
    if root is not None:
        shape = (0, 0) if metric.learns else np.shape(metric.matrix)
        fits = root.shape == shape and root.dtype == np.float64
        _require(fits, "The map of a Mahalanobis distance does not fit its matrix")


def _expansion(expansion: Expansion) -> None:
    m = len(expansion.rows)
    items = expansion.items
    whole = (
        items is None
        if isinstance(expansion.kernel, Precomputed)
        else items is not None and items.shape[0] == m
    )
    fits = expansion.rows.dtype.kind in "iu" and expansion.A.shape == (m, len(expansion.b))
    _require(whole and fits, "The coefficients of a kernel machine do not fit its items")


def _landmarks(marks: Landmarks) -> None:
    r = len(marks.rows)
    fits = marks.L.shape == (r, r) and (marks.items is None or marks.items.shape[0] == r)
    _require(fits, "The coordinates of a kernel do not fit its items")


CHECKS: dict[type[Any], Callable[[Any], None]] = {
    Pipeline: _pipeline,
    CountVectorizer: _vectorizer,
    KNeighborsClassifier: _electorate,
    Electorate: _codes,
    LinearModel: _linear,
    Params: _params,
    Mahalanobis: _mahalanobis,
    Expansion: _expansion,
    Landmarks: _landmarks,
}
