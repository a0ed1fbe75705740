"""GaussianNB: naive Bayes for measurements, every feature Gaussian given the class."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from nearline._arrays.design import Array, Design, is_sparse
from nearline._parallel.tiles import map_tiles
from nearline._records.kept import Flag, Numbers, Perhaps, Real, kept, require
from nearline.estimators._class_moments import class_moments, merged_moments, row_blocks
from nearline.estimators._explained import OfFeatures, log_densities
from nearline.estimators._generative import OnlineGenerative, by_class_count, check_number, log_or_never
from nearline.scores import decisive


def _as_shared(model: "GaussianNB") -> None:
    linear = {"coef_", "intercept_"} <= set(vars(model))
    rows = 1 if model.shared_variance else len(model.classes_)
    require(
        len(model.var_) == rows, f"GaussianNB has variances of {len(model.var_)} classes instead of {rows}"
    )
    require(linear or not model.shared_variance, "GaussianNB with shared variances lacks its weights")


@kept(
    smoothing=Real(least=0.0),
    shared_variance=Flag(),
    theta_=Numbers(("C", "D")),
    _scatter=Numbers(("C", "D"), least=0.0),
    _center=Numbers(("D",)),
    epsilon_=Real(least=0.0),
    var_=Numbers(("V", "D"), above=0.0),
    class_prior_=Numbers(("C",), least=0.0),
    _log_prior=Numbers(("C",), infinite=True),
    coef_=Perhaps(Numbers(("P", "D"))),
    intercept_=Perhaps(Numbers(("P",), infinite=True)),
    links=_as_shared,
)
class GaussianNB(OnlineGenerative):
    """Naive Bayes for measurements: every feature is Gaussian given the class.

    With the weighted mean mu_cj and variance v_cj of feature j in class c (divided by the weight, not by n - 1),

        f_c(x) = log p(c) - (1/2) sum_j [ log(2 pi v_cj) + (x_j - mu_cj)^2 / v_cj ].

    With ``shared_variance`` the variance v_j is that of all rows about the mean of their class, and the model is the
    linear classifier w_c = mu_c / v, b_c = log p(c) - sum_j mu_cj^2 / (2 v_j) (kept relative to the overall mean,
    which changes every score of a row by the same number).

    Parameters
    ----------
    smoothing : float >= 0
        Share of the largest variance of a feature over all rows that is added to all variances, so that a feature that
        is nearly constant in a class does not decide alone: the rule of scikit-learn's ``var_smoothing``. It depends
        on the units of the features: where their variances differ by a factor of 1e6 and more, scale them first
        (``make_pipeline(StandardScaler(), GaussianNB())``), or the smallest are smoothed away.
    shared_variance : bool
        Whether the classes share their variances.
    priors : 'empirical', 'uniform' or array (C,)
        Class probabilities p(c): shares of the weights of the rows, all alike, or as given.

    Attributes
    ----------
    classes_ : (C,) labels.
    class_count_ : (C,) weight of the rows of each class.
    class_prior_ : (C,) p(c).
    theta_ : (C, D) means.
    var_ : (C, D) variances with smoothing; (1, D) if shared; 1 of a feature that is constant, which says nothing.
    epsilon_ : what smoothing adds to every variance.
    coef_, intercept_ : W and b, only with ``shared_variance``. Two classes have one row, the second less the first.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import GaussianNB
    >>> X = np.array([[-1.0], [1.0], [4.0], [8.0]])
    >>> model = GaussianNB().fit(X, ["near", "near", "wide", "wide"])
    >>> model.theta_.ravel().tolist(), model.var_.ravel().round(3).tolist()
    ([0.0, 6.0], [1.0, 4.0])
    >>> model.predict([[1.5], [-8.0]]).tolist()
    ['near', 'wide']
    >>> GaussianNB(shared_variance=True).fit(X, [0, 0, 1, 1]).coef_.round(3).tolist()  # (6 - 0) / 2.5
    [[2.4]]
    """

    def __init__(
        self, *, smoothing: float = 1e-9, shared_variance: bool = False, priors: Any = "empirical"
    ) -> None:
        self.smoothing = smoothing
        self.shared_variance = shared_variance
        self.priors = priors

    def _check_parameters(self) -> None:
        check_number(self, "smoothing", self.smoothing, positive=False, remedy="The usual value is 1e-9.")

    def _clear(self) -> None:
        shape = len(self.classes_), self.n_features_in_
        self.class_count_, self.theta_, self._scatter = np.zeros(shape[0]), np.zeros(shape), np.zeros(shape)

    def _sums(self, X: Design, targets: Array, weights: Array) -> tuple[Array, ...]:
        return class_moments(X, targets, weights, len(self.classes_))

    @staticmethod
    def _both(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
        return merged_moments(a, b)

    def _include(self, sums: tuple[Array, ...]) -> None:
        own = self.class_count_, self.theta_, self._scatter
        self.class_count_, self.theta_, self._scatter = self._both(own, sums)

    def _finish(self, dtype: Any) -> None:
        count, total = self.class_count_, self.class_count_.sum()
        self._center = count @ self.theta_ / total
        overall = (self._scatter.sum(axis=0) + count @ (self.theta_ - self._center) ** 2) / total
        varies = np.sqrt(overall) > 10 * np.finfo(float).eps * np.abs(self._center)
        if self.shared_variance:
            var = self._scatter.sum(axis=0, keepdims=True) / total
        else:
            var = self._scatter / np.where(count > 0, count, 1.0)[:, None]
        # A constant feature says nothing: any variance does, and 1 is far from overflow.
        self.epsilon_ = self.smoothing * float(overall.max(initial=0.0, where=varies))
        self.var_ = np.where(varies, var + self.epsilon_, 1.0)
        used = slice(None) if self.shared_variance else count > 0
        if not (self.var_[used] > 0).all():
            column = int(np.flatnonzero(~(self.var_[used] > 0).all(axis=0))[0])
            raise ValueError(
                f"GaussianNB(smoothing=0): column {column} of X is constant within a class, so its variance is 0 and "
                "its likelihood infinite. Set smoothing > 0, or drop the column."
            )
        self.var_[~(self.var_ > 0)] = 1.0
        self.class_prior_ = self._class_prior(count)
        # A class without rows has no mean: it never wins, whatever its prior.
        self._log_prior = np.where(count > 0, log_or_never(self.class_prior_), -np.inf)
        if self.shared_variance:
            W = (self.theta_ - self._center) / self.var_
            middle = (self.theta_ + self._center) / 2
            b = self._log_prior - (W * middle).sum(axis=1)
            self.coef_, self.intercept_ = by_class_count(W, b, dtype)

    def _scores(self, X: Any) -> Array:
        if self.shared_variance:
            return super()._scores(X)
        X = self._validate_predict(X)
        scores = self._scores_sparse(X) if is_sparse(X) else self._scores_dense(X)
        scores += self._log_prior - 0.5 * np.log(2 * np.pi * self.var_).sum(axis=1)
        scores = decisive(scores)
        # In float64 also for float32 rows: log-likelihoods are large, and what counts is their difference.
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores

    def _terms(self, X: Design) -> tuple[Array, OfFeatures]:
        if self.shared_variance:
            return super()._terms(X)
        variance = np.broadcast_to(self.var_, self.theta_.shape)
        return self._log_prior, OfFeatures(X, log_densities(self.theta_, variance), zeros=True)

    def _scores_dense(self, X: Array) -> Array:
        """-(1/2) sum_j (x_j - mu_cj)^2 / v_cj, in blocks that stay in cache while all classes see them.

        Multiplied out about the overall mean this is two products with matrices; features of which some class mean
        lies over a thousand deviations away would lose digits in that, so their squares are taken directly.
        """
        shift, precision = self.theta_ - self._center, 1.0 / self.var_
        far = (shift**2 * precision).max(axis=0) > 1e6
        near = np.where(far, 0.0, precision)
        linear, constant = shift * near, 0.5 * (shift**2 * near).sum(axis=1)

        def of_block(rows: slice) -> Array:
            Z = X[rows].astype(np.float64) - self._center
            scores = Z @ linear.T - constant
            if far.any():
                scores -= _half_squares(Z[:, far], shift[:, far], precision[:, far])
            return scores - 0.5 * (np.square(Z, out=Z) @ near.T)

        blocks = list(row_blocks(X.shape, budget=1 << 16))
        return np.vstack(map_tiles(of_block, blocks, work=4.0 * X.size * len(shift)))

    def _scores_sparse(self, X: Any) -> Array:
        """The same with the squares multiplied out, so that zeros cost nothing."""
        squares = sp.csr_matrix((X.data.astype(np.float64) ** 2, X.indices, X.indptr), shape=X.shape)
        constant = -0.5 * (self.theta_**2 / self.var_).sum(axis=1)
        return np.asarray(X @ (self.theta_ / self.var_).T - squares @ (0.5 / self.var_).T + constant)


def _half_squares(Z: Array, mean: Array, precision: Array) -> Array:
    """(1/2) sum_j precision_cj (z_j - mean_cj)^2, (n, C)."""
    half = np.empty((len(Z), len(mean)))
    for c, (center, scale) in enumerate(zip(mean, np.sqrt(0.5 * precision))):
        t = (Z - center) * scale
        half[:, c] = np.einsum("ij,ij->i", t, t)
    return half
