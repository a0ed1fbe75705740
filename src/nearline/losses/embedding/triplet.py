"""Triplet: a row is to be nearer to one of its class than to one of another, by a margin."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Flag, OneOf, Real, kept
from nearline._records.refused import ParameterError
from nearline.losses.embedding._base import PairLoss, check_positive
from nearline.losses.embedding._geometry import (
    from_distances,
    from_squared,
    pairs,
    squared_distances,
    through_unit_rows,
    unit_rows,
)

MINING = ("all", "hard", "semi-hard")


@kept(margin=Real(above=0.0), mining=OneOf(MINING), normalize=Flag(), squared=Flag())
@dataclass(frozen=True)
class Triplet(PairLoss):
    """Mean over triplets (a, p, n), p of a's class and n not, of max(0, m + d(a, p) - d(a, n)).

    Which triplets, ``mining`` says: "all" of them; "hard": for each anchor a the farthest p and the nearest n; "semi-hard":
    those with d(a, p) < d(a, n) < d(a, p) + m, whose order is right but whose margin is not. The mean is over these, also
    over triplets whose term is 0. It is continuous in Z for "all" and "hard".

    pytorch-metric-learning's ``TripletMarginLoss`` takes the mean over triplets with a positive term unless it is given
    ``reducer=MeanReducer()``. All triplets cost O(n^2 log n) time and memory for pairs only: the negatives of an anchor are
    sorted, and cumulated sums count those that are too near.

    Parameters
    ----------
    margin : m > 0.
    mining : "all", "hard" or "semi-hard".
    normalize : whether rows are brought to length 1 first.
    squared : whether d is the squared distance, as in FaceNet.

    Examples
    --------
    >>> from nearline.losses.embedding import Triplet
    >>> loss = Triplet(1.0, "all", normalize=False)
    >>> loss.value([[0.0], [1.0], [1.5]], [0, 0, 1])  # (0, 1, 2): 1 + 1 - 1.5; (1, 0, 2): 1 + 1 - 0.5
    1.0
    """

    name: ClassVar[str] = "triplet"
    smooth: ClassVar[bool] = False
    margin: float = 0.2
    mining: str = "semi-hard"
    normalize: bool = True
    squared: bool = False

    def __post_init__(self) -> None:
        check_positive(margin=self.margin)
        if self.mining not in MINING:
            raise ParameterError("mining", self.mining, f"one of {', '.join(map(repr, MINING))}")

    @property
    def on_sphere(self) -> bool:
        return self.normalize

    def at(self, Z: Array, targets: Array, proxies: Array) -> tuple[float, Array, Array]:
        U, lengths = unit_rows(Z) if self.normalize else (Z, None)
        squares = squared_distances(U)
        D = squares if self.squared else np.sqrt(squares)
        value, G = self.of_distances(D, targets)
        gradient = from_squared(G, U) if self.squared else from_distances(G, D, U)
        if lengths is not None:
            gradient = through_unit_rows(gradient, U, lengths)
        return value, gradient, proxies

    def of_distances(self, D: Array, targets: Array) -> tuple[float, Array]:
        """Value and gradient as a function of all distances (n, n)."""
        same, different = pairs(targets)
        if self.mining == "hard":
            return self._hard(D, same, different)
        (a, p), (b, n) = np.nonzero(same), np.nonzero(different)
        count = self._triplets(same, different)
        G = np.zeros_like(D)
        if not count:
            return 0.0, G
        # anchors are kept apart by a gap, so that one search serves all of them
        gap = 2.0 * (float(D.max()) + self.margin) + 1.0
        near, far = D[a, p] + gap * a, D[b, n] + gap * b
        reach, near_sorted, far_sorted = near + self.margin, np.sort(near), np.sort(far)
        low = gap * a if self.mining == "all" else near
        side: Any = "left" if self.mining == "all" else "right"
        # each positive meets the negatives number first .. last-1 in order of distance, and each negative such positives
        first, last = np.searchsorted(far_sorted, low, side=side), np.searchsorted(far_sorted, reach)
        met = np.searchsorted(near_sorted, gap * (b + 0.5)) - np.searchsorted(
            np.sort(reach), far, side="right"
        )
        if self.mining == "semi-hard":
            met -= np.searchsorted(near_sorted, gap * (b + 0.5)) - np.searchsorted(near_sorted, far)
        active = last - first
        if self.mining == "semi-hard":
            count = int(active.sum())
        G[a, p], G[b, n] = active, -met
        total = self.margin * float(active.sum()) + float((G * D).sum(dtype=np.float64))
        return (total / count, G / count) if count else (0.0, G)

    def _triplets(self, same: Array, different: Array) -> int:
        return int((same.sum(axis=1) * different.sum(axis=1)).sum())

    def _hard(self, D: Array, same: Array, different: Array) -> tuple[float, Array]:
        G = np.zeros_like(D)
        anchors = np.flatnonzero(same.any(axis=1) & different.any(axis=1))
        if not len(anchors):
            return 0.0, G
        p = np.where(same, D, -np.inf).argmax(axis=1)[anchors]
        n = np.where(different, D, np.inf).argmin(axis=1)[anchors]
        terms = np.maximum(0.0, self.margin + D[anchors, p] - D[anchors, n])
        share = (terms > 0) / len(anchors)
        G[anchors, p], G[anchors, n] = share, -share
        return float(terms.mean(dtype=np.float64)), G
