"""Passes: every sweep over the rows of X that a risk needs. All products with X are here, and nowhere else.

The built-in losses go through the compiled core, in one fused pass over dense or CSR rows of float32 or float64; a loss
written in Python, or targets that are label distributions, go through :class:`GenericPasses`, which says the same thing
in NumPy. Where rows are in blocks, :class:`BlockedPasses` adds up what such passes say of each block.
"""

from nearline.risk.passes._base import NewtonStep, Passes
from nearline.risk.passes.blocked import BlockedPasses
from nearline.risk.passes.compiled import CompiledPasses, passes_for
from nearline.risk.passes.exact import ExactPasses
from nearline.risk.passes.generic import GenericPasses

__all__ = [
    "BlockedPasses",
    "CompiledPasses",
    "ExactPasses",
    "GenericPasses",
    "NewtonStep",
    "Passes",
    "passes_for",
]
