"""Losses of a score vector f = (f_1, ..., f_K) and a class y (SPEC B8-B12)."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline.arrays import Array
from nearline.losses._base import Loss, one_hot
from nearline.losses.margin import _within, _xlogx

ROUNDING = 1e-9  # what a sum of a row's duals may be off by, per class


@dataclass(frozen=True)
class SimplexLoss(Loss):
    """Losses of the form max over p in the simplex of p.f - Omega(p, y), less the target's score: u = p - q."""

    joint: ClassVar[bool] = True

    def balance(self, duals: Array, targets: Array, weights: Array) -> Array:
        """Move surplus mass between the classes, row by row, so that sum_i s_i p_i = sum_i s_i q_i.

        Classes that got too much are scaled down in every row; what a row loses goes to the classes that got too
        little, in proportion to what they lack. Rows stay in the simplex.
        """
        q = one_hot(targets, duals.shape[1])
        p = duals + q
        got, due = weights @ p, weights @ q
        surplus, lack = np.maximum(got - due, 0.0), np.maximum(due - got, 0.0)
        if not lack.sum() > 0:
            return duals
        keep = np.where(surplus > 0, due / np.where(got > 0, got, 1.0), 1.0)
        freed = (p * (1.0 - keep)).sum(axis=1, keepdims=True)
        return np.asarray(p * keep + freed * (lack / lack.sum()) - q)


@dataclass(frozen=True)
class Softmax(SimplexLoss):
    """B11, cross-entropy: -f_y + log sum_c exp f_c, gradient P - e_y."""

    name: ClassVar[str] = "softmax"
    core: ClassVar[str | None] = "softmax"

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        q = one_hot(targets, scores.shape[1])
        shifted = scores - scores.max(axis=1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=1, keepdims=True)
        return np.log(total[:, 0]) - (shifted * q).sum(axis=1), e / total - q

    def curvature(self, scores: Array, targets: Array) -> Array:
        p = softmax(scores)
        return np.einsum("ij,jk->ijk", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None, :]

    def curvature_product(self, scores: Array, targets: Array, direction: Array) -> Array:
        p = softmax(scores)
        return np.asarray(p * (direction - (p * direction).sum(axis=1, keepdims=True)))

    def conjugate(self, duals: Array, targets: Array) -> Array:
        p = duals + one_hot(targets, duals.shape[1])
        return np.where(in_simplex(p), _xlogx(np.maximum(p, 0.0)).sum(axis=1), np.inf)

    def probabilities(self, scores: Array) -> Array:
        return softmax(scores)

    def log_probabilities(self, scores: Array) -> Array:
        return log_softmax(scores)


@dataclass(frozen=True)
class Sparsemax(SimplexLoss):
    """B12: max_p p.f - |p|^2/2, less q.f - |q|^2/2; gradient sparsemax(f) - q. Targets may be label sets."""

    name: ClassVar[str] = "sparsemax"
    core: ClassVar[str | None] = "sparsemax"

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        q = one_hot(targets, scores.shape[1])
        p = sparsemax(scores)
        # (p - q).f is taken relative to f's maximum, which changes nothing as both sum to one.
        shifted = scores - scores.max(axis=1, keepdims=True)
        value = ((p - q) * shifted).sum(axis=1) - 0.5 * (p * p).sum(axis=1) + 0.5 * (q * q).sum(axis=1)
        return np.maximum(value, 0.0), p - q

    def curvature(self, scores: Array, targets: Array) -> Array:
        support = (sparsemax(scores) > 0).astype(float)
        size = support.sum(axis=1)[:, None, None]
        outer = support[:, :, None] * support[:, None, :]
        return np.einsum("ij,jk->ijk", support, np.eye(scores.shape[1])) - outer / size

    def curvature_product(self, scores: Array, targets: Array, direction: Array) -> Array:
        support = sparsemax(scores) > 0
        inside = np.where(support, direction, 0.0)
        mean = inside.sum(axis=1, keepdims=True) / support.sum(axis=1, keepdims=True)
        return np.where(support, direction - mean, 0.0)

    def conjugate(self, duals: Array, targets: Array) -> Array:
        q = one_hot(targets, duals.shape[1])
        p = duals + q
        return np.where(in_simplex(p), 0.5 * (p * p).sum(axis=1) - 0.5 * (q * q).sum(axis=1), np.inf)

    def probabilities(self, scores: Array) -> Array:
        return sparsemax(scores)


@dataclass(frozen=True)
class CrammerSinger(SimplexLoss):
    """B10: max(0, max over c != y of 1 + f_c - f_y)."""

    name: ClassVar[str] = "crammer-singer"
    smooth: ClassVar[bool] = False
    core: ClassVar[str | None] = "crammer-singer"

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


@dataclass(frozen=True)
class PairLoss(Loss):
    """Losses that add phi(f_y - f_c) over c != y: duals u_c in [0, 1] for c != y and u_y = -sum of them."""

    joint: ClassVar[bool] = True
    smooth: ClassVar[bool] = False

    @property
    @abstractmethod
    def margin(self) -> float:
        """By how much the own score is to exceed each other one."""

    def value_and_gradient(self, scores: Array, targets: Array) -> tuple[Array, Array]:
        q = one_hot(targets, scores.shape[1])
        slack = np.where(q > 0, 0.0, self.margin + scores - (scores * q).sum(axis=1, keepdims=True))
        violated = (slack > 0).astype(float)
        return np.maximum(slack, 0.0).sum(axis=1), violated - q * violated.sum(axis=1, keepdims=True)

    def conjugate(self, duals: Array, targets: Array) -> Array:
        q = one_hot(targets, duals.shape[1])
        others = np.where(q > 0, 0.0, duals)
        values = _within(others, 0.0, 1.0, -self.margin * others).sum(axis=1)
        return np.where(np.abs(duals.sum(axis=1)) <= ROUNDING * duals.shape[1], values, np.inf)

    def balance(self, duals: Array, targets: Array, weights: Array) -> Array | None:
        """Make the flow of mass from class to class a circulation, by scaling flows down only."""
        n_classes = duals.shape[1]
        q = one_hot(targets, n_classes)
        others = np.where(q > 0, 0.0, duals)
        flow = q.T @ (weights[:, None] * others)  # flow[a, b]: mass that rows of class a give to class b
        scale = circulation(flow)
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
    core: ClassVar[str | None] = "weston-watkins"

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


def in_simplex(p: Array) -> Array:
    """Which rows are probability vectors (sums up to rounding)."""
    return np.asarray((p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= ROUNDING * p.shape[1]))


def log_softmax(scores: Array) -> Array:
    """The logarithm of the softmax map, finite where probabilities round to 0."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def softmax(scores: Array) -> Array:
    """exp(f_c) / sum_d exp(f_d), with the maximum subtracted."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def sparsemax(scores: Array) -> Array:
    """Euclidean projection of each row onto the probability simplex."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    ordered = -np.sort(-shifted, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    ranks = np.arange(1, scores.shape[1] + 1)
    size = (ordered * ranks > excess).sum(axis=1)
    threshold = excess[np.arange(len(scores)), size - 1] / size
    return np.maximum(shifted - threshold[:, None], 0.0)


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
