"""The perceptron rule: learn from mistakes only, until there are none. It minimizes no risk."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import as_design, contiguous, is_sparse
from nearline._arrays.targets import checked_targets
from nearline._records.kept import OneOf, OrNone, Whole, kept
from nearline._records.refused import ParameterError
from nearline.losses import MulticlassPerceptron, PerceptronLoss, signs
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._perceptron import PerceptronResult, Rule, least_cycles, no_longer_helps
from nearline.solvers._state import State
from nearline.solvers.step_size import KEPT_STEP, DecayingStep, as_step_size

__all__ = [
    "MULTICLASS",
    "PerceptronResult",
    "PerceptronRule",
    "least_cycles",
    "no_longer_helps",
    "perceptron_rule",
]

MULTICLASS = ("joint", "argmax", "one-vs-rest")


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
    step_size: float | DecayingStep = 1.0,
    while_it_helps: bool = False,
) -> PerceptronResult:
    """Cycle through the rows, correct W on mistakes, until a whole cycle has none (or ``max_iter`` cycles).

    Two classes, y in {-1, +1}: if y (w.x + b) <= 0, then w += s y x and b += s y, s the step size times the row's weight.
    More classes:

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
    step_size : what corrections are multiplied by: a number, or a :class:`DecayingStep` that goes down from cycle to
        cycle. From a start at 0 a number scales W and changes nothing else.
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
        raise ParameterError("multiclass", multiclass, f"one of {', '.join(map(repr, MULTICLASS))}")
    if not (max_iter >= 0 and max_iter == int(max_iter)):
        raise ParameterError("max_iter", max_iter, "a whole number >= 0")
    if start is None:
        n_classes = int(labels.max(initial=1)) + 1 if n_classes is None else n_classes
        start = Params.zeros(1 if n_classes <= 2 else n_classes, D)
    elif start.n_features != D:
        raise ValueError(f"start has weights for {start.n_features} features, but X has {D}.")
    least = least_cycles(int(X.nnz if is_sparse(X) else X.size)) if while_it_helps else 0
    rule = Rule(
        "one-vs-rest" if start.n_outputs == 1 else multiclass,
        bias,
        averaged,
        random_state,
        int(max_iter),
        least,
    )
    result = rule.decaying(X, labels, s, start, as_step_size(step_size))
    return rule.bounded(X, s, start, as_step_size(step_size), result)


@dataclass
class PerceptronState(State):
    """The number of cycles so far, which seeds the next shuffle."""

    cycles: int = field(default=0, kw_only=True)


@kept(multiclass=OneOf(MULTICLASS), random_state=OrNone(Whole()), step_size=KEPT_STEP)
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
    step_size: float | DecayingStep = 1.0

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
            step_size=as_step_size(self.step_size).at(state.cycles),
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
