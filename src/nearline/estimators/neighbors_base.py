"""What models of neighbors share: rows kept in an index, weights as multiplicities, scikit-learn's ``kneighbors``."""

from abc import ABC
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.blocks import Block, Blocks
from nearline._arrays.design import Array, owned
from nearline._arrays.validation import are_plain_labels, check_weights, is_plain, validate_data
from nearline._records.habits import TranslatesHabits
from nearline._records.kept import (
    AnyOf,
    Instance,
    Named,
    Numbers,
    OneOf,
    OrNone,
    Perhaps,
    RowArray,
    Whole,
    kept,
    require,
)
from nearline._records.parameters import HoldsParametrized
from nearline._records.refused import ParameterError
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.blocked import BlockedIndex, Weighed
from nearline.neighbors.index import ALGORITHMS, Index, check_k
from nearline.neighbors.mapped import refuse_seen, seen_elsewhere
from nearline.neighbors.metrics import NO_ROWS, Metric, as_metric

# What the index takes as it is.
ROWS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32, np.uint8, np.bool_],
    "order": "C",
}


def _of_its_rows(model: "NeighborsModel") -> None:
    """The index has the rows of positive weight; given distances have a column for each row."""
    n, N = model.index_.n_rows, model.n_samples_fit_
    given = model.index_.metric.given
    fits = model._fit_X.shape[0] == N and n == (N if model._rows is None else len(model._rows))
    fits = fits and (model._multiplicities is None or len(model._multiplicities) == n)
    fits = fits and model.index_.X.shape[1] == (n if given else model.n_features_in_)
    require(
        fits and (not given or model.n_features_in_ == N),
        "The index of neighbors does not fit the model's rows",
    )


@kept(
    n_neighbors=Whole(1, 2**31),
    metric=Named(as_metric, Metric),
    algorithm=AnyOf((OneOf(ALGORITHMS), Instance(Approximate))),
    n_features_in_=Whole(1),
    _fit_X=RowArray(("N", "D"), "floats or bytes"),
    _rows=OrNone(Numbers(("n",), "whole numbers", least=0, below="N", rising=True)),
    _elsewhere=Perhaps(Numbers(("E",), "fingerprints")),
    index_=Instance(Index),
    n_samples_fit_=Whole(1),
    _multiplicities=OrNone(Numbers(("n",), above=0.0)),
    links=_of_its_rows,
)
class NeighborsModel(TranslatesHabits, HoldsParametrized, BaseEstimator, ABC):
    """Base of the models that keep their rows."""

    n_neighbors: int
    metric: Any
    algorithm: Any
    _elsewhere: Array = NO_ROWS  # rows that decided the metric, and are not the model's own

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = as_metric(self.metric).given
        return tags

    def _rows_and_labels(self, X: Any, y: Any) -> tuple[Any, Array, bool]:
        """Rows as the index takes them, their labels, and whether these passed by the quick look."""
        if is_plain(X) and are_plain_labels(y, len(X)):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return X, y, True
        return *validate_data(self, X, y, **ROWS), False

    def _own(self, X: Any, given: Any) -> Any:
        """Rows that stay as they are, whatever happens to what was given; a matrix of distances is not kept."""
        return X if as_metric(self.metric).given else owned(X, given)

    def _fit_index(self, X: Any, sample_weight: Any, labels: Array | None = None) -> Array:
        """Build the index of the rows with positive weight; their numbers come back. Labels are for metrics that learn."""
        check_whole(self.n_neighbors)
        weights = check_weights(sample_weight, X)
        kept = np.flatnonzero(weights > 0)
        if not len(kept):
            raise ValueError("Every sample weight is 0: give at least one row a positive weight.")
        self._fit_X, self._rows = X, None if len(kept) == len(weights) else kept
        metric = as_metric(self.metric)
        if self._rows is not None:
            X = X[kept][:, kept] if metric.given else X[kept]
        self._elsewhere = seen_elsewhere(metric, X) if len(metric.learned_from) else NO_ROWS
        metric = metric.fit(X, None if labels is None else labels[kept], weights[kept])
        self.index_ = Index(X, metric, algorithm=self.algorithm)
        self.n_samples_fit_ = len(weights)
        self._multiplicities = None if (weights[kept] == 1.0).all() else weights[kept]
        return kept

    def _fit_blocked_index(self, blocks: Blocks) -> Array:
        """Search rows where they are; the targets of those of positive weight come back."""
        check_whole(self.n_neighbors)
        counts = blocks.each(_used_of)
        starts, begin = {}, 0
        for first, used in counts:
            starts[first], begin = begin, begin + used
        if begin == 0:
            raise ValueError("Every sample weight is 0: give at least one row a positive weight.")
        whole = begin == blocks.n_rows
        rows = blocks if whole else blocks.mapped(Weighed(starts), fewer=True)
        self.index_ = BlockedIndex(rows, self.metric, algorithm=self.algorithm)
        self.n_samples_fit_, self._fit_X, self._elsewhere = blocks.n_rows, None, NO_ROWS
        told = rows.each(_told_of)
        weights = np.concatenate([weights for _, weights in told])
        self._multiplicities = None if (weights == 1.0).all() else weights
        self._rows = None if whole else np.concatenate(blocks.each(_numbers_of))
        return np.concatenate([targets for targets, _ in told])

    @property
    def _in_blocks(self) -> bool:
        return isinstance(getattr(self, "index_", None), BlockedIndex)

    def _queries(self, X: Any) -> Any:
        check_is_fitted(self)
        if not self._is_plain(X):
            X = validate_data(self, X, reset=False, **ROWS)
        if len(self._elsewhere):
            refuse_seen(self._elsewhere, X)
        return self._columns(X)

    def _is_plain(self, X: Any) -> bool:
        """Whether X is as the index takes it: scikit-learn's checks cost more than the search of a single row."""
        return (
            type(X) is np.ndarray
            and X.dtype in ROWS["dtype"]
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and "feature_names_in_" not in vars(self)
        )

    def _columns(self, Q: Any) -> Any:
        """Given distances: those to the rows that are in the index."""
        return Q[:, self._rows] if self._rows is not None and self.index_.metric.given else Q

    def _numbers(self, indices: Array) -> Array:
        """Rows of the index as rows of the training data."""
        return indices if self._rows is None else np.where(indices >= 0, self._rows[indices], -1)

    index_: Any  # an Index, or a BlockedIndex of rows in blocks

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest training rows, by (distance, index): distances (m, k) and indices (m, k), or indices alone.

        Without X those of each training row, itself not among them. Rows of sample weight 0 are nobody's neighbors.
        """
        check_is_fitted(self)
        k = check_whole(self.n_neighbors if n_neighbors is None else n_neighbors)
        if X is None and self._in_blocks:
            raise ValueError("The rows of this model are in blocks: give the rows whose neighbors you want.")
        if X is None:
            Q, own = self._columns(self._fit_X), np.arange(self.n_samples_fit_)
            groups: Any = (own, own if self._rows is None else self._rows)
            check_k(k, self.index_.n_rows - (self._rows is None))
        else:
            Q, groups = self._queries(X), None
        found = self.index_.search(Q, k, groups=groups, ties=False)
        indices = self._numbers(found.indices)
        if (indices < 0).any():
            raise ValueError(
                f"k = {k} neighbors were asked for, but some rows have only {k - 1} others: take a smaller k."
            )
        return (found.distances, indices) if return_distance else indices


def _used_of(block: Block) -> tuple[int, int]:
    return block.first, int(np.count_nonzero(block.weights > 0))


def _told_of(block: Block) -> tuple[Array, Array]:
    return block.targets, block.weights


def _numbers_of(block: Block) -> Array:
    return block.numbers[block.weights > 0]


def check_whole(k: Any) -> int:
    """n_neighbors, before the number of rows is known."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
        raise ParameterError("n_neighbors", k, "a whole number")
    if k < 1:
        raise ParameterError("n_neighbors", k, "at least 1")
    return int(k)
