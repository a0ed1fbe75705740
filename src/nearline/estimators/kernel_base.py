"""What kernel machines share: items in, one Gram matrix, an expansion out."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._arrays.validation import check_weights
from nearline._records.explanation import Contributions
from nearline._records.kept import Instance, Named, Numbers, Real, kept, require
from nearline.decision import decide
from nearline.estimators._explained import by_class, expanded
from nearline.estimators.base import Classifier, by_blocks, class_weights, encoded
from nearline.kernels import Kernel, as_kernel
from nearline.kernels.gram import MEMORY, Gram
from nearline.kernels.held import widths
from nearline.scores import KernelScore


def _of_its_items(model: "KernelModel") -> None:
    """Rows of numbers, in the expansion or in a kernel, have the features of the model; so many scores for the classes."""
    held = [model.kernel_]
    expansion = vars(model).get("expansion_")
    if expansion is not None:
        held.append(expansion.kernel)
        require(
            expansion.A.shape[1] == model._n_scores,
            "The coefficients of a kernel machine do not fit its classes",
        )
    takes = {kernel.takes for kernel in held}
    require(len(takes) == 1, "A kernel machine has two kernels, of different items")
    columns = {width for kernel in held for width in widths(kernel)}
    if takes & {"vectors", "any", "gram"}:
        require("n_features_in_" in vars(model), "A kernel machine of rows lacks its number of features")
        D = model.n_features_in_
        if expansion is not None:
            inside = expansion.items is not None or (expansion.rows < D).all()
            require(inside, "A kernel machine has items beyond the columns of its matrix")
            columns |= set() if expansion.items is None else {expansion.items.shape[1]}
        require(columns <= {D}, "The items of a kernel machine do not have its features")


@kept(kernel=Named(as_kernel, Kernel), kernel_=Instance(Kernel), links=_of_its_items)
class KernelModel(Classifier):
    """Base of kernel machines: X may be rows of numbers, strings, trees, or a Gram matrix, as the kernel takes them."""

    kernel: Any
    memory: float
    kernel_: Kernel
    expansion_: KernelScore
    classes_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes = as_kernel(self.kernel).takes
        tags.input_tags.pairwise = takes == "gram"
        tags.input_tags.string = takes == "strings"
        tags.input_tags.two_d_array = takes in ("vectors", "gram", "any")
        if takes == "gram":
            tags.input_tags.sparse = False
        return tags

    @property
    def _n_scores(self) -> int:
        """Columns of the coefficients: one for two classes."""
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _validate_items(
        self, X: Any, y: Any, sample_weight: Any, class_weight: Any = None
    ) -> tuple[Any, Array, Array]:
        """Checked items, targets as class numbers, weights (n,). Sets ``classes_`` and ``kernel_``."""
        kernel = as_kernel(self.kernel)
        if kernel.takes in ("vectors", "gram", "any"):
            items, targets, weights = self._validate_fit(X, y, sample_weight, class_weight)
            items = kernel.items(items)
        else:
            items = kernel.items(X)
            y = np.asarray(y)
            if y.ndim != 1 or len(y) != len(items):
                raise ValueError(
                    f"There are {len(items)} {kernel.takes}, but y has the shape {y.shape}: give one label for each."
                )
            self.classes_, targets = encoded(y)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"{type(self).__name__} needs at least 2 classes, but y has {len(self.classes_)}."
                )
            weights = check_weights(sample_weight, np.zeros((len(items), 1)))
            if class_weight is not None:
                weights = weights * class_weights(class_weight, self.classes_, y)[targets]
            if len(np.unique(targets[weights > 0])) < 2:
                raise ValueError(
                    f"{type(self).__name__} needs at least 2 classes with positive sample weight."
                )
            for name in ("n_features_in_", "feature_names_in_"):  # of an earlier fit to rows of numbers
                self.__dict__.pop(name, None)
        self.kernel_ = kernel.fitted(items, weights)
        return items, np.asarray(targets, dtype=np.int32), weights

    def _items(self, X: Any) -> Any:
        """Checked items to predict."""
        check_is_fitted(self)
        if self.kernel_.takes in ("vectors", "gram", "any"):
            X = self._validate_predict(X)
        return self.kernel_.items(X)

    def _gram(self, items: Any, instead: str = "") -> Gram:
        """The Gram matrix of checked items; ``instead`` says what else would do where it is too large."""
        return Gram(self.kernel_, items, self.memory, instead)


@kept(
    memory=Real(above=0.0),
    expansion_=Instance(KernelScore),
    dual_coef_=Numbers(("n", "Q")),
    intercept_=Numbers(("Q",)),
)
class KernelScoring(KernelModel):
    """Base of machines that decide by the scores of an expansion."""

    dual_coef_: Array
    intercept_: Array

    def _keep_scores(self, expansion: KernelScore) -> None:
        self.expansion_ = expansion
        self.dual_coef_, self.intercept_ = expansion.A, expansion.b

    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for ``classes_[1]``; else (n, C)."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Labels (n,)."""
        return decide(self._scores(X), self.classes_)

    def _scores(self, X: Any) -> Array:
        items = self._items(X)
        return self.expansion_.scores(items)

    def explain(self, X: Any) -> Contributions:
        """What each training item of the expansion adds to the score of each class."""
        F = self._scores(X)  # whose largest wins, of pairs too
        labels = decide(F, self.classes_)
        return expanded(self.expansion_, self._items(X), by_class(F), labels, self.classes_, self._pairs)

    @property
    def _pairs(self) -> Array | None:
        """The classes of each column of the expansion, where these are pairs."""
        return None


def count(items: Any) -> int:
    return int(items.shape[0])


__all__ = ["MEMORY", "KernelModel", "KernelScoring", "count"]
