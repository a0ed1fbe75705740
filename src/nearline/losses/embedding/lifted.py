"""Lifted structured loss: every positive pair against all negative pairs of its two rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Flag, Real, kept
from nearline.losses.embedding._base import PairLoss, check_finite
from nearline.losses.embedding._geometry import (
    from_distances,
    pairs,
    squared_distances,
    through_unit_rows,
    unit_rows,
)


@kept(margin=Real(), normalize=Flag())
@dataclass(frozen=True)
class LiftedStructured(PairLoss):
    """1 / (2 |P|) sum over pairs (i, j) of one class of max(0, J_ij)^2, with d = |z - z'| and

        J_ij = d_ij + log(sum over negatives k of i of exp(m - d_ik) + sum over negatives l of j of exp(m - d_jl))

    the smooth form of the hardest negative of either row. A pair without negatives has the term 0. It is
    ``LiftedStructureLoss`` of pytorch-metric-learning, which normalizes rows.

    Parameters
    ----------
    margin : m.
    normalize : whether rows are brought to length 1 first.

    Examples
    --------
    >>> from nearline.losses.embedding import LiftedStructured
    >>> round(LiftedStructured(1.0).value([[0.0], [1.0], [9.0]], [0, 0, 1]), 6)  # far from the other class
    0.0
    """

    name: ClassVar[str] = "lifted-structured"
    margin: float = 1.0
    normalize: bool = False

    def __post_init__(self) -> None:
        check_finite(margin=self.margin)

    @property
    def on_sphere(self) -> bool:
        return self.normalize

    def at(self, Z: Array, targets: Array, proxies: Array) -> tuple[float, Array, Array]:
        U, lengths = unit_rows(Z) if self.normalize else (Z, None)
        D = np.sqrt(squared_distances(U))
        value, G = self.of_distances(D, targets)
        gradient = from_distances(G, D, U)
        if lengths is not None:
            gradient = through_unit_rows(gradient, U, lengths)
        return value, gradient, proxies

    def of_distances(self, D: Array, targets: Array) -> tuple[float, Array]:
        """Value and gradient as a function of all distances (n, n)."""
        same, different = pairs(targets)
        count = np.count_nonzero(same)  # every pair twice
        if not count or not different.any():
            return 0.0, np.zeros_like(D)
        pull = np.where(different, self.margin - D, -np.inf)
        top = pull.max(axis=1, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0.0).astype(D.dtype)
        E = np.exp(pull - top[:, None])
        sums = E.sum(axis=1)
        with np.errstate(divide="ignore"):
            r = top + np.log(sums)  # log sum of exp(m - d_ik)
        both = np.logaddexp(r[:, None], r)
        J = np.where(same, np.maximum(0.0, D + both), 0.0).astype(D.dtype)
        value = 0.5 * float(np.square(J, dtype=np.float64).sum()) / int(count)
        G = J / count
        with np.errstate(invalid="ignore"):
            share = np.where(J > 0, np.exp(r[:, None] - both), 0.0)
        weight = 2.0 * (G * share).sum(axis=1)  # of r_i, from (i, j) and (j, i)
        G = G - (weight / np.where(sums > 0, sums, 1.0))[:, None] * E
        return value, np.asarray(G, dtype=D.dtype)
