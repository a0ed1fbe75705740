"""Which passes serve a loss and its targets."""

from nearline._arrays.design import Array, Design
from nearline.losses import Loss
from nearline.risk.passes._base import Passes
from nearline.risk.passes.compiled import CompiledPasses
from nearline.risk.passes.generic import GenericPasses


def passes_for(X: Design, targets: Array, weights: Array, loss: Loss, n_outputs: int) -> Passes:
    """The fastest passes for this loss and these targets."""
    compiled = loss.compiled is not None and targets.ndim == 1
    return (CompiledPasses if compiled else GenericPasses)(X, targets, weights, loss, n_outputs)
