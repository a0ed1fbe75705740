"""Nystroem and RandomFourierFeatures: few numbers whose inner products are about a kernel's."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.blocks import sampled
from nearline._arrays.design import Array
from nearline._arrays.doors import Door
from nearline._arrays.validation import validate_data
from nearline._records.habits import TranslatesHabits
from nearline._records.kept import Instance, Named, Numbers, Plain, Real, Whole, kept, require
from nearline._records.parameters import HoldsParametrized
from nearline._records.refused import ParameterError
from nearline.estimators.base import by_blocks, fits_blocks
from nearline.estimators.blocked import seen_blocks
from nearline.kernels import RBF, Kernel, as_kernel
from nearline.kernels.held import widths
from nearline.kernels.landmarks import Landmarks, some_landmarks

MOST_SAMPLED = 20_000  # rows in blocks that come here to draw from, or ten for each component
SAMPLE = 500  # rows on which the error of the approximation is measured


@kept(
    n_components=Whole(1),
    random_state=Whole(),
    kernel_=Instance(Kernel),
    n_components_=Whole(1),
    error_=Real(wild=True),
)
class KernelMap(
    TranslatesHabits, HoldsParametrized, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """What the maps share: items in, rows of numbers out, and how far their products are from the kernel's."""

    n_components: int
    random_state: int
    kernel_: Kernel
    error_: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _checked(self, X: Any, kernel: Kernel, *, reset: bool) -> Any:
        if kernel.takes in ("vectors", "any"):
            X = validate_data(
                self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=reset
            )
        return kernel.items(X)

    def _check_size(self) -> None:
        if not (isinstance(self.n_components, (int, np.integer)) and self.n_components >= 1):
            raise ParameterError("n_components", self.n_components, "a whole number >= 1")

    def _measure(self, items: Any) -> None:
        """Root mean square of K - Z Z^T over pairs of at most 500 training items, relative to that of K."""
        n = int(items.shape[0])
        rows = np.sort(np.random.default_rng(self.random_state).permutation(n)[:SAMPLE])
        K, Z = self.kernel_.among(items[rows]).astype(np.float64), self._mapped(items[rows])
        size = float(np.linalg.norm(K))
        self.error_ = float(np.linalg.norm(K - Z @ Z.T)) / size if size > 0 else 0.0

    @abstractmethod
    def _mapped(self, items: Any) -> Array:
        """Rows of numbers of checked items."""

    def _fit_blocks(self, door: Door, X: Any, y: Any = None) -> Self:
        """Fit to a sample of the rows in blocks, drawn by their numbers: the same for any blocks."""
        blocks = seen_blocks(self, door, X, None)
        size = max(MOST_SAMPLED, 10 * self.n_components)
        return self.fit(sampled(blocks, size, self.random_state))

    @by_blocks
    def transform(self, X: Any) -> Array:
        """Rows of numbers (n, components)."""
        check_is_fitted(self)
        rows = self._mapped(self._checked(X, self.kernel_, reset=False))
        if not np.isfinite(rows).all():
            raise ValueError(
                f"The features of {type(self).__name__} overflow on these rows: scale the columns, and fit it again."
            )
        return rows

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    n_components_: int


def _of_its_landmarks(model: "Nystroem") -> None:
    marks = model.landmarks_
    takes = {model.kernel_.takes, marks.kernel.takes}
    require(len(takes) == 1 and "gram" not in takes, "A map has two kernels, of different items")
    require(len(marks.rows) == model.n_components_, "The components of a map are not as many as its items")
    if takes & {"vectors", "any"}:
        columns = {marks.items.shape[1], *widths(marks.kernel), *widths(model.kernel_)}
        require(columns == {vars(model).get("n_features_in_")}, "The items of a map do not have its features")


@kept(
    kernel=Named(as_kernel, Kernel),
    landmarks_=Instance(Landmarks),
    residual_=Real(wild=True),
    links=_of_its_landmarks,
)
class Nystroem(KernelMap):
    """Coordinates on the span of some training items: products are the kernel's wherever that span reaches.

    Items are drawn one block after the other, each with a probability proportional to what the earlier ones leave of
    its k(x, x), so that few are wasted on what is spanned already.

    Parameters
    ----------
    kernel : any kernel, of vectors, strings or trees.
    n_components : items to draw at most.
    random_state : decides which.

    Attributes
    ----------
    residual_ : share of the sum of k(x, x) that is not reached.
    error_ : relative error of the Gram matrix on a sample of at most 500 training items.
    n_components_ : items drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import Nystroem
    >>> X, y = load_iris(return_X_y=True)
    >>> features = Nystroem("rbf", n_components=40).fit(X)
    >>> features.transform(X).shape, features.error_ < 1e-3
    ((150, 40), True)
    """

    def __init__(self, kernel: Any = "rbf", n_components: int = 500, *, random_state: int = 0) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    @fits_blocks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the items."""
        self._check_size()
        kernel = as_kernel(self.kernel)
        if kernel.takes == "gram":
            raise ValueError("Nystroem needs a kernel that can be computed, not a precomputed Gram matrix.")
        items = self._checked(X, kernel, reset=True)
        self.kernel_ = kernel.fitted(items)
        self.landmarks_ = some_landmarks(self.kernel_, items, self.n_components, self.random_state)
        self.n_components_ = len(self.landmarks_.rows)
        self.residual_ = self.landmarks_.residual
        self._measure(items)
        return self

    def _mapped(self, items: Any) -> Array:
        return self.landmarks_.coordinates(items)


def _of_its_frequencies(model: "RandomFourierFeatures") -> None:
    fits = 2 * len(model.frequencies_) == model.n_components_
    require(fits, "The components of a map are not as many as its frequencies")


@kept(
    gamma=Plain(),
    kernel_=Instance(RBF),
    n_features_in_=Whole(1),
    frequencies_=Numbers(("h", "D")),
    links=_of_its_frequencies,
)
class RandomFourierFeatures(KernelMap):
    """z(x) = sqrt(1/m) (cos(V x), sin(V x)), rows of V normal with variance 2 gamma: E z(x) . z(x') = exp(-gamma |x - x'|^2).

    Parameters
    ----------
    gamma : a number > 0, "scale" or "median", as in :class:`nearline.kernels.RBF`.
    n_components : numbers for each row, even (half cosines, half sines).
    random_state : decides V.

    Attributes
    ----------
    frequencies_ : V (components / 2, features).
    error_ : relative error of the Gram matrix on a sample of at most 500 training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import RandomFourierFeatures
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomFourierFeatures(n_components=400).fit(X).error_ < 0.1
    True
    """

    kernel_: RBF

    def __init__(
        self, gamma: float | str = "scale", n_components: int = 500, *, random_state: int = 0
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    @fits_blocks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies."""
        self._check_size()
        kernel = RBF(self.gamma)
        items = self._checked(X, kernel, reset=True)
        self.kernel_ = kernel.fitted(items)
        half = -(-self.n_components // 2)
        scale = np.sqrt(2.0 * self.kernel_._gamma)
        rng = np.random.default_rng(self.random_state)
        self.frequencies_ = scale * rng.standard_normal((half, items.shape[1]))
        self.n_components_ = 2 * half
        self._measure(items)
        return self

    def _mapped(self, items: Any) -> Array:
        if items.dtype == np.float32 and not self.kernel_.allows_single(items):
            items = items.astype(np.float64)  # of large angles float32 keeps no digits behind the point
        phase = np.asarray(items @ self.frequencies_.T.astype(items.dtype))
        return np.hstack([np.cos(phase), np.sin(phase)]) / np.sqrt(len(self.frequencies_))
