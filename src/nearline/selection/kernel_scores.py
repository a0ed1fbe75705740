"""Choose kernel and alpha: one Gram matrix a kernel serves all folds, alphas and classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.habits import translates_habits
from nearline.estimators import KernelLeastSquares, KernelLogisticRegression, KernelSVM
from nearline.estimators.base import encoded
from nearline.kernels import RBF, Kernel, as_kernel
from nearline.selection.edges import Edge, edge_of, equally_best
from nearline.selection.families import Fold
from nearline.selection.families.kernels import KernelFamily, KernelLogistic, KernelRidge, SupportVectors
from nearline.selection.path import checked_alphas
from nearline.selection.splits import folds_by

FAMILIES_OF: dict[type[Any], type[KernelFamily]] = {
    KernelSVM: SupportVectors,
    KernelLeastSquares: KernelRidge,
    KernelLogisticRegression: KernelLogistic,
}


@dataclass(frozen=True)
class KernelScores:
    """Accuracy of each kernel and alpha on each fold."""

    kernels: list[Kernel]
    alphas: Array  # from large to small
    scores: Array  # (kernels, alphas, folds)
    gaps: Array  # the same, relative to the null risk; nan where there is no certificate

    @property
    def mean(self) -> Array:
        """Mean over folds (kernels, alphas)."""
        return np.asarray(self.scores.mean(axis=2))

    @property
    def best(self) -> dict[str, Any]:
        """Parameters with the best mean; the first kernel and the larger alpha among equals."""
        k, a = np.unravel_index(int(np.argmax(equally_best(self.mean))), self.mean.shape)
        return {"kernel": self.kernels[k], "alpha": float(self.alphas[a])}

    @property
    def edges(self) -> list[Edge]:
        """Where the best alpha, or gamma of Gaussian kernels, is at an end of those given: values beyond may be better."""
        k, a = np.unravel_index(int(np.argmax(equally_best(self.mean))), self.mean.shape)
        found = [edge_of("alpha", self.alphas, self.mean[k])]
        gammas = [kernel.gamma for kernel in self.kernels if isinstance(kernel, RBF)]
        if len(gammas) == len(self.kernels):
            found.append(edge_of("gamma", gammas, self.mean[:, a]))
        return [edge for edge in found if edge is not None]


@translates_habits
def kernel_scores(
    machine: Any,
    X: Any,
    y: Any,
    kernels: Any,
    alphas: Any,
    *,
    folds: Any = 5,
    split: str = "auto",
    groups: Any = None,
    random_state: int = 0,
) -> KernelScores:
    """Cross-validate a kernel machine over kernels and alphas.

    A kernel with fixed parameters learns nothing from rows, so its Gram matrix is computed once for all rows; each fold
    takes its part of it. (A kernel whose parameters come from the rows, such as ``RBF("scale")``, takes them from all
    rows here, without their labels.)

    Parameters
    ----------
    machine : ``KernelSVM()``, ``KernelLeastSquares()`` or ``KernelLogisticRegression()``, as they come.
    X, y : rows, strings or trees as the kernels take them, and labels.
    kernels : a list of kernels or their names.
    alphas : the grid.
    folds : a number (stratified, shuffled by ``random_state``), "leave-one-out", an array with the number of each row's
        fold, a list of pairs (training rows, test rows), or a scikit-learn splitter.
    split, groups : how a number of folds divides the rows: "stratified" by class; "group", rows of one group together; or
        "time", where rows are in the order of time. "auto" is by group where ``groups`` are given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KernelSVM, kernel_scores
    >>> from nearline.kernels import RBF
    >>> result = kernel_scores(KernelSVM(), *load_iris(return_X_y=True), [RBF(0.1), RBF(1.0)], [1e-2, 1e-3])
    >>> result.scores.shape, bool(result.mean.max() > 0.95)
    ((2, 2, 5), True)
    """
    if type(machine) not in FAMILIES_OF:
        known = ", ".join(cls.__name__ for cls in FAMILIES_OF)
        raise ValueError(f"kernel_scores takes one of {known}, got {machine!r}.")
    default = type(machine)()
    family = FAMILIES_OF[type(machine)]("kernel", most_rows=0)
    given = [as_kernel(kernel) for kernel in (kernels if isinstance(kernels, (list, tuple)) else [kernels])]
    changed = {
        name for name, value in machine.get_params(deep=False).items() if value is not getattr(default, name)
    }
    if changed - {"kernel", "alpha"}:
        raise ValueError(
            f"kernel_scores varies kernel and alpha of a machine as it comes, but {sorted(changed)[0]!r} is set: use "
            "sklearn.model_selection.GridSearchCV for others."
        )
    classes, codes = encoded(np.asarray(y))
    drawn = folds_by(split, folds, codes, groups, random_state).learnable(codes)
    # By class: then a machine's rows are blocks of the Gram matrix.
    order = np.argsort(codes, kind="stable")
    place = np.argsort(order, kind="stable")
    pairs = [tuple(np.sort(place[part]) for part in pair) for pair in drawn]
    codes = codes[order]
    grid = checked_alphas(alphas)
    shape = len(given), len(grid), len(pairs)
    scores, gaps = np.empty(shape), np.full(shape, np.nan)
    fitted = []
    for k, kernel in enumerate(given):
        items = kernel.items(X)
        if items.shape[0] != len(codes):
            raise ValueError(f"X has {items.shape[0]} rows and y {len(codes)} labels: give one for each.")
        kernel = kernel.fitted(items)
        items = items[np.ix_(order, order)] if kernel.takes == "gram" else items[order]
        fitted.append(kernel)
        K = kernel.among(kernel.light(items))
        for f, (train, test) in enumerate(pairs):
            fold = Fold(
                K[np.ix_(train, train)], codes[train], None, K[np.ix_(test, train)], classes, gram=True
            )
            for outcome in family.outcomes(fold, [{"alpha": alpha} for alpha in grid]):
                scores[k, outcome.number, f] = np.mean(outcome.predictions.labels == codes[test])
                gaps[k, outcome.number, f] = np.nan if outcome.gap is None else outcome.gap
    return KernelScores(fitted, grid, scores, gaps)
