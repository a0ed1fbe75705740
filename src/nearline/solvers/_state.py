"""Where a solver stands, and how a fit ends."""

from dataclasses import dataclass
from enum import Enum

from nearline._arrays.design import Array
from nearline.risk import Point


class Status(Enum):
    """How a fit ended; the value is the sentence for the user."""

    CONVERGED = "converged to the tolerance"
    MAX_ITER = "stopped at the solver's max_iter before the tolerance was reached"
    PRECISION = "no further progress is possible in this precision"
    LIMITED_PRECISION = "the tolerance was reached, but weights in float32 are too coarse to keep it"
    NOT_FINITE = "the risk is no finite number any more"
    NO_MINIMIZER = (
        "the training rows are separated, or some are and the others lie on the boundary (a direction has all margins >= "
        "0 and one > 0), so without a penalty the risk has no finite minimizer and its weights would grow without end: "
        "set alpha > 0 (with a regularizer), or use LinearSVM(hard_margin=True) if is_separable says so"
    )
    NOT_CHECKED = (
        "converged to the tolerance, but the rows are too many to check whether the risk has a finite minimizer without "
        "a penalty, or whether its weights would grow as tol falls: set alpha > 0 (with a regularizer)"
    )

    def remedy(self, precision: str, limit: str | None) -> str:
        """What to do, for rows in some precision; ``limit`` names what bounds the iterations, None if nothing can."""
        if self is Status.MAX_ITER:
            return "raise tol or alpha" if limit is None else f"raise {limit} or tol"
        if self is Status.PRECISION and precision == "float64":
            return "scale the features (sklearn.preprocessing.StandardScaler), or raise tol or alpha"
        return REMEDIES.get(self, "")


REMEDIES = {
    Status.PRECISION: "give X as float64, scale the features, or raise tol",
    Status.LIMITED_PRECISION: "center the features (subtract their means), give X as float64, or raise tol",
    Status.NOT_FINITE: "scale the features (sklearn.preprocessing.StandardScaler), or raise alpha",
}


@dataclass
class State:
    """Where a solver stands: the point, and duals if it keeps them. Solvers extend it with what they remember."""

    point: Point
    duals: Array | None = None
    stuck: bool = False  # no further progress in this precision
    estimate: float | None = None  # the solver's own guess of P - D, where it has one for free
    gap: float | None = None  # P - D at the point, where the solver has it in closed form
    fresh: bool = (
        True  # whether the point's scores were computed from its parameters, not updated along the way
    )
