"""The dual of two-class kernel machines with hinge loss and bias, solved by SMO, with its certificate.

With rows i of a problem, labels y in {-1, +1}, C_i = s_i / (S alpha) and beta_i = y_i a_i of the dual variables a,

    primal  1/2 beta' K beta + sum_i C_i max(0, 1 - y_i f_i),   f = K beta + b
    dual    y' beta - 1/2 beta' K beta,   0 <= y_i beta_i <= C_i,   sum beta = 0

(both are the risk divided by alpha). F = K beta - y is the gradient of the negative dual; at the optimum no beta that may
grow has a smaller F than one that may fall: the difference is the violation, in units of the score.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._parallel.tiles import steps

WORK = 1e8  # rows times steps of one call of the core: nobody can stop it meanwhile
FEWEST_STEPS = 1000
TINY = float(np.finfo(float).tiny)
WORKING_SET = 1024  # rows that are solved at a time where the Gram matrix does not fit


@dataclass
class Problem:
    """Rows of a Gram matrix in two classes, with the dual variables so far."""

    at: Array  # (m,) row numbers
    y: Array  # (m,) -1 or +1
    C: Array  # (m,)
    beta: Array  # (m,)
    F: Array  # (m,)

    @classmethod
    def new(cls, at: Array, y: Array, C: Array) -> "Problem":
        y = np.asarray(y, dtype=np.float64)
        return cls(at.astype(np.int32), y, np.asarray(C, dtype=np.float64), np.zeros(len(y)), -y)

    def scaled(self, factor: float) -> "Problem":
        """With every C times a factor, started from beta times that factor: what is at a bound stays there."""
        return Problem(
            self.at, self.y, factor * self.C, factor * self.beta, factor * (self.F + self.y) - self.y
        )


@dataclass(frozen=True)
class Certificate:
    """The bias that is best for a beta, and how far the risk is from its minimum at most."""

    b: float
    primal: float
    dual: float
    null: float  # the primal of the best constant score

    @property
    def gap(self) -> float:
        """Relative to the risk itself. Below 0 it is rounding, of that size."""
        return abs(self.primal - self.dual) / max(self.primal, TINY)

    @property
    def null_gap(self) -> float:
        """Relative to the risk of the best constant, for machines of which only the labels count."""
        return abs(self.primal - self.dual) / max(self.null, TINY)


def certificates(problems: Sequence[Problem]) -> list[Certificate]:
    """One for each problem."""
    starts, _, y, C, beta, F = _joined(problems)
    results = np.empty((len(problems), 4))
    _core.hinge_certificates(starts, y, C, beta, F, results)
    return [Certificate(*map(float, row)) for row in results]


def smo(
    K: Array,
    problems: Sequence[Problem],
    *,
    tol: float,
    max_iter: int = 10_000_000,
    shrinking: bool = True,
    places: Array | None = None,
) -> Array:
    """Solve problems over one Gram matrix at the same time, in place; (problems, 2): violation and number of steps.

    ``places`` say where the matrix has each row, if it has them in another order.
    """
    starts, at, y, C, beta, F = _joined(problems)
    at = at if places is None else places[at].astype(np.int32)
    results, taken, K = np.empty((len(problems), 2)), np.zeros(len(problems)), np.ascontiguousarray(K)
    some = max(FEWEST_STEPS, int(WORK // max(1, len(y))))
    for begin in steps(range(0, max(1, max_iter), some)):
        most = min(some, max_iter - begin)
        _core.smo(K, at, starts, y, C, beta, F, tol, most, shrinking, results)
        taken += results[:, 1]
        if (results[:, 1] < most).all():
            break
    results[:, 1] = taken
    for p, start, end in zip(problems, starts, starts[1:], strict=False):
        p.beta, p.F = beta[start:end], F[start:end]
    return results


def _joined(problems: Sequence[Problem]) -> tuple[Array, ...]:
    """Where each problem begins, and the arrays of all, one behind the other."""
    at, y, C, beta, F = zip(*((p.at, p.y, p.C, p.beta, p.F) for p in problems), strict=True)
    starts = np.cumsum([0, *map(len, y)], dtype=np.int64)
    return starts, *map(np.concatenate, (at, y, C, beta, F))


def smo_by_parts(
    rows_of: Callable[[Array], Array],
    problem: Problem,
    *,
    tol: float,
    memory: float,
    itemsize: int = 8,
    max_iter: int = 10_000_000,
) -> tuple[float, int]:
    """Solve a problem whose Gram matrix does not fit: on working sets of the rows that violate most.

    ``rows_of(at)`` gives rows of the matrix, restricted to the problem's rows; those used last are kept up to ``memory``
    bytes. Half of a working set are rows of the one before, so that rows do not move out and in again.
    """
    kept: OrderedDict[int, Array] = OrderedDict()
    n = len(problem.y)
    lo, hi = np.minimum(0.0, problem.y * problem.C), np.maximum(0.0, problem.y * problem.C)
    steps, before = 0, np.zeros(0, dtype=np.intp)
    violation = np.inf
    size = int(np.clip(memory / (3.0 * n * itemsize), 8, WORKING_SET))
    while steps < max_iter:
        up, down = problem.beta < hi, problem.beta > lo
        violation = float(problem.F[down].max(initial=-np.inf) - problem.F[up].min(initial=np.inf))
        if violation <= tol:
            break
        chosen = _working_set(problem.F, up, down, before, min(n, size))
        rows = _cached_rows(kept, rows_of, chosen, memory)
        part = Problem(
            np.arange(len(chosen), dtype=np.int32),
            *(getattr(problem, name)[chosen] for name in ("y", "C", "beta", "F")),
        )
        K = np.ascontiguousarray(rows[:, chosen])
        limit = min(100 * WORKING_SET, max_iter - steps)
        taken = int(smo(K, [part], tol=max(0.3 * tol, 0.1 * violation), max_iter=limit)[0, 1])
        problem.F = problem.F + (part.beta - problem.beta[chosen]) @ rows
        problem.beta[chosen] = part.beta
        if taken == 0 and not len(before):
            break
        steps, before = steps + taken, chosen if taken else chosen[:0]
    return max(0.0, violation), steps


def _working_set(F: Array, up: Array, down: Array, before: Array, size: int) -> Array:
    """The rows with the smallest F that may grow and the largest that may fall, beside half of those before."""
    stay = before[-(size // 2) :] if len(before) else before
    free = np.ones(len(F), dtype=bool)
    free[stay] = False
    room = size - len(stay)
    smallest, largest = np.flatnonzero(up & free), np.flatnonzero(down & free)
    smallest = smallest[np.argsort(F[smallest], kind="stable")[: room // 2]]
    largest = largest[np.argsort(-F[largest], kind="stable")[: room - len(smallest)]]
    new = np.unique(np.concatenate([smallest, largest]))
    return np.concatenate([stay, new])


def _cached_rows(
    kept: OrderedDict[int, Array], rows_of: Callable[[Array], Array], chosen: Array, memory: float
) -> Array:
    missing = np.array([r for r in chosen if int(r) not in kept], dtype=np.intp)
    if len(missing):
        for r, row in zip(missing, rows_of(missing), strict=True):
            kept[int(r)] = row
    rows = []
    for r in chosen:
        kept.move_to_end(int(r))
        rows.append(kept[int(r)])
    while len(kept) > len(chosen) and len(kept) * rows[0].nbytes > memory:
        kept.popitem(last=False)
    return np.stack(rows)
