"""Landmarks: coordinates of a kernel's features on the span of some items.

With landmarks z_1 .. z_r and the Cholesky factor L L^T of their Gram matrix, the coordinates of an item are
phi(x) = L^-1 k(z, x): inner products of coordinates equal the kernel wherever one of two items is in the span of the
landmarks' features. With all items as landmarks that is the kernel itself; with few of them it is Nystroem's map.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import steps
from nearline._records.kept import Anything, Instance, Numbers, Real, kept, require
from nearline.kernels._base import Kernel
from nearline.kernels.blocks import blocks
from nearline.kernels.held import check_items
from nearline.kernels.precomputed import Precomputed

NEGLIGIBLE = 1e-12  # squared length, relative to the longest, of a feature that rounding could have made


def _spanning(marks: "Landmarks") -> None:
    check_items(marks.kernel, marks.items, len(marks.rows))
    require(
        (np.diagonal(marks.L) > 0).all(),
        "The triangle of a kernel's coordinates has a diagonal that is not > 0",
    )


@kept(
    kernel=Instance(Kernel),
    items=Anything(),
    rows=Numbers(("r",), "whole numbers", least=0),
    L=Numbers(("r", "r")),
    residual=Real(wild=True),
    links=_spanning,
)
@dataclass(frozen=True, eq=False)
class Landmarks:
    """Items that span coordinates, their numbers among the training items, and the triangle L (r, r)."""

    kernel: Kernel
    items: Any
    rows: Array
    L: Array
    residual: float  # share of the sum of k(x, x) over the training items that the coordinates do not reach

    def coordinates(self, items: Any) -> Array:
        """(n, r) for checked items, float64."""
        from scipy.linalg import solve_triangular

        parts = [
            solve_triangular(self.L, K.T.astype(np.float64), lower=True, check_finite=False).T
            for _, K in blocks(self.kernel, items, self.items, self.rows)
        ]
        return np.ascontiguousarray(np.concatenate(parts)) if parts else np.zeros((0, len(self.rows)))

    def coefficients(self, W: Array) -> Array:
        """A (r, P) with W phi(x) = sum_i A_i k(z_i, x), for W (P, r)."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.L, W.T, lower=True, trans="T", check_finite=False))


def spanning(kernel: Kernel, items: Any, K: Array) -> tuple[Landmarks, Array]:
    """Every item that adds a direction, and the coordinates of all (n, r): the kernel itself, to rounding.

    The Cholesky factorization of the Gram matrix K takes the item next that is farthest from the span of those before,
    and ends where what is left is rounding in the precision of K.
    """
    from scipy.linalg.lapack import dpstrf

    own = K.diagonal().astype(np.float64)
    longest, total = float(own.max(initial=0.0)), float(own.sum())
    tol = (1e-6 if K.dtype == np.float32 else NEGLIGIBLE) * longest
    factor, pivots, rank, _ = dpstrf(K.astype(np.float64, copy=False).T, lower=1, tol=tol)
    rows = pivots[:rank].astype(np.intp) - 1
    lower = np.tril(factor)[:, :rank]
    Z = np.empty((len(K), rank))
    Z[pivots - 1] = lower
    left = total - float((Z * Z).sum())
    kept = None if isinstance(kernel, Precomputed) else items[rows]
    L = np.ascontiguousarray(lower[:rank])
    return Landmarks(kernel, kept, rows, L, max(0.0, left / total if total > 0 else 0.0)), Z


def some_landmarks(kernel: Kernel, items: Any, rank: int, random_state: int = 0) -> Landmarks:
    """At most ``rank`` items, drawn with probabilities proportional to what the ones before leave of k(x, x).

    (Randomly pivoted Cholesky, in blocks: few items of a dense cloud, and none twice; Chen et al. 2024.)
    """
    rng = np.random.default_rng(random_state)
    n = int(items.shape[0])
    rank = min(rank, n)
    left = kernel.diagonal(items).astype(np.float64)
    total, longest = float(left.sum()), float(left.max(initial=0.0))
    Z = np.zeros((n, rank))
    rows: list[int] = []
    size = max(16, rank // 8)
    while len(rows) < rank and left.sum() > NEGLIGIBLE * max(total, 1e-300):
        m = min(size, rank - len(rows), int((left > NEGLIGIBLE * longest).sum()))
        if m == 0:
            break
        drawn = np.sort(rng.choice(n, m, replace=False, p=left / left.sum()))
        r = len(rows)
        G = kernel.between(items, items[drawn]).astype(np.float64) - Z[:, :r] @ Z[drawn, :r].T
        kept, block = _independent(G, drawn, longest)
        Z[:, r : r + len(kept)] = block
        rows += [int(drawn[i]) for i in kept]
        left = np.maximum(left - (block * block).sum(axis=1), 0.0)
        left[rows] = 0.0
        if not kept:
            break
    chosen = np.array(rows, dtype=np.intp)
    L = np.tril(Z[chosen, : len(rows)])
    return Landmarks(kernel, items[chosen], chosen, L, float(left.sum() / total) if total > 0 else 0.0)


def _independent(G: Array, drawn: Array, longest: float) -> tuple[list[int], Array]:
    """Of drawn items those that are not in the span of others, in order, and their new coordinates for all items."""
    block = np.zeros(G.shape, order="F")
    kept: list[int] = []
    for i in steps(range(len(drawn))):
        before = block[:, : len(kept)]
        column = G[:, i] - before @ before[drawn[i]]
        square = float(column[drawn[i]])
        if square > 1e3 * NEGLIGIBLE * longest:
            block[:, len(kept)] = column / np.sqrt(square)
            kept.append(i)
    return kept, block[:, : len(kept)]
