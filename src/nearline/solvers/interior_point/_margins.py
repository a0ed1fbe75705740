"""Margins of hinge losses, and the slacks and multipliers of the program in which they are constraints."""

from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline.losses import Slack, one_hot, signs
from nearline.risk import Risk

BACK = 0.995  # share of the way to the boundary that a step goes


class Margins:
    """m = y f of the hinge, one problem a column, or m_c = f_y - f_c of the joint losses, one problem in all.

    Arrays are (n, K); where the classes of a row share one loss (Crammer-Singer), those of losses are (n, 1).
    """

    def __init__(self, risk: Risk) -> None:
        self.joint, self.shared = risk.loss.joint, risk.loss.own.slack is Slack.ROW
        self.own = one_hot(risk.targets, risk.n_outputs) if self.joint else np.zeros(())
        self.y = np.ones(()) if self.joint else signs(risk.targets, risk.n_outputs)
        used = np.broadcast_to((risk.weights > 0)[:, None], (risk.n_rows, risk.n_outputs))
        self.live = used & (self.own == 0)  # a row has no margin over its own class
        self.axis = None if self.joint else 0  # along which one problem lies

    def of(self, scores: Array) -> Array:
        if self.joint:
            return np.asarray((self.own * scores).sum(axis=1, keepdims=True) - scores)
        return np.asarray(self.y * scores)

    def back(self, a: Array) -> Array:
        """Derivative of the sum of a m in the scores."""
        return np.asarray(self.own * a.sum(axis=1, keepdims=True) - a if self.joint else self.y * a)

    def gathered(self, a: Array) -> Array:
        """Summed over the margins that share a loss."""
        return a.sum(axis=1, keepdims=True) if self.shared else a

    def shares(self, now: "Slacks", s: Array, clear: float) -> Array:
        """Multipliers a / s as they are on the boundary: of a and t, and of r and xi, the smaller one is 0.

        An a that is 0 beside a t of 0 is as large as t on the way: ``clear`` says how much larger others must be.
        """
        largest = np.asarray(now.a.max(axis=self.axis)).reshape(1, -1)  # what multipliers are measured by
        a = np.where(now.a < clear * largest * now.t, 0.0, now.a)
        sums = self.gathered(a)
        whole = np.where(s * now.xi > now.r, sums, np.maximum(sums, s))
        return np.divide(a, whole, out=np.zeros_like(a), where=whole > 0)

    def total(self, a: Array) -> Array:
        """Summed over each problem, (1, K) or (1, 1)."""
        return np.asarray(a.sum(axis=self.axis)).reshape(1, -1)

    def left(self, slacks: "Slacks") -> Array:
        """Sum of a t + r xi of each problem: its duality gap where the constraints hold."""
        return self.total(slacks.a * slacks.t) + self.total(slacks.r * slacks.xi)

    def longest(self, now: "Slacks", change: "Slacks") -> tuple[Array, Array]:
        """How far each problem may go along the change, primal and dual, 1 at most, until nearly some number is 0."""
        primal = np.maximum(self._hurry(now.t, change.t), self._hurry(now.xi, change.xi))
        dual = np.maximum(self._hurry(now.a, change.a), self._hurry(now.r, change.r))
        return 1.0 / np.maximum(1.0, primal / BACK), 1.0 / np.maximum(1.0, dual / BACK)

    def _hurry(self, value: Array, change: Array) -> Array:
        ratio = np.divide(-change, value, out=np.zeros_like(value), where=value > 0)
        return np.asarray(ratio.max(axis=self.axis)).reshape(1, -1)

    def curvature(self, theta: Array, shrink: Array, c: int, d: int) -> Array:
        """(n,): how the scores of classes c and d are coupled by diag(theta) - shrink theta theta^T of the margins."""
        v = self.back(theta)
        if not self.joint:
            return np.asarray(theta[:, c])
        coupled = theta[:, c] + self.own[:, c] * v[:, c] if c == d else -self._beside(theta, c, d)
        return np.asarray(coupled - (shrink[:, 0] * v[:, c] * v[:, d] if self.shared else 0.0))

    def _beside(self, theta: Array, c: int, d: int) -> Array:
        return np.asarray(self.own[:, c] * theta[:, d] + self.own[:, d] * theta[:, c])


@dataclass
class Slacks:
    """t >= 0, what margins have beyond 1 - xi, with multipliers a; losses xi >= 0 with multipliers r = s - sum a."""

    t: Array
    a: Array
    xi: Array
    r: Array

    def moved(self, change: "Slacks", primal: Array, dual: Array) -> "Slacks":
        t, xi = self.t + primal * change.t, self.xi + primal * change.xi
        return Slacks(t, self.a + dual * change.a, xi, self.r + dual * change.r)
