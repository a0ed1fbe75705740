"""What loops and solvers made for one loss can do for it: declared by the very class that they were made for."""

from dataclasses import dataclass
from enum import Enum, auto


class Slack(Enum):
    """Which margins share a loss xi >= 1 - m, xi >= 0, where a loss is the least sum of such xi."""

    COLUMN = auto()  # m = y f, one xi for each column of scores
    PAIR = auto()  # m_c = f_y - f_c, one xi for each class c but the row's own
    ROW = auto()  # the same margins, one xi for all of a row


@dataclass(frozen=True)
class Special:
    """What is known of one loss beyond its formulas. Nothing of it is inherited: a subclass may compute something else."""

    core: str | None = None  # name of the same loss in the compiled core
    dual_step: bool = False  # the core maximizes the dual of a row exactly
    distributions: bool = False  # the core's SGD takes label distributions as targets
    slack: Slack | None = None  # the loss is a program with constraints m >= 1 - xi
    least_squares: bool = False  # half the squared distance of the scores to :meth:`Squared.codes`
    endless: bool = False  # the least value is reached by margins without end, and by no others
    # Largest second derivative along the scores: the inverse is the largest step that is safe for rows of norm 1. Losses
    # with kinks have none; theirs are the values with which tiny problems were solved soonest.
    steepness: float = 1.0


NOTHING = Special()
