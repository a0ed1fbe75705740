"""KernelLogisticRegression: logistic or softmax regression in the space of a kernel's features (SPEC G5)."""

import warnings
from typing import Any, Self

import numpy as np

from nearline.arrays import Array
from nearline.estimators._kernel import MEMORY, KernelScoring, count, fits, wide
from nearline.estimators._kernel_gap import kernel_gap
from nearline.kept import Flag, Instance, OrNone, Plain, Real, Whole, Word, kept
from nearline.kernels.expansion import Expansion
from nearline.kernels.landmarks import Landmarks, all_landmarks, some_landmarks
from nearline.losses import LOSSES, Loss
from nearline.risk import Risk
from nearline.solvers import ConvergenceWarning, Solution, minimize


@kept(
    alpha=Plain(),
    bias=Flag(),
    class_weight=Plain(),
    rank=OrNone(Whole(1)),
    tol=Real(),
    seed=Whole(),
    alpha_=Real(least=0.0),
    solution_=Instance(Solution),
    residual_=Real(wild=True),
    gap_=OrNone(Real(wild=True)),
    n_iter_=Whole(),
    solver_=Word(),
)
class KernelLogisticRegression(KernelScoring):
    """Mean logistic loss + (alpha/2) |W|^2 with scores W phi(x) + b; softmax above two classes; certified.

    Items get coordinates whose inner products are the kernel (a pivoted Cholesky factor of the Gram matrix), and the
    linear solvers do the rest. Where the Gram matrix does not fit, or ``rank`` says so, the coordinates are those on
    some of the items: ``residual_`` says which share of the features is not reached.

    Parameters
    ----------
    kernel : as in :class:`KernelSVM`.
    alpha : strength of the penalty, > 0; "1/n" is one over the sum of the weights.
    bias : whether b is fitted; it is never penalized.
    class_weight : None, "balanced" or {label: weight}.
    rank : largest number of coordinates; None is as many as there are items, or 2,000 if the Gram matrix does not fit.
    tol : certified duality gap to reach, relative to the risk: P - D <= tol P.
    memory : bytes that the Gram matrix may take.
    seed : decides which items are landmarks, if not all are.

    Attributes
    ----------
    dual_coef_, intercept_ : (landmarks, P) and (P,).
    alpha_ : the alpha that was used.
    gap_ : certified duality gap (P - D) / P of ``dual_coef_`` and ``intercept_``; with fewer landmarks than items among
        the machines that these can make.
    n_iter_, solver_, solution_ : how the fit went, as in :class:`LogisticRegression`.
    residual_ : share of sum k(x, x) that the coordinates leave out, about 0 if all items are landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KernelLogisticRegression
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> model = KernelLogisticRegression(alpha=0.01).fit(X, [0, 0, 1, 1])
    >>> model.predict_proba(X).round(2).tolist()
    [[0.89, 0.11], [0.89, 0.11], [0.11, 0.89], [0.11, 0.89]]
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: float | str = "1/n",
        *,
        bias: bool = True,
        class_weight: Any = None,
        rank: int | None = None,
        tol: float = 1e-4,
        memory: float = MEMORY,
        seed: int = 0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.bias = bias
        self.class_weight = class_weight
        self.rank = rank
        self.tol = tol
        self.memory = memory
        self.seed = seed

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores; sample weights count as repetitions of items."""
        items, targets, weights = self._validate_items(X, y, sample_weight, self.class_weight)
        marks, Z = self._coordinates(items)
        n_classes = len(self.classes_)
        risk = Risk(
            Z,
            targets,
            loss=LOSSES["logistic" if n_classes == 2 else "softmax"],
            alpha=self.alpha,
            weights=weights,
            bias=self.bias,
            n_classes=n_classes,
        )
        self.alpha_ = risk.alpha
        self.solution_ = minimize(risk, "auto", tol=self.tol)
        self._keep(marks)
        if self._whole(items):
            self.gap_ = self._exact_gap(risk, wide(items))
        self._warn()
        return self

    def _exact_gap(self, risk: Risk, items: Any) -> float | None:
        """The gap of the coefficients that were made of the weights, in the space of the kernel itself."""
        A, b = np.zeros((risk.n_rows, risk.n_outputs)), self.intercept_
        A[self.expansion_.rows] = self.dual_coef_
        K = self.kernel_.among(items)
        return kernel_gap(risk.loss, K, A, b, risk.targets, risk.weights, risk.alpha, bias=self.bias)

    def _warn(self) -> None:
        self.solution_.warn(self.tol, None)
        if self.solution_.converged and self.gap_ is not None and not self.gap_ <= self.tol:
            warnings.warn(
                f"The coefficients of KernelLogisticRegression have a certified gap of {self.gap_:.1e} > tol = "
                f"{self.tol:.1e}, as the kernel's features are nearly dependent for this alpha: raise alpha or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _whole(self, items: Any) -> bool:
        """Whether all items are landmarks, so that the coordinates are those of the kernel itself."""
        return self.rank is None and (fits(count(items), self.memory, 16) or self.kernel_.takes == "gram")

    def _coordinates(self, items: Any) -> tuple[Landmarks, Array]:
        if self._whole(items):
            return all_landmarks(self.kernel_, wide(items))
        if self.kernel_.takes == "gram":
            raise ValueError(
                "rank needs a kernel that can be computed; with kernel='precomputed' leave it None."
            )
        marks = some_landmarks(self.kernel_, items, self.rank or 2000, self.seed)
        return marks, marks.coordinates(items)

    def _keep(self, marks: Landmarks) -> None:
        params, solution = self.solution_.params, self.solution_
        b = params.b if self.bias else np.zeros(len(params.W))
        self.expansion_ = Expansion(
            self.kernel_, marks.items, marks.rows, marks.coefficients(params.W), np.asarray(b, dtype=float)
        )
        self.dual_coef_, self.intercept_ = self.expansion_.A, self.expansion_.b
        self.residual_ = marks.residual
        self.gap_, self.n_iter_, self.solver_ = solution.gap, solution.n_iter, solution.solver

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C)."""
        scores = self._scores(X)
        return np.asarray(self._loss().probabilities(scores))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities (n, C), finite where a probability is rounded to 0."""
        scores = self._scores(X)
        return np.asarray(self._loss().log_probabilities(scores))

    def _loss(self) -> Loss:
        return LOSSES["logistic" if len(self.classes_) == 2 else "softmax"]
