"""How the perceptron rule goes through rows, how it ends, and the bound on its mistakes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, Design
from nearline._records.kept import Flag, Instance, Numbers, OrNone, Real, Whole, kept, require
from nearline.risk.params import Params
from nearline.solvers.sgd import rows_of
from nearline.solvers.step_size import DecayingStep

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

    where s are the positive sample weights times the step sizes of the cycles made; one-vs-rest adds the bounds of its
    columns. After a start at W0 other than 0, with u the final [W, b] divided by its norm and a = W0.u, it is Q / s_min
    for the largest Q with (gamma Q + a)^2 <= |W0|^2 + m R^2 s_max Q: corrections move [W, b] along u by gamma Q at
    least, and add m R^2 s_max Q to its squared norm at most. It is None where the rule did not end.
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


def least_cycles(n_numbers: int) -> int:
    """Cycles before the question whether they still help: small problems are cheap, and may well come to an end."""
    return max(FEWEST_CYCLES, -(-CHEAP // max(n_numbers, 1)))


def no_longer_helps(mistakes: Sequence[int], least: int) -> bool:
    """Whether twice as many cycles brought the fewest mistakes in a cycle down by less than a tenth."""
    t = len(mistakes)
    return t >= max(least, 2) and 10 * min(mistakes) > 9 * min(mistakes[: t // 2])


@dataclass(frozen=True)
class Rule:
    """How the core is to go through the rows."""

    multiclass: str
    bias: bool
    averaged: bool
    random_state: int | None
    max_iter: int
    least: int  # cycles from which on they must help; 0: they need not

    def decaying(
        self, X: Design, labels: Array, weights: Array, start: Params, eta: DecayingStep
    ) -> PerceptronResult:
        """Cycles of step eta.at(t); those of one size are run at once."""
        if eta.decay == 0.0:
            return self.of_one_step(X, labels, weights, start, eta.first)
        one, made = replace(self, max_iter=1, least=0), []
        result = replace(one, max_iter=0).of_one_step(X, labels, weights, start, eta.first)
        total, visits = result.total.flat, result.visits
        for t in range(self.max_iter):
            order = None if self.random_state is None else self.random_state + t
            cycle = replace(one, random_state=order)
            result = cycle.of_one_step(X, labels, weights, result.params, eta.at(t))
            total, visits = total + result.total.flat, visits + result.visits
            made.append(result.mistakes)
            if result.converged or (self.least and no_longer_helps(made, self.least)):
                break
        return replace(result, total=start.like(total), visits=visits, mistakes=sum(made), n_iter=len(made))

    def of_one_step(
        self, X: Design, labels: Array, weights: Array, start: Params, eta: float
    ) -> PerceptronResult:
        """The rule with steps eta from W0 is eta times the rule with steps 1 from W0 / eta: scores have the same signs."""
        params, total, K = (
            start.like(start.flat / eta),
            start.like(np.zeros_like(start.flat)),
            start.n_outputs,
        )
        visits, smallest = np.zeros(K), np.zeros(K)
        mistakes, cycles, clean = np.zeros(K, np.int64), np.zeros(K, np.int64), np.zeros(K, np.bool_)
        shuffle = self.random_state is not None
        _core.perceptron(
            rows_of(X), self.multiclass, labels, weights, self.max_iter, self.least, self.bias, self.averaged,
            shuffle, self.random_state or 0, params.W, params.b, total.W, total.b, visits, mistakes, cycles, clean,
            smallest,
        )  # fmt: skip
        return PerceptronResult(
            params.like(eta * params.flat),
            total.like(eta * total.flat),
            visits,
            int(mistakes.sum()),
            int(cycles.max()),
            bool(clean.all()),
            margins=eta * smallest,
            clean=clean,
        )

    def bounded(
        self, X: Design, weights: Array, start: Params, eta: DecayingStep, result: PerceptronResult
    ) -> PerceptronResult:
        """The result with Novikoff's bound, for which its margins are divided by the norm of the separator."""
        used, smallest = weights > 0, result.margins
        if not (result.converged and used.any() and smallest is not None):
            return replace(result, margins=None)
        separate = self.multiclass == "one-vs-rest"
        last, first = _problems(result.params, separate), _problems(start, separate)
        norms = np.linalg.norm(last, axis=1)
        gamma = smallest[: len(last)] / norms
        rows = X if used.all() else X[np.flatnonzero(used)]
        radius = float(np.sqrt(_core.largest_square_norm(rows_of(rows)) + float(self.bias)))
        factor = {"one-vs-rest": 1, "argmax": 2, "joint": start.n_outputs}[self.multiclass]
        most = eta.first * float(weights.max())
        least = eta.at(max(result.n_iter - 1, 0)) * float(weights[used].min())
        along = (first * last).sum(axis=1) / norms
        growth = factor * radius**2 * most
        Q = _most_movement(gamma, growth, along, (first**2).sum(axis=1))
        return replace(result, radius=radius, margins=gamma, bound=float((Q / least).sum()))


def _problems(params: Params, separate: bool) -> Array:
    """[W, b], one row for each separate problem."""
    whole = np.column_stack([params.W, params.b])
    return whole if separate else whole.reshape(1, -1)


def _most_movement(gamma: Array, growth: float, along: Array, square: Array) -> Array:
    """The largest Q with (gamma Q + along)^2 <= square + growth Q, where along^2 <= square."""
    p = growth - 2.0 * along * gamma
    left = np.maximum(square - along**2, 0.0)
    return np.asarray((p + np.sqrt(p**2 + 4.0 * gamma**2 * left)) / (2.0 * gamma**2))
