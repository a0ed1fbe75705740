"""KernelSVM: the support vector machine in the space of a kernel's features (SPEC G5, D12)."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nearline.arrays import Array
from nearline.decision import decide
from nearline.estimators._certified_svm import Found, solve_to_gap
from nearline.estimators._kernel import MEMORY, KernelScoring, count, fits, wide
from nearline.estimators._pairs import Pairs
from nearline.kept import Numbers, OneOf, OrNone, Plain, Real, Whole, kept, require
from nearline.kernels.expansion import Expansion
from nearline.risk import strength
from nearline.solvers import ConvergenceWarning
from nearline.solvers.smo import Certificate, Problem, smo, smo_by_parts


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
        given, targets, weights = self._validate_items(X, y, sample_weight, self.class_weight)
        self.alpha_ = strength(self.alpha, float(weights.sum()))
        if self.alpha_ == 0:
            raise ValueError(
                "alpha must be > 0: without a penalty there is no machine; take a small one such as 1e-6."
            )
        C = weights / (weights.sum() * self.alpha_)
        layout = self.layout(targets, len(self.classes_))
        problems = layout.problems(C)
        items = self.kernel_.light(given)
        gram = self.kernel_.takes == "gram"
        whole = gram or fits(count(items), self.memory, 4 if items.dtype == np.float32 else 8)
        source = _Gram(self, items, layout) if whole else _Rows(self, items)
        proofs, found = solve_to_gap(
            problems,
            source.solve,
            lambda: self._settle(given, problems),
            lambda: source.refine(given),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self._keep(given, problems, layout, proofs, found)
        return self

    def _settle(self, items: Any, problems: list[Problem]) -> None:
        """F = K beta - y of all problems anew, in float64, from the items as they were given."""
        A, items = coefficients(problems, count(items)), wide(items)
        scores = Expansion.of(self.kernel_, items, A, np.zeros(len(problems))).scores(items)
        for p, problem in enumerate(problems):
            problem.F = scores[problem.at, p] - problem.y

    def layout(self, targets: Array, n_classes: int) -> "Layout":
        """Which rows are in which two-class problem."""
        if self.multiclass not in ("one-vs-one", "one-vs-rest"):
            raise ValueError(f"multiclass must be 'one-vs-one' or 'one-vs-rest', got {self.multiclass!r}.")
        return Layout(targets, n_classes, self.multiclass == "one-vs-one" or n_classes == 2)

    def _check_limits(self) -> None:
        if not (isinstance(self.max_iter, (int, np.integer)) and self.max_iter >= 1):
            raise ValueError(f"max_iter must be a whole number >= 1, got {self.max_iter!r}.")
        for name in ("tol", "memory"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float, np.number)) and value > 0):
                raise ValueError(f"{name} must be a number > 0, got {value!r}.")

    def _keep(
        self,
        items: Any,
        problems: list[Problem],
        layout: "Layout",
        proofs: list[Certificate],
        found: list[Found],
    ) -> None:
        A = coefficients(problems, len(layout.targets))
        self.expansion_ = Expansion.of(self.kernel_, items, A, np.array([proof.b for proof in proofs]))
        self.support_, self.dual_coef_ = self.expansion_.rows, self.expansion_.A
        self.intercept_ = self.expansion_.b
        self.pairs_ = Pairs(layout.n_classes).numbers if layout.pairwise else None
        self.gap_ = max(proof.gap for proof in proofs)
        self.violation_ = max(violation for violation, _ in found)
        self.n_iter_ = sum(steps for _, steps in found)
        if not self.gap_ <= self.tol:
            out = max(steps for _, steps in found) >= self.max_iter
            warnings.warn(
                f"KernelSVM stopped after {self.n_iter_} steps with a certified gap of {self.gap_:.2g} > tol = "
                f"{self.tol:.2g}: raise {'max_iter' if out else 'tol'} or alpha, or scale the features.",
                ConvergenceWarning,
                stacklevel=3,
            )

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


@dataclass(frozen=True)
class Layout:
    """Two-class problems of classes: pairs, or each against the rest. The second class of a problem is +1."""

    targets: Array
    n_classes: int
    pairwise: bool

    @property
    def order(self) -> Array:
        """Rows by class: then those of a pair are two blocks of the Gram matrix."""
        return np.argsort(self.targets, kind="stable")

    def problems(self, C: Array, rows: Array | None = None) -> list[Problem]:
        """The problems of all rows, or of some."""
        rows = self.order if rows is None else rows
        targets = self.targets[rows]
        if not self.pairwise:
            return [
                Problem.new(rows, np.where(targets == c, 1.0, -1.0), C[rows]) for c in range(self.n_classes)
            ]
        problems = []
        for i, j in Pairs(self.n_classes).numbers:
            both = rows[(targets == i) | (targets == j)]
            problems.append(Problem.new(both, np.where(self.targets[both] == j, 1.0, -1.0), C[both]))
        return problems


def coefficients(problems: list[Problem], n: int) -> Array:
    """beta of all problems side by side, (n, problems)."""
    A = np.zeros((n, len(problems)))
    for p, problem in enumerate(problems):
        A[problem.at, p] = problem.beta
    return A


class _Gram:
    """Problems solved on one Gram matrix, rows by class."""

    def __init__(self, machine: KernelSVM, items: Any, layout: Layout) -> None:
        self.machine, self.gram = machine, machine.kernel_.takes == "gram"
        self.order = np.arange(count(items)) if self.gram else layout.order
        self.place = np.argsort(self.order)
        self.K = machine._gram(items if self.gram else items[self.order])

    def solve(self, problems: list[Problem], violation: float, max_iter: int) -> list[Found]:
        own = [problem.at for problem in problems]
        for problem in problems:
            problem.at = self.place[problem.at].astype(np.int32)
        found = smo(self.K, problems, tol=violation, max_iter=max_iter)
        for problem, at in zip(problems, own, strict=True):
            problem.at = at
        return found

    def refine(self, items: Any) -> bool:
        if self.K.dtype != np.float32 or not fits(count(items), self.machine.memory, 8):
            return False
        items = wide(items)
        self.K = self.machine._gram(items if self.gram else items[self.order])
        return True


class _Rows:
    """Problems solved on rows of a Gram matrix that does not fit."""

    def __init__(self, machine: KernelSVM, items: Any) -> None:
        self.machine, self.items = machine, items

    def solve(self, problems: list[Problem], violation: float, max_iter: int) -> list[Found]:
        return [self._one(problem, violation, max_iter) for problem in problems]

    def _one(self, problem: Problem, violation: float, max_iter: int) -> Found:
        own = self.items[problem.at]
        return smo_by_parts(
            lambda rows: self.machine.kernel_.between(own[rows], own),
            problem,
            tol=violation,
            memory=self.machine.memory,
            itemsize=4 if self.items.dtype == np.float32 else 8,
            max_iter=max_iter,
        )

    def refine(self, items: Any) -> bool:
        light, self.items = self.items, wide(items)
        return bool(light.dtype != self.items.dtype)
