"""KernelLogisticRegression: logistic or softmax regression in the space of a kernel's features."""

from typing import Any, Self

from nearline._records.kept import OrNone, Real, Whole, kept
from nearline.estimators.kernel_base import MEMORY
from nearline.estimators.kernel_classifier import KernelClassifier
from nearline.kernels.landmarks import Landmarks, some_landmarks
from nearline.risk import Risk
from nearline.scores import KernelScore
from nearline.solvers import minimize


@kept(
    loss=None,
    solver=None,
    rank=OrNone(Whole(1)),
    random_state=Whole(),
    residual_=Real(wild=True),
)
class KernelLogisticRegression(KernelClassifier):
    """Mean logistic loss + (alpha/2) |W|^2 with scores W phi(x) + b; softmax above two classes; certified.

    Items get coordinates whose inner products are the kernel (a pivoted Cholesky factor of the Gram matrix), and the
    linear solvers do the rest. Where the Gram matrix does not fit, or ``rank`` says so, the coordinates are those on
    some of the items: ``residual_`` says which share of the features is not reached.

    Parameters
    ----------
    kernel : as in :class:`KernelSVM`.
    alpha : strength of the penalty, > 0; "1/n" is one over the sum of the weights.
    fit_intercept : whether b is fitted; it is never penalized.
    class_weight : None, "balanced" or {label: weight}.
    rank : largest number of coordinates; None is as many as there are items, or 2,000 if the Gram matrix does not fit.
    tol : certified duality gap to reach, relative to the risk: P - D <= tol P.
    memory : bytes that the Gram matrix may take.
    random_state : decides which items are landmarks, if not all are.

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

    loss = "softmax"
    solver = "auto"

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: float | str = "1/n",
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        rank: int | None = None,
        tol: float = 1e-4,
        memory: float = MEMORY,
        random_state: int = 0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.rank = rank
        self.tol = tol
        self.memory = memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores; sample weights count as repetitions of items."""
        items, targets, weights = self._validate_items(X, y, sample_weight, self.class_weight)
        asked, gram = self._asked(targets, weights), self._gram(items)
        if self.rank is None and (gram.given or gram.fits(16)):
            self._fit_whole(gram, asked)
            self.residual_ = gram.coordinates[0].residual
        elif gram.given:
            raise ValueError(
                "rank needs a kernel that can be computed; with kernel='precomputed' leave it None."
            )
        else:
            self._fit_landmarks(
                some_landmarks(self.kernel_, items, self.rank or 2000, self.random_state), items, asked
            )
        self.solution_.warn(self.tol, lambda: None)
        return self

    def _fit_landmarks(self, marks: Landmarks, items: Any, asked: dict[str, Any]) -> None:
        """Minimize the risk over the coordinates of some items."""
        risk = Risk(marks.coordinates(items), **asked)
        solution = minimize(risk, self.solver, tol=self.tol)
        self._keep(risk.alpha, solution)
        A = marks.coefficients(solution.params.W)
        self._keep_scores(KernelScore(self.kernel_, marks.items, marks.rows, A, solution.params.b.copy()))
        self.residual_ = marks.residual
