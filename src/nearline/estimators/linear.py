"""LinearClassifier: a loss, a regularizer, a solver. The named linear models are a few lines each."""

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array, Design
from nearline._arrays.validation import check_weights, validate_data
from nearline._records.explanation import Contributions
from nearline._records.kept import (
    AnyOf,
    Flag,
    Instance,
    Named,
    Numbers,
    OneOf,
    OrNone,
    Perhaps,
    Plain,
    Real,
    Whole,
    Word,
    kept,
    require,
)
from nearline.decision import decide
from nearline.estimators._explained import OfFeatures, by_class, contributions, linear
from nearline.estimators.base import Classifier, class_weights, encoded
from nearline.losses import BINARY, JOINT, LOSSES, Loss
from nearline.regularizers import REGULARIZERS, Regularizer
from nearline.risk import Risk, named, strength
from nearline.risk.params import Params
from nearline.scores import LinearScore
from nearline.solvers import RULES, SGD, SOLVERS, Solution, Solver, minimize
from nearline.solvers.sgd import DescentProgress

MULTICLASS = ("auto", "joint", "one-vs-rest")


@kept(n_features_in_=Whole(1), coef_=Numbers(("P", "D")), intercept_=Numbers(("P",), infinite=True))
class LinearModel(Classifier):
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

    def decision_function(self, X: Any) -> Array:
        """Scores f(x): (n,) for two classes, (n, K) for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

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


def defines_probabilities(self: "LinearClassifier") -> bool:
    """Whether the loss defines probabilities (predict_proba exists exactly then)."""
    loss = self._named_loss()
    return loss.probabilities(np.zeros((1, 2 if loss.joint else 1))) is not None


def _scores_of_classes(model: "LinearClassifier") -> None:
    """As many scores as the loss needs, probabilities for each class, and a descent that can go on."""
    K, C = len(model.coef_), len(model.classes_)
    require(
        (C if C > 2 or model.loss_.joint else 1) == K, f"A model of {C} classes has weights of {K} scores"
    )
    chances, promised = model.loss_.probabilities(np.zeros((1, K))), defines_probabilities(model)
    fits = chances is None if not promised else chances is not None and chances.shape == (1, C)
    require(fits, f"The loss {model.loss_.name!r} does not give the probabilities of {model.loss!r}")
    if model.progress_ is not None:
        shape = model.progress_.params.n_outputs, model.progress_.params.n_features
        require(shape == model.coef_.shape, "The weights of a descent do not fit the features and classes")


@kept(
    loss=Named(lambda loss: named(loss, LOSSES, Loss, "loss"), Loss),
    regularizer=Named(lambda penalty: named(penalty, REGULARIZERS, Regularizer, "regularizer"), Regularizer),
    alpha=Plain(),
    multiclass=OneOf(MULTICLASS),
    fit_intercept=Flag(),
    class_weight=Plain(),
    solver=AnyOf((Word(), Instance(Solver))),
    tol=Real(),
    warm_start=Flag(),
    coef_=Numbers(("K", "D")),
    intercept_=Numbers(("K",)),
    progress_=OrNone(Instance(DescentProgress)),
    solution_=OrNone(Instance(Solution)),
    loss_=Instance(Loss),
    alpha_=Real(least=0.0),
    seen_weight_=Real(least=0.0),
    gap_=OrNone(Real(wild=True)),
    n_iter_=Whole(),
    objective_path_=Numbers(("T",), wild=True),
    solver_=Word(),
    links=_scores_of_classes,
)
class LinearClassifier(LinearModel):
    """Linear scores f(x) = W x + b that minimize mean loss + alpha R(W).

    Parameters
    ----------
    loss : name or Loss; see ``nearline.LOSSES``.
    regularizer : name ("none", "l2", "l1", "elastic-net", "group-l1") or Regularizer.
    alpha : strength of the regularizer, a number >= 0; "1/n" is one over the sum of the weights, scikit-learn's C = 1
        (its C is 1 / (n alpha)).
    multiclass : "auto" | "joint" | "one-vs-rest"; auto is joint where the loss has a smooth joint form.
    fit_intercept : whether b is fitted; it is never penalized.
    class_weight : None, "balanced" or {label: weight}.
    solver : "auto", a name from ``nearline.SOLVERS`` or a Solver.
    tol : certified duality gap to reach, relative to the risk: P - D <= tol P.
    warm_start : whether fit starts from the last solution.

    Attributes
    ----------
    coef_, intercept_, classes_ : as in scikit-learn.
    alpha_ : the alpha that was used, a number.
    gap_ : certified duality gap (P - D) / P of ``coef_`` and ``intercept_``, None where there is none.
    n_iter_, objective_path_, solver_, solution_ : how the fit went.
    loss_ : the loss that was minimized (two classes use one score).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LinearClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearClassifier(loss="squared-hinge", alpha=1e-3).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), bool(model.gap_ <= 1e-4)
    (True, True)
    """

    # Named models fix some of these as class attributes, so that they are no parameters there.
    loss: Any
    regularizer: Any
    multiclass: str
    online = True  # whether partial_fit makes sense

    def __init__(
        self,
        loss: Any = "logistic",
        regularizer: Any = "l2",
        alpha: float | str = "1/n",
        *,
        multiclass: str = "auto",
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.regularizer = regularizer
        self.alpha = alpha
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start

    @property
    def penalty(self) -> str | None:
        """The kind of penalty in scikit-learn's words: 'l1', 'l2', 'elasticnet', None, or the name of one's own.

        scikit-learn's selectors ask for it: SelectFromModel keeps the non-zero weights of a model with 'l1'.
        """
        regularizer = named(self.regularizer, REGULARIZERS, Regularizer, "regularizer")
        known = regularizer.as_elastic(2)
        if known is None:
            return regularizer.name
        return {(True, False): "l1", (False, True): "l2", (True, True): "elasticnet"}.get(
            (known.l1 > 0, known.l2 > 0)
        )

    def _named_loss(self) -> Loss:
        return named(self.loss, LOSSES, Loss, "loss")

    def _loss_for(self, n_classes: int) -> Loss:
        """The loss for this many classes: two classes use one score, more the joint form or one-vs-rest columns."""
        loss, multiclass = self._named_loss(), self.multiclass
        if multiclass not in ("auto", "joint", "one-vs-rest"):
            raise ValueError(
                f"multiclass must be 'auto', 'joint' or 'one-vs-rest', got {multiclass!r} "
                "(for one-vs-one wrap the model: OneVsOne(LinearClassifier(...)))."
            )
        if n_classes == 2:
            return BINARY.get(type(loss), loss)
        if multiclass == "one-vs-rest":
            return BINARY.get(type(loss), loss)
        if loss.joint:
            return loss
        joint = JOINT.get(type(loss))
        if multiclass == "joint" and joint is None:
            raise ValueError(
                f"Loss '{loss.name}' has no joint form: use multiclass='one-vs-rest', or one of "
                f"{', '.join(repr(known.name) for known in JOINT)}."
            )
        return joint if joint is not None and (multiclass == "joint" or joint.smooth) else loss

    # -- fitting ----------------------------------------------------------------------------------------------

    def risk(self, X: Any, y: Any, sample_weight: Any = None) -> Risk:
        """The risk that :meth:`fit` minimizes on these rows (sets ``classes_``)."""
        X, targets, weights = self._validate_fit(X, y, sample_weight, self.class_weight)
        return Risk(
            X,
            targets,
            loss=self._loss_for(len(self.classes_)),
            regularizer=self.regularizer,
            alpha=self.alpha,
            weights=weights,
            bias=self.fit_intercept,
            n_classes=len(self.classes_),
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimize the risk over (X, y); sample weights count as repetitions of rows."""
        risk = self.risk(X, y, sample_weight)
        self._keep(risk, minimize(risk, self.solver, self._start(risk), tol=self.tol))
        self.solution_.warn(self.tol, self._limit)
        return self

    @available_if(lambda self: self.online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass of stochastic gradient descent over new rows.

        It goes on from a fitted model, or from zero: then the first call needs all ``classes``.

        The step size goes on where the last batch ended; ``solver`` may be an :class:`nearline.SGD` with a schedule.
        With alpha = "1/n" each batch uses one over the weight of all rows seen so far.
        """
        progress, seen = getattr(self, "progress_", None), getattr(self, "seen_weight_", 0.0)
        fitted = getattr(self, "coef_", None) is not None
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=not fitted
        )
        if not fitted:
            if classes is None:
                raise ValueError(
                    "The first call of partial_fit needs classes=: all labels that will ever come."
                )
            self.classes_ = encoded(np.asarray(classes))[0]
            if len(self.classes_) < 2:
                raise ValueError(f"classes must be at least 2 labels, got {self.classes_.tolist()}.")
            self.loss_ = self._loss_for(len(self.classes_))
        targets = self._known(y)
        weights = check_weights(sample_weight, X)
        n_outputs = len(self.classes_) if self.loss_.joint or len(self.classes_) > 2 else 1
        sgd = self.solver if isinstance(self.solver, SGD) else SGD()
        if progress is None:
            start = Params.of(self.coef_, self.intercept_) if fitted else Params.zeros(n_outputs, X.shape[1])
            progress = self.progress_ = sgd.begin(start)
        weights = self._weighted_batch(weights, targets)
        self.seen_weight_ = seen + float(weights.sum())
        self.alpha_ = strength(self.alpha, self.seen_weight_)
        params = sgd.partial_fit(
            progress,
            X,
            targets,
            loss=self.loss_,
            regularizer=self.regularizer,
            alpha=self.alpha_,
            weights=weights,
            bias=self.fit_intercept,
        )
        self.coef_, self.intercept_ = params.W.astype(X.dtype), params.b.astype(X.dtype)
        self.solver_ = sgd.name
        # What an earlier fit certified no longer holds.
        self.gap_, self.solution_ = None, None
        self.n_iter_, self.objective_path_ = 1, np.empty(0)
        return self

    def _limit(self) -> str | None:
        """How a user of this model raises the number of iterations; None if there is no such parameter."""
        solver = (SOLVERS | RULES).get(self.solution_.solver)
        if "solver" not in self.get_params() or solver is None:
            return None
        return f"max_iter (solver=nearline.solvers.{type(solver).__name__}(max_iter={10 * solver.max_iter}))"

    def _start(self, risk: Risk) -> Params | None:
        """The last solution, if a warm start is wanted and the shapes agree."""
        if not self.warm_start or getattr(self, "solution_", None) is None:
            return None
        if self.coef_.shape != (risk.n_outputs, risk.n_features):
            return None
        return Params.of(self.coef_, self.intercept_)

    def _keep(self, risk: Risk, solution: Solution) -> None:
        dtype = risk.X.dtype
        self.progress_ = None
        self.solution_ = solution
        self.coef_ = solution.params.W.astype(dtype)
        self.intercept_ = solution.params.b.astype(dtype)
        self.loss_ = risk.loss
        self.alpha_, self.seen_weight_ = risk.alpha, risk.total_weight
        self.gap_ = solution.gap
        self.n_iter_ = max(solution.n_iter, 1)
        self.objective_path_ = solution.trace
        self.solver_ = solution.solver

    @available_if(defines_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C) that the loss defines."""
        scores = self._scores(X)
        probabilities = self.loss_.probabilities(scores.astype(np.float64))
        assert probabilities is not None
        return probabilities.astype(scores.dtype)

    @available_if(defines_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities, in float64: float32 could not tell 1 - 1e-8 from 1."""
        scores = self._scores(X).astype(np.float64)
        logarithms = self.loss_.log_probabilities(scores)
        assert logarithms is not None
        return logarithms


@kept(loss=None)
class LogisticRegression(LinearClassifier):
    """Logistic regression: log(1 + exp(-y f)) for two classes, softmax cross-entropy for more.

    Parameters are those of :class:`LinearClassifier`; ``multiclass="one-vs-rest"`` fits K two-class models instead.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(alpha=0.1, tol=1e-8).fit(X, y)
    >>> model.predict_proba(X[:1]).round(2).tolist()
    [[0.89, 0.1, 0.0]]
    """

    loss = "logistic"

    def __init__(
        self,
        alpha: float | str = "1/n",
        regularizer: Any = "l2",
        *,
        multiclass: str = "auto",
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.regularizer = regularizer
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start


@kept(loss=None, multiclass=None, multilabel_=Perhaps(Flag()))
class SparsemaxClassifier(LinearClassifier):
    """Sparsemax regression: probabilities that can be exactly 0.

    ``y`` may also be a label indicator matrix (n, C), one or more labels a row; ``predict`` then gives the labels of
    positive probability, as an indicator matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import SparsemaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparsemaxClassifier(alpha=1e-3).fit(X, y)
    >>> model.predict_proba(X[:1]).tolist()
    [[1.0, 0.0, 0.0]]
    """

    loss = "sparsemax"
    multiclass = "auto"
    multilabel_ = False  # until a fit to label sets

    def __init__(
        self,
        alpha: float | str = "1/n",
        regularizer: Any = "l2",
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.regularizer = regularizer
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimize the risk; ``y`` is labels (n,) or an indicator matrix (n, C) of label sets."""
        shape = np.asarray(y).shape
        self.multilabel_ = len(shape) == 2 and shape[1] > 1
        return (
            self._fit_label_sets(X, y, sample_weight)
            if self.multilabel_
            else super().fit(X, y, sample_weight)
        )

    def _fit_label_sets(self, X: Any, Y: Any, sample_weight: Any) -> Self:
        X, Y = validate_data(
            self, X, Y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", multi_output=True
        )
        Y = np.asarray(Y, dtype=np.float64)
        if not (np.isin(Y, (0.0, 1.0)).all() and (Y.sum(axis=1) > 0).all()):
            raise ValueError(
                "A label indicator matrix must hold 0 and 1 only, with at least one 1 in each row; "
                "drop rows without labels, or add a column for 'none'."
            )
        if self.class_weight is not None:
            raise ValueError("class_weight is for one label a row: give sample_weight with label sets.")
        self.classes_ = np.arange(Y.shape[1])
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        risk = Risk(
            X,
            Y / Y.sum(axis=1, keepdims=True),
            loss="sparsemax",
            regularizer=self.regularizer,
            alpha=self.alpha,
            weights=weights,
            bias=self.fit_intercept,
        )
        self._keep(risk, minimize(risk, self.solver, self._start(risk), tol=self.tol))
        self.solution_.warn(self.tol, self._limit)
        return self

    def predict(self, X: Any) -> Array:
        """Labels, or for a model of label sets the indicator matrix of labels with positive probability."""
        check_is_fitted(self)
        return (self.predict_proba(X) > 0).astype(int) if self.multilabel_ else super().predict(X)
