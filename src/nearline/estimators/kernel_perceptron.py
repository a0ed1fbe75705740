"""KernelPerceptron: the perceptron rule in the space of a kernel's features."""

from typing import Any, Self

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Flag, ListOf, Numbers, Whole, kept
from nearline.estimators.kernel_base import MEMORY, KernelScoring
from nearline.scores import KernelScore
from nearline.solvers.perceptron import least_cycles, no_longer_helps


@kept(
    averaged=Flag(),
    max_iter=Whole(1),
    random_state=Whole(),
    mistakes_=ListOf(Whole()),
    support_=Numbers(("n",), "whole numbers", least=0),
    n_iter_=Whole(),
)
class KernelPerceptron(KernelScoring):
    """For each item that is misclassified: A_iy += 1 for its class, A_ic -= 1 for the class that had won.

    Scores are f_c(x) = sum_i A_ic (k(x_i, x) + 1): the 1 is the bias. With two classes that is one column,
    A_i += y. Items come in a new order in each epoch, until one passes without a mistake: then the last A is kept. On
    items that the kernel cannot separate none does: epochs end once they no longer help, that is after epoch t if the
    fewest mistakes in an epoch are more than nine tenths of what they were after t / 2 epochs (and t >= 10, and t n^2 is 10
    million at least), and the mean of all A is kept.

    Parameters
    ----------
    kernel : as in :class:`KernelSVM`.
    averaged : keep the mean of all A that the rule went through, one for each item seen, where no epoch was without a
        mistake; else the last A.
    max_iter : epochs at most.
    random_state : decides the order of the items.
    memory : bytes that the Gram matrix may take.

    Attributes
    ----------
    support_, dual_coef_, intercept_ : items with mistakes, their coefficients, and the biases.
    mistakes_ : number of mistakes in each epoch.
    n_iter_ : epochs.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KernelPerceptron
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> model = KernelPerceptron("rbf").fit(X, [0, 0, 1, 1])
    >>> model.predict(X).tolist(), model.mistakes_[-1]
    ([0, 0, 1, 1], 0)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        averaged: bool = True,
        max_iter: int = 100,
        random_state: int = 0,
        memory: float = MEMORY,
    ) -> None:
        self.kernel = kernel
        self.averaged = averaged
        self.max_iter = max_iter
        self.random_state = random_state
        self.memory = memory

    def fit(self, X: Any, y: Any) -> Self:
        """Run the rule."""
        items, targets, _ = self._validate_items(X, y, None)
        gram = self._gram(items, "put nearline.Nystroem in front of Perceptron")
        gram.check_memory()
        K = (
            self.kernel_.among(items) if gram.given else gram.among(items, checked=False)
        )  # the rule is sound for any matrix
        A = self._mistakes(K + K.dtype.type(1.0), targets)
        self._keep_scores(KernelScore.of(self.kernel_, items, A, A.sum(axis=0)))
        self.support_ = self.expansion_.rows
        self.n_iter_ = len(self.mistakes_)
        return self

    def _mistakes(self, K: Array, targets: Array) -> Array:
        """A, or its mean over all items seen."""
        n_classes = len(self.classes_)
        signs = 2.0 * targets - 1.0
        one = n_classes == 2
        A, summed = (np.zeros((len(targets), 1 if one else n_classes)) for _ in range(2))
        F = np.zeros_like(A)
        rng = np.random.default_rng(self.random_state)
        self.mistakes_, seen = [], 0
        for _ in range(self.max_iter):
            wrong = 0
            for i in rng.permutation(len(targets)):
                winner = (1 if F[i, 0] >= 0 else 0) if one else int(F[i].argmax())
                if winner != targets[i]:
                    wrong += 1
                    changes = [(0, signs[i])] if one else [(targets[i], 1.0), (winner, -1.0)]
                    for c, change in changes:
                        A[i, c] += change
                        summed[i, c] += change * seen  # what the mean does not have of this step
                        F[:, c] += change * K[:, i]
                seen += 1
            self.mistakes_.append(wrong)
            if wrong == 0:
                return A
            if no_longer_helps(self.mistakes_, least_cycles(K.size)):
                break
        return A - summed / seen if self.averaged and seen else A
