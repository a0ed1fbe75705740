"""Naive Bayes of counts: features independent given the class. Multinomial and Bernoulli."""

from abc import ABC
from typing import Any

import numpy as np
import scipy.sparse as sp

from nearline._arrays.design import Array, Design, is_sparse
from nearline._records.kept import Numbers, OrNone, Real, kept
from nearline.estimators._class_moments import class_sums
from nearline.estimators._generative import OnlineGenerative, by_class_count, check_number, log_or_never

_NO_ZERO = "Without smoothing an unseen feature has probability 0 and its logarithm is infinite; try 1e-10."


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

    def _sums(self, X: Design, targets: Array, weights: Array) -> tuple[Array, ...]:
        n_classes = len(self.classes_)
        count = np.bincount(targets, weights=weights, minlength=n_classes)
        return count, class_sums(X, targets, weights, n_classes, self._counted)

    def _counted(self, X: Design) -> Design:
        """What is counted of rows."""
        return X

    @staticmethod
    def _both(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
        return a[0] + b[0], a[1] + b[1]

    def _include(self, sums: tuple[Array, ...]) -> None:
        self.class_count_, self.feature_count_ = self._both((self.class_count_, self.feature_count_), sums)


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
        self.class_log_prior_ = log_or_never(self._class_prior(self.class_count_))
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
        values = X.data if is_sparse(X) else X
        if self.binarize is None:
            wrong = (values != 0) & (values != 1)
            if wrong.any():
                row, column = _first(X, wrong)
                raise ValueError(
                    f"BernoulliNB(binarize=None) takes zeros and ones, but X[{row}, {column}] = {X[row, column]:g}. "
                    "Set binarize to the threshold above which a feature counts as present."
                )
        elif is_sparse(X) and self.binarize < 0:
            raise ValueError(
                f"binarize = {self.binarize:g} < 0 makes every zero of a sparse X a one. "
                "Give a dense X, or a threshold >= 0."
            )
        return X

    def _counted(self, X: Design) -> Design:
        """z: ones where x > binarize. A sparse X keeps its layout."""
        if self.binarize is None:
            return X
        ones = ((X.data if is_sparse(X) else X) > self.binarize).astype(X.dtype)
        return sp.csr_matrix((ones, X.indices, X.indptr), shape=X.shape) if is_sparse(X) else ones

    def _finish(self, dtype: Any) -> None:
        total = np.log(self.class_count_ + 2.0 * self.smoothing)[:, None]
        present = np.log(self.feature_count_ + self.smoothing) - total
        # Absences are counted, not taken as 1 - theta: the difference would lose all digits where theta is near 1.
        missing = np.maximum(self.class_count_[:, None] - self.feature_count_, 0.0)
        absent = np.log(missing + self.smoothing) - total
        self.feature_log_prob_ = present
        self.class_log_prior_ = log_or_never(self._class_prior(self.class_count_))
        b = self.class_log_prior_ + absent.sum(axis=1)
        self.coef_, self.intercept_ = by_class_count(present - absent, b, dtype)

    def _validate_predict(self, X: Any) -> Design:
        """z, which W and b are for."""
        return self._counted(self._prepare(super()._validate_predict(X)))


def _first(X: Design, wrong: Array) -> tuple[int, int]:
    """Row and column of the first marked value (of the stored values, if X is sparse)."""
    place = int(np.flatnonzero(wrong)[0])
    if is_sparse(X):
        return int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    return divmod(place, X.shape[1])
