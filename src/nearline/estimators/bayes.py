"""Naive Bayes: features independent given the class. Multinomial, Bernoulli and Gaussian."""

from abc import ABC
from typing import Any

import numpy as np
import scipy.sparse as sp

from nearline._arrays.design import Array, Design, is_sparse
from nearline._parallel.tiles import map_tiles
from nearline._records.kept import Flag, Numbers, OrNone, Perhaps, Real, kept, require
from nearline.estimators._explained import OfFeatures, log_densities
from nearline.estimators._generative import (
    OnlineGenerative,
    by_class_count,
    check_number,
    class_moments,
    class_sums,
    row_blocks,
)
from nearline.scores import decisive

_NO_ZERO = "Without smoothing an unseen feature has probability 0 and its logarithm is infinite; try 1e-10."


def _log(values: Array) -> Array:
    """Logarithm with log 0 = -inf: a class without rows has no prior and never wins."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


@kept(
    smoothing=Real(above=0.0),
    feature_count_=Numbers(("C", "D")),
    feature_log_prob_=Numbers(("C", "D"), infinite=True),
    class_log_prior_=Numbers(("C",), infinite=True),
)
class CountNB(OnlineGenerative, ABC):
    """Naive Bayes from smoothed counts of the features in each class."""

    smoothing: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_parameters(self) -> None:
        check_number(self, "smoothing", self.smoothing, positive=True, remedy=_NO_ZERO)

    def _clear(self) -> None:
        shape = len(self.classes_), self.n_features_in_
        self.class_count_, self.feature_count_ = np.zeros(shape[0]), np.zeros(shape)

    def _add(self, X: Design, targets: Array, weights: Array) -> None:
        n_classes = len(self.classes_)
        self.class_count_ += np.bincount(targets, weights=weights, minlength=n_classes)
        self.feature_count_ += class_sums(X, targets, weights, n_classes)


class MultinomialNB(CountNB):
    """Naive Bayes for counts (words of a text) with Lidstone smoothing; a linear classifier.

    p(x | y = c) is proportional to prod_j theta_cj^x_j with

        theta_cj = (N_cj + smoothing) / (N_c + smoothing D),   N_cj = sum over rows of class c of s_i x_ij,

    N_c their sum over j, so that the scores are f_c(x) = log p(c) + sum_j x_j log theta_cj: W = log theta, b = log p.
    Counts need not be whole numbers: tf-idf weights do well.

    Parameters
    ----------
    smoothing : float > 0
        Count added to every feature of every class; 1 is Laplace's add-one rule.
    priors : 'empirical', 'uniform' or array (C,)
        Class probabilities p(c): shares of the weights of the rows, all alike, or as given.

    Attributes
    ----------
    classes_ : (C,) labels.
    class_count_ : (C,) weight of the rows of each class.
    feature_count_ : (C, D) the counts N_cj.
    class_log_prior_ : (C,) log p(c).
    feature_log_prob_ : (C, D) log theta.
    coef_, intercept_ : (C, D) and (C,): W and b. Two classes have one row, the second less the first.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import MultinomialNB
    >>> X = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 3]])
    >>> model = MultinomialNB().fit(X, ["sport", "sport", "art"])
    >>> np.exp(model.feature_log_prob_).round(3).tolist()  # art: (0+1, 1+1, 3+1) / (4+3)
    [[0.143, 0.286, 0.571], [0.571, 0.286, 0.143]]
    >>> model.predict([[1, 1, 0]]).tolist()
    ['sport']
    """

    def __init__(self, *, smoothing: float = 1.0, priors: Any = "empirical") -> None:
        self.smoothing = smoothing
        self.priors = priors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _prepare(self, X: Design) -> Design:
        values = X.data if is_sparse(X) else X
        if values.size and values.min() < 0:
            row, column = _first(X, values < 0)
            raise ValueError(
                f"Negative values in data: MultinomialNB takes counts, but X[{row}, {column}] = {X[row, column]:g}. "
                "Give counts or other values >= 0 (do not center the columns), or use GaussianNB."
            )
        return X

    def _finish(self, dtype: Any) -> None:
        total = self.feature_count_.sum(axis=1) + self.smoothing * self.n_features_in_
        theta = self.feature_count_ + self.smoothing
        self.feature_log_prob_ = np.log(theta, out=theta)
        self.feature_log_prob_ -= np.log(total)[:, None]
        self.class_log_prior_ = _log(self._class_prior(self.class_count_))
        self.coef_, self.intercept_ = by_class_count(self.feature_log_prob_, self.class_log_prior_, dtype)


@kept(binarize=OrNone(Real()))
class BernoulliNB(CountNB):
    """Naive Bayes for features that are present or absent, with Lidstone smoothing; linear in the binary features.

    With z_j = 1 where x_j > ``binarize``, else 0, p(x | y = c) = prod_j theta_cj^z_j (1 - theta_cj)^(1 - z_j) and

        theta_cj = (N_cj + smoothing) / (N_c + 2 smoothing),   N_cj = sum over rows of class c of s_i z_ij,

    N_c the weight of the class. So f_c(x) = b_c + w_c.z with w_cj = log theta_cj - log(1 - theta_cj) and
    b_c = log p(c) + sum_j log(1 - theta_cj).

    Parameters
    ----------
    smoothing : float > 0
        Count added to presence and to absence of every feature; 1 is Laplace's add-one rule.
    binarize : float or None
        Features above it count as present. None: X holds zeros and ones only.
    priors : 'empirical', 'uniform' or array (C,)
        Class probabilities p(c): shares of the weights of the rows, all alike, or as given.

    Attributes
    ----------
    classes_ : (C,) labels.
    class_count_ : (C,) weight of the rows of each class.
    feature_count_ : (C, D) the counts N_cj.
    class_log_prior_ : (C,) log p(c).
    feature_log_prob_ : (C, D) log theta.
    coef_, intercept_ : (C, D) and (C,): W and b for z. Two classes have one row, the second less the first.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import BernoulliNB
    >>> X = np.array([[1, 0], [1, 1], [0, 1]])
    >>> model = BernoulliNB().fit(X, [True, True, False])
    >>> np.exp(model.feature_log_prob_).round(3).tolist()  # True: (2+1) / (2+2), (1+1) / (2+2)
    [[0.333, 0.667], [0.75, 0.5]]
    >>> model.predict([[1, 0]]).tolist()
    [True]
    """

    def __init__(
        self, *, smoothing: float = 1.0, binarize: float | None = 0.0, priors: Any = "empirical"
    ) -> None:
        self.smoothing = smoothing
        self.binarize = binarize
        self.priors = priors

    def _prepare(self, X: Design) -> Design:
        """z: ones where x > binarize. A sparse X keeps its layout."""
        values = X.data if is_sparse(X) else X
        if self.binarize is None:
            wrong = (values != 0) & (values != 1)
            if wrong.any():
                row, column = _first(X, wrong)
                raise ValueError(
                    f"BernoulliNB(binarize=None) takes zeros and ones, but X[{row}, {column}] = {X[row, column]:g}. "
                    "Set binarize to the threshold above which a feature counts as present."
                )
            return X
        if is_sparse(X) and self.binarize < 0:
            raise ValueError(
                f"binarize = {self.binarize:g} < 0 makes every zero of a sparse X a one. "
                "Give a dense X, or a threshold >= 0."
            )
        ones = (values > self.binarize).astype(X.dtype)
        return sp.csr_matrix((ones, X.indices, X.indptr), shape=X.shape) if is_sparse(X) else ones

    def _finish(self, dtype: Any) -> None:
        total = np.log(self.class_count_ + 2.0 * self.smoothing)[:, None]
        present = np.log(self.feature_count_ + self.smoothing) - total
        # Absences are counted, not taken as 1 - theta: the difference would lose all digits where theta is near 1.
        missing = np.maximum(self.class_count_[:, None] - self.feature_count_, 0.0)
        absent = np.log(missing + self.smoothing) - total
        self.feature_log_prob_ = present
        self.class_log_prior_ = _log(self._class_prior(self.class_count_))
        b = self.class_log_prior_ + absent.sum(axis=1)
        self.coef_, self.intercept_ = by_class_count(present - absent, b, dtype)

    def _validate_predict(self, X: Any) -> Design:
        """z, which W and b are for."""
        return self._prepare(super()._validate_predict(X))


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

    def _add(self, X: Design, targets: Array, weights: Array) -> None:
        """Merge counts, means and squared deviations of two sets of rows (exact, and safe far from the origin)."""
        count, mean, scatter = class_moments(X, targets, weights, len(self.classes_))
        total = self.class_count_ + count
        share = np.divide(count, total, out=np.zeros_like(count), where=total > 0)[:, None]
        shift = mean - self.theta_
        self._scatter = self._scatter + scatter + shift**2 * share * self.class_count_[:, None]
        self.theta_ = self.theta_ + shift * share
        self.class_count_ = total

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
        self._log_prior = np.where(count > 0, _log(self.class_prior_), -np.inf)
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


def _first(X: Design, wrong: Array) -> tuple[int, int]:
    """Row and column of the first marked value (of the stored values, if X is sparse)."""
    place = int(np.flatnonzero(wrong)[0])
    if is_sparse(X):
        return int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    return divmod(place, X.shape[1])
