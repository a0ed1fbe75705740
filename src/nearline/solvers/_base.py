"""Solver, State, Solution, Status, and the one loop that every fit goes through."""

import numbers
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from nearline.arrays import Array
from nearline.params import Params
from nearline.risk import Point, Risk
from nearline.tiles import single_threaded_blas


class ConvergenceWarning(UserWarning):
    """A fit ended before it reached its tolerance; the message states gap, tolerance and remedy."""


class Status(Enum):
    """How a fit ended; the value is the sentence for the user."""

    CONVERGED = "converged to the tolerance"
    MAX_ITER = "stopped at max_iter before the tolerance was reached: raise max_iter or tol"
    PRECISION = "no further progress is possible in this precision: give X as float64, scale the features, or raise tol"
    NO_MINIMIZER = (
        "the training rows are separated, or some are and the others lie on the boundary (a direction has all margins >= "
        "0 and one > 0), so without a penalty the risk has no finite minimizer and its weights would grow without end: "
        "set alpha > 0 (with a regularizer), or use LinearSVM(hard_margin=True) if is_separable says so"
    )
    NOT_CHECKED = (
        "converged to the tolerance, but the rows are too many to check whether the risk has a finite minimizer without "
        "a penalty, or whether its weights would grow as tol falls: set alpha > 0 (with a regularizer)"
    )


@dataclass
class State:
    """Where a solver stands: the point, and duals if it keeps them. Solvers extend it with what they remember."""

    point: Point
    duals: Array | None = None
    stuck: bool = False  # no further progress in this precision
    estimate: float | None = None  # the solver's own guess of the relative gap, where it has one for free
    fresh: bool = (
        True  # whether the point's scores were computed from its parameters, not updated along the way
    )


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
        return self.status in (Status.CONVERGED, Status.NOT_CHECKED)

    def warn(self, tol: float) -> None:
        """Say what is wrong with an unconverged solution, once."""
        if self.status is Status.CONVERGED:
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

    @property
    def descends(self) -> bool:
        """Whether every step is meant to lower the risk, so that a long halt means the end of precision."""
        return False

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

    ``callback(n_iter, state)`` is called after every iteration. A logistic or softmax risk without a penalty may have no
    finite minimizer; that is found out, and the status says so (NO_MINIMIZER), or that it cost too much (NOT_CHECKED).

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import Risk, minimize
    >>> risk = Risk(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), loss="logistic", alpha=0.1)
    >>> solution = minimize(risk, tol=1e-8)
    >>> bool(solution.gap <= 1e-8)
    True
    """
    from nearline.solvers._existence import has_minimizer, in_question

    solution = search_minimum(risk, solver, start, tol=tol, max_iter=max_iter, callback=callback)
    if not (in_question(risk) and solution.status in (Status.CONVERGED, Status.PRECISION)):
        return solution
    with single_threaded_blas:
        found = has_minimizer(risk, solution.params)
    if found is False:
        return replace(solution, status=Status.NO_MINIMIZER)
    unknown = found is None and solution.status is Status.CONVERGED
    return replace(solution, status=Status.NOT_CHECKED) if unknown else solution


def search_minimum(
    risk: Risk,
    solver: "Solver | str" = "auto",
    start: Params | None = None,
    *,
    tol: float = 1e-4,
    max_iter: int | None = None,
    callback: Callback | None = None,
) -> Solution:
    """The same as :func:`minimize`, but for the question whether there is a minimizer, which it does not ask."""
    from nearline.solvers import SOLVERS, choose

    chosen = choose(risk, solver)
    _check_limits(tol, max_iter)
    if start is not None and start.W.shape != (risk.n_outputs, risk.n_features):
        raise ValueError(
            f"start has weights of shape {start.W.shape}, but the risk has {risk.n_outputs} score(s) of "
            f"{risk.n_features} feature(s): start from risk.zeros() or parameters of that shape."
        )
    if max_iter is not None:
        chosen = replace(chosen, max_iter=max_iter)  # a solver may do its last iteration in another way
    began = time.perf_counter()
    try:
        solution = _loop(risk, chosen, risk.zeros() if start is None else start.copy(), tol, callback, began)
        # Sweeps over the dual end early where features of very different scales, or few rows, meet a small alpha.
        other = first_willing(
            risk, [SOLVERS[name] for name in ("smo", "linear-program", "smoothing", "newton-cg")]
        )
        if solver == "auto" and solution.status is Status.PRECISION and other is not None:
            again = _loop(risk, other, solution.params.copy(), tol, callback, began)
            solution = min(solution, again, key=lambda found: np.inf if found.gap is None else found.gap)
        return solution
    except np.linalg.LinAlgError as error:  # what factorizations say of NaN and infinity
        raise ValueError(_not_finite(risk) or str(error)) from error


def _loop(
    risk: Risk, chosen: Solver, start: Params, tol: float, callback: Callback | None, began: float
) -> Solution:
    limit = chosen.max_iter
    with single_threaded_blas:  # a BLAS that splits sums by its number of threads would change the last bits
        if np.isnan(risk.null_value):  # kept for the certificate, so that looking at it costs nothing
            raise np.linalg.LinAlgError("The risk at W = 0 is not a number.")
        state = chosen.start(risk, start, tol)
        trace = [state.point.value]
        watch = Certifier(risk, tol, descends=chosen.descends)
        done, n_iter = watch.check(state, 0, False), 0
        while not done and n_iter < limit:
            state = chosen.step(risk, state)
            n_iter += 1
            trace.append(state.point.value)
            if callback is not None:
                callback(n_iter, state)
            done = watch.check(state, n_iter, n_iter == limit)
        if n_iter == 0 and not done:
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


def _check_limits(tol: Any, max_iter: Any) -> None:
    if not (isinstance(tol, numbers.Real) and float(tol) > 0):
        raise ValueError(f"tol must be > 0 (it is a relative duality gap), got {tol!r}.")
    if max_iter is not None and not (isinstance(max_iter, numbers.Integral) and int(max_iter) >= 0):
        raise ValueError(f"max_iter must be a whole number >= 0, got {max_iter!r}.")


def _not_finite(risk: Risk) -> str | None:
    """What is wrong with X if sums over its rows are not finite."""
    values = risk.X.data if risk.sparse else risk.X
    if not np.isfinite(values).all():
        return "X has NaN or infinite values: drop those rows, or fill them (sklearn.impute.SimpleImputer)."
    largest = float(np.abs(values).max(initial=0.0))
    if largest < 1e100:
        return None
    return (
        f"X has values up to {largest:.1e}, whose squares overflow: scale the features "
        "(sklearn.preprocessing.StandardScaler, or divide by the largest value)."
    )


class Certifier:
    """Decides after each iteration whether the fit is done. The gap costs a pass: it is asked when it may be small."""

    def __init__(self, risk: Risk, tol: float, *, descends: bool = False) -> None:
        self.risk, self.tol = risk, tol
        self.gap: float | None = None
        self.gradient_test: float | None = None
        self.status = Status.MAX_ITER
        self.next_check = 0
        self.progress = Progress(float(np.finfo(risk.X.dtype).eps)) if descends else None
        self.has_gap = (
            not risk.unpenalized
            and (risk.elastic or risk.regularizer.knows("conjugate"))
            and risk.loss.conjugate(np.zeros((0, risk.n_outputs)), risk.targets[:0]) is not None
        )

    def check(self, state: State, n_iter: int, last: bool) -> bool:
        self.point = state.point
        if self._separated(state.point):
            self.status = Status.NO_MINIMIZER
            self.gradient_test = self.risk.gradient_test(state.point)
            return True
        state.stuck = state.stuck or (self.progress is not None and self.progress.ended(state.point, n_iter))
        if not (last or state.stuck or self._promising(state, n_iter)):
            return False
        reached = self._reached(state)
        if reached and not state.fresh:
            # A certificate is for the parameters: scores that carry the rounding of many steps do not do.
            state.point, state.fresh = self.risk.at(state.point.params), True
            reached = self._reached(state)
        if reached:
            self.status = Status.CONVERGED
        elif state.stuck:
            self.status = Status.PRECISION
        return reached or state.stuck

    def _reached(self, state: State) -> bool:
        """Whether the state's point has reached the tolerance, by its gap or, where there is none, its gradient."""
        self.point = state.point
        if not self.has_gap:
            self.gradient_test = self.risk.gradient_test(state.point)
            return self.gradient_test <= self.tol
        point, gap = self.risk.certify(state.point, state.duals, self.tol)
        assert gap is not None
        reached = gap <= self.tol
        # A better b is taken only where it ends the fit: else the solver's own point is what was reached.
        self.point = point if reached else state.point
        self.gap = gap + (self.point.value - point.value) / self.risk.null_value
        return reached

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
        if (
            not risk.unpenalized
            or risk.loss.compiled not in ("logistic", "softmax")
            or risk.targets.ndim == 2
        ):
            return False
        return risk.passes.smallest_margin(point.scores) > 0


class Progress:
    """Whether a method still gets anywhere: lowers the value by more than rounding, or shortens the gradient."""

    PATIENCE = 100  # iterations without progress that end a fit

    def __init__(self, eps: float) -> None:
        self.eps = eps
        self.value = self.norm = np.inf
        self.last = 0

    def ended(self, point: Point, n_iter: int) -> bool:
        norm = float(np.linalg.norm(point.gradient.flat))
        if point.value < self.value - self.eps * abs(self.value) or norm < 0.9 * self.norm:
            self.last = n_iter
            self.value, self.norm = min(self.value, point.value), min(self.norm, norm)
        return n_iter - self.last >= self.PATIENCE


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
