"""LinearModel: what every fitted f(x) = W x + b offers, however it was fitted."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array, Design
from nearline._records.explanation import Contributions
from nearline._records.kept import (
    Numbers,
    Whole,
    kept,
)
from nearline.decision import decide
from nearline.estimators._explained import OfFeatures, by_class, contributions, linear
from nearline.estimators.base import Classifier, ScoresBlocks, by_blocks, class_weights
from nearline.scores import LinearScore


@kept(n_features_in_=Whole(1), coef_=Numbers(("P", "D")), intercept_=Numbers(("P",), infinite=True))
class LinearModel(ScoresBlocks, Classifier):
    """What every fitted f(x) = W x + b offers: ``coef_`` (K, D), ``intercept_`` (K,), scores, labels, geometry."""

    coef_: Array
    intercept_: Array
    classes_: Array
    class_weight: Any
    solution_: Any
    gap_: float | None
    progress_: Any

    @property
    def score_function_(self) -> LinearScore:
        """The fitted score as an object; its ``label(x)`` is the fast call for single rows."""
        check_is_fitted(self)
        return LinearScore(self.coef_, self.intercept_, self.classes_)

    def _scores(self, X: Any) -> Array:
        return self.score_function_(self._validate_predict(X))

    @by_blocks
    def decision_function(self, X: Any) -> Array:
        """Scores f(x): (n,) for two classes, (n, K) for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Labels: the second class where f >= 0, or the class of the largest score."""
        return decide(self._scores(X), self.classes_)

    def explain(self, X: Any) -> Contributions:
        """What each feature adds to the score of each class."""
        F = self._scores(X)
        codes = np.searchsorted(self.classes_, decide(F, self.classes_))
        bias, terms = self._terms(self._validate_predict(X))
        return contributions(codes, by_class(F), self.classes_, of="features", bias=bias, terms=terms)

    def _terms(self, X: Design) -> tuple[Array, OfFeatures]:
        """The bias (C,), and what features of checked rows add to it."""
        b = by_class(self.intercept_[None].astype(np.float64))[0]
        return b, OfFeatures(X, linear(self.coef_))

    def margins(self, X: Any, y: Any) -> Array:
        """Geometric margin of each labelled row; negative where the row is misclassified."""
        targets = self._known(y)
        return self.score_function_.margins(self._validate_predict(X), targets)

    def _known(self, y: Any) -> Array:
        """Class numbers of labels, all of which must be among ``classes_``."""
        check_is_fitted(self, "classes_")
        y = np.asarray(y)
        unknown = y[~np.isin(y, self.classes_)]
        if len(unknown):
            raise ValueError(
                f"Label {unknown.tolist()[0]!r} is not among the classes of the model: {self.classes_.tolist()}."
            )
        return np.searchsorted(self.classes_, y)

    def _weighted_batch(self, weights: Array, targets: Array) -> Array:
        """The weights of a batch's rows, times those of their classes."""
        if self.class_weight is None:
            return weights
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once: give partial_fit a dictionary {label: weight}."
            )
        return weights * class_weights(self.class_weight, self.classes_, self.classes_)[targets]

    def strongest_features(self, k: int = 10, names: Any = None) -> dict[Any, list[tuple[Any, float]]]:
        """For each class the k features of the largest weights: words for text, columns for tables."""
        check_is_fitted(self)
        default = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        names = np.asarray(default if names is None else names)
        if names.shape != (self.n_features_in_,):
            raise ValueError(
                f"names must name each of the {self.n_features_in_} features, got {names.shape} names."
            )
        W = np.vstack([-self.coef_, self.coef_]) if len(self.coef_) == 1 else self.coef_
        top = np.argsort(-W, axis=1, kind="stable")[:, :k]
        return {
            label: [(names[j], float(w[j])) for j in columns]
            for label, w, columns in zip(self.classes_.tolist(), W, top)
        }
