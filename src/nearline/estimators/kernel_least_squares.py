"""KernelLeastSquares: ridge on coded labels in the space of a kernel's features (SPEC G5)."""

from typing import Any, Self

import numpy as np

from nearline.arrays import Array
from nearline.estimators._kernel import MEMORY, KernelScoring, count
from nearline.estimators._kernel_gap import kernel_gap
from nearline.estimators.least_squares import checked_alphas, keep_best, one_alpha
from nearline.kept import Flag, Numbers, OrNone, Perhaps, Plain, Real, kept
from nearline.kernels.expansion import Expansion
from nearline.losses import Squared
from nearline.solvers.gram_ridge import GramRidge


@kept(
    alpha=Plain(),
    bias=Flag(),
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
    bias : whether b is fitted; it is never penalized.
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
        bias: bool = True,
        class_weight: Any = None,
        scoring: Any = None,
        memory: float = MEMORY,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.bias = bias
        self.class_weight = class_weight
        self.scoring = scoring
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores to the coded labels; sample weights count as repetitions of items."""
        items, targets, weights = self._validate_items(X, y, sample_weight, self.class_weight)
        alphas = checked_alphas(self.alpha, float(weights.sum()))
        self._check_memory(count(items), "put nearline.Nystroem in front of LeastSquaresClassifier")
        used = weights > 0
        items, targets, weights = items[used], targets[used], weights[used]
        # In float64: the system is solved, and its solution certified, to more digits than float32 has.
        K = self._gram(items[:, used] if self.kernel_.takes == "gram" else items, double=True)
        for name in ("alphas_", "loo_score_", "loo_scores_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        codes = Squared().codes(targets, 1 if len(self.classes_) == 2 else len(self.classes_))
        ridge = GramRidge(K, codes, weights, bias=self.bias)
        self.alpha_ = alphas[0]
        if not one_alpha(self.alpha):
            keep_best(self, ridge.leave_one_out(alphas), alphas, targets, codes, weights, weights)
        self._keep(items, ridge, np.flatnonzero(used))
        A, b = self.dual_coef_, self.intercept_
        self.gap_ = kernel_gap(Squared(), K, A, b, targets, weights, self.alpha_, bias=self.bias)
        return self

    def _keep(self, items: Any, ridge: GramRidge, rows: Array) -> None:
        A, b = ridge.solution(self.alpha_)
        kept = None if self.kernel_.takes == "gram" else items
        self.expansion_ = Expansion(self.kernel_, kept, rows, A, b)
        self.dual_coef_, self.intercept_ = A, b
