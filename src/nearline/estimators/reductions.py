"""One-vs-rest and one-vs-one: many classes by any two-class estimator."""

import numbers
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split

from nearline._arrays.design import Array
from nearline._records.kept import Flag, Numbers, OrNone, Plain, Whole, kept, require
from nearline.estimators.base import Classifier
from nearline.estimators.pairs import Pairs, normalized
from nearline.estimators.reduction import Reduction, base_has
from nearline.predictions import log_of


def _each_but_the_reference(model: "OneVsRest") -> None:
    classes, claimants = (
        range(len(model.classes_)),
        [c for c in range(len(model.classes_)) if c != model._reference],
    )
    fits = model._claimants.tolist() == claimants and len(model.estimators_) == len(claimants)
    require(
        fits and (len(classes) > 2 or model._reference is not None),
        "There is not one estimator for each class",
    )


@kept(
    reference_class=Plain(),
    _reference=OrNone(Whole(0, "C")),
    _claimants=Numbers(("c",), "whole numbers"),
    links=_each_but_the_reference,
)
class OneVsRest(Reduction):
    """One two-class problem for each class: its rows against all others. The largest score wins, ties in class order.

    A class has a vote where its score is >= 0. Rows where no class or several have one are ambiguous; the rule is the
    same there. With ``reference_class`` that class has no estimator and the score 0, which leaves C - 1 problems:
    a row that no other class claims is the reference's. Two classes are one problem.

    Probabilities are those of the estimators divided by their sum; with a reference class the odds p / (1 - p) of the
    others and 1 for the reference, divided by their sum.

    Parameters
    ----------
    estimator : a two-class estimator with ``decision_function`` or ``predict_proba``.
    reference_class : label or None

    Attributes
    ----------
    classes_ : (C,) labels.
    estimators_ : the fitted two-class estimators, in class order without the reference.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LogisticRegression, OneVsRest
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsRest(LogisticRegression(alpha=0.01)).fit(X, y)
    >>> len(model.estimators_), model.votes(X[:2]).tolist(), model.predict(X[:2]).tolist()
    (3, [[1, 0, 0], [1, 0, 0]], [0, 0])
    >>> len(OneVsRest(LogisticRegression(), reference_class=1).fit(X, y).estimators_)
    2
    """

    def __init__(self, estimator: Any, *, reference_class: Any = None) -> None:
        self.estimator = estimator
        self.reference_class = reference_class

    def _fit_all(self, X: Any, targets: Array, sample_weight: Array | None) -> None:
        n_classes = len(self.classes_)
        if self.reference_class is None:
            # Of two classes the first is the reference, without being called so.
            reference = 0 if n_classes == 2 else None
        else:
            found = np.flatnonzero(self.classes_ == self.reference_class)
            if not len(found):
                raise ValueError(
                    f"reference_class {self.reference_class!r} is not among the labels {self.classes_.tolist()}."
                )
            reference = int(found[0])
        self._reference = reference
        self._claimants = np.array([c for c in range(n_classes) if c != reference])
        self.estimators_ = [self._fit_one(X, targets == c, sample_weight, {}) for c in self._claimants]

    def _scores(self, F: Array) -> Array:
        """(n, C): the reference has score 0."""
        scores = np.zeros((len(F), len(self.classes_)))
        scores[:, self._claimants] = F
        return scores

    def _parts(self, F: Array) -> tuple[Array, Array]:
        return F, np.eye(len(self.classes_))[:, self._claimants]

    def _votes(self, F: Array) -> Array:
        votes = (self._scores(F) >= 0).astype(np.intp)
        if self._reference is not None:
            votes[:, self._reference] = (F < 0).all(axis=1)
        return votes

    def _choose(self, F: Array) -> Array:
        best = self._claimants[F.argmax(axis=1)]
        return best if self._reference is None else np.where((F < 0).all(axis=1), self._reference, best)

    @base_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for ``classes_[1]``; else (n, C)."""
        F = self._two_class_scores(X)
        if len(self.classes_) == 2:
            return F[:, 0] if self._reference == 0 else -F[:, 0]
        return self._scores(F)

    @base_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C)."""
        p = self._second_probabilities(X)
        scores = np.ones((len(p), len(self.classes_)))
        if self._reference is None:
            scores[:, self._claimants] = p
        else:
            # Odds, all multiplied by the product of the (1 - p): finite where some p is 1.
            others = np.stack([np.delete(1.0 - p, k, axis=1).prod(axis=1) for k in range(p.shape[1])], axis=1)
            scores[:, self._claimants] = p * others
            scores[:, self._reference] = (1.0 - p).prod(axis=1)
        return normalized(scores)

    @base_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities (n, C), of use where these are rounded to 0 or 1."""
        L = self._log_probabilities(X)
        scores = np.zeros((len(L), len(self.classes_)))
        with np.errstate(invalid="ignore"):  # odds of 0 / 0
            scores[:, self._claimants] = L[:, :, 1] - (0.0 if self._reference is None else L[:, :, 0])
        certain = np.isnan(scores).any(axis=1) | ~np.isfinite(scores.max(axis=1))
        scores[certain] = 0.0
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        if certain.any():  # some estimator is sure: the logarithms say no more than the probabilities
            logs[certain] = log_of(self.predict_proba(X))[certain]
        return np.asarray(logs)


def _each_pair(model: "OneVsOne") -> None:
    pairs = Pairs(len(model.classes_)).numbers
    fits = np.array_equal(model.pairs_, pairs) and len(model.estimators_) == len(pairs)
    require(fits, "There is not one estimator for each pair of classes")


@kept(scale_alpha=Flag(), pairs_=Numbers(("p", 2), "whole numbers"), links=_each_pair)
class OneVsOne(Reduction):
    """One two-class problem for each pair of classes. Most votes win, ties by summed scores, then in class order.

    The problem of classes i < j has their rows only; a score >= 0 is a vote for j. Rows on which several classes have
    the most votes are ambiguous, and there the sum of a class's scores over its problems (counted as negative where it
    is the first of the two) decides. ``decision_function`` is votes + s / (3 (|s| + 1)) with s that sum, so that its
    largest value wins. Probabilities come from pairwise coupling: the p on the simplex that minimizes
    sum over i != j of (r_ji p_i - r_ij p_j)^2, r_ij = P(i | i or j); their largest may differ from the vote.

    Parameters
    ----------
    estimator : a two-class estimator with ``decision_function`` or ``predict_proba``.
    scale_alpha : bool
        Reductions keep C: a problem with weight S_ij of the total S gets alpha S / S_ij, so that the sum of its losses
        is weighed against the penalty as in the whole (scikit-learn's C = 1 / (S alpha) does not change). It concerns
        nearline's estimators whose ``alpha`` is a number, alone or inside a Pipeline ("1/n" is one over S_ij of itself);
        others are left as they are.

    Attributes
    ----------
    classes_ : (C,) labels.
    pairs_ : (C (C - 1) / 2, 2) the numbers i < j of the classes of each problem.
    estimators_ : the fitted two-class estimators, in the order of ``pairs_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LinearSVM, OneVsOne
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsOne(LinearSVM(alpha=0.01)).fit(X, y)
    >>> model.pairs_.tolist(), model.votes(X[:1]).tolist()
    ([[0, 1], [0, 2], [1, 2]], [[2, 1, 0]])
    >>> [round(estimator.alpha, 3) for estimator in model.estimators_]  # 100 of 150 rows each
    [0.015, 0.015, 0.015]
    """

    def __init__(self, estimator: Any, *, scale_alpha: bool = True) -> None:
        self.estimator = estimator
        self.scale_alpha = scale_alpha

    def _fit_all(self, X: Any, targets: Array, sample_weight: Array | None) -> None:
        n_classes = len(self.classes_)
        count = np.bincount(targets, weights=sample_weight, minlength=n_classes)
        alphas = _alphas(self.estimator) if self.scale_alpha else {}
        self.pairs_ = Pairs(n_classes).numbers
        self.estimators_, columns = [], []
        for i, j in self.pairs_:
            rows = np.flatnonzero((targets == i) | (targets == j))
            factor = float(count.sum() / (count[i] + count[j]))
            parameters = {name: alpha * factor for name, alpha in alphas.items()} if n_classes > 2 else {}
            weights = None if sample_weight is None else sample_weight[rows]
            own, pair = _safe_split(self.estimator, X, targets, rows)
            self.estimators_.append(self._fit_one(own, pair == j, weights, parameters))
            columns.append(rows)
        self._columns = columns if get_tags(self.estimator).input_tags.pairwise else None

    def _parts(self, F: Array) -> tuple[Array, Array]:
        votes = 0.5 * F if len(self.classes_) == 2 else np.where(F >= 0, 0.5, -0.5)
        return votes, Pairs(len(self.classes_)).signs

    def _votes(self, F: Array) -> Array:
        return Pairs(len(self.classes_)).votes(F)

    def _choose(self, F: Array) -> Array:
        return Pairs(len(self.classes_)).choose(F)

    @base_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for ``classes_[1]``; else (n, C), votes and a fraction for ties."""
        F = self._two_class_scores(X)
        if len(self.classes_) == 2:
            return F[:, 0]
        return Pairs(len(self.classes_)).scores(F)

    @base_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C) by pairwise coupling."""
        p = self._second_probabilities(X)
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - p[:, 0], p[:, 0]])
        return Pairs(len(self.classes_)).coupled(np.clip(p, 1e-7, 1.0 - 1e-7))


def _alphas(estimator: Any) -> dict[str, float]:
    """Parameters of ``estimator`` that are the alpha of one of nearline's models, by their names for set_params."""
    parameters = {"": estimator, **estimator.get_params(deep=True)}
    owners = {name: thing for name, thing in parameters.items() if isinstance(thing, Classifier)}
    names = {f"{owner}__alpha" if owner else "alpha" for owner in owners}
    numeric = {name: parameters[name] for name in names if isinstance(parameters.get(name), numbers.Real)}
    return {
        name: float(alpha) for name, alpha in numeric.items()
    }  # "1/n" is scaled already: n is the pair's own
