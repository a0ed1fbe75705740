"""Score functions: LinearScore, f(x) = W x + b, with its geometry, and KernelScore, a sum over items."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from nearline._arrays.design import Array, Design, admitted, product
from nearline._parallel.tiles import product_by_tiles
from nearline._records.kept import Anything, Instance, Numbers, kept
from nearline.kernels import Kernel
from nearline.kernels.blocks import blocks
from nearline.kernels.held import check_items


def decisive(scores: Array, *, everywhere: bool = False) -> Array:
    """Scores (n, K), if they tell classes apart: they are numbers, and of several the largest is finite.

    Weights and rows that are finite can have products that are not. A class that never wins has the score -infinity, unless
    scores are to be finite ``everywhere``.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if isfinite(scores.sum()):  # as nearly always: a look at each row takes several times as long
            return scores
    if everywhere:
        lost = ~np.isfinite(scores).all(axis=1)
    elif scores.shape[1] == 1:
        lost = np.isnan(scores[:, 0])
    else:
        lost = ~np.isfinite(scores.max(axis=1, initial=-np.inf))
    if lost.any():
        raise ValueError(
            f"The scores of row {int(np.flatnonzero(lost)[0]) + 1} overflow, as its numbers or the weights of the model are "
            "too large: scale the features, and fit the model again."
        )
    return scores


@dataclass(frozen=True)
class LinearScore:
    """f(x) = W x + b with W (K, D), b (K,), and the labels that the columns stand for.

    The quick way to serve single rows: :meth:`label` checks nothing and costs microseconds.

    Examples
    --------
    >>> import numpy as np
    >>> score = LinearScore(np.array([[3.0, 4.0]]), np.array([-5.0]), np.array(["near", "far"]))
    >>> score.label(np.array([2.0, 2.0]))
    'far'
    >>> score.distance(np.array([[0.0, 0.0]])).tolist()  # |f| / |w|
    [[1.0]]
    """

    W: Array
    b: Array
    classes: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "_labels", self.classes.tolist())

    def __call__(self, X: Design) -> Array:
        """Scores (n, K)."""
        return decisive(product(admitted(X), self.W) + self.b)

    def label(self, x: Array) -> Any:
        """Label of one dense row (D,), without any checks."""
        f = self.W @ x + self.b
        return self._labels[f.argmax() if len(f) > 1 else int(f[0] >= 0)]  # type: ignore[attr-defined]

    def distance(self, X: Design) -> Array:
        """Distance |f_c(x)| / |w_c| of each row to each boundary f_c = 0."""
        return np.asarray(np.abs(self(X)) / np.linalg.norm(self.W, axis=1))

    def origin_distance(self) -> Array:
        """Distance |b_c| / |w_c| of the origin to each boundary."""
        return np.asarray(np.abs(self.b) / np.linalg.norm(self.W, axis=1))

    def margins(self, X: Design, targets: Array) -> Array:
        """Geometric margin of each row: y f / |w| for two classes, (f_y - max other f) / |W| for more."""
        return self.margins_of(self(X), targets)

    def margins_of(self, f: Array, targets: Array) -> Array:
        """The same of scores (n, K), which it overwrites."""
        length = float(np.linalg.norm(self.W)) or np.inf  # without weights there is no boundary: margin 0
        if f.shape[1] == 1:
            return np.asarray(np.where(targets == 1, 1.0, -1.0) * f[:, 0] / length)
        rows = np.arange(len(f))
        own = f[rows, targets]
        f[rows, targets] = -np.inf
        return np.asarray((own - f.max(axis=1)) / length)


@kept(
    kernel=Instance(Kernel),
    items=Anything(),
    rows=Numbers(("m",), "whole numbers", least=0),
    A=Numbers(("m", "Q")),
    b=Numbers(("Q",)),
    links=lambda score: check_items(score.kernel, score.items, len(score.rows)),
)
@dataclass(frozen=True, eq=False)
class KernelScore:
    """f_c(x) = sum_i A_ic k(x_i, x) + b_c, over the items whose coefficients are not all 0.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.kernels import Polynomial
    >>> items = Polynomial().items([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    >>> score = KernelScore.of(Polynomial(2, 0.0), items, np.array([[1.0], [0.0], [-1.0]]), np.array([0.5]))
    >>> score.rows.tolist(), score([[1.0, 1.0]]).tolist()  # 1 - 4 + 0.5
    ([0, 2], [[-2.5]])
    """

    kernel: Kernel
    items: Any  # (m,) of them, or nothing for a precomputed kernel
    rows: Array  # (m,) their numbers among the training items
    A: Array  # (m, P)
    b: Array  # (P,)

    @classmethod
    def of(cls, kernel: Kernel, items: Any, A: Array, b: Array) -> "KernelScore":
        """Of coefficients (n, P) for all training items: those that count are kept."""
        rows = np.flatnonzero((A != 0).any(axis=1))
        kept = None if kernel.takes == "gram" else items[rows]
        return cls(kernel, kept, rows, np.ascontiguousarray(A[rows]), np.asarray(b, dtype=np.float64))

    def __call__(self, X: Any) -> Array:
        """Scores (n, P)."""
        return self.scores(self.kernel.items(X))

    def scores(self, items: Any) -> Array:
        """(n, P) for checked items."""
        parts = [
            product_by_tiles(K.astype(np.float64, copy=False), self.A) + self.b for _, K in self.values(items)
        ]
        if not parts:
            return np.zeros((0, self.A.shape[1]))
        return decisive(np.concatenate(parts), everywhere=True)

    def values(self, items: Any) -> Iterator[tuple[slice, Array]]:
        """k(x, x_i) of some checked items at a time."""
        return blocks(self.kernel, items, self.items, self.rows)
