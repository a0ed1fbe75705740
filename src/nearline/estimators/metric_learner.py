"""MetricLearner: a transformer that learns an embedding in which neighbors are of one class."""

import sys
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._arrays.validation import validate_data
from nearline._parallel.tiles import single_threaded_blas
from nearline._records.habits import TranslatesHabits
from nearline._records.kept import (
    Flag,
    Labels,
    Named,
    Numbers,
    OneOf,
    OrNone,
    Real,
    Whole,
    Word,
    kept,
    require,
)
from nearline._records.parameters import HoldsParametrized
from nearline.estimators.base import encoded
from nearline.losses.embedding import EmbeddingLoss, as_embedding_loss
from nearline.neighbors.learned import check_learnable, check_recipe
from nearline.neighbors.learning.descent import Adam, Problem
from nearline.neighbors.learning.learner import Learnt, Recipe, learn
from nearline.neighbors.learning.maps import HiddenMap, LinearMap, Map
from nearline.neighbors.learning.starts import STARTS


def _of_its_map(model: "MetricLearner") -> None:
    expected = model._map().size
    require(len(model._parameters) == expected, "The parameters of an embedding do not fit its dimensions")


@kept(
    loss=Named(as_embedding_loss, EmbeddingLoss),
    dim=OrNone(Whole(1)),
    hidden=Whole(0, 2**20),
    start=OneOf(STARTS),
    weight_decay=OrNone(Real(0.0)),
    rounds=OrNone(Whole(1)),
    random_state=Whole(),
    progress=Flag(),
    classes_=Labels(),
    n_features_in_=Whole(1),
    mean_=Numbers(("D",), "float64"),
    scale_=Real(above=0.0),
    dim_=Whole(1),
    _parameters=Numbers(("p",), "float64"),
    proxies_=Numbers(("q", "d"), "float64"),
    start_=Word(),
    objective_path_=Numbers(("r",), "float64"),
    held_out_errors_=Numbers(("e",), "float64"),
    plain_error_=Real(wild=True),
    better_=Flag(),
    links=_of_its_map,
)
class MetricLearner(
    TranslatesHabits, HoldsParametrized, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """z = A (x - mean), A (d, D) by descent on an embedding loss, so that neighbors of z are of one class.

    Minimizes loss(Z) + weight_decay |A|^2, rows scaled to a mean squared length of 1. Smooth losses go by L-BFGS, on all
    rows where they are few and on class-balanced samples of 2,500 where they are many; losses that mine triplets by Adam on
    class-balanced batches of 256. A part of the rows is held out, each in turn up to 3,000 rows, and the votes of their
    nearest neighbors tell after how many rounds (of ten iterations) to stop; where each row was held out once, the map is
    learned again from all of them. With ``hidden`` units, z = A x + C tanh(B x + b). The result is the same on any number of
    threads.

    Parameters
    ----------
    loss : name or object of :data:`nearline.EMBEDDING_LOSSES`. If it looks at directions, so does the embedding: rows come
        out with length 1.
    dim : d; None: 32, or as many as there are features.
    hidden : h, units of a hidden layer; 0: the map is linear.
    start : "pca", "lda" (discriminants first), or "auto", the better one on held-out rows.
    weight_decay : what the squared weights cost; None: 3e-4, or up to 1,500 rows 3e-3 where held-out rows say so.
    rounds : how many; None: as held-out rows say.
    random_state : decides what is held out, samples and batches.
    progress : whether a line is printed for each round, to standard error.

    Attributes
    ----------
    components_ : A (d, D), for rows as they are given, less ``mean_``.
    objective_path_ : objective after each round.
    held_out_errors_ : chance that a held-out row is outvoted by its 1, 3, 5 and 9 nearest, votes softened, before the first
        round and after each.
    plain_error_ : the same in the given coordinates.
    better_ : whether neighbors vote better after learning, by more than chance.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from nearline import KNeighborsClassifier, MetricLearner
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), MetricLearner("nca", dim=2), KNeighborsClassifier())
    >>> bool(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9)
    True
    >>> model[:-1].transform(X[:1]).shape
    (1, 2)
    """

    _parameters: Array
    proxies_: Array
    objective_path_: Array

    def __init__(
        self,
        loss: Any = "nca",
        dim: int | None = None,
        *,
        hidden: int = 0,
        start: str = "auto",
        weight_decay: float | None = None,
        rounds: int | None = None,
        random_state: int = 0,
        progress: bool = False,
    ) -> None:
        self.loss = loss
        self.dim = dim
        self.hidden = hidden
        self.start = start
        self.weight_decay = weight_decay
        self.rounds = rounds
        self.random_state = random_state
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the embedding from rows X (n, D) and their labels y (n,)."""
        recipe = self._recipe()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        self.classes_, _ = encoded(y)
        self._keep(learn(X, check_learnable(X, y, self.dim), recipe, _printed if self.progress else None))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """One more pass of Adam over these rows, in class-balanced batches. The first call decides mean, scale and start.

        ``classes``: all labels, for the first call, where its rows do not have them all.
        """
        recipe, fitted = self._recipe(), "classes_" in vars(self)
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C", reset=not fitted)
        if not fitted:
            self.classes_ = np.unique(y if classes is None else np.asarray(classes))
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has labels that the first call did not name: {unknown.tolist()[:5]}. Give classes=."
            )
        codes = np.searchsorted(self.classes_, y).astype(np.intp)
        if not fitted:
            check_learnable(X, y, self.dim)
            first = Recipe(
                recipe.loss,
                recipe.dim,
                recipe.hidden,
                recipe.start,
                recipe.weight_decay,
                0,
                recipe.random_state,
            )
            self._keep(learn(X, codes, first))
            self.proxies_ = self._all_proxies(X, codes)
        self._pass(X, codes, recipe)
        return self

    def _all_proxies(self, X: Array, codes: Array) -> Array:
        Z = self._embedded(X)
        return np.asarray(
            as_embedding_loss(self.loss).proxies(Z, codes, len(self.classes_)), dtype=np.float64
        )

    def _pass(self, X: Array, codes: Array, recipe: Recipe) -> None:
        rows = ((X - self.mean_) * self.scale_).astype(np.float32)
        problem = Problem(rows, codes, recipe.loss, self._map(), recipe.decays[0])
        at, n_own = np.concatenate([self._parameters, self.proxies_.ravel()]), len(self._parameters)
        seed = [self.random_state, len(self.objective_path_)]
        with single_threaded_blas:
            value, at = Adam.of(at, np.random.default_rng(seed)).epoch(problem, at, n_own)
        self._parameters, self.proxies_ = at[:n_own], at[n_own:].reshape(self.proxies_.shape)
        self.objective_path_ = np.append(self.objective_path_, value)

    def transform(self, X: Any) -> Array:
        """Embedded rows (n, d), in the precision of X."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        rows = as_embedding_loss(self.loss).seen(self._embedded(X))
        if not np.isfinite(rows).all():
            raise ValueError("The embedding overflows on these rows: scale the columns, and fit it again.")
        return rows

    def _embedded(self, X: Array) -> Array:
        rows = ((X - self.mean_) * self.scale_).astype(X.dtype, copy=False)
        with single_threaded_blas:
            return self._map().forward(self._parameters.astype(X.dtype), rows)[0]

    @property
    def components_(self) -> Array:
        size = self.dim_ * self.n_features_in_
        return np.asarray(self._parameters[:size].reshape(self.dim_, -1) * self.scale_)

    @property
    def _n_features_out(self) -> int:
        return self.dim_

    def _map(self) -> Map:
        D = self.n_features_in_
        return HiddenMap(self.dim_, D, self.hidden) if self.hidden else LinearMap(self.dim_, D)

    def _recipe(self) -> Recipe:
        check_recipe(self.dim, self.start, self.weight_decay)
        for name, value, least in (("hidden", self.hidden, 0), ("rounds", self.rounds, 1)):
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if value is not None and not (whole and value >= least):
                raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")
        loss = as_embedding_loss(self.loss)
        return Recipe(
            loss, self.dim, self.hidden, self.start, self.weight_decay, self.rounds, self.random_state
        )

    def _keep(self, found: Learnt) -> None:
        self.mean_, self.scale_, self.dim_ = found.mean, float(found.scale), found.map.d
        self._parameters, self.proxies_ = found.parameters, found.proxies
        self.start_, self.objective_path_ = found.start, found.objective
        self.held_out_errors_, self.plain_error_, self.better_ = found.errors, found.plain_error, found.better


def _printed(what: str, objective: float, error: float) -> None:
    held = "" if np.isnan(error) else f", {error:.1%} of held-out rows outvoted"
    print(f"{what}: objective {objective:.6g}{held}", file=sys.stderr)
