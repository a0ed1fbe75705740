"""What the generative classifiers share: sums per class, priors, scores -> labels and probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets

from nearline._arrays.blocks import Block
from nearline._arrays.design import Array, Design, is_sparse
from nearline._arrays.doors import Door
from nearline._arrays.validation import check_weights, validate_data
from nearline._parallel.tiles import groups, map_tiles, steps
from nearline._records.kept import Numbers, Plain, kept
from nearline._records.refused import ParameterError
from nearline.estimators.base import by_blocks, fits_blocks
from nearline.estimators.blocked import labelled
from nearline.estimators.linear_base import LinearModel


def row_blocks(shape: tuple[int, int], *, budget: int = 1 << 18) -> Iterator[slice]:
    """Slices of rows with about ``budget`` numbers each, so that temporaries stay in cache and copies stay small."""
    size = max(1, budget // max(1, shape[1]))
    return (slice(i, min(i + size, shape[0])) for i in range(0, shape[0], size))


def sum_blocks(
    of_block: Callable[[slice], Array],
    shape: tuple[int, int],
    *,
    budget: int = 1 << 18,
    operations: float = 4.0,
) -> Array:
    """Sum of an array over blocks of rows, in a few chains of additions that do not depend on the threads.

    ``operations`` is how many there are for each number in X, about.
    """

    def chain(blocks: Sequence[slice]) -> Array:
        return reduce(np.add, map(of_block, steps(blocks)))

    work = operations * shape[0] * shape[1]
    return reduce(np.add, map_tiles(chain, groups(list(row_blocks(shape, budget=budget)), 8), work=work))


def indicator(targets: Array, weights: Array, n_classes: int) -> Any:
    """Sparse (C, n) matrix with the weight of row i at [y_i, i]: times X it gives the sums per class."""
    order = np.argsort(targets, kind="stable")
    ends = np.cumsum(np.bincount(targets, minlength=n_classes))
    return sp.csr_matrix(
        (weights[order], order, np.concatenate([[0], ends])),
        shape=(n_classes, len(targets)),
        dtype=np.float64,
    )


def class_sums(X: Design, targets: Array, weights: Array, n_classes: int) -> Array:
    """sum over the rows of a class of s_i x_i, (C, D) in float64."""
    if is_sparse(X):
        sums = np.zeros((n_classes, X.shape[1]))
        for cells, values, own in _stored(X, targets, weights, n_classes):
            sums += _count(cells, values if own is None else values * own, sums.shape)
        return sums

    def of_block(rows: slice) -> Array:
        block = X[rows].astype(np.float64, copy=False)
        return np.asarray(indicator(targets[rows], weights[rows], n_classes) @ block)

    return sum_blocks(of_block, X.shape)


def class_moments(X: Design, targets: Array, weights: Array, n_classes: int) -> tuple[Array, Array, Array]:
    """Weight (C,), mean (C, D) and sum of squared deviations from it (C, D) of each class, in two passes.

    The first mean is off by rounding: what is left over in the second pass corrects it and the squares about it.
    """
    count = np.bincount(targets, weights=weights, minlength=n_classes)
    safe = np.where(count > 0, count, 1.0)[:, None]
    mean = class_sums(X, targets, weights, n_classes) / safe
    if is_sparse(X):
        rest, squares = np.zeros_like(mean), np.zeros_like(mean)
        stored = np.zeros_like(mean)
        for cells, values, own in _stored(X, targets, weights, n_classes):
            deviation = values - mean.ravel()[cells]
            weighted = deviation if own is None else deviation * own
            rest += _count(cells, weighted, mean.shape)
            squares += _count(cells, weighted * deviation, mean.shape)
            stored += _count(cells, own, mean.shape)
        zeros = np.maximum(count[:, None] - stored, 0.0)
        rest -= zeros * mean
        squares += zeros * mean**2
    else:

        def of_block(rows: slice) -> Array:
            own = indicator(targets[rows], weights[rows], n_classes)
            deviation = X[rows].astype(np.float64)
            deviation -= mean[targets[rows]]
            first = own @ deviation
            return np.stack([first, own @ np.square(deviation, out=deviation)])

        rest, squares = sum_blocks(of_block, X.shape)
    return count, mean + rest / safe, np.maximum(squares - rest**2 / safe, 0.0)


def merged_moments(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    """Weights, means and squared deviations of two sets of rows together (exact, and safe far from the origin)."""
    (own, theta, scatter), (count, mean, more) = a, b
    total = own + count
    share = np.divide(count, total, out=np.zeros_like(count), where=total > 0)[:, None]
    shift = mean - theta
    return total, theta + shift * share, scatter + more + shift**2 * share * own[:, None]


def _stored(
    X: Any, targets: Array, weights: Array, n_classes: int
) -> Iterator[tuple[Array, Array, Array | None]]:
    """Stored values of a sparse X, in chunks: number of their cell (class, column), value, weight (None: all one)."""
    n, D = X.shape
    start_of_class = targets.astype(np.int64) * D
    plain = bool((weights == 1).all())
    # Counting a chunk goes through C x D cells, so a chunk should hold more values than that.
    step = max(1, max(1 << 22, n_classes * D) // max(1, X.nnz // max(1, n)))
    for start in range(0, n, step):
        stop = min(start + step, n)
        lengths = np.diff(X.indptr[start : stop + 1])
        chunk = slice(X.indptr[start], X.indptr[stop])
        cells = np.repeat(start_of_class[start:stop], lengths)
        cells += X.indices[chunk]
        own = None if plain else np.repeat(weights[start:stop], lengths)
        yield cells, X.data[chunk].astype(np.float64, copy=False), own


def _count(cells: Array, values: Array | None, shape: tuple[int, ...]) -> Array:
    return np.bincount(cells, weights=values, minlength=shape[0] * shape[1]).reshape(shape)


def by_class_count(W: Array, b: Array, dtype: Any) -> tuple[Array, Array]:
    """W (C, D) and b (C,) in scikit-learn's shapes: two classes have the one row of their difference."""
    if len(W) == 2:
        W, b = W[1:] - W[:1], b[1:] - b[:1]
    return W.astype(dtype, copy=False), b.astype(dtype, copy=False)


@kept(priors=Plain(), class_count_=Numbers(("C",), least=0.0))
class Generative(LinearModel, ABC):
    """Bayes' rule: scores are log p(y = c) + log p(x | y = c) up to a term that all classes share."""

    priors: Any

    @by_blocks
    def predict_log_proba(self, X: Any) -> Array:
        """log p(y = c | x), (n, C), in float64: float32 could not tell 1 - 1e-8 from 1."""
        scores = self._scores(X).astype(np.float64, copy=False)
        if scores.shape[1] == 1:
            return -np.logaddexp(0.0, np.hstack([scores, -scores]))
        shifted = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))

    @by_blocks
    def predict_proba(self, X: Any) -> Array:
        """p(y = c | x), (n, C)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def _class_prior(self, class_weights: Array) -> Array:
        """p(y = c): of the data, all alike, or as given."""
        n_classes = len(class_weights)
        if isinstance(self.priors, str):
            if self.priors == "empirical":
                return class_weights / class_weights.sum()
            if self.priors == "uniform":
                return np.full(n_classes, 1.0 / n_classes)
            raise ParameterError(
                "priors", self.priors, "'empirical', 'uniform' or one probability for each class"
            )
        given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != (n_classes,):
            raise ValueError(
                f"priors has shape {given.shape}, but there are {n_classes} classes: "
                "give one probability for each, in the order of classes_."
            )
        if not (given >= 0).all() or abs(given.sum() - 1.0) > 1e-8:
            raise ValueError(
                f"priors must be >= 0 and sum to 1, got {given.tolist()} with sum {given.sum():g}: "
                "divide them by their sum."
            )
        return given


class OnlineGenerative(Generative, ABC):
    """Generative models with sums that batches add to: a fit in batches is the fit of all rows at once."""

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One pass: the sums of each block, added."""
        self._check_parameters()
        blocks = labelled(self, door, X, y, sample_weight)
        self._clear()
        self._include(blocks.total(_SumsOf(self), self._both))
        self._finish(blocks.dtype)
        return self

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, labels y and, if given, weights (integer weights equal repeated rows)."""
        self._check_parameters()
        X, targets, weights = self._validate_fit(X, y, sample_weight)
        return self._accumulate(X, targets, weights, clear=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of rows. The first call needs ``classes``, all labels that will ever come."""
        self._check_parameters()
        first = _check_partial_fit_first_call(self, classes)
        X, targets, weights = self._validate_batch(X, y, sample_weight, first)
        return self._accumulate(X, targets, weights, clear=first)

    def _accumulate(self, X: Design, targets: Array, weights: Array, *, clear: bool) -> Self:
        X = self._prepare(X)
        if clear:
            self._clear()
        self._add(X, targets, weights)
        self._finish(X.dtype)
        return self

    def _validate_batch(self, X: Any, y: Any, sample_weight: Any, first: bool) -> tuple[Design, Array, Array]:
        """As ``_validate_fit``, but the classes are known and a batch may lack some of them."""
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, but classes has 1 class: "
                f"{self.classes_.tolist()[0]!r}."
            )
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=first
        )
        check_classification_targets(y)
        targets = np.searchsorted(self.classes_, y)
        known = self.classes_[np.minimum(targets, len(self.classes_) - 1)] == y
        if not np.all(known):
            raise ValueError(
                f"y has the label {y[~known].tolist()[0]!r}, which is not among the classes {self.classes_.tolist()}: "
                "name every label in the first partial_fit."
            )
        weights = check_weights(sample_weight, X)
        if not (weights.sum() > 0 or not first):
            raise ValueError("All sample weights are zero: give at least one row a positive weight.")
        return X, targets.astype(np.int32), weights

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    def _prepare(self, X: Design) -> Design:
        """Check X or turn it into what is counted."""
        return X

    @abstractmethod
    def _clear(self) -> None:
        """Set all sums to zero."""

    def _add(self, X: Design, targets: Array, weights: Array) -> None:
        """Add the sums of a batch."""
        self._include(self._sums(X, targets, weights))

    @abstractmethod
    def _sums(self, X: Design, targets: Array, weights: Array) -> tuple[Array, ...]:
        """The sums of some rows."""

    @staticmethod
    @abstractmethod
    def _both(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
        """The sums of two sets of rows."""

    @abstractmethod
    def _include(self, sums: tuple[Array, ...]) -> None:
        """Add sums to one's own."""

    @abstractmethod
    def _finish(self, dtype: Any) -> None:
        """Turn the sums into parameters; W and b have the dtype of X."""


@dataclass(frozen=True)
class _SumsOf:
    """The sums of a block, as a model takes them."""

    model: OnlineGenerative

    def __call__(self, block: Block) -> tuple[Array, ...]:
        return self.model._sums(self.model._prepare(block.X), block.targets, block.weights)


def check_number(owner: object, name: str, value: Any, *, positive: bool, remedy: str) -> float:
    """A finite real number, > 0 or >= 0, or an error that says so."""
    sign = "> 0" if positive else ">= 0"
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0 or (positive and value == 0):
        raise ValueError(f"{type(owner).__name__}: {name} must be a number {sign}, got {value!r}. {remedy}")
    return float(value)


def log_or_never(values: Array) -> Array:
    """Logarithm with log 0 = -inf: a class without rows has no prior and never wins."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
