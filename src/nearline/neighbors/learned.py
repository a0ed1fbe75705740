"""Learned: a distance |A (x - q)| whose map A training rows decide, so that neighbors are of one class."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, is_sparse
from nearline._records.kept import Flag, Named, Numbers, OneOf, OrNone, Real, Whole, kept, require
from nearline.losses.embedding import EmbeddingLoss, as_embedding_loss
from nearline.neighbors.learning.learner import Recipe, learn
from nearline.neighbors.learning.maps import LinearMap
from nearline.neighbors.learning.starts import STARTS
from nearline.neighbors.lengths import Euclidean
from nearline.neighbors.mapped import MappedMetric, dense_rows, in_any_precision
from nearline.neighbors.metric import Metric


def _fits(metric: "Learned") -> None:
    dim, A = metric.dim, metric.matrix
    require(A is None or dim in (None, len(A)), "The map of a learned distance does not fit its dimension")


@kept(
    loss=Named(as_embedding_loss, EmbeddingLoss),
    dim=OrNone(Whole(1)),
    start=OneOf(STARTS),
    weight_decay=OrNone(Real(0.0)),
    compare=Flag(),
    random_state=Whole(),
    matrix=OrNone(Numbers(("d", "D"), "float64")),
    learned=OrNone(Numbers(("E",), "fingerprints")),
    links=_fits,
)
@dataclass(frozen=True)
class Learned(MappedMetric):
    """|A (x - q)|, A (d, D) learned by descent on an embedding loss of the training rows: a Mahalanobis distance of rank d.

    Models, ``sweep`` and contests learn it from the training rows of each fold. Part of these are held out, in turn where
    they are few, to tell when to stop, how much of the plain distance to keep beside it (not where ``dim`` is given), and
    whether the votes of neighbors get better at all: where they do not, by more than chance, the plain distance L2 is taken.
    Rows of positive weight count once.

    Parameters
    ----------
    loss : name or object of an embedding loss (:data:`nearline.EMBEDDING_LOSSES`) that looks at distances, such as "nca".
        For those that look at directions see :class:`nearline.MetricLearner`.
    dim : d; None: 32, or as many as there are features.
    start : "pca", "lda", or "auto": the better one on held-out rows.
    weight_decay : what |A|^2 costs; rows have mean 0 and mean squared length 1 for it; None: of
        few rows, held-out ones choose.
    compare : whether the plain distance is taken where learning is not better; otherwise what was learned.
    random_state : decides which rows are held out, and samples of many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KNeighborsClassifier, Learned
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (400, 12))
    >>> y = X[:, 0] * X[:, 1] > 0  # ten of the features are noise
    >>> plain, learned = KNeighborsClassifier(), KNeighborsClassifier(metric=Learned("nca"))
    >>> [bool(model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.8) for model in (plain, learned)]
    [False, True]
    """

    name: ClassVar[str] = "learned"
    core: ClassVar[_core.Metric | None] = _core.Metric.mahalanobis
    loss: Any
    dim: int | None = None
    start: str = "auto"
    weight_decay: float | None = None
    compare: bool = True
    random_state: int = 0
    matrix: Array | None = field(default=None, repr=False)  # A, once it is learned
    learned: Array | None = field(
        default=None, repr=False
    )  # fingerprints of the rows that it was learned from

    def __post_init__(self) -> None:
        if as_embedding_loss(self.loss).on_sphere:
            raise ValueError(
                f"The loss {self.loss!r} looks at directions, and Learned measures distances: take 'nca', "
                "'lifted-structured' or Triplet(normalize=False), or a pipeline of MetricLearner and KNeighborsClassifier."
            )
        check_recipe(self.dim, self.start, self.weight_decay)

    @property
    def learns(self) -> bool:
        return self.matrix is None

    def fit(self, X: Any, y: Any = None, weights: Array | None = None) -> Metric:
        """The metric with a map, from training rows and their classes; L2 where that is no worse."""
        if not self.learns:
            return self
        if y is None:
            raise ValueError(
                f"Learned({self.loss!r}) learns from the classes of the rows, but there are no labels: give labels to its "
                "fit(X, y), or take Mahalanobis('total')."
            )
        X = dense_rows(X)
        codes = check_learnable(X, np.asarray(y), self.dim)
        recipe = Recipe(
            as_embedding_loss(self.loss),
            self.dim,
            start=self.start,
            weight_decay=self.weight_decay,
            random_state=self.random_state,
            blends=self.dim is None,
        )
        found = learn(X, codes, recipe)
        if self.compare and not found.better:
            return Euclidean()
        assert isinstance(found.map, LinearMap)
        A = np.ascontiguousarray(found.map.matrix(found.parameters) * found.scale)
        return replace(self, matrix=A, learned=in_any_precision(X))

    @property
    def map(self) -> Array:
        return np.empty((0, 0)) if self.matrix is None else self.matrix

    def rows(self, X: Any) -> Any:
        n_features = self.map.shape[1]
        if X.shape[1] != n_features:
            raise ValueError(
                f"The learned distance is for {n_features} features, but the rows have {X.shape[1]}."
            )
        values = X.data if is_sparse(X) else X
        largest = float(abs(values).max(initial=0.0))
        if largest * float(np.abs(self.map).sum(axis=1).max(initial=0.0)) > 1e150:
            raise ValueError(
                f"Learned needs rows whose squared distances are finite, got values up to {largest:.3g}: scale the features."
            )
        return X.toarray() if is_sparse(X) else X

    def parts(self) -> dict[str, Any]:
        return {"matrix": self.map, "loss": as_embedding_loss(self.loss).name}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        return cls("nca", matrix=np.ascontiguousarray(cls._kept_matrix(parts)))

    def _identity(self) -> tuple[Any, ...]:
        A = b"" if self.matrix is None else self.matrix.tobytes()
        return (self.loss, self.dim, self.start, self.weight_decay, self.compare, self.random_state, A)

    def __hash__(self) -> int:
        return hash((self.name, *self._identity()))

    def __eq__(self, other: object) -> bool:
        return type(other) is Learned and self._identity() == other._identity()


def check_recipe(dim: Any, start: Any, weight_decay: Any) -> None:
    """Refuse parameters of learning that make no sense."""
    if dim is not None and (isinstance(dim, bool) or not isinstance(dim, (int, np.integer)) or dim < 1):
        raise ValueError(f"dim must be None or a whole number of at least 1, got {dim!r}.")
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(map(repr, STARTS))}, got {start!r}.")
    number = isinstance(weight_decay, (int, float, np.number)) and not isinstance(weight_decay, bool)
    if weight_decay is not None and (not number or not 0.0 <= weight_decay < np.inf):
        raise ValueError(f"weight_decay must be None or a finite number >= 0, got {weight_decay!r}.")


def check_learnable(X: Array, y: Array, dim: int | None) -> Array:
    """Class numbers of rows from which a distance can be learned."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise ValueError(
            f"A distance is learned from at least 2 classes, but y has 1 class: {classes.tolist()[:1]}."
        )
    if counts.max() < 2:
        raise ValueError(
            f"A distance is learned from rows of one class that should be near each other, but each of the {len(classes)} "
            "classes has one row."
        )
    if dim is not None and dim > X.shape[1]:
        raise ValueError(f"dim is {dim}, but the rows have {X.shape[1]} features: take at most as many.")
    return np.asarray(codes, dtype=np.intp)
