"""GaussianProcessClassifier: logistic likelihood, Laplace's approximation."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nearline._arrays.design import Array, owned
from nearline._records.explanation import Contributions
from nearline._records.kept import Instance, Numbers, Real, Whole, kept, require
from nearline.decision import decide
from nearline.estimators._explained import by_class, expanded
from nearline.estimators.kernel_base import MEMORY, KernelModel, count
from nearline.scores import KernelScore, decisive

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)  # of the normal distribution
HALVES, HALF_WEIGHTS = np.polynomial.legendre.leggauss(64)  # of the interval (-1, 1)


@dataclass(frozen=True)
class Mode:
    """Where the posterior of f at the training items is largest, and the curvature there."""

    a: Array  # (n,) K^-1 f: coefficients of the expansion
    root: Array  # (n,) sqrt(p (1 - p))
    L: Array  # (n, n) Cholesky factor of I + root K root
    log_marginal: float
    n_iter: int


def _factored(model: "GaussianProcessClassifier") -> None:
    fits = len(model.expansion_.rows) == model._roots.shape[1]
    require(fits, "The curvatures of a Gaussian process do not fit its items")
    diagonals = np.diagonal(model._factors, axis1=1, axis2=2)
    require((diagonals > 0).all(), "The factors of a Gaussian process have a diagonal that is not > 0")


@kept(
    tol=Real(),
    max_iter=Whole(),
    memory=Real(above=0.0),
    expansion_=Instance(KernelScore),
    dual_coef_=Numbers(("n", "P")),
    _roots=Numbers(("P", "n"), least=0.0),
    _factors=Numbers(("P", "n", "n")),
    log_marginal_likelihood_=Numbers(("P",), wild=True),
    n_iter_=Whole(),
    links=_factored,
)
class GaussianProcessClassifier(KernelModel):
    """P(y = 1 | x) = mean of sigmoid(f) over the posterior of f ~ GP(0, k), approximated by a normal one at its mode.

    The mode is that of bias-free kernel logistic regression with alpha = 1/n. Several classes are one process each
    against the rest, with probabilities divided by their sum. The kernel's parameters are as given:
    ``log_marginal_likelihood_`` compares them.

    Parameters
    ----------
    kernel : as in :class:`KernelSVM`; a multiple such as ``4.0 * RBF(0.1)`` says how far f goes.
    tol : change of the log posterior at which Newton's method ends.
    max_iter : steps of Newton's method at most.
    memory : bytes that the Gram matrix may take.

    Attributes
    ----------
    dual_coef_ : (n, P) coefficients of the mode.
    log_marginal_likelihood_ : (P,) Laplace's approximation, one for each process.
    n_iter_ : steps of Newton's method, the most of a process.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import GaussianProcessClassifier
    >>> from nearline.kernels import RBF
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = GaussianProcessClassifier(RBF(0.5)).fit(X, [0, 0, 1, 1])
    >>> model.predict_proba([[-1.5], [0.0], [30.0]]).round(2).tolist()  # far away nothing is known
    [[0.63, 0.37], [0.5, 0.5], [0.5, 0.5]]
    """

    def __init__(
        self, kernel: Any = "rbf", *, tol: float = 1e-10, max_iter: int = 100, memory: float = MEMORY
    ) -> None:
        self.kernel = kernel
        self.tol = tol
        self.max_iter = max_iter
        self.memory = memory

    def fit(self, X: Any, y: Any) -> Self:
        """Find the mode of each process."""
        items, targets, _ = self._validate_items(X, y, None)
        n = count(items)
        K = self._gram(items).whole
        n_classes = len(self.classes_)
        claims = [1] if n_classes == 2 else range(n_classes)
        modes = [laplace(K, np.where(targets == c, 1.0, -1.0), self.tol, self.max_iter) for c in claims]
        A = np.stack([mode.a for mode in modes], axis=1)
        rows = np.arange(n)
        kept = None if self.kernel_.takes == "gram" else owned(items, X)
        self.expansion_ = KernelScore(self.kernel_, kept, rows, A, np.zeros(A.shape[1]))
        self.dual_coef_ = A
        self._roots = np.stack([mode.root for mode in modes])
        self._factors = np.stack([mode.L for mode in modes])
        self.log_marginal_likelihood_ = np.array([mode.log_marginal for mode in modes])
        self.n_iter_ = max(mode.n_iter for mode in modes)
        return self

    def latent(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of f (n, P) for each item and process."""
        from scipy.linalg import solve_triangular

        items = self._items(X)
        if self.kernel_.takes == "gram":
            raise ValueError(
                "Variances need k(x, x) of new items, which a precomputed Gram matrix does not have."
            )
        prior = self.kernel_.diagonal(items)
        means, variances = [], []
        for rows, K in self.expansion_.values(items):
            K = K.astype(np.float64)
            means.append(decisive(K @ self.expansion_.A, everywhere=True))
            parts = [
                solve_triangular(L, root[:, None] * K.T, lower=True, check_finite=False)
                for root, L in zip(self._roots, self._factors, strict=True)
            ]
            explained = decisive(np.stack([(part * part).sum(axis=0) for part in parts], axis=1))
            variances.append(np.maximum(prior[rows, None] - explained, 0.0))
        return np.concatenate(means), np.concatenate(variances)

    def predict(self, X: Any) -> Array:
        """Labels (n,)."""
        items = self._items(X)
        if (
            len(self.classes_) == 2 or self.kernel_.takes == "gram"
        ):  # the mean of the sigmoid is above 1/2 exactly where that of f is above 0
            return decide(self.expansion_.scores(items), self.classes_)
        return decide(self.predict_proba(X), self.classes_)

    def explain(self, X: Any) -> Contributions:
        """What each training item adds to the mean of the latent function of each class."""
        items = self._items(X)
        scores = by_class(self.expansion_.scores(items))
        return expanded(self.expansion_, items, scores, self.predict(X), self.classes_)

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C), averaged over the posterior."""
        mean, variance = self.latent(X)
        if mean.shape[1] == 1:  # both from the small side, where floating-point numbers are dense
            mean, variance = np.hstack([-mean, mean]), np.hstack([variance, variance])
        p = mean_sigmoid(mean, np.sqrt(variance))
        return np.asarray(p / p.sum(axis=1, keepdims=True))


def sigmoid(f: Array) -> Array:
    """1 / (1 + exp(-f))."""
    from scipy.special import expit

    return np.asarray(expit(f))


def mean_sigmoid(mean: Array, deviation: Array) -> Array:
    """E sigmoid(f) for normal f.

    Where f spreads little, by Gauss and Hermite. Else as P(t < f) for logistic t: the mean of the normal distribution's
    Phi((mean - t) / deviation) over t, which is smooth where the sigmoid looks like a step.
    """
    from scipy.special import logit, ndtr

    near = sigmoid(mean[..., None] + deviation[..., None] * NODES) @ NODE_WEIGHTS / NODE_WEIGHTS.sum()
    t = logit(0.5 + 0.5 * HALVES)
    far = ndtr((mean[..., None] - t) / np.maximum(deviation, 1.0)[..., None]) @ HALF_WEIGHTS / 2.0
    return np.asarray(np.where(deviation < 2.0, near, far))


def laplace(K: Array, y: Array, tol: float, max_iter: int) -> Mode:
    """Newton's method on log p(y | f) - f' K^-1 f / 2, with f = K a (Rasmussen and Williams 2006, chapter 3).

    A step that would lower the posterior is halved.
    """
    from scipy.linalg import cho_solve

    n = len(y)
    a, f = np.zeros(n), np.zeros(n)
    value = -n * np.log(2.0)
    for n_iter in range(1, max(1, max_iter) + 1):  # noqa: B007
        p = sigmoid(f)
        root = np.sqrt(p * (1.0 - p))
        L = _factor(K, root)
        target = root * root * f + (y + 1.0) / 2.0 - p
        new = target - root * cho_solve((L, True), root * (K @ target), check_finite=False)
        a, f, gain = _improved(K, y, a, f, new - a, value)
        value += gain
        if gain <= tol * n:
            break
    p = sigmoid(f)
    root = np.sqrt(p * (1.0 - p))
    L = _factor(K, root)
    return Mode(a, root, L, value - float(np.log(np.diagonal(L)).sum()), n_iter)


def _factor(K: Array, root: Array) -> Array:
    """Cholesky factor of I + root K root, whose eigenvalues are at least 1 unless rounding hides the 1."""
    from scipy.linalg import LinAlgError, cholesky

    try:
        return np.asarray(cholesky(np.eye(len(K)) + root[:, None] * K * root, lower=True, check_finite=False))
    except LinAlgError as error:
        raise ValueError(
            f"The kernel has values up to {np.abs(K).max():.1e}, beside which the posterior's curvature of 1 is lost in "
            "rounding: scale the features, or take Normalized(kernel)."
        ) from error


def _improved(
    K: Array, y: Array, a: Array, f: Array, step: Array, value: float
) -> tuple[Array, Array, float]:
    change = K @ step
    for halvings in range(40):
        size = 0.5**halvings
        a_new, f_new = a + size * step, f + size * change
        new = -float(np.logaddexp(0.0, -y * f_new).sum()) - 0.5 * float(a_new @ f_new)
        if new >= value:
            return a_new, f_new, new - value
    return a, f, 0.0
