"""LinearClassifier: a loss, a regularizer, a solver."""

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from nearline._arrays.blocks import Blocks
from nearline._arrays.design import Array
from nearline._arrays.doors import Door
from nearline._records.habits import named
from nearline._records.kept import (
    AnyOf,
    Flag,
    Instance,
    Named,
    Numbers,
    OneOf,
    OrNone,
    Plain,
    Real,
    Whole,
    Word,
    kept,
    require,
)
from nearline.estimators._batches import learn_batch
from nearline.estimators.base import by_blocks, fits_blocks
from nearline.estimators.blocked import labelled
from nearline.estimators.linear_base import LinearModel
from nearline.losses import BINARY, JOINT, LOSSES, Loss
from nearline.regularizers import REGULARIZERS, Regularizer
from nearline.risk import BlockedRisk, Risk
from nearline.risk.params import Params
from nearline.solvers import RULES, SOLVERS, Solution, Solver, minimize
from nearline.solvers.sgd import DescentProgress

MULTICLASS = ("auto", "joint", "one-vs-rest")


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
    probabilities, promised = model.loss_.probabilities(np.zeros((1, K))), defines_probabilities(model)
    fits = (
        probabilities is None if not promised else probabilities is not None and probabilities.shape == (1, C)
    )
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
    n_iter_, solver_, solution_ : how the fit went.
    objective_path_ : the risk as the solver went; that of the model, rounded and with its best bias, is ``solution_.value``.
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

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimize the risk over rows in blocks."""
        risk = self._blocked_risk(labelled(self, door, X, y, sample_weight, self.class_weight))
        self._keep(risk, minimize(risk, self.solver, self._start(risk), tol=self.tol))
        self.solution_.warn(self.tol, self._limit)
        return self

    def _blocked_risk(self, blocks: Blocks) -> BlockedRisk:
        return BlockedRisk(
            blocks,
            loss=self._loss_for(len(self.classes_)),
            regularizer=self.regularizer,
            alpha=self.alpha,
            bias=self.fit_intercept,
            n_classes=len(self.classes_),
        )

    @fits_blocks
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
        learn_batch(self, X, y, classes, sample_weight)
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
        dtype = risk.precision
        self.progress_ = None
        self.solution_ = solution
        self.coef_ = solution.params.W.astype(dtype)
        self.intercept_ = solution.params.b.astype(dtype)
        self.loss_ = risk.loss
        self.alpha_, self.seen_weight_ = risk.alpha, risk.total_weight
        self.gap_, self.solver_ = solution.gap, solution.solver
        self.n_iter_ = max(solution.n_iter, 1)
        self.objective_path_ = solution.trace

    @available_if(defines_probabilities)  # type: ignore[untyped-decorator]
    @by_blocks
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C) that the loss defines."""
        scores = self._scores(X)
        probabilities = self.loss_.probabilities(scores.astype(np.float64))
        assert probabilities is not None
        return probabilities.astype(scores.dtype)

    @available_if(defines_probabilities)  # type: ignore[untyped-decorator]
    @by_blocks
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities, in float64: float32 could not tell 1 - 1e-8 from 1."""
        scores = self._scores(X).astype(np.float64)
        logarithms = self.loss_.log_probabilities(scores)
        assert logarithms is not None
        return logarithms
