"""Where SGD stands between batches: iterates, their running mean, and duals from the gradients taken."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Instance, OneOf, OrNone, Real, Whole, kept, require
from nearline.risk.params import Params


def _of_one_shape(progress: "DescentProgress") -> None:
    shapes = {(one.n_outputs, one.n_features) for one in (progress.params, progress.total)}
    require(len(shapes) == 1, "The last weights of a descent and their sum are not of one shape")


@kept(
    params=Instance(Params),
    total=Instance(Params),
    total_share=Real(least=0.0),
    t=Whole(),
    since=Whole(),
    eta=OrNone(Real(above=0.0)),
    owed=OneOf((None,)),
    back_product=OneOf((None,)),
    links=_of_one_shape,
)
@dataclass
class DescentProgress:
    """Where SGD stands between batches: last iterate, steps taken, running mean of the iterates."""

    params: Params
    total: Params  # sum over steps of share * iterate
    total_share: float = 0.0
    t: int = 0  # steps taken
    since: int = 0  # step after which the mean starts
    eta: float | None = None  # what the schedule starts from: the smallest that a batch asked for
    owed: Array | None = None  # C (n, K): total.W lacks C^T X
    back_product: Callable[[Array], Array] | None = None  # C -> C^T X

    def settle(self) -> None:
        """Add what is owed to the total: one product with X for all passes since the mean was last asked for."""
        if self.owed is not None and self.back_product is not None:
            self.total.W[...] += self.back_product(self.owed)
            self.owed = None

    @property
    def mean(self) -> Params:
        """Mean of the iterates, the late ones counting more."""
        self.settle()
        if self.total_share == 0:
            return self.params.copy()
        return self.params.like(self.total.flat / self.total_share)

    def restart_at_mean(self) -> None:
        """Go on from the mean, and forget what led there."""
        self.params.flat[...] = self.mean.flat
        self.total.flat[...] = 0.0
        self.total_share, self.since = 0.0, self.t


@dataclass(frozen=True)
class Duals:
    """Sums of the gradients that each row gave, (n, K), and of their shares, (n,): the mean is a dual vector."""

    sums: Array
    shares: Array

    @classmethod
    def zeros(cls, n_rows: int, n_outputs: int) -> "Duals":
        return cls(np.zeros((n_rows, n_outputs)), np.zeros(n_rows))

    @property
    def mean(self) -> Array:
        return np.asarray(self.sums / np.where(self.shares > 0, self.shares, 1.0)[:, None])
