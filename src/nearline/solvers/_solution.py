"""Solution: what a fit ends with."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Instance, Numbers, OneOf, OrNone, Real, Whole, Word, kept
from nearline.risk.params import Params
from nearline.solvers._state import Status


class ConvergenceWarning(UserWarning):
    """A fit ended before it reached its tolerance; the message states gap, tolerance and remedy."""


@kept(
    params=Instance(Params),
    value=Real(wild=True),
    gap=OrNone(Real(wild=True)),
    gradient_test=OrNone(Real(wild=True)),
    n_iter=Whole(),
    seconds=Real(wild=True),
    status=Instance(Status),
    trace=Numbers(("T",), wild=True),
    solver=Word(),
    duals=OrNone(Numbers(None, wild=True)),
    precision=OneOf(("float32", "float64")),
    iterates=OneOf((None,)),
)
@dataclass(frozen=True)
class Solution:
    """What a fit ends with: parameters, certificate and learning curve."""

    params: Params
    value: float
    gap: float | None  # certified duality gap, relative to the risk or as asked; None where there is none
    gradient_test: float | None  # relative gradient, where there is no gap
    n_iter: int
    seconds: float
    status: Status
    trace: Array  # objective of the solver's parameters after each iteration, the start first; value is that of params
    solver: str
    duals: Array | None = None  # of solvers that keep them
    precision: str = "float64"  # of X, and of the numbers in params
    iterates: tuple[Params, ...] | None = (
        None  # where the trace was taken, the start first, if they were kept
    )

    @property
    def converged(self) -> bool:
        return self.status in (Status.CONVERGED, Status.NOT_CHECKED)

    @property
    def reached(self) -> str:
        """How far the fit came, in words."""
        if self.gap is not None:
            return f"gap {self.gap:.1e}"
        return (
            "no certificate" if self.gradient_test is None else f"relative gradient {self.gradient_test:.1e}"
        )

    @property
    def left(self) -> float:
        """How far the fit is from its minimum at most: the gap or, where there is none, the relative gradient."""
        certificate = self.gradient_test if self.gap is None else self.gap
        return np.inf if certificate is None else certificate

    def remedy(self, limit: str | None = "max_iter") -> str:
        """What to do if it did not converge; ``limit`` is how the caller raises the solver's max_iter."""
        return self.status.remedy(self.precision, limit)

    def warn(self, tol: float, limit: Callable[[], str | None] = lambda: "max_iter") -> None:
        """Say what is wrong with an unconverged solution, once; ``limit`` as in :meth:`remedy`, asked for if need be."""
        if self.status is Status.CONVERGED:
            return
        sentence = ": ".join(filter(None, (self.status.value, self.remedy(limit()))))
        text = f"Solver '{self.solver}' after {self.n_iter} iterations ({self.reached}, tol {tol:.1e}): {sentence}."
        warnings.warn(text, ConvergenceWarning, stacklevel=3)
