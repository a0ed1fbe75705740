"""LeastSquaresClassifier: targets in {-1, +1} or 1-of-K fitted by least squares in closed form."""

import numbers
from typing import Any, Self

import numpy as np
from sklearn.metrics import check_scoring

from nearline._arrays.design import Array
from nearline._arrays.doors import Door
from nearline._records.kept import Numbers, Perhaps, Plain, kept
from nearline._records.refused import ParameterError
from nearline.decision import decide
from nearline.estimators.base import fits_blocks
from nearline.estimators.blocked import labelled
from nearline.estimators.linear import LinearClassifier
from nearline.losses import Squared
from nearline.predictions import Foretold, Predictions, judgement
from nearline.risk import Risk, checked_alpha, strength
from nearline.solvers import RidgeFactorization, minimize


@kept(
    loss=None,
    regularizer=None,
    multiclass=None,
    solver=None,
    warm_start=None,
    scoring=Plain(),
    alphas_=Perhaps(Numbers(("A",), wild=True)),
    loo_score_=Perhaps(Numbers(("A",), wild=True)),
    loo_scores_=Perhaps(Numbers(None, wild=True)),
)
class LeastSquaresClassifier(LinearClassifier):
    """Least squares on labels: minimize (1/2) mean |W x + b - t|^2 + (alpha/2) |W|^2, exactly.

    Two classes have targets t in {-1, +1} and the threshold f = 0; K classes have 1-of-K targets and the largest score
    wins. With Y the targets and X the rows, both less their weighted means, and S the sum of the weights,

        W^T = (X^T X + S alpha I)^-1 X^T Y,   b = mean(t) - W mean(x),

    and W^T = pinv(X) Y at alpha = 0: the solution of least |W| where the features are dependent. For alpha given as a
    sequence, all of them and their exact leave-one-out scores come from one factorization, and the best is kept.

    Parameters
    ----------
    alpha : a number >= 0, "1/n" (that is 1 / S, the 1 of scikit-learn's Ridge, which has S alpha), or a sequence of
        numbers to choose from by leave-one-out (a refit on n - 1 rows at the same alpha).
    fit_intercept : whether b is fitted; it is never penalized.
    class_weight : None, "balanced" or {label: weight}.
    scoring : what leave-one-out maximizes: None is minus the mean squared error of the scores, else any scorer of
        scikit-learn that needs labels or scores ("accuracy", "roc_auc", ...). Of equally good ones the largest alpha
        is kept.
    tol : certified duality gap to reach, relative to the risk: P - D <= tol P (it matters for large sparse data, which
        are solved by iteration).

    Attributes
    ----------
    coef_, intercept_, classes_ : as in scikit-learn.
    alpha_ : the alpha that was used.
    alphas_, loo_score_ : the sequence given, and what leave-one-out gave for each (only for a sequence).
    loo_scores_ : scores of each row by the model fitted to all others at ``alpha_`` (only for a sequence).
    gap_ : certified duality gap (P - D) / P of ``coef_`` and ``intercept_``, None at alpha = 0.
    n_iter_, solver_, solution_ : how the fit went.
    objective_path_ : the risk as the solver went; that of the model, rounded and with its best bias, is ``solution_.value``.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import LeastSquaresClassifier
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["low", "low", "high", "high"])
    >>> model = LeastSquaresClassifier(alpha=0.0).fit(X, y)
    >>> model.coef_.round(3).tolist(), model.intercept_.round(3).tolist()  # low is the second class: +1
    ([[-0.6]], [1.2])
    >>> model = LeastSquaresClassifier(alpha=[1e-3, 1e-1, 10.0]).fit(X, y)
    >>> model.alpha_, bool(model.gap_ < 1e-10)
    (0.1, True)
    """

    alpha: Any
    loss = "squared"
    online = False  # one factorization is the fit
    regularizer = "l2"
    multiclass = "auto"
    solver = "closed-form"
    warm_start = False

    def __init__(
        self,
        alpha: Any = "1/n",
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        scoring: Any = None,
        tol: float = 1e-4,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.scoring = scoring
        self.tol = tol

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One step of Newton's method, whose Hessian is the sum of the blocks' moments: it is exact."""
        if not one_alpha(self.alpha):
            raise ValueError(
                "A sequence of alphas is chosen from by leaving out one row at a time, and the rows are in blocks: give one "
                "alpha, or choose by nearline.path_scores, which takes folds."
            )
        risk = self._blocked_risk(labelled(self, door, X, y, sample_weight, self.class_weight))
        self._keep(risk, minimize(risk, "newton", tol=self.tol))
        self.solution_.warn(self.tol, self._limit)
        return self

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores to the coded labels; sample weights count as repetitions of rows."""
        X, targets, weights = self._validate_fit(X, y, sample_weight, self.class_weight)
        alphas = checked_alphas(self.alpha, float(weights.sum()))
        risk = Risk(
            X,
            targets,
            loss=self.loss,
            regularizer=self.regularizer,
            alpha=alphas[0],
            weights=weights,
            bias=self.fit_intercept,
            n_classes=len(self.classes_),
        )
        start = None
        self.alpha_ = alphas[0]
        if not one_alpha(self.alpha):
            codes = Squared().codes(risk.targets, risk.n_outputs)
            factors = RidgeFactorization(risk.X, codes, weights, bias=self.fit_intercept)
            given = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            self._choose(factors, alphas, targets, given)
            risk, start = risk.with_alpha(self.alpha_), factors.solution(self.alpha_)
        self._keep(risk, minimize(risk, self.solver, start, tol=self.tol))
        self.solution_.warn(self.tol, self._limit)
        return self

    def _choose(
        self, factors: RidgeFactorization, alphas: list[float], targets: Array, given: Array | None
    ) -> None:
        """The alpha with the best leave-one-out score; of equally good ones the largest."""
        design = factors.design
        keep_best(self, factors.leave_one_out(alphas), alphas, targets, design.codes, design.weights, given)


def keep_best(
    model: Any,
    left_out: Array,
    alphas: list[float],
    targets: Array,
    codes: Array,
    weights: Array,
    given: Array | None,
) -> None:
    """Set what leave-one-out scores (A, n, K) say of the alphas, and the best; of equally good ones the largest.

    ``given``: the sample weights that a scorer gets; ``weights`` are those of the fit.
    """
    if model.scoring is None:
        errors = ((left_out - codes) ** 2).sum(axis=2)
        model.loo_score_ = -errors @ weights / weights.sum()
    else:
        scores = [score_of(model.scoring, one, model.classes_, targets, given) for one in left_out]
        model.loo_score_ = np.array(scores)
    best = int(np.lexsort((alphas, model.loo_score_))[-1])
    if not np.isfinite(model.loo_score_[best]):
        raise ValueError(
            f"scoring={model.scoring!r} gave {model.loo_score_[best]} for alpha={alphas[best]!r}: "
            "use a scoring that is finite on these labels."
        )
    model.alphas_ = np.array(alphas)
    model.alpha_ = alphas[best]
    model.loo_scores_ = left_out[best, :, 0] if left_out.shape[2] == 1 else left_out[best]


def score_of(
    scoring: Any, scores: Array, classes: Array, targets: Array, weights: Array | None = None
) -> float:
    """What a scorer of scikit-learn says of scores (n, K) for class numbers (n,)."""
    labels = decide(scores, np.arange(len(classes)))
    predictions = Predictions(labels, len(classes), scores[:, 0] if scores.shape[1] == 1 else scores)
    try:
        foretold = Foretold(predictions, classes)
        scorer = check_scoring(foretold, scoring=scoring)
        return judgement(scorer, foretold, targets, weights)
    except AttributeError as error:
        raise ValueError(
            f"scoring={scoring!r} needs probabilities, and the squared loss defines none: use one that needs labels or "
            "scores, such as 'accuracy' or 'balanced_accuracy', or LogisticRegression."
        ) from error


def one_alpha(alpha: Any) -> bool:
    """Whether alpha is one strength, not a sequence to choose from."""
    return isinstance(alpha, (numbers.Real, str))


def checked_alphas(alpha: Any, total_weight: float) -> list[float]:
    """One strength, or a sequence of at least one number, as a list."""
    if one_alpha(alpha):
        return [strength(alpha, total_weight)]
    try:
        alphas = [checked_alpha(one) for one in alpha]
    except TypeError:
        alphas = []
    if not alphas:
        raise ParameterError("alpha", alpha, "a number >= 0 or a sequence of at least one")
    return alphas
