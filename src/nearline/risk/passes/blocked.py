"""The passes over rows in blocks: sums of what the passes over each block say, added as a fixed tree."""

from dataclasses import dataclass, replace
from typing import Any, NoReturn, final
from uuid import uuid4

import numpy as np

from nearline._arrays.blocks import Block, Blocks
from nearline._arrays.design import Array, Design, contiguous
from nearline._arrays.once import once
from nearline.risk.params import Params
from nearline.risk.passes._base import Passes
from nearline.risk.passes._bias import BiasSums
from nearline.risk.passes.compiled import passes_for
from nearline.risk.passes.curvature import RowCurvature
from nearline.risk.passes.recipes import Ahead, Duals, Moved, Product, Scores, Shifted, View

Ask = tuple[
    Any, ...
]  # the name of a method of Passes, and what it is given: recipes in place of scores and duals


@final
@dataclass(frozen=True)
class Sweep:
    """Questions to the passes over each block: one pass over the rows answers them all."""

    view: View
    asks: tuple[Ask, ...]

    def __call__(self, block: Block) -> tuple[Any, ...]:
        passes = self.view.passes(block)
        return tuple(_answer(passes, block, *ask) for ask in self.asks)


def _answer(passes: Passes, block: Block, method: str, *given: Any) -> Any:
    if method == "value_and_gradient":  # the scores are made on the way, and stay here
        (product,) = given
        scores, *sums = passes.value_and_gradient(product.params)
        block.recent.put(product.key, scores)
        return tuple(sums)
    if method == "masses":
        loss, duals = given
        return loss.masses(duals.of(block), block.targets, block.weights)
    return getattr(passes, method)(*(_made(one, block) for one in given))


def _made(given: Any, block: Block) -> Any:
    if isinstance(given, (Scores, Duals)):
        return given.of(block)
    return contiguous(given) if isinstance(given, np.ndarray) else given


def added(a: Any, b: Any) -> Any:
    """The sum of two answers: numbers, arrays, or tuples of them; unknown if one is."""
    if a is None or b is None:
        return None
    if isinstance(a, tuple):
        parts = [added(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return a + b


@final
class BlockedPasses(Passes):
    """Sums over rows in blocks. Scores and duals are recipes: see :mod:`nearline.risk.passes.recipes`.

    What a solver is likely to ask next rides on the same pass: with the value at the end of a step, its gradient.
    """

    def __init__(self, blocks: Blocks, view: View) -> None:
        self.blocks, self.view = blocks, view
        self.loss, self.n_outputs = view.loss, view.n_outputs
        self._known: dict[str, Any] = {}  # the last answers that were asked for in advance

    def _of(self, X: Design, targets: Array, weights: Array) -> Passes:
        return passes_for(X, targets, weights, self.loss, self.n_outputs)

    def with_view(self, **changes: Any) -> "BlockedPasses":
        """The same blocks, seen in another way."""
        return BlockedPasses(self.blocks, replace(self.view, **changes))

    @property
    def precision(self) -> "np.dtype[Any]":
        return self.blocks.dtype

    @once
    def total_weight(self) -> float:
        return float(self.blocks.total(_weight, added))

    def standardized(self, mean: Array, unit: Array) -> Passes:
        return self.with_view(standard=(mean, unit), key=uuid4().hex)

    def _ask(self, *asks: Ask) -> tuple[Any, ...]:
        answer: tuple[Any, ...] = self.blocks.total(Sweep(self.view, asks), added)
        return answer

    def _one(self, *ask: Any) -> Any:
        return self._ask(ask)[0]

    # -- value and gradient -----------------------------------------------------------------------------------

    def scores(self, params: Params) -> Any:
        return Product(self.view, params.copy(), self.precision)

    def total_loss(self, scores: Any) -> float:
        if self.view.exact:
            return float(self._one("total_loss", scores))
        total, gradient = self._ask(("total_loss", scores), ("gradient_from_scores", scores))
        self._known = {scores.key: gradient}
        return float(total)

    def value_and_gradient(self, params: Params) -> tuple[Any, float, Array, Array]:
        product = Product(self.view, params.copy(), self.precision)
        total, G_W, G_b = self._one("value_and_gradient", product)
        return product, total, G_W, G_b

    def gradient_from_scores(self, scores: Any) -> tuple[float, Array, Array]:
        known = self._known.get(scores.key)
        total, G_W, G_b = self._one("gradient_from_scores", scores) if known is None else known
        return total, G_W, G_b

    def value_and_slope(self, scores: Any, direction_scores: Any, step: float = 0.0) -> tuple[float, float]:
        moved = self.moved(scores, step, direction_scores)
        (total, slope), gradient = self._ask(
            ("value_and_slope", scores, direction_scores, step), ("gradient_from_scores", moved)
        )
        self._known = {moved.key: gradient}
        return total, slope

    def smallest_margin(self, scores: Any) -> float:
        return float(self.blocks.total(Sweep(self.view, (("smallest_margin", scores),)), min)[0])

    def moved(self, scores: Any, step: float, direction_scores: Any) -> Any:
        return Moved(self.view, scores, float(step), direction_scores)

    def shifted(self, scores: Any, shift: Array) -> Any:
        return Shifted(self.view, scores, np.asarray(shift, dtype=np.float64))

    def ahead(self, scores: Any, before: Any, speed: float) -> Any:
        return Ahead(self.view, scores, before, float(speed))

    # -- duals --------------------------------------------------------------------------------------------------

    def duals(self, scores: Any) -> Any:
        return Duals(self.view, scores)

    def balanced(self, duals: Any) -> Any:
        masses = self._one("masses", self.loss, duals)
        return None if masses is None else replace(duals, balancer=self.loss, masses=masses)

    def dual_product(self, duals: Any) -> Array:
        product, total = self._ask(("dual_product", duals), ("total_conjugate", duals, 1.0))
        self._known = {"conjugate": (duals, total)}
        return np.asarray(product)

    def total_conjugate(self, duals: Any, scale: float = 1.0) -> float | None:
        known, total = self._known.get("conjugate", (None, None))
        if known is duals and scale == 1.0:
            return total
        return self._one("total_conjugate", duals, scale)

    # -- curvature, moments, bias ------------------------------------------------------------------------------

    def hessian_product(self, scores: Any, direction: Params) -> tuple[Array, Array]:
        H_W, H_b = self._one("hessian_product", scores, direction)
        return H_W, H_b

    def hessian(self, scores: Any) -> Array:
        return np.asarray(self._one("hessian", scores))

    @once
    def column_moments(self) -> tuple[Array, Array]:
        plain = replace(self.view, exact=False)
        _, mean, deviation = self.blocks.total(_Moments(plain), _merged)
        return mean, deviation

    def bias_sums(self, scores: Any, b: Array) -> BiasSums:
        return BiasSums(*self._one("bias_sums", scores, b))

    def best_null_bias(self) -> Array:
        if self.blocks.distributions:
            return self.best_bias_shift(self.scores(Params.zeros(self.n_outputs, self.blocks.n_features)))
        return self._best_bias_of_classes(self.class_totals())

    def class_totals(self) -> Array:
        return np.asarray(self._one("class_totals"))

    # -- what only rows at hand can tell -------------------------------------------------------------------------

    def back_product(self, G: Array) -> NoReturn:
        _only_sums()

    def row_curvature(self, scores: Array, rows: slice | Array) -> RowCurvature:
        _only_sums()


def _only_sums() -> NoReturn:
    raise TypeError(
        "Rows in blocks are asked for sums over all of them, not for what belongs to single rows."
    )


def _weight(block: Block) -> float:
    return float(block.weights.sum())


Weighed = tuple[float, Array, Array]  # weight, mean and deviation of some rows


@final
@dataclass(frozen=True)
class _Moments:
    """Weight of a block, mean and deviation of each of its features."""

    view: View

    def __call__(self, block: Block) -> Weighed:
        weight = _weight(block)
        if weight == 0:
            nothing = np.zeros(block.X.shape[1])
            return 0.0, nothing, nothing
        return (weight, *self.view.passes(block).column_moments)


def _merged(a: Weighed, b: Weighed) -> Weighed:
    """The moments of two parts of the rows, about the mean of both: nothing cancels far from the origin."""
    if a[0] == 0 or b[0] == 0:
        return b if a[0] == 0 else a
    weight = a[0] + b[0]
    shift, share = b[1] - a[1], b[0] / weight
    square = (1.0 - share) * a[2] ** 2 + share * b[2] ** 2 + share * (1.0 - share) * shift**2
    return weight, a[1] + share * shift, np.sqrt(square)
