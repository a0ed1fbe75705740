"""The passes over rows in blocks: sums of what the passes over each block say, added as a fixed tree."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn, final
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
@dataclass(frozen=True)
class _Foreseen:
    """Value and gradient at some parameters, perhaps with the Hessian, or the masses that balance the duals there."""

    product: Product
    hessian: bool
    duals: bool

    @property
    def asks(self) -> tuple[Ask, ...]:
        at = ("value_and_gradient", self.product)
        hessian = (("hessian", self.product),) * self.hessian
        view = self.product.view
        masses = (("masses", view.loss, Duals(view, self.product)),) * self.duals
        return at, *hessian, *masses

    def answered(self, told: tuple[Any, ...]) -> dict[Any, Any]:
        """The answers, by what will be asked."""
        found: dict[Any, Any] = {"at": (self.product, *told[0])}
        if self.hessian:
            found["hessian", self.product.key] = told[1]
        if self.duals:
            found["masses", self.product.key] = (told[-1],)
        return found


@final
class BlockedPasses(Passes):
    """Sums over rows in blocks. Scores and duals are recipes: see :mod:`nearline.risk.passes.recipes`.

    What a solver is likely to ask next rides on the same pass: what it foresees, else with the value at the end of a step
    its gradient.
    """

    def __init__(self, blocks: Blocks, view: View) -> None:
        self.blocks, self.view = blocks, view
        self.loss, self.n_outputs = view.loss, view.n_outputs
        self._foreseen: _Foreseen | None = None  # waits for the next pass
        self._known: dict[Any, Any] = {}  # the last answers that were asked for in advance

    def _of(self, X: Design, targets: Array, weights: Array) -> Passes:
        return passes_for(X, targets, weights, self.loss, self.n_outputs)

    def with_view(self, **changes: Any) -> "BlockedPasses":
        """The same blocks, seen in another way."""
        other = BlockedPasses(self.blocks, replace(self.view, **changes))
        if "survey" in self.__dict__ and other.view.standard is self.view.standard:
            other.__dict__["survey"] = self.survey
        return other

    @property
    def precision(self) -> "np.dtype[Any]":
        return self.blocks.dtype

    @once
    def survey(self) -> "Survey":
        """What every fit asks before the first step, in one pass."""
        n_classes = None if self.blocks.distributions else self.loss.label_count(self.n_outputs)
        asked = _Surveyor(replace(self.view, exact=False), n_classes)
        found: Survey = self.blocks.total(asked, _surveyed)
        return found

    @property
    def total_weight(self) -> float:
        return self.survey.moments[0]

    def standardized(self, mean: Array, unit: Array) -> Passes:
        return self.with_view(standard=(mean, unit), key=uuid4().hex)

    def _ask(self, *asks: Ask, ahead: Ask | None = None) -> tuple[Any, ...]:
        """Answers to some questions; what is foreseen rides along, else the one that is likely to come next."""
        foreseen, self._foreseen = self._foreseen, None
        more = foreseen.asks if foreseen is not None else () if ahead is None else (ahead,)
        answer = self._total(*asks, *more)
        told = answer[len(asks) :]
        if foreseen is not None:
            self._known = foreseen.answered(told)
        elif ahead is not None:
            self._known = {(ahead[0], ahead[1].key): told[0]}
        return answer[: len(asks)]

    def _total(self, *asks: Ask) -> tuple[Any, ...]:
        answer: tuple[Any, ...] = self.blocks.total(Sweep(self.view, asks), added)
        return answer

    def foresee(self, params: Params, *, hessian: bool = False, duals: bool = False) -> bool:
        self._foreseen = _Foreseen(self.scores(params), hessian, duals)
        return True

    def _one(self, *ask: Any) -> Any:
        return self._ask(ask)[0]

    # -- value and gradient -----------------------------------------------------------------------------------

    def scores(self, params: Params) -> Any:
        return Product(self.view, params.copy(), self.precision)

    def total_loss(self, scores: Any) -> float:
        ahead = None if self.view.exact else ("gradient_from_scores", scores)
        (total,) = self._ask(("total_loss", scores), ahead=ahead)
        return float(total)

    def value_and_gradient(self, params: Params) -> tuple[Any, float, Array, Array]:
        known = self._known.get("at")
        if known is None or not _same(known[0].params, params):
            foreseen, self._foreseen = self._foreseen, None
            if foreseen is None or not _same(foreseen.product.params, params):
                foreseen = _Foreseen(self.scores(params), hessian=False, duals=False)
            self._known = told = foreseen.answered(self._total(*foreseen.asks))
            known = told["at"]
        product, total, G_W, G_b = known
        return product, total, G_W, G_b

    def gradient_from_scores(self, scores: Any) -> tuple[float, Array, Array]:
        known = self._known.get(("gradient_from_scores", scores.key))
        total, G_W, G_b = self._one("gradient_from_scores", scores) if known is None else known
        return total, G_W, G_b

    def value_and_slope(self, scores: Any, direction_scores: Any, step: float = 0.0) -> tuple[float, float]:
        moved = self.moved(scores, step, direction_scores)
        ((total, slope),) = self._ask(
            ("value_and_slope", scores, direction_scores, step), ahead=("gradient_from_scores", moved)
        )
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
        known = self._known.get(("masses", duals.scores.key))
        masses = self._one("masses", self.loss, duals) if known is None else known[0]
        return None if masses is None else replace(duals, balancer=self.loss, masses=masses)

    def dual_product(self, duals: Any) -> Array:
        product, total = self._ask(("dual_product", duals), ("total_conjugate", duals, 1.0))
        self._known["conjugate"] = duals, total
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
        known = self._known.get(("hessian", scores.key))
        return np.asarray(self._one("hessian", scores) if known is None else known)

    @property
    def column_moments(self) -> tuple[Array, Array]:
        return self.survey.moments[1:]

    def bias_sums(self, scores: Any, b: Array) -> BiasSums:
        return BiasSums(*self._one("bias_sums", scores, b))

    def best_null_bias(self) -> Array:
        if self.blocks.distributions:
            return self.best_bias_shift(self.scores(Params.zeros(self.n_outputs, self.blocks.n_features)))
        return self._best_bias_of_classes(self.class_totals())

    def class_totals(self) -> Array:
        totals = self.survey.class_totals
        assert totals is not None  # label distributions have none, and are not asked
        return totals

    # -- what only rows at hand can tell -------------------------------------------------------------------------

    def back_product(self, G: Array) -> NoReturn:
        _only_sums()

    def row_curvature(self, scores: Array, rows: slice | Array) -> RowCurvature:
        _only_sums()


def _same(a: Params, b: Params) -> bool:
    return np.array_equal(a.flat, b.flat)


def _only_sums() -> NoReturn:
    raise TypeError(
        "Rows in blocks are asked for sums over all of them, not for what belongs to single rows."
    )


Weighed = tuple[float, Array, Array]  # weight, mean and deviation of some rows


class Survey(NamedTuple):
    """Weight of some rows, mean and deviation of each of their features; weight of each class, where rows have one."""

    moments: Weighed
    class_totals: Array | None


@final
@dataclass(frozen=True)
class _Surveyor:
    """The survey of a block."""

    view: View
    n_classes: int | None

    def __call__(self, block: Block) -> Survey:
        n, weight = self.n_classes, float(block.weights.sum())
        totals = None if n is None else np.bincount(block.targets, weights=block.weights, minlength=n)
        if weight == 0:
            nothing = np.zeros(block.X.shape[1])
            return Survey((0.0, nothing, nothing), totals)
        return Survey((weight, *self.view.passes(block).column_moments), totals)


def _surveyed(a: Survey, b: Survey) -> Survey:
    return Survey(_merged(a.moments, b.moments), added(a.class_totals, b.class_totals))


def _merged(a: Weighed, b: Weighed) -> Weighed:
    """The moments of two parts of the rows, about the mean of both: nothing cancels far from the origin."""
    if a[0] == 0 or b[0] == 0:
        return b if a[0] == 0 else a
    weight = a[0] + b[0]
    shift, share = b[1] - a[1], b[0] / weight
    square = (1.0 - share) * a[2] ** 2 + share * b[2] ** 2 + share * (1.0 - share) * shift**2
    return weight, a[1] + share * shift, np.sqrt(square)
