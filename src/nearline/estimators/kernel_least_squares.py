"""KernelLeastSquares: ridge on coded labels in the space of a kernel's features."""

import warnings
from typing import Any, Self

import numpy as np

from nearline._records.kept import Flag, Numbers, OrNone, Perhaps, Plain, Real, kept
from nearline.estimators.kernel_base import MEMORY, KernelScoring
from nearline.estimators.least_squares import checked_alphas, keep_best, one_alpha
from nearline.losses import Squared
from nearline.risk import KernelRisk
from nearline.risk.params import Params
from nearline.scores import KernelScore
from nearline.solvers import ConvergenceWarning
from nearline.solvers.gram_ridge import GramRidge

LARGEST_GAP = 1e-4  # that a factorization is trusted with, of the risk; the tolerance of other fits


@kept(
    alpha=Plain(),
    fit_intercept=Flag(),
    class_weight=Plain(),
    scoring=Plain(),
    alpha_=Real(least=0.0),
    gap_=OrNone(Real(wild=True)),
    alphas_=Perhaps(Numbers(("A",), wild=True)),
    loo_score_=Perhaps(Numbers(("A",), wild=True)),
    loo_scores_=Perhaps(Numbers(None, wild=True)),
)
class KernelLeastSquares(KernelScoring):
    """Minimize (1/2) mean |f(x) - t|^2 + (alpha/2) |W|^2 over f(x) = W phi(x) + b, exactly.

    Targets t are -1 and +1, or 1-of-K. For alpha given as a sequence, all of them and their exact leave-one-out scores
    (of refits on n - 1 items at the same alpha) come from one eigendecomposition of the Gram matrix, and the best is kept.

    Parameters
    ----------
    kernel : as in :class:`KernelSVM`.
    alpha : a number >= 0, "1/n" (one over the sum of the weights), or a sequence of numbers to choose from.
    fit_intercept : whether b is fitted; it is never penalized.
    class_weight : None, "balanced" or {label: weight}.
    scoring : what leave-one-out maximizes: None is minus the mean squared error, else a scorer of scikit-learn that
        needs labels or scores.
    memory : bytes that the Gram matrix may take.

    Attributes
    ----------
    dual_coef_, intercept_ : (n, P) and (P,).
    gap_ : certified duality gap (P - D) / P of these coefficients, None at alpha = 0.
    alpha_, alphas_, loo_score_, loo_scores_ : as in :class:`LeastSquaresClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KernelLeastSquares
    >>> X = np.linspace(-2, 2, 20)[:, None]
    >>> model = KernelLeastSquares("rbf", alpha=[1e-4, 1e-2, 1.0]).fit(X, np.abs(X[:, 0]) < 1)
    >>> model.alpha_, float(np.mean(model.predict(X) == (np.abs(X[:, 0]) < 1)))
    (0.01, 1.0)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: Any = "1/n",
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        scoring: Any = None,
        memory: float = MEMORY,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.scoring = scoring
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores to the coded labels; sample weights count as repetitions of items."""
        items, targets, weights = self._validate_items(X, y, sample_weight, self.class_weight)
        alphas = checked_alphas(self.alpha, float(weights.sum()))
        used = np.flatnonzero(weights > 0)
        gram = self._gram(items, "put nearline.Nystroem in front of LeastSquaresClassifier").part(used)
        risk = KernelRisk.of(
            gram,
            targets[used],
            loss=Squared(),
            alpha=alphas[0],
            weights=weights[used],
            bias=self.fit_intercept,
            n_classes=len(self.classes_),
        )
        for name in ("alphas_", "loo_score_", "loo_scores_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        ridge = GramRidge.of(risk)
        self.alpha_ = alphas[0]
        if not one_alpha(self.alpha):
            scores = ridge.leave_one_out(alphas)
            keep_best(self, scores, alphas, risk.targets, ridge.codes, risk.weights, risk.weights)
        A, b = ridge.solution(self.alpha_)
        risk = risk.with_alpha(self.alpha_)
        self.gap_ = risk.gap(risk.scored(Params.of(A.T, b)), enough=1e-9)  # b is at its best
        if self.gap_ is not None and not self.gap_ <= LARGEST_GAP:
            warnings.warn(
                f"The Gram matrix is too badly conditioned for alpha = {self.alpha_:.1e}: the gap is {self.gap_:.1e} of the "
                "risk, so that rounding decides the scores. Raise alpha, scale the features, or take Normalized(kernel).",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep_scores(KernelScore(self.kernel_, None if gram.given else gram.items, used, A, b))
        return self
