"""Perceptron: the classifier that learns from mistakes alone."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from nearline._arrays.design import Array, Design
from nearline._arrays.validation import check_weights, validate_data
from nearline._records.kept import (
    Flag,
    Instance,
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
from nearline.estimators.linear_base import LinearModel
from nearline.risk.params import Params
from nearline.solvers import ConvergenceWarning
from nearline.solvers.perceptron import MULTICLASS, PerceptronResult, PerceptronRule, perceptron_rule
from nearline.solvers.step_size import KEPT_STEP, DecayingStep


def _goes_on(model: "Perceptron") -> None:
    """Learning goes on in compiled code, from weights that must be as many as there are features and classes."""
    for params in (model._total, model.result_.params):
        shape = params.n_outputs, params.n_features
        require(shape == model.coef_.shape, "The weights of a perceptron do not fit its features and classes")


@kept(
    multiclass=OneOf(MULTICLASS),
    step_size=KEPT_STEP,
    averaged=Flag(),
    fit_intercept=Flag(),
    max_iter=Whole(1),
    random_state=OrNone(Whole()),
    class_weight=Plain(),
    warm_start=Flag(),
    intercept_=Numbers(("P",)),
    result_=Instance(PerceptronResult),
    _total=Instance(Params),
    _visits=Numbers(("P",), least=0.0),
    converged_=Flag(),
    solver_=Word(),
    gap_=OneOf((None,)),
    mistakes_=Perhaps(Whole()),
    n_iter_=Perhaps(Whole()),
    bound_=Perhaps(OrNone(Real(wild=True))),
    links=_goes_on,
)
class Perceptron(LinearModel):
    """The perceptron rule: cycle through the rows, w += y x on each mistake y f(x) <= 0, until a cycle has none.

    On separable rows it ends, after at most (R / gamma)^2 mistakes, and the last w is the answer. On others it never
    does: the mean of all iterates is the answer then, and cycles end once they no longer help, that is after cycle t if the
    fewest mistakes in a cycle are more than nine tenths of what they were after t / 2 cycles (and t >= 10, and the cycles
    have gone through 10 million numbers; one-vs-rest: each class by itself).

    Parameters
    ----------
    multiclass : for three or more classes "joint": for each c with f_c >= f_y, w_y += x and w_c -= x; "argmax": for
        the largest such f_c only; "one-vs-rest": each class against all others, on its own.
    step_size : what corrections are multiplied by: a number, or a :class:`DecayingStep`, which goes down from cycle to
        cycle. From a start at 0 a number scales the weights and changes nothing else.
    averaged : whether the weights are the mean over all visits of rows where no cycle was without a mistake (in
        partial_fit: always), not the last ones.
    fit_intercept : whether b is learned (as the weight of a constant feature 1).
    max_iter : largest number of cycles.
    random_state : None: rows in the order given; a number: in an order drawn anew for each cycle.
    class_weight : None, "balanced" or {label: weight}. Weights of classes and rows multiply the corrections.
    warm_start : whether fit starts from the weights where the last one ended.

    Attributes
    ----------
    coef_, intercept_, classes_ : as in scikit-learn.
    solver_ : "perceptron".
    n_iter_ : cycles, the one without mistakes included.
    gap_ : None. The rule minimizes no risk (W = 0 would be the minimizer of the perceptron loss), so there is no
        certificate, and no ``objective_path_`` either; ``bound_`` says how far it had to go.
    mistakes_ : number of mistakes made (joint: a row counts once for each class that it puts too high).
    converged_ : whether there was a cycle without mistakes.
    bound_ : upper bound on ``mistakes_`` from the start, the step sizes and the separator found, see
        :class:`PerceptronResult`; None if there is none (not converged, or learned by ``partial_fit``).
    result_ : the :class:`PerceptronResult` of the last call.

    Examples
    --------
    >>> from nearline import Perceptron
    >>> model = Perceptron(fit_intercept=False).fit([[2.0, 2.0], [2.0, -1.0]], [+1, -1])
    >>> model.coef_, model.mistakes_, bool(model.mistakes_ <= model.bound_)
    (array([[0., 3.]]), 2, True)
    """

    result_: PerceptronResult

    def __init__(
        self,
        multiclass: str = "joint",
        *,
        step_size: float | DecayingStep = 1.0,
        averaged: bool = True,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        random_state: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.multiclass = multiclass
        self.step_size = step_size
        self.averaged = averaged
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.random_state = random_state
        self.class_weight = class_weight
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None, start: Params | None = None) -> Self:
        """Apply the rule until a cycle over (X, y) has no mistake, or ``max_iter`` cycles are done.

        ``start``: weights and biases to start from, one row of weights for two classes, else one for each.
        """
        X, targets, weights = self._validate_fit(X, y, sample_weight, self.class_weight)
        if start is None and self.warm_start and hasattr(self, "result_"):
            start = self._start(X)
        self._check_start(start, X)
        result = self._rule(X, targets, weights, self.max_iter, start, while_it_helps=True)
        self._keep(X, result, result.total, result.visits)
        if self.averaged:
            self._answer(X, result.answer)
        self.mistakes_, self.n_iter_ = result.mistakes, max(result.n_iter, 1)
        self.bound_ = result.bound
        if not (self.converged_ or self.averaged):
            warnings.warn(
                f"The perceptron rule still made mistakes after {self.n_iter_} cycles (max_iter = {self.max_iter}), and "
                "never ends if the rows are not separable: take averaged=True or another model (LinearSVM).",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One cycle over the rows of a batch, from where the last batch ended. ``classes`` is needed at first."""
        first = not hasattr(self, "result_")
        X, targets, weights = self._validate_batch(X, y, classes, sample_weight, first)
        result = self._rule(X, targets, weights, 1, None if first else self._start(X))
        total, visits = result.total, result.visits
        if not first:
            total, visits = total.like(total.flat + self._total.flat), visits + self._visits
        self._keep(X, result, total, visits)
        self.mistakes_ = result.mistakes + (0 if first else self.mistakes_)
        self.n_iter_ = 1 if first else self.n_iter_ + 1
        self.bound_ = None
        return self

    def _rule(
        self,
        X: Design,
        targets: Array,
        weights: Array,
        max_iter: int,
        start: Params | None,
        *,
        while_it_helps: bool = False,
    ) -> PerceptronResult:
        return perceptron_rule(
            X,
            targets,
            n_classes=len(self.classes_),
            multiclass=self.multiclass,
            weights=weights,
            bias=self.fit_intercept,
            averaged=self.averaged,
            random_state=self.random_state,
            max_iter=max_iter,
            start=start,
            step_size=self.step_size,
            while_it_helps=while_it_helps,
        )

    def _check_start(self, start: Params | None, X: Design) -> None:
        shape = (1 if len(self.classes_) == 2 else len(self.classes_), X.shape[1])
        if start is not None and not (isinstance(start, Params) and start.W.shape == shape):
            found = f"weights of shape {start.W.shape}" if isinstance(start, Params) else repr(start)
            raise ValueError(
                f"start must be Params with weights of shape {shape}, got {found}: Params.of(W, b)."
            )

    def _start(self, X: Design) -> Params | None:
        """Where the last call ended, if the shapes agree."""
        params, n_classes = self.result_.params, len(self.classes_)
        same = params.n_features == X.shape[1] and params.n_outputs == (1 if n_classes == 2 else n_classes)
        return params if same else None

    def _keep(self, X: Design, result: PerceptronResult, total: Params, visits: Array) -> None:
        self.result_, self._total, self._visits = result, total, visits
        params = result.params
        if self.averaged:
            share = np.where(visits > 0, visits, 1.0)
            params = Params.of(total.W / share[:, None], total.b / share)
        self._answer(X, params)
        self.converged_ = result.converged
        self.solver_, self.gap_ = PerceptronRule.name, None

    def _answer(self, X: Design, params: Params) -> None:
        self.coef_, self.intercept_ = params.W.astype(X.dtype), params.b.astype(X.dtype)

    def _validate_batch(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, first: bool
    ) -> tuple[Design, Array, Array]:
        dtype = [np.float64, np.float32]
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=dtype, order="C", reset=first)
        check_classification_targets(y)
        if first and classes is None:
            raise ValueError("The first call of partial_fit needs classes: give all labels that may come.")
        if first:
            self.classes_ = unique_labels(classes)
        elif classes is not None and not np.array_equal(self.classes_, unique_labels(classes)):
            raise ValueError(f"classes={classes!r} are not those of the first call, {self.classes_!r}.")
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y has labels {unknown!r} that are not in classes, {self.classes_!r}.")
        weights = check_weights(sample_weight, X)
        targets = np.searchsorted(self.classes_, y)
        weights = self._weighted_batch(weights, targets)
        return X, targets.astype(np.int32), weights
