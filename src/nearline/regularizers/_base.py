"""What every penalty R(W) offers. The bias is never among the weights W."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nearline.arrays import Array
from nearline.inheritance import forget_derived

if TYPE_CHECKING:
    from nearline.regularizers.elastic import Elastic

# What follows from the value of a penalty, so that it is not inherited where that is redefined.
DERIVED = ("smooth", "gradient", "curvature_product", "prox", "conjugate", "into_domain", "largest_alpha")


@dataclass(frozen=True)
class Regularizer(ABC):
    """A convex penalty R(W), zero at W = 0. To write one, give :meth:`value` and one of :meth:`gradient`, :meth:`prox`.

    With a gradient, L-BFGS, conjugate gradients and gradient descent serve it (with :meth:`curvature_product` Newton-CG
    too); with a prox FISTA does. With :meth:`conjugate` fits end with a certified gap, else with a gradient test.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        forget_derived(cls, ("value",), DERIVED)

    @property
    def elastic(self) -> "Elastic | None":
        """This penalty, if it is l1 |W|_1 + (l2/2) |W|^2 and nothing else: what fast solvers read l1 and l2 of."""
        return None

    @property
    def smooth(self) -> bool:
        """Whether R has a gradient everywhere: as a rule, if one is given. A penalty with kinks says False."""
        return self.knows("gradient")

    def knows(self, method: str) -> bool:
        """Whether one of the methods below that may be left out is written."""
        return getattr(type(self), method) is not getattr(Regularizer, method)

    def check_slopes(self, shape: tuple[int, int]) -> None:
        """Refuse a gradient that is not that of the value, at one place: the one may be inherited, the other one's own."""
        if self.elastic is not None or not self.smooth:
            return
        W, V = np.random.default_rng(0).normal(size=(2, *shape))
        gradient, h = self.gradient(W), 1e-6
        slope = (self.value(W + h * V) - self.value(W - h * V)) / (2 * h)
        if gradient is not None and not np.isclose(np.vdot(gradient, V), slope, rtol=1e-3, atol=1e-6):
            raise ValueError(
                f"Penalty {type(self).__name__} has a gradient that is not the derivative of its value: "
                "define value and gradient together."
            )

    @abstractmethod
    def value(self, W: Array) -> float:
        """R(W)."""

    def gradient(self, W: Array) -> Array | None:
        """Gradient of R at W, (K, D); None if it is not known."""
        return None

    def curvature_product(self, W: Array, V: Array) -> Array | None:
        """Second derivative of R at W times V, (K, D); None if it is not known."""
        return None

    def prox(self, W: Array, step: float) -> Array | None:
        """argmin_V |V - W|^2 / 2 + step R(V); None if it is not known."""
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
