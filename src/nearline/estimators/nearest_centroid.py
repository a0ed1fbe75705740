"""NearestCentroid: the class whose center is nearest."""

from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from nearline._arrays.blocks import Block
from nearline._arrays.design import Array, Design, is_sparse
from nearline._arrays.doors import Door
from nearline._records.kept import Numbers, OneOf, Perhaps, kept, require
from nearline._records.refused import ParameterError
from nearline.estimators._class_moments import class_sums, row_blocks
from nearline.estimators._explained import OfFeatures, absolute
from nearline.estimators._generative import by_class_count
from nearline.estimators.base import fits_blocks
from nearline.estimators.blocked import labelled
from nearline.estimators.linear_base import LinearModel


def _as_measured(model: "NearestCentroid") -> None:
    linear = {"coef_", "intercept_"} <= set(vars(model))
    require(linear or model.metric == "l1", "NearestCentroid with metric='l2' lacks its weights")
    require(np.isfinite(model._offset).any(), "NearestCentroid has no class with a center")


@kept(
    metric=OneOf(("l2", "l1")),
    _offset=Numbers(("C",), most=0.0, infinite=True),
    centroids_=Numbers(("C", "D")),
    coef_=Perhaps(Numbers(("P", "D"))),
    intercept_=Perhaps(Numbers(("P",), infinite=True)),
    links=_as_measured,
)
class NearestCentroid(LinearModel):
    """The class whose center is nearest.

    Centers are the (weighted) means and distances Euclidean, so that -|x - mu_c|^2 is, up to a term that all classes
    share, the linear score f_c(x) = w_c.x + b_c with w_c = 2 (mu_c - m), b_c = |m|^2 - |mu_c|^2; m, the mean of all
    rows, keeps the numbers small. With ``metric="l1"`` centers are medians and f_c(x) = -sum_j |x_j - mu_cj|.

    Parameters
    ----------
    metric : 'l2' or 'l1'

    Attributes
    ----------
    classes_ : (C,) labels.
    centroids_ : (C, D) means or medians.
    coef_, intercept_ : W and b, only with 'l2'. Two classes have one row, the second less the first.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import NearestCentroid
    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0]]), ["left", "left", "right", "right"]
    >>> model = NearestCentroid().fit(X, y)
    >>> model.centroids_.ravel().tolist(), model.predict([[4.0], [5.0]]).tolist()
    ([1.0, 8.0], ['left', 'right'])
    >>> (model.coef_.item(), model.intercept_.item())  # 2 (8 - 1) and 1 - 64
    (14.0, -63.0)
    """

    def __init__(self, metric: str = "l2") -> None:
        self.metric = metric

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One pass: sums of the classes."""
        if self.metric != "l2":
            raise ValueError(
                f"NearestCentroid(metric={self.metric!r}) needs medians, and the rows are in blocks, which add up: use 'l2'."
            )
        blocks = labelled(self, door, X, y, sample_weight)
        count, sums = blocks.total(partial(_class_sums_of, n_classes=len(self.classes_)), _added)
        return self._by_means(count, sums, blocks.dtype)

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, labels y and, if given, weights (integer weights equal repeated rows)."""
        if self.metric not in ("l2", "l1"):
            raise ParameterError("metric", self.metric, "'l2' (means) or 'l1' (medians)")
        X, targets, weights = self._validate_fit(X, y, sample_weight)
        count = np.bincount(targets, weights=weights, minlength=len(self.classes_))
        if self.metric == "l1":
            self._offset = _reach(count)
            self.centroids_ = _class_medians(X, targets, weights, len(count))
            return self
        return self._by_means(count, class_sums(X, targets, weights, len(count)), X.dtype)

    def _by_means(self, count: Array, sums: Array, dtype: Any) -> Self:
        self._offset = _reach(count)
        self.centroids_ = sums / np.where(count > 0, count, 1.0)[:, None]
        center = count @ self.centroids_ / count.sum()
        W = 2.0 * (self.centroids_ - center)
        b = -0.5 * (W * (self.centroids_ + center)).sum(axis=1) + self._offset
        self.coef_, self.intercept_ = by_class_count(W, b, dtype)
        return self

    def _scores(self, X: Any) -> Array:
        if self.metric == "l2":
            return super()._scores(X)
        X = self._validate_predict(X)
        scores = self._offset - _l1_distances(X, self.centroids_)
        if scores.shape[1] == 2:
            scores = scores[:, 1:] - scores[:, :1]
        return scores.astype(X.dtype, copy=False)

    def _terms(self, X: Design) -> tuple[Array, OfFeatures]:
        if self.metric == "l2":
            return super()._terms(X)
        return self._offset, OfFeatures(X, absolute(self.centroids_), zeros=True)


def _reach(count: Array) -> Array:
    """0 of a class with weight; -inf of one without, which has no center and is infinitely far."""
    return np.where(count > 0, 0.0, -np.inf)


def _class_sums_of(block: Block, n_classes: int) -> tuple[Array, Array]:
    count = np.bincount(block.targets, weights=block.weights, minlength=n_classes)
    return count, class_sums(block.X, block.targets, block.weights, n_classes)


def _added(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    return a[0] + b[0], a[1] + b[1]


def _class_medians(X: Design, targets: Array, weights: Array, n_classes: int) -> Array:
    """Weighted medians (C, D), a block of columns at a time; 0 for a class without weight."""
    medians = np.zeros((n_classes, X.shape[1]))
    for c in range(n_classes):
        rows = np.flatnonzero((targets == c) & (weights > 0))
        if not len(rows):
            continue
        plain = bool((weights[rows] == weights[rows[0]]).all())
        own = X[rows].tocsc() if is_sparse(X) else None
        for columns in row_blocks((X.shape[1], len(rows)), budget=1 << 20):
            block = X[rows, columns] if own is None else own[:, columns].toarray()
            medians[c, columns] = (
                np.median(block, axis=0) if plain else _weighted_median(block, weights[rows])
            )
    return medians


def _weighted_median(X: Array, weights: Array) -> Array:
    """Middle value of each column; where exactly half of the weight lies on either side, the middle of the gap."""
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    below = np.cumsum(weights[order], axis=0)
    half = 0.5 * weights.sum()
    slack = 1e-12 * weights.sum()  # sums of weights such as 0.1 are only near to half
    columns = np.arange(X.shape[1])
    low = values[(below >= half - slack).argmax(axis=0), columns].astype(np.float64)
    high = values[(below > half + slack).argmax(axis=0), columns].astype(np.float64)
    return np.asarray(0.5 * (low + high))


def _l1_distances(X: Design, centers: Array) -> Array:
    """sum_j |x_j - mu_cj|, (n, C); of a sparse X only stored values are looked at."""
    if not is_sparse(X):
        from scipy.spatial.distance import cdist

        some = row_blocks(X.shape)  # which are made float64
        return np.concatenate([cdist(X[rows], centers, "cityblock") for rows in some])
    distances = np.empty((X.shape[0], len(centers)))
    for c, center in enumerate(centers):
        own = center[X.indices]
        excess = sp.csr_matrix((np.abs(X.data - own) - np.abs(own), X.indices, X.indptr), shape=X.shape)
        distances[:, c] = np.abs(center).sum() + excess @ np.ones(len(center))
    return distances
