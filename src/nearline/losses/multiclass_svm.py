"""Multi-class hinge losses, the multi-class perceptron, and the same with their kinks rounded off."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Real, kept
from nearline.losses._base import Loss, one_hot
from nearline.losses._formulas import sparsemax, within
from nearline.losses._special import Slack, Special
from nearline.losses.multiclass import ROUNDING, SimplexLoss, in_simplex

HUB = 1e4  # share of the own class beside those of the others, in the curvature of pairs


@dataclass(frozen=True)
class CrammerSinger(SimplexLoss):
    """B10: max(0, max over c != y of 1 + f_c - f_y)."""

    name: ClassVar[str] = "crammer-singer"
    smooth: ClassVar[bool] = False
    special: ClassVar[Special] = Special(
        core="crammer-singer", dual_step=True, slack=Slack.ROW, steepness=0.5
    )

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        q = one_hot(targets, scores.shape[1])
        augmented = scores + 1.0 - q
        own = (scores * q).sum(axis=1)
        worst = augmented.argmax(axis=1)
        # On a tie with the own class (margin exactly 1) the sub-gradient 0 is taken.
        violated = augmented.max(axis=1) > own
        worst = np.where(violated, worst, targets)
        return np.maximum(augmented.max(axis=1) - own, 0.0), one_hot(worst, scores.shape[1]) - q

    def conjugate(self, duals: Array, targets: Array) -> Array:
        q = one_hot(targets, duals.shape[1])
        return np.where(in_simplex(duals + q), (duals * q).sum(axis=1), np.inf)

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array:
        """One class ahead of all others by 1 if it has more than half of the weight, else no class ahead.

        With the largest b ahead of the next by g, other classes lose at least 1 + g each (exactly that where they are
        level), the first max(0, 1 - g): linear in g between 0 and 1, and growing beyond.
        """
        first = int(np.argmax(class_weights))
        b = np.zeros(n_outputs)
        b[first] = float(2.0 * class_weights[first] > class_weights.sum())
        return b

    def smoothed(self, stretch: float) -> "SmoothedCrammerSinger":
        return SmoothedCrammerSinger(stretch)


@kept(stretch=Real(above=0.0))
@dataclass(frozen=True)
class SmoothedCrammerSinger(SimplexLoss):
    """max over p in the simplex of p.(f + 1 - e_y) - (stretch/2)(|p|^2 - 1), less f_y: its p are Crammer-Singer's too."""

    name: ClassVar[str] = "smoothed-crammer-singer"
    stretch: float = 1.0

    def _probabilities(self, scores: Array, targets: Array) -> tuple[Array, Array, Array]:
        """p, the code e_y, and (f + 1 - e_y) less f_y."""
        q = one_hot(targets, scores.shape[1])
        ahead = scores + 1.0 - q - (scores * q).sum(axis=1, keepdims=True)
        return sparsemax(ahead / self.stretch), q, ahead

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        p, q, ahead = self._probabilities(scores, targets)
        value = (p * ahead).sum(axis=1) - 0.5 * self.stretch * ((p * p).sum(axis=1) - 1.0)
        return np.maximum(value, 0.0), p - q

    def shares(self, scores: Array, targets: Array) -> Array:
        return np.asarray(self._probabilities(scores, targets)[0] > 0) / self.stretch

    def curvature(self, scores: Array, targets: Array) -> Array:
        return laplacian(self.shares(scores, targets))

    def conjugate(self, duals: Array, targets: Array) -> Array:
        q = one_hot(targets, duals.shape[1])
        p = duals + q
        values = (duals * q).sum(axis=1) + 0.5 * self.stretch * ((p * p).sum(axis=1) - 1.0)
        return np.where(in_simplex(p), values, np.inf)


@dataclass(frozen=True)
class PairLoss(Loss):
    """Losses that add phi(f_y - f_c) over c != y: duals u_c in [0, 1] for c != y and u_y = -sum of them."""

    joint: ClassVar[bool] = True
    smooth: ClassVar[bool] = False

    @property
    @abstractmethod
    def margin(self) -> float:
        """By how much the own score is to exceed each other one."""

    def _slack(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        """The code e_y, and margin + f_c - f_y for c != y (0 for y)."""
        q = one_hot(targets, scores.shape[1])
        return q, np.where(q > 0, 0.0, self.margin + scores - (scores * q).sum(axis=1, keepdims=True))

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        q, slack = self._slack(scores, targets)
        violated = (slack > 0).astype(float)
        return np.maximum(slack, 0.0).sum(axis=1), violated - q * violated.sum(axis=1, keepdims=True)

    def conjugate(self, duals: Array, targets: Array) -> Array:
        q = one_hot(targets, duals.shape[1])
        others = np.where(q > 0, 0.0, duals)
        values = within(others, 0.0, 1.0, -self.margin * others).sum(axis=1)
        return np.where(np.abs(duals.sum(axis=1)) <= ROUNDING * duals.shape[1], values, np.inf)

    def masses(self, duals: Array, targets: Array, weights: Array) -> Array:
        """(K, K), the flow: mass that rows of class a give to class b."""
        q = one_hot(targets, duals.shape[1])
        return np.asarray(q.T @ (weights[:, None] * np.where(q > 0, 0.0, duals)))

    def balanced_by(self, duals: Array, targets: Array, masses: Array) -> Array | None:
        """Make the flow of mass from class to class a circulation, by scaling flows down only."""
        q = one_hot(targets, duals.shape[1])
        others = np.where(q > 0, 0.0, duals)
        scale = circulation(masses)
        kept = others * scale[targets]
        return np.asarray(kept - q * kept.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class MulticlassPerceptron(PairLoss):
    """B8: sum over c != y of max(0, f_c - f_y)."""

    name: ClassVar[str] = "multiclass-perceptron"
    margin: ClassVar[float] = 0.0
    refusal: ClassVar[str | None] = (
        "W = 0 minimizes the multi-class perceptron loss, whatever the data: "
        "use the perceptron rule (nearline.Perceptron), which only needs mistakes to end"
    )


@dataclass(frozen=True)
class WestonWatkins(PairLoss):
    """B9: sum over c != y of max(0, 1 - f_y + f_c)."""

    name: ClassVar[str] = "weston-watkins"
    margin: ClassVar[float] = 1.0
    special: ClassVar[Special] = Special(
        core="weston-watkins", dual_step=True, slack=Slack.PAIR, steepness=0.5
    )

    def null_bias(self, class_weights: Array, n_outputs: int) -> Array:
        """Classes by falling weight, cut into levels one apart: the best cuts by dynamic programming.

        The problem is the dual of a network flow with integer costs, so some solution is integer; heavier classes stand
        no lower, as their total loss falls with their level. Compared with all classes level, a cut after the first j
        classes costs j for each unit of weight below it, and each class saves its weight once for each class on a
        lower level.
        """
        order = np.argsort(-class_weights, kind="stable")
        K, before = len(order), np.concatenate([[0.0], np.cumsum(class_weights[order])])
        least, cut = np.zeros(K + 1), np.zeros(K + 1, dtype=int)
        for j in range(1, K + 1):
            cost = least[:j] - (before[j] - before[:j]) * (K - j) + j * (before[K] - before[j])
            cut[j] = int(np.argmin(cost))
            least[j] = cost[cut[j]]
        b, end = np.zeros(K), K
        while end > 0:
            b[order[: cut[end]]] += 1.0  # all above this level
            end = cut[end]
        return b - b.mean()

    def smoothed(self, stretch: float) -> "SmoothedWestonWatkins":
        return SmoothedWestonWatkins(stretch)


@kept(stretch=Real(above=0.0))
@dataclass(frozen=True)
class SmoothedWestonWatkins(PairLoss):
    """sum over c != y of max over a in [0, 1] of a (1 + f_c - f_y) - (stretch/2) a^2: its a are Weston-Watkins's too."""

    name: ClassVar[str] = "smoothed-weston-watkins"
    smooth: ClassVar[bool] = True
    margin: ClassVar[float] = 1.0
    stretch: float = 1.0

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        q, slack = self._slack(scores, targets)
        a = np.clip(slack / self.stretch, 0.0, 1.0)
        return (a * slack - 0.5 * self.stretch * a * a).sum(axis=1), a - q * a.sum(axis=1, keepdims=True)

    def shares(self, scores: Array, targets: Array) -> Array:
        """The curvature of pairs (c, y) alone is the limit of shares of y beside which those of c are nothing."""
        q, slack = self._slack(scores, targets)
        bends = ((slack > 0) & (slack < self.stretch)) / self.stretch
        return np.asarray(bends + q * (HUB * bends.sum(axis=1, keepdims=True)))

    def curvature(self, scores: Array, targets: Array) -> Array:
        return laplacian(self.shares(scores, targets))

    def conjugate(self, duals: Array, targets: Array) -> Array:
        q = one_hot(targets, duals.shape[1])
        others = np.where(q > 0, 0.0, duals)
        bent = 0.5 * self.stretch * (others * others).sum(axis=1)
        return np.asarray(super().conjugate(duals, targets) + bent)


def laplacian(q: Array) -> Array:
    """diag(q) - q q^T / sum(q) of each row, (n, K, K)."""
    total = np.where(q.any(axis=1), q.sum(axis=1), 1.0)
    outer = q[:, :, None] * (q / total[:, None])[:, None, :]
    return np.einsum("ij,jk->ijk", q, np.eye(q.shape[1])) - outer


def circulation(flow: Array, *, sweeps: int = 1000) -> Array:
    """Factors t <= 1 such that t * flow has equal row and column sums (Osborne's balancing, then scaled)."""
    flow = flow.copy()
    np.fill_diagonal(flow, 0.0)
    # Mass from or to a class that only gives or only gets can be in no circulation: drop it first.
    while True:
        dead = (flow.sum(axis=1) > 0) != (flow.sum(axis=0) > 0)
        if not dead.any():
            break
        flow[dead] = 0.0
        flow[:, dead] = 0.0
    d = np.ones(len(flow))
    for _ in range(sweeps):
        for c in np.flatnonzero(flow.sum(axis=1) > 0):
            out, into = d[c] * (flow[c] / d).sum(), (d * flow[:, c]).sum() / d[c]
            d[c] *= np.sqrt(into / out)
        scaled = d[:, None] * flow / d
        if np.abs(scaled.sum(axis=1) - scaled.sum(axis=0)).max() <= 1e-15 * max(flow.sum(), 1e-300):
            break
    factor = np.where(flow > 0, d[:, None] / d, 0.0)
    return np.asarray(factor / max(factor.max(), 1e-300)) if factor.any() else factor
