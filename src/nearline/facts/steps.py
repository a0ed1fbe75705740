"""Single steps of the perceptron rule and of stochastic gradient descent, row by row."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.targets import checked_targets
from nearline._records.habits import named
from nearline.facts._checks import check_whole
from nearline.facts._fact import Fact, Table
from nearline.facts._step_pictures import draw_steps
from nearline.losses import LOSSES, Loss, ZeroOne
from nearline.regularizers import REGULARIZERS, Regularizer
from nearline.risk.params import Params
from nearline.solvers.sgd import sgd_step
from nearline.solvers.step_size import DecayingStep, as_step_size

# The step for a row (x, y), as the loss's gradient has it.
STEP_RULES = {
    "squared": "w += eta (y - w.x) x",
    "logistic": "w += eta sigma(-z) y x",
    "perceptron": "w += eta [z < 0] y x",
    "hinge": "w += eta [z < 1] y x",
    "squared-hinge": "w += eta 2 max(0, 1 - z) y x",
    "softmax": "w_y += eta (1 - P_y) x, other w_c -= eta P_c x",
    "sparsemax": "w_y += eta (1 - P_y) x, other w_c -= eta P_c x, P the sparsemax",
    "multiclass-perceptron": "for each c with f_c > f_y: w_y += eta x, w_c -= eta x",
    "weston-watkins": "for each c with 1 + f_c > f_y: w_y += eta x, w_c -= eta x",
    "crammer-singer": "for the c of largest 1 + f_c > f_y: w_y += eta x, w_c -= eta x",
}
TWO = np.array([[2.0, 2.0], [2.0, -1.0]]), np.array([1, 0])
FOUR = np.array([[2.0, 1.0], [1.0, -2.0], [-1.0, 2.0], [-2.0, -1.0]]), np.array([1, 0, 1, 0])
THREE = np.array([[2.0, 1.0], [-1.0, 2.0], [-1.0, -2.0]]), np.array([0, 1, 2])
MOST_STEPS = 10_000


@dataclass(frozen=True)
class Step:
    """One visit of a row."""

    row: int
    scores: Array  # (K,) before the step
    loss: float  # before the step
    before: Params
    after: Params

    @property
    def moved(self) -> bool:
        return not np.array_equal(self.before.flat, self.after.flat)


@dataclass(frozen=True)
class Steps(Fact):
    """Visits of rows, one after the other: scores before, parameters after."""

    rule: str
    X: Array
    targets: Array  # class numbers
    steps: tuple[Step, ...]
    mistakes: bool  # whether a step is a correction of a mistake, or one of a loss
    bias: bool
    ended: bool  # whether a whole cycle changed nothing

    @property
    def says(self) -> str:
        """The rule, and how it ended."""
        moved = sum(step.moved for step in self.steps)
        end = "the last cycle changes nothing" if self.ended else "rows go on to move w"
        return f"{self.rule}: {len(self.steps)} rows visited, {moved} move w; {end}."

    @property
    def params(self) -> Params:
        """After the last step."""
        return self.steps[-1].after

    def margin(self, step: Step) -> float | Array:
        """z = y f of two classes; the scores f of more."""
        if len(step.scores) > 1:
            return step.scores
        return float((1 if self.targets[step.row] == 1 else -1) * step.scores[0])

    def table(self) -> Table:
        two = self.steps[0].before.n_outputs == 1
        names = ["step", "row", "x", "y", "z" if two else "f", "mistake?" if self.mistakes else "loss"]
        names += ["w after" if two else "W after"] + (["b after"] if self.bias else [])
        return Table.of(names, (self._cells(i, step) for i, step in enumerate(self.steps, 1)))

    def _cells(self, number: int, step: Step) -> Iterator[Any]:
        two, y = step.before.n_outputs == 1, int(self.targets[step.row])
        yield from (number, step.row + 1, self.X[step.row], (1 if y == 1 else -1) if two else y)
        yield from (self.margin(step), step.moved if self.mistakes else step.loss)
        yield step.after.W[0] if two else step.after.W
        if self.bias:
            yield float(step.after.b[0]) if two else step.after.b

    def plot(self, ax: Any = None) -> Any:
        return draw_steps(self, ax)


def perceptron_steps(
    X: Any = None,
    y: Any = None,
    *,
    step_size: float | DecayingStep = 1.0,
    start: Params | None = None,
    bias: bool = False,
    max_iter: int = 20,
) -> Steps:
    """The perceptron rule of two classes, visit by visit: w += eta y x on each mistake z = y (w.x + b) <= 0.

    Without rows it is the worked example (0, 0) -> (2, 2) -> (0, 3). It ends after a cycle without mistakes, or after
    ``max_iter`` cycles. The numbers are those of :func:`nearline.perceptron_rule`.

    Examples
    --------
    >>> from nearline.facts import perceptron_steps
    >>> print(perceptron_steps().table())
    step  row        x   y   z  mistake?  w after
       1    1   (2, 2)   1   0       yes   (2, 2)
       2    2  (2, -1)  -1  -2       yes   (0, 3)
       3    1   (2, 2)   1   6        no   (0, 3)
       4    2  (2, -1)  -1   3        no   (0, 3)
    """
    X, targets = _rows((X, y) if X is not None else TWO, 2)
    check_whole(max_iter, "max_iter", 1)
    eta, params = as_step_size(step_size), _start(start, 1, X)
    steps: list[Step] = []
    for cycle in range(max_iter):
        made = 0
        for i, x in enumerate(X):
            sign = 1.0 if targets[i] == 1 else -1.0
            scores = params.W @ x + params.b
            gain = eta.at(cycle) * sign if sign * scores[0] <= 0 else 0.0
            after = Params.of(params.W + gain * x, params.b + gain * bias)
            steps.append(Step(i, scores, max(0.0, float(-sign * scores[0])), params, after))
            params, made = after, made + (gain != 0)
        _check_few(len(steps))
        if not made:
            break
    rule = (
        "Perceptron, w += y x where z <= 0" if step_size == 1.0 else "Perceptron, w += eta y x where z <= 0"
    )
    return Steps(rule, X, targets, tuple(steps), True, bias, made == 0)


def sgd_steps(
    loss: Loss | str = "logistic",
    X: Any = None,
    y: Any = None,
    *,
    eta: float = 0.5,
    alpha: float = 0.0,
    regularizer: Regularizer | str = "l2",
    start: Params | None = None,
    bias: bool = False,
    passes: int = 1,
) -> Steps:
    """Stochastic gradient descent, step by step through the rows in their order: :func:`nearline.sgd_step` each.

    ``loss``: any of the table of rules, ``facts.STEP_RULES``. Without rows four of two classes are taken, or three of
    three for losses of several.

    Examples
    --------
    >>> from nearline.facts import sgd_steps
    >>> print(sgd_steps("hinge", eta=1.0).table())
    step  row         x   y  z  loss   w after
       1    1    (2, 1)   1  0     1    (2, 1)
       2    2   (1, -2)  -1  0     1    (1, 3)
       3    3   (-1, 2)   1  5     0    (1, 3)
       4    4  (-2, -1)  -1  5     0    (1, 3)
    """
    kind = named(loss, LOSSES, Loss, "loss")
    if type(kind) is ZeroOne:
        raise ValueError(
            f"The zero-one loss has no slope to step along: choose one of {', '.join(STEP_RULES)}."
        )
    check_whole(passes, "passes", 1)
    shipped = THREE if kind.joint else FOUR
    X, targets = _rows((X, y) if X is not None else shipped, None if kind.joint else 2)
    params = _start(start, max(int(targets.max()) + 1, 2) if kind.joint else 1, X)
    steps: list[Step] = []
    _check_few(len(X) * passes)
    for i in np.tile(np.arange(len(X)), passes):
        scores = params.W @ X[i] + params.b
        value = float(kind.value(scores[None], targets[i : i + 1])[0])
        after = sgd_step(
            params, X[i], targets[i], loss=kind, eta=eta, alpha=alpha, regularizer=regularizer, bias=bias
        )
        steps.append(Step(int(i), scores, value, params, after))
        params = after
    said = STEP_RULES.get(kind.name, "w -= eta times the gradient")
    penalty = named(regularizer, REGULARIZERS, Regularizer, "regularizer").name
    pulled = f", then the penalty '{penalty}'" if alpha else ""
    ended = not any(step.moved for step in steps[-len(X) :])
    return Steps(f"SGD, loss '{kind.name}': {said}{pulled}", X, targets, tuple(steps), False, bias, ended)


def _rows(given: tuple[Any, Any], n_classes: int | None) -> tuple[Array, Array]:
    """Rows and class numbers, checked."""
    X, y = given
    if y is None:
        raise ValueError("X came without y: give a class number for each row.")
    rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
    targets = checked_targets(np.atleast_1d(np.asarray(y)), n_classes)
    if rows.ndim != 2 or not rows.size or rows.shape[0] != len(targets) or targets.ndim != 1:
        raise ValueError(
            f"X must be rows by features with one label for each row, got shape {rows.shape} and {len(targets)} labels."
        )
    if not np.isfinite(rows).all():
        raise ValueError("X has NaN or infinite values: drop those rows, or fill them.")
    return rows, targets


def _start(start: Params | None, n_outputs: int, X: Array) -> Params:
    params = Params.zeros(n_outputs, X.shape[1]) if start is None else start
    if params.n_features != X.shape[1] or params.n_outputs < n_outputs:
        raise ValueError(
            f"start has weights of shape {params.W.shape}, but {n_outputs} score(s) of {X.shape[1]} feature(s) are needed."
        )
    return params


def _check_few(n_steps: int) -> None:
    if n_steps > MOST_STEPS:
        raise ValueError(
            f"More than {MOST_STEPS} steps are too many to look at: give fewer rows or cycles, or take "
            "perceptron_rule and SGD, which keep no steps."
        )
