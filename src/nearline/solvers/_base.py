"""Solver, State, Solution, Status, and the one loop that every fit goes through."""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from nearline.arrays import Array
from nearline.params import Params
from nearline.risk import Point, Risk


class ConvergenceWarning(UserWarning):
    """A fit ended before it reached its tolerance; the message states gap, tolerance and remedy."""


class Status(Enum):
    """How a fit ended; the value is the sentence for the user."""

    CONVERGED = "converged to the tolerance"
    MAX_ITER = "stopped at max_iter before the tolerance was reached: raise max_iter or tol"
    PRECISION = "no further progress is possible in this precision: give X as float64, scale the features, or raise tol"
    NO_MINIMIZER = (
        "the training rows are separated (all margins > 0), so without a penalty the risk has no finite minimizer and "
        "its weights would grow without end: set alpha > 0 (with a regularizer), or use LinearSVM(hard_margin=True)"
    )


@dataclass
class State:
    """Where a solver stands: the point, and duals if it keeps them. Solvers extend it with what they remember."""

    point: Point
    duals: Array | None = None
    stuck: bool = False  # no further progress in this precision
    estimate: float | None = None  # the solver's own guess of the relative gap, where it has one for free


@dataclass(frozen=True)
class Solution:
    """What a fit ends with (SPEC D13): parameters, certificate and learning curve."""

    params: Params
    value: float
    gap: float | None  # certified relative duality gap; None where there is none
    gradient_test: float | None  # relative gradient, where there is no gap
    n_iter: int
    seconds: float
    status: Status
    trace: Array  # objective after each iteration, the start first
    solver: str
    duals: Array | None = None  # of solvers that keep them

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    def warn(self, tol: float) -> None:
        """Say what is wrong with an unconverged solution, once."""
        if self.converged:
            return
        reached = (
            f"gap {self.gap:.1e}"
            if self.gap is not None
            else f"relative gradient {self.gradient_test or 0:.1e}"
        )
        text = f"Solver '{self.solver}' after {self.n_iter} iterations ({reached}, tol {tol:.1e}): {self.status.value}."
        warnings.warn(text, ConvergenceWarning, stacklevel=3)


@dataclass(frozen=True)
class Solver(ABC):
    """A way to minimize a risk. ``step`` is one iteration; the loop in :func:`minimize` does all else."""

    name: ClassVar[str]
    max_iter: int = 1000

    @abstractmethod
    def refuses(self, risk: Risk) -> str | None:
        """Why this solver cannot serve the risk and which one can, or None if it can."""

    @abstractmethod
    def start(self, risk: Risk, params: Params, tol: float) -> State:
        """The state at ``params``."""

    @abstractmethod
    def step(self, risk: Risk, state: State) -> State:
        """The state after one iteration."""


Callback = Callable[[int, State], None]


def minimize(
    risk: Risk,
    solver: "Solver | str" = "auto",
    start: Params | None = None,
    *,
    tol: float = 1e-4,
    max_iter: int | None = None,
    callback: Callback | None = None,
) -> Solution:
    """Minimize a risk to a certified relative duality gap of ``tol`` (a relative gradient where there is no gap).

    ``callback(n_iter, state)`` is called after every iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import Risk, minimize
    >>> risk = Risk(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), loss="logistic", alpha=0.1)
    >>> solution = minimize(risk, tol=1e-8)
    >>> bool(solution.gap <= 1e-8)
    True
    """
    from nearline.solvers import choose

    chosen = choose(risk, solver)
    if not tol > 0:
        raise ValueError(f"tol must be > 0 (it is a relative duality gap), got {tol!r}.")
    limit = chosen.max_iter if max_iter is None else max_iter
    began = time.perf_counter()
    state = chosen.start(risk, risk.zeros() if start is None else start.copy(), tol)
    trace = [state.point.value]
    watch = Certifier(risk, tol)
    done, n_iter = watch.check(state, 0, False), 0
    while not done and n_iter < limit:
        state = chosen.step(risk, state)
        n_iter += 1
        trace.append(state.point.value)
        if callback is not None:
            callback(n_iter, state)
        done = watch.check(state, n_iter, n_iter == limit)
    if not done:
        watch.check(state, n_iter, True)
    point = watch.point
    return Solution(
        params=canonical(risk, point.params),
        value=point.value,
        gap=watch.gap,
        gradient_test=watch.gradient_test,
        n_iter=n_iter,
        seconds=time.perf_counter() - began,
        status=watch.status,
        trace=np.array(trace),
        solver=chosen.name,
        duals=state.duals,
    )


class Certifier:
    """Decides after each iteration whether the fit is done. The gap costs a pass, so it is asked when it may be small."""

    def __init__(self, risk: Risk, tol: float) -> None:
        self.risk, self.tol = risk, tol
        self.gap: float | None = None
        self.gradient_test: float | None = None
        self.status = Status.MAX_ITER
        self.next_check = 0
        self.has_gap = (
            not risk.unpenalized
            and risk.loss.conjugate(np.zeros((0, risk.n_outputs)), risk.targets[:0]) is not None
        )

    def check(self, state: State, n_iter: int, last: bool) -> bool:
        self.point = state.point
        if self._separated(state.point):
            self.status = Status.NO_MINIMIZER
            self.gradient_test = self.risk.gradient_test(state.point)
            return True
        if not (last or state.stuck or self._promising(state, n_iter)):
            return False
        if self.has_gap:
            self.point, self.gap = self.risk.certify(state.point, state.duals)
            reached = self.gap is not None and self.gap <= self.tol
        else:
            self.gradient_test = self.risk.gradient_test(state.point)
            reached = self.gradient_test <= self.tol
        if reached:
            self.status = Status.CONVERGED
        elif state.stuck:
            self.status = Status.PRECISION
        return reached or state.stuck

    def _promising(self, state: State, n_iter: int) -> bool:
        """Whether the certificate is worth its price now."""
        if not self.has_gap:
            return True
        if state.estimate is not None:
            return state.estimate <= self.tol
        risk = self.risk
        if risk.loss.smooth and risk.l1 == 0 and risk.l2 > 0 and state.duals is None:
            # With u = the gradient of the loss and b at its best, P - D = |dP/dW|^2 / (2 alpha l2) exactly.
            estimate = float(np.vdot(state.point.gradient.W, state.point.gradient.W)) / (2.0 * risk.l2)
            bias_too = float(np.abs(state.point.gradient.b).max(initial=0.0)) <= 10.0 * self.tol**0.5
            return bias_too and estimate <= self.tol * risk.null_value
        if n_iter < self.next_check:
            return False
        self.next_check = n_iter + 1 + n_iter // 8
        return True

    def _separated(self, point: Point) -> bool:
        """SPEC D14: an iterate with all margins > 0 proves that an unpenalized logistic risk has no minimizer."""
        risk = self.risk
        if not risk.unpenalized or risk.loss.name not in ("logistic", "softmax") or risk.targets.ndim == 2:
            return False
        return risk.passes.smallest_margin(point.scores) > 0


def canonical(risk: Risk, params: Params) -> Params:
    """The representative among equal solutions: joint losses do not see a shift of all scores alike."""
    if not risk.loss.joint:
        return params
    params = params.copy()
    params.b[:] -= params.b.mean()
    if risk.unpenalized:
        params.W[...] -= params.W.mean(axis=0)
    return params


def first_willing(risk: Risk, solvers: Sequence[Solver]) -> Solver | None:
    """The first solver that does not refuse the risk."""
    return next((solver for solver in solvers if solver.refuses(risk) is None), None)
