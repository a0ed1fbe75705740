"""What every penalty R(W) offers. The bias is never among the weights W."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from nearline._arrays.design import Array
from nearline._records.inheritance import forget_derived

if TYPE_CHECKING:
    from nearline.regularizers.elastic import Elastic

# What follows from the value of a penalty, so that it is not inherited where that is redefined.
DERIVED = (
    *("smooth", "gradient", "curvature_product", "prox", "by_feature"),
    *("conjugate", "into_domain", "largest_alpha", "as_elastic"),
)


@dataclass(frozen=True)
class Regularizer(ABC):
    """A convex penalty R(W) >= 0, zero at W = 0. To write one, give :meth:`value` and one of :meth:`gradient`, :meth:`prox`.

    With a gradient, L-BFGS, conjugate gradients, gradient descent and SGD serve it, with :meth:`curvature_product`
    Newton's method too; with a prox FISTA and SGD do. With :meth:`conjugate` (and :meth:`into_domain` where that is not
    finite everywhere) fits end with a certified gap, else with a gradient test; with :meth:`largest_alpha` a path of
    alphas chooses its own grid, else one must be given.
    """

    name: ClassVar[str]
    by_feature: ClassVar[bool] = False  # R is a sum over features, so that prox takes a step for each as well

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        forget_derived(cls, ("value",), DERIVED)

    def as_elastic(self, n_outputs: int) -> "Elastic | None":
        """This penalty of K = n_outputs columns, if it is l1 |W|_1 + (l2/2) |W|^2 and nothing else.

        That is all that fast solvers, which read l1 and l2, need to know of it.
        """
        return None

    def _is(self, cls: type["Regularizer"]) -> bool:
        """Whether all formulas are those of a class, and none is one's own."""
        return all(getattr(type(self), name) is getattr(cls, name) for name in ("value", *DERIVED))

    @property
    def smooth(self) -> bool:
        """Whether R has a gradient everywhere: as a rule, if one is given. A penalty with kinks says False."""
        return self.knows("gradient")

    def knows(self, method: str) -> bool:
        """Whether one of the methods below that may be left out is written."""
        return getattr(type(self), method) is not getattr(Regularizer, method)

    @abstractmethod
    def value(self, W: Array) -> float:
        """R(W)."""

    def gradient(self, W: Array) -> Array | None:
        """Gradient of R at W, (K, D); None if it is not known."""
        return None

    def curvature_product(self, W: Array, V: Array) -> Array | None:
        """Second derivative of R at W times V, (K, D); None if it is not known."""
        return None

    def prox(self, W: Array, step: Any) -> Array | None:
        """argmin_V |V - W|^2 / 2 + step R(V); None if it is not known.

        ``step`` is a number; where :attr:`by_feature`, it may be an array (D,): sum_j step_j r(V_j) in place of step R(V).
        """
        return None

    def conjugate(self, V: Array) -> float | None:
        """R*(V) = sup_W V.W - R(W), infinite where R grows too slowly; None if it is not known."""
        return None

    def into_domain(self, V: Array) -> float:
        """A factor t <= 1 with R*(t V) finite, the larger the better."""
        return 1.0

    def largest_alpha(self, gradient: Array) -> float | None:
        """Smallest alpha at which W = 0 is the solution, given the data gradient at W = 0 and the best bias."""
        return None
