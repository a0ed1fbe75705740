"""How good a fit has to be, in units that are said."""

import numbers
import sys
from dataclasses import dataclass
from typing import Any

from nearline._records.refused import ParameterError
from nearline.risk import Objective

SCALES = ("risk", "null")
ENDS = ("tol", "max_iter")
TINY = sys.float_info.min


@dataclass(frozen=True)
class Goal:
    """P - D <= tol * unit, where the unit is the risk P itself or the null risk P(W = 0, best b).

    The risk is the scale for a model: whatever alpha, its risk is right to tol and, with an L2 penalty, its weights are
    off by at most |W - W*|^2 <= 2 tol P / alpha. Where rows are separable and alpha is small, the null risk is larger by
    orders of magnitude: it is the scale for fits of which only the labels count.
    """

    tol: float
    null: float | None = None  # the null risk where that is the unit
    endless: bool = False  # whether iterations go on however good the fit is

    @classmethod
    def of(cls, risk: Objective, tol: Any, relative_to: Any, until: Any = "tol") -> "Goal":
        """The goal as a user says it."""
        if relative_to not in SCALES:
            raise ParameterError(
                "relative_to", relative_to, "'risk' (P - D <= tol P) or 'null' (P - D <= tol P(W = 0))"
            )
        if not (isinstance(tol, numbers.Real) and float(tol) > 0):
            raise ParameterError("tol", tol, "> 0 (it is a relative duality gap)")
        if until not in ENDS:
            raise ParameterError(
                "until", until, "'tol' (end at the tolerance) or 'max_iter' (go on beyond it)"
            )
        return cls(float(tol), risk.null_value if relative_to == "null" else None, until == "max_iter")

    def unit(self, value: float) -> float:
        """What the gap of a point with this risk is divided by; positive, so that a risk of 0 has a gap of 0."""
        return max(value if self.null is None else self.null, TINY)

    def allowed(self, value: float) -> float:
        """The largest P - D that will do at a point with this risk."""
        return self.tol * self.unit(value)
