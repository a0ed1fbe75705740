"""Circle loss: similarities that are farther from where they should be weigh more."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Flag, Real, kept
from nearline.losses.embedding._base import PairLoss, check_finite, check_positive
from nearline.losses.embedding._geometry import from_cosines, pairs, through_unit_rows, unit_rows


@kept(gamma=Real(above=0.0), margin=Real(), constant_weights=Flag())
@dataclass(frozen=True)
class Circle(PairLoss):
    """Mean over anchors i of log(1 + sum_n exp(g a_n (s_n - m)) * sum_p exp(-g a_p (s_p - (1 - m)))), s the cosines with

        negatives n and positives p, a_n = max(0, s_n + m), a_p = max(0, 1 + m - s_p)

    Where the weights a are positive, the exponents are g (s_n^2 - m^2) and g ((1 - s_p)^2 - m^2): the boundary between
    good and bad pairs (s_n, s_p) is a circle around (0, 1). Anchors without a positive or a negative do not count. It is
    ``CircleLoss`` of pytorch-metric-learning, whose gradient takes the weights a as constants, as the paper does.

    Parameters
    ----------
    gamma : g > 0.
    margin : m, the relaxation.
    constant_weights : whether the gradient takes the weights a as constants. Then it is not the derivative of the value,
        but it never pulls a negative pair together.

    Examples
    --------
    >>> from nearline.losses.embedding import Circle
    >>> good, bad = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> Circle(10.0).value(good, [0, 0, 1]) < 0.1 < Circle(10.0).value(bad, [0, 0, 1])
    True
    """

    name: ClassVar[str] = "circle"
    gamma: float = 80.0
    margin: float = 0.4
    constant_weights: bool = False

    def __post_init__(self) -> None:
        check_positive(gamma=self.gamma)
        check_finite(margin=self.margin)

    @property
    def on_sphere(self) -> bool:
        return True

    def at(self, Z: Array, targets: Array, proxies: Array) -> tuple[float, Array, Array]:
        U, lengths = unit_rows(Z)
        value, G = self.of_cosines(U @ U.T, targets)
        return value, through_unit_rows(from_cosines(G, U), U, lengths), proxies

    def of_cosines(self, S: Array, targets: Array) -> tuple[float, Array]:
        """Value and gradient as a function of all cosines (n, n)."""
        same, different = pairs(targets)
        anchors = same.any(axis=1) & different.any(axis=1)
        if not anchors.any():
            return 0.0, np.zeros_like(S)
        m = self.margin
        up, down = np.maximum(0.0, S + m), np.maximum(0.0, 1.0 + m - S)
        negative, of_negative = _log_sums(np.where(different, self.gamma * up * (S - m), -np.inf))
        positive, of_positive = _log_sums(np.where(same, -self.gamma * down * (S - 1.0 + m), -np.inf))
        x = np.where(anchors, negative + positive, -np.inf)
        value = float(np.logaddexp(0.0, x).sum(dtype=np.float64)) / int(np.count_nonzero(anchors))
        with np.errstate(over="ignore"):
            share = self.gamma / ((1.0 + np.exp(-x)) * np.count_nonzero(anchors))
        if not self.constant_weights:
            up, down = up + (up > 0) * (S - m), down - (down > 0) * (S - 1.0 + m)
        G = share[:, None] * (of_negative * up - of_positive * down)
        return value, np.asarray(G, dtype=S.dtype)


def _log_sums(X: Array) -> tuple[Array, Array]:
    """log sum_j exp(x_ij), and its gradient, the softmax; -inf and zeros for rows of -inf."""
    top = X.max(axis=1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    E = np.exp(X - top)
    sums = E.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = (top + np.log(sums))[:, 0]
    return logs, E / np.where(sums > 0, sums, 1.0)
