"""SMO for kernel machines: two-class problems over one Gram matrix, until what is delivered has its gap."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.kernels.gram import Gram
from nearline.losses import Slack, signs
from nearline.risk import KernelRisk, ScoredPoint
from nearline.risk.params import Params
from nearline.solvers._certifier import Goal
from nearline.solvers._state import State
from nearline.solvers.kernel._base import KernelSolver
from nearline.solvers.smo import Certificate, Problem, certificates, smo, smo_by_parts

FIRST = 1e-3  # violation at which gaps are first looked at, that of LIBSVM
FINEST = 1e-12  # violation below which there are only roundings
MOST_STEPS = 10_000_000


class Rounds:
    """Problems over one Gram matrix, solved at the same time to smaller and smaller violations.

    Parameters
    ----------
    gram : the matrix, of which the problems have rows.
    problems : see :class:`nearline.solvers.smo.Problem`; solved in place.
    order : all rows by class: then those of a pair of classes are two blocks of the matrix.
    """

    def __init__(self, gram: Gram, problems: Sequence[Problem], order: Array) -> None:
        self.gram, self.problems = gram, problems
        self.found = np.tile([np.inf, 0.0], (len(problems), 1))  # violation and number of steps of each
        self.settled = False  # whether F is right to float64
        self.proofs: list[Certificate] = []  # of where the problems stand after a round
        self._pending, self._aim = list(range(len(problems))), FIRST
        light = gram.kernel.light(gram.items)
        whole = gram.given or gram.fits(4 if light.dtype == np.float32 else 8)
        self._source = _Whole(gram, light, order) if whole else _Rows(gram, light)

    def solve(self, goal: Goal, max_iter: int) -> list[Certificate]:
        """Rounds until P - D <= tol P in every problem, with F computed anew in float64; each has so many steps."""
        while not self.go(goal, max_iter):
            pass
        return self.proofs

    def go(self, goal: Goal, max_iter: int = MOST_STEPS) -> bool:
        """One round, which lowers the violation tenfold; whether it was the last."""
        some = [self.problems[p] for p in self._pending]
        most = max_iter - int(self.found[self._pending, 1].max())
        found = self._source.solve(some, self._aim, most)
        self.found[self._pending, 0] = found[:, 0]
        self.found[self._pending, 1] += found[:, 1]
        late = self._late(goal)
        close = not set(late) & set(self._pending)
        ends = self._aim <= FINEST or self.found[:, 1].max() >= max_iter
        self.settled = close or ends
        if self.settled:
            self.settle()
            late = self._late(goal)
            if not late or ends:
                return True
            close = self._source.refine()
        self._pending = late
        self._aim = self._aim if close else 0.1 * self._aim
        return False

    def coefficients(self) -> Array:
        """beta of all problems side by side, (n, problems)."""
        A = np.zeros((self.gram.n, len(self.problems)))
        for p, problem in enumerate(self.problems):
            A[problem.at, p] = problem.beta
        return A

    def settle(self) -> None:
        """F = K beta - y of all problems anew, in float64, from the items as they were given.

        Rows that are in the same problems, such as those of one class, meet only the support items of these problems.
        """
        A = self.coefficients()
        scores, within = np.empty_like(A), np.zeros(A.shape, dtype=bool)
        for p, problem in enumerate(self.problems):
            within[problem.at, p] = True
        _, group = np.unique(np.packbits(within, axis=1), axis=0, return_inverse=True)
        for g in range(group.max(initial=-1) + 1):
            rows = np.flatnonzero(group == g)
            own = np.flatnonzero(within[rows[0]])
            if len(own):
                scores[np.ix_(rows, own)] = self.gram.times(np.ascontiguousarray(A[:, own]), rows)
        for p, problem in enumerate(self.problems):
            problem.F = scores[problem.at, p] - problem.y

    def _late(self, goal: Goal) -> list[int]:
        """The problems whose gap is too large."""
        self.proofs, coarse = certificates(self.problems), goal.null is not None
        gaps = [proof.null_gap if coarse else proof.gap for proof in self.proofs]
        return [p for p, gap in enumerate(gaps) if not gap <= goal.tol]


class _Whole:
    """Problems solved on the whole matrix, in float32 where that will do, rows by class."""

    def __init__(self, gram: Gram, light: Any, order: Array) -> None:
        self.gram = gram
        self.order = np.arange(gram.n) if gram.given else order
        self.places = np.argsort(self.order)
        self.K = gram.among(light if gram.given else light[self.order])

    def solve(self, problems: list[Problem], violation: float, max_iter: int) -> Array:
        return smo(self.K, problems, tol=violation, max_iter=max_iter, places=self.places)

    def refine(self) -> bool:
        """Go from float32 to float64; whether that makes a difference."""
        if self.K.dtype != np.float32 or not self.gram.fits(8):
            return False
        items = self.gram.wide
        self.K = self.gram.among(items if self.gram.given else items[self.order])
        return True


class _Rows:
    """Problems solved on rows of a matrix that does not fit."""

    def __init__(self, gram: Gram, light: Any) -> None:
        self.gram, self.items = gram, light

    def solve(self, problems: list[Problem], violation: float, max_iter: int) -> Array:
        return np.array([self._one(problem, violation, max_iter) for problem in problems])

    def _one(self, problem: Problem, violation: float, max_iter: int) -> tuple[float, int]:
        own = self.items[problem.at]
        return smo_by_parts(
            lambda rows: self.gram.kernel.between(own[rows], own),
            problem,
            tol=violation,
            memory=self.gram.memory,
            itemsize=4 if self.items.dtype == np.float32 else 8,
            max_iter=max_iter,
        )

    def refine(self) -> bool:
        """Go from float32 to float64; whether that makes a difference."""
        light, self.items = self.items, self.gram.wide
        return bool(light.dtype != self.items.dtype)


@dataclass
class KernelSMOState(State):
    """The problems, one a column, and what they are solved to."""

    rounds: Rounds = field(kw_only=True)
    goal: Goal = field(kw_only=True)


@dataclass(frozen=True)
class KernelSMO(KernelSolver):
    """Maximize the dual of the hinge loss over pairs of items, which keep the sum that a free bias demands.

    Each iteration makes the violation of the optimality conditions ten times smaller. Where the Gram matrix does not fit,
    its rows are computed when they are needed.
    """

    name: ClassVar[str] = "smo"
    max_iter: int = 30

    def refuses(self, risk: KernelRisk) -> str | None:
        if risk.loss.refusal is not None:
            return f"{risk.loss.refusal}."
        if risk.loss.own.slack is not Slack.COLUMN:
            return f"Solver '{self.name}' serves 'hinge', not '{risk.loss.name}': use 'auto'."
        if risk.alpha == 0:
            return f"Solver '{self.name}' needs alpha > 0: without a penalty there is no dual; take a small one such as 1e-6."
        if not risk.bias:
            return f"Solver '{self.name}' moves pairs of items for the sake of a bias: use 'dual-coordinate-descent'."
        return None

    def start(self, risk: KernelRisk, params: Params, goal: Goal) -> KernelSMOState:
        order = np.argsort(risk.targets, kind="stable")
        problems = _problems(order, signs(risk.targets, risk.n_outputs)[order], costs(risk)[order])
        warm = params.W.any()
        if warm:
            duals = -params.W.T * (risk.alpha * risk.total_weight)
            duals = np.divide(
                duals, risk.weights[:, None], out=np.zeros_like(duals), where=risk.weights[:, None] > 0
            )
            feasible = risk.loss.balance(duals, risk.targets, risk.weights)
            A = risk.from_duals(np.asarray(feasible), params.b).W
            for problem, beta in zip(problems, A, strict=True):
                problem.beta = beta[order]
        rounds = Rounds(risk.gram, problems, order)
        if warm:
            rounds.settle()
        point = risk.scored(params) if warm else risk.null_point
        return KernelSMOState(point, rounds=rounds, goal=goal, estimate=np.inf)

    def step(self, risk: KernelRisk, state: State) -> KernelSMOState:
        assert isinstance(state, KernelSMOState)
        rounds = state.rounds
        last = rounds.go(state.goal)
        A, proofs = rounds.coefficients(), rounds.proofs
        scores, b = np.empty_like(A), np.array([proof.b for proof in proofs])
        for p, problem in enumerate(rounds.problems):
            scores[problem.at, p] = problem.F + problem.y + b[p]
        point = ScoredPoint(risk, Params.of(A.T, b), scores)
        C = costs(risk)[:, None]
        duals = np.divide(-A, C, out=np.zeros_like(A), where=C > 0)
        gap = risk.alpha * sum(abs(proof.primal - proof.dual) for proof in proofs)
        return KernelSMOState(
            point,
            duals,
            stuck=last,
            estimate=gap if rounds.settled else np.inf,
            fresh=rounds.settled,
            rounds=rounds,
            goal=state.goal,
        )


def two_class_problems(risk: KernelRisk) -> list[Problem]:
    """One problem for each column of the hinge loss, over the rows of the Gram matrix that the risk shares."""
    return _problems(risk.rows, signs(risk.targets, risk.n_outputs), costs(risk))


def _problems(rows: Array, y: Array, C: Array) -> list[Problem]:
    return [Problem.new(rows, column, C) for column in y.T]


def costs(risk: KernelRisk) -> Array:
    """C (n,) of each item: s / (S alpha)."""
    unit = risk.total_weight * risk.alpha
    return risk.weights / unit if unit > 0 else np.zeros(risk.n_rows)
