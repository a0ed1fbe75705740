"""What every data loss offers. Scores are (n, K); targets are class numbers (n,) or label distributions (n, K).

Lists do as well: what is no array yet becomes one before a formula sees it (:func:`take_lists`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.targets import checked_targets
from nearline._records.inheritance import forget_derived, redefined
from nearline.losses._special import NOTHING, Special

# What a loss is, and what its author derived from that: the second is not inherited where the first is redefined.
DEFINING = ("value", "value_and_gradient", "phi", "codes", "margin")
DERIVED = (
    *(
        "curvature",
        "curvature_product",
        "shares",
        "conjugate",
        "masses",
        "balanced_by",
        "balance",
        "smoothed",
    ),
    "null_bias",
    *("probabilities", "log_probabilities"),
)

# Methods that take lists: of scores and targets, of scores alone, of margins of any shape.
OF_ROWS = ("value", "value_and_gradient", "curvature", "shares", "conjugate")
OF_SCORES = ("probabilities", "log_probabilities")
OF_MARGINS = ("phi", "dphi", "d2phi", "phi_conjugate", "positive_probability")


@dataclass(frozen=True)
class Loss(ABC):
    """A data loss: how badly scores f fit a target, row by row.

    To add one, subclass it, write :meth:`value_and_gradient`, and set the flags below; L-BFGS, conjugate gradients,
    gradient descent and SGD then serve it. With :meth:`curvature` Newton's method does too, with
    :meth:`conjugate` and :meth:`balance` every fit ends with a certified duality gap.

    A subclass of a built-in loss is a loss of its own: it goes through none of the compiled loops and is served by no
    solver made for its parent (``special`` is not inherited), and where it redefines the value it inherits neither
    conjugate nor curvature nor probabilities, which belong to the other loss.
    """

    name: ClassVar[str]
    joint: ClassVar[bool] = (
        False  # couples the columns of a row's scores (softmax, ...), so K = number of classes
    )
    smooth: ClassVar[bool] = True  # has a Lipschitz gradient
    special: ClassVar[Special] = NOTHING  # what is made for this very class; not inherited, see `own`
    refusal: ClassVar[str | None] = None  # why a risk with this loss is not to be minimized

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        take_lists(cls)
        forget_derived(cls, DEFINING, cls._derived())
        if redefined(cls, "value_and_gradient") and not redefined(cls, "value"):
            cls.value = Loss.value  # type: ignore[method-assign]

    @classmethod
    def _derived(cls) -> tuple[str, ...]:
        """Names of the methods that follow from the value."""
        return DERIVED

    @property
    def own(self) -> Special:
        """What this very class declares as ``special``: a subclass may compute something else."""
        return type(self).__dict__.get("special", NOTHING)

    @property
    def compiled(self) -> str | None:
        """Name of the same loss in the compiled core, if there is one."""
        return self.own.core

    @abstractmethod
    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        """Loss of each row (n,) and its (sub)gradient with respect to the scores (n, K)."""

    def value(self, scores: Array, targets: Array) -> Array:
        """Loss of each row, (n,)."""
        return self.value_and_gradient(scores, targets)[0]

    def curvature(self, scores: Array, targets: Array) -> Array | None:
        """Second derivative: (n, K) where columns are separate, (n, K, K) where joint; None if there is none."""
        return None

    def curvature_product(self, scores: Array, targets: Array, direction: Array) -> Array | None:
        """Second derivative of each row times a direction (n, K)."""
        H = self.curvature(scores, targets)
        if H is None:
            return None
        return H * direction if H.ndim == 2 else np.einsum("ijk,ik->ij", H, direction)

    def shares(self, scores: Array, targets: Array) -> Array | None:
        """q >= 0 (n, K) where the curvature of a joint loss is diag(q) - q q^T / sum(q); None if it is not."""
        return None

    def conjugate(self, duals: Array, targets: Array) -> Array | None:
        """loss*(u) = sup_f u.f - loss(f), (n,); infinite outside its domain; None if it is not known."""
        return None

    def balance(self, duals: Array, targets: Array, weights: Array) -> Array | None:
        """The nearest simple duals within the conjugate's domain with sum_i s_i u_i = 0 (a free bias needs it)."""
        masses = self.masses(duals, targets, weights)
        return None if masses is None else self.balanced_by(duals, targets, masses)

    def masses(self, duals: Array, targets: Array, weights: Array) -> Array | None:
        """Sums over rows that say how to balance duals: they add up over parts of the rows. None if there are none."""
        return None

    def balanced_by(self, duals: Array, targets: Array, masses: Array) -> Array | None:
        """The balanced duals of some rows, given the masses of all."""
        return None

    def probabilities(self, scores: Array) -> Array | None:
        """Class probabilities (n, C) that the loss defines, None if it defines none."""
        return None

    def log_probabilities(self, scores: Array) -> Array | None:
        """Their logarithms; losses whose probabilities are never 0 keep these finite for any scores."""
        p = self.probabilities(scores)
        if p is None:
            return None
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(p))

    def smoothed(self, stretch: float) -> "Loss | None":
        """The loss with its kinks rounded off over a stretch of scores, its duals valid for this one too."""
        return None

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array | None:
        """Bias that minimizes the loss at W = 0 for classes of these weights, where it is known in closed form."""
        return None

    def label_count(self, n_outputs: int) -> int:
        """Number of classes that K score columns stand for: one column tells two classes apart."""
        return 2 if n_outputs == 1 else n_outputs


def signs(targets: Array, n_outputs: int) -> Array:
    """y in {-1, +1}: (n, 1) for two classes, else (n, K) with +1 in the column of the row's class (one-vs-rest)."""
    if n_outputs == 1:
        return np.where(targets == 1, 1.0, -1.0)[:, None]
    return 2.0 * one_hot(targets, n_outputs) - 1.0


def one_hot(targets: Array, n_classes: int) -> Array:
    """1-of-K coding (n, K); label distributions are given back as they are."""
    if targets.ndim == 2:
        return targets
    coded = np.zeros((len(targets), n_classes))
    coded[np.arange(len(targets)), targets] = 1.0
    return coded


def take_lists(cls: type) -> None:
    """The methods that a class defines itself take lists and vectors too; arrays (n, K) pass as they are."""
    for names, taking in ((OF_ROWS, _of_rows), (OF_SCORES, _of_scores), (OF_MARGINS, _of_margins)):
        for name in names:
            method = cls.__dict__.get(name)
            if method is not None and not getattr(method, "__isabstractmethod__", False):
                setattr(cls, name, taking(method))


def numbers(given: Any, what: str = "scores") -> Array:
    """Numbers as an array of floats; float32 stays float32."""
    if is_sparse(given):
        raise ValueError(f"{what} must be an array, got a sparse matrix: give its toarray().")
    try:
        array = np.asarray(given)
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be numbers, in rows of one length; got {given!r}.") from None


def _table(loss: Loss, given: Any) -> Array:
    """Scores (n, K): a vector is one row of a joint loss, and a column of others."""
    scores = numbers(given)
    if scores.ndim > 2:
        raise ValueError(f"Scores must be rows by columns (n, K), got an array of shape {scores.shape}.")
    if scores.ndim == 2:
        return scores
    return np.atleast_1d(scores)[None] if loss.joint else np.atleast_1d(scores)[:, None]


def _of_rows(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def taking(self: Loss, scores: Any, targets: Any) -> Any:
        arrays = isinstance(scores, np.ndarray) and isinstance(targets, np.ndarray)
        if arrays and scores.ndim == 2 and scores.dtype.kind == "f":
            return method(self, scores, targets)
        given, own = np.asarray(targets), _table(self, scores)
        if given.ndim == 0 and not self.joint and np.ndim(scores) == 1:
            own = own.T  # one target: the scores are those of one row
        checked = checked_targets(np.atleast_1d(given), self.label_count(own.shape[1]))
        if len(own) != len(checked):
            raise ValueError(
                f"There are {len(own)} rows of scores but {len(checked)} targets: give one for each row."
            )
        return method(self, own, checked)

    return taking


def _of_scores(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def taking(self: Loss, scores: Any) -> Any:
        return method(self, _table(self, scores))

    return taking


def _of_margins(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def taking(self: Loss, margins: Any) -> Any:
        return method(self, numbers(margins, "margins"))

    return taking
