"""NCA: the probability that a neighbor drawn by distance is of the row's class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import groups, map_tiles, slices, steps
from nearline._records.kept import Flag, Real, kept
from nearline.losses.embedding._base import PairLoss, check_positive
from nearline.losses.embedding._geometry import through_unit_rows, unit_rows

TILE = 2**19  # pairs at a time
LEAST = 1e-20  # sum of a row's exponentials that is told from rounding to 0
CHAINS = 8  # sums that tiles are added to, whatever the number of threads


@kept(scale=Real(above=0.0), log=Flag(), normalize=Flag())
@dataclass(frozen=True)
class NCA(PairLoss):
    """Neighborhood components analysis: mean over rows i of 1 - p_i, the chance that a random neighbor is of another class.

        p_i = sum over j of i's class, j != i, of exp(-s |z_i - z_j|^2) / sum over all j != i of exp(-s |z_i - z_j|^2)

    With ``log`` it is the mean of -log p_i, which minds rows that are far from all of their class. Rows without another one
    of their class do not count. scikit-learn's ``NeighborhoodComponentsAnalysis`` maximizes the sum of p_i with s = 1;
    ``NCALoss`` of pytorch-metric-learning has -log p_i of rows of length 1.

    Time is O(n^2 d); memory is linear in n: pairs are looked at some at a time.

    Parameters
    ----------
    scale : s > 0; an embedding can do the same.
    log : -log p_i rather than 1 - p_i.
    normalize : whether rows are brought to length 1 first.

    Examples
    --------
    >>> from nearline.losses.embedding import NCA
    >>> value, gradient = NCA().value_and_gradient([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> round(value, 4)  # 1 - (1 / (1 + exp(-3)) + 1/2) / 2
    0.2737
    """

    name: ClassVar[str] = "nca"
    scale: float = 1.0
    log: bool = False
    normalize: bool = False

    def __post_init__(self) -> None:
        check_positive(scale=self.scale)

    @property
    def on_sphere(self) -> bool:
        return self.normalize

    def at(self, Z: Array, targets: Array, proxies: Array) -> tuple[float, Array, Array]:
        order = np.argsort(targets, kind="stable")  # rows of a class side by side
        U, lengths = unit_rows(Z[order]) if self.normalize else (Z[order], None)
        value, G = _Neighborhoods(U, targets[order], self.scale, self.log).value_and_gradient()
        if lengths is not None:
            G = through_unit_rows(G, U, lengths)
        gradient = np.empty_like(Z)
        gradient[order] = G
        return value, gradient, proxies


class _Neighborhoods:
    """Sums over pairs, a tile of rows against all rows.

    The derivative of the loss by |z_i - z_j|^2 is a_i E'_ij - b_i E_ij, with E the exponentials, E' those of one class, so
    that all sums over pairs are products of E and E' with few columns.
    """

    def __init__(self, Z: Array, targets: Array, scale: float, log: bool) -> None:
        self.Z = Z - Z.mean(axis=0, dtype=np.float64).astype(Z.dtype) if len(Z) else Z
        self.targets, self.scale, self.log = targets, scale, log
        squares = scale * np.einsum("ij,ij->i", self.Z, self.Z)[:, None]
        self.ones = np.ones_like(squares)
        self.columns = np.hstack([self.Z, self.ones])
        # exponents -s |z_i - z_j|^2 as one product
        self.left = np.hstack([2.0 * scale * self.Z, -squares, self.ones]).astype(Z.dtype, copy=False)
        self.right = np.hstack([self.Z, self.ones, -squares]).T.astype(Z.dtype, copy=False)
        starts = np.flatnonzero(np.diff(targets, prepend=targets[:1] - 1)) if len(Z) else np.empty(0, int)
        self.bounds = np.append(starts, len(Z))  # classes begin and end here
        sizes = np.diff(self.bounds)
        self.counted = int(sizes[sizes > 1].sum())  # rows that have another one of their class

    def value_and_gradient(self) -> tuple[float, Array]:
        n, d = self.Z.shape
        if self.counted == 0 or len(self.bounds) <= 2:  # no pair of one class, or all are
            return 0.0, np.zeros_like(self.Z)
        rows = max(16, min(256, TILE // n))
        chains = groups(slices(n, rows), CHAINS)
        parts = map_tiles(self._chain, chains, work=6.0 * n * n * (d + 8))
        value = sum(part[0] for part in parts)
        received = sum(part[1] for part in parts)  # columns: sum_i G_ij z_i, and sum_i G_ij
        given = np.concatenate([part[2] for part in parts])  # rows: sum_j G_ij z_j, and sum_j G_ij
        both = received + given
        return float(value) / self.counted, np.asarray(2.0 * (both[:, -1:] * self.Z - both[:, :-1]))

    def _chain(self, tiles: Sequence[slice]) -> tuple[float, Array, Array]:
        value, received = 0.0, np.zeros_like(self.columns)
        given = []
        for tile in steps(tiles):
            part, sums = self._tile(tile, received)
            value += part
            given.append(sums)
        return value, received, np.concatenate(given)

    def _tile(self, tile: slice, received: Array) -> tuple[float, Array]:
        """Value of some rows, and their sums over all others; those of the others are added to ``received``."""
        X = self.left[tile] @ self.right
        rows = np.arange(tile.stop - tile.start)
        X[rows, rows + tile.start] = -np.inf
        if self.log:
            return self._logs(tile, X, received)
        E = self._exponentials(tile, X)
        of_all, of_own = E @ self.columns, np.empty((len(E), self.columns.shape[1]), dtype=E.dtype)
        for part, own in self._classes(tile):
            np.matmul(E[part, own], self.columns[own], out=of_own[part])
        total = of_all[:, -1:]
        p = of_own[:, -1:] / total
        a = (self.scale / self.counted) / total
        b = a * p
        received -= E.T @ (b * self.columns[tile]).astype(E.dtype, copy=False)
        weighed = (a * self.columns[tile]).astype(E.dtype, copy=False)
        for part, own in self._classes(tile):
            received[own] += E[part, own].T @ weighed[part]
        value = float((1.0 - p[~self._alone(tile)]).sum(dtype=np.float64))
        return value, a * of_own - b * of_all

    def _exponentials(self, tile: slice, X: Array) -> Array:
        """E of a tile, over X. Rows whose neighbors are all so far that little is left of them are shifted first."""
        E = np.exp(X, out=X)
        far = np.flatnonzero(E @ self.ones[:, 0] < LEAST)
        if len(far):
            shifted = self.left[tile][far] @ self.right
            shifted[np.arange(len(far)), far + tile.start] = -np.inf
            shifted -= shifted.max(axis=1, keepdims=True)
            E[far] = np.exp(shifted)
        return E

    def _logs(self, tile: slice, X: Array, received: Array) -> tuple[float, Array]:
        """The same for -log p_i, in softmaxes of their own: p_i may be less than the smallest number."""
        value, given = 0.0, np.zeros((len(X), self.columns.shape[1]), dtype=X.dtype)
        step = self.scale / self.counted
        for part, own in self._classes(tile):
            if own.stop - own.start == 1:
                continue  # alone
            weighed = self.columns[tile][part]
            for rows, sign in ((own, 1.0), (slice(None), -1.0)):
                shift = X[part, rows].max(axis=1, keepdims=True)
                E = np.exp(X[part, rows] - shift)
                sums = E @ self.columns[rows]
                share = (step / sums[:, -1:]).astype(E.dtype, copy=False)
                value -= sign * float((np.log(sums[:, -1:]) + shift).sum(dtype=np.float64))
                received[rows] += sign * (E.T @ (share * weighed))
                given[part] += sign * share * sums
        return value, given

    def _classes(self, tile: slice) -> Iterator[tuple[slice, slice]]:
        """Rows of a tile that are of one class, counted from its first, and all rows of the class."""
        first = int(np.searchsorted(self.bounds, tile.start, side="right")) - 1
        last = int(np.searchsorted(self.bounds, tile.stop - 1, side="right")) - 1
        for start, stop in zip(
            self.bounds[first : last + 1].tolist(), self.bounds[first + 1 : last + 2].tolist()
        ):
            yield (
                slice(max(start, tile.start) - tile.start, min(stop, tile.stop) - tile.start),
                slice(start, stop),
            )

    def _alone(self, tile: slice) -> Array:
        """Which rows have no other one of their class."""
        which = np.searchsorted(self.bounds, np.arange(tile.start, tile.stop), side="right") - 1
        return np.asarray(np.diff(self.bounds)[which] == 1)
