"""Items that objects hold, from files: whether a kernel can compute with them."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from nearline._records.kept import (
    AnyOf,
    Instance,
    ListOf,
    Objects,
    Plain,
    RowArray,
    Sizes,
    Spec,
    Word,
    require,
)
from nearline.kernels._base import Kernel
from nearline.kernels.tree import Tree

TOKENS = Objects(("n",), ListOf(Plain(), kind=tuple))
HELD: dict[str, Spec] = {
    "vectors": RowArray(("n", "F")),
    "any": RowArray(("n", "F")),
    "strings": AnyOf((Objects(("n",), Word()), TOKENS)),
    "trees": Objects(("n",), Instance(Tree)),
}


def check_items(kernel: Kernel, items: Any, n: int) -> None:
    """Refuse items that are not so many, or not what the kernel takes; of a Gram matrix there are none."""
    if kernel.takes == "gram":
        require(items is None, "A machine of a precomputed kernel has items, which such a kernel cannot use")
        return
    spec = HELD[kernel.takes]
    fits = spec.fits(items, Sizes(n=n))
    require(fits, f"The items of a {type(kernel).__name__} must be {spec.wanted(Sizes(n=n))}")


def widths(kernel: Kernel) -> Iterator[int]:
    """How many columns the rows have that a kernel holds, or that kernels within it hold."""
    for field in fields(kernel):
        value = getattr(kernel, field.name)
        if isinstance(value, Kernel):
            yield from widths(value)
        elif field.name == "training" and kernel.takes in ("vectors", "any") and value is not None:
            yield int(value.shape[1])
