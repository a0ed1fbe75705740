"""KernelClassifier: a kernel, a loss, a solver. What linear models do with features, with those of a kernel."""

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from nearline._arrays.design import Array
from nearline._records.habits import named
from nearline._records.kept import (
    AnyOf,
    Flag,
    Instance,
    Named,
    OrNone,
    Plain,
    Real,
    Whole,
    Word,
    kept,
    require,
)
from nearline.estimators.kernel_base import MEMORY, KernelScoring
from nearline.kernels.gram import Gram
from nearline.losses import BINARY, LOSSES, Loss
from nearline.risk import KernelRisk
from nearline.scores import KernelScore
from nearline.solvers import Method, Solution, minimize


def defines_probabilities(self: "KernelClassifier") -> bool:
    """Whether the loss defines probabilities (predict_proba exists exactly then)."""
    loss = named(self.loss, LOSSES, Loss, "loss")
    return loss.probabilities(np.zeros((1, 2 if loss.joint else 1))) is not None


def _probabilities_of_classes(model: "KernelClassifier") -> None:
    """Probabilities for each class, where the loss promises them."""
    probabilities, promised = (
        model.loss_.probabilities(np.zeros((1, model._n_scores))),
        defines_probabilities(model),
    )
    fits = (
        probabilities is None
        if not promised
        else probabilities is not None and probabilities.shape[1] == len(model.classes_)
    )
    require(fits, f"The loss {model.loss_.name!r} does not give the probabilities of {model.loss!r}")


@kept(
    loss=Named(lambda loss: named(loss, LOSSES, Loss, "loss"), Loss),
    alpha=Plain(),
    fit_intercept=Flag(),
    class_weight=Plain(),
    solver=AnyOf((Word(), Instance(Method))),
    tol=Real(),
    alpha_=Real(least=0.0),
    loss_=Instance(Loss),
    solution_=Instance(Solution),
    gap_=OrNone(Real(wild=True)),
    n_iter_=Whole(),
    solver_=Word(),
    links=_probabilities_of_classes,
)
class KernelClassifier(KernelScoring):
    """Mean loss + (alpha/2) |W|^2 with scores W phi(x) + b, for any loss and any positive semi-definite kernel; certified.

    Parameters
    ----------
    kernel : as in :class:`KernelSVM`; its Gram matrix must fit into ``memory``.
    loss : name or Loss, see ``nearline.LOSSES``. Softmax, sparsemax, Weston-Watkins and Crammer-Singer are joint; losses
        of separate columns (logistic, hinge, squared hinge, squared) are one-vs-rest above two classes. Two classes use
        one score.
    alpha : strength of the penalty, > 0; "1/n" is one over the sum of the weights.
    fit_intercept : whether b is fitted; it is never penalized.
    class_weight : None, "balanced" or {label: weight}.
    solver : "auto", "smo", "newton" or "closed-form" on the Gram matrix, or any of ``nearline.SOLVERS``, which then works on
        coordinates of the items whose inner products are the kernel (a pivoted Cholesky factor).
    tol : certified duality gap to reach, relative to the risk: P - D <= tol P.
    memory : bytes that the Gram matrix may take.

    Attributes
    ----------
    dual_coef_, intercept_ : (items, K) and (K,), of the items that count.
    alpha_, loss_ : the alpha and the loss that were used.
    gap_ : certified duality gap (P - D) / P of ``dual_coef_`` and ``intercept_``.
    n_iter_, solver_, solution_ : how the fit went, as in :class:`LinearClassifier`.
    kernel_ : the kernel with its numbers; ``expansion_`` is the score function.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelClassifier("rbf", loss="crammer-singer", alpha=1e-3).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.gap_ <= 1e-4)
    (True, True)
    """

    loss: Any  # named machines fix it as a class attribute, so that it is no parameter there
    solver: Any = "auto"

    def __init__(
        self,
        kernel: Any = "rbf",
        loss: Any = "softmax",
        alpha: float | str = "1/n",
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        memory: float = MEMORY,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores; sample weights count as repetitions of items."""
        items, targets, weights = self._validate_items(X, y, sample_weight, self.class_weight)
        gram = self._gram(items, "put nearline.Nystroem in front of LinearClassifier")
        self._fit_whole(gram, self._asked(targets, weights))
        self.solution_.warn(self.tol, lambda: None)
        return self

    def _fit_whole(self, gram: Gram, asked: dict[str, Any]) -> None:
        """Minimize the risk over the kernel's own space."""
        risk = KernelRisk.of(gram, **asked)
        solution = minimize(risk, self.solver, tol=self.tol)
        self._keep(risk.alpha, solution)
        self._keep_scores(KernelScore.of(self.kernel_, gram.items, solution.params.W.T, solution.params.b))

    def _asked(self, targets: Array, weights: Array) -> dict[str, Any]:
        """What a risk is made of, beside the items."""
        n_classes, loss = len(self.classes_), named(self.loss, LOSSES, Loss, "loss")
        self.loss_ = BINARY.get(type(loss), loss) if n_classes == 2 else loss
        asked = {"loss": self.loss_, "alpha": self.alpha, "bias": self.fit_intercept, "n_classes": n_classes}
        return {"targets": targets, "weights": weights, **asked}

    def _keep(self, alpha: float, solution: Solution) -> None:
        self.alpha_, self.solution_ = alpha, solution
        self.gap_, self.n_iter_, self.solver_ = solution.gap, solution.n_iter, solution.solver

    @property
    def _n_scores(self) -> int:
        several = self.loss_.joint or len(self.classes_) > 2
        return len(self.classes_) if several else 1

    @available_if(defines_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C) that the loss defines."""
        scores = self._scores(X)
        return np.asarray(self.loss_.probabilities(scores))

    @available_if(defines_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities (n, C), finite where the loss has no probability of 0."""
        scores = self._scores(X)
        return np.asarray(self.loss_.log_probabilities(scores))
