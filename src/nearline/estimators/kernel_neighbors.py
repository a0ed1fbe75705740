"""KernelNeighborsClassifier: k nearest neighbors by the distance that a kernel induces."""

from typing import Any, Self

import numpy as np

from nearline._arrays.design import Array, owned
from nearline._records.kept import Anything, Named, Numbers, Whole, kept, require
from nearline.estimators.kernel_base import KernelModel, count
from nearline.estimators.neighbors import KNeighborsClassifier
from nearline.kernels.held import check_items
from nearline.neighbors.ballots import Boundary, as_boundary
from nearline.neighbors.explanation import Votes
from nearline.neighbors.vote import Ties, as_ties
from nearline.neighbors.weights import VoteWeights, as_weights

BLOCK = 1 << 24  # distances at a time


def _of_its_votes(model: "KernelNeighborsClassifier") -> None:
    check_items(model.kernel_, model._training, len(model._targets))
    require(model.kernel_.takes != "gram", "Neighbors by a precomputed kernel have no distances")
    rows = model.kernel_.takes in ("vectors", "any")
    require(
        not rows or model._training.shape[1] == model.n_features_in_,
        "The items do not have the model's features",
    )
    counts = np.bincount(model._targets, minlength=len(model.classes_))
    require((counts > 0).all(), "A class of neighbors has no item")
    votes = model._weights.sum()
    require(0 < votes < np.inf, "The weights of neighbors have no sum")


@kept(
    n_neighbors=Whole(1, 2**31),
    weights=Named(as_weights, VoteWeights),
    boundary=Named(as_boundary, Boundary),
    ties=Named(as_ties, Ties),
    _training=Anything(),
    _targets=Numbers(("n",), "whole numbers", least=0, below="C"),
    _weights=Numbers(("n",), least=0.0),
    links=_of_its_votes,
)
class KernelNeighborsClassifier(KernelModel):
    """The class with most votes among the k training items nearest in the space of a kernel's features.

    d(x, x')^2 = |phi(x) - phi(x')|^2 = k(x, x) + k(x', x') - 2 k(x, x'): neighbors of strings and trees, too.

    Parameters
    ----------
    n_neighbors, weights, boundary, ties : as in :class:`KNeighborsClassifier`.
    kernel : as in :class:`KernelSVM`; a precomputed Gram matrix has no k(x, x) of new items and is refused.

    Attributes
    ----------
    classes_ : (C,) labels.
    kernel_ : the kernel with its numbers.

    Examples
    --------
    >>> from nearline import KernelNeighborsClassifier
    >>> from nearline.kernels import Polynomial
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [3.0, 0.0], [0.0, 3.0]]
    >>> model = KernelNeighborsClassifier(1, kernel=Polynomial(2, 0.0)).fit(X, ["in", "in", "in", "out", "out"])
    >>> model.predict([[-1.0, 0.1], [0.2, -3.0]]).tolist()  # of degree 2: x and -x are the same place
    ['in', 'out']
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        kernel: Any = "rbf",
        weights: Any = "uniform",
        boundary: Any = "share",
        ties: Any = "nearest",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.boundary = boundary
        self.ties = ties

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the items with their labels."""
        items, targets, weights = self._validate_items(X, y, sample_weight)
        if self.kernel_.takes == "gram":
            raise ValueError(
                "Distances need k(x, x) of new items, which a precomputed Gram matrix does not have: give the kernel "
                "itself, or distances to KNeighborsClassifier(metric='precomputed')."
            )
        self._training = owned(items, X)
        self._targets, self._weights = targets, weights
        self._neighbors()  # unknown rules are named now, not when the first item is to be predicted
        return self

    def _neighbors(self) -> KNeighborsClassifier:
        """Who votes, by distances. The distances among the training items are not needed: pages never touched."""
        n = len(self._targets)
        return KNeighborsClassifier(
            self.n_neighbors,
            weights=self.weights,
            metric="precomputed",
            boundary=self.boundary,
            ties=self.ties,
        ).fit(np.zeros((n, n), dtype=np.uint8), self.classes_[self._targets], self._weights)

    def distances(self, items: Any) -> Array:
        """d(x, x_i) (m, n) of checked items and the training items."""
        return np.sqrt(self.kernel_.squared_distances(items, self._training))

    def predict_proba(self, X: Any) -> Array:
        """Shares of the vote (n, C)."""
        return self._by_parts(X, "predict_proba")

    def predict(self, X: Any) -> Array:
        """Labels (n,)."""
        return self._by_parts(X, "predict")

    def explain(self, X: Any) -> Votes:
        """The neighbors behind each prediction, their votes, and which decisions had ties."""
        items = self._items(X)  # which asks first whether there was a fit
        return self._neighbors().explain(self.distances(items))

    def _by_parts(self, X: Any, method: str) -> Array:
        items, answer = self._items(X), getattr(self._neighbors(), method)
        size = max(1, BLOCK // count(self._training))
        starts = range(0, max(1, count(items)), size)
        return np.concatenate([answer(self.distances(items[start : start + size])) for start in starts])
