"""KernelSVM: the support vector machine in the space of a kernel's features."""

from operator import attrgetter
from typing import Any, Self

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Numbers, OneOf, OrNone, Plain, Real, Whole, kept, require
from nearline._records.refused import ParameterError
from nearline.decision import decide
from nearline.estimators.kernel_base import MEMORY, KernelScoring
from nearline.estimators.pairs import Pairs
from nearline.risk import KernelRisk
from nearline.scores import KernelScore
from nearline.solvers.kernel import Together, minimize_together, two_class_risks


def _each_pair(model: "KernelSVM") -> None:
    fits = model.pairs_ is None or np.array_equal(model.pairs_, Pairs(len(model.classes_)).numbers)
    require(fits, "The pairs of a kernel machine are not those of its classes")


@kept(
    alpha=Plain(),
    multiclass=OneOf(("one-vs-one", "one-vs-rest")),
    class_weight=Plain(),
    tol=Real(),
    max_iter=Whole(1),
    alpha_=Real(least=0.0),
    support_=Numbers(("n",), "whole numbers", least=0),
    pairs_=OrNone(Numbers(("p", 2), "whole numbers")),
    gap_=Real(wild=True),
    violation_=Real(wild=True),
    n_iter_=Whole(),
    links=_each_pair,
)
class KernelSVM(KernelScoring):
    """Mean hinge loss + (alpha/2) |w|^2 with scores w . phi(x) + b, solved in the dual by SMO, certified.

    Several classes are one two-class problem for each pair (votes; ties by summed scores) or for each class against the
    rest. All problems share one Gram matrix and C = 1 / (S alpha), S the sum of all weights, as in LIBSVM: a pair with
    weight S_ij has alpha_ij = 1 / (S_ij C).

    Parameters
    ----------
    kernel : "rbf", "linear", "polynomial", "precomputed", or an object such as ``RBF(0.1)`` or
        ``Normalized(Subsequence(3))``.
    alpha : strength of the penalty, > 0 (C of other libraries is 1 / (n alpha)); "1/n" is their C = 1.
    multiclass : "one-vs-one" or "one-vs-rest".
    class_weight : None, "balanced" or {label: weight}.
    tol : certified duality gap to reach in every two-class problem, relative to its risk: P - D <= tol P.
    memory : bytes that the Gram matrix may take; where it does not fit, rows are computed when they are needed.
    max_iter : steps of SMO at most, in each problem.

    Attributes
    ----------
    alpha_ : the alpha that was used.
    support_ : numbers of the training items with a coefficient in some problem.
    dual_coef_, intercept_ : (support items, problems) and (problems,): scores are K(x, support) dual_coef_ + intercept_.
    pairs_ : (problems, 2) class numbers, for one-vs-one; else None.
    gap_ : certified duality gap (P - D) / P in float64, the largest of the two-class problems.
    violation_, n_iter_ : the largest violation of the optimality conditions, and the number of steps in all.
    kernel_ : the kernel with its numbers; ``expansion_`` is the score function.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KernelSVM
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> model = KernelSVM(alpha=0.01).fit(X, ["same", "same", "different", "different"])  # exclusive or
    >>> model.predict(X).tolist(), model.support_.tolist()
    (['same', 'same', 'different', 'different'], [0, 1, 2, 3])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: float | str = "1/n",
        *,
        multiclass: str = "one-vs-one",
        class_weight: Any = None,
        tol: float = 1e-3,
        memory: float = MEMORY,
        max_iter: int = 10_000_000,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.memory = memory
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine; sample weights count as repetitions of items."""
        self._check_limits()
        items, targets, weights = self._validate_items(X, y, sample_weight, self.class_weight)
        risk = KernelRisk.of(
            self._gram(items),
            targets,
            loss="hinge",
            alpha=self.alpha,
            weights=weights,
            n_classes=len(self.classes_),
        )
        self.alpha_ = risk.alpha
        if self.alpha_ == 0:
            raise ValueError(
                "alpha must be > 0: without a penalty there is no machine; take a small one such as 1e-6."
            )
        pairwise = self.multiclass == "one-vs-one" or len(self.classes_) == 2
        self.pairs_ = Pairs(len(self.classes_)).numbers if pairwise else None
        found = minimize_together(two_class_risks(risk, self.pairs_), tol=self.tol, max_iter=self.max_iter)
        self._keep(items, found)
        return self

    def _check_limits(self) -> None:
        if self.multiclass not in ("one-vs-one", "one-vs-rest"):
            raise ParameterError("multiclass", self.multiclass, "'one-vs-one' or 'one-vs-rest'")
        if not (isinstance(self.max_iter, (int, np.integer)) and self.max_iter >= 1):
            raise ParameterError("max_iter", self.max_iter, "a whole number >= 1")
        for name in ("tol", "memory"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float, np.number)) and value > 0):
                raise ParameterError(name, value, "a number > 0")

    def _keep(self, items: Any, found: Together) -> None:
        self._keep_scores(KernelScore.of(self.kernel_, items, found.coefficients, found.biases))
        self.support_ = self.expansion_.rows
        worst = max(found.solutions, key=attrgetter("left"))
        self.gap_, self.violation_ = worst.left, found.violation
        self.n_iter_ = found.n_iter
        worst.warn(self.tol)

    @property
    def _n_scores(self) -> int:
        return len(self.classes_) if self.pairs_ is None else len(self.pairs_)

    def two_class_scores(self, X: Any) -> Array:
        """Scores of each two-class problem (n, problems)."""
        items = self._items(X)
        return self.expansion_.scores(items)

    def _scores(self, X: Any) -> Array:
        F = self.two_class_scores(X)
        return Pairs(len(self.classes_)).scores(F) if self._votes() else F

    def predict(self, X: Any) -> Array:
        """Labels (n,)."""
        F = self.two_class_scores(X)
        if self._votes():
            return np.asarray(self.classes_[Pairs(len(self.classes_)).choose(F)])
        return decide(F, self.classes_)

    @property
    def _pairs(self) -> Array | None:
        return self.pairs_ if self._votes() else None

    def _votes(self) -> bool:
        return len(self.classes_) > 2 and self.pairs_ is not None
