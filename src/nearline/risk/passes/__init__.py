"""Passes: every sweep over the rows of X that a risk needs. All products with X are here, and nowhere else.

The built-in losses go through the compiled core, in one fused pass over dense or CSR rows of float32 or float64; a loss
written in Python, or targets that are label distributions, go through :class:`GenericPasses`, which says the same thing
in NumPy.
"""

from nearline._arrays.design import Array, Design
from nearline.losses import Loss
from nearline.risk.passes._base import NewtonStep, Passes
from nearline.risk.passes.compiled import CompiledPasses
from nearline.risk.passes.exact import ExactPasses
from nearline.risk.passes.generic import GenericPasses


def passes_for(X: Design, targets: Array, weights: Array, loss: Loss, n_outputs: int) -> Passes:
    """The fastest passes for this loss and these targets."""
    compiled = loss.compiled is not None and targets.ndim == 1
    return (CompiledPasses if compiled else GenericPasses)(X, targets, weights, loss, n_outputs)


__all__ = ["CompiledPasses", "ExactPasses", "GenericPasses", "NewtonStep", "Passes", "passes_for"]
