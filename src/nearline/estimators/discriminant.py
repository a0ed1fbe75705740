"""Linear discriminant analysis: Gaussian classes with one covariance."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from nearline._arrays.blocks import Block
from nearline._arrays.design import Array
from nearline._arrays.doors import Door
from nearline._parallel.tiles import single_threaded_blas
from nearline._records.kept import Numbers, Plain, kept
from nearline._records.refused import ParameterError
from nearline.estimators._class_moments import class_moments, merged_moments
from nearline.estimators._covariance import SharedCovariance, ledoit_wolf, solve_matrix, stand_in
from nearline.estimators._generative import Generative, by_class_count
from nearline.estimators.base import fits_blocks
from nearline.estimators.blocked import labelled

# (means, units, variances, columns, M) -> Sigma^-1 M, of the columns in use
Solve = Callable[[Array, Array, Array, Any, Array], Array]


@kept(
    shrinkage=Plain(),
    means_=Numbers(("C", "D")),
    class_prior_=Numbers(("C",), least=0.0),
    shrinkage_=Numbers(("C",), least=0.0, most=1.0),
)
class LinearDiscriminantAnalysis(Generative):
    """Gaussian classes with one covariance: the logistic form of p(y | x), fitted by its class-conditionals.

    With p(x | y = c) Gaussian of mean mu_c and covariance Sigma, common to all classes, the quadratic terms cancel:

        w_c = Sigma^-1 (mu_c - m),   b_c = log p(c) - (1/2) w_c.(mu_c + m),   p(c | x) = softmax(W x + b)_c.

    m is the mean of all rows (any other would do as well) and Sigma = (1/S) sum_i s_i (x_i - mu_y)(x_i - mu_y)^T, the
    estimate of maximum likelihood. Columns that are constant or follow from others are harmless: among equally good
    weights the least (in units of the columns' deviations) are taken. Along directions in which the classes differ
    but no class varies, as there are if rows are fewer than columns, the mean variance of the columns stands in.

    Parameters
    ----------
    shrinkage : None, 'auto' or float in [0, 1]
        gamma in Sigma = (1 - gamma) S + gamma diag(S), whatever the units of the columns. 'auto' estimates a gamma for
        each class as Ledoit and Wolf do; 1 is GaussianNB with shared variances. It helps, and much, where rows are few
        for the number of columns.
    priors : 'empirical', 'uniform' or array (C,)
        Class probabilities p(c): shares of the weights of the rows, all alike, or as given.

    Attributes
    ----------
    classes_ : (C,) labels.
    class_count_ : (C,) weight of the rows of each class.
    class_prior_ : (C,) p(c).
    means_ : (C, D) class means.
    shrinkage_ : (C,) the gammas that were used.
    coef_, intercept_ : (C, D) and (C,): W and b. Two classes have one row, the second less the first.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import LinearDiscriminantAnalysis
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> y = np.array(["low", "low", "high", "high"])
    >>> X[:, 1] += [-0.5, 0.5, -0.5, 0.5]
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.predict([[1.0, 3.0], [1.0, -1.0]]).tolist()
    ['high', 'low']
    """

    accept_sparse: ClassVar[bool] = False

    def __init__(self, *, shrinkage: Any = None, priors: Any = "empirical") -> None:
        self.shrinkage = shrinkage
        self.priors = priors

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Two passes: moments of the classes, then the covariance about the means."""
        fixed = self._fixed_shrinkage()
        if fixed is None:
            raise ValueError(
                "shrinkage='auto' looks at the rows of each class, and these are in blocks: give a number from 0 to 1 (0.1 "
                "helps where rows are few), or None."
            )
        blocks = labelled(self, door, X, y, sample_weight)
        if blocks.sparse:
            raise ValueError(
                "LinearDiscriminantAnalysis takes dense rows, and the blocks are sparse matrices."
            )
        n_classes = len(self.classes_)
        moments = blocks.total(partial(_class_moments_of, n_classes=n_classes), merged_moments)

        def solve(means: Array, unit: Array, variances: Array, columns: Any, M: Array) -> Array:
            total = float(moments[0].sum())
            rows = partial(_covariance_of, total=total, means=means, unit=unit, variances=variances, columns=columns,
                           shrinkage=self.shrinkage_)  # fmt: skip
            sigma = blocks.total(rows, np.add)
            sigma[np.diag_indices_from(sigma)] = variances
            return solve_matrix(sigma, M, stand_in(variances, (blocks.n_rows, len(unit))))

        return self._solved(moments, np.full(n_classes, fixed), solve, blocks.dtype)

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, labels y and, if given, weights (integer weights equal repeated rows)."""
        fixed = self._fixed_shrinkage()
        X, targets, weights = self._validate_fit(X, y, sample_weight)
        moments = class_moments(X, targets, weights, len(self.classes_))
        total = moments[0].sum()

        def solve(means: Array, unit: Array, variances: Array, columns: Any, M: Array) -> Array:
            return SharedCovariance(
                X[:, columns], targets, weights / total, means, unit, variances, self.shrinkage_
            ).solve(M)

        gammas = (
            self._estimated(X, targets, weights, moments[1])
            if fixed is None
            else np.full(len(moments[0]), fixed)
        )
        return self._solved(moments, gammas, solve, X.dtype)

    def _solved(self, moments: tuple[Array, Array, Array], gammas: Array, solve: Solve, dtype: Any) -> Self:
        """W and b from the moments of the classes and what applies the inverse covariance."""
        count, self.means_, scatter = moments
        total = count.sum()
        center = count @ self.means_ / total
        self.means_[count == 0] = center
        self.class_count_, self.class_prior_ = count, self._class_prior(count)
        self.shrinkage_ = gammas
        M = self.means_ - center
        within = scatter.sum(axis=0) / total
        scale = np.sqrt(within + count @ M**2 / total)
        used = scale > 10 * np.finfo(float).eps * np.abs(center)
        W = np.zeros_like(M)
        if used.any():
            columns = slice(None) if used.all() else used
            unit = scale[columns]
            variances, means = within[columns] / unit**2, self.means_[:, columns]
            with single_threaded_blas:  # so that the model does not depend on the number of threads
                W[:, columns] = solve(means, unit, variances, columns, M[:, columns] / unit) / unit
        with np.errstate(divide="ignore"):
            log_prior = np.where(count > 0, np.log(self.class_prior_), -np.inf)
        b = log_prior - (W * (0.5 * M + center)).sum(axis=1)
        self.coef_, self.intercept_ = by_class_count(W, b, dtype)
        return self

    def _estimated(self, X: Array, targets: Array, weights: Array, means: Array) -> Array:
        """The gamma of each class."""
        gammas = []
        for c, mean in enumerate(means):
            rows = np.flatnonzero(targets == c)
            gammas.append(ledoit_wolf(X[rows], mean, weights[rows]) if weights[rows].any() else 0.0)
        return np.array(gammas)

    def _fixed_shrinkage(self) -> float | None:
        """The given gamma, None for 'auto'."""
        gamma = self.shrinkage
        if gamma is None:
            return 0.0
        if isinstance(gamma, str) and gamma == "auto":
            return None
        real = isinstance(gamma, (int, float, np.integer, np.floating)) and not isinstance(gamma, bool)
        if not real or not 0.0 <= gamma <= 1.0:
            raise ParameterError("shrinkage", gamma, "None, 'auto' or a number from 0 to 1")
        return float(gamma)


def _class_moments_of(block: Block, n_classes: int) -> tuple[Array, Array, Array]:
    return class_moments(block.X, block.targets, block.weights, n_classes)


def _covariance_of(
    block: Block, total: float, means: Array, unit: Array, variances: Array, columns: Any, shrinkage: Array
) -> Array:
    """What the rows of a block add to Sigma; its diagonal is known otherwise."""
    X, shares = np.ascontiguousarray(block.X[:, columns]), block.weights / total
    covariance = SharedCovariance(X, block.targets, shares, means, unit, np.zeros(len(unit)), shrinkage)
    with single_threaded_blas:
        return covariance.matrix
