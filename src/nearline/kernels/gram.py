"""Gram: k(x, x') of all pairs of some items: whole where it fits, else products with it, block by block."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._parallel.tiles import product_by_tiles
from nearline.kernels._base import Kernel
from nearline.kernels.blocks import blocks
from nearline.kernels.landmarks import Landmarks, spanning
from nearline.kernels.precomputed import check_symmetric, symmetric
from nearline.kernels.psd import ROUNDED, is_indefinite, is_psd

MEMORY = 1 << 32  # bytes that a Gram matrix may take
ASYMMETRY = {"float32": 1e-4}  # of the largest value, that rounding may leave; else 1e-9
PROBES = 4  # random vectors on which a factor is compared with its matrix


class Gram:
    """The Gram matrix of checked items under a fitted kernel, computed when it is asked for, and once.

    Parameters
    ----------
    kernel : a kernel with its numbers, see :meth:`Kernel.fitted`.
    items : as the kernel's ``items`` gives them; of a precomputed kernel the matrix itself.
    memory : bytes that the matrix may take.
    instead : what else would do where it does not fit, for the sentence that says so.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.kernels import Linear
    >>> from nearline.kernels.gram import Gram
    >>> gram = Gram(Linear(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> gram.whole.tolist(), gram.times(np.array([[1.0], [1.0]])).tolist()
    ([[5.0, 2.0], [2.0, 1.0]], [[7.0], [3.0]])
    """

    def __init__(self, kernel: Kernel, items: Any, memory: float = MEMORY, instead: str = "") -> None:
        self.kernel, self.items, self.memory, self.instead = kernel, items, memory, instead
        self.n = int(items.shape[0])
        self.given = kernel.takes == "gram"  # whether the items are the matrix itself

    def fits(self, itemsize: int) -> bool:
        """Whether a matrix of such numbers is allowed."""
        return float(self.n) * self.n * itemsize <= self.memory

    @once
    def wide(self) -> Any:
        """The items as certificates want them: rows of numbers in float64, others as they are."""
        return self.items.astype(np.float64) if self.items.dtype == np.float32 else self.items

    @once
    def whole(self) -> Array:
        """The matrix in float64; refused where it is too large, overflows, or can be no Gram matrix."""
        self.check_memory()
        return self.among(self.wide)

    def check_memory(self) -> None:
        """Refuse a matrix that is larger than ``memory``."""
        if not (self.given or self.fits(8)):
            n, instead = self.n, self.instead
            raise ValueError(
                f"The Gram matrix of {n:,} items needs {8e-9 * n * n:.1f} GB, memory allows {self.memory / 1e9:.1f} GB: "
                f"raise memory{',' if instead else ' or'} take fewer rows{f', or {instead}' if instead else ''}."
            )

    def among(self, items: Any, *, checked: bool = True) -> Array:
        """The matrix of these items, or of the same in another order or precision.

        Its diagonal bounds it, k(x, x')^2 <= k(x, x) k(x', x'), and must not overflow the precision of the items, in which
        scores are computed. Unless the kernel is known to be positive semi-definite, the matrix is ``checked`` to be so.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            K = symmetric(items) if self.given else self.kernel.among(items)
            own = np.diagonal(K).astype(np.float32 if self.items.dtype == np.float32 else K.dtype)
        if not np.isfinite(own).all():
            raise ValueError(self._overflow)
        if checked and not self.kernel.known_positive:
            self._check_own(K)
        return K

    def _check_own(self, K: Array) -> None:
        """Refuse values that no inner products have."""
        if not np.isfinite(K).all():
            i, j = (int(place[0]) for place in np.nonzero(~np.isfinite(K)))
            raise ValueError(
                f"{self.kernel!r} of items {i} and {j} is {K[i, j]}: a kernel has finite values only."
            )
        check_symmetric(K, ASYMMETRY.get(K.dtype.name, 1e-9))
        if is_indefinite(K):
            _refuse_indefinite(K)

    @property
    def _overflow(self) -> str:
        return f"Values of {self.kernel!r} overflow on these items: scale the features, or take Normalized(kernel)."

    def part(self, rows: Array) -> "Gram":
        """That of some of the items."""
        if np.array_equal(rows, np.arange(self.n)):
            return self
        items = self.items[np.ix_(rows, rows)] if self.given else self.items[rows]
        other = Gram(self.kernel, items, self.memory, self.instead)
        if "whole" in self.__dict__:
            other.__dict__["whole"] = self.whole[np.ix_(rows, rows)]
        return other

    def times(self, A: Array, at: Array | None = None) -> Array:
        """K A (n, P) in float64, for A (n, P), or its rows ``at``: of a matrix that is not there what A does not make 0."""
        if "whole" in self.__dict__:
            return np.asarray(product_by_tiles(self.whole if at is None else self.whole[at], A))
        rows = np.flatnonzero((A != 0).any(axis=1))
        items, few = self.wide, np.ascontiguousarray(A[rows])
        held = None if self.given else items[rows]
        asked = items if at is None else items[at]
        parts = [
            product_by_tiles(K.astype(np.float64, copy=False), few)
            for _, K in blocks(self.kernel, asked, held, rows)
        ]
        product = np.concatenate(parts) if parts else np.zeros((asked.shape[0], A.shape[1]))
        if not np.isfinite(product).all():
            raise ValueError(self._overflow)
        return product

    @once
    def coordinates(self) -> tuple[Landmarks, Array]:
        """Items that span the features of all, and the coordinates Z (n, r) of all: Z Z^T is the matrix, to rounding."""
        whole = self.whole
        K = self.items if self.given else whole  # a given matrix in float32 has the rounding of float32
        marks, Z = spanning(self.kernel, self.wide, K)
        V = np.random.default_rng(0).choice([-1.0, 1.0], size=(self.n, PROBES))
        left = float(np.abs(whole @ V - Z @ (Z.T @ V)).max(initial=0.0))
        if left > ROUNDED.get(K.dtype.name, 1e-9) * float(np.linalg.norm(whole)):
            _refuse_indefinite(K)
        return marks, Z


def _refuse_indefinite(K: Array) -> None:
    verdict = is_psd(K)
    if not verdict:
        raise ValueError(
            f"This matrix is no Gram matrix, as no features have these inner products: it is {verdict}. Take a kernel that "
            "is positive semi-definite, or add the size of that eigenvalue to the diagonal (is_psd(K).witness shows why)."
        )
