"""Solver, and the one loop that every fit goes through."""

import numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from nearline._arrays.design import overflowing
from nearline._parallel.stopping import checkpoint
from nearline._parallel.tiles import single_threaded_blas
from nearline._records.habits import translates_habits
from nearline._records.kept import Whole, kept
from nearline._records.refused import ParameterError
from nearline.risk import KernelRisk, Objective, Risk
from nearline.risk.params import Params
from nearline.solvers._certifier import Certifier, Goal
from nearline.solvers._solution import Solution
from nearline.solvers._state import State, Status

R = TypeVar("R", bound=Objective)


@kept(max_iter=Whole(1))
@dataclass(frozen=True)
class Method(ABC, Generic[R]):
    """A way to minimize risks of one kind. ``step`` is one iteration; the loop in :func:`minimize` does all else."""

    name: ClassVar[str]
    by_sums: ClassVar[bool] = False  # whether sums over rows are all it asks for; declared, not inherited
    max_iter: int = 1000

    @property
    def descends(self) -> bool:
        """Whether every step is meant to lower the risk, so that a long halt means the end of precision."""
        return False

    @property
    def caution(self) -> float:
        """What the gap should seem to be before it is certified, in units of what is allowed.

        Where steps square the error, one more costs little and leaves nothing to improve.
        """
        return 1.0

    @abstractmethod
    def refuses(self, risk: R) -> str | None:
        """Why this solver cannot serve the risk and which one can, or None if it can."""

    def foresees(self, risk: R, params: Params) -> None:
        """Say what :meth:`start` asks first, so that it may come with the null risk."""
        risk.passes.foresee(params)

    @abstractmethod
    def start(self, risk: R, params: Params, goal: Goal) -> State:
        """The state at ``params``."""

    @abstractmethod
    def step(self, risk: R, state: State) -> State:
        """The state after one iteration."""


@kept()
@dataclass(frozen=True)
class Solver(Method[Risk]):
    """A way to minimize the risk of a linear score; on coordinates of a Gram matrix it serves a kernel's risk too."""


UNFINISHED = (Status.PRECISION, Status.MAX_ITER, Status.NOT_FINITE)  # another solver may come farther
BY_SUMS = (
    "'newton', 'newton-cg' or 'lbfgs', of penalties with kinks 'fista', of losses with kinks 'smoothing'"
)
ENDED = (Status.CONVERGED, Status.PRECISION, Status.LIMITED_PRECISION)
Callback = Callable[[int, State], None]


@translates_habits
def minimize(
    risk: Risk | KernelRisk,
    solver: "Method[Any] | str" = "auto",
    start: Params | None = None,
    *,
    tol: float = 1e-4,
    max_iter: int | None = None,
    callback: Callback | None = None,
    relative_to: str = "risk",
    until: str = "tol",
    keep: str | None = None,
) -> Solution:
    """Minimize a risk P to a certified duality gap P - D <= tol P (a relative gradient where there is no gap).

    ``callback(n_iter, state)`` is called after every iteration. ``relative_to="null"`` asks for P - D <= tol P(W = 0)
    only, with the best b: a coarser scale where alpha is small, for fits of which only the labels count. A logistic or
    softmax risk without a penalty may have no finite minimizer; that is found out, and the status says so
    (NO_MINIMIZER), or that it cost too much (NOT_CHECKED).

    ``until="max_iter"`` goes on beyond the tolerance, and where there is no minimizer, until ``max_iter`` iterations are
    done or none gets any farther; the certificate is that of the last one. ``keep="iterates"`` keeps the parameters
    after every iteration, the start first, as ``solution.iterates`` (of 'sgd' the answer after each pass, which is the
    mean of its steps unless ``averaged=False``).

    The risk of a kernel machine has solvers of its own, 'smo', 'newton' and 'closed-form'; all others work on coordinates
    of the items whose inner products are the kernel. Either way the parameters are coefficients of the items.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import GradientDescent, Risk, minimize
    >>> risk = Risk(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), loss="logistic", alpha=0.1)
    >>> solution = minimize(risk, tol=1e-8)
    >>> bool(solution.gap <= 1e-8)
    True
    >>> steps = minimize(risk, GradientDescent(step_size=1.0), max_iter=3, keep="iterates").iterates
    >>> [round(float(step.W[0, 0]), 3) for step in steps]
    [0.0, 0.333, 0.422, 0.507]
    """
    from nearline.solvers._existence import has_minimizer
    from nearline.solvers.kernel import search_kernel_minimum
    from nearline.solvers.resumable import FOLDER, Unfinished

    asked: dict[str, Any] = {
        "tol": tol,
        "max_iter": max_iter,
        "callback": callback,
        "relative_to": relative_to,
        "until": until,
        "keep": keep,
    }
    if isinstance(risk, KernelRisk):
        return search_kernel_minimum(risk, solver, start, **asked)
    folder = FOLDER.get()  # of fits that go on where they ended
    unfinished = None if folder is None else Unfinished(risk, folder)
    if unfinished is not None:
        start, asked["callback"] = unfinished.params() or start, unfinished.watching(callback)
    solution = search_minimum(risk, solver, start, **asked)
    if unfinished is not None:
        unfinished.done()
    if not (risk.may_recede and (solution.status in ENDED or until == "max_iter")):
        return solution
    with single_threaded_blas:
        found = has_minimizer(risk, solution.params)
    if found is False:
        return replace(solution, status=Status.NO_MINIMIZER)
    unknown = found is None and solution.status is Status.CONVERGED
    return replace(solution, status=Status.NOT_CHECKED) if unknown else solution


def search_minimum(
    risk: Risk,
    solver: "Method[Any] | str" = "auto",
    start: Params | None = None,
    *,
    tol: float = 1e-4,
    max_iter: int | None = None,
    callback: Callback | None = None,
    relative_to: str = "risk",
    until: str = "tol",
    keep: str | None = None,
) -> Solution:
    """The same as :func:`minimize`, but for the question whether there is a minimizer, which it does not ask."""
    from nearline.solvers.choice import choose, others

    check_asked(risk, start, max_iter, keep)
    began = time.perf_counter()
    try:
        goal = Goal.of(risk, tol, relative_to, until)
        chosen = choose(risk, solver, relative_to)
        if max_iter is not None:
            chosen = replace(chosen, max_iter=max_iter)  # a solver may do its last iteration in another way
        first = risk.zeros() if start is None else start.copy()
        solution = loop(risk, chosen, first, goal, callback, began, keep)
        settled = max_iter is not None or goal.endless or solution.status not in UNFINISHED
        if solver != "auto" or settled:
            return solution
        for other in others(risk, chosen):
            # Sums in float64 do not end in the rounding of float32.
            again = loop(risk.exact, other, solution.params.copy(), goal, callback, began, keep)
            solution = min(solution, again, key=lambda found: found.left)
            if solution.status not in UNFINISHED:
                break
        return solution
    except (np.linalg.LinAlgError, ValueError) as error:  # what factorizations say of NaN and infinity
        if not isinstance(error, np.linalg.LinAlgError) and "infs or NaNs" not in str(error):
            raise
        raise ValueError(_not_finite(risk) or str(error)) from error


def loop(
    risk: R,
    chosen: Method[R],
    start: Params,
    goal: Goal,
    callback: Callback | None,
    began: float,
    keep: str | None = None,
) -> Solution:
    """One fit by one method, until it is certified or ends."""
    limit = chosen.max_iter
    with single_threaded_blas:  # a BLAS that splits sums by its number of threads would change the last bits
        chosen.foresees(risk, start)
        if np.isnan(risk.null_value):  # kept for the certificate, so that looking at it costs nothing
            raise np.linalg.LinAlgError("The risk at W = 0 is not a number.")
        state = chosen.start(risk, start, goal)
        trace, iterates = [state.point.value], [state.point.params.copy()] if keep else []
        watch = Certifier(risk, goal, state.point, descends=chosen.descends, caution=chosen.caution)
        done, n_iter = watch.check(state, 0, False), 0
        while not done and n_iter < limit:
            checkpoint()
            state = chosen.step(risk, state)
            n_iter += 1
            trace.append(state.point.value)
            if keep:
                iterates.append(state.point.params.copy())
            if callback is not None:
                callback(n_iter, state)
            done = watch.check(state, n_iter, n_iter == limit)
        if n_iter == 0 and not done:
            watch.check(state, n_iter, True)
        params, value = watch.answer()
    return Solution(
        params=params,
        value=value,
        gap=watch.gap,
        gradient_test=watch.gradient_test,
        n_iter=n_iter,
        seconds=time.perf_counter() - began,
        status=watch.status,
        trace=np.array(trace),
        solver=chosen.name,
        duals=None if risk.blocked else state.duals,  # recipes are no numbers
        precision=risk.precision.name,
        iterates=tuple(iterates) if keep else None,
    )


def certified(risk: Objective, params: Params, solution: Solution, goal: Goal) -> Solution:
    """A solution in the parameters of an equal risk, with duals that are its own, certified anew."""
    with single_threaded_blas:
        point = risk.scored(params)
        watch = Certifier(risk, goal, point)
        watch.check(State(point, solution.duals, stuck=True), solution.n_iter, True)
        params, value = watch.answer()
    found: dict[str, Any] = {"gap": watch.gap, "gradient_test": watch.gradient_test, "status": watch.status}
    return replace(solution, params=params, value=value, precision=risk.precision.name, **found)


def check_asked(risk: Objective, start: Params | None, max_iter: Any, keep: Any) -> None:
    """Refuse a limit, a start or a record that makes no sense."""
    if keep not in (None, "iterates"):
        raise ParameterError("keep", keep, "'iterates' (the parameters after every iteration) or None")
    if max_iter is not None and not (isinstance(max_iter, numbers.Integral) and int(max_iter) >= 0):
        raise ParameterError("max_iter", max_iter, "a whole number >= 0")
    if start is not None and start.W.shape != (risk.n_outputs, risk.n_features):
        raise ValueError(
            f"start has weights of shape {start.W.shape}, but the risk has {risk.n_outputs} score(s) of "
            f"{risk.n_features} feature(s): start from risk.zeros() or parameters of that shape."
        )


def _not_finite(risk: Risk) -> str | None:
    """What is wrong with X if sums over its rows are not finite."""
    if risk.blocked:
        return None
    values = risk.X.data if risk.sparse else risk.X
    if not np.isfinite(values).all():
        return "X has NaN or infinite values: drop those rows, or fill them (sklearn.impute.SimpleImputer)."
    largest = float(np.abs(values).max(initial=0.0))
    if largest < 1e100:
        return None
    return overflowing(largest)


def refusal(risk: Risk, solver: Solver) -> str | None:
    """Why a solver cannot serve a risk, or None if it can."""
    if risk.blocked and not type(solver).__dict__.get("by_sums", False):
        return f"Solver '{solver.name}' needs the rows themselves and these are in blocks: use {BY_SUMS}."
    return solver.refuses(risk)


def first_willing(risk: Risk, solvers: Sequence[Solver]) -> Solver | None:
    """The first solver that does not refuse the risk."""
    return next((solver for solver in solvers if refusal(risk, solver) is None), None)
