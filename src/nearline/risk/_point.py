"""The risk at some parameters, and along a ray from there."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline.risk.params import Params

if TYPE_CHECKING:
    from nearline.risk._objective import Objective


@dataclass(frozen=True)
class Point:
    """The risk at some parameters. ``gradient`` is that of the smooth part (all but alpha l1 |W|_1)."""

    params: Params
    scores: Array  # (n, K)
    data_loss: float
    penalty: float
    gradient: Params

    @property
    def value(self) -> float:
        return self.data_loss + self.penalty


class ScoredPoint(Point):
    """A point whose gradient, which costs a product with X^T, waits until someone asks for it."""

    def __init__(self, risk: "Objective", params: Params, scores: Array) -> None:
        penalty = risk.penalty(params, scores)
        data_loss = risk.passes.total_loss(scores) / risk.total_weight
        self.__dict__.update(params=params, scores=scores, data_loss=data_loss, penalty=penalty, risk=risk)

    @once
    def gradient(self) -> Params:
        risk: Objective = self.__dict__["risk"]
        return risk.at_scores(self.params, self.scores).gradient


@dataclass(frozen=True)
class Line:
    """t -> risk(params + t direction), from cached scores."""

    risk: "Objective"
    point: Point
    direction: Params
    direction_scores: Array

    def params(self, t: float) -> Params:
        return self.point.params.like(self.point.params.flat + t * self.direction.flat)

    def scores(self, t: float) -> Array:
        return self.risk.passes.moved(self.point.scores, t, self.direction_scores)

    def value(self, t: float) -> float:
        return self.risk.value_at_scores(self.params(t), self.scores(t))

    def slope(self) -> float:
        """Derivative of the smooth part at t = 0."""
        return float(self.point.gradient.flat @ self.direction.flat)

    def value_and_slope(self, t: float) -> tuple[float, float]:
        """Risk and its derivative (of the smooth part) at t."""
        total, slope = self.risk.passes.value_and_slope(self.point.scores, self.direction_scores, t)
        penalty, pull = self.risk.penalty_along(self, t)
        return total / self.risk.total_weight + penalty, slope / self.risk.total_weight + pull

    def scored(self, t: float) -> Point:
        """The point at t, its gradient when it is asked for."""
        return ScoredPoint(self.risk, self.params(t), self.scores(t))

    def at(self, t: float) -> Point:
        """The point at t, with its gradient: one product with X^T."""
        return self.risk.at_scores(self.params(t), self.scores(t))
