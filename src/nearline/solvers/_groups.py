"""Score columns that share no loss are separate problems, solved side by side: each has its own inner products.

One-vs-rest losses add up over the columns, so the Hessian has a block for each and nothing between them. A method that
takes its inner products column by column runs one copy of itself for each problem, at the price of one.
"""

from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Risk
from nearline.risk.params import Params


@dataclass(frozen=True)
class Groups:
    """How a flat vector of parameters falls into groups: one for each column of separate losses, else one in all."""

    n_outputs: int
    n_features: int
    joint: bool

    @classmethod
    def of(cls, risk: Risk) -> "Groups":
        return cls(risk.n_outputs, risk.n_features, risk.loss.joint or risk.n_outputs == 1)

    def split(self, flat: Array) -> Array:
        """(groups, parameters of a group)."""
        if self.joint:
            return flat[None, :]
        params = Params(flat, self.n_outputs, self.n_features)
        return np.hstack([params.W, params.b[:, None]])

    def join(self, grouped: Array) -> Array:
        """The flat vector again."""
        if self.joint:
            return np.asarray(grouped[0])
        return np.concatenate([grouped[:, :-1].ravel(), grouped[:, -1]])


def dots(u: Array, v: Array) -> Array:
    """Inner product of each group, as a column (groups, 1)."""
    return np.einsum("gp,gp->g", u, v)[:, None]


def ratio(numerator: Array, denominator: Array) -> Array:
    """numerator / denominator, 0 where the denominator is not positive: such a group stays where it is."""
    safe = np.where(denominator > 0, denominator, 1.0)
    return np.where(denominator > 0, numerator / safe, 0.0)
