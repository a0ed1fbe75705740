"""Kernels of vectors, strings and trees. To list one in ``KERNELS`` is to have it tested and documented."""

from typing import Any, cast

from nearline._records.habits import ours
from nearline._records.refused import ParameterError
from nearline._records.spoken import spoken
from nearline.kernels._base import Kernel
from nearline.kernels.algebra import Centered, Constant, Normalized, Product, Sum
from nearline.kernels.precomputed import Precomputed
from nearline.kernels.psd import is_psd
from nearline.kernels.strings import Spectrum, Subsequence
from nearline.kernels.tree import Tree
from nearline.kernels.trees import PartialTree, SubsetTree, Subtree
from nearline.kernels.vector import RBF, Linear, Polynomial

KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "polynomial": Polynomial(),
    "rbf": RBF(),
    "spectrum": Spectrum(),
    "subsequence": Subsequence(),
    "subtree": Subtree(),
    "subset-tree": SubsetTree(),
    "partial-tree": PartialTree(),
    "precomputed": Precomputed(),
}


def as_kernel(kernel: Any) -> Kernel:
    """A kernel from its name ("rbf:0.1" is RBF(0.1)), or itself."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and ours(kernel) in KERNELS:
        return KERNELS[ours(kernel)]
    if (said := spoken(ours(kernel), {name: type(one) for name, one in KERNELS.items()})) is not None:
        return cast(Kernel, said)
    raise ParameterError(
        "kernel",
        kernel,
        f"one of {', '.join(map(repr, KERNELS))}, one with parameters such as 'rbf:0.1', or a kernel object such as RBF(0.1)",
    )


__all__ = [
    "KERNELS",
    "RBF",
    "Centered",
    "Constant",
    "Kernel",
    "Linear",
    "Normalized",
    "PartialTree",
    "Polynomial",
    "Precomputed",
    "Product",
    "Spectrum",
    "Subsequence",
    "SubsetTree",
    "Subtree",
    "Sum",
    "Tree",
    "as_kernel",
    "is_psd",
]
