"""BlockedRisk: the risk of rows in blocks, which may be on other machines or in a file that memory does not hold."""

from typing import Any, final

import numpy as np

from nearline._arrays.blocks import Blocks
from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._records.habits import named
from nearline.losses import LOSSES, Loss, check_loss
from nearline.regularizers import REGULARIZERS, Regularizer, check_penalty
from nearline.risk._objective import strength
from nearline.risk._risk import Risk
from nearline.risk.passes import BlockedPasses
from nearline.risk.passes.recipes import View


@final
class BlockedRisk(Risk):
    """The same risk as :class:`Risk`, of rows in blocks: mean loss over all blocks + alpha R(W), R once.

    It has values, gradients, Hessians and certificates as any risk; single rows it has not, and solvers that need them
    refuse. The last bits depend on the blocks, not on who computes: one block gives those of :class:`Risk`.

    Parameters
    ----------
    blocks : rows with class numbers 0 .. C-1 (or label distributions) as targets, and weights.
    loss, regularizer, alpha, bias : as for :class:`Risk`.
    n_classes : number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline._arrays.blocks import Block, HeldBlocks
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> halves = HeldBlocks([Block(X[i], y[i], np.ones(2)) for i in (slice(0, 2), slice(2, 4))])
    >>> risk = BlockedRisk(halves, loss="logistic", alpha=0.1, n_classes=2)
    >>> round(risk.at(risk.zeros()).value, 6)
    0.693147
    """

    passes: BlockedPasses

    def __init__(
        self,
        blocks: Blocks,
        *,
        loss: Loss | str = "logistic",
        regularizer: Regularizer | str = "l2",
        alpha: float | str = 1e-4,
        bias: bool = True,
        n_classes: int,
    ) -> None:
        self.blocks, self.bias, self._precision = blocks, bool(bias), blocks.dtype
        self.loss = named(loss, LOSSES, Loss, "loss")
        self.regularizer = named(regularizer, REGULARIZERS, Regularizer, "regularizer")
        self.n_classes = max(n_classes, 2)
        self.n_outputs = self.n_classes if self.loss.joint or self.n_classes > 2 else 1
        check_loss(self.loss, self.specimen, self.n_outputs)
        check_penalty(self.regularizer, (self.n_outputs, blocks.n_features))
        self._elastic = self.regularizer.as_elastic(self.n_outputs)
        self.passes = BlockedPasses(blocks, View(self.loss, self.n_outputs))
        self.total_weight = self.passes.total_weight
        self.alpha = strength(alpha, self.total_weight)

    @property
    def blocked(self) -> bool:
        return True

    @once
    def _exact_passes(self) -> BlockedPasses:
        return self.passes.with_view(exact=True)

    def with_loss(self, loss: Loss) -> "BlockedRisk":
        other = BlockedRisk(
            self.blocks, loss=loss, regularizer=self.regularizer, alpha=self.alpha, bias=self.bias,
            n_classes=self.n_classes,
        )  # fmt: skip
        other.passes, other._precision = other.passes.with_view(exact=True), np.dtype(np.float64)
        return other

    @property
    def precision(self) -> "np.dtype[Any]":
        return self._precision

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    @property
    def n_features(self) -> int:
        return self.blocks.n_features

    @property
    def sparse(self) -> bool:
        return self.blocks.sparse

    @property
    def specimen(self) -> Array:
        if self.blocks.distributions:
            return np.full((1, self.n_classes), 1.0 / self.n_classes)
        return np.zeros(1, dtype=np.int32)

    @property
    def has_gap(self) -> bool:
        """As of any risk; with a free bias the loss must know how to balance duals by sums alone."""
        by_sums = type(self.loss).balance is Loss.balance
        nothing = np.zeros((1, self.n_outputs))
        knows = by_sums and self.loss.masses(nothing, self.specimen, np.ones(1)) is not None
        return super().has_gap and (knows or not self.bias)
