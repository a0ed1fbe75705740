"""Step sizes of full-batch gradient descent and of the perceptron rule: fixed ones, and ones that go down."""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._records.kept import AnyOf, Instance, Real, kept
from nearline._records.refused import ParameterError


@kept(first=Real(above=0.0), decay=Real(least=0.0))
@dataclass(frozen=True)
class DecayingStep:
    """eta_t = first / (1 + decay t), t the number of iterations (of the perceptron rule: cycles) before.

    Its sum has no bound and that of its squares has one: it comes to any minimizer, however far, and settles there.

    Examples
    --------
    >>> from nearline import DecayingStep
    >>> step_size = DecayingStep(1.0, decay=0.5)
    >>> [round(step_size.at(t), 3) for t in range(4)]
    [1.0, 0.667, 0.5, 0.4]
    """

    first: float = 1.0
    decay: float = 0.1

    def __post_init__(self) -> None:
        given: tuple[tuple[str, Any, bool], ...] = (("first", self.first, True), ("decay", self.decay, False))
        for name, value, positive in given:
            known = isinstance(value, numbers.Real) and np.isfinite(float(value))
            if not known or value < 0 or (positive and value == 0):
                least = "> 0" if positive else ">= 0"
                raise ValueError(f"{name} of a DecayingStep must be a finite number {least}, got {value!r}.")

    def at(self, t: int) -> float:
        """The step of iteration t, which is counted from 0."""
        return self.first / (1.0 + self.decay * t)


KEPT_STEP = AnyOf((Real(above=0.0), Instance(DecayingStep)))


def as_step_size(value: Any) -> DecayingStep:
    """A number, which stays, or a step that decays."""
    if isinstance(value, DecayingStep):
        return value
    if isinstance(value, bool) or not (isinstance(value, numbers.Real) and 0 < float(value) < np.inf):
        raise ParameterError(
            "step_size", value, "a finite number > 0, or DecayingStep(first, decay) for one that goes down"
        )
    return DecayingStep(float(value), 0.0)
