"""The perceptron rule: learn from mistakes only, until there are none. It minimizes no risk."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, Design, as_design, contiguous, is_sparse
from nearline._arrays.targets import checked_targets
from nearline._records.kept import Flag, Instance, Numbers, OneOf, OrNone, Real, Whole, kept, require
from nearline.losses import MulticlassPerceptron, PerceptronLoss, signs
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._goal import Goal
from nearline.solvers._state import State
from nearline.solvers.sgd import rows_of

MULTICLASS = ("joint", "argmax", "one-vs-rest")
FEWEST_CYCLES = 10
CHEAP = 10_000_000  # numbers that cost next to nothing to go through


def _of_one_shape(result: "PerceptronResult") -> None:
    shapes = {(one.n_outputs, one.n_features) for one in (result.params, result.total)}
    fits = len(shapes) == 1 and result.params.n_outputs == len(result.visits)
    require(fits, "The last weights of a perceptron, their sum and its visits are not of one shape")


@kept(
    params=Instance(Params),
    total=Instance(Params),
    visits=Numbers(("K",), least=0.0),
    mistakes=Whole(),
    n_iter=Whole(),
    converged=Flag(),
    radius=OrNone(Real(wild=True)),
    margins=OrNone(Numbers(None, wild=True)),
    bound=OrNone(Real(wild=True)),
    clean=OrNone(Numbers(("K",), "truth values")),
    links=_of_one_shape,
)
@dataclass(frozen=True)
class PerceptronResult:
    """How the rule ended.

    A mistake is a visit of a row with z = y f <= 0 (two classes, and each column of one-vs-rest), with f_c >= f_y
    for a class c (joint: each such c counts), or with a best rival f_c >= f_y (argmax).

    ``bound`` is Novikoff's, from the separator that was found: with R = max |[x; 1]| (without the 1 if there is no
    bias) and gamma the smallest margin of the rows under the final [W, b] divided by its norm,

        mistakes <= m (s_max / s_min) (R / gamma)^2,     m = 1 (two classes), 2 (argmax), K (joint),

    where s are the positive sample weights; one-vs-rest adds the bounds of its columns. It holds for a start at 0, and
    is None after another start, and where the rule did not end.
    """

    params: Params  # the last iterate
    total: Params  # sum of s_i W over the visits (if averaged)
    visits: Array  # (K,) sum of s_i over the visits
    mistakes: int
    n_iter: int  # cycles, the one without mistakes included
    converged: bool  # whether a cycle had no mistake (one-vs-rest: of each column)
    radius: float | None = None
    margins: Array | None = None  # gamma, one for each separate problem
    bound: float | None = None
    clean: Array | None = None  # (K,) for which columns a cycle had no mistake

    @property
    def answer(self) -> Params:
        """The last iterate where a cycle had no mistake, else the mean."""
        if self.clean is None or not self.visits.any():
            return self.params
        mean = self.mean
        W = np.where(self.clean[:, None], self.params.W, mean.W)
        return Params.of(W, np.where(self.clean, self.params.b, mean.b))

    @property
    def mean(self) -> Params:
        """The mean of the weights over all visits: the averaged perceptron."""
        visits = np.where(self.visits > 0, self.visits, 1.0)
        return Params.of(self.total.W / visits[:, None], self.total.b / visits)


def perceptron_rule(
    X: Any,
    targets: Any,
    *,
    n_classes: int | None = None,
    multiclass: str = "joint",
    weights: Any = None,
    bias: bool = True,
    averaged: bool = False,
    random_state: int | None = None,
    max_iter: int = 1000,
    start: Params | None = None,
    while_it_helps: bool = False,
) -> PerceptronResult:
    """Cycle through the rows, correct W on mistakes, until a whole cycle has none (or ``max_iter`` cycles).

    Two classes, y in {-1, +1}: if y (w.x + b) <= 0, then w += s y x and b += s y, s the row's weight. More classes:

    - "joint": for each c with f_c >= f_y, w_y += s x and w_c -= s x
    - "argmax": the same, for the largest of these f_c only
    - "one-vs-rest": K rules of two classes, each class against all others.

    Parameters
    ----------
    X : (n, D) array or sparse matrix.
    targets : (n,) class numbers 0 .. C-1; of two classes, 1 is y = +1 and 0, or -1, y = -1 (False and True do too).
    averaged : whether to sum the iterates, for ``result.mean``.
    random_state : None: rows in the order given; a number: in an order drawn anew for each cycle.
    start : where to start, 0 if None.
    while_it_helps : whether to end, too, once cycles no longer help: after cycle t if the fewest mistakes in a cycle are
        more than nine tenths of what they were after t / 2 cycles (one-vs-rest: each column by itself), and t >= 10 and
        the cycles have gone through 10 million numbers. Rows that are not separable would else take all ``max_iter``.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import perceptron_rule
    >>> result = perceptron_rule(np.array([[2.0, 2.0], [2.0, -1.0]]), [1, 0], bias=False)
    >>> result.params.W, result.mistakes, result.converged  # 0 -> (2, 2) -> (0, 3)
    (array([[0., 3.]]), 2, True)
    """
    X = as_design(X)
    n_rows, D = X.shape
    if start is not None:
        n_classes = 2 if start.n_outputs == 1 else start.n_outputs
    labels = checked_targets(targets, n_classes if n_classes is None else max(n_classes, 2))
    s = np.ones(n_rows) if weights is None else contiguous(weights, np.float64)
    if len(labels) != n_rows or len(s) != n_rows:
        raise ValueError(
            f"X has {n_rows} rows, but targets {len(labels)} and weights {len(s)}: give one for each row."
        )
    if multiclass not in MULTICLASS:
        raise ValueError(f"multiclass must be one of {', '.join(map(repr, MULTICLASS))}, got {multiclass!r}.")
    if not (max_iter >= 0 and max_iter == int(max_iter)):
        raise ValueError(f"max_iter must be a whole number >= 0, got {max_iter!r}.")
    if start is None:
        n_classes = int(labels.max(initial=1)) + 1 if n_classes is None else n_classes
        start = Params.zeros(1 if n_classes <= 2 else n_classes, D)
    elif start.n_features != D:
        raise ValueError(f"start has weights for {start.n_features} features, but X has {D}.")
    least = least_cycles(int(X.nnz if is_sparse(X) else X.size)) if while_it_helps else 0
    return _run(X, labels, s, multiclass, bias, averaged, random_state, int(max_iter), least, start)


def least_cycles(n_numbers: int) -> int:
    """Cycles before the question whether they still help: small problems are cheap, and may well come to an end."""
    return max(FEWEST_CYCLES, -(-CHEAP // max(n_numbers, 1)))


def no_longer_helps(mistakes: Sequence[int], least: int) -> bool:
    """Whether twice as many cycles brought the fewest mistakes in a cycle down by less than a tenth."""
    t = len(mistakes)
    return t >= max(least, 2) and 10 * min(mistakes) > 9 * min(mistakes[: t // 2])


def _run(
    X: Design,
    labels: Array,
    weights: Array,
    multiclass: str,
    bias: bool,
    averaged: bool,
    random_state: int | None,
    max_iter: int,
    least: int,
    start: Params,
) -> PerceptronResult:
    params, total, K = start.copy(), start.like(np.zeros_like(start.flat)), start.n_outputs
    visits, smallest = np.zeros(K), np.zeros(K)
    mistakes, cycles, clean = np.zeros(K, np.int64), np.zeros(K, np.int64), np.zeros(K, np.bool_)
    rule = "one-vs-rest" if K == 1 else multiclass
    shuffle = random_state is not None
    _core.perceptron(
        rows_of(X), rule, labels, weights, max_iter, least, bias, averaged, shuffle, random_state or 0,
        params.W, params.b, total.W, total.b, visits, mistakes, cycles, clean, smallest,
    )  # fmt: skip
    result = PerceptronResult(
        params, total, visits, int(mistakes.sum()), int(cycles.max()), bool(clean.all()), clean=clean
    )
    if not result.converged or start.flat.any() or not weights.any():
        return result
    squares = (params.W**2).sum(axis=1) + params.b**2
    separate = rule == "one-vs-rest"
    margins = smallest / np.sqrt(squares) if separate else smallest[:1] / np.sqrt(squares.sum())
    used = weights > 0
    rows = X if used.all() else X[np.flatnonzero(used)]
    radius = float(np.sqrt(_core.largest_square_norm(rows_of(rows)) + float(bias)))
    factor = {"one-vs-rest": 1, "argmax": 2, "joint": K}[rule] * weights.max() / weights[used].min()
    bound = float((factor * (radius / margins) ** 2).sum())
    return replace(result, radius=radius, margins=margins, bound=bound)


@dataclass
class PerceptronState(State):
    """The number of cycles so far, which seeds the next shuffle."""

    cycles: int = field(default=0, kw_only=True)


@kept(multiclass=OneOf(MULTICLASS), random_state=OrNone(Whole()))
@dataclass(frozen=True)
class PerceptronRule(Solver):
    """The rule under the name 'perceptron', for risks of the perceptron losses without a penalty.

    One iteration is one cycle. The fit has converged when no row is mistaken; on rows that are not separable it never
    does, and goes on to ``max_iter``.
    """

    name: ClassVar[str] = "perceptron"
    max_iter: int = 1000
    multiclass: str = "joint"
    random_state: int | None = None

    def refuses(self, risk: Risk) -> str | None:
        if type(risk.loss) not in (PerceptronLoss, MulticlassPerceptron):
            return (
                "The perceptron rule learns from mistakes alone and cannot minimize the risk of loss "
                f"'{risk.loss.name}': use 'sgd', which takes such steps for any loss, or solver='auto'."
            )
        if not risk.unpenalized:
            return f"The perceptron rule takes no penalty (set alpha=0): {risk.loss.refusal}."
        if risk.targets.ndim == 2:
            return "The perceptron rule needs one class for each row: give class numbers as targets."
        return None

    def start(self, risk: Risk, params: Params, goal: Goal) -> PerceptronState:
        return PerceptronState(self._point(risk, params))

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, PerceptronState)
        result = perceptron_rule(
            risk.X,
            risk.targets,
            multiclass=self.multiclass if risk.loss.joint else "one-vs-rest",
            weights=risk.weights,
            bias=risk.bias,
            random_state=None if self.random_state is None else self.random_state + state.cycles,
            max_iter=1,
            start=state.point.params,
        )
        state.cycles += 1
        state.point = self._point(risk, result.params)
        return state

    def _point(self, risk: Risk, params: Params) -> Point:
        """The risk at ``params``, with the sub-gradient that counts ties as mistakes: 0 only if there are none."""
        point = risk.at(params)
        scores = point.scores.astype(np.float64)
        if risk.loss.joint:
            rows = np.arange(risk.n_rows)
            G = (scores >= scores[rows, risk.targets][:, None]).astype(np.float64)
            G[rows, risk.targets] = 1.0 - G.sum(axis=1)
        else:
            y = signs(risk.targets, risk.n_outputs)
            G = -y * (y * scores <= 0)
        G = G * risk.weights[:, None] / risk.total_weight
        bias = G.sum(axis=0) if risk.bias else np.zeros(risk.n_outputs)
        gradient = Params.of(risk.passes.back_product(G), bias)
        return Point(params, point.scores, point.data_loss, point.penalty, gradient)
